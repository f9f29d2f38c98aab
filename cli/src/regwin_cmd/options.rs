//! Names on the command line, and what is said about wrong ones.

use regwin::{Allocate, Behaviour, Cc, Schedule, Scheme};
use report::did_you_mean;

use crate::output::Failure;

/// Window counts that the runtime runs with.
pub const WINDOWS: std::ops::RangeInclusive<i64> = 4..=32;

fn named<T>(what: &str, name: &str, found: Option<T>, known: &[&str]) -> Result<T, String> {
    found.ok_or_else(|| match did_you_mean(name, known.iter().copied()) {
        Some(meant) => format!("there is no {what} `{name}`; did you mean `{meant}`?"),
        None => format!("there is no {what} `{name}`; there are {}", known.join(", ")),
    })
}

/// What the help says of an option that takes one of these schemes.
pub fn scheme_help(schemes: impl IntoIterator<Item = Scheme>) -> String {
    let names: Vec<&str> = schemes.into_iter().map(Scheme::name).collect();
    format!("How threads use the windows: {}", names.join(", "))
}

/// A scheme by name.
pub fn scheme(name: &str) -> Result<Scheme, String> {
    named("scheme", name, Scheme::named(name), &Scheme::ALL.map(Scheme::name))
}

/// A schedule by name.
pub fn schedule(name: &str) -> Result<Schedule, String> {
    named("schedule", name, Schedule::named(name), &Schedule::ALL.map(Schedule::name))
}

/// An allocation by name.
pub fn allocate(name: &str) -> Result<Allocate, String> {
    named("allocation", name, Allocate::named(name), &Allocate::ALL.map(Allocate::name))
}

/// Refuses an allocation that a scheme has no use for.
pub fn fits(allocate: Allocate, scheme: Scheme) -> Result<(), Failure> {
    if allocate.fits(scheme) {
        return Ok(());
    }
    let message = format!("`--allocate {}` says nothing to the scheme {}", allocate.name(), scheme.name());
    let others: Vec<&str> = Scheme::ALL.into_iter().filter(|it| Allocate::Search.fits(*it)).map(Scheme::name).collect();
    let help = format!("only {} look for a place", others.join(" and "));
    Err(Failure::user(message, Some(&help)))
}

/// A behaviour by name.
pub fn behaviour(name: &str) -> Result<Behaviour, String> {
    named("behaviour", name, Behaviour::named(name), &Behaviour::ALL.map(Behaviour::name))
}

/// A compiler by name.
pub fn compiler(name: &str) -> Result<Cc, String> {
    named("compiler", name, Cc::named(name), &Cc::ALL.map(Cc::name))
}

/// The position of a machine in `regwin::work::MACHINES`.
pub fn machine(name: &str) -> Result<usize, String> {
    let known = regwin::work::MACHINES;
    named("machine", name, known.iter().position(|it| *it == name), &known)
}

/// A world by name.
pub fn on(name: &str) -> Result<super::run::On, String> {
    use super::run::On;
    let known = [On::Qemu, On::Sim];
    named("world", name, known.into_iter().find(|it| it.name() == name), &known.map(On::name))
}

//! Names on the command line, and what is said about wrong ones.

use clap::builder::TypedValueParser;
use regwin::{Allocate, Behaviour, Cc, Schedule, Scheme, Target};

use crate::choice::one_of;
use crate::output::Failure;

/// Window counts that the runtime runs with.
pub const WINDOWS: std::ops::RangeInclusive<i64> = 4..=32;

/// A scheme by name.
pub fn scheme() -> impl TypedValueParser<Value = Scheme> {
    one_of(Scheme::ALL, |it| it.name())
}

/// A schedule by name.
pub fn schedule() -> impl TypedValueParser<Value = Schedule> {
    one_of(Schedule::ALL, |it| it.name())
}

/// An allocation by name.
pub fn allocate() -> impl TypedValueParser<Value = Allocate> {
    one_of(Allocate::ALL, |it| it.name())
}

/// Refuses an allocation that a scheme has no use for.
pub fn fits(allocate: Allocate, scheme: Scheme) -> Result<(), Failure> {
    if allocate.fits(scheme) {
        return Ok(());
    }
    let message =
        format!("`--allocate {}` says nothing to the scheme {}", allocate.name(), scheme.name());
    let others: Vec<&str> = Scheme::ALL
        .into_iter()
        .filter(|found| Allocate::Search.fits(*found))
        .map(Scheme::name)
        .collect();
    let help = format!("only {} look for a place", others.join(" and "));
    Err(Failure::user(message, Some(&help)))
}

/// A behaviour by name.
pub fn behaviour() -> impl TypedValueParser<Value = Behaviour> {
    one_of(Behaviour::ALL, |it| it.name())
}

/// A compiler by name.
pub fn compiler() -> impl TypedValueParser<Value = Cc> {
    one_of(Cc::ALL, |it| it.name())
}

/// A processor by name.
pub fn target() -> impl TypedValueParser<Value = Target> {
    one_of(Target::ALL, |target| target.name())
}

/// The position of a machine in `regwin::work::MACHINES`.
pub fn machine() -> impl TypedValueParser<Value = usize> {
    one_of(0..regwin::work::MACHINES.len(), |idx| regwin::work::MACHINES[*idx])
}

/// A world by name.
pub fn on() -> impl TypedValueParser<Value = super::counts::On> {
    use super::counts::On;
    one_of([On::Qemu, On::Sim], |it| it.name())
}

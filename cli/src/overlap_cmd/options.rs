//! Names on the command line, and what is said about wrong ones.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use overlap::llvm::Llvm;
use overlap::settings::{COLLECTIVES, CONVERSIONS, HANDLERS, PROGRESS, STRENGTHS, WILDCARDS};
use overlap::{Mpi, Settings};

use crate::choice::one_of;
use crate::knobs::{self, Key, Knob};

/// An MPI by name.
pub fn mpi() -> impl TypedValueParser<Value = Mpi> {
    one_of(Mpi::ALL, |it| it.name())
}

/// A profile, by its absolute path.
fn profile(path: &str) -> Result<PathBuf, String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    overlap::profile::check(&path)
        .map_err(|said| format!("{said}; it is what `meanwhile overlap trace --profile` writes"))?;
    Ok(path)
}

/// A version of LLVM by number.
pub fn llvm(number: &str) -> Result<Llvm, String> {
    let known = Llvm::ALL.map(Llvm::number);
    Llvm::ALL
        .into_iter()
        .find(|it| number == it.number().to_string())
        .ok_or_else(|| format!("the plugin is for LLVM {} and {}", known[0], known[1]))
}

/// The keys of `-X`, in the order of the guide.
const KEYS: [Key<Settings>; 6] = [
    Key {
        name: "strength",
        values: "basic, extended, frontier",
        default: "frontier",
        help: "how far windows are widened",
        set: |settings, text| choose(&mut settings.strength, &STRENGTHS, text),
    },
    Key {
        name: "progress",
        values: "auto, on, off",
        default: "auto",
        help: "polls inside windows",
        set: |settings, text| choose(&mut settings.progress, &PROGRESS, text),
    },
    Key {
        name: "poll-us",
        values: "microseconds",
        default: "100",
        help: "at most one poll in this time",
        set: |settings, text| {
            settings.poll_us = Some(text.parse().ok()?);
            Some(())
        },
    },
    Key {
        name: "collectives",
        values: "safe, off",
        default: "safe",
        help: "`safe`: all ranks agree when they run which collectives start nonblocking",
        set: |settings, text| choose(&mut settings.collectives, &COLLECTIVES, text),
    },
    Key {
        name: "handlers",
        values: "any, never-throw",
        default: "any",
        help: "`never-throw`: no error handler throws, so that C++ starts and waits in a `try`, or \
               beside destructors, need not ask",
        set: |settings, text| choose(&mut settings.handlers, &HANDLERS, text),
    },
    Key {
        name: "wildcards",
        values: "auto, maybe, none",
        default: "auto",
        help: "`none`: no receive from any source, no probe; `maybe`: not even if none is seen",
        set: |settings, text| choose(&mut settings.wildcards, &WILDCARDS, text),
    },
];

fn choose(setting: &mut String, known: &[&str], text: &str) -> Option<()> {
    *setting = known.iter().find(|name| **name == text)?.to_string();
    Some(())
}

/// The settings of the plugin.
#[derive(Debug, clap::Args)]
pub struct PluginOptions {
    /// Which calls become nonblocking: auto, or none, where polls keep the program's own
    /// nonblocking messages moving and no call is changed.
    #[arg(long, default_value = "auto", value_parser = PossibleValuesParser::new(CONVERSIONS))]
    convert: String,
    /// Smaller payloads stay blocking [default: 131072].
    #[arg(long, value_name = "BYTES")]
    min_bytes: Option<u64>,
    /// Smaller windows stay blocking, in weighted instructions [default: 50].
    #[arg(long, value_name = "WEIGHT")]
    min_weight: Option<u64>,
    /// What `trace --profile` wrote: calls that waited are converted, however short their
    /// messages, others stay blocking.
    #[arg(long, value_name = "FILE", value_parser = profile)]
    profile: Option<PathBuf>,
    /// What the program promises, and how far we go; `--help` lists the keys.
    #[arg(short = 'X', value_name = "KEY=VALUE",
        value_parser = |text: &str| knobs::parse(&KEYS, text),
        long_help = knobs::help(
            "What the program promises, and how far we go, a key and its value:", &KEYS))]
    knobs: Vec<Knob>,
}

impl PluginOptions {
    /// As the plugin takes them.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings {
            convert: self.convert.clone(),
            min_bytes: self.min_bytes,
            min_weight: self.min_weight,
            profile: self.profile.clone(),
            ..Settings::default()
        };
        knobs::apply(&KEYS, &self.knobs, &mut settings);
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_guide_and_defaults_agree() {
        let guide = include_str!("../../../docs/guide/overlap.md");
        knobs::check_table(&KEYS, &["poll-us"], guide);
    }
}

//! Names on the command line, and what is said about wrong ones.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use overlap::llvm::Llvm;
use overlap::{Mpi, Settings};

use crate::choice::one_of;

fn strength() -> PossibleValuesParser {
    PossibleValuesParser::new(overlap::settings::STRENGTHS)
}

fn conversion() -> PossibleValuesParser {
    PossibleValuesParser::new(overlap::settings::CONVERSIONS)
}

fn progress() -> PossibleValuesParser {
    PossibleValuesParser::new(overlap::settings::PROGRESS)
}

fn collectives() -> impl TypedValueParser<Value = String> {
    let known = overlap::settings::COLLECTIVES.map(PossibleValue::new);
    let names = known.into_iter().chain([PossibleValue::new("uniform").hide(true)]);
    PossibleValuesParser::new(names).try_map(|name| match name.as_str() {
        "uniform" => Err(
            "the ranks of a program agree on its collectives when it runs now, which `safe` does, the default; leave the option out",
        ),
        _ => Ok(name),
    })
}

fn handlers() -> PossibleValuesParser {
    PossibleValuesParser::new(overlap::settings::HANDLERS)
}

fn wildcards() -> PossibleValuesParser {
    PossibleValuesParser::new(overlap::settings::WILDCARDS)
}

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

/// The settings of the plugin.
#[derive(Debug, clap::Args)]
pub struct PluginOptions {
    /// How far windows are widened.
    #[arg(long, default_value = "frontier", value_parser = strength())]
    strength: String,
    /// Which calls become nonblocking: auto, or none, where polls keep the program's own
    /// nonblocking messages moving and no call is changed.
    #[arg(long, default_value = "auto", value_parser = conversion())]
    convert: String,
    /// Polls inside windows.
    #[arg(long, default_value = "auto", value_parser = progress())]
    progress: String,
    /// Which collectives are converted.
    #[arg(long, default_value = "safe", value_parser = collectives())]
    collectives: String,
    /// Error handlers of the program: `never-throw` if none throws a C++ exception, so that calls
    /// in a `try`, or in a scope that destroys something, are converted as well.
    #[arg(long, default_value = "any", value_parser = handlers())]
    handlers: String,
    /// Receives from any source, and probes: `none` if the program has none, `maybe` if it may,
    /// `auto` to look.
    #[arg(long, default_value = "auto", value_parser = wildcards())]
    wildcards: String,
    /// Smaller payloads stay blocking.
    #[arg(long, value_name = "BYTES")]
    min_bytes: Option<u64>,
    /// Smaller windows stay blocking, in weighted instructions.
    #[arg(long, value_name = "WEIGHT")]
    min_weight: Option<u64>,
    /// At most one poll in this time, in microseconds.
    #[arg(long, value_name = "US")]
    poll_us: Option<u32>,
    /// What `trace --profile` wrote: calls that waited are converted, however short their
    /// messages, others stay blocking.
    #[arg(long, value_name = "FILE", value_parser = profile)]
    profile: Option<PathBuf>,
}

impl PluginOptions {
    /// As the plugin takes them.
    pub fn settings(&self) -> Settings {
        Settings {
            strength: self.strength.clone(),
            convert: self.convert.clone(),
            progress: self.progress.clone(),
            collectives: self.collectives.clone(),
            handlers: self.handlers.clone(),
            wildcards: self.wildcards.clone(),
            min_bytes: self.min_bytes,
            min_weight: self.min_weight,
            poll_us: self.poll_us,
            profile: self.profile.clone(),
        }
    }
}

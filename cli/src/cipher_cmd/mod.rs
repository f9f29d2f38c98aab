//! `meanwhile cipher`: Usuba ciphers listed, checked, compiled, run and tested.

pub mod bounds;
mod check;
mod compile;
mod constant_time;
mod list;
pub mod options;
mod package;
mod run;
pub mod speed;
mod test;
pub mod tune;
mod tuning;
mod validate;

use crate::output::{Failure, Output};

/// Arguments of `meanwhile cipher`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the bundled primitives with the slicings that their types allow.
    List,
    /// Check a program and report all its errors.
    Check(check::Args),
    /// Compile a bundled primitive or a file to C.
    Compile(compile::Args),
    /// Write a C library, a Rust crate and a Python package of primitives or files.
    Package(package::Args),
    /// Run cases, one a line of standard input, and write their outputs.
    Run(run::Args),
    /// Run the published vectors through emitted C.
    Test(test::Args),
    /// Prove that compiled C computes what the program says, and leaks no secret.
    Validate(validate::Args),
    /// Measure cycles a byte of emitted C.
    Speed(speed::Args),
    /// Search for the fastest way to compile a program for this machine, and write it as a recipe.
    Tune(tune::Args),
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    match args.command {
        Command::List => list::run(out),
        Command::Check(args) => check::run(args, out),
        Command::Compile(args) => compile::run(args, out),
        Command::Package(args) => package::run(args, out),
        Command::Run(args) => run::run(args, out),
        Command::Test(args) => test::run(args, out),
        Command::Validate(args) => validate::run(args, out),
        Command::Speed(args) => speed::run(args, out),
        Command::Tune(args) => tune::run(args, out),
    }
}

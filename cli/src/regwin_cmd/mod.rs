//! `meanwhile regwin`: threads that share cyclic register windows.

mod build;
pub mod counts;
mod errata;
pub mod options;
mod profile;
mod run;
mod run_xtensa;
mod scenario;
mod wcet;

use regwin::work::Fault;

use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Build the runtime as a library that programs link, with headers, Makefile and an example.
    Build(build::Args),
    /// Run any linked image for LEON3, on QEMU and on the simulator, or for Xtensa on
    /// QEMU, and count.
    Run(run::Args),
    /// Show where window traps of any image come from, and what each scheme would cost it.
    Profile(profile::Args),
    /// Bound the cycles of every switch, trap and interrupt entry of a linked
    /// image, over all paths.
    Wcet(wcet::Args),
    /// Find sequences of instructions that a LEON3FT must not execute, in any image.
    Errata(errata::Args),
    /// Run threads of your own, described in a file.
    Scenario(scenario::Args),
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    match args.command {
        Command::Build(args) => build::run(&args, out),
        Command::Run(args) if run_xtensa::is_for(&args) => run_xtensa::run(&args, out),
        Command::Run(args) => run::run(&args, out),
        Command::Profile(args) => profile::run(&args, out),
        Command::Wcet(args) => wcet::run(&args, out),
        Command::Errata(args) => errata::run(&args, out),
        Command::Scenario(args) => scenario::run(args, out),
    }
}

/// A run that gave no result: whose fault it is.
pub fn failure(fault: Fault) -> Failure {
    match fault {
        Fault::Tool(error) => Failure::tool(error),
        Fault::Program(lines) => Failure::User(
            lines
                .iter()
                .filter(|line| *line != "done")
                .map(|line| report::Diagnostic::new(line.clone()))
                .collect(),
        ),
    }
}

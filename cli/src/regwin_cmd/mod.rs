//! `meanwhile regwin`: threads that share cyclic register windows.

mod behaviour;
mod bench;
mod build;
mod figures;
mod options;
mod record;
mod rtos;
mod run;
mod scenario;
mod speed;
mod sweep;
mod variants;
mod wcet;

use regwin::work::Fault;

use crate::output::{Failure, Output};

pub use figures::report;

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
    /// Run the spell checker once and print what is counted.
    Run(run::Args),
    /// Run every scheme, schedule and behaviour over the window counts, on the simulator.
    Sweep(sweep::Args),
    /// Compare adaptive with the best of the paper's schemes, every cell counted under QEMU.
    Bench(bench::Args),
    /// Compare what the paper leaves open: copied registers, emulated restores, windows a trap, allocation.
    Variants(variants::Args),
    /// Measure how fast the simulator, QEMU and the counting plugin are here.
    Speed(speed::Args),
    /// Count what RTOS people measure (tmcontext01, Rhealstone, Thread-Metric), in each scheme.
    Rtos(rtos::Args),
    /// Bound the cycles of every switch, trap and interrupt entry of a linked image, over all paths.
    Wcet(wcet::Args),
    /// Show how the spell checker uses windows if there are enough of them.
    Behaviour(behaviour::Args),
    /// Record the events of a run.
    Record(record::RecordArgs),
    /// Replay a record with other windows.
    Replay(record::ReplayArgs),
    /// Run threads of your own, described in a file.
    Scenario(scenario::Args),
}

/// How committed results of this system are shown; nothing for those of others.
pub fn committed(experiment: &str, file: &str, evidence: &::report::Evidence) -> Option<Vec<::report::page::Block>> {
    match (experiment, file) {
        ("regwin-adaptive", "adaptive") => Some(bench::committed(evidence)),
        ("regwin-variants", "variants") => Some(variants::committed(evidence)),
        ("regwin-rtos", "rtos") => Some(rtos::committed(evidence)),
        ("regwin-speed", "speed") => Some(speed::committed(evidence)),
        _ => None,
    }
}

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    match args.command {
        Command::Build(args) => build::run(&args, out),
        Command::Run(args) => run::run(args, out),
        Command::Sweep(args) => sweep::run(args, out),
        Command::Bench(args) => bench::run(args, out),
        Command::Variants(args) => variants::run(&args, out),
        Command::Speed(args) => speed::run(&args, out),
        Command::Rtos(args) => rtos::run(&args, out),
        Command::Wcet(args) => wcet::run(&args, out),
        Command::Behaviour(args) => behaviour::run(args, out),
        Command::Record(args) => record::record(args, out),
        Command::Replay(args) => record::replay(args, out),
        Command::Scenario(args) => scenario::run(args, out),
    }
}

/// A run that gave no result: whose fault it is.
fn failure(fault: Fault) -> Failure {
    match fault {
        Fault::Tool(error) => Failure::tool(error),
        Fault::Program(lines) => {
            Failure::User(lines.iter().filter(|line| *line != "done").map(|line| report::Diagnostic::new(line.clone())).collect())
        }
    }
}

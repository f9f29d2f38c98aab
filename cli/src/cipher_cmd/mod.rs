//! `meanwhile cipher`: Usuba ciphers listed, checked, compiled, run and tested.

mod back_ends;
mod bench;
mod best;
mod bounds;
mod check;
mod compile;
mod compilers;
mod constant_time;
mod list;
mod options;
mod package;
mod peers;
mod run;
mod sboxes;
mod scaling;
mod speed;
mod test;
mod tune;
mod validate;

use crate::output::{Failure, Output};

pub use speed::report;

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
    /// Check which C compilers keep all primitives and modes free of branches and addresses that depend on a secret.
    Compilers(compilers::Args),
    /// Measure each scheduler off against on.
    Bench(bench::Args),
    /// Measure cycles a byte of emitted C.
    Speed(speed::Args),
    /// Measure our assembly against the best C, in turn.
    Backends(back_ends::Args),
    /// Search for the fastest way to compile a program for this machine, and write it as a recipe.
    Tune(tune::Args),
    /// Compare the synthesiser of circuits with decision diagrams on random S-boxes.
    Sboxes(sboxes::Args),
}

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    match args.command {
        Command::List => list::run(out),
        Command::Check(args) => check::run(args, out),
        Command::Compile(args) => compile::run(args, out),
        Command::Package(args) => package::run(args, out),
        Command::Run(args) => run::run(args, out),
        Command::Test(args) => test::run(args, out),
        Command::Validate(args) => validate::run(args, out),
        Command::Compilers(args) => compilers::run(args, out),
        Command::Bench(args) => bench::run(args, out),
        Command::Speed(args) => speed::run(args, out),
        Command::Backends(args) => back_ends::run(args, out),
        Command::Tune(args) => tune::run(args, out),
        Command::Sboxes(args) => sboxes::run(args, out),
    }
}

/// The committed results of one of this system's benchmarks as tables and charts; `None` for others.
pub fn committed(experiment: &str, file: &str, evidence: &report::Evidence) -> Option<Vec<report::page::Block>> {
    match (experiment, file) {
        ("cipher-speed", "speed") => Some(speed::committed(evidence)),
        ("cipher-streams", _) => Some(peers::committed(evidence)),
        ("cipher-constant-time", "compilers") => Some(compilers::committed(evidence)),
        ("cipher-tune", "best") => Some(best::committed(evidence)),
        // The programs behind the rows of `tune`: hundreds, for the medians that the tuner expects; and what the page on the assembly says
        // of the model's choices.
        ("cipher-tune", "tried" | "by_model") => Some(Vec::new()),
        ("cipher-schedulers" | "cipher-bytes", study) => bench::committed(study, evidence),
        _ => None,
    }
}

//! `meanwhile regwin`: threads that share cyclic register windows.

mod options;
mod run;

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
    /// Run the spell checker once and print what is counted.
    Run(run::Args),
}

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    match args.command {
        Command::Run(args) => run::run(args, out),
    }
}

/// A run that gave no result: whose fault it is.
fn failure(fault: Fault) -> Failure {
    match fault {
        Fault::Tool(error) => Failure::Environment {
            ran: error.ran,
            said: error.said,
            help: Some("`meanwhile doctor` lists the tools and what installs them".into()),
        },
        Fault::Program(lines) => {
            Failure::User(lines.iter().filter(|line| *line != "done").map(|line| report::Diagnostic::new(line.clone())).collect())
        }
    }
}

//! `meanwhile audit`: every instruction of a fast path asked why it is there.

mod options;
mod spills;

use measure::tool::ToolError;

use crate::output::{Failure, Output};
use options::{How, Which};

/// Arguments of `meanwhile audit`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
    /// Count stores and reloads of spilled values instead.
    #[arg(long)]
    spills: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {}

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let loaded = args.how.load(&args.which)?;
    if args.spills {
        return spills::run(&loaded, args.which.function.as_deref(), out);
    }
    Err(Failure::user("nothing else yet", None))
}

/// A tool that failed, with what installs it.
fn tool_failure(error: ToolError) -> Failure {
    Failure::Environment {
        ran: error.ran,
        said: error.said,
        help: Some("`meanwhile doctor` lists the tools and what installs them".into()),
    }
}

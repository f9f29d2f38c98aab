//! `meanwhile-lab`: the studies behind the claims of meanwhile, and the report. Users need none of
//! it.

mod audit;
mod cipher;
mod cosched;
mod evidence;
mod overlap;
mod regwin;
mod report;
mod store;
mod studies;
mod study;
mod system_report;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use meanwhile::cosched_cmd::daemon::{EnterArgs, enter};
use meanwhile::cosched_cmd::host::{self, SuperviseArgs};
use terminal::output::{self, Failure, Output};

/// The studies behind the claims of meanwhile, and the report.
#[derive(Debug, Parser)]
#[command(name = "meanwhile-lab", version, arg_required_else_help = true)]
struct Cli {
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the studies.
    List,
    /// Run a study.
    #[command(subcommand)]
    Run(Box<studies::Study>),
    /// Run every system on its bundled input and write report/index.html.
    Report(report::Args),
    /// What the manager of a study starts to watch over it, by the words of the product.
    #[command(hide = true, subcommand)]
    Cosched(Watch),
}

#[derive(Debug, clap::Subcommand)]
enum Watch {
    Supervise(SuperviseArgs),
    Enter(EnterArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refused) => return output::usage(&refused, None),
    };
    let mut out = Output::new(cli.json).with_tools(meanwhile::doctor::lists);
    let ended = start(&cli.command).and_then(|()| match cli.command {
        Command::List => studies::list(&Cli::command(), &mut out),
        Command::Run(study) => studies::run(*study, &mut out),
        Command::Report(args) => report::run(args, &mut out),
        Command::Cosched(Watch::Supervise(args)) => host::supervise(&args, &mut out),
        Command::Cosched(Watch::Enter(args)) => enter(&args),
    });
    out.finish(ended)
}

/// A study that manages programs ends them itself when it is interrupted.
fn start(command: &Command) -> Result<(), Failure> {
    if matches!(command, Command::Cosched(_)) {
        return Ok(());
    }
    let manages = matches!(command, Command::Run(study) if study.manages());
    if manages {
        return ::cosched::manager::signals::note()
            .map_err(|error| Failure::environment("catch signals", error));
    }
    measure::interrupt::install(output::restore_terminal)
        .map_err(|error| Failure::environment("handle signals", error))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    /// Names of groups, of options and of values are checked for every study, also for those
    /// that no test runs.
    #[test]
    fn the_command_line_holds_together() {
        super::Cli::command().debug_assert();
    }
}

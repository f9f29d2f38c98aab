//! `meanwhile cosched`: the memory bus as a thing to schedule.

pub mod daemon;
pub mod host;
pub mod policy;
mod probe;
mod restore;
pub mod run;
pub mod sim;
mod slurm;
mod top;

use crate::output::{Failure, Output};

/// Arguments of `meanwhile cosched`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

impl Args {
    /// True for commands whose programs outlive an interrupt, or are ended by the command itself
    /// in its own way.
    pub fn manages(&self) -> bool {
        match self.command {
            Command::Run(_)
            | Command::Supervise(_)
            | Command::Hands
            | Command::Enter(_)
            | Command::Daemon(_) => true,
            Command::Probe(_)
            | Command::Submit(_)
            | Command::Status(_)
            | Command::Stop(_)
            | Command::Top(_) => false,
            Command::Sim(_) | Command::Slurm(_) | Command::Restore(_) => false,
        }
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show which processors share a link to the memory, and whether choosing which programs run
    /// together would gain here.
    Probe(probe::Args),
    /// Run programs under a policy, in the foreground.
    Run(run::Args),
    /// Thaw what a manager left frozen when it dies.
    #[command(hide = true)]
    Supervise(host::SuperviseArgs),
    /// Do what a daemon has no rights for.
    #[command(hide = true)]
    Hands,
    /// Become the program of a user of the daemon.
    #[command(hide = true)]
    Enter(daemon::EnterArgs),
    /// Manage programs that are submitted, until `stop`.
    Daemon(daemon::Args),
    /// Give a program to the daemon, or a process that runs already.
    Submit(daemon::SubmitArgs),
    /// Show what the daemon manages.
    Status(daemon::StatusArgs),
    /// Let all programs run on, and end the daemon.
    Stop(daemon::StopArgs),
    /// Let all run that managers left waiting: killed with their supervisors, stopped, or frozen
    /// themselves.
    Restore(restore::Args),
    /// Watch the daemon's programs.
    Top(top::Args),
    /// Write what a Slurm needs so that its steps are managed: a plugin, job_submit.lua,
    /// lines of its configuration.
    Slurm(slurm::Args),
    /// Run workloads under policies on a simulated machine.
    Sim(Box<sim::Args>),
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    // Also a signal that comes before anything is managed lets scratch files go.
    if args.manages() {
        cosched::manager::signals::note()
            .map_err(|error| Failure::environment("catch signals", error))?;
    }
    let done = command(args.command, out);
    // What a signal broke on its way is no failure of its own.
    match cosched::manager::signals::arrived() {
        Some(signal) if done.is_err() => Err(Failure::Signal(signal)),
        _ => done,
    }
}

fn command(command: Command, out: &mut Output) -> Result<(), Failure> {
    match command {
        Command::Probe(args) => probe::run(&args, out),
        Command::Run(args) => run::run(&args, out),
        Command::Supervise(args) => host::supervise(&args, out),
        Command::Hands => host::hands(),
        Command::Enter(args) => daemon::enter(&args),
        Command::Daemon(args) => daemon::run(&args, out),
        Command::Submit(args) => daemon::submit(&args, out),
        Command::Status(args) => daemon::status(&args, out),
        Command::Stop(args) => daemon::stop(&args, out),
        Command::Restore(args) => restore::run(&args, out),
        Command::Top(args) => top::run(&args, out),
        Command::Slurm(args) => slurm::run(&args, out),
        Command::Sim(args) => sim::run(*args, out),
    }
}

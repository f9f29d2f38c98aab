//! `meanwhile overlap`: other work while a message is under way.

mod compile;
mod explain;
mod install;
pub mod options;
mod trace;

use crate::output::{Failure, Output};

/// Arguments of `meanwhile overlap`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Compile or link C, as mpicc would.
    Cc(compile::Args),
    /// Compile or link C++, as mpicxx would.
    #[command(name = "c++")]
    Cxx(compile::Args),
    /// Compile or link Fortran, as mpifort would.
    Fc(compile::Args),
    /// Show which calls were converted, which were not, and why.
    Explain(explain::Args),
    /// Run a program and measure each window from start to wait.
    Trace(trace::Args),
    /// Show where the plugin is, for `clang -fpass-plugin=`; builds it if needed.
    Plugin(install::PluginArgs),
    /// Write compiler wrappers, the plugin and its CMake package into a folder.
    Install(install::Args),
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    use overlap::mpi::Language;
    match args.command {
        Command::Cc(args) => compile::run(args, Language::C, out),
        Command::Cxx(args) => compile::run(args, Language::Cxx, out),
        Command::Fc(args) => compile::run(args, Language::Fortran, out),
        Command::Explain(args) => explain::run(&args, out),
        Command::Trace(args) => trace::run(&args, out),
        Command::Plugin(args) => install::plugin(&args, out),
        Command::Install(args) => install::run(&args, out),
    }
}

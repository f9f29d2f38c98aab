//! `meanwhile overlap plugin` and `install`: the plugin for other build systems.

use std::path::PathBuf;

use overlap::llvm::Llvm;
use overlap::mpi::Language;
use overlap::{Mpi, plugin};
use serde_json::json;

use super::options::{self, PluginOptions};
use crate::output::{Failure, Output};

/// Arguments of `meanwhile overlap plugin`.
#[derive(Debug, clap::Args)]
pub struct PluginArgs {
    /// The version of LLVM: 19 or 22; default: 19 if its clang is here, else 22.
    #[arg(long, value_parser = options::llvm)]
    llvm: Option<Llvm>,
}

/// Arguments of `meanwhile overlap install`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder, such as `/usr/local` or `$HOME/.local`.
    prefix: PathBuf,
    /// The MPI library; default: what `mpicc` is where a wrapper runs.
    #[arg(long, value_parser = options::mpi())]
    mpi: Option<Mpi>,
    /// The version of LLVM: 19 or 22; default: 19 if its clang is here, else 22.
    #[arg(long, value_parser = options::llvm)]
    llvm: Option<Llvm>,
    #[command(flatten)]
    plugin_options: PluginOptions,
}

/// The plugin for a version of LLVM; says so if it has to be built.
fn built(llvm: Llvm, out: &mut Output) -> Result<PathBuf, Failure> {
    announce(llvm, out);
    plugin::plugin(llvm).map_err(Failure::tool)
}

/// Says that the plugin for a version of LLVM has to be built now, if that is so.
pub fn announce(llvm: Llvm, out: &mut Output) {
    if plugin::is_built(llvm).is_ok_and(|is_built| !is_built)
        && measure::cache::folder(plugin::CACHE).is_ok()
    {
        out.warning(&format!(
            "overlap: building the plugin for LLVM {}, once, in about half a minute",
            llvm.number()
        ));
    }
}

fn asked(llvm: Option<Llvm>) -> Result<Llvm, Failure> {
    llvm.map_or_else(|| Llvm::present(Language::C), Ok).map_err(Failure::tool)
}

/// Builds the plugin and says where it is.
pub fn plugin(args: &PluginArgs, out: &mut Output) -> Result<(), Failure> {
    let llvm = asked(args.llvm)?;
    let path = built(llvm, out)?;
    out.line(&path.display().to_string());
    out.object(&json!({"ok": true, "plugin": path.display().to_string(), "llvm": llvm.number()}));
    Ok(())
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let llvm = asked(args.llvm)?;
    if let Some(path) = overlap::install::foreign(&args.prefix).first() {
        return Err(Failure::user(
            format!(
                "`{}` is there and was not written by `meanwhile overlap install`",
                path.display()
            ),
            Some("name another folder, or move the file away"),
        ));
    }
    built(llvm, out)?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::environment("find the path of meanwhile", error))?;
    let mut words = args.plugin_options.settings().options();
    words.extend(args.mpi.map(|mpi| format!("--mpi={}", mpi.name())));
    let written =
        overlap::install::install(&args.prefix, &program, &words, llvm).map_err(Failure::tool)?;
    for path in &written {
        out.line(&path.display().to_string());
    }
    out.object(&json!({"ok": true, "llvm": llvm.number(), "files": written}));
    Ok(())
}

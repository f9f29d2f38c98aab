//! `meanwhile overlap cc|c++|fc`: a compiler call with the plugin.

use std::path::PathBuf;

use overlap::Mpi;
use overlap::compile::{self, Request};
use overlap::mpi::{self, Language};
use serde_json::json;

use super::options::{self, PluginOptions};
use crate::output::{Failure, Output};

/// Arguments of `meanwhile overlap cc`, `c++` and `fc`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// openmpi or mpich; default: what `mpicc` is.
    #[arg(long, value_parser = options::mpi)]
    mpi: Option<Mpi>,
    #[command(flatten)]
    plugin_options: PluginOptions,
    /// The compiler in place of clang-19, clang++-19 or flang-new-19; of LLVM 19.
    #[arg(long, value_name = "PROGRAM")]
    compiler: Option<String>,
    /// A plugin built elsewhere.
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
    /// The compiler's arguments, after `--`.
    #[arg(last = true, required = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

/// Arguments of `meanwhile overlap plugin`.
#[derive(Debug, clap::Args)]
pub struct PluginArgs {}

/// Runs a compiler.
pub fn run(args: Args, language: Language, out: &mut Output) -> Result<(), Failure> {
    let library = match args.mpi {
        Some(library) => library,
        None => mpi::which("mpicc").map_err(Failure::tool)?,
    };
    let settings = args.plugin_options.settings();
    let ended = compile::compile_or_plain(&Request {
        language,
        mpi: library,
        settings: &settings,
        compiler: args.compiler.as_deref(),
        plugin: args.plugin.as_deref(),
        arguments: &args.arguments,
        folder: None,
    })
    .map_err(Failure::tool)?;
    out.errors(&ended.said);
    if let Some(reproducer) = &ended.without_plugin {
        let file = reproducer
            .as_ref()
            .map_or("no file could be written that reproduces it".to_owned(), |it| format!("{} reproduces it", it.display()));
        out.warning(&format!("overlap: the compiler failed with the plugin and passed without it, so nothing is overlapped here; {file}"));
    }
    for why in &ended.switched_off {
        out.warning(&format!("overlap: all calls of this program stay blocking, because it uses {why}"));
    }
    out.object(&json!({
        "ok": ended.ok,
        "ran": ended.ran,
        "mpi": library.name(),
        "switched_off": ended.switched_off,
        "without_plugin": ended.without_plugin.is_some(),
        "reproducer": ended.without_plugin.flatten().map(|it| it.display().to_string()),
    }));
    if ended.ok { Ok(()) } else { Err(Failure::Reported) }
}

/// Builds the plugin and says where it is.
pub fn plugin(_args: &PluginArgs, out: &mut Output) -> Result<(), Failure> {
    let path = overlap::plugin::plugin().map_err(Failure::tool)?;
    out.line(&path.display().to_string());
    out.object(&json!({"ok": true, "plugin": path.display().to_string()}));
    Ok(())
}

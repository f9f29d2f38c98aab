//! `meanwhile overlap cc|c++|fc`: a compiler call with the plugin.

use std::path::PathBuf;

use overlap::Mpi;
use overlap::compile::{self, Ended, Request, WithoutPlugin};
use overlap::mpi::{self, Language};
use overlap::{linked, remarks};
use serde_json::json;

use super::install;
use super::options::{self, PluginOptions};
use crate::output::{Failure, Output};

/// Arguments of `meanwhile overlap cc`, `c++` and `fc`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The MPI library; default: whose mpi.h is in a folder named with -I, else what `mpicc` is.
    #[arg(long, value_parser = options::mpi())]
    mpi: Option<Mpi>,
    #[command(flatten)]
    plugin_options: PluginOptions,
    /// The compiler, of LLVM 19 or 22; default: clang-19, clang++-19 or flang-new-19, or those of
    /// 22 if these are not here.
    #[arg(long, value_name = "PROGRAM")]
    compiler: Option<String>,
    /// A plugin built elsewhere.
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
    /// The compiler's arguments, after `--`.
    #[arg(last = true, required = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

pub fn run(args: Args, language: Language, out: &mut Output) -> Result<(), Failure> {
    let library = match args.mpi.or_else(|| mpi::of_headers(&args.arguments)) {
        Some(library) => library,
        None => mpi::which("mpicc").map_err(Failure::tool)?,
    };
    let settings = args.plugin_options.settings();
    let request = Request {
        language,
        mpi: library,
        settings: &settings,
        compiler: args.compiler.as_deref(),
        plugin: args.plugin.as_deref(),
        arguments: &args.arguments,
        folder: None,
    };
    if args.plugin.is_none() {
        install::announce(compile::llvm(&request).map_err(Failure::tool)?, out);
    }
    let ended = compile::compile_or_plain(&request).map_err(Failure::tool)?;
    out.errors(&ended.said);
    warn(&ended, out);
    if let Some(became) = linked::sentence(&ended.calls)
        && ended.switched_off.is_empty()
        && !linked::is_quiet()
    {
        out.errors(format!("meanwhile: {became}; `meanwhile overlap explain`\n").as_bytes());
    }
    let calls = (!ended.calls.is_empty()).then(|| remarks::summary(&ended.calls));
    let reproducer = match &ended.without_plugin {
        Some(WithoutPlugin::Failed(path)) => path.as_ref().map(|path| path.display().to_string()),
        Some(WithoutPlugin::NotHere(_)) | None => None,
    };
    out.object(&json!({
        "ok": ended.ok,
        "ran": ended.ran,
        "mpi": library.name(),
        "switched_off": ended.switched_off,
        "other_linker": ended.other_linker,
        "without_plugin": ended.without_plugin.is_some(),
        "reproducer": reproducer,
        "calls": calls.map(|counts| json!({
            "sites": counts.sites, "converted": counts.converted, "refused": counts.refused
        })),
    }));
    if ended.ok { Ok(()) } else { Err(Failure::Reported) }
}

/// Says for what reasons nothing is overlapped.
fn warn(ended: &Ended, out: &mut Output) {
    match &ended.without_plugin {
        None => {}
        Some(WithoutPlugin::NotHere(why)) => out.warning(&format!(
            "overlap: there is no plugin here, so nothing is overlapped in this file: `{}` failed: {}",
            why.ran,
            why.said.lines().next().unwrap_or_default()
        )),
        Some(WithoutPlugin::Failed(reproducer)) => {
            let file = reproducer
                .as_ref()
                .map_or("no file could be written that reproduces it".to_owned(), |path| format!("{} reproduces it", path.display()));
            out.warning(&format!(
                "overlap: the compiler failed with the plugin and passed without it, so nothing is overlapped here; {file}"
            ));
        }
    }
    if let Some(linker) = &ended.other_linker {
        out.warning(&format!(
            "overlap: with -flto nothing of this program is overlapped, and its loops are not vectorised, because the linker {linker} does not load the plugin; link with -fuse-ld=lld, or leave out -flto"
        ));
    }
    for why in &ended.switched_off {
        out.warning(&format!(
            "overlap: all calls of this program stay blocking, because it uses {why}"
        ));
    }
}

//! `meanwhile regwin build`: the runtime as a library.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use regwin::library::{OPTIONS, Options};
use regwin::{Cc, Scheme, install};
use report::number::count;
use serde_json::json;

use super::options;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin build`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How threads use the windows.
    #[arg(long, value_name = "NAME", default_value = "adaptive", value_parser = options::scheme())]
    scheme: Scheme,
    /// What else the library can do, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = option())]
    options: Vec<String>,
    /// Which compiler makes the library's C. Its users' may be the other one.
    #[arg(long, value_name = "NAME", default_value = "gcc", value_parser = options::compiler())]
    cc: Cc,
    /// The folder that receives library, headers, sources, Makefile and example.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

fn option() -> PossibleValuesParser {
    PossibleValuesParser::new(OPTIONS.map(|option| option.0))
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    if args.scheme == Scheme::Flat {
        return Err(Failure::user(
            "flat is for comparison: it has no interrupts and no handlers of windows that programs could rely on",
            Some("use --scheme ns, which stores all windows at a switch"),
        ));
    }
    let mut wanted = Options::new(args.scheme);
    for name in &args.options {
        *wanted.named(name).expect("the parser knows the same names") = true;
    }
    if wanted.working_set && args.scheme == Scheme::Ns {
        return Err(Failure::user(
            "`ns` has no `working-set`: no woken thread has windows there",
            Some("leave the option out, or use --scheme adaptive"),
        ));
    }
    let name = args.out.display();
    if install::is_foreign(&args.out) {
        return Err(Failure::user(
            format!("`{name}` is not empty and was not written by `meanwhile regwin build`"),
            Some("name another folder"),
        ));
    }
    let files = install::write(&wanted, args.cc, &args.out).map_err(Failure::tool)?;
    let library = install::library_name(&wanted);
    let bytes = install::footprint(&args.out.join(&library)).map_err(Failure::tool)?;
    let code = bytes.code - bytes.trap_tables;
    out.line(&format!(
        "{name}/{library}: {} of code and {} of trap tables, {} of constants, {} of data",
        count(code as usize, "byte"),
        count(bytes.trap_tables as usize, "byte"),
        count(bytes.constants as usize, "byte"),
        count(bytes.data as usize, "byte"),
    ));
    out.line(&format!("`make run` in {name} builds example/main.c and runs it under QEMU"));
    out.object(&json!({
        "ok": true,
        "folder": args.out.display().to_string(),
        "scheme": args.scheme.name(),
        "options": args.options,
        "library": library,
        "files": files,
        "bytes": {"code": code, "trap_tables": bytes.trap_tables, "constants": bytes.constants, "data": bytes.data},
    }));
    Ok(())
}

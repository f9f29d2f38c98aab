//! `meanwhile regwin build`: the runtime as a library.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use regwin::library::{OPTIONS, Options};
use regwin::{Cc, Scheme, Target, install, xtensa};
use report::number::count;
use serde_json::json;

use super::options;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin build`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The processor that the library is for.
    #[arg(long, value_name = "NAME", default_value = "sparc", value_parser = options::target())]
    target: Target,
    /// How threads use the windows; adaptive if not given, on Xtensa ns.
    #[arg(long, value_name = "NAME", value_parser = options::scheme())]
    scheme: Option<Scheme>,
    /// What else the library can do, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = option())]
    options: Vec<String>,
    /// Which compiler makes the library's C; gcc if not given, on Xtensa clang. On SPARC its
    /// users' may be the other one.
    #[arg(long, value_name = "NAME", value_parser = options::compiler())]
    cc: Option<Cc>,
    /// The folder that receives library, headers, sources, Makefile and example.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

fn option() -> PossibleValuesParser {
    PossibleValuesParser::new(OPTIONS.map(|option| option.0))
}

impl Args {
    fn scheme(&self) -> Scheme {
        self.scheme.unwrap_or(match self.target {
            Target::Sparc => Scheme::Adaptive,
            Target::Xtensa => Scheme::Ns,
        })
    }

    fn cc(&self) -> Cc {
        self.cc.unwrap_or(match self.target {
            Target::Sparc => Cc::Gcc,
            Target::Xtensa => Cc::Clang,
        })
    }
}

/// Refuses what there is not for Xtensa.
fn check_xtensa(args: &Args) -> Result<(), Failure> {
    let scheme = args.scheme();
    if !xtensa::SCHEMES.contains(&scheme) {
        let there = xtensa::SCHEMES.map(Scheme::name).join(" and ");
        let message = format!("there is no scheme `{}` for Xtensa", scheme.name());
        return Err(Failure::user(message, Some(&format!("there are {there}"))));
    }
    let there = |name: &&str| !xtensa::NOT_OPTIONS.contains(name);
    if let Some(name) = args.options.iter().find(|name| !there(&name.as_str())) {
        let message = format!("there is no option `{name}` for Xtensa");
        let names: Vec<&str> = OPTIONS.iter().map(|option| option.0).filter(there).collect();
        return Err(Failure::user(message, Some(&format!("there are {}", names.join(", ")))));
    }
    if args.cc() == Cc::Gcc {
        let message =
            "no gcc of Debian makes windowed code for Xtensa (`gcc-xtensa-lx106` has call0 only)";
        return Err(Failure::user(message, Some("leave --cc out: clang-22 is taken")));
    }
    Ok(())
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let scheme = args.scheme();
    if args.target == Target::Xtensa {
        check_xtensa(args)?;
    }
    if scheme == Scheme::Flat {
        return Err(Failure::user(
            "flat is for comparison: it has no interrupts and no handlers of windows that programs could rely on",
            Some("use --scheme ns, which stores all windows at a switch"),
        ));
    }
    let mut wanted = Options::new(scheme);
    for name in &args.options {
        *wanted.named(name).expect("the parser knows the same names") = true;
    }
    if wanted.working_set && scheme == Scheme::Ns {
        return Err(Failure::user(
            "`ns` has no `working-set`: no woken thread has windows there",
            Some("leave the option out, or use --scheme sp"),
        ));
    }
    let name = args.out.display();
    if install::is_foreign(&args.out) {
        return Err(Failure::user(
            format!("`{name}` is not empty and was not written by `meanwhile regwin build`"),
            Some("name another folder"),
        ));
    }
    let files =
        install::write(args.target, &wanted, args.cc(), &args.out).map_err(Failure::tool)?;
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
        "target": args.target.name(),
        "scheme": scheme.name(),
        "options": args.options,
        "library": library,
        "files": files,
        "bytes": {"code": code, "trap_tables": bytes.trap_tables, "constants": bytes.constants, "data": bytes.data},
    }));
    Ok(())
}

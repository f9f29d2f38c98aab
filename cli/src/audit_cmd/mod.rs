//! `meanwhile audit`: every instruction of a fast path asked why it is there.

mod all;
mod calibrate;
mod check;
mod cpus;
mod diff;
pub mod options;
mod order;
mod show;
mod spills;
mod verify;

use std::path::{Path, PathBuf};

use audit::facts::recorded::Recorded;
use audit::facts::steered::SourceLine;
use audit::program::toolchain;
use clap::builder::TypedValueParser;

use crate::choice::one_of;
use crate::output::{Failure, Output};
use options::{Reading, Subject};
use show::Asked;

/// Arguments of `meanwhile audit`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    which: Subject,
    #[command(flatten)]
    how: Reading,
    /// Print each function in few numbers, the worst first; with --function those that it means,
    /// with --path those that ran.
    #[arg(long, conflicts_with_all = ["spills"])]
    all_functions: bool,
    /// Count stores and reloads of spilled values instead.
    #[arg(long)]
    spills: bool,
    /// Try suggested edits of a C file on a copy, and say which of them helped.
    ///
    /// Loads read before the tests above them, loads kept in a local variable for a second line or
    /// before a loop, tests called likely, pointers made `restrict`, wider variables, callees made
    /// part of their callers or, where errors are returned, kept out of line. What is proved is
    /// printed as a patch; of the others it is said how many were tried.
    #[arg(long, conflicts_with_all = ["all_functions", "spills"])]
    verify: bool,
    /// Write the file's assembly, the function in the fastest order that is found; nothing if
    /// none is faster.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all_functions", "spills", "verify", "format"])]
    order: Option<PathBuf>,
    /// Go on in the functions that its branches lead to, as one: from a vector of a kernel to
    /// `eret`. The function may be NAME+0xOFFSET.
    ///
    /// Only code that it reaches is taken. Calls stay calls; a branch to code before
    /// the entry leads out.
    #[arg(long, requires = "function", conflicts_with_all = ["all_functions", "spills", "verify", "order"])]
    follow: bool,
    /// What the program did when it ran, which chooses the path: QEMU's `-d exec,nochain`,
    /// `perf script`, a debugger's list of addresses, or gcov's counts of lines. FILE@ADDRESS if the
    /// program was loaded so far above the addresses in its file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["spills", "verify"])]
    path: Option<PathBuf>,
    /// A line, FILE:LINE, that the path passes; may be given more than once.
    #[arg(long, value_name = "LINE", value_parser = source_line, conflicts_with_all = ["spills", "all_functions"])]
    through: Vec<SourceLine>,
    /// What is printed; --json is short for the second.
    #[arg(long, default_value = "text", value_parser = format())]
    format: Format,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Compare two audits: what went, what came.
    Diff(Box<diff::Args>),
    /// Compare functions with the cycles that a file allows them; exit code 1 if one takes more, 3
    /// if one could not be judged.
    Check(check::Args),
    /// Write a C file of chains to be timed on a core of yours; with
    /// what it printed, the machine file that fits.
    Calibrate(calibrate::Args),
    /// List the machines with the source of their numbers; with --compare what
    /// two sources say differently.
    #[command(alias = "cores")]
    Cpus(cpus::Args),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Source and assembly side by side.
    Text,
    Json,
    /// A page that needs nothing else.
    Html,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    match args.command {
        Some(Command::Diff(args)) => return diff::run(*args, out),
        Some(Command::Check(args)) => return check::run(&args, out),
        Some(Command::Calibrate(args)) => return calibrate::run(&args, out),
        Some(Command::Cpus(args)) => return cpus::run(&args, out),
        None => {}
    }
    if args.format == Format::Json {
        out.only_object();
    }
    let mut loaded = args.how.load(&args.which)?;
    loaded.warnings.iter().for_each(|warning| out.warning(warning));
    let joined = args.which.function.as_deref().filter(|_| args.follow);
    let joined = joined.map(|name| loaded.code.join(name)).transpose();
    let joined = joined.map_err(|error| Failure::User(vec![error]))?;
    let function = joined.as_deref().or(args.which.function.as_deref());
    if args.spills {
        return spills::run(&loaded, function, out);
    }
    let recorded = match &args.path {
        Some(path) => Some(recorded(path)?),
        None => None,
    };
    if args.all_functions {
        return all::run(&loaded, &args.how, function, recorded, out);
    }
    if let Some(file) = &args.order {
        let wanted = order::Wanted { function, recorded, through: &args.through, file };
        return order::run(&loaded, &args.how, wanted, out);
    }
    let Args { through, verify: tries, format, .. } = args;
    show::run(&loaded, &args.how, function, Asked { recorded, through, tries, format }, out)
}

/// A recording; behind the last `@` of its name how far the program was moved.
fn recorded(given: &Path) -> Result<Recorded, Failure> {
    let (path, base) = options::at_address(given);
    if path.is_dir() {
        return Err(Failure::user(format!("`{}` is a folder", path.display()), None));
    }
    if !path.exists() {
        return Err(Failure::user(format!("there is no file `{}`", path.display()), None));
    }
    let recorded = toolchain::recorded(path, base.unwrap_or_default()).map_err(Failure::tool)?;
    if recorded.is_empty() {
        let help = "it is a log of qemu -d exec,nochain, the text of perf script, a list of addresses, or a .gcov file";
        return Err(Failure::user(
            format!("`{}` holds no addresses and no counts of lines", path.display()),
            Some(help),
        ));
    }
    Ok(recorded)
}

fn source_line(text: &str) -> Result<SourceLine, String> {
    SourceLine::parse(text).ok_or_else(|| "it is FILE:LINE".to_owned())
}

fn format() -> impl TypedValueParser<Value = Format> {
    one_of([Format::Text, Format::Json, Format::Html], |format| match format {
        Format::Text => "text",
        Format::Json => "json",
        Format::Html => "html",
    })
}

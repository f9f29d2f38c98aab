//! Door: `meanwhile-lab run regwin-record` and `replay`: the events of a run in a file, and with
//! other windows.

use std::path::{Path, PathBuf};

use regwin::sim::trace::Trace;
use regwin::work::MACHINES;
use regwin::{Behaviour, Scheme, sweep};
use report::number::count;
use serde_json::json;

use meanwhile::regwin_cmd::counts::{counts_object, counts_table};
use meanwhile::regwin_cmd::{failure, options};
use terminal::output::{Failure, Output, write_file};

/// Arguments of `meanwhile-lab run regwin-record`.
#[derive(Debug, clap::Args)]
pub struct RecordArgs {
    /// The file that receives the trace.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Which of the six behaviours.
    #[arg(long, value_name = "NAME", default_value = "high-fine", value_parser = options::behaviour())]
    behaviour: Behaviour,
}

/// Arguments of `meanwhile-lab run regwin-replay`.
#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The trace.
    #[arg(value_name = "FILE")]
    trace: PathBuf,
    /// How threads use the windows.
    #[arg(long, value_name = "NAME", default_value = "sp", value_parser = options::scheme())]
    scheme: Scheme,
    /// Register windows, 4 to 32.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(options::WINDOWS))]
    windows: u32,
    /// Which machine is charged.
    #[arg(long, value_name = "NAME", default_value = "erc32", value_parser = options::machine())]
    machine: usize,
}

pub fn record(args: RecordArgs, out: &mut Output) -> Result<(), Failure> {
    let trace = sweep::trace(args.behaviour).map_err(failure)?;
    let name = args.out.display().to_string();
    write_file(&args.out, trace.to_bytes())?;
    out.line(&format!(
        "{name}: {} of {}, fifo",
        count(trace.events.len(), "event"),
        args.behaviour.name()
    ));
    out.object(&json!({"ok": true, "file": name, "events": trace.events.len(), "behaviour": args.behaviour.name(), "schedule": "fifo"}));
    Ok(())
}

/// A trace from a file.
pub fn read(path: &Path) -> Result<Trace, Failure> {
    let name = path.display();
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::user(format!("cannot read `{name}`: {error}"), None))?;
    Trace::from_bytes(&bytes)
        .map_err(|why| Failure::user(format!("`{name}` is no trace: {why}"), None))
}

pub fn replay(args: ReplayArgs, out: &mut Output) -> Result<(), Failure> {
    let name = args.trace.display().to_string();
    if args.scheme == Scheme::Flat {
        return Err(Failure::user(
            "a trace holds windows, which flat code has not",
            Some("choose a scheme with windows"),
        ));
    }
    let trace = read(&args.trace)?;
    let counts = sweep::replay(&trace, args.scheme, args.windows).map_err(failure)?;
    let title = format!(
        "{name}: {}, {} windows, {}",
        args.scheme.name(),
        args.windows,
        MACHINES[args.machine]
    );
    out.text(&counts_table(title, args.machine, &counts).terminal(None));
    let mut object = json!({"ok": true, "scheme": args.scheme.name(), "windows": args.windows, "trace": name,
                            "machine": MACHINES[args.machine], "on": "sim"});
    counts_object(&mut object, &counts, args.machine);
    out.object(&object);
    Ok(())
}

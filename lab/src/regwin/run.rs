//! The spell checker once, with everything that is counted.

use regwin::image::{Program, Recipe};
use regwin::work::{self, MACHINES};
use regwin::{Allocate, Behaviour, Cc, Schedule, Scheme, sim, spell};
use serde_json::json;

use meanwhile::regwin_cmd::counts::{On, counts_object, counts_table};
use meanwhile::regwin_cmd::{failure, options};
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run regwin-spell`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How threads use the windows.
    #[arg(long, value_name = "NAME", value_parser = options::scheme())]
    scheme: Scheme,
    /// Register windows, 4 to 32.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(options::WINDOWS))]
    windows: u32,
    /// Which of the six behaviours: high- or low-, and fine, medium or coarse.
    #[arg(long, value_name = "NAME", default_value = "high-fine", value_parser = options::behaviour())]
    behaviour: Behaviour,
    /// Which ready thread runs next.
    #[arg(long, value_name = "NAME", default_value = "fifo", value_parser = options::schedule())]
    schedule: Schedule,
    /// Where snp and sp put a thread without windows.
    #[arg(long, value_name = "NAME", default_value = "simple", value_parser = options::allocate())]
    allocate: Allocate,
    /// Where it runs.
    #[arg(long, value_name = "WORLD", default_value = "qemu", value_parser = options::on())]
    on: On,
    /// Which machine is charged.
    #[arg(long, value_name = "NAME", default_value = "erc32", value_parser = options::machine())]
    machine: usize,
    /// Which compiler makes the program.
    #[arg(long, value_name = "NAME", default_value = "gcc", value_parser = options::compiler())]
    cc: Cc,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    if args.scheme == Scheme::Flat && args.cc == Cc::Clang {
        return Err(Failure::user(
            "clang cannot compile without windows",
            Some("use --cc gcc for the scheme flat"),
        ));
    }
    options::fits(args.allocate, args.scheme)?;
    let recipe = Recipe {
        cc: args.cc,
        allocate: args.allocate,
        ..Recipe::new(Program::Spell, args.scheme, args.schedule)
    };
    let threads = spell::THREADS.map(str::to_owned);
    let run = if args.on == On::Qemu { work::run } else { sim::run };
    let done =
        run(&recipe, args.windows, &spell::blobs(args.behaviour), &threads).map_err(failure)?;
    let names =
        [args.behaviour.name(), args.schedule.name(), MACHINES[args.machine], args.on.name()]
            .join(", ");
    let title = format!("{}, {} windows, {names}", args.scheme.name(), args.windows);
    out.text(&counts_table(title, args.machine, &done.counts).terminal(None));
    let mut object = json!({
        "ok": true,
        "scheme": args.scheme.name(),
        "windows": args.windows,
        "behaviour": args.behaviour.name(),
        "schedule": args.schedule.name(),
        "allocate": args.allocate.name(),
        "machine": MACHINES[args.machine],
        "on": args.on.name(),
    });
    counts_object(&mut object, &done.counts, args.machine);
    object["output_sha256"] = json!(spell::output_sha256(&done.output));
    out.object(&object);
    Ok(())
}

//! `meanwhile regwin run`: the spell checker once, with everything that is counted.

use regwin::image::{Program, Recipe};
use regwin::work::{self, MACHINES};
use regwin::{Allocate, Behaviour, Cc, Counts, Schedule, Scheme, sim, spell};
use report::{Cell, Kind, Table};
use serde_json::{Map, Value, json};

use super::{failure, options};
use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin run`.
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

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    if args.scheme == Scheme::Flat && args.cc == Cc::Clang {
        return Err(Failure::user("clang cannot compile without windows", Some("use --cc gcc for the scheme flat")));
    }
    options::fits(args.allocate, args.scheme)?;
    let recipe = Recipe { cc: args.cc, allocate: args.allocate, ..Recipe::new(Program::Spell, args.scheme, args.schedule) };
    let threads = spell::THREADS.map(str::to_owned);
    let run = if args.on == On::Qemu { work::run } else { sim::run };
    let done = run(&recipe, args.windows, &spell::blobs(args.behaviour), &threads).map_err(failure)?;
    let names = [args.behaviour.name(), args.schedule.name(), MACHINES[args.machine], args.on.name()].join(", ");
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

/// Where a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// On QEMU's LEON3, with every instruction counted.
    Qemu,
    /// On the simulator.
    Sim,
}

impl On {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            On::Qemu => "qemu",
            On::Sim => "sim",
        }
    }
}

/// The counts as a table.
pub fn counts_table(title: String, machine: usize, counts: &Counts) -> Table {
    let cycles = counts.cycles[machine];
    let mut table = Table::new(title, &["counted", "number"]).kind(Kind::Model).note("instructions counted, cycles from the machine file");
    let mut row = |name: &str, value: String| table.push(vec![Cell::words(name), Cell::number(value)]);
    for (name, times) in &counts.switches {
        row(&format!("switches to {name}"), times.to_string());
    }
    row("switches", counts.n_switches().to_string());
    row("saves", counts.saves.to_string());
    row("restores", counts.restores.to_string());
    row("overflows", counts.overflows.to_string());
    row("underflows", counts.underflows.to_string());
    row("windows stored", counts.spilled.to_string());
    row("windows loaded", counts.restored.to_string());
    row("cycles, application", cycles.application.to_string());
    row("cycles, traps", cycles.traps.to_string());
    row("cycles, switches", cycles.switches.to_string());
    row("cycles", cycles.total().to_string());
    row("cycles of a switch, mean", format!("{:.1}", counts.mean_switch_cycles(machine)));
    row("cycles of a switch, worst", counts.worst_switch_cycles(machine).to_string());
    row("trap probability", format!("{:.4}", counts.trap_probability()));
    table
}

/// Adds the counts to a command's object.
pub fn counts_object(object: &mut Value, counts: &Counts, machine: usize) {
    let cycles = counts.cycles[machine];
    let mut switches: Map<String, Value> = counts.switches.iter().map(|(name, times)| (name.clone(), json!(times))).collect();
    switches.insert("total".to_owned(), json!(counts.n_switches()));
    let counted = json!({
        "switches": switches,
        "saves": counts.saves,
        "restores": counts.restores,
        "overflows": counts.overflows,
        "underflows": counts.underflows,
        "spilled": counts.spilled,
        "restored": counts.restored,
        "cycles": {"application": cycles.application, "traps": cycles.traps, "switches": cycles.switches, "total": cycles.total()},
        "mean_switch_cycles": counts.mean_switch_cycles(machine),
        "worst_switch_cycles": counts.worst_switch_cycles(machine),
        "trap_probability": counts.trap_probability(),
    });
    let Value::Object(counted) = counted else { return };
    object.as_object_mut().expect("a command prints an object").extend(counted);
}

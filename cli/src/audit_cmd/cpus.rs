//! `meanwhile audit cpus`: the machines, with the source of their numbers, and where two sources say different ones.

use machine::in_order::Core;
use machine::{Dispute, Machine};
use report::{Cell, Table};
use serde_json::{Value, json};

use crate::audit_cmd::options::REORDERING;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile audit cpus`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print every figure on which two sources differ, with both.
    #[arg(long)]
    compare: bool,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    if args.compare {
        compare(out);
        return Ok(());
    }
    let cores: Vec<Core> = Core::names().filter_map(Core::bundled).collect();
    let mut table = Table::new("Machines", &["name", "machine", "instruction sets", "a cycle"]);
    for core in &cores {
        let sets = core.sets.join(" ");
        table.push(vec![Cell::words(&core.name), Cell::words(&core.title), Cell::words(sets), Cell::number(core.issue_width)]);
    }
    for (name, title, sets) in REORDERING {
        let sets: Vec<&str> = sets.iter().map(|it| it.name()).collect();
        table.push(vec![Cell::words(name), Cell::words(title), Cell::words(sets.join(" ")), Cell::number("")]);
    }
    out.text(&table.terminal(None));
    for core in &cores {
        out.line(&format!("{}: {}", core.name, core.source));
    }
    out.line("each number has its source in machines/NAME.toml");
    let rows: Vec<Value> = cores
        .iter()
        .map(|it| json!({"name": it.name, "title": it.title, "sets": it.sets, "issue_width": it.issue_width, "source": it.source}))
        .collect();
    out.object(&json!({"ok": true, "cpus": rows}));
    Ok(())
}

/// All that is disputed: of cores that audit times, then of machines that `cipher` knows.
fn compare(out: &mut Output) {
    let cores = Core::names().filter_map(Core::bundled).map(|it| (it.name, it.disputes));
    let machines = Machine::names().filter_map(Machine::bundled).map(|it| (it.name, it.disputes));
    let all: Vec<(String, Dispute)> =
        cores.chain(machines).flat_map(|(name, disputes)| disputes.into_iter().map(move |it| (name.clone(), it))).collect();
    let columns = ["machine", "work", "figure", "here", "other", "source of the other", "of"];
    let note = "here: what counts; a chain measured on a board, over the vendor's table or gcc's, over LLVM's";
    let mut table = Table::new("Figures on which two sources differ", &columns).note(note);
    for (name, it) in &all {
        table.push(vec![
            Cell::words(name),
            Cell::words(it.work.join(" ")),
            Cell::words(&it.figure),
            Cell::number(it.here),
            Cell::number(it.other),
            Cell::words(&it.source),
            Cell::words(it.of.as_deref().unwrap_or_default()),
        ]);
    }
    out.text(&table.terminal(None));
    let rows: Vec<Value> = all
        .iter()
        .map(|(name, it)| {
            let mut row = json!({"cpu": name});
            let figures = serde_json::to_value(it).expect("a dispute is words and numbers");
            row.as_object_mut().expect("it is an object").extend(figures.as_object().expect("a dispute is an object").clone());
            row
        })
        .collect();
    out.object(&json!({"ok": true, "disputes": rows}));
}

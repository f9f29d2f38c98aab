//! `meanwhile audit cpus`: the machines, with the source of their numbers.

use machine::in_order::Core;
use report::{Cell, Table};
use serde_json::{Value, json};

use crate::audit_cmd::options::REORDERING;
use crate::output::{Failure, Output};

/// Runs the command.
pub fn run(out: &mut Output) -> Result<(), Failure> {
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

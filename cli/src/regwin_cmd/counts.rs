//! What a run counted, as a table and as keys of an object; and where it ran.

use regwin::Counts;
use report::{Cell, Kind, Table};
use serde_json::{Map, Value, json};

/// Where a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// On QEMU's LEON3, with every instruction counted.
    Qemu,
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
    let mut table = Table::new(title, &["counted", "number"])
        .kind(Kind::Model)
        .note("instructions counted, cycles from the machine file");
    let mut row =
        |name: &str, value: String| table.push(vec![Cell::words(name), Cell::number(value)]);
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
    let mut switches: Map<String, Value> =
        counts.switches.iter().map(|(name, times)| (name.clone(), json!(times))).collect();
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

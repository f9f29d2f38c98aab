//! `meanwhile audit cpus`: the machines, with the source of their numbers, and where two sources
//! say different ones.

use audit::beliefs::{Beliefs, ask};
use audit::cpus::{WITHOUT_BOUND, reordering};
use machine::in_order::Core;
use machine::{Dispute, Machine};
use report::{Cell, Table};
use serde_json::{Value, json};

use crate::output::{Failure, Output};

/// Arguments of `meanwhile audit cpus`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print every figure on which two sources differ, with both.
    #[arg(long)]
    compare: bool,
    /// Ask gcc and LLVM how many cycles they take an addition to wait for a sum, a product, a load
    /// and a quotient on each machine.
    #[arg(long, conflicts_with = "compare")]
    beliefs: bool,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    if args.compare {
        compare(out);
        return Ok(());
    }
    let cores: Vec<Core> = Core::names().filter_map(Core::bundled).collect();
    if args.beliefs {
        beliefs(&cores, out);
        return Ok(());
    }
    let mut table = Table::new("Machines", &["name", "machine", "instruction sets", "a cycle"]);
    for core in &cores {
        let sets = core.sets.join(" ");
        table.push(vec![
            Cell::words(&core.name),
            Cell::words(&core.title),
            Cell::words(sets),
            Cell::number(core.issue_width),
        ]);
    }
    let reordering: Vec<Machine> = reordering().map(|(machine, _)| machine).collect();
    let sets_of = |machine: &Machine| {
        machine.instructions.as_ref().map(|rows| rows.sets.clone()).unwrap_or_default()
    };
    for machine in &reordering {
        table.push(vec![
            Cell::words(&machine.name),
            Cell::words(format!("{}; it reorders: bounds", machine.title)),
            Cell::words(sets_of(machine).join(" ")),
            Cell::number(machine.issue_width),
        ]);
    }
    for (name, title, sets) in WITHOUT_BOUND {
        let sets: Vec<&str> = sets.iter().map(|set| set.name()).collect();
        table.push(vec![
            Cell::words(name),
            Cell::words(title),
            Cell::words(sets.join(" ")),
            Cell::number(""),
        ]);
    }
    out.text(&table.terminal(None));
    for core in &cores {
        out.line(&format!("{}: {}", core.name, core.source));
    }
    for machine in &reordering {
        out.line(&format!("{}: {}", machine.name, machine.source));
    }
    out.line("each number has its source in machines/NAME.toml");
    let rows: Vec<Value> = cores
        .iter()
        .map(|core| json!({"name": core.name, "title": core.title, "sets": core.sets, "issue_width": core.issue_width, "source": core.source}))
        .collect();
    let reorders = reordering.iter().map(|machine| json!({"name": machine.name, "title": machine.title, "sets": sets_of(machine), "issue_width": machine.issue_width, "source": machine.source, "reorders": true}));
    let rows: Vec<Value> = rows.into_iter().chain(reorders).collect();
    out.object(&json!({"ok": true, "cpus": rows}));
    Ok(())
}

/// All that is disputed: of cores that audit times, then of machines that `cipher` knows.
fn compare(out: &mut Output) {
    let cores =
        Core::names().filter_map(Core::bundled).map(|bundled| (bundled.name, bundled.disputes));
    let machines = Machine::names()
        .filter_map(Machine::bundled)
        .map(|bundled| (bundled.name, bundled.disputes));
    let all: Vec<(String, Dispute)> = cores
        .chain(machines)
        .flat_map(|(name, disputes)| {
            disputes.into_iter().map(move |dispute| (name.clone(), dispute))
        })
        .collect();
    let columns = ["machine", "work", "figure", "here", "other", "source of the other", "of"];
    let note = "here: what counts; a chain measured on a board, over the vendor's latest table, over gcc's, over LLVM's";
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
            row.as_object_mut()
                .expect("it is an object")
                .extend(figures.as_object().expect("a dispute is an object").clone());
            row
        })
        .collect();
    out.object(&json!({"ok": true, "disputes": rows}));
}

/// What compilers say themselves, beside what the machine files have.
fn beliefs(cores: &[Core], out: &mut Output) {
    let bar = out.progress(cores.len() as u64);
    let mut asked: Vec<(&Core, Beliefs)> = Vec::new();
    for core in cores {
        bar.set_message(core.name.clone());
        asked.push((core, ask(core)));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let note = "cycles from the start of an instruction to that of an addition that needs its result; - where the compiler has no answer";
    let mut table =
        Table::new("What compilers believe", &["machine", "work", "here", "gcc", "LLVM 19"])
            .note(note);
    let shown = |cycles: Option<u32>| cycles.map_or("-".to_owned(), |it| it.to_string());
    for (core, it) in &asked {
        for row in &it.rows {
            let words = vec![
                Cell::words(&core.name),
                Cell::words(row.class.name()),
                Cell::number(row.here),
            ];
            table.push(
                [words, vec![Cell::number(shown(row.gcc)), Cell::number(shown(row.llvm))]].concat(),
            );
        }
    }
    out.text(&table.terminal(None));
    for (core, it) in &asked {
        out.line(&format!(
            "{}: gcc schedules by {}; LLVM by {}",
            core.name, core.compilers.gcc, core.compilers.llvm
        ));
        if let Some(error) = &it.gcc_failed {
            out.warning(&format!("`{}` failed: {}", error.ran, error.said.trim()));
        }
        // Where the file says that it has no answer, its refusal is no news.
        if let Some(error) =
            it.llvm_failed.as_ref().filter(|_| !core.compilers.llvm.contains("does not"))
        {
            out.warning(&format!("`{}` failed: {}", error.ran, error.said.trim()));
        }
    }
    let one = |(core, it): &(&Core, Beliefs)| {
        let rows = it.rows.iter().map(|row| json!({"work": row.class.name(), "here": row.here, "gcc": row.gcc, "llvm": row.llvm}));
        json!({"cpu": core.name, "rows": rows.collect::<Vec<Value>>(), "gcc": core.compilers.gcc, "llvm": core.compilers.llvm})
    };
    out.object(&json!({"ok": true, "beliefs": asked.iter().map(one).collect::<Vec<Value>>()}));
}

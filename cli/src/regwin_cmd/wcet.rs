//! Door: `meanwhile regwin wcet`: how long switches, traps and interrupt entries of a linked image take at most.

use std::path::{Path, PathBuf};

use regwin::code::{BadImage, Code};
use regwin::qemu;
use regwin::wcet::{self, Bound, Routine};
use regwin::work::{self, MACHINES};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use super::options;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin wcet`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A program linked with a library of `regwin build`, with its symbols.
    #[arg(value_name = "IMAGE")]
    image: PathBuf,
    /// Register windows, with commas between; 4 to 32.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "8,31", value_parser = clap::value_parser!(u32).range(options::WINDOWS))]
    windows: Vec<u32>,
    /// Whose cycles are shown: erc32 or leon3; JSON has both.
    #[arg(long, value_name = "NAME", default_value = "erc32", value_parser = options::machine())]
    machine: usize,
    /// Run the image under QEMU too, once for each routine and number of windows, and show the longest that was seen.
    #[arg(long)]
    run: bool,
}

/// A routine with so many windows: bounds and the longest seen, each on both machines.
struct Row {
    routine: Routine,
    windows: u32,
    bounds: [Bound; 2],
    seen: Option<[u32; 2]>,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let shown = args.image.display();
    let bytes = std::fs::read(&args.image).map_err(|error| Failure::user(format!("{shown}: {error}"), None))?;
    let bad = |error: BadImage| {
        let help = "it must be linked with a library of `meanwhile regwin build` (ELF, SPARC, for RAM) and keep its symbols";
        Failure::user(format!("{shown}: {}", error.0), Some(help))
    };
    let code = Code::parse(&bytes).map_err(bad)?;
    let cores = work::cores();
    let both = [0, 1].map(|machine| wcet::bounds(&code, &cores[machine], &args.windows).map_err(bad));
    let [first, second] = both;
    let mut rows = Vec::new();
    for ((routine, first), (_, second)) in first?.into_iter().zip(second?) {
        for (idx, windows) in args.windows.iter().enumerate() {
            rows.push(Row { routine, windows: *windows, bounds: [first[idx], second[idx]], seen: None });
        }
    }
    if args.run {
        let bar = out.progress(rows.len() as u64);
        for row in &mut rows {
            row.seen = seen(&args.image, &code, row)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    out.text(&table(&rows, args.machine, args.run).terminal(None));
    for windows in &args.windows {
        let rows = || rows.iter().filter(|it| it.windows == *windows && it.routine.has_traps_off);
        if let Some(longest) = rows().max_by_key(|it| it.bounds[args.machine].most) {
            let cycles = longest.bounds[args.machine].most;
            out.line(&format!("{windows} windows: traps are off for {cycles} cycles at most, in {}", named(&longest.routine)));
        }
    }
    out.object(&json!({"ok": true, "kind": "model", "rows": rows.iter().map(object).collect::<Vec<Value>>()}));
    Ok(())
}

/// The longest span of one run.
fn seen(image: &Path, code: &Code, row: &Row) -> Result<Option<[u32; 2]>, Failure> {
    let cores = work::cores();
    let watch = wcet::watch(code, &cores[0], &row.routine).expect("its bounds were found");
    let raw = qemu::run_watched(image, code, row.windows, &[], [&cores[0], &cores[1]], &watch).map_err(Failure::tool)?;
    let longest = [0, 1].map(|machine| raw.spans.iter().map(|it| it.cycles[machine]).max());
    Ok(longest[0].zip(longest[1]).map(|(first, second)| [first, second]))
}

fn named(routine: &Routine) -> String {
    if routine.alone { format!("{}, one thread alone", routine.name) } else { routine.name.to_owned() }
}

fn table(rows: &[Row], machine: usize, has_run: bool) -> Table {
    let mut head = vec!["routine", "windows", "at least", "at most"];
    head.extend(has_run.then_some("longest seen"));
    let mut table = Table::new(format!("Bounds of the runtime: cycles, {}", MACHINES[machine]), &head).kind(Kind::Model);
    table =
        table.note("over all ways through the code of this image; by the machine file, without wait states, caches and load interlocks");
    for row in rows {
        let bound = row.bounds[machine];
        let mut cells =
            vec![Cell::words(named(&row.routine)), Cell::number(row.windows), Cell::number(bound.least), Cell::number(bound.most)];
        if has_run {
            cells.push(row.seen.map_or_else(|| Cell::words("never"), |it| Cell::number(it[machine])));
        }
        table.push(cells);
    }
    table
}

fn object(row: &Row) -> Value {
    let of = |machine: usize| {
        let bound = row.bounds[machine];
        json!({"least": bound.least, "most": bound.most, "seen": row.seen.map(|it| it[machine])})
    };
    json!({
        "routine": row.routine.name, "alone": row.routine.alone, "traps_off": row.routine.has_traps_off, "windows": row.windows,
        MACHINES[0]: of(0), MACHINES[1]: of(1),
    })
}

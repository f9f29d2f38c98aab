//! Door: Adaptive beside the best of the paper's schemes under the same schedule, every cell counted
//! under QEMU.

use std::path::PathBuf;

use crate::evidence::Evidence;
use regwin::image::{Program, Recipe};
use regwin::work::{self, MACHINES};
use regwin::{Behaviour, Counts, Schedule, Scheme, sim, spell};
use report::page::Block;
use report::{Cell, Kind, Table, Tone};
use serde_json::{Map, Value, json};

use crate::store;
use meanwhile::regwin_cmd::failure;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run regwin-adaptive`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Four window counts instead of 16 from 4 to 32.
    #[arg(long)]
    quick: bool,
    /// Evidence file; rows that it has already for this runtime are not counted again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Adaptive may cost this much more than the best of the others, in percent.
const LIMIT_PERCENT: f64 = 1.0;

/// The paper's, then ours.
const SCHEMES: [Scheme; 4] = [Scheme::Ns, Scheme::Snp, Scheme::Sp, Scheme::Adaptive];

const WINDOWS: [u32; 16] = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20, 24, 32];
const FEW_WINDOWS: [u32; 4] = [5, 8, 12, 32];

type Row = Map<String, Value>;

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    store::check(args.out.as_deref())?;
    let windows = if args.quick { FEW_WINDOWS.as_slice() } else { WINDOWS.as_slice() };
    let cells = windows.iter().flat_map(|windows| {
        let of_windows = Behaviour::ALL.into_iter().map(move |behaviour| (behaviour, *windows));
        of_windows.flat_map(|(behaviour, windows)| {
            Schedule::ALL.map(|schedule| Place { behaviour, windows, schedule })
        })
    });
    let cells: Vec<Place> = cells.collect();
    let runtime = runtime()?;
    let mut rows = stored(&args, &runtime)?;
    let bar = out.progress(cells.len() as u64);
    for place in cells {
        let Place { behaviour, windows, schedule } = place;
        bar.set_message(format!("{} {windows} {}", behaviour.name(), schedule.name()));
        if !rows.iter().any(|row| place.is_of(row)) {
            rows.push(place.counted(&runtime)?);
            store(&args, &rows)?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    for table in tables(&rows) {
        out.line(&table.terminal(None));
    }
    let n_over = rows
        .iter()
        .filter(|row| (0..MACHINES.len()).any(|machine| percent(row, machine) > LIMIT_PERCENT))
        .count();
    out.line(&format!(
        "{} cells, {n_over} of them more than {LIMIT_PERCENT} % above the best scheme",
        rows.len()
    ));
    out.object(&json!({"ok": true, "on": "qemu", "limit_percent": LIMIT_PERCENT, "cells": rows.len(), "over": n_over, "rows": rows}));
    Ok(())
}

/// What the rows were counted with: changes with every word of code, but not with a comment.
fn runtime() -> Result<String, Failure> {
    let code = |(scheme, schedule)| {
        work::image(&recipe(scheme, schedule)).map(|(_, code)| code.fingerprint())
    };
    let images = Schedule::ALL.into_iter().flat_map(|at| SCHEMES.map(|scheme| (scheme, at)));
    let names: Vec<String> = images.map(code).collect::<Result<_, _>>().map_err(Failure::tool)?;
    Ok(names.join("-"))
}

fn recipe(scheme: Scheme, schedule: Schedule) -> Recipe {
    Recipe::new(Program::Spell, scheme, schedule)
}

/// The rows of the evidence file that are still true.
fn stored(args: &Args, runtime: &str) -> Result<Vec<Row>, Failure> {
    let Some(path) = args.out.as_ref().filter(|out| out.exists()) else { return Ok(Vec::new()) };
    let evidence = Evidence::load(path)
        .map_err(|error| Failure::environment(format!("read {}", path.display()), error.said))?;
    Ok(evidence
        .rows
        .into_iter()
        .filter(|row| row.get("runtime").and_then(Value::as_str) == Some(runtime))
        .collect())
}

/// A cell of the tables.
#[derive(Debug, Clone, Copy)]
struct Place {
    behaviour: Behaviour,
    windows: u32,
    schedule: Schedule,
}

impl Place {
    fn is_of(self, row: &Row) -> bool {
        let word = |key: &str| row.get(key).and_then(Value::as_str);
        word("behaviour") == Some(self.behaviour.name())
            && word("schedule") == Some(self.schedule.name())
            && row.get("windows") == Some(&json!(self.windows))
    }

    /// Every scheme under QEMU, and in the simulator.
    fn counted(self, runtime: &str) -> Result<Row, Failure> {
        let threads = spell::THREADS.map(str::to_owned);
        let blobs = spell::blobs(self.behaviour);
        let mut counts: Vec<(Scheme, Counts)> = Vec::new();
        let mut equal = true;
        for scheme in SCHEMES {
            let recipe = recipe(scheme, self.schedule);
            let real = work::run(&recipe, self.windows, &blobs, &threads).map_err(failure)?;
            let sim = sim::run(&recipe, self.windows, &blobs, &threads).map_err(failure)?;
            equal &= real.counts == sim.counts && real.output == sim.output;
            counts.push((scheme, real.counts));
        }
        let mut row = Row::new();
        row.insert("behaviour".to_owned(), json!(self.behaviour.name()));
        row.insert("windows".to_owned(), json!(self.windows));
        row.insert("schedule".to_owned(), json!(self.schedule.name()));
        let (ours, others) = counts.split_last().expect("adaptive is the last");
        for (machine, name) in MACHINES.iter().enumerate() {
            let total = |counts: &Counts| counts.cycles[machine].total();
            let best = others.iter().min_by_key(|(_, counts)| total(counts)).expect("three");
            row.insert(format!("{name}_best"), json!(best.0.name()));
            row.insert(format!("{name}_best_cycles"), json!(total(&best.1)));
            row.insert(format!("{name}_adaptive_cycles"), json!(total(&ours.1)));
        }
        row.insert("equal_in_simulator".to_owned(), json!(equal));
        row.insert("runtime".to_owned(), json!(runtime));
        Ok(row)
    }
}

fn store(args: &Args, rows: &[Row]) -> Result<(), Failure> {
    let Some(path) = &args.out else { return Ok(()) };
    let rows = rows.to_vec();
    store::store(
        path,
        Kind::Model,
        ("sparc64-linux-gnu-gcc", "--version"),
        "meanwhile-lab run regwin-adaptive --out FILE",
        rows,
    )
}

fn cycles(row: &Row, machine: usize, key: &str) -> f64 {
    row.get(&format!("{}_{key}_cycles", MACHINES[machine]))
        .and_then(Value::as_f64)
        .unwrap_or(f64::NAN)
}

/// How much more adaptive costs than the best of the others, in percent.
fn percent(row: &Row, machine: usize) -> f64 {
    (cycles(row, machine, "adaptive") / cycles(row, machine, "best") - 1.0) * 100.0
}

fn tables(rows: &[Row]) -> impl Iterator<Item = Table> {
    let machines = 0..MACHINES.len();
    machines.flat_map(move |machine| Schedule::ALL.map(|schedule| table(rows, machine, schedule)))
}

/// A row for each window count, a column for each behaviour: percent, and which scheme is best.
fn table(rows: &[Row], machine: usize, schedule: Schedule) -> Table {
    let names = Behaviour::ALL.iter().map(|behaviour| behaviour.name());
    let head: Vec<&str> = std::iter::once("windows").chain(names).collect();
    let title = format!(
        "adaptive against the best of ns, snp and sp, all under {}: percent of cycles, {}",
        schedule.name(),
        MACHINES[machine]
    );
    let mut table = Table::new(title, &head).kind(Kind::Model).note(
        "instructions counted under QEMU; more is a loss; the best of the others in brackets",
    );
    for windows in WINDOWS {
        let of = |behaviour: Behaviour| {
            rows.iter().find(|row| Place { behaviour, windows, schedule }.is_of(row))
        };
        let shown = |behaviour: Behaviour| match of(behaviour) {
            None => Cell::words(""),
            Some(row) => {
                let percent = percent(row, machine);
                let best = row
                    .get(&format!("{}_best", MACHINES[machine]))
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let tone = if percent <= LIMIT_PERCENT { Tone::Good } else { Tone::Bad };
                Cell::number(format!("{percent:+.2} ({best})")).tone(tone)
            }
        };
        if Behaviour::ALL.into_iter().any(|behaviour| of(behaviour).is_some()) {
            let cells = Behaviour::ALL.into_iter().map(shown);
            table.push(std::iter::once(Cell::number(windows)).chain(cells).collect());
        }
    }
    table
}

pub fn committed(evidence: &Evidence) -> Vec<Block> {
    let tables = tables(&evidence.rows).map(Block::Table);
    std::iter::once(Block::Text(evidence.origin())).chain(tables).collect()
}

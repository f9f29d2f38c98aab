//! Door: How fast the simulator, QEMU and the counting plugin are here.

use std::path::PathBuf;
use std::time::Instant;

use crate::evidence::Evidence;
use measure::{machine, stats};
use regwin::image::{Program, Recipe};
use regwin::{Behaviour, Schedule, Scheme, spell, sweep, work};
use report::page::Block;
use report::{Cell, Kind, Table, Tone};
use serde_json::{Value, json};

use crate::store;
use meanwhile::regwin_cmd::failure;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run regwin-speed`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Evidence file to write.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const N_RUNS: usize = 7;
const WINDOWS: u32 = 8;
/// What is asked of each row, and whether it is the least or the most.
const EVENTS_LEAST: f64 = 50.0;
const SWEEP_MOST: f64 = 60.0;
const QEMU_MOST: f64 = 2.0;
const PLUGIN_MOST: f64 = 4.0;

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    store::check(args.out.as_deref())?;
    let bar = out.progress(N_RUNS as u64 + 5);
    let mut rows = Vec::new();
    let trace = sweep::trace(Behaviour::HighFine).map_err(failure)?;
    let cores = work::cores();
    for scheme in Scheme::windowed() {
        let recipe = Recipe::new(Program::Spell, scheme, Schedule::Fifo);
        let (_, code) = work::image(&recipe).map_err(Failure::tool)?;
        let costs = regwin::sim::costs(&recipe, &code, [&cores[0], &cores[1]]);
        let millions = |_| {
            let start = Instant::now();
            let counts = trace.replay(&*costs, WINDOWS);
            let n_events = counts.saves + counts.restores + counts.n_switches();
            n_events as f64 / 1e6 / start.elapsed().as_secs_f64()
        };
        let samples: Vec<f64> = (0..N_RUNS).map(millions).collect();
        rows.push(row(
            &format!("simulator, {}, replayed: million events a second", scheme.name()),
            &samples,
            Some(EVENTS_LEAST),
            None,
        ));
        bar.inc(1);
    }
    // In turn, so that both meet the same noise.
    let recipe = Recipe::new(Program::Spell, Scheme::Sp, Schedule::Fifo);
    let (blobs, threads) = (spell::blobs(Behaviour::HighFine), spell::THREADS.map(str::to_owned));
    let (mut plain, mut counting, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..N_RUNS {
        let start = Instant::now();
        work::run_plain(&recipe, WINDOWS, &blobs).map_err(failure)?;
        plain.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        work::run(&recipe, WINDOWS, &blobs, &threads).map_err(failure)?;
        counting.push(start.elapsed().as_secs_f64());
        ratios.push(counting[counting.len() - 1] / plain[plain.len() - 1]);
        bar.inc(1);
    }
    rows.push(row("QEMU, sp, high-fine, 8 windows: seconds", &plain, None, Some(QEMU_MOST)));
    rows.push(row("the same with the counting plugin: seconds", &counting, None, None));
    rows.push(row("with the plugin over without", &ratios, None, Some(PLUGIN_MOST)));
    let start = Instant::now();
    sweep::sweep(&Behaviour::ALL, &(4..=32).collect::<Vec<u32>>(), &|| {}).map_err(failure)?;
    rows.push(row(
        "simulator, the whole sweep: seconds",
        &[start.elapsed().as_secs_f64()],
        None,
        Some(SWEEP_MOST),
    ));
    bar.finish_and_clear();
    out.text(&table(&rows).terminal(None));
    out.object(&json!({"ok": true, "kind": "measured", "machine": machine::Machine::here().cpu, "rows": rows}));
    let Some(path) = &args.out else { return Ok(()) };
    let rows = rows.iter().filter_map(|row| row.as_object().cloned()).collect();
    store::store(
        path,
        Kind::Measured,
        ("qemu-system-sparc", "--version"),
        "meanwhile-lab run regwin-speed --out FILE",
        rows,
    )
}

fn row(what: &str, samples: &[f64], least: Option<f64>, most: Option<f64>) -> Value {
    let it = stats::median_interval(samples, 0.95);
    json!({"what": what, "median": it.value, "low": it.low, "high": it.high, "runs": samples.len(), "least": least, "most": most})
}

fn table(rows: &[Value]) -> Table {
    let head = ["what", "median", "from", "to", "runs", "wanted"];
    let mut table = Table::new("How fast the simulator and the counts are", &head)
        .kind(Kind::Measured)
        .note("median and 95 % interval");
    for it in rows {
        let number = |name: &str| it[name].as_f64();
        let cell = |name: &str| Cell::number(format!("{:.2}", number(name).unwrap_or(f64::NAN)));
        let median = number("median").unwrap_or(f64::NAN);
        let (wanted, holds) = match (number("least"), number("most")) {
            (Some(least), _) => (format!("{least} or more"), median >= least),
            (_, Some(most)) => (format!("{most} or less"), median <= most),
            _ => (String::new(), true),
        };
        table.push(vec![
            Cell::words(it["what"].as_str().unwrap_or_default()),
            cell("median").tone(if holds { Tone::Good } else { Tone::Bad }),
            cell("low"),
            cell("high"),
            Cell::number(it["runs"].as_u64().unwrap_or(0)),
            Cell::words(wanted),
        ]);
    }
    table
}

pub fn committed(evidence: &Evidence) -> Vec<Block> {
    let rows = evidence.values();
    vec![Block::Text(evidence.origin()), Block::Table(table(&rows))]
}

//! Door: A manager of many programs: what a status and a decision take, and whether memory stays
//! flat.

use std::time::Instant;

use cosched::machine::Machine;
use cosched::manager::daemon;
use cosched::manager::host::Waiting;
use cosched::manager::program::{Expected, Task};
use cosched::manager::signals;
use cosched::manager::turns::Turns;
use cosched::policies::{Name, ProgramView, Settings, ThreadView, View};
use measure::stats;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use meanwhile::cosched_cmd::host::{HostArgs, Role, failed};
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run cosched-scale`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Programs at a time.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=1000))]
    programs: u32,
    /// Quanta of the simulated clock over which memory is watched.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1000..=10_000_000))]
    quanta: u32,
    #[command(flatten)]
    host: HostArgs,
}

/// What should not be exceeded.
const STATUS_MS: f64 = 50.0;
const DECISION_MS: f64 = 1.0;
const GROWTH_KB: f64 = 1024.0;
/// Times that a status is asked.
const N_STATUS: usize = 21;
/// Decisions in each of which this share of the programs ends and others come.
const COME_AND_GO: usize = 100;

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let bar = out.progress(u64::from(args.quanta) + 1);
    let simulated = simulated(args, &mut |n| bar.set_position(n)).map_err(failed("decide"))?;
    bar.set_message("programs");
    let (status, decision) = real(args, out)?;
    bar.finish_and_clear();
    for (what, value, unit, limit) in [
        ("status", status, "ms", STATUS_MS),
        ("decision of the manager", decision, "ms", DECISION_MS),
        ("decision of the policy, median", simulated.median_ms, "ms", DECISION_MS),
        ("decision of the policy, 99th percentile", simulated.p99_ms, "ms", DECISION_MS),
        ("growth of memory", simulated.growth_kb, "KB", GROWTH_KB),
    ] {
        rows.push(json!({"measure": what, "value": value, "unit": unit, "limit": limit, "is_met": value <= limit}));
    }
    out.text(&table(&rows, args).terminal(None));
    out.object(&json!({"ok": true, "kind": "measured", "programs": args.programs, "quanta": args.quanta, "rows": rows}));
    Ok(())
}

fn table(rows: &[Value], args: &Args) -> Table {
    let note = format!(
        "{} programs; decisions of pairing over {} quanta of a simulated clock",
        args.programs, args.quanta
    );
    let mut table = Table::new("Many programs", &["what", "measured", "unit", "at most", "limit"])
        .kind(Kind::Measured)
        .note(note);
    for it in rows {
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        table.push(vec![
            Cell::words(text("measure")),
            Cell::number(format!("{:.3}", it["value"].as_f64().unwrap_or(f64::NAN))),
            Cell::words(text("unit")),
            Cell::number(&it["limit"]),
            Cell::words(if it["is_met"] == true { "met" } else { "missed" }),
        ]);
    }
    table
}

/// Milliseconds of a status of so many real programs that sleep, as the daemon makes it, and of a
/// decision with all that the policy is told; the medians.
fn real(args: &Args, out: &mut Output) -> Result<(f64, f64), Failure> {
    let manager = args.host.start(Role::default(), out)?;
    // Every program is to take turns, whatever it moves.
    manager.host().waiting = Waiting::Frozen;
    let measured = {
        let mut host = manager.host();
        let mut turns = Turns::new(&mut host, Name::Rr);
        let measured = with_sleepers(&mut turns, args.programs as usize);
        let ended = turns.end_all();
        measured
            .and_then(|measured| ended.map(|()| measured))
            .map_err(failed("manage the programs"))
    };
    manager.end();
    measured
}

/// An error if a signal asks the command to end.
fn goes_on() -> std::io::Result<()> {
    match signals::arrived() {
        Some(signal) => Err(std::io::Error::other(format!("ended by signal {signal}"))),
        None => Ok(()),
    }
}

fn with_sleepers(turns: &mut Turns<'_>, n: usize) -> std::io::Result<(f64, f64)> {
    for idx in 0..n {
        goes_on()?;
        let command = ["sleep", "100000"].map(str::to_owned).into();
        turns.start(&Task {
            name: format!("sleep {idx}"),
            command,
            n_threads: Some(1),
            expected: Expected::default(),
            place: None,
            output: None,
        })?;
    }
    let (mut samples, mut decisions) = (Vec::new(), Vec::new());
    for _ in 0..N_STATUS {
        turns.turn(None)?;
        decisions.push(turns.decision.as_secs_f64() * 1e3);
        let start = Instant::now();
        let text = daemon::status(turns, &Value::Null).to_string();
        samples.push(start.elapsed().as_secs_f64() * 1e3);
        assert!(text.len() > n, "a status says something of each program");
    }
    Ok((stats::median(&samples), stats::median(&decisions)))
}

struct Simulated {
    median_ms: f64,
    p99_ms: f64,
    growth_kb: f64,
}

/// Decisions of `pairing` while rates move and programs come and go; the memory of this process
/// after a tenth of them and at the end.
fn simulated(args: &Args, bar: &mut dyn FnMut(u64)) -> std::io::Result<Simulated> {
    let machine = Machine::paper(4);
    let n = args.programs as usize;
    let mut random = fastrand::Rng::with_seed(1);
    let mut programs: Vec<ProgramView> = (0..n)
        .map(|idx| ProgramView { n_threads: 1, first: idx, is_active: true, is_malleable: true })
        .collect();
    let thread = |program: usize| ThreadView {
        window_mbps: vec![0.0; 8],
        is_ready: true,
        ..ThreadView::new(program)
    };
    let mut threads: Vec<ThreadView> = (0..n).map(thread).collect();
    let mut policy = Name::Pairing.policy(Settings::default());
    // Room for all of it now, and touched: what grows is not this.
    let mut samples = vec![f64::NAN; args.quanta as usize];
    let mut before_kb = 0.0;
    for (quantum, sample) in samples.iter_mut().enumerate() {
        if quantum % COME_AND_GO == 0 {
            let it = random.usize(..n);
            programs[it].is_active = !programs[it].is_active;
            threads[it].is_ready = programs[it].is_active;
        }
        let start = Instant::now();
        let placement =
            policy.decide(&View { machine: &machine, programs: &programs, threads: &threads });
        *sample = start.elapsed().as_secs_f64() * 1e3;
        for &it in placement.iter().flatten() {
            let it = &mut threads[it];
            it.latest_mbps = 900.0 * random.f64();
            it.window_mbps.rotate_left(1);
            it.window_mbps[7] = it.latest_mbps;
        }
        if quantum == args.quanta as usize / 10 {
            before_kb = memory_kb();
        }
        if quantum % 1000 == 0 {
            goes_on()?;
            bar(quantum as u64);
        }
    }
    Ok(Simulated {
        median_ms: stats::median(&samples),
        p99_ms: stats::quantile(&samples, 0.99),
        growth_kb: memory_kb() - before_kb,
    })
}

/// What this process has in memory. Source: proc(5), `/proc/PID/status`.
fn memory_kb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(f64::NAN)
}

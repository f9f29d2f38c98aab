//! Door: The numbers that the paper chose by experiment, and the number of processors.

use std::time::Instant;

use cosched::assumptions::Assumptions;
use cosched::contention::{Base, Model};
use cosched::machine::Machine;
use cosched::policies::{Name, ProgramView, Settings, ShareOf, ThreadView, View};
use cosched::workload;
use measure::stats::{self, Interval};
use report::svg::{Axis, Line, LineChart};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use meanwhile::cosched_cmd::sim::{Runs, runs};
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run cosched-sweep`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Means over the nine workloads for one setting.
#[derive(Debug, Clone)]
pub struct Point {
    /// What is varied.
    pub what: &'static str,
    /// Its value.
    pub value: f64,
    /// The policy.
    pub policy: Name,
    /// Time saved over Linux, percent.
    pub over_linux_pct: f64,
    /// Quanta of 100 ms, the longest of the nine.
    pub longest_wait_quanta: f64,
    /// Quanta, mean.
    pub decision_age_quanta: f64,
}

fn point(what: &'static str, value: f64, policy: Name, all: &[Runs]) -> Point {
    let own = || {
        all.iter().filter_map(|runs| {
            runs.outcomes.iter().find(|outcome| outcome.0 == policy).map(|outcome| &outcome.1)
        })
    };
    let mean = |sum: f64| sum / all.len() as f64;
    Point {
        what,
        value,
        policy,
        over_linux_pct: mean(all.iter().filter_map(|it| it.over(policy, Name::Linux)).sum()),
        longest_wait_quanta: own().map(|own| own.longest_wait_quanta).fold(0.0, f64::max),
        decision_age_quanta: mean(own().map(|own| own.decision_age_quanta).sum()),
    }
}

/// All points: the share that goes by round robin, the epoch, and 2 to 32 processors on one bus
/// that grows with them or does not.
pub fn points(bar: &dyn Fn()) -> Vec<Point> {
    let workloads = workload::table_1();
    let model = Model::plain(Base::M2);
    let all = |machine: &Machine, names: &[Name], settings: Settings| -> Vec<Runs> {
        workloads
            .iter()
            .map(|(name, it)| {
                runs(name, it, names, &(machine.clone(), model, settings), Assumptions::default())
            })
            .collect()
    };
    let mut points = Vec::new();
    let paper = Machine::paper(4);
    for tenths in [0, 3, 5, 8, 10] {
        for (what, share) in [
            ("share of processors by rr", ShareOf::Processors(f64::from(tenths) / 10.0)),
            ("share of bandwidth by rr", ShareOf::Bandwidth(f64::from(tenths) / 10.0)),
        ] {
            let settings = Settings { share, ..Settings::default() };
            points.push(point(
                what,
                f64::from(tenths) / 10.0,
                Name::B2arr,
                &all(&paper, &[Name::Linux, Name::B2arr], settings),
            ));
        }
        bar();
    }
    for epoch in [1usize, 2, 3, 4, 6, 8] {
        let settings = Settings { epoch, ..Settings::default() };
        points.push(point(
            "epoch",
            epoch as f64,
            Name::B2adss,
            &all(&paper, &[Name::Linux, Name::B2adss], settings),
        ));
        bar();
    }
    for n_cpus in [2usize, 4, 8, 16, 32] {
        let names = [Name::Linux, Name::Rr, Name::B2arr, Name::B2adss, Name::Pairing];
        // As many more instances as processors; the bus stays as it is.
        let all: Vec<Runs> = workloads
            .iter()
            .map(|(name, it)| {
                let made = (Machine::paper(n_cpus), model, Settings::default());
                runs(name, &it.times((n_cpus / 4).max(1)), &names, &made, Assumptions::default())
            })
            .collect();
        points.extend(
            names
                .into_iter()
                .skip(1)
                .map(|name| point("processors on the bus", n_cpus as f64, name, &all)),
        );
        bar();
    }
    points
}

/// Steps of [`points`], for a progress bar.
pub const N_STEPS: u64 = 16;

pub fn table(points: &[Point]) -> Table {
    let columns = ["varied", "value", "policy", "over linux %", "longest wait", "age"];
    let note = "means over the nine workloads of Table 1 on the paper's bus, M2; the longest wait of any, in quanta of 100 ms";
    let mut table =
        Table::new("What the paper chose by experiment", &columns).kind(Kind::Sim).note(note);
    for it in points {
        table.push(vec![
            Cell::words(it.what),
            Cell::number(it.value),
            Cell::words(it.policy.text()),
            Cell::number(format!("{:.1}", it.over_linux_pct)),
            Cell::number(format!("{:.1}", it.longest_wait_quanta)),
            Cell::number(format!("{:.2}", it.decision_age_quanta)),
        ]);
    }
    table
}

/// Gain against the number of processors.
pub fn chart(points: &[Point]) -> LineChart {
    let policies = [Name::Rr, Name::B2arr, Name::B2adss, Name::Pairing];
    let line = |policy: Name| Line {
        name: policy.text().into(),
        points: points
            .iter()
            .filter(|point| point.policy == policy && point.what == "processors on the bus")
            .map(|point| (point.value, point.over_linux_pct))
            .collect(),
    };
    LineChart {
        title: "Time saved over Linux, more processors on the same bus".into(),
        kind: Kind::Sim,
        x: Axis { label: "processors".into(), log: true },
        y: Axis { label: "%".into(), log: false },
        lines: policies.into_iter().map(line).collect(),
    }
}

/// How long one decision of a policy takes.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The policy.
    pub policy: Name,
    /// Microseconds: median of all decisions but the first, with its 95 % interval.
    pub us: Interval,
}

/// Processors and threads of [`decisions`].
pub const SCALE: (usize, usize) = (1024, 10_000);
const N_DECISIONS: usize = 60;

/// Decisions on a large machine, measured here.
pub fn decisions() -> Vec<Decision> {
    let (n_cpus, n_threads) = SCALE;
    let machine = Machine::paper(n_cpus);
    let mut random = fastrand::Rng::with_seed(1);
    let programs: Vec<ProgramView> = (0..n_threads / 4)
        .map(|idx| ProgramView {
            n_threads: 4,
            first: 4 * idx,
            is_active: true,
            is_malleable: true,
        })
        .collect();
    let mut thread = |number: usize| {
        let rate = 100.0 * random.f64();
        ThreadView {
            program: number / 4,
            latest_mbps: rate,
            window_mbps: vec![rate; 4],
            write_share: 0.0,
            slowdown: None,
            is_ready: true,
            was_running: false,
        }
    };
    let mut threads: Vec<ThreadView> = (0..n_threads).map(&mut thread).collect();
    let mut all = Vec::new();
    for policy in [Name::Rr, Name::Dss, Name::Lqg, Name::B2arr, Name::B2adss, Name::Pairing] {
        let mut chooser = policy.policy(Settings::default());
        let mut samples = Vec::new();
        for idx in 0..=N_DECISIONS {
            // Rates move a little, as measurements do.
            for it in &mut threads {
                it.latest_mbps = (it.latest_mbps * (0.95 + 0.1 * random.f64())).min(100.0);
            }
            let start = Instant::now();
            let placement =
                chooser.decide(&View { machine: &machine, programs: &programs, threads: &threads });
            let us = start.elapsed().as_secs_f64() * 1e6;
            assert!(placement.iter().any(Option::is_some), "somebody runs");
            if idx > 0 {
                samples.push(us);
            }
        }
        all.push(Decision { policy, us: stats::median_interval(&samples, 0.95) });
    }
    all
}

pub fn decision_table(all: &[Decision]) -> Table {
    let note = format!(
        "{N_DECISIONS} decisions, {} processors, {} threads of {} programs",
        SCALE.0,
        SCALE.1,
        SCALE.1 / 4
    );
    let mut table =
        Table::new("One decision", &["policy", "us", "from", "to"]).kind(Kind::Measured).note(note);
    for it in all {
        let number = |number: f64| Cell::number(format!("{number:.0}"));
        table.push(vec![
            Cell::words(it.policy.text()),
            number(it.us.value),
            number(it.us.low),
            number(it.us.high),
        ]);
    }
    table
}

pub fn run(_args: Args, out: &mut Output) -> Result<(), Failure> {
    let bar = out.progress(N_STEPS);
    let points = points(&|| bar.inc(1));
    bar.finish_and_clear();
    let decisions = decisions();
    out.text(&table(&points).terminal(None));
    out.text(&decision_table(&decisions).terminal(None));
    let row = |point: &Point| {
        json!({"varied": point.what, "value": point.value, "policy": point.policy.text(), "over_linux_pct": point.over_linux_pct,
            "longest_wait_quanta": point.longest_wait_quanta, "decision_age_quanta": point.decision_age_quanta})
    };
    let rows: Vec<Value> = points.iter().map(row).collect();
    let decision = |decision: &Decision| {
        json!({"kind": "measured", "cpus": SCALE.0, "threads": SCALE.1, "policy": decision.policy.text(),
            "median_us": decision.us.value, "low_us": decision.us.low, "high_us": decision.us.high})
    };
    let decisions: Vec<Value> = decisions.iter().map(decision).collect();
    out.object(
        &json!({"ok": true, "kind": "sim", "model": "m2", "rows": rows, "decision": decisions}),
    );
    Ok(())
}

//! Pictures of a run: which program was on which processor, and how much of the links was used.

use report::Kind;
use report::svg::{Axis, Bar, GanttChart, Line, LineChart};

use crate::policies::QUANTUM_MS;
use crate::sim::Outcome;
use crate::workload::Workload;

/// The programs on each processor over time, one colour a program.
pub fn gantt(title: &str, workload: &Workload, n_cpus: usize, outcome: &Outcome) -> GanttChart {
    let mut n_of: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    let names = workload.programs.iter().map(|program| {
        let n = n_of.entry(&program.name).or_default();
        *n += 1;
        format!("{} {n}", program.name)
    });
    let bars = outcome.segments.iter().map(|segment| Bar {
        row: segment.cpu,
        series: segment.program,
        from: segment.from_s,
        to: segment.to_s.min(outcome.end_s),
    });
    GanttChart {
        title: title.to_owned(),
        kind: Kind::Sim,
        unit: "s".into(),
        rows: (0..n_cpus).map(|idx| format!("processor {idx}")).collect(),
        names: names.collect(),
        bars: bars.collect(),
    }
}

/// Points of a line at most; more quanta than that are averaged.
const POINTS_MAX: usize = 50;

/// The share of the links that was used over time, one line a run;
/// neighbouring quanta are averaged.
pub fn use_over_time(title: &str, runs: &[(String, &Outcome)]) -> LineChart {
    let n_most = runs.iter().map(|run| run.1.used.len()).max().unwrap_or(0);
    let n_each = n_most.div_ceil(POINTS_MAX).max(1);
    let quantum_s = QUANTUM_MS / 1000.0;
    let line = |(name, outcome): &(String, &Outcome)| {
        let mean = |(idx, them): (usize, &[f64])| {
            let middle = idx as f64 * n_each as f64 + them.len() as f64 / 2.0;
            (middle * quantum_s, 100.0 * them.iter().sum::<f64>() / them.len() as f64)
        };
        Line {
            name: name.clone(),
            points: outcome.used.chunks(n_each).enumerate().map(mean).collect(),
        }
    };
    LineChart {
        title: title.to_owned(),
        kind: Kind::Sim,
        x: Axis { label: "s".into(), log: false },
        y: Axis { label: "% of the links".into(), log: false },
        lines: runs.iter().map(line).collect(),
    }
}

//! `meanwhile cosched sensitivity`: section 3 of the paper, programs beside microbenchmarks under round robin.

use cosched::contention::{Base, Model};
use cosched::machine::Machine;
use cosched::policies::{Name, Settings};
use cosched::{sim, workload};
use report::svg::{Axis, Line, LineChart};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use crate::output::{Failure, Output};

/// Arguments of `meanwhile cosched sensitivity`.
#[derive(Debug, clap::Args)]
pub struct Args {}

const PROGRAMS: [&str; 5] = ["BT", "CG", "FT", "MG", "SP"];
/// The figures of the paper and what runs beside the programs in them.
pub const BESIDE: [(&str, &str); 3] = [("figure 1", "FLUSH"), ("figure 2", "nBBMA"), ("figure 3", "BBMA")];
const INSTANCES: [usize; 4] = [1, 2, 4, 8];

/// A program of four threads beside so many instances.
#[derive(Debug, Clone)]
pub struct Point {
    program: &'static str,
    beside: &'static str,
    instances: usize,
    slowdown: f64,
}

/// All points, in the simulator.
pub fn points() -> Vec<Point> {
    let time = |program: &str, beside: &str, instances: usize| {
        let it = workload::beside(program, 4, beside, instances);
        let mut policy = Name::Rr.policy(Settings::default());
        sim::run(&it, &Machine::paper(4), Model::plain(Base::M2), policy.as_mut()).mean_s()
    };
    let mut points = Vec::new();
    for (_, beside) in BESIDE {
        for program in PROGRAMS {
            let alone = time(program, beside, 0);
            let point = |instances: usize| Point { program, beside, instances, slowdown: time(program, beside, instances) / alone };
            points.extend(INSTANCES.map(point));
        }
    }
    points
}

/// As a table, a line for each program and microbenchmark.
pub fn table(points: &[Point]) -> Table {
    let columns = ["figure", "program", "beside", "1", "2", "4", "8"];
    let note = "slowdown of a program of four threads beside 1, 2, 4 and 8 instances, round robin, M2; the multiprogramming degree alone \
                would be 1.25, 1.5, 2, 3. Cache misses: no counters here, and the simulator has no caches of processors";
    let mut table = Table::new("Programs beside microbenchmarks", &columns).kind(Kind::Sim).note(note);
    for (figure, beside) in BESIDE {
        for program in PROGRAMS {
            let own = points.iter().filter(|it| it.beside == beside && it.program == program);
            let cells = own.map(|it| Cell::number(format!("{:.2}", it.slowdown)));
            table.push([figure, program, beside].map(Cell::words).into_iter().chain(cells).collect());
        }
    }
    table
}

/// One figure.
pub fn chart(points: &[Point], figure: &str, beside: &str) -> LineChart {
    let line = |program: &&str| Line {
        name: (*program).into(),
        points: points
            .iter()
            .filter(|it| it.beside == beside && it.program == *program)
            .map(|it| (it.instances as f64, it.slowdown))
            .collect(),
    };
    LineChart {
        title: format!("The paper's {figure}: slowdown beside {beside}"),
        kind: Kind::Sim,
        x: Axis { label: "instances".into(), log: false },
        y: Axis { label: "times".into(), log: false },
        lines: PROGRAMS.iter().map(line).collect(),
    }
}

/// Runs the command.
pub fn run(_args: &Args, out: &mut Output) -> Result<(), Failure> {
    let points = points();
    out.text(&table(&points).terminal(None));
    let row = |it: &Point| json!({"program": it.program, "beside": it.beside, "instances": it.instances, "slowdown": it.slowdown});
    let rows: Vec<Value> = points.iter().map(row).collect();
    out.object(&json!({"ok": true, "kind": "sim", "model": "m2", "counters": false, "rows": rows}));
    Ok(())
}

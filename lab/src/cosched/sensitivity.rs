//! Section 3 of the paper, programs beside microbenchmarks under round robin, simulated
//! or for real.

use std::path::Path;

use cosched::contention::{Base, Model};
use cosched::machine::Machine;
use cosched::manager::host::Waiting;
use cosched::manager::startup::Manager;
use cosched::policies::{Name, Settings};
use cosched::workload::{Purpose, WorkloadStart};
use cosched::{sim, workload};
use measure::stats;
use report::svg::{Axis, Line, LineChart};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use meanwhile::cosched_cmd::host::{HostArgs, Role, failed};
use meanwhile::cosched_cmd::run::planned;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run cosched-sensitivity`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Real programs on this machine: kernels of our own.
    #[arg(long)]
    real: bool,
    /// Kernels on small problems, for a trial.
    #[arg(long, requires = "real")]
    small: bool,
    /// Runs of each, of which the median counts.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "real", value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    #[command(flatten)]
    host: HostArgs,
}

impl Args {
    /// True if programs are started.
    pub fn is_real(&self) -> bool {
        self.real
    }
}

const PROGRAMS: [&str; 5] = ["BT", "CG", "FT", "MG", "SP"];
/// The figures of the paper and what runs beside the programs in them.
pub const BESIDE: [(&str, &str); 3] =
    [("figure 1", "FLUSH"), ("figure 2", "nBBMA"), ("figure 3", "BBMA")];
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
        let it = workload::beside(Purpose::Sim, program, 4, beside, instances);
        let mut policy = Name::Rr.policy(Settings::default());
        sim::run(&it, &Machine::paper(4), Model::plain(Base::M2), policy.as_mut()).mean_s()
    };
    let mut points = Vec::new();
    for (_, beside) in BESIDE {
        for program in PROGRAMS {
            let alone = time(program, beside, 0);
            let point = |instances: usize| Point {
                program,
                beside,
                instances,
                slowdown: time(program, beside, instances) / alone,
            };
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
    let mut table =
        Table::new("Programs beside microbenchmarks", &columns).kind(Kind::Sim).note(note);
    for (figure, beside) in BESIDE {
        for program in PROGRAMS {
            let own =
                points.iter().filter(|point| point.beside == beside && point.program == program);
            let cells = own.map(|own| Cell::number(format!("{:.2}", own.slowdown)));
            table.push(
                [figure, program, beside].map(Cell::words).into_iter().chain(cells).collect(),
            );
        }
    }
    table
}

/// One figure of the paper's Section 3 as a chart.
pub fn chart(points: &[Point], figure: &str, beside: &str) -> LineChart {
    let line = |program: &&str| Line {
        name: (*program).into(),
        points: points
            .iter()
            .filter(|point| point.beside == beside && point.program == *program)
            .map(|point| (point.instances as f64, point.slowdown))
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

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    if args.real {
        return real(args, out);
    }
    let points = points();
    out.text(&table(&points).terminal(None));
    let row = |point: &Point| json!({"program": point.program, "beside": point.beside, "instances": point.instances, "slowdown": point.slowdown});
    let rows: Vec<Value> = points.iter().map(row).collect();
    out.object(&json!({"ok": true, "kind": "sim", "model": "m2", "counters": false, "rows": rows}));
    Ok(())
}

/// One real program beside others: seconds, and bytes where they are counted.
struct Measured {
    seconds: f64,
    bytes: Option<u64>,
}

fn measure(
    args: &Args,
    manager: &Manager,
    folder: &Path,
    program: &str,
    beside: &str,
    instances: usize,
) -> Result<Measured, Failure> {
    let mut it = workload::beside(Purpose::Real, program, 4, beside, instances);
    for it in &mut it.programs {
        if let WorkloadStart::Kernel(_, rounds) = &mut it.start {
            // A third of what a whole workload runs: there are 75 of these.
            *rounds = rounds.div_ceil(3);
        }
    }
    let mut plan = planned(&it, folder, args.small)?;
    plan.iter_mut().for_each(|it| it.task.output = Some("/dev/null".into()));
    let ended = manager
        .run(&plan, Name::Rr)
        .map_err(Failure::tool)?
        .ended
        .into_iter()
        .flatten()
        .next()
        .expect("one program is not in the background");
    if ended.status != Some(0) {
        return Err(Failure::environment(ended.name, format!("ended with {:?}", ended.status)));
    }
    Ok(Measured { seconds: ended.turnaround_s, bytes: ended.bytes })
}

/// Figures 1 to 3 on this machine.
fn real(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let folder = measure::scratch::folder().map_err(failed("create a scratch folder"))?;
    let manager = args.host.start(Role::default(), out)?;
    // Every program is to take turns, whatever it moves.
    manager.host().waiting = Waiting::Frozen;
    let found = real_rows(args, &manager, folder.path(), out);
    let (source, reason) = (manager.choice.kind, manager.choice.reason.clone());
    manager.end();
    let (rows, discarded) = found?;
    let counters = rows.iter().any(|row| row["traffic"].is_f64());
    let misses = if counters {
        format!("traffic: the same ratio of the bytes that {} counted", source.text())
    } else {
        format!(
            "cache misses: no counters here ({reason}); the simulator has no caches of processors either"
        )
    };
    let note = format!(
        "a kernel of four threads beside 1, 2, 4 and 8 instances under rr, over the kernel alone under rr, medians of {} runs; the \
         multiprogramming degree alone would be 1.25, 1.5, 2, 3. {misses}",
        args.runs
    );
    let columns = ["figure", "program", "beside", "instances", "slowdown", "traffic"];
    let mut table = Table::new("Real programs beside microbenchmarks", &columns)
        .kind(Kind::Measured)
        .note(note);
    for it in &rows {
        let words = |key: &str| Cell::words(it[key].as_str().unwrap_or_default());
        let number = |key: &str| {
            Cell::number(it[key].as_f64().map_or("-".to_owned(), |it| format!("{it:.2}")))
        };
        let instances = Cell::number(&it["instances"]);
        table.push(vec![
            words("figure"),
            words("program"),
            words("beside"),
            instances,
            number("slowdown"),
            number("traffic"),
        ]);
    }
    out.text(&table.terminal(None));
    if discarded {
        out.warning("the processors' links changed while this ran: the figures do not compare like with like");
    }
    out.object(&json!({
        "ok": true, "kind": "measured", "counters": counters, "reason": reason, "discarded": discarded, "rows": rows,
    }));
    Ok(())
}

fn real_rows(
    args: &Args,
    manager: &Manager,
    folder: &Path,
    out: &Output,
) -> Result<(Vec<Value>, bool), Failure> {
    let before = manager.links().map_err(Failure::tool)?;
    let n_all = PROGRAMS.len() * BESIDE.len() * (1 + INSTANCES.len()) * args.runs as usize;
    let bar = out.progress(n_all as u64);
    let median =
        |program: &str, beside: &str, instances: usize| -> Result<(f64, Option<f64>), Failure> {
            bar.set_message(format!("{program} beside {instances} {beside}"));
            let mut all = Vec::new();
            for _ in 0..args.runs {
                all.push(measure(args, manager, folder, program, beside, instances)?);
                bar.inc(1);
            }
            let seconds: Vec<f64> = all.iter().map(|it| it.seconds).collect();
            let bytes: Option<Vec<f64>> =
                all.iter().map(|it| it.bytes.map(|byte| byte as f64)).collect();
            Ok((stats::median(&seconds), bytes.map(|byte| stats::median(&byte))))
        };
    let mut rows = Vec::new();
    for (figure, beside) in BESIDE {
        for program in PROGRAMS {
            // Again each time, as near as can be to what is compared with it.
            let alone = median(program, beside, 0)?;
            for instances in INSTANCES {
                let it = median(program, beside, instances)?;
                rows.push(json!({
                    "figure": figure, "program": program, "beside": beside, "instances": instances, "slowdown": it.0 / alone.0,
                    "traffic": it.1.zip(alone.1).map(|(it, alone)| it / alone), "alone_s": alone.0,
                }));
            }
        }
    }
    bar.finish_and_clear();
    Ok((rows, before != manager.links().map_err(Failure::tool)?))
}

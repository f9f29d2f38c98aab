//! Door: `meanwhile cosched bench`: two memory and two compute programs, in pairs of a kind and in pairs that fit.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cosched::policies::Name;
use measure::stats::{self, Interval};
use measure::{machine, tool};
use report::page::Block;
use report::{Cell, Evidence, Kind, Table};
use serde_json::{Value, json};

use super::run::{Manager, Task};
use crate::evidence::machine_here;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cosched bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pairs of runs of each kind.
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pairs: u32,
    /// Evidence file to write.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const SOURCE: &str = include_str!("../../../systems/cosched/kernels/work.c");
/// What each program takes alone, about.
const ALONE_S: f64 = 1.2;

/// Runs the command.
pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::environment("create a scratch folder", error))?;
    let program = compile(folder.path())?;
    let amounts: Vec<(&str, u32)> =
        ["read", "write", "compute"].into_iter().map(|kind| Ok((kind, amount(&program, kind)?))).collect::<Result<_, Failure>>()?;
    let compute = amounts[2].1;
    let manager = Manager::start(out)?;
    let bar = out.progress(4 * u64::from(args.pairs));
    let mut rows: Vec<Value> = Vec::new();
    for &(kind, amount) in &amounts[..2] {
        let task = |name: &str, kind: &str, amount: u32| Task {
            name: name.into(),
            command: ["sh", "-c", "exec \"$0\" \"$@\" > /dev/null", &program.display().to_string(), kind, &amount.to_string()]
                .map(str::to_owned)
                .into(),
            n_threads: 1,
        };
        // In the order of the queue round robin runs two of a kind together.
        let tasks = [task("1", kind, amount), task("2", kind, amount), task("3", "compute", compute), task("4", "compute", compute)];
        let mut ratios: [Vec<f64>; 2] = Default::default();
        let mut n_discarded = 0;
        for _ in 0..args.pairs {
            let before = manager.links()?;
            let mut means = Vec::new();
            for policy in [Name::Rr, Name::Pairing] {
                bar.set_message(format!("{kind} {}", policy.text()));
                let ended = manager.run(&tasks, policy)?.ended;
                let mean = |of: &[usize]| of.iter().map(|it| ended[*it].turnaround_s).sum::<f64>() / of.len() as f64;
                means.push([mean(&[0, 1]), mean(&[2, 3])]);
                bar.inc(1);
            }
            // Only pairs of runs on one link, before and after.
            if before != manager.links()? || before.len() != 1 {
                n_discarded += 1;
                continue;
            }
            (0..2).for_each(|it| ratios[it].push(means[0][it] / means[1][it]));
        }
        for (who, ratios) in ["memory", "compute"].into_iter().zip(&ratios) {
            let it = (ratios.len() > 1).then(|| stats::median_interval(ratios, 0.95));
            rows.push(row(kind, who, it, ratios.len(), n_discarded));
        }
    }
    bar.finish_and_clear();
    manager.end();
    out.text(&table(&rows).terminal(None));
    out.object(&json!({"ok": true, "kind": "measured", "rows": rows}));
    let Some(path) = &args.out else { return Ok(()) };
    let evidence = Evidence {
        kind: Kind::Measured,
        machine: machine_here(),
        date: machine::today(),
        compilers: machine::version("cc", &["--version"]).into_iter().collect(),
        command: "meanwhile cosched bench --out FILE".into(),
        rows: rows.iter().filter_map(|it| it.as_object().cloned()).collect(),
    };
    evidence.store(path).map_err(|error| Failure::environment(format!("write {}", path.display()), error.said))
}

fn row(kind: &str, who: &str, it: Option<Interval>, n_pairs: usize, n_discarded: usize) -> Value {
    json!({
        "memory_programs": kind, "programs": who, "ratio": it.as_ref().map(|it| it.value),
        "low": it.as_ref().map(|it| it.low), "high": it.as_ref().map(|it| it.high), "pairs": n_pairs, "discarded": n_discarded,
    })
}

fn table(rows: &[Value]) -> Table {
    let note = "mean turnaround of two programs under rr, which runs two of a kind together, over that under pairing: median of the \
                ratios of paired runs, 95 % interval; above 1 pairing is faster. Pairs in which the processors did not share one link \
                before and after are discarded";
    let columns = ["memory programs", "whose turnaround", "rr / pairing", "from", "to", "pairs", "discarded"];
    let mut table = Table::new("Two memory and two compute programs on two processors", &columns).kind(Kind::Measured).note(note);
    for it in rows {
        let number = |name: &str| Cell::number(it[name].as_f64().map_or("not observed".into(), |it| format!("{it:.2}")));
        table.push(vec![
            Cell::words(it["memory_programs"].as_str().unwrap_or_default()),
            Cell::words(it["programs"].as_str().unwrap_or_default()),
            number("ratio"),
            number("low"),
            number("high"),
            Cell::number(it["pairs"].as_u64().unwrap_or(0)),
            Cell::number(it["discarded"].as_u64().unwrap_or(0)),
        ]);
    }
    table
}

/// The committed table.
pub fn committed(evidence: &Evidence) -> Vec<Block> {
    let rows: Vec<Value> = evidence.rows.iter().cloned().map(Value::Object).collect();
    vec![Block::Text(evidence.origin()), Block::Table(table(&rows))]
}

fn compile(folder: &Path) -> Result<PathBuf, Failure> {
    let (source, made) = (folder.join("work.c"), folder.join("work"));
    std::fs::write(&source, SOURCE).map_err(|error| Failure::environment("write work.c", error))?;
    let mut command = std::process::Command::new("cc");
    command.args(["-std=gnu11", "-O3", "-o"]).arg(&made).arg(&source);
    tool::run(&mut command, b"", Duration::from_secs(60)).and_then(tool::Ran::ok).map_err(Failure::tool)?;
    Ok(made)
}

/// How much work takes [`ALONE_S`] here.
fn amount(program: &Path, kind: &str) -> Result<u32, Failure> {
    let time = |amount: u32| {
        let start = Instant::now();
        let mut command = std::process::Command::new(program);
        command.args([kind, &amount.to_string()]);
        tool::run(&mut command, b"", Duration::from_secs(60)).and_then(tool::Ran::ok).map_err(Failure::tool)?;
        Ok::<f64, Failure>(start.elapsed().as_secs_f64())
    };
    let (few, more) = (time(2)?, time(12)?);
    let each = ((more - few) / 10.0).max(1e-4);
    Ok((ALONE_S / each).clamp(2.0, 100_000.0) as u32)
}

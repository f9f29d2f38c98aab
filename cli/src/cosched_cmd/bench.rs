//! Door: `meanwhile cosched bench`: two memory and two compute programs, in pairs of a kind and in pairs that fit.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cosched::manager::run::Planned;
use cosched::manager::turns::Task;
use cosched::policies::Name;
use measure::stats::{self, Interval};
use measure::{machine, tool};
use report::page::Block;
use report::{Cell, Evidence, Kind, Table};
use serde_json::{Value, json};

use super::ground::{GroundArgs, Manager};
use crate::evidence::machine_here;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cosched bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pairs of runs of each kind.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pairs: u32,
    /// Seconds after which no more pairs are begun.
    #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    limit: u64,
    /// Seconds for which eight programs run to see what the manager costs.
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..=1000))]
    overhead: u64,
    #[command(flatten)]
    ground: GroundArgs,
    /// Evidence file to write.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const SOURCE: &str = include_str!("../../../systems/cosched/kernels/work.c");
/// What each program takes alone, about.
const ALONE_S: f64 = 2.0;

/// Where pairs of runs were, and what they compare `pairing` with there.
const PLACES: [(&str, Name); 2] = [("one link", Name::Rr), ("separate links", Name::Linux)];

/// Ratios of one kind of memory programs in one place: of the memory programs, of the compute programs.
#[derive(Default)]
struct Ratios {
    of: [Vec<f64>; 2],
    n_discarded: u32,
}

impl Ratios {
    fn n(&self) -> u32 {
        self.of[0].len() as u32
    }
}

/// Runs the command.
pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    // Before the manager takes a processor for itself.
    let here = machine_here();
    let folder = tempfile::tempdir().map_err(|error| Failure::environment("create a scratch folder", error))?;
    let program = compile(folder.path())?;
    let amounts: Vec<(&str, u32)> =
        ["read", "write", "compute"].into_iter().map(|kind| Ok((kind, amount(&program, kind)?))).collect::<Result<_, Failure>>()?;
    let manager = Manager::start(&args.ground, out)?;
    let bar = out.progress(2 * u64::from(args.pairs) + 1);
    bar.set_message("overhead");
    let measured = overhead(&manager, &program, args.overhead).and_then(|overhead| {
        bar.inc(1);
        let mut rows = vec![overhead];
        for (kind, amount) in &amounts[..2] {
            // Each kind has its half.
            let start = Instant::now();
            let mut found: [Ratios; 2] = Default::default();
            let tasks = tasks(&program, kind, *amount, amounts[2].1);
            while found[0].n() < args.pairs && 2 * start.elapsed() < Duration::from_secs(args.limit) {
                let n_before = found[0].n();
                pair(&manager, &tasks, &mut found, args.pairs, |policy| bar.set_message(format!("{kind} {}", policy.text())))?;
                bar.inc(u64::from(found[0].n() - n_before));
            }
            for ((place, other), ratios) in PLACES.into_iter().zip(&found) {
                for (who, own) in ["memory", "compute"].into_iter().zip(&ratios.of) {
                    let it = (own.len() > 1).then(|| stats::median_interval(own, 0.95));
                    rows.push(row(kind, place, other, who, it, own.len(), ratios.n_discarded));
                }
            }
        }
        Ok(rows)
    });
    bar.finish_and_clear();
    manager.end();
    let rows = measured?;
    for table in tables(&rows) {
        out.text(&table.terminal(None));
    }
    out.object(&json!({"ok": true, "kind": "measured", "rows": rows}));
    let Some(path) = &args.out else { return Ok(()) };
    let evidence = Evidence {
        kind: Kind::Measured,
        machine: here,
        date: machine::today(),
        compilers: machine::version("cc", &["--version"]).into_iter().collect(),
        command: "meanwhile cosched bench --out FILE".into(),
        rows: rows.iter().filter_map(|it| it.as_object().cloned()).collect(),
    };
    evidence.store(path).map_err(|error| Failure::environment(format!("write {}", path.display()), error.said))
}

fn planned(name: &str, command: Vec<String>, is_background: bool) -> Planned {
    let task = Task { name: name.into(), command, n_threads: 1, place: None, output: Some("/dev/null".into()) };
    Planned { task, arrival_s: 0.0, after: None, is_background }
}

/// In the order of the queue round robin runs two of a kind together.
fn tasks(program: &Path, kind: &str, amount: u32, compute: u32) -> Vec<Planned> {
    let one = |name: &str, kind: &str, amount: u32| {
        planned(name, [&program.display().to_string(), kind, &amount.to_string()].map(str::to_owned).into(), false)
    };
    vec![one("1", kind, amount), one("2", kind, amount), one("3", "compute", compute), one("4", "compute", compute)]
}

/// One pair of runs, in the place where the processors are now; left out if they move.
fn pair(manager: &Manager, tasks: &[Planned], found: &mut [Ratios; 2], n_wanted: u32, mut say: impl FnMut(Name)) -> Result<(), Failure> {
    let before = manager.links()?;
    let place = usize::from(before.len() != 1);
    if found[place].n() >= n_wanted {
        // Enough of those: the processors may come back.
        std::thread::sleep(Duration::from_secs(1));
        return Ok(());
    }
    let mut means = Vec::new();
    let mut n_moves = 0;
    // Whoever is first is second in the next pair.
    let mut order = [PLACES[place].1, Name::Pairing];
    if found[place].n() % 2 == 1 {
        order.reverse();
    }
    for policy in order {
        say(policy);
        let report = manager.run(tasks, policy)?;
        n_moves += report.n_moves;
        let mean =
            |of: &[usize]| of.iter().filter_map(|it| report.ended[*it].as_ref()).map(|it| it.turnaround_s).sum::<f64>() / of.len() as f64;
        means.push([mean(&[0, 1]), mean(&[2, 3])]);
    }
    if n_moves > 0 || before != manager.links()? {
        found[place].n_discarded += 1;
        return Ok(());
    }
    let (other, ours) = if order[1] == Name::Pairing { (means[0], means[1]) } else { (means[1], means[0]) };
    (0..2).for_each(|it| found[place].of[it].push(other[it] / ours[it]));
    Ok(())
}

/// What the manager costs while eight programs run, four of each kind.
fn overhead(manager: &Manager, program: &Path, seconds: u64) -> Result<Value, Failure> {
    let endless = |kind: &str| planned(kind, [&program.display().to_string(), kind, "100000000"].map(str::to_owned).into(), true);
    let mut plan: Vec<Planned> = ["read", "compute", "read", "compute", "write", "compute", "read"].map(endless).into();
    plan.push(planned("sleep", vec!["sleep".to_owned(), seconds.to_string()], false));
    let links = manager.links()?;
    let report = manager.run(&plan, Name::Pairing)?;
    let switch = |p: f64| if report.switch_us.is_empty() { None } else { Some(stats::quantile(&report.switch_us, p)) };
    Ok(json!({
        "measure": "overhead", "n_programs": plan.len(), "wall_s": report.wall_s, "own_cpu_pct": 100.0 * report.own_cpu_s / report.wall_s,
        "canary_ms_in_200_ms": 200.0 * report.canary_s / report.wall_s, "switch_us_p50": switch(0.5), "switch_us_p95": switch(0.95),
        "changes": report.switch_us.len(), "decisions": report.n_decisions, "links": links.len(), "load": load(),
    }))
}

/// How many programs of others wanted a processor in the last minute, ours among them.
fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn row(kind: &str, place: &str, other: Name, who: &str, it: Option<Interval>, n_pairs: usize, n_discarded: u32) -> Value {
    json!({
        "measure": "pairs", "memory_programs": kind, "place": place, "over": other.text(), "programs": who,
        "ratio": it.as_ref().map(|it| it.value), "low": it.as_ref().map(|it| it.low), "high": it.as_ref().map(|it| it.high),
        "pairs": n_pairs, "discarded": n_discarded,
    })
}

fn tables(rows: &[Value]) -> Vec<Table> {
    let note = "mean turnaround of two programs under the other policy over that under pairing: median of the ratios of paired runs, 95 % \
                interval; above 1 pairing is faster. On one link the other is rr, which runs two of a kind together; on separate links \
                plain linux. Pairs in which the processors moved are discarded";
    let columns = ["memory programs", "place", "over", "whose turnaround", "ratio", "from", "to", "pairs", "discarded"];
    let mut pairs = Table::new("Two memory and two compute programs on two processors", &columns).kind(Kind::Measured).note(note);
    let columns =
        ["programs", "manager % of a processor", "canary ms in 200 ms", "a change us, median", "95th percentile", "changes", "load"];
    let note = "pairing; the manager's own processor time, measuring included; a change: freezing and thawing";
    let mut costs = Table::new("What the manager costs", &columns).kind(Kind::Measured).note(note);
    let number = |it: &Value, digits: usize| Cell::number(it.as_f64().map_or("not observed".into(), |it| format!("{it:.digits$}")));
    let words = |it: &Value| Cell::words(it.as_str().unwrap_or_default());
    for it in rows {
        if it["measure"] == "overhead" {
            costs.push(vec![
                Cell::number(&it["n_programs"]),
                number(&it["own_cpu_pct"], 2),
                number(&it["canary_ms_in_200_ms"], 2),
                number(&it["switch_us_p50"], 0),
                number(&it["switch_us_p95"], 0),
                Cell::number(&it["changes"]),
                number(&it["load"], 1),
            ]);
        } else {
            pairs.push(vec![
                words(&it["memory_programs"]),
                words(&it["place"]),
                words(&it["over"]),
                words(&it["programs"]),
                number(&it["ratio"], 2),
                number(&it["low"], 2),
                number(&it["high"], 2),
                Cell::number(&it["pairs"]),
                Cell::number(&it["discarded"]),
            ]);
        }
    }
    vec![costs, pairs]
}

/// The committed tables.
pub fn committed(evidence: &Evidence) -> Vec<Block> {
    let rows: Vec<Value> = evidence.rows.iter().cloned().map(Value::Object).collect();
    let own = tables(&rows).into_iter().map(Block::Table);
    std::iter::once(Block::Text(evidence.origin())).chain(own).collect()
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

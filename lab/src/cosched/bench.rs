//! Door: Two memory and two compute programs, in pairs of a kind and in pairs that fit, and what
//! the machine allows at most.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::evidence::Evidence;
use cosched::manager::program::{Expected, Task};
use cosched::manager::run::Planned;
use cosched::manager::startup::Manager;
use cosched::policies::{Name, Settings};
use measure::stats::{self, Interval};
use measure::{machine, tool};
use report::page::Block;
use report::svg::{Axis, Chart, Line, LineChart};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use meanwhile::cosched_cmd::host::{HostArgs, Role};
use terminal::machine_here;

use crate::store;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run cosched-real`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Rounds of runs of each kind.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pairs: u32,
    /// Seconds after which no more rounds are begun.
    #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    limit: u64,
    /// Seconds for which eight programs run to see what the manager costs.
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..=1000))]
    overhead: u64,
    #[command(flatten)]
    host: HostArgs,
    /// Evidence file to write.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const SOURCE: &str = include_str!("../../../systems/cosched/kernels/work.c");
/// What each program takes alone, about.
const ALONE_S: f64 = 2.0;

/// What `pairing` is compared with where the processors share one link, and where they do not.
const PLACES: [(&str, Name); 2] = [("one link", Name::Rr), ("separate links", Name::Linux)];
/// Shares of the quanta that `pairing` leaves to round robin: from all gain to none.
const SHARES: [f64; 4] = [0.0, 0.25, 0.5, 0.75];
/// What choosing is to bring the memory programs on one link, and what compute programs may lose.
const WANTED: [(&str, f64); 2] = [("read", 1.4), ("write", 1.8)];
const COMPUTE_LEAST: f64 = 1.0 / 1.03;
/// What all may lose where there is nothing to gain.
const APART_LEAST: f64 = 0.99;
/// Percent of a processor, milliseconds of the canary in 200, and microseconds of a change that
/// the manager may cost.
const COSTS_MOST: [(&str, f64); 3] =
    [("own_cpu_pct", 0.5), ("canary_ms_in_200_ms", 0.7), ("switch_us_p95", 100.0)];
/// Rounds in which the ceiling is measured.
const CEILINGS: u32 = 5;

/// Ratios of `pairing` with one share in one place: of the memory programs,
/// of the compute programs.
#[derive(Default)]
struct Ratios {
    of: [Vec<f64>; 2],
}

/// What was found in one place: ratios for each share that runs there, and how
/// often the processors moved.
#[derive(Default)]
struct Found {
    ratios: [Ratios; SHARES.len()],
    n_discarded: u32,
}

impl Found {
    fn n(&self) -> u32 {
        self.ratios[0].of[0].len() as u32
    }
}

/// Where there is nothing to gain only the costs are of interest, and they do not
/// depend on the share.
fn shares(place: usize) -> &'static [f64] {
    if place == 0 { &SHARES } else { &SHARES[..1] }
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    store::check(args.out.as_deref())?;
    // Before the manager takes a processor for itself.
    let here = machine_here();
    let folder = measure::scratch::folder()
        .map_err(|error| Failure::environment("create a scratch folder", error))?;
    let program = compile(folder.path())?;
    let amounts: Vec<(&str, u32)> = ["read", "write", "compute"]
        .into_iter()
        .map(|kind| Ok((kind, amount(&program, kind)?)))
        .collect::<Result<_, Failure>>()?;
    let manager = args.host.start(Role::default(), out)?;
    let bar = out.progress(2 * u64::from(args.pairs) + 3);
    bar.set_message("overhead");
    let measured = overhead(&manager, &program, args.overhead).and_then(|overhead| {
        bar.inc(1);
        let mut rows = vec![overhead];
        for (kind, amount) in &amounts[..2] {
            bar.set_message(format!("{kind}: the most that choosing can give"));
            rows.extend(ceilings(&manager, &program, kind, *amount, args.pairs.min(CEILINGS))?);
            bar.inc(1);
            // Each kind has its half.
            let start = Instant::now();
            let mut found: [Found; 2] = Default::default();
            let tasks = tasks(&program, kind, *amount, amounts[2].1);
            while found[0].n() < args.pairs && 2 * start.elapsed() < Duration::from_secs(args.limit)
            {
                let n_before = found[0].n();
                round(&manager, &tasks, &mut found, args.pairs, |policy| {
                    bar.set_message(format!("{kind} {}", policy.text()))
                })?;
                bar.inc(u64::from(found[0].n() - n_before));
            }
            for (place, found) in found.iter().enumerate() {
                for (share, ratios) in shares(place).iter().zip(&found.ratios) {
                    for (who, own) in ["memory", "compute"].into_iter().zip(&ratios.of) {
                        rows.push(row(kind, place, *share, who, own, found.n_discarded));
                    }
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
    let verdicts = verdicts(&rows);
    verdicts.iter().for_each(|verdict| out.line(verdict));
    out.object(&json!({"ok": true, "kind": "measured", "rows": rows, "verdicts": verdicts}));
    let Some(path) = &args.out else { return Ok(()) };
    let evidence = Evidence {
        kind: Kind::Measured,
        machine: here,
        date: machine::today(),
        compilers: machine::version("cc", &["--version"]).into_iter().collect(),
        command: "meanwhile-lab run cosched-real --out FILE".into(),
        rows: rows.iter().filter_map(|row| row.as_object().cloned()).collect(),
    };
    store::write(path, &evidence)
}

pub(super) fn planned(name: &str, command: Vec<String>, is_background: bool) -> Planned {
    let task = Task {
        name: name.into(),
        command,
        n_threads: Some(1),
        expected: Expected::default(),
        place: None,
        output: Some("/dev/null".into()),
    };
    Planned { task, arrival_s: 0.0, after: None, is_background }
}

/// In the order of the queue round robin runs two of a kind together.
fn tasks(program: &Path, kind: &str, amount: u32, compute: u32) -> Vec<Planned> {
    vec![
        one(program, kind, amount),
        one(program, kind, amount),
        one(program, "compute", compute),
        one(program, "compute", compute),
    ]
}

/// One round of runs in turn, in the place where the processors are now; left out if they move.
fn round(
    manager: &Manager,
    tasks: &[Planned],
    found: &mut [Found; 2],
    n_wanted: u32,
    mut say: impl FnMut(Name),
) -> Result<(), Failure> {
    let before = manager.links().map_err(Failure::tool)?;
    let place = usize::from(before.len() != 1);
    let found = &mut found[place];
    if found.n() >= n_wanted {
        // Enough of those: the processors may come back.
        std::thread::sleep(Duration::from_secs(1));
        return Ok(());
    }
    let ours = shares(place).iter().map(|share| (Name::Pairing, *share));
    let order: Vec<(Name, f64)> = std::iter::once((PLACES[place].1, 0.0)).chain(ours).collect();
    let mut means = vec![[0.0; 2]; order.len()];
    let mut n_moves = 0;
    // Each is the first in turn.
    for at in 0..order.len() {
        let idx = (at + found.n() as usize) % order.len();
        let (policy, share) = order[idx];
        say(policy);
        let report = manager
            .run_with(tasks, policy, Settings { round_robin: share, ..Settings::default() })
            .map_err(Failure::tool)?;
        n_moves += report.n_moves;
        let mean = |of: &[usize]| {
            of.iter()
                .filter_map(|idx| report.ended[*idx].as_ref())
                .map(|it| it.turnaround_s)
                .sum::<f64>()
                / of.len() as f64
        };
        means[idx] = [mean(&[0, 1]), mean(&[2, 3])];
    }
    if n_moves > 0 || before != manager.links().map_err(Failure::tool)? {
        found.n_discarded += 1;
        return Ok(());
    }
    for (ratios, ours) in found.ratios.iter_mut().zip(&means[1..]) {
        (0..2).for_each(|idx| ratios.of[idx].push(means[0][idx] / ours[idx]));
    }
    Ok(())
}

/// How long a memory program takes beside another of its kind and beside a compute program, over
/// alone: the first over the second is the most that choosing can give while both run.
fn ceilings(
    manager: &Manager,
    program: &Path,
    kind: &str,
    amount: u32,
    n: u32,
) -> Result<Vec<Value>, Failure> {
    let beside = [None, Some(kind), Some("compute")];
    let mut times: [Vec<f64>; 3] = Default::default();
    for _ in 0..n {
        for (beside, times) in beside.iter().zip(&mut times) {
            let neighbour = beside.iter().map(|it| endless(program, it));
            let plan: Vec<Planned> =
                std::iter::once(one(program, kind, amount)).chain(neighbour).collect();
            // Each has a processor of its own all the time.
            let report = manager.run(&plan, Name::Rr).map_err(Failure::tool)?;
            times.extend(report.ended[0].as_ref().map(|ended| ended.turnaround_s));
        }
    }
    let over = |a: usize, b: usize| {
        times[a].iter().zip(&times[b]).map(|(a, b)| a / b).collect::<Vec<f64>>()
    };
    let row = |beside: &str, ratios: Vec<f64>| {
        let it = stats::median_interval(&ratios, 0.95);
        json!({"measure": "ceiling", "memory_programs": kind, "beside": beside, "slowdown": it.value, "low": it.low, "high": it.high, "runs": n})
    };
    Ok(vec![row(kind, over(1, 0)), row("compute", over(2, 0)), row("over compute", over(1, 2))])
}

fn one(program: &Path, kind: &str, amount: u32) -> Planned {
    planned(
        kind,
        [&program.display().to_string(), kind, &amount.to_string()].map(str::to_owned).into(),
        false,
    )
}

fn endless(program: &Path, kind: &str) -> Planned {
    Planned { is_background: true, ..one(program, kind, 100_000_000) }
}

/// What the manager costs while eight programs run, four of each kind.
fn overhead(manager: &Manager, program: &Path, seconds: u64) -> Result<Value, Failure> {
    let mut plan: Vec<Planned> = ["read", "compute", "read", "compute", "write", "compute", "read"]
        .map(|word| endless(program, word))
        .into();
    plan.push(planned("sleep", vec!["sleep".to_owned(), seconds.to_string()], false));
    let links = manager.links().map_err(Failure::tool)?;
    let report = manager.run(&plan, Name::Pairing).map_err(Failure::tool)?;
    let switch = |p: f64| {
        if report.switch_us.is_empty() { None } else { Some(stats::quantile(&report.switch_us, p)) }
    };
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

fn row(kind: &str, place: usize, share: f64, who: &str, ratios: &[f64], n_discarded: u32) -> Value {
    let it: Option<Interval> = (ratios.len() > 1).then(|| stats::median_interval(ratios, 0.95));
    let (place, over) = (PLACES[place].0, PLACES[place].1.text());
    json!({
        "measure": "pairs", "memory_programs": kind, "place": place, "over": over, "round_robin": share, "programs": who,
        "ratio": it.as_ref().map(|it| it.value), "low": it.as_ref().map(|it| it.low), "high": it.as_ref().map(|it| it.high),
        "pairs": ratios.len(), "discarded": n_discarded,
    })
}

/// The rows of one measure, kind of memory programs, place and programs, as far as they have these.
fn some<'a>(rows: &'a [Value], keys: &'a [(&str, &str)]) -> impl Iterator<Item = &'a Value> {
    rows.iter().filter(|row| keys.iter().all(|(key, value)| row[*key] == *value))
}

/// Older results have no share: none of the quanta.
fn share_of(row: &Value) -> f64 {
    row["round_robin"].as_f64().unwrap_or(0.0)
}

/// What was wanted of each kind of memory programs, and of the manager, and what there is.
fn verdicts(rows: &[Value]) -> Vec<String> {
    let mut said = Vec::new();
    for (kind, wanted) in WANTED {
        let interval = |place: usize, who| {
            let keys = [
                ("measure", "pairs"),
                ("memory_programs", kind),
                ("place", PLACES[place].0),
                ("programs", who),
            ];
            some(rows, &keys)
                .find(|some| share_of(some) == 0.0)
                .and_then(|some| Some((some["low"].as_f64()?, some["high"].as_f64()?)))
        };
        let found = |who| interval(0, who);
        let keys = [("measure", "ceiling"), ("memory_programs", kind), ("beside", "over compute")];
        let ceiling = some(rows, &keys).find_map(|some| some["high"].as_f64());
        let memory = match (found("memory"), ceiling) {
            (None, _) => "not observed".to_owned(),
            (Some((low, _)), _) if low >= wanted => "met".to_owned(),
            (Some((_, high)), _) if high >= wanted => "open: it is within the interval".to_owned(),
            (Some(_), Some(ceiling)) if ceiling < wanted => {
                format!(
                    "not possible here: the ceiling is {ceiling:.2}, what a program takes beside its like over beside compute"
                )
            }
            (Some(_), _) => "missed".to_owned(),
        };
        let compute = match found("compute") {
            None => "not observed",
            Some((low, _)) if low >= COMPUTE_LEAST => "met",
            Some((_, high)) if high >= COMPUTE_LEAST => "open: 3 % is within the interval",
            Some(_) => "missed",
        };
        said.push(format!("{kind}: memory programs {wanted} times as good: {memory}; compute programs at most 3 % worse: {compute}"));
        let apart = match interval(1, "memory").zip(interval(1, "compute")) {
            None => "not observed",
            Some(both) if both.0.1 >= APART_LEAST && both.1.1 >= APART_LEAST => "not excluded",
            Some(_) => "missed",
        };
        said.push(format!("{kind}: on separate links at most 1 % worse: {apart}"));
    }
    if let Some(costs) = rows.iter().find(|row| row["measure"] == "overhead") {
        let dear: Vec<&str> = COSTS_MOST
            .iter()
            .filter(|(key, most)| costs[*key].as_f64().is_none_or(|number| number > *most))
            .map(|pair| pair.0)
            .collect();
        let verdict =
            if dear.is_empty() { "met".to_owned() } else { format!("missed: {}", dear.join(", ")) };
        said.push(format!("the manager takes at most 0.5 % of a processor, 0.7 ms of canary in 200 ms, 100 us for a change: {verdict}"));
    }
    said
}

fn tables(rows: &[Value]) -> Vec<Table> {
    let note = "mean turnaround of two programs under the other policy over that under pairing: median of the ratios of rounds of runs, \
                95 % interval; above 1 pairing is faster. On one link the other is rr, which runs two of a kind together; on separate \
                links plain linux. Round robin: the share of the quanta that pairing leaves to it. Rounds in which the processors moved \
                are discarded";
    let columns = [
        "memory programs",
        "place",
        "over",
        "round robin",
        "whose turnaround",
        "ratio",
        "from",
        "to",
        "rounds",
        "discarded",
    ];
    let mut pairs = Table::new("Two memory and two compute programs on two processors", &columns)
        .kind(Kind::Measured)
        .note(note);
    let note = "a memory program's time with a neighbour on the other processor over its time alone; over compute: beside its like over \
                beside compute, the most that choosing can give while both run. That programs end one after the other comes on top";
    let mut most = Table::new(
        "What this machine allows",
        &["memory programs", "beside", "times as long", "from", "to", "runs"],
    )
    .kind(Kind::Measured)
    .note(note);
    let columns = [
        "programs",
        "manager % of a processor",
        "canary ms in 200 ms",
        "a change us, median",
        "95th percentile",
        "changes",
        "load",
    ];
    let note = "pairing; the manager's own processor time, measuring included; a change: freezing and thawing";
    let mut costs = Table::new("What the manager costs", &columns).kind(Kind::Measured).note(note);
    let number = |it: &Value, digits: usize| {
        Cell::number(it.as_f64().map_or("not observed".into(), |it| format!("{it:.digits$}")))
    };
    let words = |value: &Value| Cell::words(value.as_str().unwrap_or_default());
    for it in rows {
        match it["measure"].as_str() {
            Some("overhead") => costs.push(vec![
                Cell::number(&it["n_programs"]),
                number(&it["own_cpu_pct"], 2),
                number(&it["canary_ms_in_200_ms"], 2),
                number(&it["switch_us_p50"], 0),
                number(&it["switch_us_p95"], 0),
                Cell::number(&it["changes"]),
                number(&it["load"], 1),
            ]),
            Some("ceiling") => most.push(vec![
                words(&it["memory_programs"]),
                words(&it["beside"]),
                number(&it["slowdown"], 2),
                number(&it["low"], 2),
                number(&it["high"], 2),
                Cell::number(&it["runs"]),
            ]),
            _ => pairs.push(vec![
                words(&it["memory_programs"]),
                words(&it["place"]),
                words(&it["over"]),
                Cell::number(share_of(it)),
                words(&it["programs"]),
                number(&it["ratio"], 2),
                number(&it["low"], 2),
                number(&it["high"], 2),
                Cell::number(&it["pairs"]),
                Cell::number(&it["discarded"]),
            ]),
        }
    }
    vec![costs, most, pairs]
}

/// What the memory programs gain against what the compute programs lose, a point for each share.
fn trade_off(rows: &[Value]) -> LineChart {
    let line = |kind: &str| {
        let of = |who| {
            let keys = [
                ("measure", "pairs"),
                ("memory_programs", kind),
                ("place", PLACES[0].0),
                ("programs", who),
            ];
            // In percent: an axis shows zero, and no change is to lie there.
            some(rows, &keys)
                .map(|some| some["ratio"].as_f64().map(|number| 100.0 * (number - 1.0)))
                .collect::<Vec<_>>()
        };
        let points = of("compute")
            .into_iter()
            .zip(of("memory"))
            .filter_map(|(x, y)| Some((x?, y?)))
            .collect();
        Line { name: kind.to_owned(), points }
    };
    LineChart {
        title: "What memory programs gain against what compute programs lose, by the share left to round robin".into(),
        kind: Kind::Measured,
        x: Axis { label: "compute programs: percent longer under rr".into(), log: false },
        y: Axis { label: "memory programs: percent longer under rr".into(), log: false },
        lines: WANTED.map(|wanted| line(wanted.0)).into(),
    }
}

/// The committed tables, and the chart of the trade-off if there is one.
pub fn committed(evidence: &Evidence) -> Vec<Block> {
    let rows = evidence.values();
    let mut blocks = vec![Block::Text(evidence.origin())];
    blocks.extend(verdicts(&rows).into_iter().map(Block::Text));
    let chart = trade_off(&rows);
    if chart.lines.iter().any(|line| line.points.len() > 1) {
        blocks.push(Block::Chart(chart.for_page()));
    }
    blocks.extend(tables(&rows).into_iter().map(Block::Table));
    blocks
}

pub(super) fn compile(folder: &Path) -> Result<PathBuf, Failure> {
    let (source, made) = (folder.join("work.c"), folder.join("work"));
    std::fs::write(&source, SOURCE).map_err(|error| Failure::environment("write work.c", error))?;
    let mut command = std::process::Command::new("cc");
    command.args(["-std=gnu11", "-O3", "-o"]).arg(&made).arg(&source);
    tool::run(&mut command, b"", Duration::from_secs(60))
        .and_then(tool::Ran::ok)
        .map_err(Failure::tool)?;
    Ok(made)
}

/// How much work takes [`ALONE_S`] here.
fn amount(program: &Path, kind: &str) -> Result<u32, Failure> {
    let time = |amount: u32| {
        let start = Instant::now();
        let mut command = std::process::Command::new(program);
        command.args([kind, &amount.to_string()]);
        tool::run(&mut command, b"", Duration::from_secs(60))
            .and_then(tool::Ran::ok)
            .map_err(Failure::tool)?;
        Ok::<f64, Failure>(start.elapsed().as_secs_f64())
    };
    let (few, more) = (time(2)?, time(12)?);
    let each = ((more - few) / 10.0).max(1e-4);
    Ok((ALONE_S / each).clamp(2.0, 100_000.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made rows: ratios of memory and of compute programs under pairing alone, and the ceiling.
    fn said(memory: [f64; 2], compute: [f64; 2], ceiling: f64) -> String {
        let rows = [
            json!({"measure": "ceiling", "memory_programs": "read", "beside": "over compute", "slowdown": ceiling, "low": ceiling, "high": ceiling}),
            row("read", 0, 0.0, "memory", &memory, 0),
            row("read", 0, 0.0, "compute", &compute, 0),
            row("read", 0, 0.5, "memory", &[9.0, 9.0], 0),
            row("read", 1, 0.0, "memory", &[9.0, 9.0], 0),
        ];
        verdicts(&rows).remove(0)
    }

    #[test]
    fn verdicts_say_what_was_wanted_and_what_there_is() {
        assert!(
            said([1.45, 1.5], [0.98, 0.99], 1.6)
                .ends_with("as good: met; compute programs at most 3 % worse: met")
        );
        assert!(
            said([1.2, 1.25], [0.9, 0.95], 1.6)
                .ends_with("as good: missed; compute programs at most 3 % worse: missed")
        );
        let open = said([1.3, 1.5], [0.9, 1.0], 1.2);
        assert!(open.contains("as good: open") && open.contains("worse: open"), "{open}");
        assert!(
            said([1.1, 1.2], [1.0, 1.0], 1.27).contains("not possible here: the ceiling is 1.27")
        );
        assert!(
            verdicts(&[]).iter().all(|verdict| verdict.contains("not observed")),
            "without rows nothing was observed"
        );
        let apart = |ratios: &[f64]| {
            verdicts(&["memory", "compute"].map(|who| row("read", 1, 0.0, who, ratios, 0)))
                .remove(1)
        };
        assert!(
            apart(&[0.97, 1.0]).ends_with("not excluded")
                && apart(&[0.95, 0.97]).ends_with("missed")
        );
        let costs = |pct: f64| {
            let row = json!({"measure": "overhead", "own_cpu_pct": pct, "canary_ms_in_200_ms": 0.3, "switch_us_p95": 60.0});
            verdicts(&[row]).pop().expect("a verdict on the costs")
        };
        assert!(costs(0.4).ends_with("met") && costs(0.6).ends_with("missed: own_cpu_pct"));
    }

    #[test]
    fn the_chart_shows_a_point_for_each_share() {
        let rows: Vec<Value> = SHARES
            .iter()
            .flat_map(|share| {
                ["memory", "compute"]
                    .map(|who| row("write", 0, *share, who, &[1.0 + share, 1.0 + share], 0))
            })
            .collect();
        let lines = trade_off(&rows).lines;
        assert_eq!(
            lines.iter().map(|line| line.points.len()).collect::<Vec<_>>(),
            [0, SHARES.len()]
        );
    }
}

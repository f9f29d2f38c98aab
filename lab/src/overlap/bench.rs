//! Blocking against overlapped programs over a network of 2 Gbit/s.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::pairs::{self, BenchRow, Case, Program, Rule, Verdict};
use crate::evidence::Evidence;
use measure::{machine, stats};
use overlap::Mpi;
use report::number::count;
use report::page::Block;
use report::svg::{BarChart, Chart, Ratio, RatioChart, Series};
use report::{Cell, Kind, Table};
use serde_json::{Map, Value, json};

use crate::store;
use meanwhile::overlap_cmd::options;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run overlap`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this library.
    #[arg(long, value_parser = options::mpi())]
    mpi: Option<Mpi>,
    /// Payloads in bytes; five from 8 B to 16 MB if not given.
    #[arg(long, value_delimiter = ',')]
    bytes: Vec<u64>,
    /// Numbers of processes; 2 and 4 if not given.
    #[arg(long, value_delimiter = ',')]
    ranks: Vec<u32>,
    /// Rounds of the three programs; 15 if not given.
    #[arg(long)]
    pairs: Option<usize>,
    /// A small run: 8 B and 1 MB, 2 ranks, 5 pairs.
    #[arg(long)]
    quick: bool,
    /// Write the results as evidence after each row. Rows that the file has are not measured again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Measure also the rows of the file again whose interval holds a bound and that have
    /// fewer rounds than `--pairs`.
    #[arg(long, requires = "out", requires = "pairs")]
    settle: bool,
}

struct Plan {
    bytes: Vec<u64>,
    ranks: Vec<u32>,
    pairs: usize,
    settle: bool,
}

impl Plan {
    fn new(args: &Args) -> Plan {
        let or = |given: &[u64], quick: &[u64], full: &[u64]| match (given, args.quick) {
            ([], true) => quick.to_vec(),
            ([], false) => full.to_vec(),
            _ => given.to_vec(),
        };
        Plan {
            bytes: or(&args.bytes, &[8, 1 << 20], &[8, 65536, 1 << 20, 4 << 20, 16 << 20]),
            ranks: match (args.ranks.as_slice(), args.quick) {
                ([], true) => vec![2],
                ([], false) => vec![2, 4],
                (given, _) => given.to_vec(),
            },
            pairs: args.pairs.unwrap_or(if args.quick { 5 } else { 15 }),
            settle: args.settle,
        }
    }

    /// True if a row of the file stands.
    fn keeps(&self, row: &BenchRow) -> bool {
        row.pairs >= self.pairs
            || self.settle && Rule::ALL.iter().all(|rule| rule.verdict(row) != Some(Verdict::Open))
    }
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let plan = Plan::new(args);
    if plan.pairs == 0 || plan.ranks.contains(&0) || plan.ranks.contains(&1) {
        return Err(Failure::user("a benchmark needs a pair, and two ranks or more", None));
    }
    store::check(args.out.as_deref())?;
    let libraries: Vec<Mpi> =
        Mpi::ALL.into_iter().filter(|it| args.mpi.is_none_or(|wanted| wanted == *it)).collect();
    // The file keeps every row that it has, also those of other libraries, ranks and payloads.
    let mut known =
        args.out.as_deref().map(|path| earlier(path, &plan)).transpose()?.unwrap_or_default();
    pairs::check_network().map_err(Failure::tool)?;
    let n_rows = libraries.len() * Program::ALL.len() * plan.ranks.len() * plan.bytes.len();
    let progress = out.progress((n_rows * plan.pairs) as u64);
    let (mut rows, mut n_kept) = (Vec::new(), 0);
    for mpi in libraries {
        for program in Program::ALL {
            let mut built = None;
            for &ranks in &plan.ranks {
                for &bytes in &plan.bytes {
                    progress.set_message(format!(
                        "{} {} {ranks} ranks {bytes} B",
                        mpi.name(),
                        program.name()
                    ));
                    let case = Case { program, mpi, ranks, bytes };
                    if let Some(row) = known.iter().find(|row| row.case == case && plan.keeps(row))
                    {
                        rows.push(row.clone());
                        n_kept += 1;
                        progress.inc(plan.pairs as u64);
                        continue;
                    }
                    if built.is_none() {
                        built = Some(pairs::build(program, mpi).map_err(Failure::tool)?);
                    }
                    let programs = built.as_ref().expect("they were built above");
                    let row = pairs::measure(programs, case, plan.pairs, &mut || progress.inc(1))
                        .map_err(Failure::tool)?;
                    rows.push(row.clone());
                    known.retain(|row| row.case != case);
                    known.push(row);
                    if let Some(path) = &args.out {
                        store(path, &known)?;
                    }
                }
            }
        }
    }
    progress.finish_and_clear();
    let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
    out.line(&table(&rows).terminal(None));
    out.line(&rules(&rows).terminal(None));
    out.line(&format!(
        "{} in {seconds:.0} s, {n_kept} of them kept from before",
        count(rows.len(), "row")
    ));
    let asked = Rule::ALL.map(|rule| (rule.name().to_owned(), counts(rule, &rows)));
    out.object(&json!({
        "ok": true,
        "mpi": args.mpi.map(Mpi::name),
        "rows": rows.iter().map(object).collect::<Vec<_>>(),
        "rules": Map::from_iter(asked),
        "seconds": rounded(seconds),
        "kept": n_kept,
    }));
    Ok(())
}

/// How many rows a rule asks something of, and what came out.
fn counts(rule: Rule, rows: &[BenchRow]) -> Value {
    let verdicts: Vec<Verdict> = rows.iter().filter_map(|row| rule.verdict(row)).collect();
    let of = |verdict: Verdict| verdicts.iter().filter(|it| **it == verdict).count();
    json!({"asked": verdicts.len(), "met": of(Verdict::Met), "open": of(Verdict::Open), "missed": of(Verdict::Missed)})
}

/// What the rows come to, rule by rule.
fn rules(rows: &[BenchRow]) -> Table {
    let mut table = Table::new("rules", &["rule", "rows", "met", "open", "missed"])
        .kind(Kind::Measured)
        .note("open: the 95 % interval holds the bound, so more pairs would tell");
    for rule in Rule::ALL {
        let counts = counts(rule, rows);
        let mut row = vec![Cell::words(rule.sentence())];
        row.extend(["asked", "met", "open", "missed"].map(|key| Cell::number(&counts[key])));
        table.push(row);
    }
    table
}

/// The rows of an earlier run that was ended, or none.
fn earlier(path: &Path, plan: &Plan) -> Result<Vec<BenchRow>, Failure> {
    let Some(evidence) = store::earlier(path)? else { return Ok(Vec::new()) };
    let rows: Option<Vec<BenchRow>> = evidence.rows.iter().map(parse).collect();
    let rows =
        rows.ok_or_else(|| store::cannot_go_on(path, "its rows are not of this benchmark"))?;
    if !plan.settle && rows.iter().any(|row| row.pairs < plan.pairs) {
        return Err(store::cannot_go_on(
            path,
            &format!("some of its rows have fewer pairs than {}", plan.pairs),
        ));
    }
    Ok(rows)
}

/// A row as `object` writes it.
fn parse(map: &Map<String, Value>) -> Option<BenchRow> {
    let number = |key: &str| map.get(key)?.as_f64();
    let count = |key: &str| map.get(key)?.as_u64();
    let pair = |key: &str| Some((map.get(key)?.get(0)?.as_f64()?, map.get(key)?.get(1)?.as_f64()?));
    let program = Program::ALL
        .into_iter()
        .find(|it| map.get("program").and_then(Value::as_str) == Some(it.name()))?;
    let mpi = Mpi::named(map.get("mpi")?.as_str()?)?;
    Some(BenchRow {
        case: Case {
            program,
            mpi,
            ranks: u32::try_from(count("ranks")?).ok()?,
            bytes: count("bytes")?,
        },
        blocking_ms: number("blocking_ms")?,
        overlapped_ms: number("overlapped_ms")?,
        by_hand_ms: number("by_hand_ms")?,
        ratio: number("ratio")?,
        interval: pair("interval")?,
        by_hand_ratio: number("by_hand_ratio")?,
        of_hand: number("by_hand_over_overlapped")?,
        of_hand_interval: pair("by_hand_over_overlapped_interval")?,
        work: number("work_over_transfer")?,
        pairs: usize::try_from(count("pairs")?).ok()?,
        load: number("load"),
        seconds: number("seconds")?,
    })
}

fn object(row: &BenchRow) -> Map<String, Value> {
    let value = json!({
        "mpi": row.case.mpi.name(),
        "program": row.case.program.name(),
        "ranks": row.case.ranks,
        "bytes": row.case.bytes,
        "blocking_ms": rounded(row.blocking_ms),
        "overlapped_ms": rounded(row.overlapped_ms),
        "by_hand_ms": rounded(row.by_hand_ms),
        "ratio": rounded(row.ratio),
        "interval": [rounded(row.interval.0), rounded(row.interval.1)],
        "by_hand_ratio": rounded(row.by_hand_ratio),
        "by_hand_over_overlapped": rounded(row.of_hand),
        "by_hand_over_overlapped_interval": [rounded(row.of_hand_interval.0), rounded(row.of_hand_interval.1)],
        "work_over_transfer": rounded(row.work),
        "pairs": row.pairs,
        "load": row.load,
        "seconds": rounded(row.seconds),
        "same_calls": row.same_calls(),
        "verdicts": Map::from_iter(Rule::ALL.map(|rule| (rule.name().to_owned(), json!(rule.verdict(row).map(Verdict::name))))),
    });
    match value {
        Value::Object(map) => map,
        _ => unreachable!("the macro made an object"),
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Writes all rows, with the command that gives them.
fn store(path: &Path, rows: &[BenchRow]) -> Result<(), Failure> {
    let list = |of: &dyn Fn(&BenchRow) -> u64| {
        let all: BTreeSet<u64> = rows.iter().map(of).collect();
        all.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
    };
    let (ranks, bytes) = (list(&|it| u64::from(it.case.ranks)), list(&|it| it.case.bytes));
    let pairs: BTreeSet<usize> = rows.iter().map(|row| row.pairs).collect();
    let runs = pairs.iter().enumerate().map(|(idx, pairs)| {
        let settle = if idx > 0 { " --settle" } else { "" };
        format!("meanwhile-lab run overlap --pairs {pairs}{settle} --ranks {ranks} --bytes {bytes} --out FILE")
    });
    let version = |(program, flag): (&str, &str)| machine::version(program, &[flag]).ok();
    let compilers =
        [("clang-19", "--version"), ("mpirun.openmpi", "--version"), ("mpicc.mpich", "-v")];
    let evidence = Evidence {
        kind: Kind::Measured,
        machine: terminal::machine_here(),
        date: machine::today(),
        compilers: compilers.into_iter().filter_map(version).collect(),
        command: runs.collect::<Vec<_>>().join("; "),
        rows: rows.iter().map(object).collect(),
    };
    store::write(path, &evidence)
}

/// The committed tables; nothing for rows of an earlier benchmark.
pub fn committed(evidence: &Evidence) -> Option<Vec<Block>> {
    let mut rows: Vec<BenchRow> = evidence.rows.iter().map(parse).collect::<Option<_>>()?;
    rows.sort_by_key(|row| {
        (row.case.mpi.name(), row.case.program.name(), row.case.ranks, row.case.bytes)
    });
    let charts = Mpi::ALL
        .into_iter()
        .map(|library| chart(&rows, library))
        .filter(|chart| !chart.rows.is_empty());
    let mut blocks = vec![Block::Text(evidence.origin())];
    blocks.extend(charts.map(|chart| Block::Chart(chart.for_page())));
    blocks.extend([Block::Table(table(&rows)), Block::Table(rules(&rows))]);
    Some(blocks)
}

/// What overlapping by hand gains and what ours does, with OpenMPI.
pub fn by_hand(evidence: &Evidence) -> BarChart {
    let rows: Vec<BenchRow> = evidence.rows.iter().filter_map(parse).collect();
    let is_shown = |row: &&BenchRow| row.case.mpi == Mpi::OpenMpi && row.case.ranks == 2;
    let own: Vec<&BenchRow> = rows.iter().filter(is_shown).collect();
    let series = |title: &str, of: &dyn Fn(&BenchRow) -> f64| Series {
        name: title.to_owned(),
        values: own.iter().map(|row| Some(of(row))).collect(),
    };
    BarChart {
        title: "Times as fast as the blocking program".to_owned(),
        unit: "blocking / overlapped".to_owned(),
        kind: Kind::Measured,
        groups: own.iter().map(|row| name(row)).collect(),
        series: vec![
            series("by us", &|row| row.ratio),
            series("by hand", &|row| row.by_hand_ratio),
        ],
        log: false,
    }
}

/// What overlapping gains with one library.
fn chart(rows: &[BenchRow], library: Mpi) -> RatioChart {
    let ratio = |row: &BenchRow| Ratio {
        name: name(row),
        ratio: row.ratio,
        low: row.interval.0,
        high: row.interval.1,
    };
    RatioChart {
        title: format!("Messages over 2 Gbit/s, {}", library.name()),
        meaning: "blocking / overlapped, above 1 is faster".to_owned(),
        kind: Kind::Measured,
        rows: rows.iter().filter(|row| row.case.mpi == library).map(ratio).collect(),
    }
}

/// A program, how many ranks, and what they send.
fn name(row: &BenchRow) -> String {
    let payload = match row.case.bytes {
        bytes @ 0..1024 => format!("{bytes} B"),
        bytes @ 1024..1_048_576 => format!("{} KB", bytes >> 10),
        bytes => format!("{} MB", bytes >> 20),
    };
    let ranks = count(row.case.ranks as usize, "rank");
    format!("{}, {ranks}, {payload}", row.case.program.name())
}

/// A verdict as a cell.
fn verdict(rule: Rule, row: &BenchRow) -> Cell {
    let same = if row.same_calls() { " =" } else { "" };
    Cell::words(
        rule.verdict(row).map_or_else(|| "-".to_owned(), |it| format!("{}{same}", it.name())),
    )
}

/// The rows as a table.
fn table(rows: &[BenchRow]) -> Table {
    let columns = [
        "MPI",
        "program",
        "ranks",
        "bytes",
        "blocking [ms]",
        "overlapped [ms]",
        "by hand [ms]",
        "ratio",
        "95 %",
        "by hand",
        "over hand",
        "95 %",
        "work",
        "pairs",
        "0.95 of hand",
        "1.5",
        "0.98",
    ];
    let mut table = Table::new("blocking over overlapped, 2 Gbit/s", &columns)
        .kind(Kind::Measured)
        .note("work: of the window over the blocking transfer; by hand: blocking over overlapped by hand; over hand: overlapped by hand over overlapped; =: the payload is small, and both make the same blocking calls");
    for row in rows {
        table.push(vec![
            Cell::words(row.case.mpi.name()),
            Cell::words(row.case.program.name()),
            Cell::number(row.case.ranks),
            Cell::number(row.case.bytes),
            Cell::number(format!("{:.3}", row.blocking_ms)),
            Cell::number(format!("{:.3}", row.overlapped_ms)),
            Cell::number(format!("{:.3}", row.by_hand_ms)),
            Cell::number(format!("{:.3}", row.ratio)),
            Cell::words(stats::interval_text(row.interval, row.pairs)),
            Cell::number(format!("{:.3}", row.by_hand_ratio)),
            Cell::number(format!("{:.3}", row.of_hand)),
            Cell::words(stats::interval_text(row.of_hand_interval, row.pairs)),
            Cell::number(format!("{:.2}", row.work)),
            Cell::number(row.pairs),
            verdict(Rule::ByHand, row),
            verdict(Rule::Gain, row),
            verdict(Rule::Floor, row),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(low: f64, pairs: usize) -> BenchRow {
        BenchRow {
            case: Case { program: Program::Listing, mpi: Mpi::OpenMpi, ranks: 2, bytes: 1 << 20 },
            blocking_ms: 16.0,
            overlapped_ms: 10.0,
            by_hand_ms: 10.0,
            ratio: 1.6,
            interval: (1.55, 1.7),
            by_hand_ratio: 1.6,
            of_hand: 1.0,
            of_hand_interval: (low, 1.05),
            work: 1.0,
            pairs,
            load: Some(0.5),
            seconds: 30.0,
        }
    }

    #[test]
    fn only_open_rows_are_settled() {
        let plan = |settle: bool| Plan { bytes: vec![1 << 20], ranks: vec![2], pairs: 45, settle };
        let keeps = |settle: bool, low: f64, pairs: usize| plan(settle).keeps(&row(low, pairs));
        assert!(keeps(true, 0.96, 15), "met");
        assert!(!keeps(true, 0.93, 15), "open");
        assert!(keeps(true, 0.93, 45), "open, and more rounds were not asked for");
        assert!(!keeps(false, 0.96, 15), "too few rounds");
    }

    #[test]
    fn a_file_is_continued_with_its_rounds_or_fewer() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("bench.json");
        store(&path, &[row(0.96, 45), row(0.93, 15)]).expect("it is written");
        let plan =
            |pairs: usize, settle: bool| Plan { bytes: vec![8], ranks: vec![2], pairs, settle };
        assert_eq!(earlier(&path, &plan(15, false)).map(|earlier| earlier.len()).ok(), Some(2));
        assert_eq!(earlier(&path, &plan(45, true)).map(|earlier| earlier.len()).ok(), Some(2));
        assert!(earlier(&path, &plan(45, false)).is_err());
    }
}

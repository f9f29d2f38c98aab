//! Services beside programs that compute, plain and managed in turn: under a manager none may
//! answer later than without, by more than two plain runs differ.

use std::path::{Path, PathBuf};
use std::thread;

use cosched::manager::process;
use cosched::manager::program::Expected;
use cosched::manager::run::Planned;
use cosched::manager::startup::Manager;
use cosched::policies::Name;
use meanwhile::cosched_cmd::host::{HostArgs, Role, failed};
use measure::stats;
use report::page::Block;
use report::svg::{Chart, Ratio, RatioChart};
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::{Value, json};
use terminal::output::{Failure, Output};

use super::bench::{compile, planned};
use super::mixes::{MEMORY_MB, Running};
use super::service::{self, Service};
use crate::store::Store;
use crate::study::{self, Study};

/// Arguments of `meanwhile-lab run cosched-services`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Rounds of each row: plain, managed, plain.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Seconds of each run.
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seconds: u32,
    /// Programs that compute beside the service; every second one moves memory.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=1000))]
    burners: u32,
    /// One round of a second at one rate: whether it works, not what it shows.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    host: HostArgs,
    /// Evidence file to write after each row; one that is there is gone on with.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Percent of the requests a second that the service answers beside the same programs, plain.
const RATES: [u32; 5] = [10, 30, 50, 70, 90];
/// The 99th percentile may be so much that of plain.
const LATER: f64 = 1.2;
const QUANTILES: [(&str, f64); 3] = [("p50_ms", 0.5), ("p90_ms", 0.9), ("p99_ms", 0.99)];
/// MB/s that a program that moves memory is said to move, where somebody says what a link carries.
const BURNER_MBPS: f64 = 9000.0;

/// What identifies a row.
#[derive(Debug, Clone, Serialize)]
pub struct Load {
    service: service::Kind,
    percent: u32,
    burners: u32,
    rounds: u32,
    seconds: u32,
    turns: &'static str,
    /// As the user said it.
    capacity_mbps: Option<f64>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let (rounds, seconds) = if args.quick { (1, 1) } else { (args.rounds, args.seconds) };
    let rates = if args.quick { &RATES[2..3] } else { &RATES };
    let mut store =
        Store::open(args.out.clone(), "meanwhile-lab run cosched-services --out FILE".into())?;
    let folder = measure::scratch::folder().map_err(failed("create a scratch folder"))?;
    let cpus = process::cpus_of(0);
    let burner = compile(folder.path())?;
    let manager = args.host.start(Role::default(), out)?;
    let (turns, capacity_mbps) = (args.host.turns.text(), manager.host().said_mbps);
    let mut bench =
        Bench { cpus, burner, folder: folder.path(), manager: &manager, services: vec![] };
    let mut cells = Vec::new();
    for kind in service::Kind::ALL {
        let burners = args.burners;
        let load = |percent| Load {
            service: kind,
            percent,
            burners,
            rounds,
            seconds,
            turns,
            capacity_mbps,
        };
        match Service::prepare(kind, folder.path())? {
            Some(service) => {
                let full_per_s = bench
                    .plain(&service, burners, |service| service.full_speed(f64::from(seconds)))?;
                bench.services.push((kind, service, full_per_s));
                cells.extend(rates.iter().map(|percent| load(*percent)));
            }
            None => out.warning(&format!("{} is not installed and left out", kind.name())),
        }
    }
    let measured = study::rows(&Services { cells, bench }, &mut store, out);
    manager.end();
    let rows = measured?;
    study::show(&Services::blocks(&rows), out);
    out.object(&json!({"ok": true, "kind": "measured", "rows": rows, "verdict": verdict(&rows)}));
    Ok(())
}

pub struct Services<'a> {
    cells: Vec<Load>,
    bench: Bench<'a>,
}

impl Study for Services<'_> {
    type Cell = Load;

    fn cells(&self) -> Vec<Load> {
        self.cells.clone()
    }

    fn name(&self, cell: &Load) -> String {
        format!("{} at {} %", cell.service.name(), cell.percent)
    }

    fn measure(&self, cell: &Load, step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        let of = |it: &&(service::Kind, Service, f64)| it.0 == cell.service;
        let (_, service, full_per_s) = self.bench.services.iter().find(of).expect("it is prepared");
        let rate = full_per_s * f64::from(cell.percent) / 100.0;
        let late = |service: &Service| service.late_ms(rate, f64::from(cell.seconds));
        let (mut rounds, mut n_changes) = (Vec::new(), 0);
        for round in 0..cell.rounds {
            step(&format!("round {}", round + 1));
            let first = self.bench.plain(service, cell.burners, late)?;
            let (managed, changed) = self.bench.managed(service, cell, late)?;
            let last = self.bench.plain(service, cell.burners, late)?;
            n_changes += changed;
            let runs = [first, managed, last];
            let mut row = json!({"answers": runs.each_ref().map(Vec::len)});
            for (name, p) in QUANTILES {
                row[name] = json!(runs.each_ref().map(|ms| stats::quantile(ms, p)));
            }
            rounds.push(row);
        }
        Ok(json!({"full_per_s": full_per_s, "changes": n_changes, "runs": rounds}))
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        let chart = Block::Chart(chart(rows).for_page());
        vec![chart, Block::Table(table(rows)), Block::Text(verdict(rows))]
    }
}

/// Where services run, and beside what.
struct Bench<'a> {
    /// Processors that there are.
    cpus: Vec<usize>,
    burner: PathBuf,
    folder: &'a Path,
    manager: &'a Manager,
    /// With the requests a second that each answers beside the burners.
    services: Vec<(service::Kind, Service, f64)>,
}

impl Bench<'_> {
    fn burner_words(&self, idx: u32) -> Vec<String> {
        // Steps of a round, microseconds of sleep, MB, seconds, and when it begins: now.
        let mb = if idx.is_multiple_of(2) { 0 } else { MEMORY_MB };
        let numbers = ["1000", "0", &mb.to_string(), "1000000", "0"].map(str::to_owned);
        [self.burner.display().to_string(), "duty".to_owned()].into_iter().chain(numbers).collect()
    }

    /// What `ask` found of the service without a manager.
    fn plain<T: Send>(
        &self,
        service: &Service,
        burners: u32,
        ask: impl Fn(&Service) -> Result<T, Failure> + Sync,
    ) -> Result<T, Failure> {
        let (mut beside, mut running) = (Running::default(), Running::default());
        let output = self.folder.join("output");
        for idx in 0..burners {
            beside.start(&self.burner_words(idx), &output, &self.cpus)?;
        }
        running.start(&service.words(), &output, &self.cpus)?;
        let found = thread::scope(|scope| client(scope, &self.cpus, service, &ask).join());
        let found = found.expect("a client does not panic")?;
        running.wait()?;
        Ok(found)
    }

    /// The same under the manager, and how often it changed anything.
    fn managed<T: Send>(
        &self,
        service: &Service,
        load: &Load,
        ask: impl Fn(&Service) -> Result<T, Failure> + Sync,
    ) -> Result<(T, usize), Failure> {
        let is_told = load.capacity_mbps.is_some();
        let one = |name: &str, words: Vec<String>, is_background: bool, mbps: f64| {
            let mut program = planned(name, words, is_background);
            program.task.n_threads = None;
            program.task.expected =
                Expected { mbps: is_told.then_some(mbps), ..Expected::default() };
            program
        };
        let mbps = |idx: u32| if idx.is_multiple_of(2) { 1.0 } else { BURNER_MBPS };
        let burner = |idx| one("burner", self.burner_words(idx), true, mbps(idx));
        let served = one(load.service.name(), service.words(), false, 1.0);
        let plan: Vec<Planned> =
            std::iter::once(served).chain((0..load.burners).map(burner)).collect();
        let (report, found) = thread::scope(|scope| {
            let client = client(scope, &self.cpus, service, &ask);
            let report = self.manager.run(&plan, Name::Pairing);
            (report, client.join())
        });
        let found = found.expect("a client does not panic")?;
        Ok((found, report.map_err(Failure::tool)?.switch_us.len()))
    }
}

/// Asks once the service is there, then ends it. Nobody manages the client.
fn client<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    cpus: &'scope [usize],
    service: &'scope Service,
    ask: &'scope (impl Fn(&Service) -> Result<T, Failure> + Sync),
) -> thread::ScopedJoinHandle<'scope, Result<T, Failure>> {
    scope.spawn(move || {
        let kept = process::keep_thread(0, cpus);
        let found = kept
            .map_err(failed("give a client all processors"))
            .and_then(|()| service.wait_until_up())
            .and_then(|()| ask(service));
        service.stop();
        found
    })
}

/// Of each round: managed over the mean of both plain runs, and how far these differ.
fn ratios(row: &Value, quantile: &str) -> Vec<[f64; 2]> {
    let runs = row["runs"].as_array().expect("we wrote it");
    runs.iter()
        .map(|run| {
            let [first, managed, last] =
                [0, 1, 2].map(|idx| run[quantile][idx].as_f64().expect("we wrote it"));
            [managed / ((first + last) / 2.0), first.max(last) / first.min(last)]
        })
        .collect()
}

/// The median, and the least and the most if there are several.
fn spread(all: &[f64]) -> String {
    let [least, median, most] = [0.0, 0.5, 1.0].map(|p| stats::quantile(all, p));
    format!("{median:.2} [{least:.2}, {most:.2}]")
}

fn median_later(row: &Value) -> [f64; 2] {
    let all = ratios(row, "p99_ms");
    [0, 1].map(|idx| stats::median(&all.iter().map(|ratio| ratio[idx]).collect::<Vec<_>>()))
}

/// The 99th percentile of each row, managed over plain.
pub fn chart(rows: &[Value]) -> RatioChart {
    let ratio = |row: &Value| {
        let all: Vec<f64> = ratios(row, "p99_ms").iter().map(|ratio| ratio[0]).collect();
        let [low, ratio, high] = [0.0, 0.5, 1.0].map(|p| stats::quantile(&all, p));
        let name =
            format!("{} at {} %", row["service"].as_str().unwrap_or_default(), row["percent"]);
        Ratio { name, ratio, low, high }
    };
    RatioChart {
        title: "Services beside two programs that compute".to_owned(),
        meaning:
            "99th percentile, managed / plain: below 1 is sooner; the line is from least to most"
                .to_owned(),
        kind: Kind::Measured,
        rows: rows.iter().map(ratio).collect(),
    }
}

/// Of each service at a tenth of its full speed: the 99th percentile, managed over plain, in the
/// median round.
pub fn at_a_tenth(rows: &[Value]) -> String {
    let tenth = rows.iter().filter(|row| row["percent"] == 10);
    let each = tenth.map(|row| {
        let name = row["service"].as_str().unwrap_or_default();
        format!("{:.2} ({name})", median_later(row)[0])
    });
    each.collect::<Vec<String>>().join(" and ")
}

/// How many rows are later under the manager than is wanted, by their median round.
pub fn late(rows: &[Value]) -> usize {
    rows.iter().filter(|row| median_later(row)[0] > LATER).count()
}

/// How many rows are later in the second of two plain runs.
pub fn late_by_itself(rows: &[Value]) -> usize {
    rows.iter().filter(|row| median_later(row)[1] > LATER).count()
}

/// How far two plain runs differ at the 99th percentile, from the row where least to that where
/// most, each by its median round.
pub fn plain_differs(rows: &[Value]) -> String {
    let all: Vec<f64> = rows.iter().map(|row| median_later(row)[1]).collect();
    let [least, most] = [0.0, 1.0].map(|p| stats::quantile(&all, p));
    format!("{least:.2} to {most:.2} times")
}

fn verdict(rows: &[Value]) -> String {
    let (managed, plain) = (late(rows), late_by_itself(rows));
    let met = if managed == 0 { "met" } else { "missed" };
    format!(
        "99th percentiles at most {LATER} times plain, in the median of the rounds: {met}, {managed} \
         of {} rows are later; of two plain runs one is in {plain}",
        rows.len()
    )
}

fn table(rows: &[Value]) -> Table {
    let columns = ["service", "rate", "plain p99", "p90", "p99", "two plain: p99", "changes"];
    let note = "rate: percent of the requests a second that it answers beside the same programs \
                without a manager; plain p99: milliseconds; then managed over plain, the median \
                round with the least and the most; changes: programs put into the idle class, \
                frozen or taken back";
    let mut table =
        Table::new("Services beside programs that compute, managed over plain", &columns)
            .kind(Kind::Measured)
            .note(note);
    for row in rows {
        let of = |quantile: &str, idx: usize| {
            spread(&ratios(row, quantile).iter().map(|ratio| ratio[idx]).collect::<Vec<_>>())
        };
        let plain = row["runs"].as_array().expect("we wrote it").iter();
        let plain: Vec<f64> = plain.filter_map(|run| run["p99_ms"][0].as_f64()).collect();
        table.push(vec![
            Cell::words(row["service"].as_str().expect("we wrote it")),
            Cell::number(format!("{} %", row["percent"])),
            Cell::number(format!("{:.2}", stats::median(&plain))),
            Cell::number(of("p90_ms", 0)),
            Cell::number(of("p99_ms", 0)),
            Cell::number(of("p99_ms", 1)),
            Cell::number(row["changes"].to_string()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(managed_p99: f64) -> Value {
        let run = |p99: f64| json!({"p90_ms": [1.0, 1.0, 1.0], "p99_ms": [2.0, p99, 2.2]});
        json!({"service": "redis", "percent": 50, "changes": 3, "runs": [run(2.1), run(managed_p99), run(managed_p99)]})
    }

    #[test]
    fn a_service_that_answers_later_than_plain_is_counted_by_its_median_round() {
        let rows = [row(2.1), row(2.0)];
        assert!(verdict(&rows).contains("met, 0 of 2 rows"), "{}", verdict(&rows));
        assert_eq!(plain_differs(&rows), "1.10 to 1.10 times");
        let rows = [row(2.1), row(3.0)];
        assert!(verdict(&rows).contains("missed, 1 of 2 rows"), "{}", verdict(&rows));
        let text = table(&rows).terminal(None);
        assert!(text.contains("1.43 [1.00, 1.43]") && text.contains("1.10 [1.10, 1.10]"), "{text}");
    }
}

//! The section of `meanwhile-lab report`: what becomes of the calls of the example programs, and the
//! paper's table 1.

use measure::stats::{Interval, median, median_interval};
use overlap::examples::{self, Listing};
use overlap::mpi::{self, Mpi};
use overlap::remarks::{self, Summary};
use overlap::settings;
use report::page::{Block, Card, Section};
use report::svg::{BarChart, Chart, Series};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use crate::report::SystemReport;
use terminal::output::{Failure, Output};

/// The interval of the paper's table 1 for each strength that it has, in microseconds.
const PAPER_US: [(&str, Option<f64>); 3] = [("basic", Some(2406.57)), ("extended", Some(4803.15)), ("frontier", None)];

/// What the system has to show.
pub fn report(quick: bool, out: &mut Output) -> Result<SystemReport, Failure> {
    let library = mpi::which("mpicc").map_err(Failure::tool)?;
    let progress = out.progress((examples::PROGRAMS.len() * settings::STRENGTHS.len() + 1) as u64);
    let mut rows: Vec<(&str, [Summary; 3])> = Vec::new();
    for program in examples::PROGRAMS {
        let mut summaries = Vec::new();
        for strength in settings::STRENGTHS {
            progress.set_message(format!("{} {strength}", program.0));
            let found = examples::remarks_of(library, program, strength).map_err(Failure::tool)?;
            summaries.push(remarks::summary(&found));
            progress.inc(1);
        }
        rows.push((program.0, summaries.try_into().expect("there are three strengths")));
    }
    progress.set_message("listing");
    let windows = windows(library, quick)?;
    progress.finish_and_clear();

    let json = rows.iter().map(|(name, by_strength)| row_json(name, by_strength));
    let measured = windows.iter().map(|it| {
        json!({
            "system": "overlap",
            "program": "listing.c",
            "strength": it.strength,
            "window_us": it.us,
            "over_basic": it.over_basic.value,
            "interval": [it.over_basic.low, it.over_basic.high],
        })
    });
    let all = json.chain(measured).collect();
    let summary = static_table(&rows, library);
    let blocks = vec![Block::Table(static_windows(&rows)), Block::Table(intervals(&windows, library))];
    let title = "overlap: work while a message is under way".to_owned();
    Ok(SystemReport { summary, section: Section { title, card: Some(card(&rows, &windows)), blocks, ..Section::default() }, rows: all })
}

fn row_json(name: &str, by_strength: &[Summary; 3]) -> Value {
    let windows: Vec<Option<f64>> = by_strength.iter().map(|it| it.mean_window).collect();
    json!({"system": "overlap", "program": name, "sites": by_strength[2].sites, "converted": by_strength.iter().map(|it| it.converted).collect::<Vec<_>>(), "mean_window": windows})
}

/// The window of the paper's listing, widened.
fn card(rows: &[(&str, [Summary; 3])], windows: &[Window]) -> Card {
    let last = windows.last().expect("there are three strengths");
    let sites: usize = rows.iter().map(|it| it.1[2].sites).sum();
    let converted: usize = rows.iter().map(|it| it.1[2].converted).sum();
    let bars = BarChart {
        title: "Window of MPI_Alltoall in the paper's listing".to_owned(),
        unit: "us".to_owned(),
        kind: Kind::Measured,
        groups: windows.iter().map(|it| it.strength.to_owned()).collect(),
        series: vec![
            Series { name: "here".to_owned(), values: windows.iter().map(|it| Some(it.us)).collect() },
            Series { name: "paper".to_owned(), values: windows.iter().map(|it| it.paper_us).collect() },
        ],
        log: false,
    };
    Card {
        title: "overlap".to_owned(),
        waits: "a program waits for a message".to_owned(),
        figure: format!("{:.1} times the window", last.over_basic.value),
        kind: Kind::Measured,
        says: format!(
            "From the start of the paper's MPI_Alltoall to its wait, {} beside the call made nonblocking in place.",
            last.strength
        ),
        verdict: format!(
            "{converted} of {sites} calls of the example programs are converted. On codes that others wrote: docs/explain/overlap.md."
        ),
        picture: Some(bars.for_page()),
    }
}

/// The window of Listing 1.1's exchange with one strength.
struct Window {
    strength: &'static str,
    paper_us: Option<f64>,
    /// Median of the runs.
    us: f64,
    /// Over that of `basic`, by rounds of runs.
    over_basic: Interval,
    n_runs: usize,
}

/// The three strengths in turn, so that all meet the same noise.
fn windows(library: Mpi, quick: bool) -> Result<Vec<Window>, Failure> {
    let n_runs = if quick { 7 } else { 21 };
    let programs: Vec<Listing> =
        PAPER_US.iter().map(|(strength, _)| Listing::build(library, strength)).collect::<Result<_, _>>().map_err(Failure::tool)?;
    let mut samples = vec![Vec::new(); programs.len()];
    for _ in 0..n_runs {
        for (program, samples) in programs.iter().zip(&mut samples) {
            let sites = program.windows(10).map_err(Failure::tool)?;
            let site = sites.first().ok_or_else(|| Failure::environment("trace listing.c", "no window was measured"))?;
            samples.push(site.window_us);
        }
    }
    let window = |((strength, paper_us), own): (&(&'static str, Option<f64>), &Vec<f64>)| {
        let ratios: Vec<f64> = own.iter().zip(&samples[0]).map(|(own, basic)| own / basic).collect();
        Window { strength, paper_us: *paper_us, us: median(own), over_basic: median_interval(&ratios, 0.95), n_runs }
    };
    Ok(PAPER_US.iter().zip(&samples).map(window).collect())
}

/// How many calls of each program each strength converts.
fn static_table(rows: &[(&str, [Summary; 3])], library: Mpi) -> Table {
    let note = format!("-O2, {}, every payload counted as large", library.name());
    let columns = ["program", "sites", "basic", "extended", "frontier"];
    let mut table = Table::new("overlap: calls of the example programs that are converted", &columns).kind(Kind::Model).note(note);
    for (name, by_strength) in rows {
        let mut row = vec![Cell::words(*name), Cell::number(by_strength[2].sites)];
        row.extend(by_strength.iter().map(|it| Cell::number(it.converted)));
        table.push(row);
    }
    table
}

/// The mean window of each program with each strength.
fn static_windows(rows: &[(&str, [Summary; 3])]) -> Table {
    let columns = ["program", "basic", "extended", "frontier"];
    let note = "weighted instructions from start to wait, mean over the converted calls";
    let mut table = Table::new("Mean window of a converted call", &columns).kind(Kind::Model).note(note);
    for (name, by_strength) in rows {
        let windows = by_strength.iter().map(|it| Cell::number(it.mean_window.map_or_else(|| "-".to_owned(), |it| format!("{it:.0}"))));
        table.push([Cell::words(*name)].into_iter().chain(windows).collect());
    }
    table
}

fn intervals(windows: &[Window], library: Mpi) -> Table {
    let n_runs = windows[0].n_runs;
    let note = format!(
        "2 ranks, {}, two products of 2,500 us; without polls; medians of {n_runs} runs in turn, the ratio's with a 95 % interval",
        library.name()
    );
    let columns = ["strength", "interval [us]", "paper [us]", "over basic", "95 %"];
    let mut table = Table::new("Table 1: window of MPI_Alltoall in Listing 1.1", &columns).kind(Kind::Measured).note(note);
    for it in windows {
        table.push(vec![
            Cell::words(it.strength),
            Cell::number(format!("{:.0}", it.us)),
            Cell::number(it.paper_us.map_or_else(|| "-".to_owned(), |us| format!("{us:.2}"))),
            Cell::number(format!("{:.2}", it.over_basic.value)),
            Cell::words(format!("{:.2} to {:.2}", it.over_basic.low, it.over_basic.high)),
        ]);
    }
    table
}

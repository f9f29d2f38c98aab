//! The section of `meanwhile report`: what becomes of the calls of the example programs, and the
//! paper's table 1.

use measure::stats::median;
use overlap::mpi::{self, Mpi};
use overlap::remarks::{self, Summary};
use overlap::{examples, settings};
use report::page::{Block, Section};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use crate::output::{Failure, Output};
use crate::report_cmd::SystemReport;

/// The interval of the paper's table 1 for each strength that it has, in microseconds.
const PAPER_US: [(&str, Option<f64>); 3] = [("basic", Some(2406.57)), ("extended", Some(4803.15)), ("frontier", None)];

/// What the system has to show.
pub fn report(quick: bool, out: &mut Output) -> Result<SystemReport, Failure> {
    let library = mpi::which("mpicc").map_err(Failure::tool)?;
    let progress = out.progress((examples::PROGRAMS.len() * settings::STRENGTHS.len() + 3) as u64);
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
    let mut windows = Vec::new();
    for (strength, paper_us) in PAPER_US {
        progress.set_message(format!("listing {strength}"));
        windows.push((strength, paper_us, listing(library, strength, quick)?));
        progress.inc(1);
    }
    progress.finish_and_clear();

    let json = rows.iter().map(|(name, by_strength)| row_json(name, by_strength));
    let measured =
        windows.iter().map(|(strength, _, us)| json!({"system": "overlap", "program": "listing.c", "strength": strength, "window_us": us}));
    let all = json.chain(measured).collect();
    let summary = static_table(&rows, library);
    let blocks = vec![Block::Table(static_windows(&rows)), Block::Table(intervals(&windows, library))];
    Ok(SystemReport { summary, section: Section { title: "overlap: work while a message is under way".to_owned(), blocks }, rows: all })
}

fn row_json(name: &str, by_strength: &[Summary; 3]) -> Value {
    let windows: Vec<Option<f64>> = by_strength.iter().map(|it| it.mean_window).collect();
    json!({"system": "overlap", "program": name, "sites": by_strength[2].sites, "converted": by_strength.iter().map(|it| it.converted).collect::<Vec<_>>(), "mean_window": windows})
}

/// The median over runs of the mean window.
fn listing(library: Mpi, strength: &str, quick: bool) -> Result<f64, Failure> {
    let runs = if quick { 3 } else { 9 };
    let mut samples = Vec::new();
    for _ in 0..runs {
        let sites = examples::listing_windows(library, strength, 10).map_err(Failure::tool)?;
        samples.extend(sites.iter().map(|it| it.window_us));
    }
    if samples.is_empty() {
        return Err(Failure::environment("trace listing.c", "no window was measured"));
    }
    Ok(median(&samples))
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

fn intervals(windows: &[(&str, Option<f64>, f64)], library: Mpi) -> Table {
    let note = format!("2 ranks, {}, two products of 2,500 us; without polls; median of runs", library.name());
    let columns = ["strength", "interval [us]", "paper [us]", "over basic"];
    let mut table = Table::new("Table 1: window of MPI_Alltoall in Listing 1.1", &columns).kind(Kind::Measured).note(note);
    let basic = windows[0].2;
    for (strength, paper_us, us) in windows {
        table.push(vec![
            Cell::words(*strength),
            Cell::number(format!("{us:.0}")),
            Cell::number(paper_us.map_or_else(|| "-".to_owned(), |it| format!("{it:.2}"))),
            Cell::number(format!("{:.2}", us / basic)),
        ]);
    }
    table
}

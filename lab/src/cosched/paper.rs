//! The paper's sizes taken apart: what it gains over Linux beside ours, with assumptions about its
//! machine that the simulator leaves out, each alone, all together, and those that come nearest.

use cosched::assumptions::SWITCHES;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};
use terminal::output::{Failure, Output};

use super::like_paper::{self, PAPER, Row};

/// Arguments of the study.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args, out: &mut Output) -> Result<(), Failure> {
    let bar = out.progress(like_paper::N_ROWS);
    let (rows, nearest) = like_paper::like_paper(|| bar.inc(1));
    bar.finish_and_clear();
    out.text(&table(&rows, &nearest).terminal(None));
    for it in SWITCHES {
        out.line(&format!("{}: {}", it.name, it.source));
    }
    let one = |row: &Row| {
        let percent: serde_json::Map<String, Value> = PAPER
            .iter()
            .zip(row.percent)
            .map(|((name, _), percent)| (name.text().to_owned(), json!(percent)))
            .collect();
        json!({"assumed": row.assumed, "over_linux_pct": percent, "distance_pct": row.distance()})
    };
    let paper: serde_json::Map<String, Value> =
        PAPER.iter().map(|(name, percent)| (name.text().to_owned(), json!(percent))).collect();
    let sources: serde_json::Map<String, Value> =
        SWITCHES.iter().map(|switch| (switch.name.to_owned(), json!(switch.source))).collect();
    out.object(&json!({
        "ok": true, "kind": "sim", "paper_pct": paper, "rows": rows.iter().map(one).collect::<Vec<_>>(),
        "nearest": one(&nearest), "assumptions": sources,
    }));
    Ok(())
}

/// The paper's gains over Linux beside ours under assumptions.
pub fn table(rows: &[Row], nearest: &Row) -> Table {
    let columns: Vec<&str> = ["assumed"]
        .into_iter()
        .chain(PAPER.iter().map(|pair| pair.0.text()))
        .chain(["distance"])
        .collect();
    let note = "percent of Linux's mean turnaround that is saved, over the nine workloads on four processors; distance: root of the \
                mean square of the differences to the paper";
    let mut table =
        Table::new("The paper's sizes, taken apart", &columns).kind(Kind::Sim).note(note);
    let paper = PAPER.iter().map(|pair| Cell::number(format!("{:.0}", pair.1)));
    table.push(
        [Cell::words("the paper, measured")]
            .into_iter()
            .chain(paper)
            .chain([Cell::number("")])
            .collect(),
    );
    let mut push = |name: &str, row: &Row| {
        let cells = row
            .percent
            .iter()
            .chain([&row.distance()])
            .map(|it| Cell::number(format!("{it:.1}")))
            .collect::<Vec<_>>();
        table.push([Cell::words(name)].into_iter().chain(cells).collect());
    };
    rows.iter().for_each(|row| push(&row.assumed, row));
    push(&format!("nearest: {}", nearest.assumed), nearest);
    table
}

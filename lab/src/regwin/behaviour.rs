//! How the spell checker uses windows if there are enough of them.

use std::path::PathBuf;

use super::quantities::{self, Quantities};
use regwin::{Behaviour, sweep};
use report::{Cell, Kind, Table};
use serde_json::json;

use meanwhile::regwin_cmd::failure;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run regwin-behaviour`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Switches that make a period.
    #[arg(long, value_name = "N", default_value_t = PERIOD, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    period: u64,
    /// A trace of `regwin record` instead of the six behaviours.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// Switches of a period: enough for every thread that is at work to come up.
pub const PERIOD: u64 = 64;

/// T6 and T7, which load the dictionaries.
const LOADERS: [usize; 2] = [6, 7];

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let rows = match &args.trace {
        Some(path) => {
            let trace = super::record::read(path)?;
            vec![(
                path.display().to_string(),
                "",
                quantities::phases(&trace, &LOADERS, args.period),
            )]
        }
        None => phases(args.period)?,
    };
    out.text(&table(&rows, args.period).terminal(None));
    let object = |quantities: &Quantities| {
        json!({
            "total_window_activity": quantities.total_window_activity,
            "window_activity_per_thread": quantities.window_activity_per_thread,
            "concurrency": quantities.concurrency,
            "granularity_events": quantities.granularity_events,
            "parallel_slackness": quantities.parallel_slackness,
            "switches": quantities.switches,
        })
    };
    let rows =
        rows.iter().map(|(behaviour, _, [load, check])| json!({"behaviour": behaviour, "load": object(load), "check": object(check)}));
    out.object(
        &json!({"ok": true, "period_switches": args.period, "rows": rows.collect::<Vec<_>>()}),
    );
    Ok(())
}

/// What each behaviour does in its two phases.
pub fn phases(period: u64) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for behaviour in Behaviour::ALL {
        let trace = sweep::trace(behaviour).map_err(failure)?;
        rows.push((
            behaviour.name().to_owned(),
            behaviour.name(),
            quantities::phases(&trace, &LOADERS, period),
        ));
    }
    Ok(rows)
}

/// The concurrency that the paper gives for a phase, high and low; nothing for a trace from a file.
fn paper(behaviour: &str, phase: &str) -> &'static str {
    match (behaviour.split('-').next(), phase) {
        (Some("high"), "load") => "4",
        (Some("low"), "load") => "1",
        (Some("high"), _) => "4 - 5",
        (Some("low"), _) => "3 - 4",
        _ => "",
    }
}

/// What is shown, which behaviour it is (or none), and its two phases.
type Row = (String, &'static str, [Quantities; 2]);

/// Section 5 as numbers.
pub fn table(rows: &[Row], period: u64) -> Table {
    let head = [
        "behaviour",
        "phase",
        "total windows",
        "product",
        "a thread",
        "concurrency",
        "paper's",
        "granularity",
        "slackness",
        "switches",
    ];
    let mut table = Table::new("How the spell checker uses windows", &head).kind(Kind::Sim);
    table = table.note(format!("FIFO, unlimited windows; a period is {period} switches; product: windows a thread x concurrency"));
    for (name, behaviour, phases) in rows {
        for (phase, it) in ["load", "check"].iter().zip(phases) {
            let number = |value: f64| {
                Cell::number(if value.is_nan() { String::new() } else { format!("{value:.2}") })
            };
            table.push(vec![
                Cell::words(name),
                Cell::words(*phase),
                number(it.total_window_activity),
                number(it.window_activity_per_thread * it.concurrency),
                number(it.window_activity_per_thread),
                number(it.concurrency),
                Cell::words(paper(behaviour, phase)),
                number(it.granularity_events),
                number(it.parallel_slackness),
                Cell::number(it.switches),
            ]);
        }
    }
    table
}

//! `meanwhile regwin behaviour`: how the spell checker uses windows if there are enough of them.

use regwin::behaviour::{self, Quantities};
use regwin::{Behaviour, sweep};
use report::{Cell, Kind, Table};
use serde_json::json;

use super::failure;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin behaviour`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Switches that make a period.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    period: u64,
}

/// T6 and T7, which load the dictionaries.
const LOADERS: [usize; 2] = [6, 7];

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for behaviour in Behaviour::ALL {
        let trace = sweep::trace(behaviour).map_err(failure)?;
        rows.push((behaviour, behaviour::phases(&trace, &LOADERS, args.period)));
    }
    out.text(&table(&rows, args.period).terminal(None));
    let object = |it: &Quantities| {
        json!({
            "total_window_activity": it.total_window_activity,
            "window_activity_per_thread": it.window_activity_per_thread,
            "concurrency": it.concurrency,
            "granularity_events": it.granularity_events,
            "parallel_slackness": it.parallel_slackness,
            "switches": it.switches,
        })
    };
    let rows =
        rows.iter().map(|(behaviour, [load, check])| json!({"behaviour": behaviour.name(), "load": object(load), "check": object(check)}));
    out.object(&json!({"ok": true, "period_switches": args.period, "rows": rows.collect::<Vec<_>>()}));
    Ok(())
}

fn table(rows: &[(Behaviour, [Quantities; 2])], period: u64) -> Table {
    let head =
        ["behaviour", "phase", "total windows", "windows a thread", "concurrency", "saves and restores", "ready threads", "switches"];
    let mut table = Table::new("How the spell checker uses windows", &head).kind(Kind::Sim);
    table = table.note(format!("FIFO, unlimited windows; a period is {period} switches"));
    for (behaviour, phases) in rows {
        for (phase, it) in ["load", "check"].iter().zip(phases) {
            let number = |value: f64| Cell::number(format!("{value:.2}"));
            table.push(vec![
                Cell::words(behaviour.name()),
                Cell::words(*phase),
                number(it.total_window_activity),
                number(it.window_activity_per_thread),
                number(it.concurrency),
                number(it.granularity_events),
                number(it.parallel_slackness),
                Cell::number(it.switches),
            ]);
        }
    }
    table
}

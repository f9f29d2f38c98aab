//! `meanwhile cipher bench`: each scheduler off against on, in turn, beside the seed's speedups.

use std::path::PathBuf;

use cipher::emit_c::Arch;
use cipher::gain::{self, Cell as Config, Gain};
use cipher::native::{self, Cc};
use measure::stats::geometric_mean;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use super::speed::{Store, machine_here};
use super::{options, tool_failure};
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cipher bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives; all rows of the seed's tables if none is named.
    names: Vec<String>,
    /// C compilers, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = options::cc)]
    cc: Vec<Cc>,
    /// Targets, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = options::arch)]
    arch: Vec<Arch>,
    /// Five pairs instead of fifteen.
    #[arg(long)]
    quick: bool,
    /// Evidence file; rows that it has already are not measured again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let cells = gain::cells(&args.names, &args.cc, &args.arch);
    if cells.is_empty() {
        return Err(Failure::user(
            "the seed's tables have no such row",
            Some("`meanwhile cipher list` shows the primitives; targets are x86-64 and avx2"),
        ));
    }
    let mut store = Store::open(args.out, "meanwhile cipher bench --out FILE")?;
    let bar = out.progress(cells.len() as u64);
    for cell in &cells {
        bar.set_message(format!("{} {} {} {}", cell.primitive, cell.cc.name(), cell.opt, cell.arch.name()));
        if !store.has(cell) && native::missing_feature(cell.arch).is_none() {
            let gain = gain::measure(cell, if args.quick { 5 } else { 15 }).map_err(tool_failure)?;
            store.push(row(cell, &gain))?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let rows: Vec<&Value> = cells.iter().filter_map(|cell| store.find(cell)).collect();
    out.line(&table(&rows).terminal(None));
    for line in means(&rows) {
        out.line(&line);
    }
    out.object(&json!({"machine": machine_here(), "rows": rows}));
    Ok(())
}

fn row(cell: &Config, gain: &Gain) -> Value {
    let mut row = serde_json::to_value(cell).expect("plain data");
    for (name, value) in serde_json::to_value(gain).expect("plain data").as_object().expect("an object") {
        row[name] = value.clone();
    }
    row
}

fn table(rows: &[&Value]) -> Table {
    let columns =
        ["primitive", "slicing", "compiler", "target", "off", "on", "ratio", "interval", "p", "seed", "auto", "stack off", "stack on"];
    let note = "time-stamp cycles a byte, off and on measured in turn; loops written out where the program stays small enough";
    let mut table = Table::new("Schedulers off and on", &columns).kind(Kind::Measured).note(note);
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_string();
    let number = |value: &Value, digits: usize| value.as_f64().map_or(String::new(), |v| format!("{v:.digits$}"));
    for row in rows {
        table.push(vec![
            Cell::words(text(row, "primitive")),
            Cell::words(text(row, "slicing")),
            Cell::words(format!("{} {}", text(row, "cc"), text(row, "opt"))),
            Cell::words(text(row, "arch")),
            Cell::number(number(&row["cycles_per_byte_off"], 2)),
            Cell::number(number(&row["cycles_per_byte_on"], 2)),
            Cell::number(number(&row["ratio"], 2)),
            Cell::number(format!("{}..{}", number(&row["interval"][0], 2), number(&row["interval"][1], 2))),
            Cell::number(number(&row["p"], 3)),
            Cell::number(number(&row["seed_ratio"], 2)),
            Cell::words(text(row, "auto")),
            Cell::number(number(&row["stack_off"], 0)),
            Cell::number(number(&row["stack_on"], 0)),
        ]);
    }
    table
}

/// Geometric means of each column of the seed's tables, ours beside the seed's.
fn means(rows: &[&Value]) -> Vec<String> {
    let key = |row: &Value| ["scheduler", "cc", "opt", "arch"].map(|k| row[k].as_str().unwrap_or_default().to_string()).join(" ");
    let mut keys: Vec<String> = rows.iter().map(|row| key(row)).collect();
    keys.sort();
    keys.dedup();
    let mean = |values: Vec<f64>| geometric_mean(&values);
    keys.into_iter()
        .map(|column| {
            let own: Vec<&&Value> = rows.iter().filter(|row| key(row) == column).collect();
            let ours = mean(own.iter().filter_map(|r| r["ratio"].as_f64()).collect());
            let seed = mean(own.iter().filter_map(|r| r["seed_ratio"].as_f64()).collect());
            format!("geometric mean {column}: {ours:.3}, the seed's {seed:.3} ({} rows)", own.len())
        })
        .collect()
}

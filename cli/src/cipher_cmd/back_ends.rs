//! `meanwhile cipher backends`: cycles a byte of our assembly beside the best C, in turn.

use std::path::PathBuf;

use cipher::asm::{self, Effort};
use cipher::back_ends::{self, Cell as Config};
use cipher::emit_c::Arch;
use cipher::gain::Care;
use cipher::library::primitives;
use cipher::native;
use cipher::pipeline::Slicing;
use cipher::unit::Subject;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use super::options;
use super::speed::Store;
use crate::evidence::machine_here;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cipher backends`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives; all if none is named.
    names: Vec<String>,
    /// Only this slicing.
    #[arg(long, value_parser = options::slicing())]
    slicing: Option<Slicing>,
    /// Only this target: x86-64, avx2 or avx512.
    #[arg(long, value_name = "ARCH", value_parser = options::arch())]
    arch: Option<Arch>,
    /// How long an order is searched for: millions of steps walked for each block.
    #[arg(long, value_name = "N", default_value_t = Effort::default().millions, value_parser = clap::value_parser!(u32).range(..=100_000))]
    budget: u32,
    /// Fewer runs.
    #[arg(long)]
    quick: bool,
    /// Evidence file; rows that it has already are not measured again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    options::check_names(&args.names)?;
    options::check_emit(options::Emit::Asm, args.arch)?;
    let configs = configs(&args);
    let care = if args.quick { Care::QUICK } else { Care::FULL };
    let effort = Effort { millions: args.budget };
    let quick = if args.quick { " --quick" } else { "" };
    let mut store = Store::open(args.out, format!("meanwhile cipher backends{quick} --budget {} --out FILE", args.budget))?;
    let bar = out.progress(configs.len() as u64);
    let mut rows = Vec::new();
    for config in &configs {
        bar.set_message(format!("{} {} {}", config.primitive, config.slicing.letter(), config.arch.name()));
        if let Some(row) = store.find(config) {
            rows.push(row.clone());
        } else if native::missing_feature(config.arch).is_none()
            && let Some(beside) = back_ends::measure(config, effort, care).map_err(Failure::tool)?
        {
            let mut row = serde_json::to_value(config).expect("a configuration is plain data");
            for (name, value) in serde_json::to_value(beside).expect("plain data").as_object().expect("an object") {
                row[name] = value.clone();
            }
            rows.push(row.clone());
            store.push(row)?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    out.line(&table(&rows).terminal(None));
    out.object(&json!({"ok": true, "machine": machine_here(), "rows": rows}));
    Ok(())
}

/// What is measured.
fn configs(args: &Args) -> Vec<Config> {
    let is_wanted = |name: &&String| args.names.is_empty() || args.names.contains(name);
    let mut all = Vec::new();
    for name in primitives().iter().map(|it| &it.name).filter(is_wanted) {
        let Ok(subject) = Subject::named(name) else { continue };
        for slicing in subject.slicings(None).into_iter().filter(|it| args.slicing.is_none_or(|only| only == *it)) {
            for arch in asm::archs().filter(|it| args.arch.is_none_or(|only| only == *it)) {
                all.push(Config { primitive: name.clone(), slicing, arch });
            }
        }
    }
    all
}

fn table(rows: &[Value]) -> Table {
    let columns = ["primitive", "target", "C", "asm", "ratio", "interval", "best C", "best asm", "steps", "in memory"];
    let note = "time-stamp cycles a byte of output, moves between bytes and registers excluded, -O3; above 1 the assembly is faster; \
                in memory: loads, stores and folded operands of its instructions";
    let mut table = Table::new("Our assembly beside the best C", &columns).kind(Kind::Measured).note(note);
    let number = |value: &Value, digits: usize| value.as_f64().map_or(String::new(), |v| format!("{v:.digits$}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    for row in rows {
        let pair = &row["summary"];
        let in_memory: u64 = (0..3).filter_map(|k| row["count"][k].as_u64()).sum();
        table.push(vec![
            Cell::words(format!("{} {}", text(&row["primitive"]), text(&row["slicing"]))),
            Cell::words(text(&row["arch"])),
            Cell::number(number(&pair["c"], 2)),
            Cell::number(number(&pair["asm"], 2)),
            Cell::number(number(&pair["ratio"], 2)),
            Cell::number(format!("{}..{}", number(&pair["interval"][0], 2), number(&pair["interval"][1], 2))),
            Cell::words(text(&row["c"])),
            Cell::words(text(&row["asm"])),
            Cell::number(row["n_steps"].to_string()),
            Cell::number(in_memory.to_string()),
        ]);
    }
    table
}

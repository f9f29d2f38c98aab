//! `meanwhile cipher backends`: cycles a byte of our assembly beside the best C, in turn.

use std::path::PathBuf;

use cipher::asm::{self, Effort};
use cipher::back_ends::{self, Cell as Config};
use cipher::emit_c::Arch;
use cipher::gain::Sampling;
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
    /// Measure with fewer runs.
    #[arg(long)]
    quick: bool,
    /// Evidence file; rows that it has already are not measured again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Count memory operands in the machine code instead; nothing is run.
    #[arg(long, conflicts_with_all = ["quick", "out"])]
    count: bool,
}

/// Runs the command.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    options::check_names(&args.names)?;
    options::check_emit(options::Emit::Asm, args.arch)?;
    let configs = configs(&args);
    let sampling = if args.quick { Sampling::QUICK } else { Sampling::FULL };
    let effort = Effort { millions: args.budget };
    if args.count {
        return count(&configs, effort, out);
    }
    let quick = if args.quick { " --quick" } else { "" };
    let mut store = Store::open(args.out, format!("meanwhile cipher backends{quick} --budget {} --out FILE", args.budget))?;
    let bar = out.progress(configs.len() as u64);
    let mut rows = Vec::new();
    for config in &configs {
        bar.set_message(format!("{} {} {}", config.primitive, config.slicing.letter(), config.arch.name()));
        if let Some(row) = store.find(config) {
            rows.push(row.clone());
        } else if native::missing_feature(config.arch).is_none()
            && let Some(beside) = back_ends::measure(config, effort, sampling).map_err(Failure::tool)?
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

/// Memory operands of what gcc, clang and our back end make.
fn count(configs: &[Config], effort: Effort, out: &mut Output) -> Result<(), Failure> {
    let columns = ["primitive", "target", "gcc", "clang", "asm", "gcc, stack", "clang, stack", "asm, stack"];
    let note = "instructions with an operand in memory in the machine code of the function on blocks, loops kept, -O3, counted once and not run: \
                all, then those of them on the stack by the stack or frame pointer";
    let mut table = Table::new("Memory operands of our assembly beside C", &columns).kind(Kind::Measured).note(note);
    let bar = out.progress(configs.len() as u64);
    // Of all operands and of those on the stack, beside gcc and beside clang.
    let (mut rows, mut logs) = (Vec::new(), [const { Vec::new() }; 4]);
    for config in configs {
        bar.set_message(format!("{} {} {}", config.primitive, config.slicing.letter(), config.arch.name()));
        if let Some(it) = back_ends::count(config, effort).map_err(Failure::tool)? {
            let all = [it.gcc, it.clang, Some(it.asm)];
            for (k, c) in [it.gcc, it.clang].into_iter().enumerate() {
                let Some(c) = c else { continue };
                let by = |asm: u64, c: u64| (asm.max(1) as f64 / c.max(1) as f64).ln();
                logs[k].push(by(it.asm.memory_operands, c.memory_operands));
                logs[2 + k].push(by(it.asm.stack_operands, c.stack_operands));
            }
            let mut row =
                vec![Cell::words(format!("{} {}", config.primitive, config.slicing.letter())), Cell::words(config.arch.name().to_owned())];
            let number = |it: Option<u64>| it.map_or(Cell::words(String::new()), |it| Cell::number(it.to_string()));
            row.extend(all.iter().map(|it| number(it.map(|it| it.memory_operands))));
            row.extend(all.iter().map(|it| number(it.map(|it| it.stack_operands))));
            table.push(row);
            let mut row = serde_json::to_value(config).expect("a configuration is plain data");
            for (name, value) in serde_json::to_value(it).expect("plain data").as_object().expect("an object") {
                row[name] = value.clone();
            }
            rows.push(row);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let means = logs.map(|it| if it.is_empty() { None } else { Some((it.iter().sum::<f64>() / it.len() as f64).exp()) });
    out.line(&table.terminal(None));
    for (k, cc) in ["gcc", "clang"].into_iter().enumerate() {
        if let (Some(all), Some(stack)) = (means[k], means[2 + k]) {
            out.line(&format!(
                "assembly has {all:.2} of the operands in memory of {cc}, {stack:.2} of those on its stack (geometric means)"
            ));
        }
    }
    let of = |k: usize| json!({"memory_operands": means[k], "stack_operands": means[2 + k]});
    out.object(&json!({"ok": true, "kind": "measured", "rows": rows, "by_gcc": of(0), "by_clang": of(1)}));
    Ok(())
}

/// What is measured or counted.
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

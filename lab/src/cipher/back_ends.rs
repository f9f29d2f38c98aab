//! Our assembly beside the best C: cycles a byte in turn, or operands in memory.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::back_ends_pairs::{
    self as back_ends, Cell as Config, Counted, ExecutedCount, Operations,
};
use cipher::asm::{self, Effort};
use cipher::emit_c::Arch;
use cipher::library::primitives;
use cipher::native;
use cipher::options::{Emit, Slicing, Unroll};
use cipher::speed::Processor;
use cipher::speed::Sampling;
use cipher::unit::Subject;
use report::page::Block;
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::{Value, json};

use crate::store::Store;
use crate::study::{self, Study};
use meanwhile::cipher_cmd::{bounds, options};
use terminal::machine_here;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run cipher-back-ends`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives; all if none is named.
    names: Vec<String>,
    /// Only this slicing.
    #[arg(long, value_parser = options::slicing())]
    slicing: Option<Slicing>,
    /// Only this target.
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
    /// Count operands in memory of one call instead, which is executed in single
    /// steps; nothing is timed.
    #[arg(long, conflicts_with_all = ["quick", "out"])]
    count: bool,
    /// With --count: which loops are written out [default: auto]. Measured are all three,
    /// and the fastest counts.
    #[arg(long, requires = "count", value_parser = options::unroll())]
    unroll: Option<Unroll>,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    options::check_names(&args.names)?;
    options::check_emit(Emit::Asm, args.arch)?;
    let configs = configs(&args);
    let sampling = if args.quick { Sampling::QUICK } else { Sampling::FULL };
    let effort = Effort { millions: args.budget };
    if args.count {
        return count(&configs, args.unroll.unwrap_or(Unroll::Auto), effort, out);
    }
    let quick = if args.quick { " --quick" } else { "" };
    let mut store = Store::open(
        args.out,
        format!("meanwhile-lab run cipher-back-ends{quick} --budget {} --out FILE", args.budget),
    )?;
    let study = BackEnds { configs, effort, sampling, processor: Processor::here() };
    let rows = study::rows(&study, &mut store, out)?;
    out.line(&table(&rows).terminal(None));
    let of_rows: Vec<&Value> = rows.iter().flat_map(|row| BOUNDS.map(|name| &row[name])).collect();
    let ratio = study.processor.core_cycles_per_tick;
    bounds::about(&of_rows, "each", ratio).iter().for_each(|line| out.line(line));
    out.object(&json!({"ok": true, "machine": machine_here(), "core_cycles_per_tick": ratio, "rows": rows}));
    Ok(())
}

struct BackEnds {
    configs: Vec<Config>,
    effort: Effort,
    sampling: Sampling,
    processor: Processor,
}

impl Study for BackEnds {
    type Cell = Config;

    fn cells(&self) -> Vec<Config> {
        self.configs.clone()
    }

    fn name(&self, cell: &Config) -> String {
        name(cell)
    }

    fn runs_here(&self, cell: &Config) -> bool {
        native::missing_feature(cell.arch).is_none()
    }

    fn measure(&self, cell: &Config, _step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        let beside = back_ends::measure(cell, self.effort, self.sampling, &self.processor);
        Ok(json!(beside.map_err(Failure::tool)?))
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        vec![Block::Table(table(rows))]
    }
}

fn name(cell: &Config) -> String {
    format!("{} {} {}", cell.primitive, cell.slicing.letter(), cell.arch.name())
}

/// Where rows have the bounds of the C and of the assembly.
const BOUNDS: [&str; 2] = ["c_bound", "asm_bound"];

/// Operands in memory of what gcc, clang and our back end make.
fn count(
    configs: &[Config],
    unroll: Unroll,
    effort: Effort,
    out: &mut Output,
) -> Result<(), Failure> {
    let bar = out.progress(configs.len() as u64);
    let mut all: Vec<(&Config, Counted)> = Vec::new();
    for config in configs {
        bar.set_message(name(config));
        all.extend(
            back_ends::count(config, unroll, effort)
                .map_err(Failure::tool)?
                .map(|count| (config, count)),
        );
        bar.inc(1);
    }
    bar.finish_and_clear();
    let (stepped, standing): (Vec<_>, Vec<_>) =
        all.iter().partition(|pair| pair.1.asm.executed.is_some());
    if !stepped.is_empty() || standing.is_empty() {
        out.line(&executed(&stepped).terminal(None));
    }
    if !standing.is_empty() {
        out.line(&in_the_code(&standing).terminal(None));
        let why: BTreeSet<(&str, &str)> = standing
            .iter()
            .map(|pair| {
                (pair.0.arch.name(), pair.1.asm.executed_missing.as_deref().unwrap_or_default())
            })
            .collect();
        why.into_iter().for_each(|(arch, why)| {
            out.line(&format!(
                "{arch} is not executed, only counted as it stands in the code: {why}"
            ))
        });
    }
    let by = [Means::of(&all, |it| it.gcc.as_ref()), Means::of(&all, |it| it.clang.as_ref())];
    for (means, cc) in by.iter().zip(["gcc", "clang"]) {
        if let (Some(frame), Some(all)) = (means.frame, means.all) {
            let trimmed = means.frame_trimmed.map_or(String::new(), |it| {
                format!(" ({it:.2} without the least and the greatest ratio)")
            });
            out.line(&format!(
                "assembly executes {frame:.2} of the operands in the frame of {cc}{trimmed}, {all:.2} of all operands in memory: geometric means"
            ));
        }
    }
    let rows: Vec<Value> = all.iter().map(|(config, it)| study::row(config, &json!(it))).collect();
    out.object(
        &json!({"ok": true, "kind": "measured", "rows": rows, "by_gcc": by[0], "by_clang": by[1]}),
    );
    Ok(())
}

/// Assembly by C, geometric means over the rows that have both.
#[derive(Debug, Serialize)]
struct Means {
    /// Executed operands in the frame.
    frame: Option<f64>,
    /// The same without the least and the greatest ratio.
    frame_trimmed: Option<f64>,
    /// Executed operands anywhere in memory.
    all: Option<f64>,
    /// Instructions of the code, executed or not, with an operand in memory.
    memory_operands: Option<f64>,
    /// Those of them at an address from the stack or frame pointer.
    stack_operands: Option<f64>,
}

impl Means {
    fn of(all: &[(&Config, Counted)], c: impl Fn(&Counted) -> Option<&Operations>) -> Means {
        let logs = |of: &dyn Fn(&Operations) -> Option<u64>| -> Vec<f64> {
            let ratio = |counted: &Counted| {
                Some((of(&counted.asm)?.max(1) as f64 / of(c(counted)?)?.max(1) as f64).ln())
            };
            let mut logs: Vec<f64> = all.iter().filter_map(|pair| ratio(&pair.1)).collect();
            logs.sort_by(f64::total_cmp);
            logs
        };
        let mean = |logs: &[f64]| {
            (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        };
        let frame = logs(&|operations| Some(operations.executed?.operands.frame));
        Means {
            frame: mean(&frame),
            frame_trimmed: frame.get(1..frame.len().saturating_sub(1)).and_then(mean),
            all: mean(&logs(&|operations| Some(in_all(operations.executed?)))),
            memory_operands: mean(&logs(&|operations| Some(operations.standing.memory_operands))),
            stack_operands: mean(&logs(&|operations| Some(operations.standing.stack_operands))),
        }
    }
}

/// Executed operands anywhere in memory.
fn in_all(it: ExecutedCount) -> u64 {
    it.operands.frame + it.operands.constants + it.operands.arrays
}

/// Of one call, in the stack frame and in all.
fn executed(rows: &[&(&Config, Counted)]) -> Table {
    let columns = [
        "primitive",
        "target",
        "gcc",
        "clang",
        "asm",
        "asm / gcc",
        "asm / clang",
        "at least [model]",
        "gcc, all",
        "clang, all",
        "asm, all",
    ];
    let note = "executed instructions with an operand in the stack frame, whichever register has its address, in one call of the function on \
                blocks, loops as --unroll says, -O3, single-stepped; all: with constants and the caller's arrays; at least: stores and loads of the words that \
                one iteration makes, the next one reads and no register holds, in whatever order each equation is executed once";
    let mut table = Table::new("Operands in memory of our assembly beside C", &columns)
        .kind(Kind::Measured)
        .note(note);
    for (config, it) in rows {
        let found = [it.gcc.as_ref(), it.clang.as_ref(), Some(&it.asm)]
            .map(|it| it.and_then(|operations| operations.executed));
        let number = |it: Option<u64>| Cell::number(it.map_or("-".to_owned(), |it| it.to_string()));
        let [gcc, clang, asm] = found.map(|it| it.map(|it| it.operands.frame));
        let by = |c: Option<u64>| {
            let ratio = asm.zip(c).filter(|pair| pair.1 > 0).map(|(asm, c)| asm as f64 / c as f64);
            Cell::number(ratio.map_or("-".to_owned(), |it| format!("{it:.2}")))
        };
        let mut row = named(config);
        row.extend([
            number(gcc),
            number(clang),
            number(asm),
            by(gcc),
            by(clang),
            number(it.least.map(|least| least.frame)),
        ]);
        row.extend(found.map(|found| number(found.map(in_all))));
        table.push(row);
    }
    table
}

/// Of the machine code, each instruction once.
fn in_the_code(rows: &[&(&Config, Counted)]) -> Table {
    let columns =
        ["primitive", "target", "gcc", "clang", "asm", "gcc, stack", "clang, stack", "asm, stack"];
    let note = "instructions with an operand in memory in the machine code of the function on blocks, loops as --unroll says, -O3, each once whether it runs \
                often or never: all, then those of them at an address from the stack or frame pointer, which buffers of loops behind another \
                register are not";
    let mut table = Table::new("Operands in memory in the code of our assembly beside C", &columns)
        .kind(Kind::Measured)
        .note(note);
    for (config, it) in rows {
        let found = [it.gcc.as_ref(), it.clang.as_ref(), Some(&it.asm)]
            .map(|gate| gate.map(|operations| operations.standing));
        let number = |it: Option<u64>| Cell::number(it.map_or("-".to_owned(), |it| it.to_string()));
        let mut row = named(config);
        row.extend(found.map(|it| number(it.map(|it| it.memory_operands))));
        row.extend(found.map(|it| number(it.map(|it| it.stack_operands))));
        table.push(row);
    }
    table
}

/// The first two cells of a row.
fn named(config: &Config) -> Vec<Cell> {
    vec![
        Cell::words(format!("{} {}", config.primitive, config.slicing.letter())),
        Cell::words(config.arch.name().to_owned()),
    ]
}

/// What is measured or counted.
fn configs(args: &Args) -> Vec<Config> {
    let is_wanted = |name: &&String| args.names.is_empty() || args.names.contains(name);
    let mut all = Vec::new();
    for name in primitives().iter().map(|primitive| &primitive.name).filter(is_wanted) {
        let Ok(subject) = Subject::named(name) else { continue };
        for slicing in subject
            .slicings(None)
            .into_iter()
            .filter(|slicing| args.slicing.is_none_or(|only| only == *slicing))
        {
            for arch in asm::archs().filter(|arch| args.arch.is_none_or(|only| only == *arch)) {
                all.push(Config { primitive: name.clone(), slicing, arch });
            }
        }
    }
    all
}

fn table(rows: &[Value]) -> Table {
    let mut columns = vec![
        "primitive",
        "target",
        "C",
        "asm",
        "ratio",
        "interval",
        "best C",
        "best asm",
        "steps",
        "in memory",
    ];
    // Evidence from before there were bounds has none.
    let with_bounds = rows.iter().any(|row| BOUNDS.iter().any(|name| row.get(name).is_some()));
    if with_bounds {
        columns.extend(["C bound [model]", "C / bound", "asm bound [model]", "asm / bound"]);
    }
    let note = "time-stamp cycles a byte of output, moves between bytes and registers excluded, -O3; above 1 the assembly is faster; \
                in memory: loads, stores and folded operands of its instructions";
    let mut table =
        Table::new("Our assembly beside the best C", &columns).kind(Kind::Measured).note(note);
    let number = |value: &Value, digits: usize| {
        value.as_f64().map_or(String::new(), |v| format!("{v:.digits$}"))
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    for row in rows {
        let pair = &row["summary"];
        let in_memory: u64 = (0..3).filter_map(|k| row["count"][k].as_u64()).sum();
        let mut cells = vec![
            Cell::words(format!("{} {}", text(&row["primitive"]), text(&row["slicing"]))),
            Cell::words(text(&row["arch"])),
            Cell::number(number(&pair["c"], 2)),
            Cell::number(number(&pair["asm"], 2)),
            Cell::number(number(&pair["ratio"], 2)),
            Cell::number(format!(
                "{}..{}",
                number(&pair["interval"][0], 2),
                number(&pair["interval"][1], 2)
            )),
            Cell::words(text(&row["c"])),
            Cell::words(text(&row["asm"])),
            Cell::number(row["n_steps"].to_string()),
            Cell::number(in_memory.to_string()),
        ];
        if with_bounds {
            cells.extend(
                ["c", "asm"]
                    .into_iter()
                    .zip(BOUNDS)
                    .flat_map(|(own, name)| bounds::cells(pair[own].as_f64(), row.get(name))),
            );
        }
        table.push(cells);
    }
    table
}

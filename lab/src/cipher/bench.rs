//! Each scheduler off and on, in turn, with the paper's speedups; and
//! more choices in the same way: `--specialise`, the look-behind window, `--interleave`, and all of
//! them together.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::byte_cost;
use super::{gain, original};
use crate::evidence::Evidence;
use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Schedule, Slicing, Unroll};
use cipher::speed::Processor;
use cipher::speed::Sampling;
use measure::stats::geometric_mean;
use measure::tool::ToolError;
use report::page::Block;
use report::svg::{Axis, Chart, Line, LineChart, Ratio, RatioChart};
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::{Value, json};

use crate::store::Store;
use meanwhile::cipher_cmd::{bounds, options, tune};

use super::best;
use terminal::machine_here;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run cipher-schedulers`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives; all rows of the paper's tables if none is named.
    names: Vec<String>,
    /// What is compared: a scheduler off and on, the specialisation of bitwise nodes, windows of 1
    /// to 20, one batch and several interleaved ones, the primitive alone and through its byte
    /// interface, or the best C of before there was a back end and the best of all.
    #[arg(long, value_name = "STUDY", value_enum, default_value_t = Study::Schedulers)]
    study: Study,
    /// C compilers, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = options::cc())]
    cc: Vec<Cc>,
    /// Targets, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = options::arch())]
    arch: Vec<Arch>,
    /// Which loops are written out in the study of schedulers, off and on alike.
    #[arg(long, value_parser = options::unroll(), default_value = "auto")]
    unroll: Unroll,
    /// How long each of the two searches of the study of the best may take, for each
    /// row: 90s, 5m, 1h.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = tune::budget)]
    budget: Duration,
    /// Five pairs instead of fifteen.
    #[arg(long)]
    quick: bool,
    /// Evidence file; rows that it already has are not measured again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Study {
    Schedulers,
    Specialise,
    LookBehind,
    Interleave,
    Bytes,
    Best,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let sampling = if args.quick { Sampling::QUICK } else { Sampling::FULL };
    let named =
        |primitive: &str| args.names.is_empty() || args.names.iter().any(|name| name == primitive);
    let rows = match args.study {
        Study::Schedulers => {
            let cells = gain::cells(&args.names, &args.cc, &args.arch);
            let rows = measured(
                &cells,
                &args,
                out,
                |c| (c.primitive.clone(), Some(c.cc), c.arch),
                |cell, _| gain::measure(cell, args.unroll, sampling),
            )?;
            out.line(&table(&rows).terminal(None));
            means(&rows).iter().for_each(|line| out.line(line));
            rows
        }
        Study::Specialise => {
            let mut cells = gain::specialise_cells();
            cells.retain(|cell| named(cell.primitive));
            let measure = |cell: &gain::Specialise, _: &(dyn Fn(&str) + Sync)| {
                gain::measure_specialise(cell, sampling)
            };
            let rows = measured(
                &cells,
                &args,
                out,
                |c| (c.primitive.into(), Some(c.cc), c.arch),
                measure,
            )?;
            out.line(&specialise_table(&rows).terminal(None));
            rows
        }
        Study::LookBehind => {
            let mut cells = gain::window_cells();
            cells.retain(|cell| named(cell.primitive));
            let rows = measured(
                &cells,
                &args,
                out,
                |c| (c.primitive.into(), Some(c.cc), c.arch),
                |cell, _| gain::measure_window(cell, sampling),
            )?;
            out.line(&window_table(&rows).terminal(None));
            rows
        }
        Study::Interleave => {
            let mut cells = gain::interleave_cells();
            cells.retain(|c| {
                named(c.primitive)
                    && (args.cc.is_empty() || args.cc.contains(&c.cc))
                    && (args.arch.is_empty() || args.arch.contains(&c.arch))
            });
            let rows = measured(
                &cells,
                &args,
                out,
                |c| (c.primitive.into(), Some(c.cc), c.arch),
                |cell, _| gain::measure_interleave(cell, sampling),
            )?;
            out.line(&interleave_table(&rows).terminal(None));
            rows
        }
        Study::Bytes => {
            let mut cells = byte_cost::cells(&args.names, &args.arch);
            cells.retain(|cell| args.cc.is_empty() || args.cc.contains(&cell.cc));
            let rows = measured(
                &cells,
                &args,
                out,
                |c| (c.primitive.clone(), Some(c.cc), c.arch),
                |cell, _| byte_cost::measure(cell, sampling),
            )?;
            out.line(&bytes_table(&rows).terminal(None));
            bytes_means(&rows).iter().for_each(|line| out.line(line));
            rows
        }
        Study::Best => {
            let cells = best::cells(&args.names, &args.arch);
            let processor = Processor::here();
            let rows = measured(
                &cells,
                &args,
                out,
                |c| (c.primitive.clone(), None, c.arch),
                |cell, step| best::measure(cell, args.budget, sampling, &processor, step),
            )?;
            out.line(&best::table(&rows).terminal(None));
            best::means(&rows).iter().for_each(|line| out.line(line));
            let of_rows: Vec<&Value> = rows.iter().map(|row| &row["bound"]).collect();
            bounds::about(&of_rows, "the best", processor.core_cycles_per_tick)
                .iter()
                .for_each(|line| out.line(line));
            rows
        }
    };
    out.object(&json!({"ok": true, "machine": machine_here(), "rows": rows}));
    Ok(())
}

/// The rows of these cells; those that the evidence file does not have are measured.
fn measured<C: Serialize, R: Serialize>(
    cells: &[C],
    args: &Args,
    out: &Output,
    name: impl Fn(&C) -> (String, Option<Cc>, Arch),
    measure: impl Fn(&C, &(dyn Fn(&str) + Sync)) -> Result<R, ToolError>,
) -> Result<Vec<Value>, Failure> {
    if cells.is_empty() {
        return Err(Failure::user(
            "the tables of this study have no such row",
            Some(
                "`meanwhile cipher list` shows the primitives; targets are x86-64, avx2 and avx512",
            ),
        ));
    }
    let study = match args.study {
        Study::Schedulers => String::new(),
        Study::Specialise => " --study specialise".to_owned(),
        Study::LookBehind => " --study look-behind".to_owned(),
        Study::Interleave => " --study interleave".to_owned(),
        Study::Bytes => " --study bytes".to_owned(),
        Study::Best => format!(" --study best --budget {}s", args.budget.as_secs()),
    };
    let unroll = match args.unroll {
        Unroll::Auto => "",
        Unroll::Yes => " --unroll yes",
        Unroll::No => " --unroll no",
    };
    let quick = if args.quick { " --quick" } else { "" };
    let mut store = Store::open(
        args.out.clone(),
        format!("meanwhile-lab run cipher-schedulers{study}{unroll}{quick} --out FILE"),
    )?;
    let bar = out.progress(cells.len() as u64);
    for cell in cells {
        let (primitive, cc, arch) = name(cell);
        let row_name = [primitive.as_str(), cc.map_or("", Cc::name), arch.name()]
            .into_iter()
            .filter(|recorded| !recorded.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        bar.set_message(row_name.clone());
        if !store.has(cell) && native::missing_feature(arch).is_none() {
            let gain = measure(cell, &|step| bar.set_message(format!("{row_name}: {step}")))
                .map_err(Failure::tool)?;
            store.push(row(cell, &gain))?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(cells.iter().filter_map(|cell| store.find(cell).cloned()).collect())
}

fn row(cell: &impl Serialize, gain: &impl Serialize) -> Value {
    let mut row = serde_json::to_value(cell).expect("plain data");
    for (name, value) in
        serde_json::to_value(gain).expect("plain data").as_object().expect("an object")
    {
        row[name] = value.clone();
    }
    row
}

fn table(rows: &[Value]) -> Table {
    let columns = [
        "primitive",
        "slicing",
        "compiler",
        "target",
        "off",
        "on",
        "ratio",
        "interval",
        "p",
        "paper",
        "auto",
        "stack off",
        "stack on",
    ];
    let note = "time-stamp cycles a byte, off and on measured in turn; loops written out where the program stays small enough";
    let mut table = Table::new("Schedulers off and on", &columns).kind(Kind::Measured).note(note);
    for row in rows {
        table.push(vec![
            Cell::words(text(row, "primitive")),
            Cell::words(text(row, "slicing")),
            Cell::words(format!("{} {}", text(row, "cc"), text(row, "opt"))),
            Cell::words(text(row, "arch")),
            Cell::number(number(&row["cycles_per_byte_off"], 2)),
            Cell::number(number(&row["cycles_per_byte_on"], 2)),
            Cell::number(number(&row["ratio"], 2)),
            Cell::number(format!(
                "{}..{}",
                number(&row["interval"][0], 2),
                number(&row["interval"][1], 2)
            )),
            Cell::number(number(&row["p"], 3)),
            Cell::number(number(&row["seed_ratio"], 2)),
            Cell::words(text(row, "auto")),
            Cell::number(number(&row["stack_off"], 0)),
            Cell::number(number(&row["stack_on"], 0)),
        ]);
    }
    table
}

/// The columns that these rows belong to, by name.
fn columns(rows: &[Value]) -> Vec<String> {
    let names: BTreeSet<String> = rows.iter().map(column).collect();
    names.into_iter().collect()
}

/// The column of the paper's tables that a row belongs to.
fn column(row: &Value) -> String {
    ["scheduler", "cc", "opt", "arch"].map(|key| text(row, key)).join(" ")
}

/// The original's cycles a byte with its scheduler, if that cell was measured.
fn original_on(row: &Value) -> Option<f64> {
    let slicing = Slicing::from_letter(row["slicing"].as_str()?)?;
    let (cc, arch) = (Cc::from_name(row["cc"].as_str()?)?, Arch::from_name(row["arch"].as_str()?)?);
    original::cycles_per_byte(row["primitive"].as_str()?, slicing, cc, row["opt"].as_str()?, arch)
        .map(|original| original.1)
}

fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_string()
}

fn number(value: &Value, digits: usize) -> String {
    value.as_f64().map_or(String::new(), |v| format!("{v:.digits$}"))
}

/// Cells of a ratio, its interval and p.
fn ratio(row: &Value) -> [Cell; 3] {
    let interval =
        format!("{}..{}", number(&row["interval"][0], 2), number(&row["interval"][1], 2));
    [number(&row["ratio"], 2), interval, number(&row["p"], 3)].map(Cell::number)
}

fn specialise_table(rows: &[Value]) -> Table {
    let columns =
        ["primitive", "compiler", "target", "no", "yes", "ratio", "interval", "p", "paper"];
    let note = "time-stamp cycles a byte, bitsliced, no scheduler, measured in turn";
    let mut table = Table::new("Bitwise nodes specialised to single bits: no and yes", &columns)
        .kind(Kind::Measured)
        .note(note);
    for row in rows {
        let mut cells = vec![
            Cell::words(text(row, "primitive")),
            Cell::words(format!("{} {}", text(row, "cc"), text(row, "opt"))),
            Cell::words(text(row, "arch")),
            Cell::number(number(&row["cycles_per_byte_off"], 2)),
            Cell::number(number(&row["cycles_per_byte_on"], 2)),
        ];
        cells.extend(ratio(row));
        cells.push(Cell::number(number(&row["seed_ratio"], 2)));
        table.push(cells);
    }
    table
}

fn window_table(rows: &[Value]) -> Table {
    let columns = [
        "primitive",
        "slicing",
        "target",
        "window",
        "off",
        "on",
        "ratio",
        "interval",
        "p",
        "stack on",
    ];
    let note = "time-stamp cycles a byte, mslice scheduler off and on, clang -O3, measured in turn; the paper: little to gain above 10";
    let mut table = Table::new("The look-behind window", &columns).kind(Kind::Measured).note(note);
    for row in rows {
        let mut cells = vec![
            Cell::words(text(row, "primitive")),
            Cell::words(text(row, "slicing")),
            Cell::words(text(row, "arch")),
            Cell::number(number(&row["look_behind"], 0)),
            Cell::number(number(&row["cycles_per_byte_off"], 2)),
            Cell::number(number(&row["cycles_per_byte_on"], 2)),
        ];
        cells.extend(ratio(row));
        cells.push(Cell::number(number(&row["stack_on"], 0)));
        table.push(cells);
    }
    table
}

fn interleave_table(rows: &[Value]) -> Table {
    let columns = [
        "primitive",
        "slicing",
        "target",
        "compiler",
        "batches",
        "one",
        "interleaved",
        "ratio",
        "interval",
        "p",
        "stack one",
        "stack",
    ];
    let note = "time-stamp cycles a byte, one batch of blocks and as many interleaved ones as auto chooses, two where it chooses one; loops written out, no scheduler, measured in turn";
    let mut table = Table::new("Interleaved batches", &columns).kind(Kind::Measured).note(note);
    for row in rows {
        let mut cells = vec![
            Cell::words(text(row, "primitive")),
            Cell::words(text(row, "slicing")),
            Cell::words(text(row, "arch")),
            Cell::words(text(row, "cc")),
            Cell::number(number(&row["batches"], 0)),
            Cell::number(number(&row["cycles_per_byte_off"], 2)),
            Cell::number(number(&row["cycles_per_byte_on"], 2)),
        ];
        cells.extend(ratio(row));
        cells.push(Cell::number(number(&row["stack_off"], 0)));
        cells.push(Cell::number(number(&row["stack_on"], 0)));
        table.push(cells);
    }
    table
}

fn bytes_table(rows: &[Value]) -> Table {
    let columns = [
        "primitive",
        "slicing",
        "target",
        "compiler",
        "loops",
        "alone",
        "through bytes",
        "ratio",
        "interval",
        "bytes",
    ];
    let note = "time-stamp cycles a byte of output; the entry on registers alone, and NAME_blocks, in turn in one process";
    let mut table =
        Table::new("What the byte interface costs", &columns).kind(Kind::Measured).note(note);
    for row in rows {
        table.push(vec![
            Cell::words(text(row, "primitive")),
            Cell::words(text(row, "slicing")),
            Cell::words(text(row, "arch")),
            Cell::words(format!("{} {}", text(row, "cc"), text(row, "opt"))),
            Cell::words(if row["unroll"] == "yes" { "written out" } else { "kept" }),
            Cell::number(number(&row["cycles_per_byte_alone"], 2)),
            Cell::number(number(&row["cycles_per_byte_blocks"], 2)),
            Cell::number(number(&row["ratio"], 2)),
            Cell::number(format!(
                "{}..{}",
                number(&row["interval"][0], 2),
                number(&row["interval"][1], 2)
            )),
            Cell::number(number(&row["bytes"], 0)),
        ]);
    }
    table
}

/// Geometric mean and worst ratio of the byte interface by target.
fn bytes_means(rows: &[Value]) -> Vec<String> {
    let archs: BTreeSet<String> = rows.iter().map(|row| text(row, "arch")).collect();
    let line = |arch: String| {
        let ratios: Vec<f64> = rows
            .iter()
            .filter(|row| row["arch"] == *arch)
            .filter_map(|row| row["ratio"].as_f64())
            .collect();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        format!(
            "geometric mean {arch}: {:.2}, worst {worst:.2} ({} rows)",
            geometric_mean(&ratios),
            ratios.len()
        )
    };
    archs.into_iter().map(line).collect()
}

/// A few cells for `meanwhile-lab report`, with five pairs each: a table, and a chart
/// of the same ratios.
pub fn report(out: &Output) -> Result<Vec<Block>, Failure> {
    const CELLS: [(&str, Schedule, Cc, &str, Arch); 4] = [
        ("rectangle-80", Schedule::Bitslice, Cc::Gcc, "-O3", Arch::Avx2),
        ("gift-128", Schedule::Bitslice, Cc::Gcc, "-O3", Arch::X86_64),
        ("ace", Schedule::Mslice, Cc::Clang, "-O3", Arch::Avx2),
        ("chacha20", Schedule::Mslice, Cc::Clang, "-O3", Arch::X86_64),
    ];
    let mut cells = gain::cells(&[], &[], &[]);
    cells.retain(|c| CELLS.contains(&(c.primitive.as_str(), c.scheduler, c.cc, c.opt, c.arch)));
    let bar = out.progress(cells.len() as u64);
    let mut rows = Vec::new();
    for cell in &cells {
        bar.set_message(format!("{} {} {}", cell.primitive, cell.cc.name(), cell.arch.name()));
        if native::missing_feature(cell.arch).is_none() {
            rows.push(row(
                cell,
                &gain::measure(cell, Unroll::Auto, Sampling::QUICK).map_err(Failure::tool)?,
            ));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let table = table(&rows);
    let all: Vec<&Value> = rows.iter().collect();
    Ok(vec![
        Block::Table(table),
        Block::Chart(chart("Schedulers: off / on, five pairs", &all, true)),
    ])
}

/// Committed results of a study: its table, its charts, and their source.
pub fn committed(study: &str, evidence: &Evidence) -> Option<Vec<Block>> {
    let rows: Vec<Value> = evidence.rows.iter().cloned().map(Value::Object).collect();
    let mut blocks = vec![Block::Text(evidence.origin())];
    match study {
        "bench" => {
            blocks.extend(means(&rows).into_iter().map(Block::Text));
            for name in columns(&rows) {
                let own: Vec<&Value> = rows.iter().filter(|row| column(row) == name).collect();
                blocks.push(Block::Chart(chart(&format!("off / on: {name}"), &own, false)));
            }
            blocks.push(Block::Table(table(&rows)));
        }
        "bytes" => {
            blocks.extend(bytes_means(&rows).into_iter().map(Block::Text));
            blocks.push(Block::Table(bytes_table(&rows)));
        }
        "interleave" => blocks.push(Block::Table(interleave_table(&rows))),
        "specialise" => blocks.push(Block::Table(specialise_table(&rows))),
        "look-behind" => {
            blocks.push(Block::Chart(window_chart(&rows).for_page()));
            blocks.push(Block::Table(window_table(&rows)));
        }
        _ => return None,
    }
    Some(blocks)
}

/// Ratios with their intervals; the compiler is part of the name where rows have several.
fn chart(title: &str, rows: &[&Value], with_compiler: bool) -> String {
    let name = |row: &Value| {
        let name = format!("{} {}", text(row, "primitive"), text(row, "slicing"));
        if with_compiler {
            format!("{name} {} {}", text(row, "cc"), text(row, "arch"))
        } else {
            name
        }
    };
    let value = |value: &Value| value.as_f64().unwrap_or(1.0);
    let ratio = |row: &&Value| Ratio {
        name: name(row),
        ratio: value(&row["ratio"]),
        low: value(&row["interval"][0]),
        high: value(&row["interval"][1]),
    };
    let meaning = "above 1 the scheduled program is faster; the line is the interval".into();
    RatioChart {
        title: title.into(),
        meaning,
        kind: Kind::Measured,
        rows: rows.iter().map(ratio).collect(),
    }
    .for_page()
}

/// The ratio by window, a line for each program.
fn window_chart(rows: &[Value]) -> LineChart {
    let name = |row: &Value| {
        format!("{} {} {}", text(row, "primitive"), text(row, "slicing"), text(row, "arch"))
    };
    let mut names: Vec<String> = rows.iter().map(name).collect();
    names.dedup();
    let line = |line: String| {
        let own = rows.iter().filter(|row| name(row) == line);
        let points = own
            .filter_map(|row| Some((row["look_behind"].as_f64()?, row["ratio"].as_f64()?)))
            .collect();
        Line { name: line, points }
    };
    LineChart {
        title: "The look-behind window".into(),
        kind: Kind::Measured,
        x: Axis { label: "equations".into(), log: false },
        y: Axis { label: "off / on".into(), log: false },
        lines: names.into_iter().map(line).collect(),
    }
}

/// Geometric means of each column of the tables: ours and the paper's, and cycles a byte of
/// ours and the original's.
fn means(rows: &[Value]) -> Vec<String> {
    let mean = |values: Vec<f64>| geometric_mean(&values);
    columns(rows)
        .into_iter()
        .map(|name| {
            let own: Vec<&Value> = rows.iter().filter(|row| column(row) == name).collect();
            let ours = mean(own.iter().filter_map(|r| r["ratio"].as_f64()).collect());
            let papers: Vec<f64> = own.iter().filter_map(|r| r["seed_ratio"].as_f64()).collect();
            let paper = if papers.is_empty() {
                String::new()
            } else {
                format!(", the paper's {:.3}", mean(papers))
            };
            let both: Vec<(f64, f64)> = own
                .iter()
                .filter_map(|row| Some((row["cycles_per_byte_on"].as_f64()?, original_on(row)?)))
                .collect();
            let absolute = if both.is_empty() {
                String::new()
            } else {
                let (ours, theirs) = (
                    mean(both.iter().map(|pair| pair.0).collect()),
                    mean(both.iter().map(|pair| pair.1).collect()),
                );
                format!(
                    "; cycles a byte {ours:.2}, the original's {theirs:.2} on a Zen 5 ({} rows)",
                    both.len()
                )
            };
            format!("geometric mean {name}: {ours:.3}{paper} ({} rows){absolute}", own.len())
        })
        .collect()
}

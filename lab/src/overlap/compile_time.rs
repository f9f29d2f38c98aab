//! What the plugin costs a compilation.

use std::path::PathBuf;

use super::compile_cost::{self, Cost, Extent};
use crate::evidence::Evidence;
use measure::stats;
use overlap::Mpi;
use overlap::mpi::{self, Language};
use report::page::Block;
use report::svg::{BarChart, Series};
use report::{Cell, Kind, Table};
use serde_json::{Map, Value, json};

use crate::store;
use meanwhile::overlap_cmd::options::{self, PluginOptions};
use terminal::output::{Failure, Output};

/// Lines of the program that is made where none is given.
const LINES: usize = 10_000;
/// Its lines for each call of MPI, from a code that communicates in a few places to one
/// that does so everywhere.
const LINES_A_CALL: [usize; 3] = [120, 60, 30];

/// Arguments of `meanwhile-lab run overlap-compile-time`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The MPI library; default: what `mpicc` is.
    #[arg(long, value_parser = options::mpi())]
    mpi: Option<Mpi>,
    /// Compilations without and with the plugin, in turn.
    #[arg(long, default_value_t = 15)]
    pairs: usize,
    /// Count the instructions of one compilation each, with valgrind, which takes 25 to
    /// 50 times as long.
    #[arg(long)]
    count: bool,
    #[command(flatten)]
    plugin_options: PluginOptions,
    /// The language of the given files.
    #[arg(long, default_value = "c", value_parser = ["c", "c++", "fortran"], requires = "arguments")]
    language: String,
    /// Write the results as evidence.
    #[arg(long, value_name = "FILE", conflicts_with = "PluginOptions")]
    out: Option<PathBuf>,
    /// Compiler arguments of a file, after `--`, such as `-O2 -c solver.c`, and of more files, each
    /// after `:::`; three made programs of 10,000 lines if none.
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    if args.pairs == 0 {
        return Err(Failure::user("a comparison needs a pair", None));
    }
    store::check(args.out.as_deref())?;
    let library = match args.mpi {
        Some(library) => library,
        None => mpi::which("mpicc").map_err(Failure::tool)?,
    };
    let extent =
        Extent { settings: args.plugin_options.settings(), pairs: args.pairs, count: args.count };
    let mut rows = Vec::new();
    if args.arguments.is_empty() {
        let progress = out.progress((LINES_A_CALL.len() * extent.steps()) as u64);
        for lines_a_call in LINES_A_CALL {
            progress.set_message(format!("a call every {lines_a_call} lines"));
            let made =
                compile_cost::measure_made(library, LINES, lines_a_call, &extent, &mut || {
                    progress.inc(1)
                });
            let (n_lines, cost) = made.map_err(Failure::tool)?;
            rows.push(object(
                library,
                &format!("made, a call every {lines_a_call} lines"),
                Some(n_lines),
                &cost,
            ));
        }
        progress.finish_and_clear();
    } else {
        let language = match args.language.as_str() {
            "c" => Language::C,
            "c++" => Language::Cxx,
            _ => Language::Fortran,
        };
        let files: Vec<&[String]> = args.arguments.split(|word| word == ":::").collect();
        if files.iter().any(|file| file.is_empty()) {
            return Err(Failure::user("there are no arguments beside a `:::`", None));
        }
        let progress = out.progress((files.len() * extent.steps()) as u64);
        for file in files {
            progress.set_message(short(file));
            let step = &mut || progress.inc(1);
            let cost = compile_cost::measure(language, library, file, &extent, step)
                .map_err(Failure::tool)?;
            rows.push(object(library, &short(file), None, &cost));
        }
        progress.finish_and_clear();
    }
    out.line(&table(&rows).terminal(None));
    if let Some(path) = &args.out {
        let count = if args.count { " --count" } else { "" };
        let given = args.arguments.iter().map(|word| format!(" {}", name(word)));
        let what = if args.arguments.is_empty() {
            String::new()
        } else {
            format!(" --language {} --{}", args.language, given.collect::<String>())
        };
        let command = format!(
            "meanwhile-lab run overlap-compile-time --mpi {} --pairs {}{count} --out FILE{what}",
            library.name(),
            args.pairs
        );
        let compiler = if args.language == "fortran" { "flang-new-19" } else { "clang-19" };
        store::store(path, Kind::Measured, (compiler, "--version"), &command, rows.clone())?;
    }
    out.object(&json!({"ok": true, "mpi": library.name(), "rows": rows}));
    Ok(())
}

/// Arguments as another machine would have them: a path is its last part.
fn short(arguments: &[String]) -> String {
    arguments.iter().map(|word| name(word)).collect::<Vec<_>>().join(" ")
}

fn name(word: &str) -> &str {
    match word.rsplit_once('/') {
        Some((_, name)) if !word.starts_with('-') => name,
        _ => word,
    }
}

fn object(library: Mpi, what: &str, lines: Option<usize>, cost: &Cost) -> Map<String, Value> {
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    let value = json!({
        "mpi": library.name(),
        "compiled": what,
        "lines": lines,
        "calls": cost.calls.sites,
        "converted": cost.calls.converted,
        "plain_s": rounded(cost.plain_s),
        "plugin_s": rounded(cost.plugin_s),
        "ratio": rounded(cost.ratio),
        "interval": (cost.pairs > 1).then(|| [rounded(cost.interval.0), rounded(cost.interval.1)]),
        "pairs": cost.pairs,
        "load": cost.load,
        "plain_instructions": cost.instructions.map(|instruction| instruction.0),
        "plugin_instructions": cost.instructions.map(|instruction| instruction.1),
        "instructions_ratio": cost.instructions.map(|(plain, plugin)| rounded(plugin as f64 / plain as f64)),
    });
    match value {
        Value::Object(map) => map,
        _ => unreachable!("the macro made an object"),
    }
}

pub fn committed(evidence: &Evidence) -> Vec<Block> {
    vec![Block::Text(evidence.origin()), Block::Table(table(&evidence.rows))]
}

/// Instructions with the plugin over those without: of real files, and of made programs.
pub fn chart(codes: &Evidence, made: &Evidence) -> BarChart {
    let rows = [codes.values(), made.values()].concat();
    let name = |row: &Value| {
        let compiled = row["compiled"].as_str().unwrap_or_default();
        // Of a file's arguments its name.
        let is_source = |word: &&str| word.contains('.') && !word.starts_with('-');
        let source = compiled.split(' ').find(is_source);
        source.unwrap_or(compiled).to_owned()
    };
    BarChart {
        title: "What the plugin costs a compilation".to_owned(),
        unit: "with / without: instructions".to_owned(),
        kind: Kind::Measured,
        groups: rows.iter().map(name).collect(),
        series: vec![Series {
            name: "instructions".to_owned(),
            values: rows.iter().map(|row| row["instructions_ratio"].as_f64()).collect(),
        }],
        log: false,
    }
}

fn table(rows: &[Map<String, Value>]) -> Table {
    let columns = [
        "compiled",
        "lines",
        "calls",
        "converted",
        "plain [s]",
        "plugin [s]",
        "ratio",
        "95 %",
        "pairs",
        "of instructions",
    ];
    let mut table = Table::new("what the plugin costs a compilation", &columns)
        .kind(Kind::Measured)
        .note("seconds: processor time of the compiler; ratio: with the plugin over without, above 1 is slower; of instructions: the same ratio of instructions, one compilation each, counted by valgrind");
    for row in rows {
        let end = |idx: usize| row["interval"][idx].as_f64().unwrap_or(f64::NAN);
        let mut cells = vec![Cell::words(row["compiled"].as_str().unwrap_or("-"))];
        cells.push(row["lines"].as_u64().map_or_else(|| Cell::words("-"), Cell::number));
        cells.extend(["calls", "converted"].map(|key| Cell::number(&row[key])));
        cells.extend(
            ["plain_s", "plugin_s"]
                .map(|key| Cell::number(format!("{:.2}", row[key].as_f64().unwrap_or(f64::NAN)))),
        );
        cells.push(Cell::number(format!("{:.3}", row["ratio"].as_f64().unwrap_or(f64::NAN))));
        cells.push(Cell::words(stats::interval_text(
            (end(0), end(1)),
            row["pairs"].as_u64().unwrap_or(0) as usize,
        )));
        cells.push(Cell::number(&row["pairs"]));
        cells.push(
            row["instructions_ratio"]
                .as_f64()
                .map_or_else(|| Cell::words("-"), |it| Cell::number(format!("{it:.3}"))),
        );
        table.push(cells);
    }
    table
}

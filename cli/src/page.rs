//! `meanwhile page`: what commands printed under `--json`, as a page to mail.

use std::path::{Path, PathBuf};

use report::number::count;
use report::page::{Block, Page, Section};
use report::svg::{BarChart, Chart, Series};
use report::view::{Figure, View};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use crate::output::{Failure, Output, check_writable, write_file};

/// Arguments of `meanwhile page`: results, and where the page goes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What a command printed under --json: `audit FILE --all-functions`, `cipher speed`,
    /// `overlap trace` or `cosched run`.
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<PathBuf>,
    /// The page; standard output unless given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A chart has no more rows; its table has all.
const ROWS_MAX: usize = 20;

/// What one result comes to.
struct Shown {
    /// The system whose result it is.
    of: &'static str,
    /// The command whose result it is.
    command: &'static str,
    sentence: String,
    note: String,
    kind: Kind,
    chart: BarChart,
    table: Table,
}

/// Each is tried in turn: the result is of the first whose keys it has.
const READERS: [fn(&Value) -> Option<Shown>; 4] = [functions, speeds, waits, turnarounds];

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        check_writable(path)?;
    } else if out.is_json() {
        let help = "-o FILE writes the page beside it";
        return Err(Failure::user("standard output has room for one thing", Some(help)));
    }
    let (mut views, mut sections) = (Vec::new(), Vec::new());
    for (idx, path) in args.results.iter().enumerate() {
        let (result, shown) = read(path)?;
        let id = format!("{}-{}", shown.of, idx + 1);
        let name = path.display().to_string();
        views.push(View {
            waits: name.clone(),
            sentence: shown.sentence,
            kind: shown.kind,
            note: shown.note,
            yours: None,
            figures: vec![Figure {
                id: format!("{id}-figure"),
                picture: shown.chart.for_page(),
                says: shown.chart.title.clone(),
                again: shown.command.to_owned(),
                numbers: result.to_string(),
            }],
            id,
        });
        sections.push(Section {
            title: format!("{}: {name}", shown.of),
            blocks: vec![Block::Table(shown.table)],
            parts: Vec::new(),
        });
    }
    let html = Page {
        title: "Results".to_owned(),
        intro: format!("By meanwhile {}.", env!("CARGO_PKG_VERSION")),
        other: None,
        views,
        sections,
    }
    .html();
    match &args.output {
        Some(path) => write_file(path, &html)?,
        None => out.text(&html),
    }
    let page = args.output.as_ref().map(|path| path.display().to_string());
    out.object(&json!({"ok": true, "page": page, "results": args.results.len()}));
    Ok(())
}

fn read(path: &Path) -> Result<(Value, Shown), Failure> {
    let shown = path.display();
    if !path.is_file() {
        return Err(Failure::user(format!("there is no file `{shown}`"), None));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::environment(format!("read {shown}"), error))?;
    let result: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::user(format!("`{shown}` is no JSON: {error}"), None))?;
    let Some(found) = READERS.iter().find_map(|reader| reader(&result)) else {
        let help = "`audit FILE --all-functions`, `cipher speed`, `overlap trace` and `cosched run` print one with --json";
        return Err(Failure::user(format!("`{shown}` is no result that has a page"), Some(help)));
    };
    Ok((result, found))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn fixed(value: &Value, digits: usize) -> Cell {
    Cell::number(value.as_f64().map_or_else(|| "-".to_owned(), |it| format!("{it:.digits$}")))
}

/// One bar a row, or one of each series.
fn bars(title: &str, unit: &str, kind: Kind, groups: Vec<String>, series: Vec<Series>) -> BarChart {
    BarChart { title: title.to_owned(), unit: unit.to_owned(), kind, groups, series, log: false }
}

/// The values of a key, one a row.
fn series(name: &str, rows: &[&Value], key: &str) -> Series {
    Series { name: name.to_owned(), values: rows.iter().map(|row| row[key].as_f64()).collect() }
}

/// `audit FILE --all-functions`: the worst come first.
fn functions(result: &Value) -> Option<Shown> {
    let rows = result["functions"].as_array().filter(|rows| !rows.is_empty())?;
    let cpu = result["cpu"].as_str()?;
    let first = &rows[0];
    let above = first["total_cycles"].as_u64()? - first["lower_bound"]["total"].as_u64()?;
    let mut table = Table::new(
        "All functions",
        &["function", "instructions", "hot", "cycles", "waiting", "lower bound"],
    )
    .kind(Kind::Model)
    .note(format!("cycles of the hot path on {cpu}"));
    for row in rows {
        let number = |value: &Value| fixed(value, 0);
        table.push(vec![
            Cell::words(text(&row["function"])),
            number(&row["instructions"]),
            number(&row["hot_instructions"]),
            number(&row["total_cycles"]),
            number(&row["stall_cycles"]),
            number(&row["lower_bound"]["total"]),
        ]);
    }
    let top: Vec<&Value> = rows.iter().take(ROWS_MAX).collect();
    let names = top.iter().map(|row| text(&row["function"]).to_owned()).collect();
    let split =
        vec![series("to issue", &top, "issue_cycles"), series("waiting", &top, "stall_cycles")];
    Some(Shown {
        of: "audit",
        command: "meanwhile audit FILE --all-functions --json",
        sentence: format!(
            "Of {} of {} on {cpu} `{}` loses most: its hot path takes {}, {above} more than any order of its instructions has to.",
            count(rows.len(), "function"),
            text(&result["file"]),
            text(&first["function"]),
            count(first["total_cycles"].as_u64()? as usize, "cycle")
        ),
        note: "A model of the core, without caches; `meanwhile audit FILE --function NAME` explains one.".to_owned(),
        kind: Kind::Model,
        chart: bars("Cycles of the hot path, the worst first", "cycles", Kind::Model, names, split),
        table,
    })
}

/// `cipher speed`: the fastest come first.
fn speeds(result: &Value) -> Option<Shown> {
    let mut rows: Vec<&Value> = result["rows"]
        .as_array()?
        .iter()
        .filter(|row| row["cycles_per_byte"].is_number() && row["primitive"].is_string())
        .collect();
    rows.sort_by(|a, b| {
        let cycles = |row: &Value| row["cycles_per_byte"].as_f64().unwrap_or(f64::MAX);
        cycles(a).total_cmp(&cycles(b))
    });
    let first = rows.first()?;
    let way = |row: &Value| {
        let words = ["primitive", "slicing", "arch", "cc"].map(|key| text(&row[key]));
        words.join(" ").trim().to_owned()
    };
    let mut table = Table::new(
        "Cycles a byte",
        &["primitive", "slicing", "target", "compiler", "cycles a byte"],
    )
    .kind(Kind::Measured);
    for row in &rows {
        let word = |key: &str| Cell::words(text(&row[key]));
        let cycles = fixed(&row["cycles_per_byte"], 2);
        table.push(vec![word("primitive"), word("slicing"), word("arch"), word("cc"), cycles]);
    }
    let top = &rows[..rows.len().min(ROWS_MAX)];
    let names = top.iter().map(|row| way(row)).collect();
    let values = vec![series("cycles a byte", top, "cycles_per_byte")];
    let cpu = text(&result["machine"]["cpu"]);
    Some(Shown {
        of: "cipher",
        command: "meanwhile cipher speed NAME --json",
        sentence: format!(
            "{} takes {:.2} cycles a byte, the least of {} that were measured.",
            way(first),
            first["cycles_per_byte"].as_f64()?,
            count(rows.len(), "way")
        ),
        note: format!("Emitted constant-time code on {cpu}; no rival was measured beside it."),
        kind: Kind::Measured,
        chart: bars(
            "Cycles a byte, the fastest first",
            "cycles/byte",
            Kind::Measured,
            names,
            values,
        ),
        table,
    })
}

/// `overlap trace`: the calls that wait longest come first.
fn waits(result: &Value) -> Option<Shown> {
    let rows: Vec<&Value> = result["lost"].as_array()?.iter().collect();
    let bound = &result["bound"];
    let (wall, inside) = (bound["wall_s"].as_f64()?, bound["mpi_s"].as_f64()?);
    let site = |row: &Value| {
        let file = text(&row["file"]).rsplit('/').next().unwrap_or_default();
        match file {
            "" => format!("{} {}", text(&row["call"]), text(&row["function"])),
            file => format!("{} {file}:{}", text(&row["call"]), row["line"]),
        }
    };
    let mut table =
        Table::new("Time inside MPI", &["call", "count", "bytes each", "seconds", "of the run %"])
            .kind(Kind::Measured)
            .note("means over ranks");
    for row in &rows {
        let share = json!(row["share"].as_f64().map(|share| 100.0 * share));
        table.push(vec![
            Cell::words(site(row)),
            fixed(&row["count"], 0),
            fixed(&row["bytes"], 0),
            fixed(&row["seconds"], 3),
            fixed(&share, 1),
        ]);
    }
    let top = &rows[..rows.len().min(ROWS_MAX)];
    let names = top.iter().map(|row| site(row)).collect();
    let values = vec![series("seconds inside MPI", top, "seconds")];
    Some(Shown {
        of: "overlap",
        command: "meanwhile overlap trace --json --out FILE -- mpirun ...",
        sentence: format!(
            "Of {wall:.2} s a rank spends {inside:.2} s inside MPI in the mean, {:.0} %; not all of it is waiting.",
            100.0 * inside / wall
        ),
        note: bound["speedup"].as_f64().map_or_else(String::new, |most| {
            format!("If no rank waited while it has work, the run would be {most:.2} times as fast at most.")
        }),
        kind: Kind::Measured,
        chart: bars("Where ranks wait", "s", Kind::Measured, names, values),
        table,
    })
}

/// `cosched run`: each policy beside plain Linux, if that ran.
fn turnarounds(result: &Value) -> Option<Shown> {
    let all = result["rows"].as_array()?;
    let is_it = |row: &&Value| row["policy"].is_string() && row["turnaround_s"].is_number();
    let rows: Vec<&Value> = all.iter().filter(is_it).collect();
    let names_of = |key: &str| {
        let mut names: Vec<String> = rows.iter().map(|row| text(&row[key]).to_owned()).collect();
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    };
    let (policies, programs) = (names_of("policy"), names_of("program"));
    let policy = policies.first()?;
    let mut table = Table::new("Programs", &["policy", "program", "turnaround s", "linux over it"])
        .kind(Kind::Measured);
    for row in &rows {
        table.push(vec![
            Cell::words(text(&row["policy"])),
            Cell::words(text(&row["program"])),
            fixed(&row["turnaround_s"], 2),
            fixed(&row["ratio_to_linux"], 2),
        ]);
    }
    let of = |policy: &String| {
        let value = |program: &String| {
            let is_it = |row: &&&Value| row["policy"] == **policy && row["program"] == **program;
            rows.iter().find(is_it)?["turnaround_s"].as_f64()
        };
        Series { name: policy.clone(), values: programs.iter().map(value).collect() }
    };
    let beside: Vec<(f64, &str)> = rows
        .iter()
        .filter(|row| row["policy"] == **policy && *policy != "linux")
        .filter_map(|row| Some((1.0 / row["ratio_to_linux"].as_f64()?, text(&row["program"]))))
        .collect();
    let worst = beside.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let sentence = match worst {
        Some((most, program)) => {
            let mean = beside.iter().map(|(it, _)| it.ln()).sum::<f64>() / beside.len() as f64;
            format!(
                "Under {policy} programs take {:.2} of their time under plain Linux, geometric mean; `{program}` takes most of it, {most:.2}.",
                mean.exp()
            )
        }
        None => format!(
            "Programs under {policy}; nothing was run under plain Linux beside it (`--compare`)."
        ),
    };
    Some(Shown {
        of: "cosched",
        command: "meanwhile cosched run --compare --json -- ...",
        sentence,
        note: "Seconds from a program's start to its end.".to_owned(),
        kind: Kind::Measured,
        chart: bars(
            "Turnaround",
            "s",
            Kind::Measured,
            programs.clone(),
            policies.iter().map(of).collect(),
        ),
        table,
    })
}

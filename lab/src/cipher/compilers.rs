//! All primitives and modes with each installed C compiler, checked for branches and addresses that
//! depend on a secret.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::evidence::Evidence;
use cipher::constant_time::{self, Cell as Program, ConstantTimeVerdict, OPTS};
use cipher::library::primitives;
use cipher::native;
use measure::machine;
use report::page::Block;
use report::{Cell, Kind, Table, did_you_mean};
use serde_json::{Value, json};

use crate::store::Store;
use crate::study;
use terminal::machine_here;
use terminal::output::{Failure, Output};

/// Arguments of `meanwhile-lab run cipher-compilers`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives; all if none is named.
    names: Vec<String>,
    /// A C compiler, several times for several [default: each of gcc, gcc-12, gcc-14, clang-14,
    /// -15, -16, -19, -22 that is installed].
    #[arg(long, value_name = "PROGRAM")]
    cc: Vec<String>,
    /// Its flags in one word, such as `-O2`; several times for several [default:
    /// -O1, -O2, -O3, -Os].
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    opt: Vec<String>,
    /// Programs compiled and checked at the same time.
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Evidence file; rows that it already has are not made again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    for name in &args.names {
        if !primitives().iter().any(|p| p.name == *name) {
            let help = did_you_mean(name, primitives().iter().map(|p| p.name.as_str()));
            return Err(Failure::user(format!("there is no primitive `{name}`"), help.as_deref()));
        }
    }
    let compilers: Vec<&str> = if args.cc.is_empty() {
        constant_time::compilers_here()
    } else {
        args.cc.iter().map(String::as_str).collect()
    };
    if compilers.is_empty() {
        return Err(Failure::user("there is no C compiler here", Some("name one with --cc")));
    }
    let opts: Vec<&str> = if args.opt.is_empty() {
        OPTS.to_vec()
    } else {
        args.opt.iter().map(String::as_str).collect()
    };
    let mut cells = constant_time::cells(&args.names, &compilers, &opts);
    cells.retain(|cell| native::missing_feature(cell.arch).is_none());
    let rows = watched(&cells, &compilers, &args, out)?;
    out.line(&table(&rows).terminal(None));
    let dirty: Vec<&Value> = rows.iter().filter(|row| row["verdict"] != "clean").collect();
    for row in &dirty {
        let [name, target, cc, opt, first] =
            [title(row), text(row, "arch"), text(row, "cc"), text(row, "opt"), text(row, "first")];
        out.line(&format!("not constant time: {name} {target} {cc} {opt}: {first}"));
    }
    out.object(&json!({"ok": dirty.is_empty(), "machine": machine_here(), "rows": rows}));
    if dirty.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// A row for each program; those in the evidence file are not made again.
fn watched(
    cells: &[Program],
    compilers: &[&str],
    args: &Args,
    out: &Output,
) -> Result<Vec<Value>, Failure> {
    let mut versions = Vec::new();
    for cc in compilers {
        versions.push((*cc, machine::version(cc, &["--version"]).map_err(Failure::tool)?));
    }
    let version =
        |cc: &str| versions.iter().find(|version| version.0 == cc).map_or("", |version| &version.1);
    let store =
        Store::open(args.out.clone(), "meanwhile-lab run cipher-compilers --out FILE".to_string())?;
    let store = Mutex::new(
        store.with_compilers(versions.iter().map(|version| version.1.clone()).collect()),
    );
    let bar = out.progress(cells.len() as u64);
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(cell) = cells.get(at).filter(|_| failed.lock().expect(UNPOISONED).is_none())
            else {
                return;
            };
            bar.set_message(format!("{} {} {}", cell.primitive, cell.cc, cell.opt));
            if !store.lock().expect(UNPOISONED).has(cell) {
                let pushed =
                    constant_time::watch_cell(cell).map_err(Failure::tool).and_then(|verdict| {
                        store.lock().expect(UNPOISONED).push(row(cell, &verdict, version(&cell.cc)))
                    });
                if let Err(failure) = pushed {
                    *failed.lock().expect(UNPOISONED) = Some(failure);
                }
            }
            bar.inc(1);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            std::thread::Builder::new()
                .stack_size(64 << 20)
                .spawn_scoped(scope, work)
                .expect("a thread starts");
        }
    });
    bar.finish_and_clear();
    if let Some(failure) = failed.into_inner().expect(UNPOISONED) {
        return Err(failure);
    }
    let store = store.into_inner().expect(UNPOISONED);
    Ok(cells.iter().filter_map(|cell| store.find(cell).cloned()).collect())
}

const UNPOISONED: &str = "no thread panics with the lock";

fn row(cell: &Program, verdict: &ConstantTimeVerdict, version: &str) -> Value {
    study::row(&study::row(cell, &json!({"version": version})), &json!(verdict))
}

fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_string()
}

/// The primitive, with its mode.
fn title(row: &Value) -> String {
    match row["mode"].as_str() {
        Some(mode) => format!("{} {mode}", text(row, "primitive")),
        None => text(row, "primitive"),
    }
}

/// The values of a key, each once, in the order of the rows.
fn distinct(rows: &[Value], key: impl Fn(&Value) -> String) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for value in rows.iter().map(key) {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// A line for each primitive and mode, a column for each compiler.
fn table(rows: &[Value]) -> Table {
    let compilers = distinct(rows, |row| text(row, "cc"));
    let opts = distinct(rows, |row| text(row, "opt")).join(", ");
    let columns: Vec<&str> = ["program", "slicing", "target"]
        .into_iter()
        .chain(compilers.iter().map(String::as_str))
        .collect();
    let note = format!(
        "valgrind follows undefined keys and data; clean: no branch and no address depends on them, at {opts}"
    );
    let mut table =
        Table::new("What C compilers keep constant-time", &columns).kind(Kind::Measured).note(note);
    for name in distinct(rows, title) {
        let own: Vec<&Value> = rows.iter().filter(|row| title(row) == name).collect();
        let mut cells = vec![
            Cell::words(&name),
            Cell::words(text(own[0], "slicing")),
            Cell::words(text(own[0], "arch")),
        ];
        for cc in &compilers {
            let of_compiler: Vec<&&Value> =
                own.iter().filter(|row| text(row, "cc") == *cc).collect();
            let dirty: Vec<String> = of_compiler
                .iter()
                .filter(|row| row["verdict"] != "clean")
                .map(|row| text(row, "opt"))
                .collect();
            cells.push(Cell::words(match (of_compiler.is_empty(), dirty.is_empty()) {
                (true, _) => "-".to_string(),
                (false, true) => "clean".to_string(),
                (false, false) => format!("not at {}", dirty.join(" ")),
            }));
        }
        table.push(cells);
    }
    table
}

pub fn committed(evidence: &Evidence) -> Vec<Block> {
    let rows = evidence.values();
    vec![Block::Text(evidence.origin()), Block::Table(table(&rows))]
}

//! `meanwhile cipher test`: published vectors through emitted C, two compilers at a time.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cipher::emit_c::Arch;
use cipher::native::Cc;
use cipher::options::{Emit, Slicing};
use cipher::suite::{self, Filter, Outcome, SuiteRow};
use measure::tool::ToolError;
use report::{Cell, Table};
use serde_json::{Value, json};

use super::options;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cipher test`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives, or Usuba files with layout and vectors beside them; all primitives
    /// if none is named.
    names: Vec<String>,
    /// Every combination, instead of a subset that has every primitive, slicing, target and compiler;
    /// a second run continues a stopped one.
    #[arg(long)]
    matrix: bool,
    /// Only this mode: `aead`, `hash` or `xof` of ascon-p12.
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// Only this slicing.
    #[arg(long, value_parser = options::slicing())]
    slicing: Option<Slicing>,
    /// Only this target.
    #[arg(long, value_name = "ARCH", value_parser = options::arch())]
    arch: Option<Arch>,
    /// Only this compiler.
    #[arg(long, value_parser = options::cc())]
    cc: Option<Cc>,
    /// The back end: our assembly with C around it, C alone, or whichever the model prefers.
    #[arg(long, default_value = "c", value_parser = options::emit())]
    emit: Emit,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    options::check_names(&args.names)?;
    for name in &args.names {
        suite::vectors(name).map_err(|why| {
            Failure::user(
                why,
                Some("vectors of FILE.ua lie in FILE.json; docs/format/ciphers.md has the form"),
            )
        })?;
    }
    let filter = Filter {
        names: args.names.clone(),
        mode: args.mode.clone(),
        slicing: args.slicing,
        arch: args.arch,
        cc: args.cc,
        unroll: None,
        emit: args.emit,
    };
    options::check_emit(args.emit, args.arch)?;
    let rows = if args.matrix { suite::matrix(&filter) } else { suite::covering(&filter) };
    if rows.is_empty() {
        let help = match &args.mode {
            Some(_) => "`aead`, `hash` and `xof` of ascon-p12 have published vectors",
            None => "`meanwhile cipher list` shows the slicings of each primitive",
        };
        return Err(Failure::user("no combination is left to test", Some(help)));
    }
    let jobs = std::thread::available_parallelism().map_or(1, NonZero::get);
    let results = test_all(&rows, jobs, out)?;
    show(&rows, &results, out)
}

/// Tests the rows on `n_jobs` threads. Passed rows are remembered by their compiled programs, so
/// that a second run only runs them.
fn test_all(rows: &[SuiteRow], n_jobs: usize, out: &Output) -> Result<Vec<Outcome>, Failure> {
    let bar = out.progress(rows.len() as u64);
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; rows.len()]);
    let failed: Mutex<Option<ToolError>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..n_jobs {
            let work = || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= rows.len()
                        || failed.lock().expect("no thread panics with the lock").is_some()
                    {
                        return;
                    }
                    let row = &rows[at];
                    bar.set_message(format!(
                        "{} {} {} {}",
                        row.primitive,
                        row.slicing.letter(),
                        row.arch.name(),
                        row.cc.name()
                    ));
                    match suite::test(row) {
                        Ok(outcome) => {
                            results.lock().expect("no thread panics with the lock")[at] =
                                Some(outcome)
                        }
                        Err(error) => {
                            *failed.lock().expect("no thread panics with the lock") = Some(error)
                        }
                    }
                    bar.inc(1);
                }
            };
            std::thread::Builder::new()
                .stack_size(64 << 20)
                .spawn_scoped(scope, work)
                .expect("a thread starts");
        }
    });
    bar.finish_and_clear();
    if let Some(error) = failed.into_inner().expect("the threads are done") {
        return Err(Failure::tool(error));
    }
    let results = results.into_inner().expect("the threads are done");
    Ok(results.into_iter().map(|r| r.expect("every row was tested")).collect())
}

fn show(rows: &[SuiteRow], results: &[Outcome], out: &mut Output) -> Result<(), Failure> {
    let mut table = Table::new(
        "Published vectors through emitted C",
        &["primitive", "slicings", "targets", "passed", "failed", "skipped"],
    );
    let count = |name: Option<&str>, kind: fn(&Outcome) -> bool| {
        rows.iter()
            .zip(results)
            .filter(|(row, result)| name.is_none_or(|n| title(row) == n) && kind(result))
            .count()
    };
    let is_passed: fn(&Outcome) -> bool = |o| *o == Outcome::Passed;
    let is_failed: fn(&Outcome) -> bool = |o| matches!(o, Outcome::Failed(_));
    let is_skipped: fn(&Outcome) -> bool = |o| matches!(o, Outcome::Skipped(_));
    for name in distinct_list(rows.iter().map(title).collect()) {
        let own: Vec<&SuiteRow> = rows.iter().filter(|row| title(row) == name).collect();
        table.push(vec![
            Cell::words(&name),
            Cell::words(distinct(own.iter().map(|r| r.slicing.letter()))),
            Cell::words(distinct(own.iter().map(|r| r.arch.name()))),
            Cell::number(count(Some(&name), is_passed).to_string()),
            Cell::number(count(Some(&name), is_failed).to_string()),
            Cell::number(count(Some(&name), is_skipped).to_string()),
        ]);
    }
    out.line(&table.terminal(None));
    for (row, result) in rows.iter().zip(results) {
        if let Outcome::Failed(why) = result {
            let (slicing, arch, cc) = (row.slicing.letter(), row.arch.name(), row.cc.name());
            out.line(&format!(
                "failed: {} --slicing {slicing} --arch {arch} --cc {cc}: {why}",
                title(row)
            ));
        }
    }
    let skipped: Vec<String> = rows.iter().zip(results).filter_map(skip_text).collect();
    note_skips(&distinct_list(skipped), out)?;
    let (passed, failed, n_skipped) =
        (count(None, is_passed), count(None, is_failed), count(None, is_skipped));
    out.line(&format!("{passed} passed, {failed} failed, {n_skipped} skipped"));
    out.object(&json!({"ok": failed == 0, "passed": passed, "failed": failed, "skipped": n_skipped, "rows": rows.iter().zip(results).map(row_json).collect::<Vec<_>>()}));
    if failed > 0 { Err(Failure::Reported) } else { Ok(()) }
}

/// The primitive, or its mode.
fn title(row: &SuiteRow) -> String {
    row.mode
        .as_ref()
        .map_or_else(|| row.primitive.clone(), |mode| format!("{} --mode {mode}", row.primitive))
}

fn row_json((row, result): (&SuiteRow, &Outcome)) -> Value {
    let mut value = serde_json::to_value(row).expect("rows are plain data");
    value["passed"] = json!(*result == Outcome::Passed);
    match result {
        Outcome::Passed => {}
        Outcome::Failed(why) => value["why"] = json!(why),
        Outcome::Skipped(feature) => {
            value["skipped"] = json!(format!("the processor has no {feature}"))
        }
    }
    value
}

fn skip_text((row, result): (&SuiteRow, &Outcome)) -> Option<String> {
    let Outcome::Skipped(feature) = result else { return None };
    Some(format!("cipher test --arch {}: the processor has no {feature}", row.arch.name()))
}

/// Adds what was skipped to the list of the enclosing test run.
fn note_skips(skipped: &[String], out: &mut Output) -> Result<(), Failure> {
    for text in skipped {
        out.line(&format!("skipped: {text}"));
    }
    let Some(path) =
        std::env::var_os("MEANWHILE_SKIPS").filter(|p| !p.is_empty()).map(PathBuf::from)
    else {
        return Ok(());
    };
    if skipped.is_empty() {
        return Ok(());
    }
    let text: String = skipped.iter().map(|s| format!("{s}\n")).collect();
    cipher::native::append(&path, &text).map_err(Failure::tool)
}

fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> String {
    distinct_list(values.map(str::to_string).collect()).join(" ")
}

fn distinct_list(values: Vec<String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

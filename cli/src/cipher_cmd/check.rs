//! Door: `meanwhile cipher check`: all errors of a program in one run, or a verdict for each
//! program of a folder.

use std::path::{Path, PathBuf};

use cipher::library;
use cipher::unit::Subject;
use report::{Cell, Diagnostic, Table};
use serde_json::{Value, json};

use super::constant_time;
use super::options::Which;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile cipher check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    constant_time: constant_time::ConstantTime,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let path = Path::new(&args.which.subject);
    if path.is_dir() && library::primitive(&args.which.subject).is_none() {
        if args.constant_time.wanted() {
            return Err(Failure::user(
                "--constant-time is for one program",
                Some("name one of the files"),
            ));
        }
        return folder(path, &args.which, out);
    }
    let subject = args.which.load_quietly()?;
    if args.constant_time.wanted() {
        return constant_time::run(&args.constant_time, &subject, out);
    }
    for warning in &subject.warnings {
        out.warning(&warning.remark());
    }
    let slicings = subject.compiling().map_err(Failure::User)?;
    out.line(&format!(
        "{}: ok, entry `{}`, slicings {}",
        args.which.subject,
        subject.entry,
        slicings.join(" ")
    ));
    let warnings = objects(&subject.warnings);
    out.object(&json!({"ok": true, "errors": [], "warnings": warnings, "entry": subject.entry, "slicings": slicings}));
    Ok(())
}

fn objects(said: &[Diagnostic]) -> Vec<Value> {
    said.iter().map(Diagnostic::to_json).collect()
}

/// The result for one file.
struct Verdict {
    file: String,
    checked: Result<(Subject, Vec<&'static str>), Vec<Diagnostic>>,
}

fn folder(folder: &Path, which: &Which, out: &mut Output) -> Result<(), Failure> {
    if which.entry.is_some() || which.layout.is_some() {
        return Err(Failure::user(
            "--entry and --layout are for one file, and each file of a folder has its own",
            None,
        ));
    }
    let mut files = Vec::new();
    programs(folder, &mut files)?;
    files.sort();
    if files.is_empty() {
        return Err(Failure::user(
            format!("`{}` has no Usuba file", folder.display()),
            Some("their names end in `.ua`"),
        ));
    }
    let bar = out.progress(files.len() as u64);
    let verdict = |path: &PathBuf| {
        let checked = Subject::file(path, &which.include, None).and_then(|subject| {
            let slicings = subject.compiling()?;
            Ok((subject, slicings))
        });
        bar.inc(1);
        Verdict { file: path.strip_prefix(folder).unwrap_or(path).display().to_string(), checked }
    };
    let verdicts: Vec<Verdict> = files.iter().map(verdict).collect();
    bar.finish_and_clear();
    let n_bad = verdicts.iter().filter(|verdict| verdict.checked.is_err()).count();
    out.text(&table(&verdicts).terminal(None));
    out.line(&format!("{} of {} are right", verdicts.len() - n_bad, verdicts.len()));
    out.object(
        &json!({"ok": n_bad == 0, "files": verdicts.iter().map(object).collect::<Vec<_>>()}),
    );
    if n_bad == 0 { Ok(()) } else { Err(Failure::Reported) }
}

/// All Usuba files of a folder and of those in it; a link to a folder is not followed.
fn programs(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::environment(format!("read {}", folder.display()), error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if entry.file_type().map_err(failed)?.is_dir() {
            programs(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "ua") {
            files.push(path);
        }
    }
    Ok(())
}

fn table(verdicts: &[Verdict]) -> Table {
    let mut table = Table::new(
        "Usuba programs",
        &["file", "verdict", "entry", "slicings", "warnings", "first error"],
    );
    for it in verdicts {
        let row = match &it.checked {
            Ok((subject, slicings)) => {
                let n_warnings = subject.warnings.len().to_string();
                [
                    "ok".to_owned(),
                    subject.entry.clone(),
                    slicings.join(" "),
                    n_warnings,
                    String::new(),
                ]
            }
            Err(errors) => {
                let first = errors.first().map_or(String::new(), one_line);
                ["error".to_owned(), String::new(), String::new(), String::new(), first]
            }
        };
        table.push(
            std::iter::once(Cell::words(it.file.as_str()))
                .chain(row.into_iter().map(Cell::words))
                .collect(),
        );
    }
    table
}

/// The place and the message of an error, for a table.
fn one_line(error: &Diagnostic) -> String {
    let value = error.to_json();
    match (value["line"].as_u64(), value["column"].as_u64()) {
        (Some(line), Some(column)) => format!("{line}:{column}: {}", error.message),
        _ => error.message.clone(),
    }
}

fn object(it: &Verdict) -> Value {
    match &it.checked {
        Ok((subject, slicings)) => json!({
            "file": it.file, "ok": true, "errors": [], "warnings": objects(&subject.warnings), "entry": subject.entry, "slicings": slicings,
        }),
        Err(errors) => json!({
            "file": it.file, "ok": false, "errors": objects(errors), "warnings": [], "entry": null, "slicings": [],
        }),
    }
}

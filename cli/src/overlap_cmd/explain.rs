//! `meanwhile overlap explain`: which calls were converted, which were not, and why.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use overlap::remarks::{self, Notes, Row};
use report::{Cell, Kind, Table};
use serde_json::json;

use crate::output::{Failure, Output};

const HELP: &str = "compile with `meanwhile overlap cc`, which writes FILE.opt.yaml beside each object";

/// Arguments of `meanwhile overlap explain`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A remark file, or a folder with remark files anywhere below.
    path: PathBuf,
    /// Only the counts.
    #[arg(long)]
    summary: bool,
    /// The folder that source files are relative to.
    #[arg(long, value_name = "DIR", default_value = ".")]
    source: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::user(format!("cannot read `{}`: {error}", args.path.display()), None);
    let notes = remarks::notes(&args.path).map_err(cannot)?;
    let rows = if notes.crashes.is_empty() { read(&args.path)? } else { read_any(&args.path)? };
    if !args.summary {
        for (file, rows) in by_file(&rows) {
            out.text(&listing(&args.source, file, &rows));
        }
    }
    out.line(&table(&rows, &notes).terminal(None));
    for (program, why) in &notes.switched_off {
        out.line(&format!("{}: all its calls stay blocking when it runs, because it uses {}", program.display(), why.join(" and ")));
    }
    for script in &notes.crashes {
        out.line(&format!("compiled without the plugin, with which the compiler failed: {} reproduces it", script.display()));
    }
    let mut object = remarks::to_json(&rows);
    object["without_plugin"] = notes.crashes.iter().map(|it| it.display().to_string()).collect();
    object["switched_off"] = notes.switched_off.iter().map(|(it, why)| json!({"program": it.display().to_string(), "why": why})).collect();
    out.object(&object);
    Ok(())
}

/// All remarks at `path`.
pub fn read(path: &Path) -> Result<Vec<Row>, Failure> {
    let found = remarks::files(path).map_err(|error| Failure::user(format!("cannot read `{}`: {error}", path.display()), Some(HELP)))?;
    if found.is_empty() {
        return Err(Failure::user(format!("there are no .opt.yaml files in `{}`", path.display()), Some(HELP)));
    }
    rows_of(&found)
}

/// The same where there may be none.
fn read_any(path: &Path) -> Result<Vec<Row>, Failure> {
    rows_of(&remarks::files(path).unwrap_or_default())
}

fn rows_of(found: &[PathBuf]) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for file in found {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::user(format!("cannot read `{}`: {error}", file.display()), Some(HELP)))?;
        let more = remarks::parse(&text).map_err(|said| Failure::user(format!("{}: {said}", file.display()), Some(HELP)))?;
        rows.extend(more);
    }
    rows.sort();
    Ok(rows)
}

fn by_file(rows: &[Row]) -> BTreeMap<&str, Vec<&Row>> {
    let mut files: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        files.entry(&row.file).or_default().push(row);
    }
    files
}

/// The remarks of one file, each under its source line.
fn listing(folder: &Path, file: &str, rows: &[&Row]) -> String {
    let source = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let lines: Vec<&str> = source.lines().collect();
    let mut text = format!("{}\n", if file.is_empty() { "(no file known: compile with -g)" } else { file });
    for row in rows {
        let line = usize::try_from(row.line).ok().and_then(|it| lines.get(it.checked_sub(1)?));
        if let Some(line) = line {
            text += &format!("{:>6} | {}\n", row.line, line.trim());
        } else {
            text += &format!("{:>6} |\n", row.line);
        }
        text += &format!("       {} {}\n", if row.converted { "+" } else { "-" }, row.sentence);
    }
    text + "\n"
}

/// Sites, converted, refused by reason.
fn table(rows: &[Row], notes: &Notes) -> Table {
    let summary = remarks::summary(rows);
    let mut table = Table::new("sites", &["what", "number"]).kind(Kind::Model).note("window in weighted instructions, from the compiler");
    let mut row = |what: &str, number: String| table.push(vec![Cell::words(what), Cell::number(number)]);
    row("sites", summary.sites.to_string());
    // Which program an object became part of, nobody knows here.
    let all_off = if notes.switched_off.is_empty() { "converted" } else { "converted, but blocking in the programs named below" };
    row(all_off, summary.converted.to_string());
    if !notes.crashes.is_empty() {
        row("compiled without the plugin", notes.crashes.len().to_string());
    }
    if summary.polling_loops > 0 {
        row("loops that poll", summary.polling_loops.to_string());
    }
    if let Some(mean) = summary.mean_window {
        row("mean window", format!("{mean:.0}"));
    }
    for (reason, count) in &summary.refused {
        row(&format!("refused: {reason}"), count.to_string());
    }
    table
}

//! `meanwhile overlap explain`: which calls were converted, which were not, and why.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use overlap::remarks::{self, Notes, Row};
use overlap::trace::Lost;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use crate::output::{Failure, Output};

const HELP: &str = "compile with `meanwhile overlap cc`, which writes .overlap/FILE.opt.yaml beside each object; CMake takes its wrapper as \
                    CMAKE_C_COMPILER, not as MPI_C_COMPILER";

/// Arguments of `meanwhile overlap explain`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A remark file, or a folder with remark files anywhere below.
    path: PathBuf,
    /// Only the counts.
    #[arg(long)]
    summary: bool,
    /// What `trace --json` printed for the same program: what each call cost, and
    /// what became of it.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Where source files are looked for, and above.
    #[arg(long, value_name = "DIR", default_value = ".")]
    source: PathBuf,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| {
        Failure::user(format!("cannot read `{}`: {error}", args.path.display()), None)
    };
    let notes = remarks::notes(&args.path).map_err(cannot)?;
    let rows = if notes.crashes.is_empty() { read(&args.path)? } else { read_any(&args.path)? };
    let lost = args.trace.as_deref().map(lost).transpose()?;
    if !args.summary && lost.is_none() {
        for (file, rows) in by_file(&rows) {
            out.text(&listing([&args.source, &args.path], file, &rows));
        }
    }
    if let Some(lost) = &lost {
        out.text(&costs(lost, &rows));
    }
    out.line(&table(&rows, &notes).terminal(None));
    for (program, why) in &notes.switched_off {
        out.line(&format!(
            "{}: all its calls stay blocking when it runs, because it uses {}",
            program.display(),
            why.join(" and ")
        ));
    }
    for script in &notes.crashes {
        out.line(&format!(
            "compiled without the plugin, with which the compiler failed: {} reproduces it",
            script.display()
        ));
    }
    let gone = remarks::gone(&remarks::files(&args.path).unwrap_or_default());
    if let [first, rest @ ..] = gone.as_slice() {
        let others =
            if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let first = first.display();
        out.line(&format!("counted, but not there any more: {first}{others}; if they were replaced, remove their remarks and build again"));
    }
    let mut object = remarks::to_json(&rows);
    object["gone"] = gone.iter().map(|path| path.display().to_string()).collect();
    object["without_plugin"] =
        notes.crashes.iter().map(|crash| crash.display().to_string()).collect();
    object["switched_off"] = notes
        .switched_off
        .iter()
        .map(|(it, why)| json!({"program": it.display().to_string(), "why": why}))
        .collect();
    if let Some(lost) = &lost {
        object["lost"] = lost.iter().map(|site| cost(site, &rows)).collect();
    }
    out.object(&object);
    Ok(())
}

/// What each site cost, from what `trace --json` printed.
fn lost(path: &Path) -> Result<Vec<Lost>, Failure> {
    let wrong = |said: String| {
        let help = "it is what `meanwhile overlap trace --json` prints";
        Failure::user(format!("cannot use `{}`: {said}", path.display()), Some(help))
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    // The program's own output may stand before.
    let object = text
        .lines()
        .rfind(|line| line.starts_with('{'))
        .ok_or_else(|| wrong("there is no object in it".to_owned()))?;
    let value: Value = serde_json::from_str(object).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_value(value["lost"].clone()).map_err(|error| wrong(error.to_string()))
}

/// The remark about a site. Compilers name a file as they were given it, debug information
/// by a longer path.
fn remark_of<'a>(site: &Lost, rows: &'a [Row]) -> Option<&'a Row> {
    let is_same = |a: &str, b: &str| {
        !a.is_empty() && !b.is_empty() && (Path::new(a).ends_with(b) || Path::new(b).ends_with(a))
    };
    let mut found = rows.iter().filter(|row| {
        row.call == site.call && row.line == site.line && is_same(&row.file, &site.file)
    });
    let first = found.clone().next();
    // A function that was copied has several; where one was converted, the trace books what it
    // costs there.
    found.find(|found| found.converted).or(first)
}

fn cost(site: &Lost, rows: &[Row]) -> Value {
    let remark = remark_of(site, rows);
    let mut object = serde_json::to_value(site).expect("sites are plain");
    object["converted"] = remark.map(|remark| remark.converted).into();
    object["reason"] = remark.and_then(|remark| remark.reason.clone()).into();
    object["sentence"] = remark.map(|remark| remark.sentence.clone()).into();
    object
}

/// Sites of less time are left out of the text, as a part of the run.
const SHARE_MIN: f64 = 0.001;

/// The sites that took most time inside MPI first, each with its remark.
fn costs(lost: &[Lost], rows: &[Row]) -> String {
    let mut text = String::from("    time  of the run  site\n");
    for site in lost.iter().filter(|it| it.share >= SHARE_MIN) {
        let place = match (site.file.as_str(), site.function.as_str()) {
            ("", "") => "somewhere".to_owned(),
            ("", function) => format!("in {function}"),
            (file, _) => format!("{file}:{}", site.line),
        };
        text += &format!(
            "{:>6.3} s {:>10.1} %  {} {place}\n",
            site.seconds,
            site.share * 100.0,
            site.call
        );
        let said = match remark_of(site, rows) {
            Some(row) => format!("{} {}", if row.converted { "+" } else { "-" }, row.sentence),
            None if site.function.starts_with("__overlap")
                || site.function.starts_with("overlap.") =>
            {
                "+ of the plugin: it asks for messages, and ends those that were put off".to_owned()
            }
            None if site.file.is_empty() => "? its line is not known: compile with -g".to_owned(),
            None => "? no remark names this line".to_owned(),
        };
        text += &format!("{:24}{said}\n", "");
    }
    text + "\n"
}

/// All remarks at `path`.
pub fn read(path: &Path) -> Result<Vec<Row>, Failure> {
    let found = remarks::files(path).map_err(|error| {
        Failure::user(format!("cannot read `{}`: {error}", path.display()), Some(HELP))
    })?;
    if found.is_empty() {
        return Err(Failure::user(
            format!("there are no .opt.yaml files in `{}`", path.display()),
            Some(HELP),
        ));
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
        let text = std::fs::read_to_string(file).map_err(|error| {
            Failure::user(format!("cannot read `{}`: {error}", file.display()), Some(HELP))
        })?;
        let more = remarks::parse(&text)
            .map_err(|said| Failure::user(format!("{}: {said}", file.display()), Some(HELP)))?;
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

/// The text of a source file. Clang names a file from the folder that it and the compiler's have in
/// common, which is one above where it was compiled, such as above CMake's build folder.
fn source_of(folders: [&Path; 2], file: &str) -> Option<String> {
    let read = |start: PathBuf| {
        start.ancestors().find_map(|ancestor| std::fs::read_to_string(ancestor.join(file)).ok())
    };
    folders.into_iter().filter_map(|folder| folder.canonicalize().ok()).find_map(read)
}

/// The remarks of one file, each under its source line.
fn listing(folders: [&Path; 2], file: &str, rows: &[&Row]) -> String {
    let source = source_of(folders, file).unwrap_or_default();
    let lines: Vec<&str> = source.lines().collect();
    let mut text =
        format!("{}\n", if file.is_empty() { "(no file known: compile with -g)" } else { file });
    for row in rows {
        let line =
            usize::try_from(row.line).ok().and_then(|number| lines.get(number.checked_sub(1)?));
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
    let mut table = Table::new("sites", &["what", "number"]).kind(Kind::Model).note(
        "calls as the compiler had them in all of these files: one in a function that was copied counts for each copy, where `trace` counts \
         lines of one program; window in weighted instructions, from the compiler",
    );
    let mut row =
        |what: &str, number: String| table.push(vec![Cell::words(what), Cell::number(number)]);
    row("sites", summary.sites.to_string());
    // Which program an object became part of is not known here.
    let all_off = if notes.switched_off.is_empty() {
        "converted"
    } else {
        "converted, but blocking in the programs named below"
    };
    row(all_off, summary.converted.to_string());
    if !notes.crashes.is_empty() {
        row("compiled without the plugin", notes.crashes.len().to_string());
    }
    if summary.polling_loops > 0 {
        row("loops that poll", summary.polling_loops.to_string());
    }
    if summary.exchanges > 0 {
        row(
            "exchanges that callers in other files may go on behind",
            summary.exchanges.to_string(),
        );
    }
    if let Some(mean) = summary.mean_window {
        row("mean window", format!("{mean:.0}"));
    }
    for (reason, count) in &summary.refused {
        row(&format!("refused: {reason}"), count.to_string());
    }
    table
}

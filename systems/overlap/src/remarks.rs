//! The plugin's optimisation remarks: read from `.opt.yaml` files, counted, and shown by file.
//!
//! Of YAML only what LLVM's remark writer makes is read: documents of flat keys, one list of
//! arguments, quoted or plain scalars, one flow mapping for the place.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The folder beside results that holds what is known of them.
pub const NOTES: &str = ".overlap";
/// Of a result that was made without the plugin: a script that reproduces why.
pub const CRASH: &str = ".overlap-crash.sh";
/// Of a program whose calls all stay blocking: why, one reason a line.
pub const OFF: &str = ".overlap-off";
/// Of a result: its remarks.
pub const RECORD: &str = ".opt.yaml";

/// In place of a call, where a loop polls for messages of the program's own.
pub const LOOP: &str = "loop";
/// In place of a call, where an exchange has a twin for callers in other files.
pub const EXCHANGE: &str = "exchange";

/// What became of one call, or of a loop.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Source file, as the compiler was given it.
    pub file: String,
    /// Line, 0 if the compiler did not keep it.
    pub line: u64,
    /// Such as `MPI_Send`; [`LOOP`] for a loop that polls, [`EXCHANGE`] for a twin.
    pub call: String,
    /// How far windows were widened.
    pub strength: String,
    /// Work in the window, in weighted instructions.
    pub window_weight: u64,
    /// Work behind the window that does not need the message either, in weighted instructions.
    pub beyond_weight: u64,
    /// True if the call was converted, or an existing window widened.
    pub converted: bool,
    /// The name of the refusal, if it was not.
    pub reason: Option<String>,
    /// The remark in one sentence.
    pub sentence: String,
}

/// Reads the remarks of one file; those of other passes are left out.
///
/// Errors: a sentence that says which line is no remark.
pub fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let mut document: Option<Document> = None;
    for (idx, line) in text.lines().enumerate() {
        if let Some(tag) = line.strip_prefix("--- !") {
            document = Some(Document { missed: tag.trim() == "Missed", ..Document::default() });
        } else if line == "..." {
            rows.extend(document.take().and_then(Document::row));
        } else if let Some(document) = &mut document {
            document.take(line);
        } else if !line.trim().is_empty() {
            return Err(format!("line {} is no optimisation remark: `{line}`", idx + 1));
        }
    }
    if document.is_some() {
        return Err("the last remark does not end; was the compiler interrupted?".to_owned());
    }
    Ok(rows)
}

#[derive(Debug, Default)]
struct Document {
    missed: bool,
    keys: BTreeMap<String, String>,
    arguments: Vec<(String, String)>,
}

impl Document {
    fn take(&mut self, line: &str) {
        if let Some((key, value)) = line.strip_prefix("  - ").and_then(|rest| rest.split_once(':'))
        {
            self.arguments.push((key.to_owned(), scalar(value)));
        } else if line.starts_with("          ") && self.arguments.is_empty() {
            // A long place is broken into lines.
            if let Some(place) = self.keys.get_mut("DebugLoc") {
                *place += &format!(" {}", line.trim());
            }
        } else if let Some((key, value)) = line.split_once(':')
            && !line.starts_with(' ')
        {
            self.keys.insert(key.to_owned(), value.trim().to_owned());
        }
    }

    fn argument(&self, key: &str) -> Option<&str> {
        self.arguments.iter().find(|argument| argument.0 == key).map(|argument| argument.1.as_str())
    }

    fn row(self) -> Option<Row> {
        if self.keys.get("Pass").map(String::as_str) != Some("overlap") {
            return None;
        }
        let place = self
            .keys
            .get("DebugLoc")
            .map_or("", String::as_str)
            .trim_matches(|letter| "{} ".contains(letter));
        let part = |name: &str| {
            place
                .split(',')
                .find_map(|part| part.trim().strip_prefix(name))
                .map(|part| scalar(part.trim_start_matches(':')))
        };
        let weight =
            |key| self.argument(key).and_then(|argument| argument.parse().ok()).unwrap_or(0);
        let hidden: &[&str] =
            if self.missed { &["Strength", "Weight", "Beyond"] } else { &["Beyond"] };
        let said = self.arguments.iter().filter(|argument| !hidden.contains(&argument.0.as_str()));
        Some(Row {
            file: part("File").unwrap_or_default(),
            line: part("Line").and_then(|part| part.parse().ok()).unwrap_or(0),
            call: self.argument("Call")?.to_owned(),
            strength: self.argument("Strength").unwrap_or_default().to_owned(),
            window_weight: weight("Weight"),
            beyond_weight: weight("Beyond"),
            converted: !self.missed,
            reason: self.argument("Reason").map(str::to_owned),
            sentence: said.map(|said| said.1.as_str()).collect(),
        })
    }
}

/// A plain or quoted scalar.
fn scalar(text: &str) -> String {
    let text = text.trim();
    if let Some(inside) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return inside.replace("''", "'");
    }
    if let Some(inside) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return inside.replace("\\\"", "\"").replace("\\\\", "\\");
    }
    text.to_owned()
}

/// `a.opt.yaml` from a compiler, `a.opt.ld.yaml` from a linker that saw the whole program.
fn is_remark_file(name: &str) -> bool {
    name.ends_with(".yaml") && name.contains(".opt.")
}

/// All remark files in `path`, itself or below. File systems mounted below are not entered:
/// `/proc` and what a network carries are no build folders. Folders below that may not be
/// read are passed over.
///
/// Errors: if `path` cannot be read.
pub fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    below(path, is_remark_file)
}

/// Of remark files in the driver's own folders, the outputs that are gone: removed since, or
/// replaced by some of other names.
pub fn gone(found: &[PathBuf]) -> Vec<PathBuf> {
    let output = |file: &PathBuf| {
        let folder =
            file.parent().filter(|folder| folder.file_name().is_some_and(|name| name == NOTES))?;
        let name = file.file_name()?.to_str()?.split_once(".opt.")?.0;
        Some(folder.parent()?.join(name)).filter(|path| !path.exists())
    };
    found.iter().filter_map(output).collect()
}

/// What the driver has left for results, at `path` or below.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Notes {
    /// Scripts that reproduce why something was compiled without the plugin.
    pub crashes: Vec<PathBuf>,
    /// Programs whose calls all stay blocking, each with the reasons.
    pub switched_off: Vec<(PathBuf, Vec<String>)>,
}

/// Reads the notes of the driver.
///
/// Errors: if `path` or a note cannot be read.
pub fn notes(path: &Path) -> std::io::Result<Notes> {
    if !path.is_dir() {
        return Ok(Notes::default());
    }
    let mut notes =
        Notes { crashes: below(path, |text| text.ends_with(CRASH))?, switched_off: Vec::new() };
    for file in below(path, |text| text.ends_with(OFF))? {
        let why = std::fs::read_to_string(&file)?.lines().map(str::to_owned).collect();
        let program = file.with_extension("");
        let beside = file.parent().and_then(Path::parent).zip(program.file_name());
        notes
            .switched_off
            .push((beside.map_or(program.clone(), |(folder, name)| folder.join(name)), why));
    }
    Ok(notes)
}

/// All files below `path` whose name is `wanted`, sorted; see [`files`].
fn below(path: &Path, wanted: impl Fn(&str) -> bool) -> std::io::Result<Vec<PathBuf>> {
    let device = path.metadata()?.dev();
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            // Another program may have removed it since it was listed.
            Err(error)
                if folder != path
                    && matches!(
                        error.kind(),
                        ErrorKind::PermissionDenied | ErrorKind::NotFound
                    ) =>
            {
                continue;
            }
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                if entry.metadata().is_ok_and(|metadata| metadata.dev() == device) {
                    folders.push(entry.path());
                }
            } else if wanted(&entry.file_name().to_string_lossy()) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What the rows come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Blocking calls, and nonblocking ones that were looked at.
    pub sites: usize,
    /// How many were converted.
    pub converted: usize,
    /// How many were refused for each reason.
    pub refused: BTreeMap<String, usize>,
    /// Mean window of the converted sites, in weighted instructions.
    pub mean_window: Option<f64>,
    /// Loops that poll for messages of the program's own.
    pub polling_loops: usize,
    /// Exchanges that callers in other files may go on behind.
    pub exchanges: usize,
}

/// The rows of calls; those of loops; those of exchanges.
fn kinds(rows: &[Row]) -> [Vec<&Row>; 3] {
    let (loops, rows): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.call == LOOP);
    let (exchanges, rows) = rows.into_iter().partition(|row| row.call == EXCHANGE);
    [rows, loops, exchanges]
}

pub fn summary(rows: &[Row]) -> Summary {
    let [rows, loops, exchanges] = kinds(rows);
    let mut refused = BTreeMap::new();
    for reason in rows.iter().filter_map(|row| row.reason.clone()) {
        *refused.entry(reason).or_insert(0) += 1;
    }
    let windows: Vec<f64> =
        rows.iter().filter(|row| row.converted).map(|row| row.window_weight as f64).collect();
    let mean_window =
        (!windows.is_empty()).then(|| windows.iter().sum::<f64>() / windows.len() as f64);
    Summary {
        sites: rows.len(),
        converted: windows.len(),
        refused,
        mean_window,
        polling_loops: loops.len(),
        exchanges: exchanges.len(),
    }
}

/// The object of `explain --json`.
pub fn to_json(rows: &[Row]) -> Value {
    let summary = summary(rows);
    let [rows, loops, exchanges] = kinds(rows);
    let places = |rows: Vec<&Row>| -> Vec<Value> {
        rows.iter().map(|row| json!({"file": row.file, "line": row.line})).collect()
    };
    let rows = rows.iter().map(|row| {
        json!({
            "file": row.file,
            "line": row.line,
            "call": row.call,
            "strength": row.strength,
            "window_weight": row.window_weight,
            "beyond_weight": row.beyond_weight,
            "converted": row.converted,
            "reason": row.reason,
        })
    });
    json!({
        "ok": true,
        "sites": summary.sites,
        "converted": summary.converted,
        "refused": summary.refused,
        "mean_window": summary.mean_window,
        "rows": rows.collect::<Vec<Value>>(),
        "polling_loops": places(loops),
        "exchanges": places(exchanges),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "--- !Missed
Pass:            overlap
Name:            SmallMessage
DebugLoc:        { File: 'my file.c', Line: 2, Column: 49 }
Function:        main
Args:
  - Call:            MPI_Send
  - String:          ' stays blocking: '
  - Reason:          SmallMessage
  - String:          ': '
  - String:          'the payload is small; it isn''t worth it'
  - Strength:        frontier
  - Weight:          '0'
...
--- !Passed
Pass:            inline
Name:            Inlined
Function:        main
Args:
  - Callee:          f
    DebugLoc:        { File: x.c, Line: 1, Column: 0 }
...
--- !Passed
Pass:            overlap
Name:            Converted
DebugLoc:        { File: a.c, Line: 9, 
                   Column: 3 }
Function:        f
Args:
  - Call:            MPI_Recv
  - String:          ' made nonblocking with '
  - Strength:        basic
  - String:          ': a window of '
  - Weight:          '640'
  - String:          ' weighted instructions'
  - Beyond:          '7200'
...
--- !Passed
Pass:            overlap
Name:            Polls
DebugLoc:        { File: a.c, Line: 12, Column: 3 }
Function:        f
Args:
  - Call:            loop
  - String:          ' polls while requests are pending, '
  - String:          'at the end of each pass'
...
";

    #[test]
    fn remarks_of_the_plugin_are_read() {
        let rows = parse(TEXT).expect("these are remarks");
        assert_eq!(rows.len(), 3);
        assert_eq!(
            (rows[0].file.as_str(), rows[0].line, rows[0].converted),
            ("my file.c", 2, false)
        );
        assert_eq!(rows[0].reason.as_deref(), Some("SmallMessage"));
        assert_eq!(
            rows[0].sentence,
            "MPI_Send stays blocking: SmallMessage: the payload is small; it isn't worth it"
        );
        assert_eq!((rows[1].call.as_str(), rows[1].line), ("MPI_Recv", 9));
        assert_eq!(
            (rows[1].window_weight, rows[1].beyond_weight, rows[1].strength.as_str()),
            (640, 7200, "basic")
        );
        assert!(rows[1].sentence.ends_with(" weighted instructions"), "{}", rows[1].sentence);
        let summary = summary(&rows);
        assert_eq!(
            (summary.sites, summary.converted, summary.mean_window, summary.polling_loops),
            (2, 1, Some(640.0), 1)
        );
        assert_eq!(to_json(&rows)["polling_loops"], json!([{"file": "a.c", "line": 12}]));
        assert_eq!(summary.refused["SmallMessage"], 1);
    }

    #[test]
    fn what_is_no_remark_is_refused() {
        assert_eq!(
            parse("hello\n").expect_err("no remark"),
            "line 1 is no optimisation remark: `hello`"
        );
        assert!(
            parse("--- !Missed\nPass: overlap\n").expect_err("cut off").contains("interrupted")
        );
        assert_eq!(parse("").expect("an empty file holds no remark"), []);
    }
}

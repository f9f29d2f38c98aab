//! C, C++ and assembly in an editor: cycles above each function and loop, and what a line costs.
//!
//! What is audited is the file as it was saved; where the open text has moved on, a line stands
//! where the nearest equal one does.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use audit::audit::{Audit, Options};
use audit::program::toolchain::{self, Input};
use audit::timing::licence::Effort;
use audit::views::editor::{self, Lens};
use serde_json::{Value, json};

use super::place::path;
use crate::audit_cmd::options::{Loaded, Named, Reading};
use crate::output::Failure;

/// Files that are open, and how they are compiled.
pub struct Audits {
    how: Reading,
    object: Option<PathBuf>,
    /// The object as it was read last, and when it was written.
    built: Option<(SystemTime, Result<Loaded, String>)>,
    /// What is open, by its address.
    files: HashMap<String, Edited>,
}

struct Edited {
    path: PathBuf,
    /// As it is in the editor.
    text: String,
    /// None until somebody asks.
    saved: Option<Saved>,
}

/// A file as it was compiled.
struct Saved {
    text: String,
    /// Or why there are none.
    audits: Result<Audited, String>,
}

#[derive(Default)]
struct Audited {
    functions: Vec<Audit>,
    /// In the order of the lines.
    lenses: Vec<Lens>,
}

impl Audits {
    /// None where neither a machine nor a built file is named: nothing is audited.
    ///
    /// Errors: there is no such machine or file.
    pub fn new(how: Reading, object: Option<PathBuf>) -> Result<Option<Audits>, Failure> {
        if how.cpu.is_none() && object.is_none() {
            return Ok(None);
        }
        how.cpu.as_deref().map(Named::of).transpose()?;
        if let Some(file) = object.as_deref().filter(|file| !file.is_file()) {
            return Err(Failure::user(format!("there is no file `{}`", file.display()), None));
        }
        Ok(Some(Audits { how, object, built: None, files: HashMap::new() }))
    }

    pub fn open(&mut self, uri: &str, text: &str) {
        let path = PathBuf::from(path(uri));
        if self.object.is_none() && toolchain::input(&path) == Input::Elf {
            return;
        }
        let saved = self.files.remove(uri).and_then(|file| file.saved);
        self.files.insert(uri.to_owned(), Edited { path, text: text.to_owned(), saved });
    }

    pub fn close(&mut self, uri: &str) {
        self.files.remove(uri);
    }

    /// Something was saved, which others may include.
    pub fn forget(&mut self) {
        self.files.values_mut().for_each(|file| file.saved = None);
    }

    /// Above functions and loops; in the first line why there are none.
    pub fn lenses(&mut self, params: &Value) -> Option<Value> {
        let (file, saved) = self.asked(params)?;
        let found = match &saved.audits {
            Ok(audited) => {
                let now =
                    |it: &Lens| Some((moved(&saved.text, &file.text, it.line)?, it.text.clone()));
                audited.lenses.iter().filter_map(now).collect()
            }
            Err(why) => vec![(1, format!("not audited: {why}"))],
        };
        let lens = |(line, text): &(u32, String)| {
            let (start, end) = (place(*line, 0), place(*line, 0));
            json!({"range": {"start": start, "end": end}, "command": {"title": text, "command": ""}})
        };
        Some(found.iter().map(lens).collect())
    }

    /// What the line costs in the functions that have code of it.
    pub fn hover(&mut self, params: &Value) -> Option<Value> {
        /// A line of an inlined function may be in many.
        const SHOWN_MAX: usize = 3;
        let line = u32::try_from(params["position"]["line"].as_u64()?).ok()?.checked_add(1)?;
        let view = self.how.view();
        let (file, saved) = self.asked(params)?;
        let then = moved(&file.text, &saved.text, line)?;
        let functions = &saved.audits.as_ref().ok()?.functions;
        let said: Vec<String> = functions
            .iter()
            .filter_map(|audit| editor::about(audit, &file.path, then, &view))
            .take(SHOWN_MAX)
            .collect();
        let text = said.join("\n");
        (!said.is_empty()).then(|| json!({"contents": {"kind": "markdown", "value": text}}))
    }

    /// The file that a request is about, audited as it was saved.
    fn asked(&mut self, params: &Value) -> Option<(&Edited, &Saved)> {
        let uri = params["textDocument"]["uri"].as_str()?;
        let file = self.files.get_mut(uri)?;
        if file.saved.is_none() {
            let text = fs::read(&file.path).ok()?;
            let audits = match &self.object {
                Some(object) => {
                    let when = fs::metadata(object).and_then(|metadata| metadata.modified());
                    let when = when.unwrap_or(SystemTime::UNIX_EPOCH);
                    if self.built.as_ref().is_none_or(|built| built.0 != when) {
                        self.built = Some((when, load(&self.how, object)));
                    }
                    let loaded = &self.built.as_ref().expect("it was just read").1;
                    loaded
                        .as_ref()
                        .map_err(String::clone)
                        .and_then(|loaded| audits(&self.how, loaded, &file.path))
                }
                None => load(&self.how, &file.path)
                    .and_then(|loaded| audits(&self.how, &loaded, &file.path)),
            };
            file.saved = Some(Saved { text: String::from_utf8_lossy(&text).into_owned(), audits });
        }
        let file = &self.files[uri];
        Some((file, file.saved.as_ref()?))
    }
}

fn load(how: &Reading, file: &Path) -> Result<Loaded, String> {
    how.load_file(file, None).map_err(|failure| first(&failure))
}

/// All functions that have lines of their own in the file, or why there are none.
fn audits(how: &Reading, loaded: &Loaded, file: &Path) -> Result<Audited, String> {
    let core = how.core(loaded);
    let (avoid, through) = (how.avoid.clone(), Vec::new());
    let options = Options { avoid, through, effort: Effort::Loops, recorded: None };
    let found = loaded.code.chosen(None).map_err(|error| error.message)?;
    let is_here = |frames: &[audit::program::function::SourceFrame]| {
        frames.iter().any(|frame| editor::is_in(frame, file))
    };
    // Other functions of a large file are not looked at.
    let here = found.into_iter().filter(|(program, symbol)| {
        loaded.path == file || is_here(&program.lines.frames(symbol.address))
    });
    let mut audited = Audited::default();
    for (program, symbol) in here {
        let one = audit::audit::audit(program, symbol, &loaded.code.cpu, core.as_ref(), &options);
        // What cannot be audited has no lens.
        let Ok(one) = one else { continue };
        let declared = program.lines.declared_line(symbol.address);
        audited.lenses.extend(editor::lenses(&one, file, declared));
        audited.functions.push(one);
    }
    audited.lenses.sort();
    audited.lenses.dedup();
    Ok(audited)
}

/// A failure in one line.
fn first(failure: &Failure) -> String {
    match failure {
        Failure::User(found) => {
            found.first().map(|found| found.message.clone()).unwrap_or_default()
        }
        Failure::Environment { ran, said, .. } => {
            format!("{ran}: {}", said.lines().next().unwrap_or_default())
        }
        _ => String::new(),
    }
}

/// Where line `line` of one text, from 1, is in another: the nearest that is equal.
fn moved(from: &str, to: &str, line: u32) -> Option<u32> {
    let at = line.checked_sub(1)? as usize;
    let wanted = from.lines().nth(at)?;
    let equal = to.lines().enumerate().filter(|(_, text)| *text == wanted);
    let (nearest, _) = equal.min_by_key(|(idx, _)| idx.abs_diff(at))?;
    u32::try_from(nearest).ok().map(|nearest| nearest + 1)
}

fn place(line: u32, character: u32) -> Value {
    json!({"line": line - 1, "character": character})
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn a_line_that_moved_is_found_and_one_that_changed_is_not() {
        let saved = "int f(void)\n{\n    return 1;\n}\n";
        let now = "/* new */\nint f(void)\n{\n    return 2;\n}\n";
        assert_eq!(moved(saved, now, 1), Some(2));
        assert_eq!(moved(saved, now, 3), None);
        assert_eq!(moved(saved, now, 4), Some(5));
        assert_eq!((moved(saved, now, 0), moved(saved, now, 9)), (None, None));
    }
}

//! Usuba in an editor: errors and remarks as one types, what a name is and what it costs, and where
//! it is defined.

use std::collections::HashMap;

use cipher::language::EditedProgram;
use report::Diagnostic;
use serde_json::{Value, json};

use super::place::{offset, path, position, range, uri};

/// The programs that are open, by their addresses, as they were when they were looked at last.
#[derive(Default)]
pub struct Programs {
    open: HashMap<String, EditedProgram>,
    /// Each when it was last without errors of syntax.
    read: HashMap<String, EditedProgram>,
}

impl Programs {
    pub fn has(&self, uri: &str) -> bool {
        self.open.contains_key(uri)
    }

    /// Takes a text, and says what is wrong with it.
    pub fn open(&mut self, uri: &str, text: &str) -> Value {
        let program = EditedProgram::new(&path(uri), text);
        let said = diagnosed(uri, &program);
        if let Some(old) = self.open.insert(uri.to_owned(), program)
            && old.has_syntax()
        {
            self.read.insert(uri.to_owned(), old);
        }
        said
    }

    /// What is wrong with each, now that something was saved.
    pub fn read_again(&mut self) -> Vec<Value> {
        for program in self.open.values_mut() {
            *program = EditedProgram::new(&program.name, &program.text);
        }
        self.open.iter().map(|(uri, program)| diagnosed(uri, program)).collect()
    }

    /// Nothing is wrong with what is closed.
    pub fn close(&mut self, uri: &str) -> Option<Value> {
        self.read.remove(uri);
        self.open.remove(uri).map(|_| published(uri, Vec::new()))
    }

    /// The program that a request is about, and the byte that it points to.
    fn pointed(&self, params: &Value) -> Option<(&EditedProgram, usize)> {
        let program = self.open.get(params["textDocument"]["uri"].as_str()?)?;
        Some((program, offset(&program.text, &params["position"])?))
    }

    /// What may be written at a place.
    pub fn completion(&self, params: &Value) -> Option<Value> {
        let (program, at) = self.pointed(params)?;
        let before = self.read.get(params["textDocument"]["uri"].as_str()?);
        let item = |(name, said): (String, String)| json!({"label": name, "detail": said});
        Some(program.completions(at, before).into_iter().map(item).collect())
    }

    pub fn hover(&self, params: &Value) -> Option<Value> {
        let (program, at) = self.pointed(params)?;
        let (word, said) = program.hover(at)?;
        let text = &program.text;
        let range = json!({"start": position(text, word.start), "end": position(text, word.end)});
        Some(json!({"contents": {"kind": "markdown", "value": said}, "range": range}))
    }

    pub fn definition(&self, params: &Value) -> Option<Value> {
        let (program, at) = self.pointed(params)?;
        let span = program.definition(at)?;
        // An included file is named by its path, this one as the client names it.
        let own = params["textDocument"]["uri"].as_str()?;
        let uri =
            if span.file.name == program.name { own.to_owned() } else { uri(&span.file.name) };
        Some(json!({"uri": uri, "range": range(&span)}))
    }
}

/// What is wrong with a program.
fn diagnosed(uri: &str, program: &EditedProgram) -> Value {
    let shown = |found: &Diagnostic, severity| shown(found, severity, &program.name, &program.text);
    let errors = program.errors.iter().map(|found| shown(found, 1));
    let warnings = program.warnings.iter().map(|found| shown(found, 2));
    published(uri, errors.chain(warnings).collect())
}

fn published(uri: &str, found: Vec<Value>) -> Value {
    let params = json!({"uri": uri, "diagnostics": found});
    json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params})
}

/// A message at its place; one about an included file is at the top of this one.
fn shown(found: &Diagnostic, severity: u32, name: &str, text: &str) -> Value {
    let own = found.spans.first().filter(|(span, _)| span.file.name == name);
    let (range, said) = match own {
        Some((span, _)) => (range(span), found.message.clone()),
        None => {
            let top = position(text, 0);
            (json!({"start": top, "end": top}), found.to_string())
        }
    };
    let message = found.help.iter().fold(said, |said, help| format!("{said}\n{help}"));
    json!({"range": range, "severity": severity, "source": "meanwhile", "message": message})
}

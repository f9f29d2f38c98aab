//! Door: `meanwhile cipher lsp`: a language server for Usuba on standard input and output.
//!
//! What it can: errors and remarks as one types, what a name is and what it costs, and where it is
//! defined. Texts are exchanged whole, and each answer is computed from the text as it is.
//! Source: the Language Server Protocol, 3.17.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use cipher::language::EditedProgram;
use report::{Diagnostic, Span};
use serde_json::{Value, json};

use crate::output::{Failure, Output};

/// No message is longer, in bytes.
const LONGEST: usize = 64 << 20;

/// Codes of errors. Source: JSON-RPC 2.0, and the protocol's section "Base Protocol".
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const NOT_INITIALIZED: i64 = -32002;

/// What the client has said so far.
#[derive(Default)]
struct Server {
    is_initialized: bool,
    is_shut_down: bool,
    /// The programs that are open, by their addresses, as they were when they were looked at last.
    programs: HashMap<String, EditedProgram>,
}

/// Serves until the client says `exit` or closes standard input.
pub fn run(out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return Err(Failure::user("what a language server says is JSON of its own", None));
    }
    let mut server = Server::default();
    let mut input = std::io::stdin().lock();
    while let Some(bytes) = message(&mut input)? {
        let Ok(message) = serde_json::from_slice::<Value>(&bytes) else {
            send(&error(&Value::Null, PARSE_ERROR, "this is no JSON"), out);
            continue;
        };
        if message["method"] == "exit" {
            break;
        }
        server.answer(&message).iter().for_each(|answer| send(answer, out));
    }
    // A client that leaves without a word has failed.
    if server.is_shut_down { Ok(()) } else { Err(Failure::Exit(1)) }
}

/// The body of the next message; none at the end.
fn message(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, Failure> {
    let failed = |error| Failure::environment("read standard input", error);
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.by_ref().take(4096).read_line(&mut line).map_err(failed)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, number)) = line.split_once(':')
            && name.eq_ignore_ascii_case("Content-Length")
        {
            length = number.trim().parse().ok().filter(|length| *length <= LONGEST);
        }
    }
    let Some(length) = length else {
        let help =
            "an editor starts it; each message begins with `Content-Length: N` and an empty line";
        return Err(Failure::user("standard input does not speak the protocol", Some(help)));
    };
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

fn send(message: &Value, out: &mut Output) {
    let text = message.to_string();
    out.text(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
}

fn error(id: &Value, code: i64, said: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": said}})
}

impl Server {
    /// What is sent back for a message: an answer to a request, or what a notification brings.
    fn answer(&mut self, message: &Value) -> Vec<Value> {
        let (id, params) = (&message["id"], &message["params"]);
        let method = message["method"].as_str().unwrap_or_default();
        let is_request = !id.is_null();
        if self.is_shut_down {
            let said = "the server was told to shut down";
            return is_request.then(|| error(id, INVALID_REQUEST, said)).into_iter().collect();
        }
        if !self.is_initialized && method != "initialize" {
            let said = "`initialize` comes first";
            return is_request.then(|| error(id, NOT_INITIALIZED, said)).into_iter().collect();
        }
        let result = match method {
            "initialize" => {
                self.is_initialized = true;
                capabilities()
            }
            "shutdown" => {
                self.is_shut_down = true;
                Value::Null
            }
            "textDocument/hover" => self.hover(params).unwrap_or(Value::Null),
            "textDocument/definition" => self.definition(params).unwrap_or(Value::Null),
            _ if is_request => {
                let said = format!("there is no `{method}` here");
                return vec![error(id, METHOD_NOT_FOUND, &said)];
            }
            _ => return self.notified(method, params),
        };
        vec![json!({"jsonrpc": "2.0", "id": id, "result": result})]
    }

    /// A text was opened, changed, saved or closed: what is wrong with it, and after a save with all,
    /// which may include what was saved.
    fn notified(&mut self, method: &str, params: &Value) -> Vec<Value> {
        if method == "textDocument/didSave" {
            for program in self.programs.values_mut() {
                *program = EditedProgram::new(&program.name, &program.text);
            }
            return self.programs.iter().map(|(uri, program)| diagnosed(uri, program)).collect();
        }
        self.changed(method, params).into_iter().collect()
    }

    fn changed(&mut self, method: &str, params: &Value) -> Option<Value> {
        let document = &params["textDocument"];
        let uri = document["uri"].as_str()?;
        let text = match method {
            "textDocument/didOpen" => document["text"].as_str()?,
            "textDocument/didChange" => {
                params["contentChanges"].as_array()?.last()?["text"].as_str()?
            }
            "textDocument/didClose" => {
                self.programs.remove(uri);
                return Some(published(uri, Vec::new()));
            }
            _ => return None,
        };
        let program = EditedProgram::new(&path(uri), text);
        let said = diagnosed(uri, &program);
        self.programs.insert(uri.to_owned(), program);
        Some(said)
    }

    /// The program that a request is about, and the byte that it points to.
    fn pointed(&self, params: &Value) -> Option<(&EditedProgram, usize)> {
        let program = self.programs.get(params["textDocument"]["uri"].as_str()?)?;
        Some((program, offset(&program.text, &params["position"])?))
    }

    fn hover(&self, params: &Value) -> Option<Value> {
        let (program, at) = self.pointed(params)?;
        let (word, said) = program.hover(at)?;
        let text = &program.text;
        let range = json!({"start": position(text, word.start), "end": position(text, word.end)});
        Some(json!({"contents": {"kind": "markdown", "value": said}, "range": range}))
    }

    fn definition(&self, params: &Value) -> Option<Value> {
        let (program, at) = self.pointed(params)?;
        let span = program.definition(at)?;
        // An included file is named by its path, this one as the client names it.
        let own = params["textDocument"]["uri"].as_str()?;
        let uri =
            if span.file.name == program.name { own.to_owned() } else { uri(&span.file.name) };
        Some(json!({"uri": uri, "range": range(&span)}))
    }
}

fn capabilities() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": {"openClose": true, "change": 1, "save": true},
            "hoverProvider": true,
            "definitionProvider": true,
        },
        "serverInfo": {"name": "meanwhile cipher lsp", "version": env!("CARGO_PKG_VERSION")},
    })
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

fn range(span: &Span) -> Value {
    let text = &span.file.text;
    json!({"start": position(text, span.range.start), "end": position(text, span.range.end)})
}

/// Line and column of a byte, both from 0, the column in units of UTF-16.
fn position(text: &str, at: usize) -> Value {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count();
    let own = before.rsplit('\n').next().unwrap_or_default();
    json!({"line": line, "character": own.encode_utf16().count()})
}

/// The byte of a line and column; a column behind the line's end is that end.
fn offset(text: &str, position: &Value) -> Option<usize> {
    let line = usize::try_from(position["line"].as_u64()?).ok()?;
    let column = usize::try_from(position["character"].as_u64()?).ok()?;
    let own = text.split_inclusive('\n').nth(line).unwrap_or_default();
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = 0;
    let fits = |letter: &char| {
        units += letter.len_utf16();
        units <= column && *letter != '\n'
    };
    Some(start + own.chars().take_while(fits).map(char::len_utf8).sum::<usize>())
}

/// The path in an address; of another kind than `file:` the address itself.
fn path(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code = more.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &more[2..];
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A path as an address.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let one = |byte: u8| match byte {
        _ if is_plain(byte) => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let path = std::path::absolute(path).map_or(path.to_owned(), |path| path.display().to_string());
    format!("file://{}", path.bytes().map(one).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_as_the_protocol_does() {
        let text = "a\u{e9}\u{1f600}b\nc";
        for (at, line, character) in
            [(0, 0, 0), (1, 0, 1), (3, 0, 2), (7, 0, 4), (8, 0, 5), (9, 1, 0)]
        {
            let place = position(text, at);
            assert_eq!(place, json!({"line": line, "character": character}), "{at}");
            assert_eq!(offset(text, &place), Some(at), "{place}");
        }
        assert_eq!(offset(text, &json!({"line": 0, "character": 99})), Some(8));
        assert_eq!(offset(text, &json!({"line": 7, "character": 0})), Some(text.len()));
        assert_eq!(offset(text, &json!({"line": -1})), None);
    }

    #[test]
    fn paths_and_addresses_are_the_same_files() {
        let name = "/a folder/\u{e4}%.ua";
        assert_eq!(uri(name), "file:///a%20folder/%C3%A4%25.ua");
        assert_eq!(path(&uri(name)), name);
        assert_eq!(path("untitled:1"), "untitled:1");
        assert_eq!(path("file:///100%"), "/100%");
    }
}

//! Door: `meanwhile lsp`: a language server on standard input and output.
//!
//! ```text
//! usuba.rs   Usuba: errors and remarks as one types, what a name is and costs, where it is defined
//! audit.rs   C, C++, assembly: what functions, loops and lines cost on a machine
//! inbox.rs   messages, read ahead, so that a request can be taken back
//! place.rs   lines, columns and addresses, as the protocol counts and writes them
//! ```
//!
//! Texts are exchanged whole, and each answer is computed from the text as it is.
//! Source: the Language Server Protocol, 3.17.

mod audit;
mod inbox;
mod place;
mod usuba;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::audit_cmd::options::Reading;
use crate::output::{Failure, Output};
use audit::Audits;
use inbox::Inbox;
use usuba::Programs;

/// Arguments of `meanwhile lsp`: what is audited, and how.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An ELF file of a build, in any language, whose functions are audited in place of what the
    /// open file compiles to; it is read again when something is saved.
    #[arg(long, value_name = "FILE", conflicts_with = "compile_commands")]
    object: Option<PathBuf>,
    /// The machine for which C, C++ and assembly are audited; `meanwhile audit cpus` lists them; or
    /// a machine file, NAME.toml.
    #[arg(long, value_name = "NAME")]
    cpu: Option<String>,
    /// Compile C or C++ as a build does: the `compile_commands.json` that CMake, Meson or Bear
    /// wrote, or its folder.
    #[arg(long, value_name = "FILE")]
    compile_commands: Option<PathBuf>,
}

/// Codes of errors. Source: JSON-RPC 2.0, and the protocol's section "Base Protocol".
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const NOT_INITIALIZED: i64 = -32002;
const REQUEST_CANCELLED: i64 = -32800;

/// What the client has said so far.
struct Server {
    is_initialized: bool,
    is_shut_down: bool,
    /// The client can be asked to ask again for lenses.
    has_refresh: bool,
    programs: Programs,
    /// Nothing is audited where no machine was named.
    audits: Option<Audits>,
}

/// Serves until the client says `exit` or closes standard input.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return Err(Failure::user("what a language server says is JSON of its own", None));
    }
    let Args { object, cpu, compile_commands } = args;
    let how = Reading { cpu, compile_commands, ..Reading::default() };
    let mut server = Server {
        is_initialized: false,
        is_shut_down: false,
        has_refresh: false,
        programs: Programs::default(),
        audits: Audits::new(how, object)?,
    };
    let mut inbox = Inbox::new(|| std::io::stdin().lock());
    while let Some(read) = inbox.next() {
        let Some(message) = read? else {
            send(&error(&Value::Null, PARSE_ERROR, "this is no JSON"), out);
            continue;
        };
        if message["method"] == "exit" {
            break;
        }
        let id = &message["id"];
        if !id.is_null() && inbox.is_cancelled(id) {
            send(&error(id, REQUEST_CANCELLED, "the client took it back"), out);
            continue;
        }
        if inbox.is_outdated(&message) {
            continue;
        }
        server.answer(&message).iter().for_each(|answer| send(answer, out));
    }
    // A client that leaves without a word has failed.
    if server.is_shut_down { Ok(()) } else { Err(Failure::Exit(1)) }
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
                let refresh = &params["capabilities"]["workspace"]["codeLens"]["refreshSupport"];
                self.has_refresh = refresh == true;
                capabilities(self.audits.is_some())
            }
            "shutdown" => {
                self.is_shut_down = true;
                Value::Null
            }
            "textDocument/hover" => self.hover(params).unwrap_or(Value::Null),
            "textDocument/definition" => self.programs.definition(params).unwrap_or(Value::Null),
            "textDocument/completion" => {
                self.programs.completion(params).unwrap_or_else(|| json!([]))
            }
            "textDocument/codeLens" => self.lenses(params),
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
            let mut said = self.programs.read_again();
            if let Some(audits) = &mut self.audits {
                audits.forget();
                let refresh = json!({"jsonrpc": "2.0", "id": "refresh", "method": "workspace/codeLens/refresh"});
                said.extend(self.has_refresh.then_some(refresh));
            }
            return said;
        }
        let document = &params["textDocument"];
        let Some(uri) = document["uri"].as_str() else { return Vec::new() };
        let text = match method {
            "textDocument/didOpen" => document["text"].as_str(),
            "textDocument/didChange" => params["contentChanges"]
                .as_array()
                .and_then(|changes| changes.last()?["text"].as_str()),
            "textDocument/didClose" => None,
            _ => return Vec::new(),
        };
        let is_usuba = document["languageId"] == "usuba" || uri.ends_with(".ua");
        match (method, text) {
            ("textDocument/didClose", _) => {
                if let Some(audits) = &mut self.audits {
                    audits.close(uri);
                }
                self.programs.close(uri).into_iter().collect()
            }
            (_, Some(text)) if is_usuba || self.programs.has(uri) => {
                vec![self.programs.open(uri, text)]
            }
            (_, Some(text)) => {
                if let Some(audits) = &mut self.audits {
                    audits.open(uri, text);
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn hover(&mut self, params: &Value) -> Option<Value> {
        self.programs.hover(params).or_else(|| self.audits.as_mut()?.hover(params))
    }

    fn lenses(&mut self, params: &Value) -> Value {
        let lenses = self.audits.as_mut().and_then(|audits| audits.lenses(params));
        lenses.unwrap_or_else(|| json!([]))
    }
}

fn capabilities(audits: bool) -> Value {
    let lenses = if audits { json!({"resolveProvider": false}) } else { Value::Null };
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": {"openClose": true, "change": 1, "save": true},
            "hoverProvider": true,
            "definitionProvider": true,
            "completionProvider": {},
            "codeLensProvider": lenses,
        },
        "serverInfo": {"name": "meanwhile lsp", "version": env!("CARGO_PKG_VERSION")},
    })
}

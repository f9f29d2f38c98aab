//! `meanwhile lsp`, asked as an editor asks it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Client {
    fn start(arguments: &[&str]) -> Client {
        // An answer that never comes is a failure, not a wait.
        let mut child = Command::new("timeout")
            .args(["300", env!("CARGO_BIN_EXE_meanwhile"), "lsp"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let (to, from) = (child.stdin.take(), child.stdout.take().expect("it is a pipe"));
        Client { child, to, from: BufReader::new(from) }
    }

    fn raw(&mut self, text: &str) {
        let to = self.to.as_mut().expect("it is open");
        to.write_all(text.as_bytes()).expect("the server listens");
        to.flush().expect("the server listens");
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.raw(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).expect("text") > 0, "the server has ended");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("a number"),
                None if line.trim_end().is_empty() => break,
                None => panic!("a header: {line}"),
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).expect("as long as it says");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}));
        let answer = self.receive();
        assert_eq!(answer["id"], method, "{answer}");
        answer
    }

    fn initialize(&mut self) {
        let answer = self.ask("initialize", json!({"capabilities": {}}));
        assert_eq!(answer["result"]["capabilities"]["hoverProvider"], true, "{answer}");
        self.notify("initialized", json!({}));
    }

    /// Opens or changes a text and gives back what is wrong with it.
    fn diagnostics(&mut self, method: &str, uri: &str, text: &str) -> Vec<Value> {
        let document = json!({"uri": uri, "text": text, "languageId": "usuba", "version": 1});
        let changes = json!([{"text": text}]);
        self.notify(method, json!({"textDocument": document, "contentChanges": changes}));
        let said = self.receive();
        assert_eq!(said["method"], "textDocument/publishDiagnostics", "{said}");
        assert_eq!(said["params"]["uri"], uri);
        said["params"]["diagnostics"].as_array().expect("a list").clone()
    }

    fn end(mut self) -> (Option<i32>, String) {
        drop(self.to.take());
        let mut said = String::new();
        let mut errors = self.child.stderr.take().expect("it is a pipe");
        errors.read_to_string(&mut said).expect("text");
        (self.child.wait().expect("it ends").code(), said)
    }
}

const LIBRARY: &str = "node swap (x : u32x2) returns (y : u32x2)\nlet\n    y = (x[1], x[0])\ntel\n";
const RIGHT: &str = "include \"library.ua\"\n\nnode twice (x : u32x2) returns (z : u32x2)\nlet\n    z = swap(swap(x))\ntel\n";

#[test]
fn an_editor_sees_errors_names_and_definitions() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("library.ua"), LIBRARY).expect("a scratch file");
    let uri = format!("file://{}/twice.ua", folder.path().display());
    let mut client = Client::start(&[]);
    client.initialize();
    let wrong = RIGHT.replace("swap(x)", "swap(w)");
    let found = client.diagnostics("textDocument/didOpen", &uri, &wrong);
    assert_eq!(found.len(), 1, "{found:?}");
    let start = json!({"line": 4, "character": 18});
    assert_eq!((&found[0]["range"]["start"], &found[0]["severity"]), (&start, &json!(1)));
    assert!(found[0]["message"].as_str().is_some_and(|said| said.contains('w')), "{found:?}");
    let found = client.diagnostics("textDocument/didChange", &uri, RIGHT);
    assert!(found.is_empty(), "{found:?}");

    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 4, "character": 10}});
    let hover = client.ask("textDocument/hover", at.clone());
    let said = hover["result"]["contents"]["value"].as_str().expect("it is known");
    assert!(said.contains("node swap (x : u32x2) returns (y : u32x2)"), "{said}");
    let definition = client.ask("textDocument/definition", at);
    let path = definition["result"]["uri"].as_str().expect("it is defined");
    assert!(path.ends_with("/library.ua"), "{definition}");
    assert_eq!(definition["result"]["range"]["start"], json!({"line": 0, "character": 5}));
    // Where nothing is, and of a text that was never opened, nothing is known.
    let nowhere = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 0}});
    assert!(client.ask("textDocument/hover", nowhere)["result"].is_null());
    let closed = json!({"textDocument": {"uri": "file:///none.ua"}, "position": {"line": 0, "character": 0}});
    assert!(client.ask("textDocument/hover", closed)["result"].is_null());

    // A name is typed, so that the text cannot be read: names are offered all the same.
    let typed = RIGHT.replace("swap(swap(x))", "sw");
    assert!(!client.diagnostics("textDocument/didChange", &uri, &typed).is_empty());
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 4, "character": 10}});
    let offered = client.ask("textDocument/completion", at)["result"].clone();
    let offers =
        |word: &str| offered.as_array().expect("a list").iter().any(|item| item["label"] == word);
    assert!(offers("swap") && offers("x") && offers("forall"), "{offered}");
    client.diagnostics("textDocument/didChange", &uri, RIGHT);

    // What it includes is changed and saved; the header is written another way.
    std::fs::write(folder.path().join("library.ua"), LIBRARY.replace("swap", "turn"))
        .expect("a scratch file");
    let saved = json!({"jsonrpc": "2.0", "method": "textDocument/didSave", "params": {}});
    let saved = saved.to_string();
    client.raw(&format!("content-length: {}\r\n\r\n{saved}", saved.len()));
    let found = client.receive()["params"]["diagnostics"].clone();
    assert!(found.as_array().is_some_and(|found| !found.is_empty()), "{found}");
    // A wrong layout beside it is wrong in the editor, too.
    std::fs::write(folder.path().join("twice.layout.toml"), "name = 7\n").expect("a scratch file");
    let found = client.diagnostics("textDocument/didChange", &uri, &LIBRARY.replace("swap", "s"));
    let said = found[0]["message"].as_str().unwrap_or_default();
    assert!(found.len() == 1 && said.contains("twice.layout.toml"), "{found:?}");

    client.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    assert_eq!(client.receive()["params"]["diagnostics"], json!([]));
    assert!(client.ask("shutdown", Value::Null)["result"].is_null());
    client.notify("exit", Value::Null);
    let (code, said) = client.end();
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

#[test]
fn messages_out_of_order_are_answered_and_do_not_end_it() {
    let mut client = Client::start(&[]);
    let early = client.ask("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002, "{early}");
    client.initialize();
    let unknown = client.ask("textDocument/rename", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    client.raw("Content-Length: 3\r\n\r\n{{{");
    assert_eq!(client.receive()["error"]["code"], -32700);
    // Requests without what they need.
    for params in [json!({}), json!([]), json!({"textDocument": 7}), Value::Null] {
        assert!(client.ask("textDocument/definition", params)["result"].is_null());
    }
    // A program that no slicing compiles, and one of nothing.
    assert!(!client.diagnostics("textDocument/didOpen", "untitled:1", "").is_empty());
    client.ask("shutdown", Value::Null);
    let late = client.ask("textDocument/hover", json!({}));
    assert_eq!(late["error"]["code"], -32600, "{late}");
    client.notify("exit", Value::Null);
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn what_is_no_client_is_told_so() {
    let mut client = Client::start(&[]);
    client.raw("check mix.ua\n\n");
    let (code, said) = client.end();
    assert_eq!(code, Some(1));
    assert!(said.contains("does not speak the protocol") && said.contains("an editor starts it"));
    // A client that goes without `shutdown` has failed.
    let mut client = Client::start(&[]);
    client.initialize();
    assert_eq!(client.end(), (Some(1), String::new()));
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["lsp", "--json"])
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(testkit::json(&ran)["ok"], false);
}

const FIR: &str = "#include \"taps.h\"\n\nint fir(const int *x)\n{\n    int sum = 0;\n    for (int i = 0; i < TAPS; i++)\n        sum += x[i] * x[i];\n    return sum;\n}\n";

/// A file in a folder of its own, and its address.
fn written(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    std::fs::write(folder.path().join(name), text).expect("a scratch file");
    format!("file://{}/{name}", folder.path().display())
}

fn open(client: &mut Client, uri: &str, language: &str, text: &str) {
    let document = json!({"uri": uri, "text": text, "languageId": language, "version": 1});
    client.notify("textDocument/didOpen", json!({"textDocument": document}));
}

/// The lines from 0 and texts of a file's lenses.
fn lenses(client: &mut Client, uri: &str) -> Vec<(u64, String)> {
    let said = client.ask("textDocument/codeLens", json!({"textDocument": {"uri": uri}}));
    let one = |it: &Value| {
        let line = it["range"]["start"]["line"].as_u64()?;
        Some((line, it["command"]["title"].as_str()?.to_owned()))
    };
    let all = said["result"].as_array().expect("a list");
    all.iter().map(|lens| one(lens).expect("a lens")).collect()
}

#[test]
fn an_editor_sees_what_functions_loops_and_lines_cost() {
    if !testkit::has("lsp", &["arm-none-eabi-gcc"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let header = written(&folder, "taps.h", "#define TAPS 100\n");
    let uri = written(&folder, "fir.c", FIR);
    let mut client = Client::start(&["--cpu", "cortex-m4"]);
    let refresh = json!({"workspace": {"codeLens": {"refreshSupport": true}}});
    let answer = client.ask("initialize", json!({"capabilities": refresh}));
    assert!(answer["result"]["capabilities"]["codeLensProvider"].is_object(), "{answer}");
    open(&mut client, &uri, "c", FIR);
    let found = lenses(&mut client, &uri);
    let has = |found: &[(u64, String)], line: u64, word: &str| {
        found.iter().any(|(at, text)| *at == line && text.contains(word))
    };
    assert!(has(&found, 2, "at least [model cortex-m4]"), "{found:?}");
    assert!(has(&found, 5, "cycles an iteration"), "{found:?}");
    // They are those of the command line.
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["audit", "--cpu", "cortex-m4", "--json"])
        .arg(folder.path().join("fir.c"))
        .output()
        .expect("the binary runs");
    let told = testkit::json(&ran);
    let cycles = told["total_cycles"].as_u64().expect("a model of cycles");
    assert!(has(&found, 2, &format!("{cycles} cycles,")), "{found:?} {cycles}");

    // The text moves on and is not saved: what is known moves with its lines.
    let more = format!("// a word\n{FIR}");
    let document = json!({"uri": uri, "version": 2});
    let changes = json!([{"text": more}]);
    client.notify(
        "textDocument/didChange",
        json!({"textDocument": document, "contentChanges": changes}),
    );
    assert!(has(&lenses(&mut client, &uri), 3, "at least [model cortex-m4]"));
    let at = |line: u32| json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": 9}});
    let hover = client.ask("textDocument/hover", at(7));
    let said = hover["result"]["contents"]["value"].as_str().expect("the line has code");
    assert!(said.contains("**`fir`**") && said.contains("ldr"), "{said}");
    assert!(client.ask("textDocument/hover", at(0))["result"].is_null(), "no code is there");

    // What it includes is saved: the loop is gone, and the client is asked to ask again.
    std::fs::write(folder.path().join("taps.h"), "#define TAPS 1\n").expect("a scratch file");
    client.notify("textDocument/didSave", json!({"textDocument": {"uri": header}}));
    assert_eq!(client.receive()["method"], "workspace/codeLens/refresh");
    let found = lenses(&mut client, &uri);
    assert!(!found.iter().any(|(_, text)| text.contains("iteration")), "{found:?}");

    // What does not compile says so in its first line.
    std::fs::write(folder.path().join("fir.c"), FIR.replace("sum;", "sun;")).expect("ours");
    client.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    client.receive();
    let found = lenses(&mut client, &uri);
    assert!(found.len() == 1 && has(&found, 0, "not audited: "), "{found:?}");
    client.ask("shutdown", Value::Null);
    client.notify("exit", Value::Null);
    assert_eq!(client.end(), (Some(0), String::new()));
}

/// Of a built file the functions of the open source alone, in whichever language it is.
#[test]
fn a_built_file_serves_any_source_of_it() {
    if !testkit::has("lsp", &["aarch64-linux-gnu-gcc"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let uri = written(&folder, "one.c", "long one(long x)\n{\n    return x / 3;\n}\n");
    let other = written(&folder, "two.c", "long two(long *x)\n{\n    return x[0] * x[1];\n}\n");
    let compiled = Command::new("aarch64-linux-gnu-gcc")
        .args(["-O2", "-g", "-r", "-nostdlib", "one.c", "two.c", "-o", "all.o"])
        .current_dir(folder.path())
        .output()
        .expect("it runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let object = folder.path().join("all.o");
    let object = object.to_str().expect("text");
    // On a core that reorders there are bounds in place of cycles.
    for (cpu, said) in [("cortex-a53", "waiting"), ("cortex-a72", "at least")] {
        let mut client = Client::start(&["--object", object, "--cpu", cpu]);
        client.initialize();
        for uri in [&uri, &other] {
            open(&mut client, uri, "c", &std::fs::read_to_string(&uri[7..]).expect("it is there"));
            let found = lenses(&mut client, uri);
            assert!(found.len() == 1 && found[0].0 == 0 && found[0].1.contains(said), "{found:?}");
        }
    }
    // Without either nothing is audited, and nothing is announced.
    let mut client = Client::start(&[]);
    let answer = client.ask("initialize", json!({"capabilities": {}}));
    assert!(answer["result"]["capabilities"]["codeLensProvider"].is_null(), "{answer}");
    open(&mut client, &uri, "c", "");
    assert!(lenses(&mut client, &uri).is_empty());
    for (arguments, said) in [
        (["--cpu", "cortex-m44"], "cortex-m44"),
        (["--object", "/nowhere/all.o"], "there is no file `/nowhere/all.o`"),
    ] {
        let (code, text) = Client::start(&arguments).end();
        assert!(code == Some(1) && text.contains(said), "{text}");
    }
}

/// The grammar of editors is JSON whose patterns an engine of regular expressions takes.
#[test]
fn the_grammar_is_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../packaging/editors/usuba.tmLanguage.json");
    let text = std::fs::read_to_string(path).expect("it is there");
    let grammar: Value = serde_json::from_str(&text).expect("JSON");
    if !testkit::has("packaging/editors", &["node"]) {
        return;
    }
    for rule in grammar["patterns"].as_array().expect("a list") {
        let pattern = rule["match"].as_str().or(rule["begin"].as_str()).expect("a pattern");
        let script = "new RegExp(process.argv[1])";
        let ran = Command::new("node").args(["-e", script, pattern]).output().expect("node runs");
        assert!(ran.status.success(), "{pattern}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// What VS Code would start with these settings, by the extension with the editor and its client
/// played by a few lines.
fn started(settings: &Value) -> Value {
    let extension =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../packaging/editors/vscode/extension.js");
    let script = r#"
        const Module = require("module");
        const settings = JSON.parse(process.argv[2]);
        const vscode = {
          commands: {registerCommand: (name) => name},
          workspace: {
            getConfiguration: (name) => ({get: (key) => settings[`${name}.${key}`]}),
            onDidChangeConfiguration: (then) => vscode.changed = then,
            workspaceFolders: [{uri: {fsPath: "/work"}}],
          },
          window: {showErrorMessage: (said) => console.log(JSON.stringify({said}))},
        };
        class LanguageClient {
          constructor(id, name, server, client) { Object.assign(this, {server, client}); }
          async start() {
            if (this.server.command === "missing") throw new Error("ENOENT");
            console.log(JSON.stringify({...this.server, ...this.client}));
          }
          async stop() { console.log(JSON.stringify({stopped: true})); }
        }
        const ours = {vscode, "vscode-languageclient/node": {LanguageClient}};
        const load = Module._load;
        Module._load = (name, ...more) => ours[name] ?? load(name, ...more);
        const {activate, deactivate} = require(process.argv[1]);
        const all = async () => {
          await activate({subscriptions: []});
          await vscode.changed({affectsConfiguration: (name) => name === "meanwhile"});
          await vscode.changed({affectsConfiguration: () => false});
          await deactivate();
        };
        all();
    "#;
    let ran = Command::new("node")
        .args(["-e", script, extension, &settings.to_string()])
        .output()
        .expect("node runs");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    said.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")).collect()
}

#[test]
fn the_extension_starts_the_server_as_its_settings_say() {
    if !testkit::has("packaging/editors", &["node"]) {
        return;
    }
    let text = include_str!("../../packaging/editors/vscode/package.json");
    let package: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    let help = Command::new(env!("CARGO_BIN_EXE_meanwhile")).args(["lsp", "--help"]).output();
    let help = String::from_utf8(help.expect("the binary runs").stdout).expect("text");
    let settings = &package["contributes"]["configuration"]["properties"];
    let names: Vec<&String> = settings.as_object().expect("settings").keys().collect();
    assert_eq!(names.len(), 4, "{names:?}");

    let usual = started(&json!({}));
    assert_eq!(usual[0]["command"], "meanwhile");
    assert_eq!(usual[0]["args"], json!(["lsp"]));
    assert_eq!(usual[0]["options"]["cwd"], "/work");
    let languages: Vec<&Value> =
        (0..3).map(|n| &usual[0]["documentSelector"][n]["language"]).collect();
    assert_eq!(languages, ["usuba", "c", "cpp"]);
    assert_eq!((&usual[1]["stopped"], &usual[2]["command"]), (&json!(true), &json!("meanwhile")));
    assert_eq!((&usual[3]["stopped"], usual.as_array().map(Vec::len)), (&json!(true), Some(4)));

    let all = started(&json!({
        "meanwhile.path": "/opt/meanwhile",
        "meanwhile.cpu": "cortex-m4",
        "meanwhile.compileCommands": "build",
        "meanwhile.object": "a.elf",
    }));
    assert_eq!(all[0]["command"], "/opt/meanwhile");
    let words: Vec<&str> =
        all[0]["args"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    let expected =
        ["lsp", "--cpu", "cortex-m4", "--compile-commands", "build", "--object", "a.elf"];
    assert_eq!(words, expected);
    assert!(words.iter().filter(|word| word.starts_with("--")).all(|option| help.contains(option)));
    assert_eq!(all[0]["documentSelector"], json!([{"scheme": "file"}]), "of any language");

    let missing = started(&json!({"meanwhile.path": "missing"}));
    let said = missing[0]["said"].as_str().expect("a sentence");
    assert!(
        said.contains("`missing lsp` does not serve: ENOENT") && said.contains("meanwhile.path"),
        "{said}"
    );
}

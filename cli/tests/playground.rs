//! The playground: the module says under node, byte for byte, what the command line says; and its
//! page does so in a real browser, without a server.

use crate::support::browser;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use browser::Browser;
use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("cli lies in the root folder")
}

/// The page, made once; none where Rust cannot compile for a browser, which is then named.
fn page() -> Option<&'static Path> {
    static PAGE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let made = PAGE.get_or_init(|| {
        let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("playground/index.html");
        let script = root().join("scripts/playground.sh");
        let mut script = Command::new(script);
        if std::env::var_os("MEANWHILE_LONG").is_none() {
            // The same answers from a module that is larger and made sooner.
            let quick = [("LTO", "off"), ("CODEGEN_UNITS", "16"), ("OPT_LEVEL", "1")];
            script
                .envs(quick.map(|(key, value)| (format!("CARGO_PROFILE_PLAYGROUND_{key}"), value)));
        }
        let ran = script.arg(&page).output().expect("sh runs");
        if ran.status.code() == Some(2) {
            testkit::skipped("playground: Rust has no wasm32-unknown-unknown");
            return None;
        }
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        Some(page)
    });
    made.as_deref()
}

/// The page and node, or none.
fn page_and_node() -> Option<&'static Path> {
    if testkit::has("playground", &["node"]) { page() } else { None }
}

/// What the module answers to these questions, with the files that come with them.
fn ask(page: &Path, questions: &[(Value, Option<&Path>)]) -> Vec<Value> {
    let mut node = Command::new("node")
        .arg(root().join("cli/tests/support/playground.js"))
        .arg(root().join("playground/page.js"))
        .arg(page)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node is there");
    let lines: String = questions
        .iter()
        .map(|(question, file)| json!({"question": question, "file": file}).to_string() + "\n")
        .collect();
    let mut stdin = node.stdin.take().expect("a pipe");
    let writing = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let ran = node.wait_with_output().expect("node ends");
    writing.join().expect("no panic").expect("node reads");
    let said = String::from_utf8(ran.stdout).expect("JSON is text");
    let answers: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.len(), questions.len(), "an answer each");
    answers
}

/// The one answer to one question.
fn asked(page: &Path, question: Value, file: Option<&Path>) -> Value {
    let said = ask(page, &[(question, file)]).remove(0);
    assert_eq!(said["broke"], Value::Null);
    said["answer"].clone()
}

fn meanwhile(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Where two long texts differ, in a message of readable length.
fn assert_equal(what: &str, ours: &str, theirs: &str) {
    let differs = ours.lines().zip(theirs.lines()).find(|(our, their)| our != their);
    assert!(ours == theirs, "{what}: {differs:?}, {} and {} bytes", ours.len(), theirs.len());
}

fn is_long() -> bool {
    std::env::var_os("MEANWHILE_LONG").is_some()
}

#[test]
fn every_bundled_cipher_is_compiled_as_on_the_command_line() {
    let Some(page) = page_and_node() else { return };
    let about = asked(page, json!({"ask": "about"}), None);
    let ciphers = about["ciphers"].as_array().expect("a list");
    let archs: Vec<&str> =
        about["archs"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let mut wanted = Vec::new();
    for (idx, cipher) in ciphers.iter().filter(|it| it["is_file"].is_null()).enumerate() {
        let name = cipher["name"].as_str().expect("a name");
        // Each on one target, in turn; in long runs on all, in all modes.
        let archs = if is_long() { archs.clone() } else { vec![archs[idx % archs.len()]] };
        let modes = cipher["modes"].as_array().expect("a list").iter().filter_map(Value::as_str);
        let modes: Vec<Option<&str>> =
            std::iter::once(None).chain(modes.filter(|_| is_long()).map(Some)).collect();
        for arch in archs {
            wanted.extend(modes.iter().map(|mode| (name, arch, *mode)));
        }
    }
    assert!(wanted.len() > 25, "{wanted:?}");
    let questions: Vec<(Value, Option<&Path>)> = wanted
        .iter()
        .map(|(name, arch, mode)| {
            (json!({"ask": "cipher", "name": name, "arch": arch, "mode": mode}), None)
        })
        .collect();
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (said, (name, arch, mode)) in ask(page, &questions).into_iter().zip(wanted) {
        let mut args = vec!["cipher", "compile", name, "--arch", arch, "-o", "it.c"];
        args.extend(["--header", "it.h"]);
        mode.iter().for_each(|mode| args.extend(["--mode", mode]));
        let ran = meanwhile(&args, folder.path());
        assert!(ran.status.success(), "{args:?}: {}", text(&ran.stderr));
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("made");
        let answer = &said["answer"];
        let told: String = answer["told"]
            .as_array()
            .unwrap_or_else(|| panic!("{args:?}: {said}"))
            .iter()
            .map(|line| format!("{}\n", line.as_str().expect("a line")))
            .collect();
        let what = args.join(" ");
        assert_equal(&what, answer["source"].as_str().expect("C"), &read("it.c"));
        assert_equal(&what, answer["header"].as_str().expect("C"), &read("it.h"));
        assert_equal(&what, &told, &text(&ran.stdout));
    }
}

#[test]
fn a_program_of_ones_own_and_its_errors_are_those_of_the_command_line() {
    let Some(page) = page_and_node() else { return };
    let lea = root().join("examples/lea");
    let read = |name: &str| std::fs::read_to_string(lea.join(name)).expect("an example");
    let (program, layout) = (read("lea.ua"), read("lea.layout.toml"));
    let folder = tempfile::tempdir().expect("a scratch folder");
    let place = program.replace("delta[i] <<< i", "delta[i] <<< j").replace("= x[0]", "= z[0]");
    let cases = [
        ("as it is", program.clone(), layout.clone(), true),
        ("without a layout", program.clone(), String::new(), true),
        ("two errors", place, layout.clone(), false),
        ("a token", program.replacen("node", "nod\u{e9}", 1), layout.clone(), false),
        ("nothing", String::new(), String::new(), false),
        ("a layout for another", program.clone(), layout.replace("key =", "kez ="), false),
        ("no layout", program.clone(), "name = \"lea".to_owned(), false),
    ];
    for (what, program, layout, is_right) in cases {
        let beside = folder.path().join("lea.layout.toml");
        std::fs::write(folder.path().join("lea.ua"), &program).expect("a scratch file");
        // It may not be there yet.
        let _ = std::fs::remove_file(&beside);
        if !layout.is_empty() {
            std::fs::write(&beside, &layout).expect("a scratch file");
        }
        let ran = meanwhile(&["cipher", "compile", "lea.ua", "--arch", "neon"], folder.path());
        assert_eq!(ran.status.success(), is_right, "{what}: {}", text(&ran.stderr));
        let question = json!({"ask": "cipher", "name": "lea.ua", "text": program, "layout": layout, "arch": "neon"});
        let answer = asked(page, question, None);
        assert_eq!(answer["ok"], json!(is_right), "{what}");
        if is_right {
            assert_equal(what, answer["source"].as_str().expect("C"), &text(&ran.stdout));
            let warnings = answer["warnings"].as_array().expect("a list").iter();
            let said: String = warnings
                .map(|line| format!("warning: {}\n", line.as_str().expect("a line")))
                .collect();
            assert_equal(what, &said, &text(&ran.stderr));
        } else {
            assert_equal(what, answer["text"].as_str().expect("words"), &text(&ran.stderr));
        }
    }
}

/// Compares the module's audit of a file with that of the command line, where the file lies.
fn assert_audited(page: &Path, folder: &Path, names: &[String], cpu: &str, sources: &Value) {
    let files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    let questions: Vec<(Value, Option<&Path>)> = names
        .iter()
        .zip(&files)
        .map(|(name, file)| {
            (json!({"ask": "audit", "name": name, "cpu": cpu, "sources": sources}), Some(&**file))
        })
        .collect();
    for (said, name) in ask(page, &questions).into_iter().zip(names) {
        assert_eq!(said["broke"], Value::Null, "{name}");
        let answer = &said["answer"];
        let common = ["audit", name.as_str(), "--cpu", cpu];
        if answer["ok"] == json!(false) {
            let ran = meanwhile(&common, folder);
            assert_eq!(ran.status.code(), Some(1), "{name}: {answer}");
            assert_equal(name, answer["text"].as_str().expect("words"), &text(&ran.stderr));
            continue;
        }
        let function = answer["function"].as_str().unwrap_or_else(|| panic!("{name}: {answer}"));
        let with = |more: &[&str]| {
            let args = [&common[..], &["--function", function], more].concat();
            let ran = meanwhile(&args, folder);
            assert!(ran.status.success(), "{args:?}: {}", text(&ran.stderr));
            text(&ran.stdout)
        };
        assert_equal(name, answer["text"].as_str().expect("a text"), &with(&[]));
        let html = answer["html"].as_str().expect("a page");
        assert_equal(name, html, &with(&["--format", "html"]));
        let all = meanwhile(&[&common[..], &["--all-functions", "--json"]].concat(), folder);
        let all: Value = serde_json::from_slice(&all.stdout).expect("JSON");
        let theirs: Vec<[&Value; 3]> = all["functions"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| [&it["total_cycles"], &it["stall_cycles"], &it["lower_bound"]["total"]])
            .collect();
        let ours: Vec<[&Value; 3]> = answer["functions"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| [&it["cycles"], &it["waiting"], &it["bound"]])
            .collect();
        assert_eq!(ours, theirs, "{name}");
    }
}

#[test]
fn objects_are_audited_as_on_the_command_line() {
    let Some(page) = page_and_node() else { return };
    let demo = root().join("examples/demo");
    let source = std::fs::read_to_string(demo.join("checksum.c")).expect("an example");
    let sources = json!({"checksum.c": source});
    assert_audited(page, &demo, &["checksum.o".to_owned()], "cortex-a53", &sources);
    // What others wrote: the members of C libraries.
    let libraries = [
        ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-ar", "libc.a", "cortex-a53"),
        ("arm-none-eabi-gcc", "arm-none-eabi-ar", "libc.a", "cortex-m4"),
    ];
    let n_wanted = if is_long() { 1000 } else { 20 };
    for (cc, ar, library, cpu) in libraries {
        if !testkit::has("playground", &[cc, ar]) {
            continue;
        }
        let folder = tempfile::tempdir().expect("a scratch folder");
        let found = Command::new(cc).arg(format!("-print-file-name={library}")).output();
        let path = text(&found.expect("a compiler runs").stdout).trim().to_owned();
        let ran = Command::new(ar).args(["x", &path]).current_dir(folder.path()).status();
        assert!(ran.expect("ar runs").success(), "{path}");
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        let step = (names.len() / n_wanted).max(1);
        let some: Vec<String> = names.into_iter().step_by(step).take(n_wanted).collect();
        assert_audited(page, folder.path(), &some, cpu, &json!({}));
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_as_on_the_command_line() {
    let Some(page) = page_and_node() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let object = std::fs::read(root().join("examples/demo/checksum.o")).expect("an example");
    let half = object[..object.len() / 2].to_vec();
    // 50 MB of nothing, and an object in front of as much.
    let empty = vec![0; 50 << 20];
    let large = [&object[..], &empty].concat();
    for (name, bytes, args) in [
        ("no.txt", b"int f(void);\n".to_vec(), &["--cpu", "cortex-a53"][..]),
        ("half.o", half, &["--cpu", "cortex-a53"]),
        ("empty.o", empty, &[]),
        ("large.o", large, &["--cpu", "cortex-a53"]),
        ("other.o", object.clone(), &["--cpu", "leon3"]),
        ("core.o", object.clone(), &["--cpu", "cortex-a54"]),
        ("name.o", object, &["--cpu", "cortex-a53", "--function", "checksun"]),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a scratch file");
        let ran = meanwhile(&[&["audit", name], args].concat(), folder.path());
        let mut question = json!({"ask": "audit", "name": name});
        for pair in args.chunks(2) {
            question[pair[0].trim_start_matches("--")] = json!(pair[1]);
        }
        let answer = asked(page, question, Some(&path));
        let theirs = if ran.status.success() { ran.stdout } else { ran.stderr };
        assert_equal(name, answer["text"].as_str().expect("words"), &text(&theirs));
    }
}

#[test]
fn after_a_mistake_of_ours_its_words_are_there_and_the_next_question_is_answered() {
    let Some(page) = page_and_node() else { return };
    let wrong = (json!({"ask": "nothing"}), None);
    let said = ask(page, &[wrong, (json!({"ask": "about"}), None)]);
    let words = said[0]["broke"].as_str().expect("it broke");
    assert!(words.contains("panicked at playground/src/questions.rs"), "{words}");
    assert!(words.contains("unknown variant `nothing`"), "{words}");
    assert_eq!(said[1]["answer"]["ok"], json!(true));
}

/// The page in a browser.
struct Shown {
    browser: Browser,
    url: String,
}

impl Shown {
    /// The page in a browser; none where one of the two is missing, which is then named.
    fn open() -> Option<Shown> {
        if !testkit::has("playground's page", &["chromium", "chromedriver"]) {
            return None;
        }
        let url = format!("file://{}", page()?.display());
        Some(Shown { browser: Browser::open(), url })
    }

    /// Goes to the page with this state, as one does who was sent the link.
    fn go(&self, state: &str) {
        self.browser.post("/url", json!({"url": "about:blank"}));
        self.browser.post("/url", json!({"url": format!("{}{state}", self.url)}));
    }

    fn value(&self, script: &str) -> String {
        self.browser.script(script).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an element has such a text.
    fn wait(&self, id: &str, wanted: &str) -> String {
        let start = Instant::now();
        loop {
            let read = format!("return document.getElementById('{id}').textContent");
            let text = self.value(&read);
            if text.contains(wanted) {
                return text;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{id}: `{wanted}` is not in {text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn trouble(&self) -> String {
        self.value("return document.getElementById('trouble').textContent")
    }
}

#[test]
fn the_page_shows_what_its_address_says() {
    let Some(shown) = Shown::open() else { return };
    // The first explained stall, without a click.
    shown.go("");
    shown.wait("listing", "checksum on cortex-a53: 14 instructions");
    shown.browser.post("/frame", json!({"id": 0}));
    let start = Instant::now();
    while shown.browser.elements("#explanation h3").is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "no stall is explained");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(shown.browser.text("#explanation").starts_with("stall: ldrh w1, [x2], #2"));
    shown.browser.post("/frame", json!({"id": null}));
    // A machine and a cipher that somebody else chose.
    shown.go("#show=audit&cpu=cortex-a55");
    shown.wait("listing", "checksum on cortex-a55:");
    shown.go("#show=cipher&name=present-80&arch=neon&slicing=b");
    shown.wait("made", "/* present-80: block cipher");
    assert!(shown.wait("told", "slicing b").contains("gates"));
    // Errors come as one types, and the address holds the text for others.
    shown.browser.script(
        "const text = document.getElementById('text'); text.value = 'node f (x : u8) returns (y : u8) let y = z tel'; \
         text.dispatchEvent(new Event('input')); document.getElementById('layout').value = ''",
    );
    shown.wait("errors", "unknown variable `z`");
    let there = shown.value("return location.hash");
    assert!(there.contains("text="), "{there}");
    shown.go(&there);
    shown.wait("errors", "unknown variable `z`");
    assert_eq!(shown.trouble(), "");
    assert_eq!(
        (shown.browser.colour("light").as_str(), shown.browser.colour("dark").as_str()),
        ("rgb(255, 255, 255)", "rgb(20, 23, 26)")
    );
}

#[test]
fn a_dropped_object_is_in_the_address_of_what_it_shows() {
    let Some(shown) = Shown::open() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let object = folder.path().join("mine.o");
    std::fs::copy(root().join("examples/demo/checksum.o"), &object).expect("an example");
    shown.go("");
    shown.wait("listing", "checksum on cortex-a53");
    let files = &shown.browser.elements("#files")[0];
    shown.browser.post(&format!("/element/{files}/value"), json!({"text": object}));
    shown.wait("command", "meanwhile audit mine.o");
    let start = Instant::now();
    while !shown.value("return location.hash").contains("object=") {
        assert!(start.elapsed() < Duration::from_secs(60), "the address has no object");
        std::thread::sleep(Duration::from_millis(50));
    }
    let there = shown.value("return location.hash");
    // Nobody gave its source.
    let listing = shown.wait("listing", "14 cycles [model cortex-a53]");
    assert!(!listing.contains("sum += words[i]"), "{listing}");
    shown.go(&there);
    shown.wait("command", "meanwhile audit mine.o");
    assert_eq!(shown.wait("listing", "14 cycles [model cortex-a53]"), listing);
    // Then one that is none: nothing of the last one is left.
    std::fs::write(&object, "int f(void);\n").expect("a scratch file");
    let files = &shown.browser.elements("#files")[0];
    shown.browser.post(&format!("/element/{files}/value"), json!({"text": object}));
    shown.wait("trouble", "`mine.o` is not an ELF file");
    assert_eq!(shown.wait("listing", ""), "");
}

#[test]
fn a_damaged_address_says_so_and_the_page_lives() {
    let Some(shown) = Shown::open() else { return };
    for (state, said) in [
        ("#show=cipher&name=lea&text=%%%", "its `text` cannot be unpacked"),
        ("#show=cipher&text=AAAA", "its `text` cannot be unpacked"),
        ("#show=nothing", "it shows `nothing`"),
        ("#show=cipher&name=aes-129", "it names a program `aes-129`"),
        ("#moon=full", "it has `moon`, which this page does not know"),
        ("#show=audit&file=x.o&object=zzz", "its `object` cannot be unpacked"),
    ] {
        shown.go(state);
        let trouble = shown.wait("trouble", said);
        assert!(trouble.starts_with("The link is damaged: "), "{trouble}");
        assert!(trouble.contains("Ask for it again"), "{trouble}");
        // It shows the example.
        let id = if state.contains("cipher") { "made" } else { "listing" };
        shown.wait(id, if id == "made" { "lea-128" } else { "checksum on cortex-a53" });
    }
    for (state, said) in [
        ("#show=audit&cpu=cortex-a54", "there is no machine `cortex-a54`"),
        ("#show=cipher&name=aes-128&arch=avx1024", "there is no target `avx1024`"),
        ("#show=audit&file=large.o", "drop that file here"),
    ] {
        shown.go(state);
        let id = if state.contains("arch") { "errors" } else { "trouble" };
        shown.wait(id, said);
    }
    shown.browser.assert_quiet();
    // A browser that lacks what the page needs, or is forbidden it.
    let without = json!({"source": "delete globalThis.WebAssembly"});
    shown.browser.post(
        "/goog/cdp/execute",
        json!({"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": without}),
    );
    shown.go("");
    shown.wait("trouble", "This browser lacks WebAssembly");
}

#[test]
fn a_program_that_compiles_for_minutes_is_stopped_and_the_page_lives() {
    let Some(shown) = Shown::open() else { return };
    shown.go("#show=cipher");
    shown.wait("made", "lea-128");
    let long = "node f (x : u32x2) returns (y : u32x2) vars s : u32x2[300001] let s[0] = x; \
                forall i in [0, 299999] { s[i+1] = (s[i][1] + s[i][0], s[i][0] ^ s[i][1]) } \
                y = s[300000] tel";
    let type_in = |program: &str| {
        shown.browser.script(&format!(
            "const text = document.getElementById('text'); text.value = {}; \
             document.getElementById('layout').value = ''; text.dispatchEvent(new Event('input'))",
            json!(program)
        ));
    };
    type_in(long);
    shown.wait("said", "working");
    shown.browser.script("document.getElementById('stop').click()");
    shown.wait("trouble", "stopped: the command line below does the same without a limit");
    type_in("node g (x : u8) returns (y : u8) let y = ~x tel");
    shown.wait("told", "8 equations");
    shown.wait("made", "/* lea: program");
    assert_eq!(shown.trouble(), "");
}

//! The language by examples: `ok/` has a file for each production and each trap, `bad/` one for
//! each refusal.
//!
//! The comments of a file of `ok/` have its expected results:
//!
//! ```text
//! # run x=12,34 c=01 -> y=26       values as lists of hex words; one-bit words as one string
//! # word 16                        the size variable, for the runs below
//! # entry NAME                     the node to run, for the runs below; the last one otherwise
//! # slicings b v                   the slicings that must be legal; `none` for none
//! # warns: TEXT                    a warning of `check`
//! ```
//!
//! A file of `bad/` has its messages in `NAME.expected`; `# compile b` (or v, h; `b all` also
//! inlines all) compiles programs that pass `check`. A folder stands for its `main.ua`.
//! `UPDATE_EXPECT=1` rewrites.

use crate::support;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use cipher::elaborate::check;
use cipher::interp::{Port, Words, interface};
use cipher::options::{Options, Recipe, Slicing};
use cipher::passes::inline::Inline;
use cipher::pipeline::{compile, slicings};
use cipher::syntax::{ast::Program, load};
use report::Diagnostic;
use support::agree::{all_options, caught, compiled_agrees, interpret};

/// The files of a folder of tests, a folder in it standing for its `main.ua`.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(Path::new("tests").join(folder))
        .expect("tests run in the crate's folder")
        .map(|entry| entry.expect("a readable folder").path())
        .map(|path| if path.is_dir() { path.join("main.ua") } else { path })
        .filter(|path| path.extension().is_some_and(|e| e == "ua"))
        .collect();
    all.sort();
    assert!(all.len() > 50, "tests/{folder} lost its files");
    all
}

fn directive<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.trim_end().strip_prefix("# ")?.strip_prefix(name)?.strip_prefix([' ', ':'])
}

fn last_definition(program: &Program) -> String {
    program.defs.last().expect("a program has definitions").name.name.to_string()
}

/// `1f,2` or, for bits, `0110`.
fn words(text: &str, port: &Port) -> Words {
    let parts: Vec<String> = if port.m == 1 {
        text.chars().map(String::from).collect()
    } else {
        text.split(',').map(String::from).collect()
    };
    let words: Words = parts
        .iter()
        .map(|w| {
            u64::from_str_radix(w, 16).unwrap_or_else(|_| panic!("`{text}` is not a list of words"))
        })
        .collect();
    assert_eq!(words.len(), port.n, "words of `{}`", port.name);
    words
}

fn values(text: &str, ports: &[Port]) -> Vec<Words> {
    let fields: Vec<(&str, &str)> =
        text.split_whitespace().map(|f| f.split_once('=').expect("name=value")).collect();
    assert_eq!(fields.len(), ports.len(), "as many values as ports in `{text}`");
    ports
        .iter()
        .map(|port| {
            let (_, value) = fields
                .iter()
                .find(|f| f.0 == &*port.name)
                .unwrap_or_else(|| panic!("`{}` has no value in `{text}`", port.name));
            words(value, port)
        })
        .collect()
}

fn run_ok(path: &Path) -> Result<usize, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let program = load(path, &[]).map_err(|errors| errors[0].to_string())?;
    let warnings = check(&program).map_err(|errors| errors[0].to_string())?;
    let warned: Vec<String> = warnings.iter().map(|w| w.message.clone()).collect();
    let expected: Vec<String> =
        text.lines().filter_map(|l| directive(l, "warns")).map(|t| t.trim().to_string()).collect();
    if warned != expected {
        return Err(format!("warnings {warned:?}, not {expected:?}"));
    }
    let (mut entry, mut word, mut legal) = (last_definition(&program), None, None);
    let mut n_runs = 0;
    for line in text.lines() {
        if let Some(name) = directive(line, "entry") {
            entry = name.to_string();
        } else if let Some(bits) = directive(line, "word") {
            word = bits.parse().ok();
        } else if let Some(list) = directive(line, "slicings") {
            legal = Some(list.to_string());
        } else if let Some(run) = directive(line, "run") {
            let (args, results) =
                run.split_once("->").ok_or("`# run` has `->` between arguments and results")?;
            run_one(&program, &entry, word, args, results)
                .map_err(|what| format!("{run}\n{what}"))?;
            n_runs += 1;
        }
    }
    let compiled: Vec<&str> =
        slicings(&program, &[&entry], word).iter().map(|s| s.letter()).collect();
    let compiled = if compiled.is_empty() { "none".to_string() } else { compiled.join(" ") };
    match legal {
        Some(legal) if legal != compiled => {
            Err(format!("it compiles in the slicings {compiled}, not {legal}"))
        }
        None if compiled == "none" => Err("it compiles in no slicing".into()),
        _ if n_runs == 0 => Err("no `# run` line".into()),
        _ => Ok(n_runs),
    }
}

fn run_one(
    program: &Program,
    entry: &str,
    word: Option<u32>,
    args: &str,
    results: &str,
) -> Result<(), String> {
    let (inputs, outputs) =
        interface(program, entry, word).ok_or("the sizes are open: give `# word`")?;
    let (args, want) = (values(args, &inputs), values(results, &outputs).concat());
    let case = interpret(program, entry, word, &args)?;
    let got: Words = case.results.iter().map(|r| r.0).collect();
    if got != want {
        return Err(format!("the interpreter gives {got:x?}, not {want:x?}"));
    }
    let is_open = interface(program, entry, None).is_none();
    let narrow: Vec<Words> =
        args.iter().map(|words| words.iter().map(|w| w & 1).collect()).collect();
    let bits = if is_open { Some(interpret(program, entry, Some(1), &narrow)?) } else { None };
    for slicing in slicings(program, &[entry], word) {
        let case = if slicing == Slicing::Bit { bits.as_ref().unwrap_or(&case) } else { &case };
        for options in all_options(slicing, word) {
            compiled_agrees(program, entry, &options, std::slice::from_ref(case))?;
        }
    }
    Ok(())
}

#[test]
fn good_programs_give_their_results() {
    let mut failures = Vec::new();
    for path in files("ok") {
        if let Err(what) = caught(|| run_ok(&path)) {
            failures.push(format!("{}: {what}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The messages in the form of the expected files.
fn render(errors: &[Diagnostic]) -> String {
    let mut out = String::new();
    for error in errors {
        let _ = writeln!(out, "error: {}", error.message);
        for (i, (span, label)) in error.spans.iter().enumerate() {
            let (line, column) = span.line_column();
            let file = Path::new(&span.file.name).file_name().unwrap_or_default().to_string_lossy();
            let _ = writeln!(
                out,
                "  {} {file}:{line}:{column}: {label}",
                if i == 0 { "at" } else { "and" }
            );
        }
        if let Some(help) = &error.help {
            let _ = writeln!(out, "  help: {help}");
        }
    }
    out
}

fn messages(path: &Path) -> String {
    let program = match load(path, &[]) {
        Ok(program) => program,
        Err(errors) => return render(&errors),
    };
    if let Err(errors) = check(&program) {
        return render(&errors);
    }
    let text = std::fs::read_to_string(path).expect("it was loaded");
    let entry = text
        .lines()
        .find_map(|l| directive(l, "entry"))
        .map_or_else(|| last_definition(&program), str::to_string);
    let Some(how) = text.lines().find_map(|l| directive(l, "compile")) else {
        return "accepted by `check`\n".into();
    };
    let slicing = match how.split_whitespace().next() {
        Some("b") => Slicing::Bit,
        Some("v") => Slicing::Vertical,
        _ => Slicing::Horizontal,
    };
    let inline = if how.ends_with("all") { Inline::All } else { Inline::Auto };
    let recipe = Recipe { inline, ..Recipe::unordered(slicing) };
    match compile(&program, &[&entry], &Options::generic(recipe)) {
        Ok(_) => "compiled\n".into(),
        Err(errors) => render(&errors),
    }
}

#[test]
fn bad_programs_get_their_messages() {
    let mut failures = Vec::new();
    for path in files("bad") {
        let got = caught(|| Ok(messages(&path))).unwrap_or_else(|panic| format!("{panic}\n"));
        let expected = if path.ends_with("main.ua") {
            path.parent().expect("a folder").with_extension("expected")
        } else {
            path.with_extension("expected")
        };
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected, &got).expect("tests/bad is writable");
        }
        let want = std::fs::read_to_string(&expected).unwrap_or_default();
        let is_refused = got.starts_with("error: ") && !got.contains("panic");
        if got != want || !is_refused {
            failures.push(format!("{}:\n{got}", path.display()));
        }
    }
    assert!(
        failures.is_empty(),
        "{}\nUPDATE_EXPECT=1 rewrites the expected messages",
        failures.join("\n")
    );
}

#[test]
fn files_that_cannot_be_read() {
    let folder = std::env::temp_dir().join(format!("cipher-language-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable temporary folder");
    let first = |path: &Path| {
        load(path, &[]).expect_err("it is refused")[0]
            .message
            .replace(&*folder.to_string_lossy(), "DIR")
    };
    assert_eq!(
        first(&folder.join("nowhere.ua")),
        "cannot read `DIR/nowhere.ua`: No such file or directory (os error 2)"
    );
    assert_eq!(first(&folder), "`DIR` is a folder, not an Usuba file");
    assert_eq!(first(Path::new("/dev/null")), "`/dev/null` is not an ordinary file");
    let huge = folder.join("huge.ua");
    std::fs::File::create(&huge).and_then(|file| file.set_len(17 << 20)).expect("a sparse file");
    assert_eq!(first(&huge), "`DIR/huge.ua` is larger than 16 MiB");
    for i in 0..70 {
        let text =
            format!("include \"f{}.ua\"\nnode n{i}(x:u8) returns (y:u8) let y = x tel\n", i + 1);
        std::fs::write(folder.join(format!("f{i}.ua")), text).expect("a writable folder");
    }
    assert_eq!(first(&folder.join("f0.ua")), "more than 64 files included in one another");
    std::fs::remove_dir_all(&folder).expect("it was made above");
}

#[test]
fn long_chains_inside_deep_parentheses() {
    let mut value = "x".to_string();
    for _ in 0..90 {
        value = format!("({value}{})", " ^ x".repeat(390));
    }
    for chain in [value.clone(), format!("~{value} <<< 1"), format!("f({value})")] {
        let text = format!(
            "node f(x:u8) returns (y:u8) let y = ~x tel node g(x:u8) returns (y:u8) let y = {chain} tel"
        );
        // Either answer is right; running out of stack is not.
        if let Ok(program) = cipher::syntax::load_text("deep.ua", &text, &[]) {
            let _ = check(&program);
        }
    }
}

#[test]
fn include_folders_are_searched_in_order() {
    let text = "include \"flip.ua\"\nnode f(x:u8) returns (y:u8) let y = flip(x) tel";
    let folders = [PathBuf::from("tests/bad"), PathBuf::from("tests/ok/include/inner")];
    assert!(cipher::syntax::load_text("memory.ua", text, &folders).is_ok());
    let errors =
        cipher::syntax::load_text("memory.ua", text, &folders[..1]).expect_err("it is not there");
    assert_eq!(errors[0].message, "cannot find the included file `flip.ua`");
}

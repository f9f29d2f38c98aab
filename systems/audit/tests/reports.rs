//! Whole reports: a file of assembly and, beside it, the text that `meanwhile audit` prints of it.
//! The first line of the assembly is a comment with its machine. `UPDATE_EXPECT=1` rewrites.

use std::fs;
use std::path::{Path, PathBuf};

use audit::audit::{Options, audit};
use audit::decode::Isa;
use audit::program::Program;
use audit::program::toolchain::{self, Build};
use audit::timing::licence::Effort;
use audit::views::html::html;
use audit::views::json::json;
use audit::views::text::{Sources, View, text};
use machine::in_order::Core;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports");
    let entries = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|entry| entry.extension().is_some_and(|ending| ending == "s")).collect();
    files.sort();
    files
}

/// The audit of the only function of a file, with the lines of the file.
fn audited(path: &Path) -> (audit::audit::Audit, Sources) {
    let source = fs::read_to_string(path).expect("it is there");
    let cpu = source
        .split("--cpu ")
        .nth(1)
        .and_then(|part| part.split(':').next())
        .expect("the first line names the machine");
    let core = Core::bundled(cpu).expect("it is bundled");
    let isa = Isa::ALL
        .into_iter()
        .find(|it| it.name() == own_set(&core, &source))
        .expect("a core runs a set");
    let bytes = toolchain::compile(path, isa, cpu, &Build::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let program = Program::parse("report.o", &bytes).expect("an object file");
    let [symbol] = &program.symbols[..] else { panic!("one function: {:?}", program.symbols) };
    let options =
        Options { avoid: Vec::new(), through: Vec::new(), effort: Effort::Search, recorded: None };
    let audit = audit(&program, symbol, cpu, Some(&core), &options).expect("it is code");
    let files = audit.function.frames.iter().flatten().map(|frame| frame.file.clone());
    let lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let sources = files.map(|file| (file, lines.clone())).collect();
    (audit, sources)
}

/// Of two sets the one that the text is in.
fn own_set<'a>(core: &'a Core, source: &str) -> &'a str {
    let is_meant =
        |text: &&String| source.contains(".arm") == (*text == "a32") || core.sets.len() == 1;
    core.sets.iter().find(is_meant).expect("a core runs a set")
}

#[test]
fn reports_are_as_they_stand_beside_their_files() {
    let mut failures = Vec::new();
    for path in files() {
        let (audit, sources) = audited(&path);
        let got = text(&audit, &sources, &View::default());
        let expected = path.with_extension("expected");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expected, &got).expect("tests/reports is writable");
        }
        if got != fs::read_to_string(&expected).unwrap_or_default() {
            failures.push(format!("{}:\n{got}", path.display()));
        }
    }
    assert!(
        failures.is_empty(),
        "{}\nUPDATE_EXPECT=1 rewrites the expected reports",
        failures.join("\n")
    );
}

/// What rests on a disputed figure says both figures in every view, and what does not says nothing.
#[test]
fn a_finding_on_a_disputed_figure_has_both_in_every_view() {
    for path in files() {
        let (audit, sources) = audited(&path);
        let object = json(&audit, &View::default());
        let page = html(&audit, &sources, &View::default());
        let told =
            object["findings"].as_array().expect("findings").iter().map(|value| &value["disputed"]);
        let loops =
            object["loops"].as_array().expect("loops").iter().map(|value| &value["disputed"]);
        let disputes: Vec<_> =
            told.chain(loops).flat_map(|told| told.as_array().expect("a list")).collect();
        let said = text(&audit, &sources, &View::default());
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(disputes.is_empty(), !said.contains(" disputed: "), "{}", path.display());
        for it in disputes {
            let figures =
                format!("of {} is {} here, ", it["work"][0].as_str().expect("a name"), it["here"]);
            let other = format!("{} by ", it["other"]);
            for view in [&said, &page] {
                let clause = view
                    .split(figures.as_str())
                    .nth(1)
                    .unwrap_or_else(|| panic!("{figures} in {view}"));
                assert!(
                    clause.contains(&other)
                        && clause.contains(it["source"].as_str().expect("a source")),
                    "{clause}"
                );
            }
        }
    }
}

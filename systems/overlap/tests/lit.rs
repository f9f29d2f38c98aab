//! Runs the plugin's own tests, one behaviour a file, with lit and FileCheck.

mod support;

use std::path::Path;
use std::process::Command;

use measure::tool;

const LIT: [&str; 2] = ["/usr/lib/llvm-19/build/utils/lit/lit.py", "/usr/lib/llvm-19/bin/lit"];

#[test]
fn every_behaviour_of_the_plugin() {
    let Some(plugin) = support::plugin("lit") else { return };
    let Some(lit) = LIT.into_iter().find(|it| Path::new(it).is_file()) else {
        return support::skip("overlap lit: lit is missing (llvm-19-tools)");
    };
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let mut command = Command::new("python3");
    command.args([lit, "-j2", "--verbose", "--order=lexical"]).arg(support::root().join("systems/overlap/tests/lit"));
    command.env("OVERLAP_PLUGIN", plugin).env("OVERLAP_SCRATCH", scratch.path());
    let ran = tool::run(&mut command, b"", support::LIMIT).expect("lit runs");
    assert!(ran.status.success(), "{}", ran.text());
    assert!(!ran.text().contains("UNSUPPORTED"), "{}", ran.text());
}

#[test]
fn every_refusal_has_its_test() {
    let folder = support::root().join("systems/overlap");
    let table = std::fs::read_to_string(folder.join("plugin/Refusals.def")).expect("the table is there");
    let names: Vec<&str> =
        table.lines().filter_map(|line| line.strip_prefix("REFUSAL(")).map(|it| it.split(',').next().expect("a first part")).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let found = ["c", "ll", "cpp"].iter().any(|end| folder.join(format!("tests/lit/refuses-{name}.{end}")).is_file());
        assert!(found, "no test named refuses-{name}");
    }
}

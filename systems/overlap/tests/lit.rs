//! Runs the plugin's own tests, one behaviour a file, with lit and FileCheck.

use crate::support;

#[test]
fn every_behaviour_of_the_plugin() {
    if support::plugin("lit").is_none() {
        return;
    }
    for llvm in support::versions("lit") {
        let plugin = overlap::plugin::plugin(llvm).unwrap_or_else(|error| panic!("{error}"));
        support::lit(llvm, &plugin, None, support::LIMIT);
    }
}

#[test]
fn every_refusal_has_its_test() {
    let folder = support::root().join("systems/overlap");
    let table =
        std::fs::read_to_string(folder.join("plugin/Refusals.def")).expect("the table is there");
    let names: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("REFUSAL("))
        .map(|it| it.split(',').next().expect("a first part"))
        .collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let found = ["c", "ll", "cpp"]
            .iter()
            .any(|end| folder.join(format!("tests/lit/refuses-{name}.{end}")).is_file());
        assert!(found, "no test named refuses-{name}");
    }
}

//! `meanwhile audit cpus`: what two sources say differently of a machine.

use std::fs;
use std::process::Command;

use serde_json::Value;

fn ran(args: &[&str]) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .arg("audit")
        .args(args)
        .output()
        .expect("the binary runs");
    assert_eq!(ran.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("it prints text")
}

/// The figures of one `other` and its source, as (key, number) pairs.
fn figures(other: &toml::Table) -> Vec<(String, i64)> {
    let mut figures = Vec::new();
    for (key, value) in other {
        match value {
            toml::Value::Integer(it) => figures.push((key.clone(), *it)),
            toml::Value::Table(inner) => {
                figures.extend(inner.iter().map(|(role, it)| {
                    (format!("{key}.{role}"), it.as_integer().expect("a number"))
                }));
            }
            _ => {}
        }
    }
    figures
}

/// Every `other` in a file, wherever it stands.
fn others<'a>(value: &'a toml::Value, found: &mut Vec<&'a toml::Table>) {
    match value {
        toml::Value::Table(table) => {
            for (key, inner) in table {
                if key == "other" {
                    found.extend(
                        inner.as_array().expect("a list").iter().filter_map(toml::Value::as_table),
                    );
                } else {
                    others(inner, found);
                }
            }
        }
        toml::Value::Array(all) => all.iter().for_each(|it| others(it, found)),
        _ => {}
    }
}

#[test]
fn every_dispute_of_every_machine_file_is_printed_with_both_figures() {
    let table = ran(&["cpus", "--compare"]);
    assert_eq!(table, ran(&["cores", "--compare"]), "both names of the command");
    let object: Value =
        serde_json::from_str(&ran(&["cpus", "--compare", "--json"])).expect("one object");
    let said = object["disputes"].as_array().expect("a list");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../machines");
    let mut n_written = 0;
    for entry in fs::read_dir(folder).expect("the machine files") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let file: toml::Table = fs::read_to_string(&path).expect("a text").parse().expect("TOML");
        let file = toml::Value::Table(file);
        let mut found = Vec::new();
        others(&file, &mut found);
        for other in found {
            let source = other["source"].as_str().expect("a source");
            for (figure, value) in figures(other) {
                n_written += 1;
                let is_it = |it: &&Value| {
                    it["cpu"] == name.as_str()
                        && it["figure"] == figure.as_str()
                        && it["source"] == source
                        && it["other"] == value
                };
                let dispute = said
                    .iter()
                    .find(is_it)
                    .unwrap_or_else(|| panic!("{name}: {figure} of {source} is not printed"));
                assert_ne!(dispute["here"], dispute["other"], "{dispute}");
                let is_row = |line: &&str| {
                    line.contains(&name) && line.contains(&figure) && line.contains(source)
                };
                assert!(
                    table.lines().find(is_row).is_some(),
                    "{name}: {figure} of {source} in\n{table}"
                );
            }
        }
    }
    assert_eq!(said.len(), n_written);
    for name in ["cortex-a53", "cortex-a55", "cortex-a72", "rocket", "sifive-u74"] {
        assert!(said.iter().any(|value| value["cpu"] == name), "{name} has two sources");
    }
}

#[test]
fn what_compilers_believe_stands_beside_what_counts() {
    let object: Value =
        serde_json::from_str(&ran(&["cpus", "--beliefs", "--json"])).expect("one object");
    let of = |cpu: &str| {
        object["beliefs"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|value| value["cpu"] == cpu)
            .expect("every core")
            .clone()
    };
    let row = |cpu: &str, work: &str| {
        of(cpu)["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .find(|value| value["work"] == work)
            .expect("a row")
            .clone()
    };
    // gcc's table of the ARM1136 is one short where the manual has 3; LLVM's is none that llvm-mca
    // reads.
    assert_eq!(
        row("arm1136jf-s", "load"),
        serde_json::json!({"work": "load", "here": 3, "gcc": 2, "llvm": null})
    );
    assert_eq!(
        row("rocket", "mul"),
        serde_json::json!({"work": "mul", "here": 5, "gcc": 10, "llvm": 4})
    );
    assert!(
        of("cortex-m33")["gcc"].as_str().expect("words").contains("for want of its own"),
        "gcc has no table of the M33"
    );
    assert!(of("cortex-m33")["llvm"].as_str().expect("words").contains("Cortex-M4"));
    let table = ran(&["cpus", "--beliefs"]);
    assert!(table.contains("cortex-m0plus: gcc schedules by arm-generic.md, for want of its own; LLVM by ARMV6Itineraries"), "{table}");
}

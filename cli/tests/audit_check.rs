//! `meanwhile audit check` judges every function of a budget that can be judged, and says of the
//! others that they were not.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::audited;
use audited::{audit, ok, refused, text};

const CODE: &str = "
.macro function name
.globl \\name
.type \\name, %function
\\name:
.endm
.text
function slow
 mul x0, x0, x0\n mul x0, x0, x0\n mul x0, x0, x0\n mul x0, x0, x0\n ret
.size slow, .-slow
function kept
 add x0, x0, #1\n add x1, x1, #1\n add x0, x0, x1\n lsl x0, x0, #2\n ret
.size kept, .-kept
function stub
 b kept
.size stub, .-stub
";

/// A budget of these functions and cycles.
fn budget(folder: &Path, limits: &[(&str, &str)]) -> i32 {
    let row = |(name, limit): &(&str, &str)| {
        format!("[[function]]\nname = \"{name}\"\nfile = \"f.s\"\ncpu = \"cortex-a53\"\n{limit}\n")
    };
    fs::write(folder.join("b.toml"), limits.iter().map(row).collect::<String>())
        .expect("a scratch file");
    let ran =
        audit(folder, &["check", "--budget", "b.toml", "--junit", "j.xml", "--sarif", "s.json"]);
    ran.status.code().expect("it ended by itself")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("f.s"), CODE).expect("a scratch file");
    folder
}

#[test]
fn what_cannot_be_judged_hides_nothing_of_the_others() {
    let folder = folder();
    let folder = folder.path();
    let limits = [
        ("gone", "cycles = 9"),
        ("slow", "cycles = 2"),
        ("kept", "cycles = 9"),
        ("stub", "cycles = 90"),
    ];
    assert_eq!(budget(folder, &limits), 3);
    let said = text(&audit(folder, &["check", "--budget", "b.toml"]));
    assert!(said.contains("over budget: `slow` takes"), "{said}");
    assert!(said.contains("not judged: `f.s` has no function `gone`"), "{said}");
    assert!(said.contains("not judged: `stub` is a stub: 1 instruction takes"), "{said}");
    let xml = fs::read_to_string(folder.join("j.xml")).expect("it was asked for");
    assert!(xml.contains("tests=\"4\" failures=\"1\" errors=\"2\""), "{xml}");
    assert!(
        xml.contains("name=\"gone\"><error message=\"`f.s` has no function `gone`\">"),
        "{xml}"
    );
    assert!(
        xml.contains("name=\"slow\"><failure message=") && xml.contains("name=\"kept\"/>"),
        "{xml}"
    );
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("s.json")).expect("asked for"))
            .expect("JSON");
    let rules: Vec<&Value> = sarif["runs"][0]["results"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|value| &value["ruleId"])
        .collect();
    assert_eq!(rules.iter().filter(|rule| **rule == "not-judged").count(), 2, "{rules:?}");
    assert!(rules.iter().any(|rule| **rule == "over-budget"), "{rules:?}");
    let answer: Value =
        serde_json::from_str(&text(&audit(folder, &["check", "--budget", "b.toml", "--json"])))
            .expect("JSON");
    let kept: Vec<&Value> = answer["functions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|value| &value["kept"])
        .collect();
    assert_eq!(
        kept,
        [&Value::Null, &Value::Bool(false), &Value::Bool(true), &Value::Null],
        "{answer}"
    );
}

#[test]
fn each_verdict_has_its_exit_code() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(budget(folder, &[("kept", "cycles = 9")]), 0);
    assert_eq!(budget(folder, &[("kept", "cycles = 9"), ("slow", "cycles = 2")]), 1);
    assert_eq!(budget(folder, &[("kept", "cycles = 9"), ("gone", "cycles = 9")]), 3);
    // A file that is not there, a compiler that is not, and a machine that there is none of.
    assert_eq!(budget(folder, &[("kept", "not_worse_than = \"old.s\"")]), 3);
    assert_eq!(budget(folder, &[("kept", "cycles = 9\ncc = \"no-such-compiler\"")]), 3);
}

#[test]
fn a_stub_may_be_meant() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(budget(folder, &[("stub", "cycles = 90")]), 3);
    assert_eq!(budget(folder, &[("stub", "cycles = 4")]), 0, "its limit was made for it");
    // Against another file: what is as small there is no stub.
    fs::write(folder.join("old.s"), CODE).expect("a scratch file");
    assert_eq!(budget(folder, &[("stub", "not_worse_than = \"old.s\"")]), 0);
    let long = CODE.replace(" b kept\n", &" mul x0, x0, x0\n".repeat(20));
    fs::write(folder.join("old.s"), long).expect("a scratch file");
    assert_eq!(budget(folder, &[("stub", "not_worse_than = \"old.s\"")]), 3);
}

/// Assembly need not say what is a function; and what is left of one after the compiler's work
/// has a longer name.
#[test]
fn symbols_that_are_functions_are_found() {
    let folder = folder();
    let folder = folder.path();
    let code = ".text\n.globl vector\nvector:\n mrs x0, esr_el1\n eret\n.size vector, .-vector\n.globl f\n.type f, %function\nf: ret\n.size f, .-f\n\
                .type g.isra.0, %function\ng.isra.0: add x0, x0, #1\n ret\n.size g.isra.0, .-g.isra.0\n\
                .section .text.unlikely,\"ax\"\n.type g.cold, %function\ng.cold: brk #1\n.size g.cold, .-g.cold\n";
    fs::write(folder.join("k.s"), code).expect("a scratch file");
    let first = |name: &str| ok(folder, &["k.s", "--cpu", "cortex-a53", "--function", name]);
    assert!(
        first("vector").starts_with("vector on cortex-a53: 2 instructions"),
        "{}",
        first("vector")
    );
    assert!(first("g").starts_with("g.isra.0 on cortex-a53: 2 instructions"), "{}", first("g"));
    assert!(first("g.cold").starts_with("g.cold on cortex-a53"), "{}", first("g.cold"));
}

#[test]
fn a_budget_that_is_wrong_is_refused() {
    let folder = folder();
    let folder = folder.path();
    let with = |limit: &str, code: i32| {
        let row = format!(
            "[[function]]\nname = \"kep\"\nfile = \"f.s\"\ncpu = \"cortex-a53\"\n{limit}\n"
        );
        fs::write(folder.join("b.toml"), row).expect("a scratch file");
        refused(folder, &["check", "--budget", "b.toml"], code)
    };
    assert!(with("cycels = 3", 1).contains("b.toml:5"));
    assert!(with("", 1).contains("has no limit"));
    assert!(
        refused(folder, &["check", "--budget", "none.toml"], 1).contains("cannot read `none.toml`")
    );
    // A function that is not there is not over its budget.
    assert_eq!(budget(folder, &[("kep", "cycles = 3")]), 3);
    let said = text(&audit(folder, &["check", "--budget", "b.toml"]));
    assert!(said.contains("did you mean `kept`?"), "{said}");
}

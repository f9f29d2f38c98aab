//! `meanwhile audit` of code for cores that reorder: bounds, and what limits them.

use crate::support::audited;

use std::fs;
use std::process::Command;

use audited::{audit, ok, refused};
use serde_json::Value;

const DOT: &str = "    .text
    .globl dot
    .type dot, @function
dot:
    xorps %xmm0, %xmm0
1:  movsd (%rdi), %xmm1
    mulsd (%rsi), %xmm1
    addsd %xmm1, %xmm0
    add $8, %rdi
    add $8, %rsi
    dec %rdx
    jne 1b
    ret
    .size dot, .-dot
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("dot.s"), DOT).expect("a scratch file");
    folder
}

#[test]
fn a_loop_is_bound_by_its_recurrence_and_no_stall_is_told() {
    let folder = folder();
    for (cpu, cycles) in [("zen4", "3"), ("skylake", "4")] {
        let shown = ok(folder.path(), &["dot.s", "--cpu", cpu]);
        let head = format!(
            "loop at dot.s:6 (0x3): at least {cycles} cycles an iteration of 7 instructions [model {cpu}], by the chain\n  chain {cycles}: `addsd %xmm1, %xmm0`\n"
        );
        assert!(shown.contains(&head), "{shown}");
        assert!(shown.contains(&format!(" cycles [model {cpu}], by the chain\n")), "{shown}");
        assert!(
            shown.contains("left out: caches") && shown.contains("llvm-mca or uiCA"),
            "{shown}"
        );
        assert!(!shown.contains("waits"), "{shown}");
    }
}

#[test]
fn the_same_as_json_and_as_a_page() {
    let folder = folder();
    let said = ok(folder.path(), &["dot.s", "--cpu", "zen4", "--json"]);
    let answer: Value = serde_json::from_str(&said).expect("the answer is JSON");
    let limits = &answer["limits"];
    assert_eq!(limits["kind"], "model");
    assert!(answer["total_cycles"].is_null() && answer["loops"].is_null(), "{answer}");
    let it = &limits["loops"][0];
    assert_eq!((it["cycles"].as_f64(), it["by"].as_str()), (Some(3.0), Some("chain")), "{it}");
    assert_eq!(it["chain"]["addresses"], serde_json::json!([11]), "{it}");
    assert_eq!(it["ports"]["units"], serde_json::json!(["ld0", "ld1"]), "{it}");
    assert_eq!((it["front_end"]["micro_ops"].as_u64(), it["line"].as_u64()), (Some(6), Some(6)));
    assert_eq!(it["unknown"], serde_json::json!([]));
    let page = ok(folder.path(), &["dot.s", "--cpu", "zen4", "--format", "html"]);
    for part in [
        "at least 3 cycles an iteration of 7 instructions",
        "<li>chain 3: <code>",
        "Nothing was found",
    ] {
        assert!(page.contains(part), "no `{part}` in {page}");
    }
    assert!(!page.contains('`'), "code is set as code: {page}");
}

#[test]
fn an_object_without_a_core_says_whose_bounds_it_gets() {
    let folder = folder();
    let made = Command::new("gcc")
        .args(["-c", "dot.s", "-o", "dot.o"])
        .current_dir(folder.path())
        .status()
        .expect("gcc starts");
    assert!(made.success());
    let said = |args: &[&str]| {
        let ran = audit(folder.path(), args);
        String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned()
    };
    let unnamed = said(&["dot.o"]);
    assert!(
        unnamed.contains("[model skylake]")
            && unnamed.contains("no core is named: the bounds are those of skylake; --cpu zen4"),
        "{unnamed}"
    );
    let named = said(&["dot.o", "--cpu", "zen4"]);
    assert!(!named.contains("no core is named"), "{named}");
}

#[test]
fn what_has_no_row_is_counted_and_named() {
    let folder = folder();
    fs::write(folder.path().join("dot.s"), DOT.replace("    dec %rdx", "    cpuid\n    dec %rdx"))
        .expect("a scratch file");
    let shown = ok(folder.path(), &["dot.s", "--cpu", "zen4"]);
    assert!(
        shown.contains(
            "1 instruction has no row in the machine's file and counts as one that enters: `cpuid`"
        ),
        "{shown}"
    );
}

#[test]
fn what_needs_stalls_says_that_there_are_none() {
    let folder = folder();
    let said = refused(folder.path(), &["dot.s", "--cpu", "zen4", "--all-functions"], 1);
    assert!(said.contains("`zen4` reorders instructions"), "{said}");
}

#[test]
fn a_finding_costs_instructions_where_no_cycle_is_known() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let body = "mov %rdi, -8(%rsp)\nmov -8(%rsp), %rax\nadd $1, %rax\nret";
    for (name, body) in [("a", body.to_owned()), ("b", body.replace("ret", "imul %rax, %rax\nret"))]
    {
        let text = format!(".globl f\n.type f, @function\nf: {body}\n.size f, .-f\n");
        fs::write(folder.path().join(format!("{name}.s")), text).expect("a scratch file");
    }
    let shown = ok(folder.path(), &["a.s", "--cpu", "zen4"]);
    assert!(shown.contains(": 1 instruction\n") && !shown.contains(": 1 cycle\n"), "{shown}");
    let said = ok(folder.path(), &["a.s", "--cpu", "zen4", "--json"]);
    let answer: Value = serde_json::from_str(&said).expect("the answer is JSON");
    assert!(answer["findings"][0]["cycles"].is_null(), "{answer}");
    // What the two take is compared by their bounds.
    let shown = ok(folder.path(), &["diff", "a.s", "b.s", "--cpu", "zen4"]);
    let row = shown.lines().find(|line| line.contains("cycles at least"));
    assert!(row.is_some_and(|row| row.trim_end().ends_with("+3")), "{shown}");
}

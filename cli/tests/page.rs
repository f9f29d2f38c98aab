//! `meanwhile page`: results of commands as a page.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn page(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .arg("page")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

fn put(folder: &Path, name: &str, value: &Value) {
    std::fs::write(folder.join(name), value.to_string()).expect("a scratch file");
}

/// What `audit` really prints, and of the others what their guides say that they print.
#[test]
fn results_are_views_with_their_numbers_and_tables() {
    if !testkit::has("page", &["arm-none-eabi-gcc"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    let source = "int f(int *x) { return x[0] * x[1]; }\nint g(int *x) { int s = 0; for (int i = 0; i < 9; i++) s += x[i]; return s / 7; }\n";
    std::fs::write(folder.join("two.c"), source).expect("a scratch file");
    let audited = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["audit", "two.c", "--cpu", "cortex-m4", "--all-functions", "--json"])
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    std::fs::write(folder.join("functions.json"), &audited.stdout).expect("a scratch file");
    put(
        folder,
        "speed.json",
        &json!({"ok": true, "machine": {"cpu": "A <core>"}, "rows": [
            {"primitive": "aes-128", "slicing": "h", "arch": "avx2", "cc": "gcc", "cycles_per_byte": 2.5},
            {"primitive": "des", "slicing": "b", "arch": "avx2", "cc": "gcc", "cycles_per_byte": 1.25},
            {"primitive": "ace", "slicing": "b", "arch": "avx2", "cc": "gcc", "too_large": true},
        ]}),
    );
    put(
        folder,
        "trace.json",
        &json!({"ok": true, "bound": {"wall_s": 4.0, "mpi_s": 1.0, "compute_s": 3.0, "speedup": 1.3333},
            "lost": [{"call": "MPI_Allreduce", "file": "/src/cg.c", "line": 7, "function": "", "count": 9, "bytes": 8, "seconds": 0.75, "share": 0.1875}],
            "rows": []}),
    );
    let run = |policy: &str, program: &str, seconds: f64, ratio: f64| json!({"policy": policy, "program": program, "turnaround_s": seconds, "ratio_to_linux": ratio});
    put(
        folder,
        "run.json",
        &json!({"ok": true, "rows": [run("pairing", "1 a", 2.0, 1.25), run("pairing", "2 b", 4.0, 0.8), run("linux", "1 a", 2.5, 1.0), run("linux", "2 b", 3.2, 1.0)]}),
    );
    let given = ["functions.json", "speed.json", "trace.json", "run.json", "-o", "all.html"];
    let ran = page(folder, &given);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let html = std::fs::read_to_string(folder.join("all.html")).expect("it was written");
    let told = testkit::json(&audited);
    let worst = told["functions"][0]["function"].as_str().expect("a name");
    let worst = format!("`{worst}` loses most");
    for said in [
        worst.as_str(),
        "des b avx2 gcc takes 1.25 cycles a byte, the least of 2 ways",
        "on A &lt;core&gt;",
        "MPI_Allreduce cg.c:7",
        "25 %; not all of it is waiting",
        "1.33 times as fast at most",
        // 1 / 1.25 and 1 / 0.8: as much won as lost.
        "take 1.00 of their time under plain Linux, geometric mean; `2 b` takes most of it, 1.25",
        "id=\"cipher-2-figure\"",
        "download=\"overlap-3-figure.json\"",
    ] {
        assert!(html.contains(said), "no `{said}`");
    }
    // Without -o it is on standard output; with --json it cannot be.
    let ran = page(folder, &["run.json"]);
    assert!(ran.stdout.starts_with(b"<!DOCTYPE html>"));
    let ran = page(folder, &["run.json", "--json"]);
    assert_eq!((ran.status.code(), testkit::json(&ran)["ok"].clone()), (Some(1), json!(false)));
}

#[test]
fn what_is_no_result_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    std::fs::write(folder.join("text.json"), "no JSON").expect("a scratch file");
    put(folder, "other.json", &json!({"ok": true, "rows": [{"name": "x"}]}));
    put(folder, "failed.json", &json!({"ok": false, "error": {"message": "no"}}));
    put(
        folder,
        "empty.json",
        &json!({"functions": [], "cpu": "cortex-m4", "rows": [], "lost": []}),
    );
    for (file, said) in [
        ("text.json", "is no JSON"),
        ("other.json", "is no result that has a page"),
        ("failed.json", "is no result that has a page"),
        ("empty.json", "is no result that has a page"),
        ("none.json", "there is no file `none.json`"),
    ] {
        let ran = page(folder, &[file, "-o", "page.html"]);
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(1) && errors.contains(said), "{file}: {errors}");
        assert!(!folder.join("page.html").exists());
    }
}

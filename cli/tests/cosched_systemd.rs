//! cosched on a machine that systemd has booted, from the package, with control groups of version
//! 2 alone: the scenarios in `cosched_systemd/`, in a virtual machine of
//! `scripts/systemd_machine.sh`. Under MEANWHILE_LONG.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::skipped;

/// The exit status of the scripts if there is no such machine, or a tool for it is missing.
const NO_MACHINE: i32 = 2;

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn why(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn what_is_promised_holds_under_systemd() {
    if std::env::var_os("MEANWHILE_LONG").is_none() {
        return skipped("under systemd: MEANWHILE_LONG=1 starts a virtual machine");
    }
    let files = tempfile::tempdir().expect("a scratch folder");
    let made = Command::new(at("../scripts/deb.sh"))
        .args([env!("CARGO_BIN_EXE_meanwhile"), "gzip"])
        .output()
        .expect("sh runs");
    if made.status.code() == Some(NO_MACHINE) {
        return skipped(&format!("under systemd: {}", why(&made)));
    }
    assert!(made.status.success(), "{}", why(&made));
    let package = String::from_utf8_lossy(&made.stdout);
    let package = package.split(": ").next().expect("it says what it made");
    fs::copy(at("..").join(package), files.path().join("meanwhile.deb")).expect("it is there");
    let mut scenarios: Vec<String> = Vec::new();
    for entry in fs::read_dir(at("tests/cosched_systemd")).expect("the folder is there") {
        let path = entry.expect("it is there").path();
        let name = path.file_name().expect("it has one").to_string_lossy().into_owned();
        fs::copy(&path, files.path().join(&name)).expect("a scratch file");
        scenarios.extend((name != "words.sh").then_some(name));
    }
    scenarios.sort();
    // All of them, also after one that fails.
    let each = "for it; do sh words.sh \"$it\" || failed=1; done; exit ${failed:-0}";
    let ran = Command::new(at("../scripts/systemd_machine.sh"))
        .arg(files.path())
        .args(["sh", "-c", each, "sh"])
        .args(scenarios.iter().map(|name| format!("./{name}")))
        .output()
        .expect("sh runs");
    if ran.status.code() == Some(NO_MACHINE) && why(&ran).starts_with("systemd_machine: ") {
        return skipped(&format!("under systemd: {}", why(&ran)));
    }
    let said = String::from_utf8_lossy(&ran.stdout);
    for name in &scenarios {
        assert!(said.contains(&format!("{name}: as it says")), "{name}\n{said}");
    }
    assert!(ran.status.success(), "{said}");
}

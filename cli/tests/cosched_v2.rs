//! cosched where all control groups are those of version 2, as on every current distribution: the
//! scenarios in `cosched_v2/`, in a virtual machine of `scripts/cgroup2.sh`. Under MEANWHILE_LONG.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;
use support::skipped;

/// The exit status of the script if there is no such machine.
const NO_MACHINE: i32 = 2;

/// The scenarios' files.
fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cosched_v2");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it is there").path())
        .filter(|path| !path.ends_with("words.sh"))
        .collect();
    found.sort();
    found
}

#[test]
fn what_is_promised_holds_where_all_groups_are_of_version_2() {
    if std::env::var_os("MEANWHILE_LONG").is_none() {
        return skipped("version 2 alone: MEANWHILE_LONG=1 starts a virtual machine");
    }
    let scenarios = scenarios();
    let words = scenarios[0].with_file_name("words.sh");
    // All of them, also after one that fails.
    let each = "words=$1 meanwhile=$2; shift 2; for it; do sh \"$words\" \"$meanwhile\" \"$it\" || failed=1; done; exit ${failed:-0}";
    let ran = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/cgroup2.sh"))
        .args(["sh", "-c", each, "sh"])
        .args([&words, Path::new(env!("CARGO_BIN_EXE_meanwhile"))])
        .args(&scenarios)
        .output()
        .expect("sh runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    let why = String::from_utf8_lossy(&ran.stderr);
    if ran.status.code() == Some(NO_MACHINE) && why.starts_with("cgroup2: ") {
        return skipped(&format!("version 2 alone: {}", why.lines().next().unwrap_or_default()));
    }
    for scenario in &scenarios {
        let name = scenario.file_name().unwrap_or_default().to_string_lossy();
        assert!(said.contains(&format!("{name}: as it says")), "{name}\n{said}");
    }
    assert!(ran.status.success(), "{said}");
}

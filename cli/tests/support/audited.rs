//! What tests of `meanwhile audit` share: it runs, succeeds, or refuses with a code.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `meanwhile audit` in a folder.
pub fn audit(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .arg("audit")
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

pub fn text(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// What it printed, if it succeeded.
pub fn ok(folder: &Path, args: &[&str]) -> String {
    let ran = audit(folder, args);
    assert_eq!(ran.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    text(&ran)
}

/// What it says on standard error, and that it leaves with this code.
pub fn refused(folder: &Path, args: &[&str], code: i32) -> String {
    let ran = audit(folder, args);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(code), "{args:?}: {said}");
    assert!(ran.stdout.is_empty(), "{args:?}: {}", text(&ran));
    assert!(!said.contains("panicked"), "{said}");
    said
}

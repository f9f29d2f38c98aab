//! A neighbour that slows a program is named by what the program does with and without it; one that
//! does not is not named.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support;
use support::{LIMIT, may_freeze, wait_for};

/// A daemon of the test's own that gives turns by freezing: each is a trial.
struct Daemon {
    folder: tempfile::TempDir,
    child: Child,
}

impl Daemon {
    fn start() -> Daemon {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let child = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
            .args(["cosched", "daemon", "--turns", "frozen", "--policy", "rr", "--no-restart"])
            .arg("--socket")
            .arg(folder.path().join("own/sock"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let daemon = Daemon { folder, child };
        wait_for("the daemon answers", LIMIT, || daemon.ask(&["status"]).is_some());
        daemon
    }

    fn ask(&self, words: &[&str]) -> Option<Value> {
        let answer = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
            .args(["cosched", words[0], "--json", "--socket"])
            .arg(self.folder.path().join("own/sock"))
            .args(&words[1..])
            .output()
            .expect("the binary runs");
        answer.status.success().then(|| serde_json::from_slice(&answer.stdout).expect("an object"))
    }

    fn submit(&self, words: &[&str]) {
        let words: Vec<&str> =
            ["submit", "--threads", "1", "--"].iter().chain(words).copied().collect();
        self.ask(&words).expect("it is taken");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let status = self.ask(&["status"]).unwrap_or_default();
        let _ = self.ask(&["stop"]);
        let _ = self.child.wait();
        // They would run on.
        let programs = status["programs"].as_array().into_iter().flatten();
        for pid in programs.filter_map(|program| program["pid"].as_i64()) {
            let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        }
    }
}

/// `tests/support/slowed.c`, and the file that its programs share.
fn compiled(folder: &Path) -> (String, String) {
    let program = folder.join("slowed");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/slowed.c");
    let cc = Command::new("cc").arg("-O1").arg("-o").arg(&program).arg(source).output();
    let cc = cc.expect("cc runs");
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
    let shared = folder.join("shared");
    fs::write(&shared, [0; 4096]).expect("a scratch file");
    (program.display().to_string(), shared.display().to_string())
}

#[test]
fn who_slows_a_program_is_named_and_who_does_not_is_not() {
    if !may_freeze() || std::thread::available_parallelism().is_ok_and(|n| n.get() < 2) {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (program, shared) = compiled(folder.path());
    let daemon = Daemon::start();
    daemon.submit(&[&program, &shared]);
    daemon.submit(&[&program, &shared, "count"]);
    daemon.submit(&[&program, &shared, "spin"]);
    let of = |idx: usize| {
        let status = daemon.ask(&["status"]).expect("it answers");
        status["programs"][idx]["antagonists"].as_array().expect("a list").clone()
    };
    wait_for("it is named", LIMIT, || !of(0).is_empty());
    let (named, counter, spinner) = (of(0), of(1), of(2));
    assert_eq!(named[0]["id"], 2, "{named:?}");
    let slowdown = named[0]["slowdown"].as_f64().expect("a number");
    assert!((1.1..2.0).contains(&slowdown), "{named:?}");
    assert!(named[0]["confidence"].as_f64() >= Some(0.95), "{named:?}");
    // What they do cannot be seen.
    assert!(counter.is_empty() && spinner.is_empty(), "{counter:?} {spinner:?}");
    let text = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["cosched", "status", "--socket"])
        .arg(daemon.folder.path().join("own/sock"))
        .output()
        .expect("the binary runs");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("program 1 is slowed by program 2"), "{text}");
}

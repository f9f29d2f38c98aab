//! What all studies have in common: their list, files that cannot be written, interrupts.

#[path = "../../cli/tests/support/started.rs"]
mod started;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

use started::Run;

const PROGRAM: &str = env!("CARGO_BIN_EXE_meanwhile-lab");

#[test]
fn every_study_is_listed_with_what_it_is_about() {
    let ran = Command::new(PROGRAM).args(["list", "--json"]).output().expect("it runs");
    let answer: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("an object");
    let rows = answer["rows"].as_array().expect("rows");
    assert!(
        rows.len() > 20
            && rows.iter().all(|row| row["about"].as_str().is_some_and(|about| about.len() > 10)),
        "{answer}"
    );
}

/// Commands that measure for minutes say at once that they will not be able to write: these would
/// take longer than any test, and the result shows that nothing was measured.
#[test]
fn long_commands_ask_before_they_measure() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("file"), "x").expect("written");
    for command in [
        "run audit-speed",
        "run cipher-schedulers",
        "run overlap",
        "run overlap-compile-time",
        "run regwin-adaptive",
        "run regwin-variants",
        "run regwin-speed",
        "run cosched-real",
        "run cosched-mixes",
        "report",
    ] {
        let line = format!("{command} --out file/new");
        let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
            .args(line.split(' '))
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{command}: {said}");
        assert!(said.contains("file/new") && said.contains("Not a directory"), "{command}: {said}");
        assert!(ran.stdout.is_empty(), "{command}");
    }
}

#[test]
fn an_interrupt_at_any_moment_leaves_nothing() {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    for command in ["report --quick --out page", "run audit-speed", "run regwin-adaptive"] {
        for (name, number) in [("INT", 2), ("TERM", 15)] {
            let mut run = Run::start_with(PROGRAM, &format!("meanwhile {command}"), |_| {});
            run.wait_until(command, |run| !run.descendants().is_empty());
            std::thread::sleep(Duration::from_millis(random.u64(0..300)));
            run.signal(name);
            let what = format!("{command}, SIG{name}, seed {seed}");
            assert_eq!(run.end().signal(), Some(number), "{what}");
            run.assert_nothing_is_left(&what);
        }
    }
}

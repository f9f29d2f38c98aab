//! OpenMP programs follow 2, 1 and 4 processors at the borders of their regions, with libgomp and
//! with libomp.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cosched::manager::team::{Page, library};
use measure::tool;

/// Compiles the program and runs it beside us, who change the page whenever it has followed.
fn follows(compiler: &str, arguments: &[&str], schedule: &str) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let library = library(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/regions.c");
    let program = folder.path().join("regions");
    let mut command = Command::new(compiler);
    command
        .args(["-O2", "-fopenmp", &format!("-DSCHEDULE={schedule}"), "-o"])
        .arg(&program)
        .arg(source)
        .args(arguments);
    tool::run(&mut command, b"", Duration::from_secs(60))
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
    let page = Page::create(&folder.path().join("page")).expect("a scratch file");
    page.set_team(2).expect("it is ours");
    let mut child = Command::new(&program)
        .env("LD_PRELOAD", &library)
        .env("MEANWHILE_TEAM", page.path())
        .env("OMP_NUM_THREADS", "3")
        .env("OMP_WAIT_POLICY", "passive")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut seen = Vec::new();
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    for line in lines {
        let line = line.expect("the program writes text");
        seen.push(line.clone());
        match line.as_str() {
            "2" => page.set_team(1).expect("it is ours"),
            "1" => page.set_team(4).expect("it is ours"),
            _ => {}
        }
    }
    let status = child.wait().expect("it was started");
    assert!(status.success(), "{compiler} {schedule}: {status}, saw {seen:?}");
    // libomp learns of a change in the region before the one that it changes.
    let followed: Vec<&str> = seen.iter().map(String::as_str).filter(|it| *it != "3").collect();
    assert_eq!(followed, ["2", "1", "4"], "{compiler} {schedule}");
    assert!(page.is_followed() && page.progress().expect("it is ours") > 3);
}

#[test]
fn libgomp_follows() {
    for schedule in ["static", "dynamic", "guided", "runtime"] {
        follows("gcc", &[], schedule);
    }
}

#[test]
fn libomp_follows() {
    for schedule in ["static", "dynamic"] {
        follows("clang-19", &[], schedule);
    }
}

//! `meanwhile cosched run` with real programs: they all end, and none stays frozen when the manager dies.
//!
//! Needs the right to make control groups; without it this says so and is skipped visibly.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const N_PROGRAMS: usize = 3;
const SEED: u64 = 4;

fn n_kills() -> usize {
    if std::env::var_os("MEANWHILE_LONG").is_some() { 200 } else { 20 }
}

/// True if control groups can be made; a line for the list of skipped tests otherwise.
fn may_run() -> bool {
    let probe = Command::new(env!("CARGO_BIN_EXE_meanwhile")).args(["cosched", "probe", "--json"]).output().expect("the binary runs");
    let value: serde_json::Value = serde_json::from_slice(&probe.stdout).expect("an object");
    if value["freezer"].is_string() {
        return true;
    }
    if let Some(path) = std::env::var_os("MEANWHILE_SKIPS") {
        use std::io::Write;
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| writeln!(file, "cosched run: no right to make control groups with a freezer"));
    }
    false
}

fn wait_for(what: &str, limit: Duration, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |it| it.len())
}

#[test]
fn programs_run_on_when_their_manager_is_killed() {
    if !may_run() {
        return;
    }
    let mut random = fastrand::Rng::with_seed(SEED);
    for kill in 0..n_kills() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: String| folder.path().join(name);
        let script = "echo $$ > pid$1; while [ ! -e stop ]; do echo x >> out$1; sleep 0.005; done";
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        let policy = ["rr", "b2arr", "dss", "pairing"][kill % 4];
        command.current_dir(folder.path()).args(["cosched", "run", "--policy", policy, "--"]);
        for idx in 0..N_PROGRAMS {
            if idx > 0 {
                command.arg(":::");
            }
            command.args(["sh", "-c", script, "sh", &idx.to_string()]);
        }
        let mut manager = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs");
        wait_for("the programs start", Duration::from_secs(60), || (0..N_PROGRAMS).all(|it| length(&at(format!("out{it}"))) > 0));
        std::thread::sleep(Duration::from_millis(random.u64(..300)));
        manager.kill().expect("it is ours");
        manager.wait().expect("it is ours");
        let killed = Instant::now();
        let before: Vec<u64> = (0..N_PROGRAMS).map(|it| length(&at(format!("out{it}")))).collect();
        wait_for(&format!("seed {SEED}, kill {kill}, {policy}: all run on"), Duration::from_secs(1), || {
            (0..N_PROGRAMS).all(|it| length(&at(format!("out{it}"))) > before[it] + 8)
        });
        assert!(killed.elapsed() < Duration::from_secs(1));
        fs::write(at("stop".into()), "").expect("a scratch file");
        let pid = |it: usize| fs::read_to_string(at(format!("pid{it}"))).expect("it was written").trim().to_owned();
        let pids: Vec<String> = (0..N_PROGRAMS).map(pid).collect();
        let is_there = |pid: &String| Path::new("/proc").join(pid).exists();
        wait_for("the programs end", Duration::from_secs(10), || !pids.iter().any(is_there));
        let group = format!("meanwhile-{}", manager.id());
        let places = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"];
        wait_for("the groups go", Duration::from_secs(10), || !places.iter().any(|it| Path::new(it).join(&group).exists()));
    }
}

fn run(args: &[&str]) -> (serde_json::Value, String, i32) {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile")).args(["cosched", "run"]).args(args).output().expect("the binary runs");
    let value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
    (value, String::from_utf8_lossy(&ran.stderr).into_owned(), ran.status.code().expect("it was not killed"))
}

#[test]
fn programs_end_under_every_policy() {
    if !may_run() {
        return;
    }
    for policy in ["linux", "rr", "dss", "lqg", "qwg", "b2arr", "b2adss", "pairing"] {
        let work = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo done";
        let (value, said, code) = run(&[
            "--json",
            "--policy",
            policy,
            "--threads",
            "1,2",
            "--",
            "sh",
            "-c",
            work,
            ":::",
            "sh",
            "-c",
            work,
            ":::",
            "sh",
            "-c",
            work,
        ]);
        assert_eq!(code, 0, "{policy}: {said}");
        let rows = value["rows"].as_array().expect("rows");
        assert!(rows.len() == 3 && rows.iter().all(|it| it["turnaround_s"].as_f64().is_some_and(|it| it > 0.0)), "{policy}: {value}");
        assert_eq!(said.matches("done").count(), 3, "what programs print is on standard error");
        assert!(value["links_before"].is_array() && value["links_after"].is_array() && value["discarded"].is_boolean());
    }
}

#[test]
fn what_goes_wrong_is_said() {
    let (_, said, code) = run(&["--", "no-such-program"]);
    assert!(code == 1 && said.contains("there is no program `no-such-program`"), "{said}");
    let (_, said, code) = run(&["--", "true", ":::"]);
    assert!(code == 1 && said.contains("a command is empty"), "{said}");
    let (_, said, code) = run(&["--threads", "1,1", "--", "true"]);
    assert!(code == 1 && said.contains("--threads names 2 programs"), "{said}");
    let (_, said, code) = run(&["--policy", "linux-now", "--", "true"]);
    assert!(code == 1 && said.contains("is a model for the simulator"), "{said}");
    if may_run() {
        let (_, said, code) = run(&["--policy", "rr", "--", "sh", "-c", "exit 3", ":::", "true"]);
        assert!(code == 1 && said.contains("ended with 3"), "{said}");
    }
}

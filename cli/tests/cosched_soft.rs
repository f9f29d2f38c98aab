//! Soft turns: programs wait in the kernel's idle class, only where that pays, and come out of it
//! whatever happens to who put them there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::support;
use crate::support::scene;
use scene::{Fault, Frozen, SOFT, Scene, Victim};
use support::{LIMIT, groups, may_freeze, signal, skipped, wait_for};

/// Three programs on two processors, of which one says that it moves more than a link carries: they
/// take turns when this returns. None where that cannot be, which is in the list of skips.
///
/// One at a time: what others burn only makes each of them slower.
fn scene() -> Option<(MutexGuard<'static, ()>, Scene)> {
    static ONE: Mutex<()> = Mutex::new(());
    if !may_freeze() {
        return None;
    }
    let probe = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["cosched", "probe", "--json"])
        .output()
        .expect("the binary runs");
    if testkit::json(&probe)["idle_class"].is_null() {
        skipped("soft turns: no program can be put into the idle class");
        return None;
    }
    if std::thread::available_parallelism().is_ok_and(|n| n.get() != 2) {
        skipped("soft turns: the programs are as many as two processors need");
        return None;
    }
    // A test that failed has ended its programs.
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let scene = Scene::start(SOFT);
    if scene.is_none() {
        skipped("soft turns: no right to mount a small folder");
    }
    scene.map(|scene| (one, scene))
}

/// What is in the idle class is a line of [`Scene::frozen`].
fn is_free(scene: &Scene, what: &str) {
    scene.are_free(what);
    assert!(groups(scene.own() as u32).is_empty(), "{what}");
}

#[test]
fn nothing_stays_in_the_idle_class_at_any_end_of_its_manager() {
    for fault in ["TERM", "KILL with a supervisor", "stop of each"] {
        let Some((_one, scene)) = scene() else { return };
        let status = scene.ask(&["status"]).0;
        assert_eq!(status["turns"], "soft", "{status}");
        assert!(status["n_freezes"] == 0 && status["n_demotions"].as_u64() > Some(0), "{status}");
        let own = scene.own();
        match fault {
            "TERM" => signal("TERM", &[own]),
            "KILL with a supervisor" => signal("KILL", &[own, scene.supervisors()[0]]),
            _ => {
                for program in status["programs"].as_array().expect("a list") {
                    let id = program["id"].to_string();
                    assert_eq!(scene.ask(&["stop", "--program", &id]).1, 0, "{fault}");
                }
                wait_for("none is in the idle class", LIMIT, || scene.frozen().is_empty());
                scene.run_on(fault);
                scene.are_on_their_own(fault);
                assert_eq!(scene.ask(&["stop"]).1, 0);
            }
        }
        is_free(&scene, fault);
    }
}

#[test]
fn what_was_killed_with_its_supervisors_is_given_back_by_restore() {
    let Some((_one, mut scene)) = scene() else { return };
    drop(scene.strike(Fault::Kill, Victim::Both));
    scene.is_dead("all killed");
    // In the idle class, which is not frozen.
    scene.run_on("all killed");
    let (value, code) = scene.beside(&["restore", "--json"]);
    assert_eq!((&value["freed"], code), (&serde_json::json!([scene.own()]), 0), "{value}");
    is_free(&scene, "restored");
}

#[test]
fn a_manager_that_hangs_or_is_stopped_holds_nobody_in_the_idle_class() {
    let Some((_one, scene)) = scene() else { return };
    let Some(hangs) = Frozen::start(&scene, "soft-hangs", vec![scene.own()]) else {
        return skipped("soft turns: no right to make a group");
    };
    wait_for("nobody is in the idle class", LIMIT, || scene.frozen().is_empty());
    scene.run_on("the manager hangs");
    drop(hangs);
    wait_for("turns are cut again", LIMIT, || !scene.frozen().is_empty());
    let them = scene.victims(Victim::Both);
    signal("STOP", &them);
    scene.run_on("all stopped");
    wait_for("it goes on", LIMIT, || scene.ask(&["status"]).1 == 0);
    assert_eq!(scene.ask(&["stop"]).1, 0);
    is_free(&scene, "stop after all");
}

/// A group of version 2 in which a daemon is started, taken away with it.
struct Paused(PathBuf);

impl Drop for Paused {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("cgroup.freeze"), "0");
        // Where the test has failed the daemon is in it still, and ends after this.
        let inside = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        for pid in inside.lines() {
            let _ = fs::write(self.0.with_file_name("cgroup.procs"), pid);
        }
        let start = std::time::Instant::now();
        while fs::remove_dir(&self.0).is_err() && start.elapsed() < LIMIT {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// As `systemctl freeze` does to a service: whatever else is frozen with the manager, one of its
/// supervisors is not, and what it had been given runs.
#[test]
fn a_manager_whose_own_group_is_frozen_holds_nobody_in_the_idle_class() {
    let Some((_one, scene)) = scene() else { return };
    let root = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
        .map(Path::new)
        .into_iter()
        .find(|root| root.join("cgroup.procs").exists());
    let Some(root) = root.filter(|_| nix::unistd::geteuid().is_root()) else {
        return skipped("soft turns: only root's supervisors leave a group");
    };
    let own = Paused(root.join(format!("soft-paused-{}", scene.own())));
    fs::create_dir(&own.0).expect("root may");
    // They are started again, inside: the first one leaves.
    let before = scene.supervisors();
    fs::write(own.0.join("cgroup.procs"), scene.own().to_string()).expect("it is ours");
    signal("KILL", &before);
    wait_for("others watch, one of them outside", LIMIT, || {
        let inside = fs::read_to_string(own.0.join("cgroup.procs")).expect("it is ours");
        let inside = |pid: &i32| inside.lines().any(|line| line == pid.to_string());
        let new = scene.supervisors();
        new.len() == 2
            && !new.iter().any(|pid| before.contains(pid))
            && new.iter().filter(|pid| inside(pid)).count() == 1
    });
    wait_for("one waits", LIMIT, || !scene.frozen().is_empty());
    fs::write(own.0.join("cgroup.freeze"), "1").expect("it is ours");
    wait_for("nobody is in the idle class", LIMIT, || scene.frozen().is_empty());
    scene.run_on("the manager's group is frozen");
    fs::write(own.0.join("cgroup.freeze"), "0").expect("it is ours");
    wait_for("turns are cut again", LIMIT, || !scene.frozen().is_empty());
    assert_eq!(scene.ask(&["stop"]).1, 0);
    is_free(&scene, "stop after all");
}

#[test]
fn who_answers_somebody_never_waits_and_what_nobody_knows_is_left_alone() {
    let Some((_one, mut scene)) = scene() else { return };
    let words = scene.script("l");
    let latency = ["submit", "--class", "latency"];
    let all: Vec<&str> = latency.into_iter().chain(words.iter().map(String::as_str)).collect();
    let id = scene.ask(&all).0["id"].clone();
    scene.names.push("l".to_owned());
    let of = |status: &serde_json::Value| {
        let programs = status["programs"].as_array().expect("a list").clone();
        programs.into_iter().find(|program| program["id"] == id).expect("it is there")
    };
    let decisions = || scene.ask(&["status"]).0["n_decisions"].as_u64().expect("a number");
    let before = decisions();
    wait_for("turns go on", LIMIT, || decisions() > before + 10);
    let own = of(&scene.ask(&["status"]).0);
    assert!(own["n_demotions"] == 0 && own["is_running"] == true, "{own}");
    assert_eq!(own["class"], "latency");
    // One that computes, and of which nobody knows what it moves: no turn is cut any more.
    let words = scene.script("u");
    let all: Vec<&str> =
        std::iter::once("submit").chain(words.iter().map(String::as_str)).collect();
    assert_eq!(scene.ask(&all).1, 0);
    wait_for("it runs", LIMIT, || scene.pid("u").is_some());
    scene.names.push("u".to_owned());
    wait_for("the kernel schedules alone", LIMIT, || {
        let status = scene.ask(&["status"]).0;
        status["is_cutting"] == false && status["why"] == "what the programs move is not known"
    });
    wait_for("nobody is in the idle class", LIMIT, || scene.frozen().is_empty());
    assert_eq!(scene.ask(&["stop"]).1, 0);
    is_free(&scene, "stop after all");
}

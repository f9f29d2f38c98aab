//! What frozen turns cannot survive, as it is, and what gives programs back then:
//! `cosched restore`, or a daemon that goes on.

use std::fs;

use serde_json::json;

use crate::support;
use crate::support::scene;
use scene::{FREEZERS, Fault, Frozen, Scene, Victim};
use support::{LIMIT, THAWED, cpus_of, groups, may_freeze, signal, skipped, wait_for, works};

/// A scene with each freezer that works here.
fn scenes() -> impl Iterator<Item = Scene> {
    let freezers = if may_freeze() { FREEZERS.to_vec() } else { Vec::new() };
    freezers.into_iter().filter_map(|freezer| {
        if !works(freezer) {
            skipped(&format!("restore: no {freezer} freezer"));
            return None;
        }
        let scene = Scene::start(freezer);
        if scene.is_none() {
            skipped("restore: no right to mount a small folder");
        }
        scene
    })
}

/// One that freezes by version 2.
fn scene() -> Option<Scene> {
    if !may_freeze() || !works("v2") {
        skipped("restore: no v2 freezer");
        return None;
    }
    let scene = Scene::start("v2");
    if scene.is_none() {
        skipped("restore: no right to mount a small folder");
    }
    scene
}

#[test]
fn what_was_killed_with_its_supervisors_leaves_programs_frozen_until_they_are_restored() {
    for mut scene in scenes() {
        let what = "all killed";
        drop(scene.strike(Fault::Kill, Victim::Both));
        scene.is_dead(what);
        let own = scene.own();
        let (value, code) = scene.beside(&["restore", "--json"]);
        assert_eq!(
            (value, code),
            (json!({"ok": true, "freed": [own], "remains": [], "alive": []}), 0)
        );
        scene.are_free(what);
        let (value, code) = scene.beside(&["restore", "--json"]);
        assert_eq!((&value["freed"], code), (&json!([]), 0), "there is nothing more");
    }
}

/// `apt-get remove` while programs wait for managers that were killed.
#[test]
fn programs_run_on_when_the_package_is_removed_but_wait_through_an_upgrade() {
    let Some(mut scene) = scene() else { return };
    drop(scene.strike(Fault::Kill, Victim::Both));
    scene.is_dead("all killed");
    let waiting = scene.frozen();
    scene.maintain("packaging/debian/prerm", "upgrade");
    assert_eq!(scene.frozen(), waiting, "an upgrade changes nothing");
    scene.maintain("packaging/debian/prerm", "remove");
    scene.are_free("the package is removed");
}

/// As a service manager takes away the empty group of a service, and with it ours in it.
#[test]
fn attached_programs_are_restored_where_the_group_of_their_manager_is_gone() {
    let Some(mut scene) = scene() else { return };
    ["q", "r"].iter().for_each(|name| scene.attach(name));
    ["a", "b"].iter().for_each(|name| scene.end(name));
    scene.run_on("attached ones");
    drop(scene.strike(Fault::Kill, Victim::Both));
    scene.is_dead("all killed");
    let name = format!("meanwhile-{}", scene.own());
    let folder = groups(scene.own() as u32)
        .into_iter()
        .find(|path| path.ends_with(&name))
        .expect("its folder is there");
    wait_for("nothing is in it", LIMIT, || {
        let inside = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir());
        inside.for_each(|group| drop(fs::remove_dir(group)));
        fs::remove_dir(&folder).is_ok()
    });
    let (value, code) = scene.beside(&["restore", "--json"]);
    assert_eq!(
        (value, code),
        (json!({"ok": true, "freed": [scene.own()], "remains": [], "alive": []}), 0)
    );
    scene.are_free("its folder is gone");
}

#[test]
fn a_daemon_that_is_stopped_while_its_supervisors_are_killed_goes_on() {
    for scene in scenes() {
        for _ in 0..3 {
            let before = scene.supervisors();
            wait_for("one is frozen", LIMIT, || !scene.frozen().is_empty());
            signal("STOP", &[scene.own()]);
            signal("KILL", &before);
            scene.run_on("the daemon was stopped, its supervisors killed");
            wait_for("others watch", LIMIT, || {
                let new = scene.supervisors();
                new.len() == 2 && !new.iter().any(|pid| before.contains(pid))
            });
            assert_eq!(scene.ask(&["status"]).1, 0, "and it answers");
        }
    }
}

#[test]
fn programs_run_while_their_manager_hangs_and_are_managed_when_it_goes_on() {
    let Some(scene) = scene() else { return };
    let Some(hangs) = Frozen::start(&scene, "hangs", vec![scene.own()]) else {
        return skipped("restore: no right to make a group");
    };
    wait_for("all are thawed", THAWED, || scene.frozen().is_empty());
    wait_for("on their own processors", THAWED, || {
        scene.pids().into_iter().all(|pid| cpus_of(pid) == cpus_of(std::process::id() as i32))
    });
    scene.run_on("the manager hangs");
    drop(hangs);
    assert_eq!(scene.ask(&["status"]).1, 0, "it goes on");
    wait_for("and manages", LIMIT, || !scene.frozen().is_empty());
}

/// A known limit: where the manager is frozen with its supervisors, as by `systemctl freeze` or
/// `docker pause`, nobody is left to thaw.
#[test]
fn a_manager_that_is_frozen_with_its_supervisors_leaves_programs_frozen_until_they_are_restored() {
    let Some(scene) = scene() else { return };
    let them = scene.victims(Victim::Both);
    let Some(frozen) = Frozen::start(&scene, "paused", them) else {
        return skipped("restore: no right to make a group");
    };
    assert!(!scene.frozen().is_empty());
    let (value, code) = scene.beside(&["restore", "--json"]);
    assert_eq!((&value["alive"], code), (&json!([scene.own()]), 0), "{value}");
    wait_for("all are thawed", THAWED, || scene.frozen().is_empty());
    scene.run_on("restored");
    drop(frozen);
    assert_eq!(scene.ask(&["status"]).1, 0, "it goes on");
    wait_for("and manages", LIMIT, || !scene.frozen().is_empty());
}

/// With signals too, also where the owner's signal comes while the program is
/// stopped by us already.
#[test]
fn a_program_that_its_owner_stopped_stays_stopped() {
    let Some(mut scene) = may_freeze().then(|| Scene::start("signals")).flatten() else {
        return skipped("restore: no scene");
    };
    // So many that some wait for their turns although others are stopped.
    ["q", "r"].iter().for_each(|name| scene.submit(name));
    let state = |name: &str| {
        let stat =
            fs::read_to_string(format!("/proc/{}/stat", scene.pid(name).expect("it was written")))
                .expect("it runs");
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).expect("a state")
    };
    let turns = || {
        let programs = scene.ask(&["status"]).0["programs"].as_array().cloned().expect("a list");
        programs.iter().filter_map(|program| program["n_turns"].as_u64()).max().expect("a program")
    };
    for (name, how) in [("a", "STOP"), ("p", "TSTP")] {
        wait_for("it waits for its turn", LIMIT, || state(name) == 'T');
        signal(how, &[scene.pid(name).expect("it was written")]);
        let before = turns();
        wait_for("others had turns, and it would have had", LIMIT, || {
            assert_eq!(state(name), 'T', "SIG{how}: its owner stopped it");
            turns() > before + 8
        });
    }
    assert_eq!(scene.ask(&["stop"]).1, 0);
    wait_for("the daemon ends", LIMIT, || scene.ask(&["status"]).1 == 1);
    wait_for("the other one runs", LIMIT, || state("b") != 'T');
    for name in ["a", "p"] {
        assert_eq!(state(name), 'T', "{name}: and after the daemon");
        signal("CONT", &[scene.pid(name).expect("it was written")]);
    }
    scene.run_on("its owner let it go on");
}

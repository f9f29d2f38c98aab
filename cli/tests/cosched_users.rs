//! `meanwhile cosched daemon --config`: many users, each with his own programs. Needs root, and
//! says so where it is not.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;

use crate::support;
use crate::support::served;
use served::Served;
use support::{LIMIT, may_freeze, skipped, wait_for};

/// A shell's own, as it sees them: what it was handed, and the folder that it reads.
const FILES: &str = "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3";
/// `nobody`, and one without a name.
const NOBODY: u32 = 65534;
const NAMELESS: u32 = 54321;

fn may_be_others() -> bool {
    if !nix::unistd::geteuid().is_root() {
        skipped("only root can have a daemon for many users");
        return false;
    }
    may_freeze()
}

#[test]
fn a_program_is_its_users_with_all_that_it_was_given() {
    if !may_be_others() {
        return;
    }
    for freezer in ["v2", "v1", "signals"].into_iter().filter(|word| support::works(word)) {
        let daemon = Served::start(Some(""), &["--freezer", freezer]);
        for uid in [NOBODY, NAMELESS] {
            let script = "id -u; id -ru; id -G; pwd; echo $MARK; cat; grep CapEff /proc/self/status; echo /proc/self/fd/*; echo wrong >&2; exit 7";
            let mut command = daemon.command(uid, &["submit", "--wait", "sh", "-c", script]);
            command
                .env("MARK", "from who submits")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().expect("setpriv runs");
            child
                .stdin
                .take()
                .expect("it is piped")
                .write_all(b"from its input\n")
                .expect("it listens");
            let ran = child.wait_with_output().expect("it ends");
            let (said, wrong) =
                (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            assert_eq!(ran.status.code(), Some(7), "{freezer}: {said}{wrong}");
            let folder = daemon.folder.path().display();
            let expected = format!(
                "{uid}\n{uid}\n{uid} {}\n{folder}\nfrom who submits\nfrom its input\nCapEff:\t0000000000000000\n{FILES}\n",
                uid + 1
            );
            assert!(
                said.starts_with(&expected) && wrong.contains("wrong\n"),
                "{freezer}: {said}{wrong}"
            );
        }
        // Its page is his, and the library comes into it without a word.
        let (value, said, code) = daemon.submit_loop(NAMELESS, "sh", &[]);
        assert_eq!(code, 0, "{said}");
        let pages = daemon.folder.path().join("own").join(format!("pages-{}", daemon.child.id()));
        let page =
            std::fs::metadata(pages.join(format!("page-{}", value["id"]))).expect("it has one");
        assert_eq!((page.uid(), page.mode() & 0o777), (NAMELESS, 0o600));
        let starts = || {
            std::fs::read_dir(&pages)
                .expect("it is ours")
                .flatten()
                .any(|entry| entry.file_name().to_string_lossy().starts_with("start-"))
        };
        wait_for("nobody keeps an environment", LIMIT, || !starts());
        let pid = daemon.programs(NAMELESS)[0]["pid"].as_i64().expect("a process");
        let owner =
            || std::fs::metadata(format!("/proc/{pid}")).map_or(0, |metadata| metadata.uid());
        wait_for("it is never left as root", LIMIT, || owner() == NAMELESS);
    }
}

#[test]
fn users_see_and_stop_only_their_own() {
    if !may_be_others() {
        return;
    }
    let daemon = Served::start(Some(""), &["--policy", "rr"]);
    let submit = |uid: u32| {
        let (value, said, code) = daemon.submit_loop(uid, "sh", &[]);
        assert_eq!(code, 0, "{said}");
        value["id"].to_string()
    };
    let (first, second, third) = (submit(NOBODY), submit(NAMELESS), submit(NAMELESS));
    let ids = |uid: u32| -> Vec<String> {
        daemon.programs(uid).iter().map(|program| program["id"].to_string()).collect()
    };
    assert_eq!(
        (ids(NOBODY), ids(NAMELESS)),
        (vec![first.clone()], vec![second.clone(), third.clone()])
    );
    assert_eq!(ids(0), [first.clone(), second.clone(), third.clone()], "root sees all");
    let (_, said, code) = daemon.ask(NOBODY, &["stop", "--program", &second]);
    assert!(
        code == 1 && said.contains(&format!("there is no program {second} of yours")),
        "{said}"
    );
    // Attached are only processes of one's own.
    let mut outside = daemon.loop_outside(NAMELESS);
    let pid = outside.id().to_string();
    wait_for("it is his", LIMIT, || {
        std::fs::metadata(format!("/proc/{pid}")).is_ok_and(|metadata| metadata.uid() == NAMELESS)
    });
    for (uid, why) in [(NOBODY, "belongs to user 54321"), (NAMELESS, "")] {
        let (_, said, code) = daemon.ask(uid, &["submit", "--pid", &pid]);
        assert!((code == 0) == why.is_empty() && said.contains(why), "{uid}: {said}");
    }
    let (_, said, code) = daemon.ask(NOBODY, &["submit", "--pid", &daemon.child.id().to_string()]);
    assert_eq!(code, 1, "the daemon itself: {said}");
    assert_eq!(ids(NAMELESS).len(), 3);
    let (value, said, code) = daemon.ask(NAMELESS, &["stop", "--program", &second]);
    assert!(code == 0 && value["daemon_ends"] == false, "{said}");
    assert_eq!(ids(0).len(), 3, "it is let go");
    let (value, said, code) = daemon.ask(NAMELESS, &["stop"]);
    assert!(code == 0 && value["left_running"] == 2 && value["daemon_ends"] == false, "{said}");
    assert_eq!(ids(0), [first], "the daemon goes on with what others have");
    std::fs::write(daemon.folder.path().join("stop"), "").expect("a scratch file");
    outside.wait().expect("it is ours");
}

#[test]
fn who_is_denied_or_over_quota_is_told_and_harms_nobody() {
    if !may_be_others() {
        return;
    }
    let settings = format!(
        "programs = 2\nprocessors = 3\ndeny = [\"{NOBODY}\"]\ngroups = [\"{}\"]\n",
        NAMELESS + 1
    );
    let daemon = Served::start(Some(&settings), &["--policy", "rr"]);
    let refused = |(_, said, code): (serde_json::Value, String, i32), why: &str| {
        assert!(code == 1 && said.contains(why), "{code}: {said}")
    };
    refused(daemon.submit_loop(NOBODY, "sh", &[]), "this daemon takes nothing from user nobody");
    refused(daemon.ask(NOBODY, &["status"]), "its administrator denies it");
    refused(daemon.ask(NAMELESS + 7, &["status"]), "in none of the groups");
    refused(
        daemon.submit_loop(NAMELESS, "sh", &["--threads", "4"]),
        "a user's programs may have 3 processors together",
    );
    assert_eq!(daemon.submit_loop(NAMELESS, "sh", &["--threads", "2"]).2, 0);
    refused(
        daemon.submit_loop(NAMELESS, "sh", &["--threads", "2"]),
        "a program of 2 threads: yours have 2",
    );
    assert_eq!(daemon.submit_loop(NAMELESS, "sh", &[]).2, 0, "one that does not say has one");
    refused(
        daemon.submit_loop(NAMELESS, "sh", &["--threads", "1"]),
        "2 programs of yours run already",
    );
    assert_eq!(daemon.submit_loop(0, "sh", &["--threads", "4"]).2, 0, "root has no quota");
    let turns = || {
        daemon
            .programs(0)
            .iter()
            .map(|program| program["n_turns"].as_u64().expect("a number"))
            .min()
    };
    let before = turns();
    wait_for("all go on", LIMIT, || daemon.programs(0).len() == 3 && turns() > before);
}

#[test]
fn only_root_has_a_daemon_for_many_and_its_folder_is_its_own() {
    if !may_be_others() {
        return;
    }
    let daemon = Served::start(Some("mode = \"0600\"\n"), &[]);
    assert_eq!(daemon.ask(NAMELESS, &["status"]).2, 2, "the socket is not open to others");
    let settings = daemon.folder.path().join("cosched.toml").display().to_string();
    let (_, said, code) = daemon.ask(NAMELESS, &["daemon", "--config", &settings]);
    assert!(code == 1 && said.contains("only root can run programs of other users"), "{said}");
    std::fs::write(&settings, "quota = 3\n").expect("a scratch file");
    let (_, said, code) = daemon.ask(0, &["daemon", "--config", &settings]);
    assert!(code == 1 && said.contains("cosched.toml:1: unknown field `quota`"), "{said}");
    std::fs::write(&settings, "").expect("a scratch file");
    let (_, said, code) =
        daemon.ask(0, &["daemon", "--config", &settings, "--metrics", "localhost:0"]);
    assert!(
        code == 1 && said.contains("a port would show every user's programs to every user"),
        "{said}"
    );
}

#[test]
fn what_a_user_gives_is_kept_short() {
    if !may_be_others() {
        return;
    }
    let daemon = Served::start(Some(""), &["--policy", "rr"]);
    let mut command = daemon.command(NAMELESS, &["submit", "sleep", "60"]);
    // A string of an environment has 128 KB at most.
    command.envs(["A", "B", "C"].map(|word| (word, "x".repeat(100_000))));
    let ran = command.output().expect("setpriv runs");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.code() == Some(1) && said.contains("262144 at most"), "{said}");
    assert!(daemon.programs(0).is_empty());
    // A name is shown to others, so it is short and moves no cursor.
    let path = daemon.folder.path().join(format!("a\u{1b}[1m{}", "x".repeat(100)));
    let script = "#!/bin/sh\nwhile [ ! -e \"$1/stop\" ] && [ -e \"$1\" ]; do sleep 0.02; done\n";
    std::fs::write(&path, script).expect("a scratch file");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");
    let (program, folder) =
        (path.display().to_string(), daemon.folder.path().display().to_string());
    let (value, said, code) =
        daemon.ask(0, &["submit", "--output", "/dev/null", &program, &folder]);
    assert_eq!(code, 0, "{said} {value}");
    let name = daemon.programs(0)[0]["name"].as_str().expect("a name").to_owned();
    assert_eq!(name, format!("a\u{1b}[1m{}", "x".repeat(59)));
    let shown = daemon.command(0, &["status"]).output().expect("the binary runs").stdout;
    assert!(String::from_utf8_lossy(&shown).contains("a?[1mxxx"), "{shown:?}");
}

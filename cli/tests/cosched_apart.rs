//! A daemon that gives root's rights away: it manages programs of all users as before, it has no
//! rights, and whatever happens to who has them nothing stays in the idle class.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::support;
use support::{
    LIMIT, THAWED, frozen, groups, may_freeze, parent, runs, signal, skipped, soft_daemon, wait_for,
};

const BINARY: &str = env!("CARGO_BIN_EXE_meanwhile");
/// What the daemon becomes.
const NOBODY: &str = "nobody";
/// A program of root's, and one that root began and that is another user's.
const BURN: &str = "while [ -e /proc/$1 ]; do :; done";
const OTHERS: &str = "setpriv --reuid 4711 --clear-groups sh -c \"$0\" sh $$ & wait";

/// A daemon, and three programs on two processors, of which one says that it moves more than what a
/// link carries.
struct Scene {
    daemon: Child,
    folder: tempfile::TempDir,
    programs: Vec<Child>,
}

/// None where that cannot be, which is in the list of skips.
///
/// One at a time: what others burn only makes each of them slower.
fn scene(more: &[&str]) -> Option<(MutexGuard<'static, ()>, Scene)> {
    static ONE: Mutex<()> = Mutex::new(());
    if !nix::unistd::geteuid().is_root() || !may_freeze() {
        skipped("rights given away: only root has some");
        return None;
    }
    let probe = Command::new(BINARY).args(["cosched", "probe", "--json"]).output();
    if testkit::json(&probe.expect("the binary runs"))["idle_class"].is_null()
        || std::thread::available_parallelism().is_ok_and(|n| n.get() != 2)
    {
        skipped("rights given away: three programs in turn need two processors and the idle class");
        return None;
    }
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let daemon = spawn(folder.path(), more);
    let mut scene = Scene { daemon, folder, programs: Vec::new() };
    scene.listens();
    let own = std::process::id().to_string();
    for words in [["-c", BURN, "sh", &own], ["-c", BURN, "sh", &own], ["-c", OTHERS, BURN, ""]] {
        let program = Command::new("setsid").arg("sh").args(words).spawn();
        scene.programs.push(program.expect("setsid runs"));
    }
    scene.submit();
    Some((one, scene))
}

fn spawn(folder: &Path, more: &[&str]) -> Child {
    soft_daemon(folder, &[&["--attach-only", "--user", NOBODY], more].concat())
}

fn ask(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(BINARY)
        .args(["cosched", arguments[0], "--json"])
        .args(&arguments[1..])
        .env("XDG_RUNTIME_DIR", folder)
        .output()
        .expect("the binary runs")
}

impl Scene {
    fn ask(&self, arguments: &[&str]) -> (Value, i32) {
        let ran = ask(self.folder.path(), arguments);
        let value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
        (value, ran.status.code().expect("it was not killed"))
    }

    fn listens(&mut self) {
        wait_for("the daemon listens", LIMIT, || {
            assert!(self.daemon.try_wait().expect("it is ours").is_none(), "{}", self.said());
            self.ask(&["status"]).1 == 0
        });
    }

    fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("said")).unwrap_or_default()
    }

    fn pids(&self) -> Vec<i32> {
        self.programs.iter().map(|program| program.id() as i32).collect()
    }

    /// Gives all of them to the daemon; they take turns when this returns.
    fn submit(&self) {
        for (pid, mbps) in self.pids().iter().zip(["9000", "100", "100"]) {
            let (value, code) = self.ask(&["submit", "--mbps", mbps, "--pid", &pid.to_string()]);
            assert_eq!(code, 0, "{value}");
        }
        self.take_turns();
    }

    fn demotions(&self) -> Vec<u64> {
        let status = self.ask(&["status"]).0;
        let programs = status["programs"].as_array().cloned().unwrap_or_default();
        programs.iter().filter_map(|program| program["n_demotions"].as_u64()).collect()
    }

    fn take_turns(&self) {
        let before = self.demotions();
        wait_for("each waits for some turn", LIMIT, || {
            let now = self.demotions();
            now.len() == 3 && now.iter().zip(&before).all(|(now, before)| now > before)
        });
    }

    /// The processes of this name that are the daemon's.
    fn children(&self, name: &str) -> Vec<i32> {
        let daemon = self.own();
        let all = fs::read_dir("/proc").expect("proc is there");
        all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| {
                parent(*pid) == Some(daemon) && words(*pid).get(2).is_some_and(|it| it == name)
            })
            .collect()
    }

    /// The daemon that answers.
    fn own(&self) -> i32 {
        self.ask(&["status"]).0["pid"].as_i64().expect("it answers") as i32
    }

    fn is_free(&self, what: &str, daemon: i32) {
        wait_for(what, THAWED, || frozen(daemon as u32, &self.pids()).is_empty());
        wait_for("our groups go", LIMIT, || groups(daemon as u32).is_empty());
        assert!(self.pids().iter().all(|pid| runs(*pid)), "{what}");
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if self.ask(&["stop"]).1 != 0 {
            let _ = self.daemon.kill();
        }
        let _ = self.daemon.wait();
        for program in &mut self.programs {
            let _ = program.kill().and_then(|()| program.wait());
        }
    }
}

fn words(pid: i32) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    text.split('\0').map(str::to_owned).collect()
}

/// What a line of `/proc/PID/task/TID/status` says, of each thread.
fn of_threads(pid: i32, key: &str) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    threads
        .map(|thread| {
            let status = thread.expect("it runs").path().join("status");
            let text = fs::read_to_string(status).expect("it runs");
            let line = text.lines().find_map(|line| line.strip_prefix(key)).expect("proc(5)");
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        })
        .collect()
}

#[test]
fn a_daemon_without_rights_manages_programs_of_all_users() {
    let Some((_one, scene)) = scene(&["--no-restart"]) else { return };
    let own = scene.own();
    let nobody = nix::unistd::User::from_name(NOBODY).expect("users are known").expect("it is");
    let uid = nobody.uid.to_string();
    for (key, expected) in [
        ("Uid:", [uid.as_str(); 4].join(" ")),
        ("Groups:", nobody.gid.to_string()),
        ("NoNewPrivs:", "1".to_owned()),
        ("CapPrm:", "0".repeat(16)),
        ("CapEff:", "0".repeat(16)),
    ] {
        let said = of_threads(own, key);
        assert!(said.len() > 2 && said.iter().all(|line| *line == expected), "{key} {said:?}");
    }
    let (hands, supervisors) = (scene.children("hands"), scene.children("supervise"));
    assert_eq!((hands.len(), supervisors.len()), (1, 2));
    for pid in hands.iter().chain(&supervisors) {
        assert!(of_threads(*pid, "Uid:").iter().all(|line| line == "0 0 0 0"), "{pid}");
    }
    // Nobody has it managed who could not stop it, and it manages nothing of its own.
    for pid in hands.iter().chain(&supervisors).chain([&own]) {
        assert_eq!(scene.ask(&["submit", "--pid", &pid.to_string()]).1, 1);
    }
    assert_eq!(scene.ask(&["submit", "true"]).1, 1, "it starts nothing");
    // A supervisor that is killed is started again, by who may.
    signal("KILL", &supervisors[..1]);
    wait_for("another one watches", LIMIT, || {
        let all = |pid: &i32| parent(*pid) == Some(hands[0]);
        let new = fs::read_dir("/proc").expect("proc is there");
        new.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
            .any(|pid| all(&pid) && words(pid).get(2).is_some_and(|it| it == "supervise"))
    });
    scene.take_turns();
    // Its socket is made again by who may, too.
    fs::remove_file(scene.folder.path().join("meanwhile/cosched.sock")).expect("it is there");
    wait_for("it listens again", LIMIT, || scene.ask(&["status"]).1 == 0);
    // Who has the rights is not stopped for long.
    signal("STOP", &hands);
    scene.take_turns();
    assert_eq!(scene.ask(&["stop"]).1, 0);
    scene.is_free("stopped", own);
    wait_for("all of it ends", LIMIT, || !hands.iter().chain(&supervisors).any(|pid| runs(*pid)));
    assert!(!scene.folder.path().join("meanwhile/cosched.sock").exists());
}

#[test]
fn nothing_stays_in_the_idle_class_when_the_rights_are_gone() {
    let Some((_one, mut scene)) = scene(&["--no-restart"]) else { return };
    let own = scene.own();
    signal("KILL", &scene.children("hands"));
    scene.is_free("who has the rights is killed", own);
    let ended = scene.daemon.wait().expect("it is ours");
    assert_eq!(ended.code(), Some(2), "{}", scene.said());
    assert!(scene.said().contains("root's rights is gone"), "{}", scene.said());

    // Killed with it, and with one that watches.
    scene.daemon = spawn(scene.folder.path(), &[]);
    scene.listens();
    scene.submit();
    let first = scene.own();
    let mut all = scene.children("hands");
    all.extend(&scene.children("supervise")[..1]);
    signal("KILL", &all);
    wait_for("a supervisor starts another daemon", LIMIT, || {
        let status = scene.ask(&["status"]).0;
        status["pid"].as_i64().is_some_and(|pid| pid != i64::from(first))
    });
    scene.is_free("who has the rights is killed with a supervisor", first);
    let second = scene.own();
    assert!(of_threads(second, "CapEff:").iter().all(|line| *line == "0".repeat(16)));
    scene.submit();
    assert_eq!(scene.ask(&["stop"]).1, 0);
    scene.is_free("stopped", second);
}

#[test]
fn who_cannot_be_without_rights_is_told() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let refused = |arguments: &[&str]| {
        let words = [&["daemon", "--source", "told"], arguments].concat();
        let ran = ask(folder.path(), &words);
        assert_eq!(ran.status.code(), Some(1), "{arguments:?}");
        String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned()
    };
    assert!(refused(&["--user", NOBODY]).contains("--attach-only"));
    if nix::unistd::geteuid().is_root() {
        let said = refused(&["--attach-only", "--user", "no-such-user"]);
        assert!(said.contains("there is no user `no-such-user`"), "{said}");
        for root in ["root", "0"] {
            let said = refused(&["--attach-only", "--user", root]);
            assert!(said.contains("that user is root"), "{said}");
        }
        let words = ["daemon", "--attach-only", "--user", NOBODY, "--freezer", "signals"];
        let ran = ask(folder.path(), &words);
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{said}");
        assert!(said.contains("sends no signals to processes of others"), "{said}");
    } else {
        let said = refused(&["--attach-only", "--user", NOBODY]);
        assert!(said.contains("only root has rights to give away"), "{said}");
    }
    // However it fails to begin.
    if !Path::new("/sys/fs/resctrl/mon_groups").exists() {
        let ran = ask(folder.path(), &["daemon", "--source", "resctrl"]);
        assert_eq!(ran.status.code(), Some(2));
    }
    assert!(!folder.path().join("meanwhile/cosched.sock").exists());
}

/// Notes are the word of a daemon that may have been taken over: what they say of a folder that is
/// no control group is neither read, which a pipe would hold up for ever, nor written.
#[test]
fn what_notes_say_of_other_folders_is_not_done() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).expect("it is ours");
    let trap = folder.path().join("trap");
    let inside = trap.join("inside");
    fs::create_dir_all(&inside).expect("made");
    for pipe in [trap.join("cpu.max"), inside.join("cgroup.procs"), trap.join("cgroup.procs")] {
        assert!(Command::new("mkfifo").arg(pipe).status().expect("it runs").success());
    }
    for file in ["cpu.idle", "cpu.shares", "cpu.weight"] {
        fs::write(inside.join(file), "as it was").expect("a scratch file");
    }
    let inode = |folder: &Path| fs::metadata(folder).expect("it is there").ino();
    let (trap, inside) = (trap.display().to_string(), inside.display().to_string());
    let notes = [
        ("program-1.limit", format!("{}\tmax 100000\t{trap}\n", inode(Path::new(&trap)))),
        ("program-2.idle", format!("v1\n1024\n{inside}\n")),
        ("program-3.idle", format!("v2\n\n\n100 {} {inside}\n", inode(Path::new(&inside)))),
        ("program-4.before", format!("{trap}/../trap\n{trap}/../trap\n")),
    ];
    for (name, text) in notes {
        let pages = folder.path().join("meanwhile/pages-4194304");
        fs::create_dir_all(&pages).expect("made");
        for path in [folder.path().join("meanwhile"), pages.clone()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("it is ours");
        }
        let groups = folder.path().join("groups-that-are-gone").display().to_string();
        fs::write(pages.join("manager"), format!("1\nv2\n{groups}\n")).expect("written");
        fs::write(pages.join(name), text).expect("written");
        let mut restore = Command::new(BINARY)
            .args(["cosched", "restore"])
            .env("XDG_RUNTIME_DIR", folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let start = std::time::Instant::now();
        while restore.try_wait().expect("it is ours").is_none() {
            if start.elapsed() > LIMIT {
                restore.kill().and_then(|()| restore.wait()).expect("it is ours");
                panic!("{name} holds it up");
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        for file in ["cpu.idle", "cpu.shares", "cpu.weight"] {
            let text = fs::read_to_string(Path::new(&inside).join(file)).expect("it is there");
            assert_eq!(text, "as it was", "{name}");
        }
        let _ = fs::remove_dir_all(&pages);
    }
}

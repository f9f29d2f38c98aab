//! What is left when a manager ends in every other way than `stop`: nothing frozen, nothing on
//! other processors than its own, nothing in our groups; and what a manager refuses without hurting
//! who is there.

use std::fs;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

use crate::support;
use crate::support::loops;
use loops::end_loops;
use support::{
    LIMIT, THAWED, cpus_of, frozen, groups, length, may_freeze, parent, runs, signal, skipped,
    wait_for, works,
};

const BINARY: &str = env!("CARGO_BIN_EXE_meanwhile");

/// A daemon with what it writes in a folder of its own; all it left is ended with the test.
struct Daemon {
    child: Child,
    folder: tempfile::TempDir,
    /// Earlier ones on the same socket.
    before: Vec<u32>,
}

impl Daemon {
    fn start(arguments: &[&str]) -> Daemon {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let child = Daemon::spawn(folder.path(), arguments);
        let mut daemon = Daemon { child, folder, before: Vec::new() };
        daemon.listens();
        daemon
    }

    fn spawn(folder: &Path, arguments: &[&str]) -> Child {
        let said = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join("said"))
            .expect("a scratch file");
        let mut command = Command::new(BINARY);
        command
            .args(["cosched", "daemon", "--turns", "frozen", "--no-restart", "--socket"])
            .arg(folder.join("own/sock"))
            .args(arguments)
            .current_dir(folder);
        command.stdout(Stdio::null()).stderr(said).spawn().expect("the binary runs")
    }

    fn listens(&mut self) {
        wait_for("the daemon listens", LIMIT, || {
            assert!(
                self.child.try_wait().expect("it is ours").is_none(),
                "{}",
                said(self.folder.path())
            );
            ask(self.folder.path(), &["status"]).status.success()
        });
    }

    /// Another one on the same socket, after the death of this one.
    fn again(&mut self, arguments: &[&str]) {
        self.before.push(self.child.id());
        self.child = Daemon::spawn(self.folder.path(), arguments);
        self.listens();
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ask(&self, arguments: &[&str]) -> (Value, i32) {
        let mut own = arguments.to_vec();
        own.insert(1, "--json");
        let ran = ask(self.folder.path(), &own);
        (
            serde_json::from_slice(&ran.stdout).unwrap_or_default(),
            ran.status.code().expect("it was not killed"),
        )
    }

    /// A loop that writes its number, then a line every few milliseconds until the test ends.
    fn looping(&self, name: &str) -> Vec<String> {
        let script = "echo $$ > \"$1/pid-$2\"; while [ ! -e \"$1/stop\" ] && [ -e \"$1\" ]; do echo x >> \"$1/out-$2\"; k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done";
        let folder = self.folder.path().display().to_string();
        ["sh", "-c", script, "sh", &folder, name].map(str::to_owned).into()
    }

    fn submit_loops(&self, names: &[&str]) {
        for name in names {
            let words = self.looping(name);
            let all: Vec<&str> =
                std::iter::once("submit").chain(words.iter().map(String::as_str)).collect();
            let (value, code) = self.ask(&all);
            assert_eq!(code, 0, "{value}");
        }
        wait_for("the programs start", LIMIT, || {
            names.iter().all(|name| length(&self.at(&format!("out-{name}"))) > 0)
        });
    }

    fn pid(&self, name: &str) -> i32 {
        fs::read_to_string(self.at(&format!("pid-{name}")))
            .expect("it was written")
            .trim()
            .parse()
            .expect("a number")
    }

    fn run_on(&self, names: &[&str]) {
        let before: Vec<u64> =
            names.iter().map(|name| length(&self.at(&format!("out-{name}")))).collect();
        wait_for("all run on", LIMIT, || {
            names
                .iter()
                .zip(&before)
                .all(|(it, before)| length(&self.at(&format!("out-{it}"))) > before + 10)
        });
    }

    /// The supervisors of the daemon: its children that are called so.
    fn supervisors(&self) -> Vec<i32> {
        let all = fs::read_dir("/proc")
            .expect("proc is there")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        all.filter(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|letter| *letter == 0).any(|part| part == b"supervise")
                && parent(*pid) == Some(self.child.id() as i32)
        })
        .collect()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        end_loops(self.folder.path());
        let all: Vec<u32> = self.before.iter().copied().chain([self.child.id()]).collect();
        let start = std::time::Instant::now();
        while all.iter().any(|it| !groups(*it).is_empty())
            && start.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn ask(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command
        .arg("cosched")
        .arg(arguments[0])
        .arg("--socket")
        .arg(folder.join("own/sock"))
        .args(&arguments[1..]);
    command.output().expect("the binary runs")
}

fn said(folder: &Path) -> String {
    fs::read_to_string(folder.join("said")).unwrap_or_default()
}

/// The freezers that work here; the others are named as skipped.
fn freezers() -> Vec<&'static str> {
    static FOUND: OnceLock<Vec<&str>> = OnceLock::new();
    let find = || {
        let (found, missing): (Vec<&str>, Vec<&str>) =
            ["v2", "v1", "signals"].into_iter().partition(|word| works(word));
        missing.iter().for_each(|it| skipped(&format!("faults: no {it} freezer")));
        found
    };
    FOUND.get_or_init(find).clone()
}

fn control_groups(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("it runs")
}

#[test]
fn nothing_stays_frozen_whoever_is_killed() {
    if !may_freeze() {
        return;
    }
    let arguments = |freezer| ["--policy", "rr", "--freezer", freezer];
    for freezer in freezers() {
        for fault in [
            "TERM to all",
            "TERM to the daemon",
            "KILL of the daemon and a supervisor",
            "KILL of the supervisors, then the daemon",
        ] {
            let daemon = Daemon::start(&arguments(freezer));
            daemon.submit_loops(&["a", "b", "c"]);
            let (own, them) = (daemon.child.id() as i32, daemon.supervisors());
            assert_eq!(them.len(), 2, "{freezer}");
            match fault {
                "TERM to all" => signal("TERM", &[them.clone(), vec![own]].concat()),
                "TERM to the daemon" => signal("TERM", &[own]),
                "KILL of the daemon and a supervisor" => signal("KILL", &[own, them[0]]),
                _ => {
                    signal("KILL", &them);
                    wait_for("others are there", LIMIT, || {
                        let new = daemon.supervisors();
                        new.len() == 2 && !new.iter().any(|word| them.contains(word))
                    });
                    assert_eq!(daemon.ask(&["status"]).1, 0, "the daemon lives");
                    signal("KILL", &[own]);
                }
            }
            let pids = ["a", "b", "c"].map(|word| daemon.pid(word));
            wait_for(&format!("{freezer}, {fault}: all are thawed"), THAWED, || {
                frozen(own as u32, &pids).is_empty()
            });
            daemon.run_on(&["a", "b", "c"]);
            wait_for("the groups go", LIMIT, || groups(own as u32).is_empty());
            for pid in pids {
                assert_eq!(cpus_of(pid), cpus_of(std::process::id() as i32), "{freezer}, {fault}");
                assert!(
                    !control_groups(pid).contains("meanwhile-"),
                    "{freezer}, {fault}: {}",
                    control_groups(pid)
                );
            }
        }
    }
}

#[test]
fn the_next_daemon_frees_what_nobody_was_left_to_free() {
    if !may_freeze() {
        return;
    }
    for freezer in freezers() {
        let arguments = ["--policy", "rr", "--freezer", freezer];
        // Between two turns nobody is frozen, and on a busy machine supervisors may thaw all before
        // they are killed: then once more.
        let found = (0..30).find_map(|_| {
            let mut daemon = Daemon::start(&arguments);
            daemon.submit_loops(&["a", "b", "c"]);
            let own = daemon.child.id() as i32;
            let pids = ["a", "b", "c"].map(|word| daemon.pid(word));
            let supervisors = daemon.supervisors();
            wait_for("one of them is frozen", LIMIT, || !frozen(own as u32, &pids).is_empty());
            // Stopped first, it starts no others, and they do not see its end.
            signal("STOP", &[own]);
            signal("KILL", &[supervisors, vec![own]].concat());
            daemon.child.wait().expect("it is ours");
            (!frozen(own as u32, &pids).is_empty()).then_some((daemon, own, pids))
        });
        let (mut daemon, own, pids) = found.unwrap_or_else(|| {
            panic!("{freezer}: this test shows nothing if none of them is frozen")
        });
        daemon.again(&arguments);
        assert!(
            said(daemon.folder.path()).contains(&format!("manager {own} had died")),
            "{}",
            said(daemon.folder.path())
        );
        assert!(frozen(own as u32, &pids).is_empty(), "{freezer}: {:?}", frozen(own as u32, &pids));
        daemon.run_on(&["a", "b", "c"]);
        assert!(groups(own as u32).is_empty(), "{freezer}");
    }
}

/// A program whose two threads are bound to processors of their own, as OpenMP binds them.
const BOUND: &str = "#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
static char **words;
static void bind(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}
static void *other(void *it) {
  bind(1);
  for (;;)
    usleep(1000);
}
int main(int n, char **w) {
  pthread_t thread;
  words = w;
  bind(0);
  pthread_create(&thread, 0, other, 0);
  for (;;) {
    FILE *out = fopen(w[1], \"a\");
    if (!out || access(w[2], F_OK) == 0)
      return 0;
    fputs(\"x\\n\", out);
    fclose(out);
    usleep(3000);
  }
}
";

#[test]
fn every_thread_gets_its_own_processors_and_every_process_its_own_group_back() {
    if !may_freeze() {
        return;
    }
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return skipped("faults: one processor has no other to bind to");
    }
    for freezer in freezers() {
        for end in ["stop", "TERM", "KILL"] {
            let daemon = Daemon::start(&["--policy", "rr", "--freezer", freezer]);
            fs::write(daemon.at("bound.c"), BOUND).expect("a scratch file");
            let made = Command::new("cc")
                .current_dir(daemon.folder.path())
                .args(["bound.c", "-o", "bound", "-lpthread"])
                .status();
            assert!(made.expect("cc runs").success());
            let mut bound = Command::new(daemon.at("bound"))
                .arg(daemon.at("out-p"))
                .arg(daemon.at("stop"))
                .spawn()
                .expect("it runs");
            let pid = bound.id() as i32;
            let threads = || fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
            wait_for("both threads run", LIMIT, || {
                length(&daemon.at("out-p")) > 10 && threads() == 2
            });
            let tids: Vec<i32> = fs::read_dir(format!("/proc/{pid}/task"))
                .expect("it runs")
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
                .collect();
            let before: Vec<String> = tids.iter().map(|tid| cpus_of(*tid)).collect();
            let home = control_groups(pid);
            assert_eq!(before.iter().filter(|text| text.ends_with("\t0")).count(), 1, "{before:?}");
            let (value, code) =
                daemon.ask(&["submit", "--pid", &pid.to_string(), "--threads", "2"]);
            assert_eq!(code, 0, "{value}");
            daemon.submit_loops(&["a", "b"]);
            daemon.run_on(&["a", "b", "p"]);
            match end {
                "stop" => assert_eq!(daemon.ask(&["stop"]).1, 0),
                name => signal(name, &[daemon.child.id() as i32]),
            }
            wait_for("the groups go", LIMIT, || groups(daemon.child.id()).is_empty());
            let after: Vec<String> = tids.iter().map(|tid| cpus_of(*tid)).collect();
            assert_eq!(after, before, "{freezer}, {end}");
            assert_eq!(control_groups(pid), home, "{freezer}, {end}");
            daemon.run_on(&["p"]);
            fs::write(daemon.at("stop"), "").expect("a scratch file");
            bound.wait().expect("it is ours");
        }
    }
}

#[test]
fn a_full_folder_refuses_a_program_and_hurts_nobody() {
    if !may_freeze() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let small = folder.path().join("small");
    fs::create_dir(&small).expect("made");
    // A run-time folder of its own in a mount namespace of its own.
    let script = "mount -t tmpfs -o size=256k,mode=700 none \"$1\" && export XDG_RUNTIME_DIR=\"$1\" && shift && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(&small);
    command
        .arg(BINARY)
        .args([
            "cosched",
            "daemon",
            "--turns",
            "frozen",
            "--no-restart",
            "--policy",
            "rr",
            "--socket",
        ])
        .arg(folder.path().join("own/sock"));
    let log = fs::File::create(folder.path().join("said")).expect("a scratch file");
    let mut child = command.stdout(Stdio::null()).stderr(log).spawn().expect("unshare runs");
    let start = std::time::Instant::now();
    while !ask(folder.path(), &["status"]).status.success() {
        if child.try_wait().expect("it is ours").is_some()
            && said(folder.path()).contains("unshare")
        {
            return skipped("faults: no right to mount a small folder");
        }
        assert!(start.elapsed() < LIMIT, "{}", said(folder.path()));
        std::thread::sleep(Duration::from_millis(5));
    }
    let daemon = Daemon { child, folder, before: Vec::new() };
    daemon.submit_loops(&["a", "b"]);
    // Full from here on.
    let inside = PathBuf::from(format!("/proc/{}/root{}/fill", daemon.child.id(), small.display()));
    let mut fill = fs::File::create(&inside).expect("root sees into the namespace");
    while fill.write_all(&[0; 256]).is_ok() {}
    for _ in 0..3 {
        let (value, code) = daemon.ask(&["submit", "sh", "-c", "exit 0"]);
        let message = value["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(code == 1 && message.contains("No space left on device"), "{code}: {value}");
    }
    daemon.run_on(&["a", "b"]);
    let programs = daemon.ask(&["status"]).0["programs"].as_array().map(Vec::len);
    assert_eq!(programs, Some(2), "no program is said to run that never started");
    // With room again it goes on.
    drop(fill);
    fs::remove_file(&inside).expect("it is ours");
    assert_eq!(daemon.ask(&["submit", "--wait", "sh", "-c", "exit 0"]).1, 0);
}

/// A run-time folder that cannot be written any more refuses a program, and those that run are
/// attached ones, as pages of others are open for writing.
#[test]
fn a_read_only_folder_refuses_a_program_and_hurts_nobody() {
    if !may_freeze() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let small = folder.path().join("small");
    fs::create_dir(&small).expect("made");
    let script = "mount -t tmpfs -o size=1m,mode=700 none \"$1\" && export XDG_RUNTIME_DIR=\"$1\" && shift && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(&small).arg(BINARY);
    command
        .args([
            "cosched",
            "daemon",
            "--turns",
            "frozen",
            "--no-restart",
            "--policy",
            "rr",
            "--socket",
        ])
        .arg(folder.path().join("own/sock"));
    let log = fs::File::create(folder.path().join("said")).expect("a scratch file");
    let mut child = command.stdout(Stdio::null()).stderr(log).spawn().expect("unshare runs");
    let mut is_refused = false;
    wait_for("the daemon listens", LIMIT, || {
        is_refused = child.try_wait().expect("it is ours").is_some();
        is_refused || ask(folder.path(), &["status"]).status.success()
    });
    if is_refused {
        return skipped("faults: no right to mount a small folder");
    }
    let daemon = Daemon { child, folder, before: Vec::new() };
    let mut attached: Vec<Child> = Vec::new();
    for name in ["a", "b", "c"] {
        attached
            .push(Command::new("sh").args(&daemon.looping(name)[1..]).spawn().expect("sh runs"));
        let pid = attached.last().expect("it was just started").id().to_string();
        wait_for("it runs", LIMIT, || length(&daemon.at(&format!("out-{name}"))) > 0);
        assert_eq!(daemon.ask(&["submit", "--pid", &pid]).1, 0);
    }
    let remount = |how: &str| {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--mount=/proc/{}/ns/mnt", daemon.child.id()))
            .args(["mount", "-o", &format!("remount,{how}")])
            .arg(&small);
        assert!(command.status().expect("nsenter runs").success(), "{how}");
    };
    remount("ro");
    let (value, code) = daemon.ask(&["submit", "true"]);
    let message = value["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(code == 1 && message.contains("read-only"), "{code}: {value}");
    daemon.run_on(&["a", "b", "c"]);
    remount("rw");
    assert_eq!(daemon.ask(&["submit", "--wait", "true"]).1, 0);
    drop(daemon);
    attached.iter_mut().for_each(|it| drop(it.wait()));
}

/// As where memory or numbers of processes are short: no thread and no process can be had any more.
#[test]
fn a_daemon_that_can_start_nothing_more_refuses_and_hurts_nobody() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&["--policy", "rr"]);
    daemon.submit_loops(&["a", "b", "c"]);
    let name = format!("few-{}", std::process::id());
    let made = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"]
        .map(|word| Path::new(word).join(&name))
        .into_iter()
        .find(|join| {
            let is_made = fs::create_dir(join).is_ok();
            let counts = join.join("pids.max").exists();
            if is_made && !counts {
                let _ = fs::remove_dir(join);
            }
            is_made && counts
        });
    let Some(few) = made else { return skipped("faults: no right to limit numbers of processes") };
    fs::write(few.join("cgroup.procs"), daemon.child.id().to_string()).expect("it moves");
    fs::write(few.join("pids.max"), "1").expect("it is ours");
    let mut answer = (Value::Null, 0);
    wait_for("a thread is refused", LIMIT, || {
        answer = daemon.ask(&["submit", "true"]);
        answer.1 == 1
    });
    let message = answer.0["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("start a thread for this connection"), "{}", answer.0);
    daemon.run_on(&["a", "b", "c"]);
    fs::write(few.join("pids.max"), "max").expect("it is ours");
    assert_eq!(daemon.ask(&["submit", "--wait", "true"]).1, 0);
    drop(daemon);
    wait_for("it is empty", LIMIT, || fs::remove_dir(&few).is_ok());
}

#[test]
fn a_daemon_that_is_killed_is_started_again_once() {
    if !may_freeze() {
        return;
    }
    let mut daemon = Daemon::start(&[]);
    assert_eq!(daemon.ask(&["stop"]).1, 0);
    daemon.child.wait().expect("it is ours");
    // The same without its option.
    let said = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(daemon.at("said"))
        .expect("a scratch file");
    let mut command = Command::new(BINARY);
    command
        .args(["cosched", "daemon", "--turns", "frozen", "--policy", "rr", "--socket", "own/sock"])
        .current_dir(daemon.folder.path());
    daemon.before.push(daemon.child.id());
    daemon.child = command.stdout(Stdio::null()).stderr(said).spawn().expect("the binary runs");
    daemon.listens();
    daemon.submit_loops(&["a", "b", "c"]);
    daemon.child.kill().and_then(|()| daemon.child.wait()).expect("it is ours");
    wait_for("another one answers", LIMIT, || daemon.ask(&["status"]).1 == 0);
    let next = daemon.ask(&["status"]).0["pid"].as_u64().expect("a number") as u32;
    assert_ne!(next, daemon.child.id());
    daemon.before.push(next);
    daemon.run_on(&["a", "b", "c"]);
    let (value, code) = daemon.ask(&["submit", "--pid", &daemon.pid("a").to_string()]);
    assert_eq!(code, 0, "{value}");
    let text = fs::read_to_string(daemon.at("said")).expect("it was written");
    assert_eq!(text.matches(&format!("manager {} died", daemon.child.id())).count(), 1, "{text}");
    // An end that was asked for is one.
    assert_eq!(daemon.ask(&["stop"]).1, 0);
    wait_for("it ends", LIMIT, || !runs(next as i32));
    wait_for("its groups go", LIMIT, || groups(next).is_empty());
    assert_eq!(daemon.ask(&["status"]).1, 1, "nobody listens any more");
}

#[test]
fn a_program_that_is_waited_for_ends_with_who_waits_and_as_it_does() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&["--policy", "rr"]);
    for name in ["TERM", "KILL"] {
        let words = daemon.looping(name);
        let mut command = Command::new(BINARY);
        command
            .args(["cosched", "submit", "--wait", "--socket"])
            .arg(daemon.at("own/sock"))
            .args(&words);
        let mut waiting =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs");
        wait_for("it runs", LIMIT, || length(&daemon.at(&format!("out-{name}"))) > 0);
        let pid = daemon.pid(name);
        signal(name, &[waiting.id() as i32]);
        waiting.wait().expect("it is ours");
        wait_for("the program ends", LIMIT, || !runs(pid));
    }
    for (script, code) in [("exit 3", 3), ("exit 0", 0), ("kill -9 $$", 137), ("kill -15 $$", 143)]
    {
        assert_eq!(daemon.ask(&["submit", "--wait", "sh", "-c", script]).1, code, "{script}");
    }
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    if !may_freeze() {
        return;
    }
    for (name, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::create_dir(folder.path().join("scratch")).expect("made");
        fs::DirBuilder::new().mode(0o700).create(folder.path().join("runtime")).expect("made");
        let script = "echo $$ >> \"$0/pids\"; while [ -e \"$0\" ]; do :; done";
        let place = folder.path().display().to_string();
        // Under `nohup` a hangup is ignored, and whoever is started inherits that.
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP,INT,TERM", BINARY]);
        command
            .args(["cosched", "run", "--turns", "frozen", "--policy", "rr", "--"])
            .args(["sh", "-c", script, &place]);
        for _ in 0..2 {
            command.args([":::", "sh", "-c", script, &place]);
        }
        let runtime = folder.path().join("runtime");
        command
            .env("TMPDIR", folder.path().join("scratch"))
            .env("XDG_RUNTIME_DIR", &runtime)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut run = command.spawn().expect("the binary runs");
        let pids = || fs::read_to_string(folder.path().join("pids")).unwrap_or_default();
        wait_for("all have started", LIMIT, || pids().lines().count() == 3);
        signal(name, &[run.id() as i32]);
        wait_for("it ends", LIMIT, || run.try_wait().expect("it is ours").is_some());
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&run.wait().expect("it is ours")),
            Some(number),
            "SIG{name}"
        );
        for pid in pids().lines() {
            assert!(!runs(pid.parse().expect("a number")), "SIG{name}: {pid} runs on");
        }
        // A group can be removed once the last of its processes is reaped.
        wait_for("its groups are gone", LIMIT, || groups(run.id()).is_empty());
        let left: Vec<_> = fs::read_dir(folder.path().join("scratch"))
            .expect("there")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        assert!(left.is_empty(), "SIG{name}: {left:?}");
        let ours = fs::read_dir(runtime.join("meanwhile"))
            .or_else(|_| fs::read_dir(&runtime))
            .expect("there");
        let names: Vec<String> = ours
            .map(|our| our.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        assert!(!names.iter().any(|text| text.starts_with("pages-")), "SIG{name}: {names:?}");
    }
}

/// A control group of the test's own in version 2, ended and taken away with it.
struct Own(PathBuf);

impl Own {
    fn create(name: &str) -> Option<Own> {
        let mounts = fs::read_to_string("/proc/mounts").expect("proc is there");
        let place = mounts
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>())
            .find(|it| it[2] == "cgroup2")?[1]
            .to_owned();
        let path = Path::new(&place).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("sub")).ok().map(|()| Own(path))
    }

    fn take(&self, sub: &str, pid: i32) {
        fs::write(self.0.join(sub).join("cgroup.procs"), pid.to_string()).expect("it moves");
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
        let start = std::time::Instant::now();
        while start.elapsed() < Duration::from_secs(10) && self.0.exists() {
            let _ = fs::remove_dir(self.0.join("sub"));
            if fs::remove_dir(&self.0).is_err() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// An attached job stays inside its own control group: whoever owns that reaches it, and
/// each process finds back.
#[test]
fn an_attached_job_stays_in_reach_of_its_owner() {
    if !may_freeze() {
        return;
    }
    let works = freezers().contains(&"v2");
    let Some(own) = Own::create("job").filter(|_| works) else {
        return skipped("faults: no right to make control groups of version 2");
    };
    let inside = |pid: i32| {
        control_groups(pid)
            .lines()
            .find_map(|line| line.strip_prefix("0::").map(str::to_owned))
            .expect("a line")
    };
    let name = own.0.file_name().expect("a name").to_string_lossy().into_owned();
    for end in ["stop", "KILL", "the owner"] {
        let daemon = Daemon::start(&["--policy", "rr", "--freezer", "v2"]);
        // A parent in the group and a child in a group below it.
        let script = "echo $$ > \"$1/pid-p\"; sh -c 'echo $$ > \"$0/pid-q\"; while [ ! -e \"$0/stop\" ] && [ -e \"$0\" ]; do sleep 0.01; done' \"$1\" & \
                      while [ ! -e \"$1/stop\" ] && [ -e \"$1\" ]; do echo x >> \"$1/out-p\"; k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done; wait";
        let mut job = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(daemon.folder.path())
            .spawn()
            .expect("sh runs");
        wait_for("it runs", LIMIT, || {
            length(&daemon.at("out-p")) > 0 && length(&daemon.at("pid-q")) > 1
        });
        let (p, q) = (daemon.pid("p"), daemon.pid("q"));
        own.take("", p);
        own.take("sub", q);
        let (value, code) = daemon.ask(&["submit", "--pid", &p.to_string()]);
        assert_eq!(code, 0, "{value}");
        daemon.submit_loops(&["a", "b"]);
        for pid in [p, q] {
            assert!(inside(pid).starts_with(&format!("/{name}/")), "{end}: {}", inside(pid));
        }
        match end {
            "the owner" => {
                fs::write(own.0.join("cgroup.kill"), "1").expect("the kernel can");
                wait_for("both are gone", LIMIT, || [p, q].iter().all(|it| job_has_ended(*it)));
            }
            end => {
                if end == "stop" {
                    assert_eq!(daemon.ask(&["stop"]).1, 0);
                } else {
                    signal("KILL", &[daemon.child.id() as i32]);
                }
                wait_for("both are back", LIMIT, || {
                    inside(p) == format!("/{name}") && inside(q) == format!("/{name}/sub")
                });
                daemon.run_on(&["p"]);
            }
        }
        let _ = fs::write(daemon.at("stop"), "");
        job.wait().expect("it is ours");
        wait_for("our group in it goes", LIMIT, || {
            let left = fs::read_dir(&own.0)
                .expect("it is ours")
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned());
            !left.into_iter().any(|text| text.starts_with("meanwhile-"))
        });
    }
}

/// What is submitted belongs to the control group of who asked, and is there when the daemon lets
/// it go or dies; where that group is gone, it runs on beside the daemon.
#[test]
fn a_submitted_program_goes_to_the_group_of_who_asked() {
    if !may_freeze() {
        return;
    }
    let works = freezers().contains(&"v2");
    let inside = |pid: i32| {
        control_groups(pid)
            .lines()
            .find_map(|line| line.strip_prefix("0::").map(str::to_owned))
            .expect("a line")
    };
    for (end, stays) in [("stop", true), ("KILL", true), ("stop", false), ("KILL", false)] {
        let Some(own) = Own::create("asker").filter(|_| works) else {
            return skipped("faults: no right to make control groups of version 2");
        };
        let name = own.0.file_name().expect("a name").to_string_lossy().into_owned();
        let daemon = Daemon::start(&["--policy", "rr", "--freezer", "v2"]);
        let home = inside(daemon.child.id() as i32);
        let script = "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"";
        let job = "echo $$ > \"$0/pid-p\"; while [ ! -e \"$0/stop\" ] && [ -e \"$0\" ]; do echo x >> \"$0/out-p\"; k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done";
        let asked = Command::new("sh")
            .args(["-c", script])
            .arg(&own.0)
            .args([env!("CARGO_BIN_EXE_meanwhile"), "cosched", "submit", "--socket"])
            .arg(daemon.at("own/sock"))
            .args(["--threads", "1", "sh", "-c", job])
            .arg(daemon.folder.path())
            .output()
            .expect("sh runs");
        assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
        wait_for("it runs", LIMIT, || length(&daemon.at("out-p")) > 0);
        let pid = daemon.pid("p");
        assert!(inside(pid).contains("/meanwhile-"), "{end}: {}", inside(pid));
        if !stays {
            fs::remove_dir(own.0.join("sub"))
                .and_then(|()| fs::remove_dir(&own.0))
                .expect("nobody is in it");
        }
        match end {
            "stop" => assert_eq!(daemon.ask(&["stop"]).1, 0),
            _ => signal("KILL", &[daemon.child.id() as i32]),
        }
        let expected = if stays { format!("/{name}") } else { home };
        wait_for(&format!("it is in {expected}"), LIMIT, || inside(pid) == expected);
        daemon.run_on(&["p"]);
    }
}

fn job_has_ended(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|pair| pair.1.starts_with(['Z', 'X']))
}

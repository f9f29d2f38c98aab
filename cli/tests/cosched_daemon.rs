//! `meanwhile cosched daemon` and those who ask it: who may, what it refuses, and that nothing
//! stays frozen.
//!
//! Needs the right to make control groups; what needs root as well says so and is skipped visibly.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support;
use crate::support::loops;
use loops::end_loops;
use support::{LIMIT, THAWED, frozen, groups, length, may_freeze, parent, skipped, wait_for};

/// A daemon of ours, ended with the test, and its programs with it.
struct Daemon {
    child: Child,
    folder: tempfile::TempDir,
}

impl Daemon {
    fn start(arguments: &[&str]) -> Daemon {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let socket = folder.path().join("own").join("sock");
        let said = fs::File::create(folder.path().join("said")).expect("a scratch file");
        let mut child = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
            .args(["cosched", "daemon", "--turns", "frozen", "--no-restart", "--socket"])
            .arg(&socket)
            .args(arguments)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .expect("the binary runs");
        wait_for("the daemon listens", LIMIT, || {
            assert!(
                child.try_wait().expect("it is ours").is_none(),
                "{:?}",
                fs::read_to_string(folder.path().join("said"))
            );
            ask(Path::new(env!("CARGO_BIN_EXE_meanwhile")), &socket, &["status"]).status.success()
        });
        Daemon { child, folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn socket(&self) -> PathBuf {
        self.at("own").join("sock")
    }

    fn ask(&self, arguments: &[&str]) -> (Value, String, i32) {
        let mut own = arguments.to_vec();
        own.insert(1, "--json");
        let ran = ask(Path::new(env!("CARGO_BIN_EXE_meanwhile")), &self.socket(), &own);
        let value: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
        let said = value["errors"][0]["message"].as_str().unwrap_or_default().to_owned();
        (value, said, ran.status.code().expect("it was not killed"))
    }

    /// Programs that write their number, then a line every few milliseconds until the test ends.
    fn submit_loops(&self, names: &[&str]) {
        for name in names {
            let stop = self.at("stop").display().to_string();
            let script = "echo $$ > \"$1/pid-$2\"; while [ ! -e \"$3\" ] && [ -e \"$1\" ]; do echo x >> \"$1/out-$2\"; k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done";
            let folder = self.folder.path().display().to_string();
            let (value, said, code) =
                self.ask(&["submit", "sh", "-c", script, "sh", &folder, name, &stop]);
            assert_eq!(code, 0, "{said}");
            assert!(value["id"].is_u64());
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

    fn programs(&self) -> Vec<Value> {
        self.ask(&["status"]).0["programs"].as_array().cloned().expect("a list")
    }

    /// All of them write on.
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
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        end_loops(self.folder.path());
        let start = Instant::now();
        while !groups(self.child.id()).is_empty() && start.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn ask(program: &Path, socket: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.arg("cosched").arg(arguments[0]).arg("--socket").arg(socket).args(&arguments[1..]);
    command.output().expect("the binary runs")
}

#[test]
fn programs_are_submitted_shown_and_left_running() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&["--policy", "rr"]);
    let folder = fs::metadata(daemon.at("own")).expect("it was made").permissions().mode();
    let socket = fs::metadata(daemon.socket()).expect("it was made").permissions().mode();
    assert_eq!((folder & 0o777, socket & 0o777), (0o700, 0o600));
    daemon.submit_loops(&["a", "b", "c"]);
    let (value, _, _) = daemon.ask(&["status"]);
    for key in [
        "policy",
        "freezer",
        "source",
        "reason",
        "quantum_ms",
        "links",
        "n_decisions",
        "ended",
        "pid",
    ] {
        assert!(!value[key].is_null(), "{key}: {value}");
    }
    assert_eq!(value["programs"].as_array().map(Vec::len), Some(3));
    // Without a terminal one plain picture.
    let top = ask(Path::new(env!("CARGO_BIN_EXE_meanwhile")), &daemon.socket(), &["top"]);
    let picture = String::from_utf8(top.stdout).expect("text");
    assert!(
        picture.contains("policy rr")
            && picture.contains("Programs    [measured]")
            && !picture.contains('\u{1b}'),
        "{picture}"
    );
    assert_eq!(picture.lines().filter(|line| line.contains(" sh ")).count(), 3, "{picture}");
    let (value, _, code) = daemon.ask(&["top"]);
    assert_eq!((value["programs"].as_array().map(Vec::len), code), (Some(3), 0));
    // A program's end and status.
    let (value, _, code) = daemon.ask(&["submit", "--wait", "sh", "-c", "exit 3"]);
    assert_eq!((value["ended"]["status"].as_i64(), code), (Some(3), 3), "{value}");
    let (value, _, code) = daemon.ask(&["stop"]);
    assert_eq!((value["left_running"].as_u64(), code), (Some(3), 0), "{value}");
    wait_for("the socket goes", LIMIT, || !daemon.socket().exists());
    daemon.run_on(&["a", "b", "c"]);
    let all = fs::read_to_string("/proc/self/status").expect("proc is there");
    let cpus = |text: &str| {
        text.lines().find(|line| line.starts_with("Cpus_allowed_list")).map(str::to_owned)
    };
    for name in ["a", "b", "c"] {
        let status =
            fs::read_to_string(format!("/proc/{}/status", daemon.pid(name))).expect("it runs");
        assert_eq!(cpus(&status), cpus(&all), "all processors are its own again");
        let groups =
            fs::read_to_string(format!("/proc/{}/cgroup", daemon.pid(name))).expect("it runs");
        assert!(!groups.contains("meanwhile-"), "{groups}");
    }
    let (_, said, code) = daemon.ask(&["status"]);
    assert!(code == 1 && said.contains("no daemon listens on"), "{said}");
}

/// `stop` and `daemon` in one line of a script.
#[test]
fn where_stop_has_returned_the_next_daemon_starts() {
    if !may_freeze() {
        return;
    }
    for names in [&[][..], &["a", "b"]] {
        let mut daemon = Daemon::start(&[]);
        daemon.submit_loops(names);
        assert_eq!(daemon.ask(&["stop"]).2, 0);
        assert!(!daemon.socket().exists());
        let ended = daemon.child.try_wait().expect("it is ours");
        assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
        assert_eq!(daemon.ask(&["stop"]).2, 1, "there is none any more");
    }
}

#[test]
fn a_daemon_without_programs_moves_nothing() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&[]);
    for arguments in [&["status"][..], &["status", "--prometheus"]] {
        let said =
            ask(Path::new(env!("CARGO_BIN_EXE_meanwhile")), &daemon.socket(), arguments).stdout;
        let said = String::from_utf8(said).expect("text");
        assert!(
            said.contains("] 0")
                || said.contains(") 0 MB/s")
                || said.contains("bandwidth_bytes_per_second{link=\"0\"} 0\n"),
            "{said}"
        );
        assert!(!said.contains(" -0"), "{said}");
    }
}

/// In the folder for scratch files anybody can make `meanwhile-UID` first. Whoever asks finds the
/// daemon all the same.
#[test]
fn a_folder_that_is_somebody_elses_locks_nobody_out() {
    if !may_freeze() {
        return;
    }
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let name = format!("meanwhile-{}", nix::unistd::geteuid());
    std::os::unix::fs::symlink("/", scratch.path().join(name)).expect("a link is nobody's folder");
    for runtime in [None, Some(Path::new("/nowhere"))] {
        let command = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
            command
                .arg("cosched")
                .args(arguments)
                .env("TMPDIR", scratch.path())
                .env_remove("XDG_RUNTIME_DIR");
            if let Some(path) = runtime {
                command.env("XDG_RUNTIME_DIR", path);
            }
            command
        };
        let said = scratch.path().join("said");
        let log = fs::File::create(&said).expect("a scratch file");
        let mut daemon = command(&["daemon", "--no-restart"])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the binary runs");
        wait_for("whoever asks finds it", LIMIT, || {
            assert!(
                daemon.try_wait().expect("it is ours").is_none(),
                "{:?}",
                fs::read_to_string(&said)
            );
            command(&["status"]).output().expect("the binary runs").status.success()
        });
        let text = fs::read_to_string(&said).expect("it was written");
        assert!(
            text.contains("it is no folder") && text.contains("another place is not for this user"),
            "{text}"
        );
        assert_eq!(
            text.contains("XDG_RUNTIME_DIR, /nowhere"),
            runtime == Some(Path::new("/nowhere")),
            "{text}"
        );
        assert!(command(&["stop"]).status().expect("the binary runs").success());
        daemon.wait().expect("it is ours");
    }
    let made: Vec<_> = fs::read_dir(scratch.path())
        .expect("there")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(made.len(), 3, "one folder for all of them: {made:?}");
}

#[test]
fn a_daemon_that_only_attaches_starts_nothing() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&["--attach-only"]);
    for command in [&["submit", "true"][..], &["submit", "--wait", "sh", "-c", "exit 0"]] {
        let (_, said, code) = daemon.ask(command);
        assert!(code == 1 && said.contains("starts no programs"), "{said}");
    }
    let mut own = Command::new("sleep").arg("100").spawn().expect("sleep runs");
    let (_, said, code) = daemon.ask(&["submit", "--pid", &own.id().to_string()]);
    own.kill().and_then(|()| own.wait()).expect("it is ours");
    assert_eq!(code, 0, "{said}");
}

/// The daemon and what it started, in MB; pages that several use are shared out among them.
fn memory_mb(daemon: u32) -> f64 {
    let all = fs::read_dir("/proc")
        .expect("proc is there")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let ours =
        all.filter(|pid| *pid == daemon as i32 || support::parent(*pid) == Some(daemon as i32));
    let pss = |pid: i32| {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        text.lines()
            .find_map(|line| {
                line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.parse::<f64>().ok()
            })
            .unwrap_or(f64::NAN)
    };
    ours.map(pss).sum::<f64>() / 1024.0
}

#[test]
fn a_daemon_takes_little_memory_and_says_where_there_is_less() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&[]);
    let mb = memory_mb(daemon.child.id());
    assert!(mb < 40.0, "{mb} MB in all its processes");
    assert!(
        !fs::read_to_string(daemon.at("said")).expect("it was written").contains("memory is short")
    );
    drop(daemon);
    let name = format!("short-{}", std::process::id());
    let places =
        [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
    let made = places.into_iter().find_map(|(place, file)| {
        let group = Path::new(place).join(&name);
        let is_made = fs::create_dir(&group).is_ok() && fs::write(group.join(file), "36M").is_ok();
        if !is_made {
            let _ = fs::remove_dir(&group);
        }
        is_made.then_some(group)
    });
    let Some(group) = made else { return skipped("no right to limit memory") };
    let script = "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(&group).args([
        env!("CARGO_BIN_EXE_meanwhile"),
        "cosched",
        "run",
        "--",
        "true",
    ]);
    let ran = command.output().expect("sh runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    wait_for("nobody is in it", LIMIT, || fs::remove_dir(&group).is_ok());
    assert!(
        ran.status.success() && said.contains("memory is short") && said.contains(&name),
        "{said}"
    );
}

/// Kilobytes of a process, of what it shares its part. Source: proc(5), `smaps_rollup`.
fn own_kb(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("it is ours");
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn a_daemon_without_programs_is_small() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&[]);
    let own = daemon.child.id() as i32;
    // What it measured the links with is given back before it listens.
    let kb = own_kb(own);
    let below = fs::read_dir("/proc")
        .expect("proc is there")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| parent(*pid) == Some(own));
    let all = kb + below.map(own_kb).sum::<u64>();
    // It takes half of that.
    assert!(kb <= 20_000 && all <= 40_000, "{kb} kB, with its supervisors {all} kB");
}

#[test]
fn the_unit_is_a_small_target() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../packaging/systemd/meanwhile-cosched.service");
    let ran = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--no-pager", "--threshold=29"])
        .arg(unit)
        .output();
    let Ok(ran) = ran else { return skipped("no systemd-analyze") };
    let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    if said.contains("offline") {
        return skipped("a systemd-analyze that needs a running systemd");
    }
    assert!(ran.status.success(), "{said}");
}

#[test]
fn threads_that_were_not_said_are_counted() {
    if !may_freeze() {
        return;
    }
    if std::thread::available_parallelism()
        .is_ok_and(|available_parallelism| available_parallelism.get() < 2)
    {
        skipped("one processor");
        return;
    }
    let daemon = Daemon::start(&["--policy", "pairing"]);
    let busy = "while [ ! -e \"$1/stop\" ] && [ -e \"$1\" ]; do k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done";
    let folder = daemon.folder.path().display().to_string();
    let submit = |script: &str| {
        let (value, said, code) = daemon.ask(&["submit", "sh", "-c", script, "sh", &folder]);
        assert_eq!(code, 0, "{said}");
        value["id"].clone()
    };
    let n_threads = |id: &Value| {
        daemon.programs().iter().find(|program| program["id"] == *id).expect("it runs")["n_threads"]
            .clone()
    };
    let (two, asleep) = (submit(&format!("({busy}) & {busy}")), submit("exec sleep 1000"));
    wait_for("both are seen", LIMIT, || n_threads(&two) == 2);
    assert_eq!(n_threads(&asleep), 1);
    // As two is all there are, it is seen to rest only if someone waits.
    let other = submit(busy);
    wait_for("it rests", LIMIT, || {
        daemon
            .programs()
            .iter()
            .any(|program| program["id"] == asleep && program["is_resting"] == true)
    });
    assert_eq!(n_threads(&other), 1);
    let pid = daemon
        .programs()
        .iter()
        .find(|program| program["id"] == asleep)
        .and_then(|program| program["pid"].as_i64())
        .expect("a process");
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(pid as i32),
        nix::sys::signal::Signal::SIGTERM,
    )
    .expect("it is ours");
}

#[test]
fn other_users_are_refused() {
    if !may_freeze() {
        return;
    }
    if !nix::unistd::geteuid().is_root() {
        skipped("only root can ask as another user");
        return;
    }
    let daemon = Daemon::start(&[]);
    // Where the other user can run it.
    let shared = tempfile::tempdir().expect("a scratch folder");
    fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let program = shared.path().join("meanwhile");
    fs::copy(env!("CARGO_BIN_EXE_meanwhile"), &program).expect("a scratch file");
    let as_nobody = |what: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
        let ran = command
            .args(["cosched", what, "--socket"])
            .arg(daemon.socket())
            .current_dir("/")
            .output()
            .expect("setpriv runs");
        (String::from_utf8_lossy(&ran.stderr).into_owned(), ran.status.code())
    };
    let (said, code) = as_nobody("status");
    assert!(
        code == Some(2) && said.contains("Permission denied"),
        "the folder is the owner's: {said}"
    );
    // Even if somebody opened folder and socket to all, the kernel says who asks.
    for (path, mode) in [
        (daemon.folder.path().to_owned(), 0o755),
        (daemon.at("own"), 0o755),
        (daemon.socket(), 0o666),
    ] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }
    for what in ["status", "stop", "top"] {
        let (said, code) = as_nobody(what);
        assert!(
            code == Some(1) && said.contains("user 65534 is not the owner of this daemon"),
            "{what}: {said}"
        );
    }
    assert_eq!(daemon.ask(&["status"]).2, 0, "it still runs, for its owner");
}

#[test]
fn processes_are_attached_or_refused() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&["--policy", "rr"]);
    let refused = |pid: i32, why: &str| {
        let (_, said, code) = daemon.ask(&["submit", "--pid", &pid.to_string()]);
        assert!(code == 1 && said.contains(why), "{pid}: {said}");
    };
    refused(1, "process 1 starts and ends all others");
    refused(daemon.child.id() as i32, "is part of the manager");
    refused(std::process::id() as i32, "runs the manager or the client");
    refused(i32::MAX, "there is no process");
    let supervisor = fs::read_dir("/proc")
        .expect("proc is there")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .find(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent =
                stat.rsplit_once(") ").and_then(|pair| pair.1.split(' ').nth(1).map(str::to_owned));
            parent == Some(daemon.child.id().to_string())
        });
    refused(supervisor.expect("the supervisor is the daemon's child"), "is part of the manager");
    if nix::unistd::geteuid().is_root() {
        let mut other = Command::new("setpriv");
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "100"]);
        let mut other = other.spawn().expect("setpriv runs");
        let pid = other.id() as i32;
        wait_for("it is the other user's", LIMIT, || {
            use std::os::unix::fs::MetadataExt;
            fs::metadata(format!("/proc/{pid}")).is_ok_and(|metadata| metadata.uid() == 65534)
        });
        let (_, said, code) = daemon.ask(&["submit", "--pid", &pid.to_string()]);
        other.kill().and_then(|()| other.wait()).expect("it is ours");
        assert!(code == 1 && said.contains("belongs to user 65534"), "{said}");
    } else {
        skipped("only root has a process of another user to offer");
    }
    // A shell and its child, which do not know of us.
    let script = "echo $$ > \"$1/pid-p\"; (while [ ! -e \"$1/stop\" ] && [ -e \"$1\" ]; do echo x >> \"$1/out-p\"; k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done) & wait";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(daemon.folder.path());
    let mut shell = shell.spawn().expect("sh runs");
    wait_for("it runs", LIMIT, || length(&daemon.at("out-p")) > 0);
    let pid = daemon.pid("p");
    let (_, said, code) = daemon.ask(&["submit", "--pid", &pid.to_string(), "--threads", "1"]);
    assert_eq!(code, 0, "{said}");
    refused(pid, "is managed already");
    daemon.submit_loops(&["a", "b"]);
    // Three programs on fewer processors take turns: all of them run on, and the attached one is
    // frozen at times.
    daemon.run_on(&["a", "b", "p"]);
    wait_for("it waits", LIMIT, || {
        daemon.programs().iter().any(|program| {
            program["pid"] == pid && program["longest_wait_quanta"].as_u64() > Some(0)
        })
    });
    daemon.ask(&["stop"]);
    daemon.run_on(&["a", "b", "p"]);
    fs::write(daemon.at("stop"), "").expect("a scratch file");
    shell.wait().expect("it is ours");
}

#[test]
fn everything_runs_on_when_the_daemon_is_killed() {
    if !may_freeze() {
        return;
    }
    for freezer in ["v2", "v1", "signals"] {
        let mut probe = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        let probe = probe
            .args(["cosched", "run", "--freezer", freezer, "--", "true"])
            .output()
            .expect("the binary runs");
        if !probe.status.success() {
            skipped(&format!("no {freezer} freezer"));
            continue;
        }
        for kill in 0..if std::env::var_os("MEANWHILE_LONG").is_some() { 50 } else { 2 } {
            let mut daemon = Daemon::start(&["--policy", "rr", "--freezer", freezer]);
            let script = "echo $$ > \"$1/pid-p\"; while [ ! -e \"$1/stop\" ] && [ -e \"$1\" ]; do echo x >> \"$1/out-p\"; k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done";
            let mut attached = Command::new("sh")
                .args(["-c", script, "sh"])
                .arg(daemon.folder.path())
                .spawn()
                .expect("sh runs");
            wait_for("it runs", LIMIT, || length(&daemon.at("out-p")) > 0);
            let (_, said, code) = daemon.ask(&["submit", "--pid", &attached.id().to_string()]);
            assert_eq!(code, 0, "{said}");
            daemon.submit_loops(&["a", "b", "c"]);
            std::thread::sleep(Duration::from_millis(37 * kill));
            daemon.child.kill().and_then(|()| daemon.child.wait()).expect("it is ours");
            let mut pids = ["a", "b", "c"].map(|word| daemon.pid(word)).to_vec();
            pids.push(attached.id() as i32);
            wait_for("all are thawed", THAWED, || frozen(daemon.child.id(), &pids).is_empty());
            daemon.run_on(&["a", "b", "c", "p"]);
            fs::write(daemon.at("stop"), "").expect("a scratch file");
            attached.wait().expect("it is ours");
        }
    }
}

#[test]
fn nobody_starves() {
    if !may_freeze() {
        return;
    }
    let names = ["a", "b", "c", "d", "e"];
    for policy in ["rr", "dss", "lqg", "qwg", "b2arr", "b2adss", "pairing"] {
        let daemon = Daemon::start(&["--policy", policy]);
        daemon.submit_loops(&names);
        let decisions = |value: &Value| value["n_decisions"].as_u64().expect("a number");
        let (first, _, _) = daemon.ask(&["status"]);
        let before: Vec<u64> =
            names.iter().map(|name| length(&daemon.at(&format!("out-{name}")))).collect();
        // Three other threads for each of the places, every fourth quantum: nobody waits longer
        // than 12 quanta.
        wait_for("quanta pass", LIMIT, || {
            decisions(&daemon.ask(&["status"]).0) >= decisions(&first) + 20
        });
        let (last, _, _) = daemon.ask(&["status"]);
        // Half a second of processors may be little on a busy machine.
        wait_for(&format!("{policy}: all make progress"), LIMIT, || {
            names
                .iter()
                .zip(&before)
                .all(|(it, before)| length(&daemon.at(&format!("out-{it}"))) > *before)
        });
        for it in last["programs"].as_array().expect("a list") {
            assert!(
                it["longest_wait_quanta"].as_u64().is_some_and(|number| number <= 15),
                "{policy}: {it}"
            );
            assert!(it["n_turns"].as_u64().is_some_and(|number| number > 0), "{policy}: {it}");
        }
    }
}

#[test]
fn what_is_no_request_is_refused() {
    if !may_freeze() {
        return;
    }
    use std::io::{Read, Write};
    let daemon = Daemon::start(&[]);
    let say = |bytes: &[u8]| {
        let mut stream =
            std::os::unix::net::UnixStream::connect(daemon.socket()).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let _ = stream.write_all(bytes);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    for bytes in [
        &b"nonsense\n"[..],
        b"{\"do\":\"dance\"}\n",
        b"\xff\xfe\n",
        b"{\"do\":\"status\",\"as\":\"root\"}\n",
    ] {
        let answer = say(bytes);
        assert!(answer.contains("this is no request"), "{answer}");
    }
    let answer = say(b"{\"do\":\"submit\",\"command\":[],\"threads\":1,\"folder\":\"/\",\"environment\":[],\"output\":null}\n");
    assert!(answer.contains("a command is empty"), "{answer}");
    let answer = say(b"{\"do\":\"submit\",\"command\":[\"true\"],\"threads\":0,\"folder\":\"/\",\"environment\":[],\"output\":null}\n");
    assert!(answer.contains("0 threads: choose 1 to 1024"), "{answer}");
    let answer =
        say(b"{\"do\":\"submit\",\"command\":[\"true\"],\"threads\":1,\"folder\":\"/nowhere\",\"environment\":[],\"output\":null}\n");
    assert!(answer.contains("start `true`"), "{answer}");
    assert_eq!(daemon.ask(&["status"]).2, 0, "it still runs");
    let (_, said, code) = daemon.ask(&["submit"]);
    assert!(code == 1 && said.contains("there is nothing to submit"), "{said}");
}

#[test]
fn programs_that_count_are_compared_with_themselves_alone() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&["--policy", "rr", "--source", "estimate"]);
    let source = daemon.at("count.c");
    let text = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdint.h>\n#include <unistd.h>\nint main(int n, char **words)\n{\n\
                void (*progress)(uint64_t) = (void (*)(uint64_t))dlsym(RTLD_DEFAULT, \"meanwhile_progress\");\n\
                if (n < 2 || !progress)\n    return 2;\n\
                while (!access(words[1], F_OK))\n    for (int k = 0; k < 100; k++) {\n        for (volatile int i = 0; i < 1000; i++)\n            ;\n\
                        progress(1);\n    }\nreturn 0;\n}\n";
    fs::write(&source, text).expect("a scratch file");
    let program = daemon.at("count");
    let cc = Command::new("cc")
        .args(["-O1", "-o"])
        .arg(&program)
        .arg(&source)
        .arg("-ldl")
        .output()
        .expect("cc runs");
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
    // They count while it is there, so no longer than the folder of the test.
    let (program, going) = (program.display().to_string(), source.display().to_string());
    for _ in 0..2 {
        let (_, said, code) = daemon.ask(&["submit", &program, &going]);
        assert_eq!(code, 0, "{said}");
    }
    let compared = || {
        daemon
            .programs()
            .iter()
            .any(|program| program["slowdown"].as_f64().is_some_and(|number| number > 0.0))
    };
    wait_for("the others are frozen for a moment", LIMIT, compared);
    let programs = daemon.programs();
    // Who slows whom: the other one was there, and is named.
    let measured = programs
        .iter()
        .find(|program| program["slowdown"].as_f64().is_some())
        .expect("one was compared");
    let beside = &measured["neighbours"][0];
    let other = programs.iter().find(|program| program["id"] != measured["id"]).expect("two run");
    assert!(
        beside["id"] == other["id"]
            && beside["n"].as_u64() > Some(0)
            && beside["slowdown"].as_f64() > Some(0.0),
        "{programs:?}"
    );
    assert!(programs.iter().all(|program| program["progress"].as_u64() > Some(0)), "{programs:?}");
    let before: Vec<u64> =
        programs.iter().filter_map(|program| program["progress"].as_u64()).collect();
    let progress = || {
        daemon
            .programs()
            .iter()
            .zip(&before)
            .all(|(it, before)| it["progress"].as_u64() > Some(*before))
    };
    wait_for("both go on", LIMIT, progress);
}

#[test]
fn top_draws_on_a_terminal_and_leaves_it_as_it_was() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&["--policy", "rr"]);
    daemon.submit_loops(&["a"]);
    let screen = fs::File::create(daemon.at("screen")).expect("a scratch file");
    let inside = "stty rows 40 cols 120; stty -a > before; \"$MEANWHILE\" cosched top --every 50 --socket own/sock; echo $? > code; stty -a > after";
    let mut terminal = Command::new("script");
    terminal
        .args(["-q", "-e", "-f", "-c", inside, "/dev/null"])
        .env("MEANWHILE", env!("CARGO_BIN_EXE_meanwhile"))
        .env("TERM", "xterm");
    let mut terminal = terminal
        .current_dir(daemon.folder.path())
        .stdin(Stdio::piped())
        .stdout(screen)
        .spawn()
        .expect("script of util-linux runs");
    let drawn = || {
        String::from_utf8_lossy(&fs::read(daemon.at("screen")).expect("a scratch file"))
            .into_owned()
    };
    wait_for("a picture", LIMIT, || drawn().contains("q ends this"));
    let picture = drawn();
    assert!(
        picture.contains("\u{1b}[?1049h")
            && picture.contains("policy rr")
            && picture.contains("Programs"),
        "{picture}"
    );
    assert!(!daemon.at("after").exists(), "it goes on until a key");
    wait_for("the next picture", LIMIT, || drawn().matches("q ends this").count() > 2);
    {
        use std::io::Write;
        terminal.stdin.as_mut().expect("it is piped").write_all(b"q").expect("it listens");
    }
    wait_for("it ends", LIMIT, || {
        daemon.at("after").exists() && terminal.try_wait().expect("it is ours").is_some()
    });
    let text = |name: &str| fs::read_to_string(daemon.at(name)).expect("it was written");
    assert_eq!(
        (text("code").trim(), text("before")),
        ("0", text("after")),
        "modes and size are as before"
    );
    assert!(
        drawn().trim_end().ends_with("\u{1b}[?1049l"),
        "what was on the terminal is back: {:?}",
        drawn()
    );
    assert_eq!(daemon.programs().len(), 1, "the daemon and its program run on");
}

#[test]
fn who_finishes_first_has_most_turns() {
    if !may_freeze() {
        return;
    }
    let daemon = Daemon::start(&["--policy", "pairing", "-X", "finish-first=yes"]);
    let n = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(8);
    let names: Vec<String> = (0..2 * n).map(|idx| format!("l{idx}")).collect();
    daemon.submit_loops(&names.iter().map(String::as_str).collect::<Vec<_>>());
    // The crew has three quanta of four, whatever the programs move; by turns all would have the
    // same.
    let is_uneven = |programs: &[Value]| {
        let turns: Vec<u64> =
            programs.iter().filter_map(|program| program["n_turns"].as_u64()).collect();
        let least = turns.iter().min().copied().unwrap_or(0);
        least > 0 && turns.iter().max().is_some_and(|most| *most >= 2 * least + 4)
    };
    wait_for("some have twice the turns of others", LIMIT, || is_uneven(&daemon.programs()));
    let (value, _, _) = daemon.ask(&["status"]);
    assert_eq!((&value["finish_first"], &value["round_robin"]), (&true.into(), &0.0.into()));
}

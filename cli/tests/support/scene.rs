//! A daemon with programs, faults to them, and what is so afterwards.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::loops::end_loops;
use crate::support::{LIMIT, THAWED, cpus_of, frozen, groups, length, parent, signal, wait_for};

const BINARY: &str = env!("CARGO_BIN_EXE_meanwhile");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Term,
    Kill,
    Stop,
    /// The run-time folder is full.
    NoSpace,
    /// No file can be opened any more.
    NoFiles,
    /// Somebody removes the socket.
    NoSocket,
}

/// Whom it happens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victim {
    Daemon,
    Supervisor,
    /// The daemon and its supervisors, at one moment.
    Both,
    Program,
}

/// What is so within a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Everything runs, on its own processors, in its own group, and is not managed any more.
    Free,
    /// Everything takes its turns as before, and is free after `stop`.
    Managed,
    /// The same, and a new program is refused while it lasts.
    Refused,
    /// The same for the others; this program has ended, or is stopped until its owner
    /// lets it go on.
    Others,
    /// Frozen, until the next daemon or `run` of this user frees it, at its start, or `restore`.
    Next,
}

use After::{Free, Managed, Next, Others, Refused};
use Fault::{Kill, NoFiles, NoSocket, NoSpace, Stop, Term};
use Victim::{Both, Daemon, Program, Supervisor};

/// The whole matrix, for programs that were started and for attached ones, with each freezer.
pub const MATRIX: &[(Fault, [(Victim, After); 4])] = &[
    (Term, [(Daemon, Free), (Supervisor, Managed), (Both, Free), (Program, Others)]),
    (Kill, [(Daemon, Free), (Supervisor, Managed), (Both, Next), (Program, Others)]),
    (Stop, [(Daemon, Managed), (Supervisor, Managed), (Both, Managed), (Program, Others)]),
    (NoSpace, [(Daemon, Refused), (Supervisor, Free), (Both, Free), (Program, Managed)]),
    (NoFiles, [(Daemon, Refused), (Supervisor, Free), (Both, Free), (Program, Managed)]),
    (NoSocket, [(Daemon, Managed), (Supervisor, Free), (Both, Free), (Program, Managed)]),
];

pub const FREEZERS: [&str; 3] = ["v2", "v1", "signals"];
/// In place of a freezer: programs wait in the idle class.
pub const SOFT: &str = "soft";
/// With soft turns `--capacity` is this. The program `a` says that it moves more, the others
/// that they do not.
const CAPACITY: &str = "8000";
const STREAM: &str = "9000";

impl Fault {
    pub fn text(self) -> &'static str {
        match self {
            Term => "SIGTERM",
            Kill => "SIGKILL",
            Stop => "SIGSTOP",
            NoSpace => "ENOSPC",
            NoFiles => "EMFILE",
            NoSocket => "lost socket",
        }
    }
}

impl After {
    pub fn text(self) -> &'static str {
        match self {
            Free => "free",
            Managed => "managed",
            Refused => "managed, a new one refused",
            Others => "the others managed",
            Next => "frozen until the next start or `restore`",
        }
    }
}

/// A daemon with programs that it started and one that was attached.
pub struct Scene {
    child: Child,
    /// Keeps the small folder mounted, where no other process sees it.
    holder: Child,
    pub folder: tempfile::TempDir,
    attached: Vec<Child>,
    pub names: Vec<String>,
    /// Daemons before this one.
    before: Vec<u32>,
    freezer: &'static str,
    home: String,
}

impl Scene {
    /// With a run-time folder of its own, which is small where it has to be filled. None if there
    /// is no right to mount it.
    pub fn start(freezer: &'static str) -> Option<Scene> {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::create_dir(folder.path().join("small")).expect("made");
        let script = "mount -t tmpfs -o size=256k,mode=700 none \"$1/small\" && echo > \"$1/mounted\" && exec sleep 100000 2> /dev/null";
        let mut holder = Command::new("unshare");
        let mut holder = holder
            .args(["-m", "sh", "-c", script, "sh"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .spawn()
            .expect("unshare runs");
        wait_for("it is mounted or refused", LIMIT, || {
            folder.path().join("mounted").exists()
                || holder.try_wait().expect("it is ours").is_some()
        });
        if !folder.path().join("mounted").exists() {
            return None;
        }
        let child = Scene::spawn(folder.path(), &holder, freezer);
        let home = groups_of(std::process::id() as i32);
        let mut scene = Scene {
            child,
            holder,
            folder,
            attached: Vec::new(),
            names: Vec::new(),
            before: Vec::new(),
            freezer,
            home,
        };
        scene.listens();
        scene.submit("a");
        scene.submit("b");
        scene.attach("p");
        scene.take_turns();
        Some(scene)
    }

    /// Another daemon, after the end of this one, takes the programs in.
    pub fn again(&mut self) {
        self.before.push(self.child.id());
        // It may have been stopped when its end was asked for.
        let _ = self.child.kill();
        self.child.wait().expect("it is ours");
        if self.filling().exists() {
            self.fill(false);
        }
        self.child = Scene::spawn(self.folder.path(), &self.holder, self.freezer);
        self.listens();
        for pid in self.pids() {
            let mbps = if pid == self.pid("a").unwrap_or(0) { STREAM } else { "100" };
            let (value, code) = self.ask(&["submit", "--mbps", mbps, "--pid", &pid.to_string()]);
            assert_eq!(code, 0, "{value}");
        }
        self.take_turns();
    }

    fn take_turns(&self) {
        wait_for("all have had turns", LIMIT, || {
            self.names.iter().all(|name| length(&self.at(&format!("out-{name}"))) > 2)
        });
        if self.names.len() > 2 {
            wait_for("somebody waits", LIMIT, || !self.frozen().is_empty());
        }
    }

    fn spawn(folder: &Path, holder: &Child, freezer: &str) -> Child {
        let said = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join("said"))
            .expect("a scratch file");
        let mut command = inside(holder, folder);
        command.args(["daemon", "--no-restart", "--policy", "rr"]);
        if freezer == SOFT {
            // Nothing is measured: what is asserted does not depend on the machine's noise.
            command.args(["--source", "told", "--capacity", CAPACITY]);
        } else {
            command.args(["--source", "estimate", "--turns", "frozen", "--freezer", freezer]);
        }
        command.arg("--socket");
        command
            .arg(folder.join("own/sock"))
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .expect("nsenter runs")
    }

    fn listens(&mut self) {
        wait_for("the daemon listens", LIMIT, || {
            let said = fs::read_to_string(self.at("said")).unwrap_or_default();
            assert!(self.child.try_wait().expect("it is ours").is_none(), "{said}");
            self.ask(&["status"]).1 == 0
        });
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn ask(&self, arguments: &[&str]) -> (Value, i32) {
        let mut command = Command::new(BINARY);
        command
            .args(["cosched", arguments[0], "--json", "--socket"])
            .arg(self.at("own/sock"))
            .args(&arguments[1..]);
        let ran = command.output().expect("the binary runs");
        (
            serde_json::from_slice(&ran.stdout).unwrap_or_default(),
            ran.status.code().expect("it was not killed"),
        )
    }

    /// A loop that writes its number, then a line every few milliseconds until the test ends.
    pub fn script(&self, name: &str) -> Vec<String> {
        let script = "echo $$ > \"$1/pid-$2\"; while [ ! -e \"$1/stop\" ] && [ -e \"$1\" ]; do echo x >> \"$1/out-$2\"; k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done";
        ["sh", "-c", script, "sh", &self.folder.path().display().to_string(), name]
            .map(str::to_owned)
            .into()
    }

    /// The daemon starts a program of this name.
    pub fn submit(&mut self, name: &str) {
        let words = self.script(name);
        let mbps = if name == "a" { STREAM } else { "100" };
        let all: Vec<&str> = ["submit", "--mbps", mbps]
            .into_iter()
            .chain(words.iter().map(String::as_str))
            .collect();
        let (value, code) = self.ask(&all);
        assert_eq!(code, 0, "{value}");
        wait_for("it starts", LIMIT, || self.pid(name).is_some());
        self.names.push(name.to_owned());
    }

    /// A program of this name starts by itself, and is given to the daemon.
    pub fn attach(&mut self, name: &str) {
        let attached = Command::new("sh").args(&self.script(name)[1..]).spawn().expect("sh runs");
        let pid = attached.id();
        self.attached.push(attached);
        wait_for("it runs", LIMIT, || {
            length(&self.at(&format!("out-{name}"))) > 0 && self.pid(name).is_some()
        });
        let (value, code) = self.ask(&["submit", "--mbps", "100", "--pid", &pid.to_string()]);
        assert_eq!(code, 0, "{value}");
        self.names.push(name.to_owned());
    }

    /// A program ends, and is heard to have ended.
    pub fn end(&mut self, name: &str) {
        let pid = self.pid(name).expect("it was written");
        signal("TERM", &[pid]);
        self.has_ended(name, pid);
    }

    fn has_ended(&mut self, name: &str, pid: i32) {
        self.names.retain(|it| it != name);
        wait_for("its end is heard", LIMIT, || !self.managed().contains(&pid));
        fs::remove_file(self.at(&format!("pid-{name}"))).expect("it was written");
    }

    /// The first processes of the programs that the daemon has.
    pub fn managed(&self) -> Vec<i32> {
        let programs = self.ask(&["status"]).0["programs"].as_array().cloned().unwrap_or_default();
        programs
            .iter()
            .filter_map(|program| program["pid"].as_i64())
            .map(|number| number as i32)
            .collect()
    }

    /// The daemon has all of them and nothing else.
    pub fn nothing_is_lost(&self, what: &str) {
        let mut expected = self.pids();
        expected.sort_unstable();
        wait_for(&format!("{what}: {expected:?} are managed"), LIMIT, || {
            let mut managed = self.managed();
            managed.sort_unstable();
            managed == expected
        });
    }

    pub fn pid(&self, name: &str) -> Option<i32> {
        fs::read_to_string(self.at(&format!("pid-{name}"))).ok()?.trim().parse().ok()
    }

    pub fn pids(&self) -> Vec<i32> {
        self.names.iter().map(|name| self.pid(name).expect("it was written")).collect()
    }

    /// `cosched` with these arguments where the run-time folder of the daemon is.
    pub fn beside(&self, arguments: &[&str]) -> (Value, i32) {
        let ran = inside(&self.holder, self.folder.path())
            .args(arguments)
            .output()
            .expect("nsenter of util-linux runs");
        (
            serde_json::from_slice(&ran.stdout).unwrap_or_default(),
            ran.status.code().expect("it was not killed"),
        )
    }

    /// Runs a script of the package's where the daemon's folder is seen, with its program in the
    /// path.
    pub fn maintain(&self, script: &str, action: &str) {
        let programs = Path::new(BINARY).parent().expect("it lies in a folder");
        let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", programs.display());
        let status = Command::new("nsenter")
            .arg(format!("--mount=/proc/{}/ns/mnt", self.holder.id()))
            .args(["sh", &format!("{}/../{script}", env!("CARGO_MANIFEST_DIR")), action])
            .env("XDG_RUNTIME_DIR", self.at("small"))
            .env("PATH", path)
            .stdout(Stdio::null())
            .status()
            .expect("nsenter of util-linux runs");
        assert!(status.success(), "{script} {action}: {status}");
    }

    pub fn own(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn frozen(&self) -> Vec<String> {
        frozen(self.child.id(), &self.pids())
    }

    pub fn supervisors(&self) -> Vec<i32> {
        let all = fs::read_dir("/proc")
            .expect("proc is there")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        all.filter(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|letter| *letter == 0).any(|part| part == b"supervise")
                && parent(*pid) == Some(self.own())
        })
        .collect()
    }

    pub fn victims(&self, victim: Victim) -> Vec<i32> {
        match victim {
            Daemon => vec![self.own()],
            Supervisor => self.supervisors(),
            Both => [self.supervisors(), vec![self.own()]].concat(),
            Program => vec![self.pid("a").expect("it was written")],
        }
    }

    /// The daemon was killed with its supervisors, and what it had frozen is frozen.
    pub fn is_dead(&mut self, what: &str) {
        self.child.wait().expect("it is ours");
        assert!(
            self.names.len() < 3 || !self.frozen().is_empty(),
            "{what}: this shows nothing if none is frozen"
        );
    }

    pub fn run_on(&self, what: &str) {
        let before: Vec<u64> =
            self.names.iter().map(|name| length(&self.at(&format!("out-{name}")))).collect();
        let goes =
            |(it, before): (&String, &u64)| length(&self.at(&format!("out-{it}"))) > before + 3;
        wait_for(&format!("{what}: all run on"), LIMIT, || {
            self.names.iter().zip(&before).all(goes)
        });
    }

    pub fn are_on_their_own(&self, what: &str) {
        for pid in self.pids() {
            assert_eq!(
                cpus_of(pid),
                cpus_of(std::process::id() as i32),
                "{what}: processors of {pid}"
            );
        }
    }

    pub fn are_free(&self, what: &str) {
        wait_for(&format!("{what}: all are thawed"), THAWED, || self.frozen().is_empty());
        // With signals they lie in the small folder, which only the holder sees.
        let inside = format!(
            "/proc/{}/root{}/meanwhile/meanwhile-{}",
            self.holder.id(),
            self.at("small").display(),
            self.own()
        );
        wait_for(&format!("{what}: our groups go"), LIMIT, || {
            groups(self.child.id()).is_empty() && !Path::new(&inside).exists()
        });
        self.are_on_their_own(what);
        for pid in self.pids() {
            assert_eq!(groups_of(pid), self.home, "{what}: the group of {pid}");
        }
        self.run_on(what);
    }

    /// What fills the small folder.
    fn filling(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{}/fill", self.holder.id(), self.at("small").display()))
    }

    /// Fills the small folder, or makes room again.
    fn fill(&self, is_full: bool) {
        if is_full {
            let mut fill = fs::File::create(self.filling()).expect("root sees into the namespace");
            while fill.write_all(&[0; 256]).is_ok() {}
        } else {
            fs::remove_file(self.filling()).expect("it is ours");
        }
    }

    /// What no process can refuse, and how it ends.
    pub fn strike(&self, fault: Fault, victim: Victim) -> Box<dyn Fn(&Scene)> {
        let them = self.victims(victim);
        match fault {
            Term => signal("TERM", &them),
            // Frozen first, none of them acts before its end. Between two turns no program is
            // frozen, and the case would show nothing.
            Kill if victim == Both => Frozen::start(self, "killed", them)
                .expect("a control group of version 2 can be made")
                .kill(),
            Kill => signal("KILL", &them),
            Stop => {
                signal("STOP", &them);
                // Daemon and supervisors go on by themselves: that is what is tested.
                return Box::new(move |_| signal("CONT", &[them[0]]));
            }
            NoSpace if victim != Program => {
                self.fill(true);
                return Box::new(|it| it.fill(false));
            }
            NoFiles if victim != Program => {
                let limit = |number: &i32, n: usize| {
                    let ran = Command::new("prlimit")
                        .args(["--pid", &number.to_string(), &format!("--nofile={n}:4096")])
                        .status();
                    assert!(ran.expect("prlimit of util-linux runs").success());
                };
                // As many as are open, and a few for who asks and for who thaws.
                them.iter().for_each(|it| {
                    limit(
                        it,
                        fs::read_dir(format!("/proc/{it}/fd")).map_or(8, Iterator::count) + 12,
                    )
                });
                return Box::new(move |_| them.iter().for_each(|it| limit(it, 1024)));
            }
            NoSocket if victim != Program => {
                fs::remove_file(self.at("own/sock")).expect("it is there")
            }
            // What a program has not is its own affair.
            NoSpace | NoFiles | NoSocket => {}
        }
        Box::new(|_| {})
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // One that is stopped is killed as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A test that fails may have left some that are stopped.
        for pid in self.names.iter().filter_map(|name| self.pid(name)) {
            let _ = nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(pid),
                nix::sys::signal::Signal::SIGCONT,
            );
        }
        end_loops(self.folder.path());
        for it in &mut self.attached {
            let _ = it.kill();
            let _ = it.wait();
        }
        let all: Vec<u32> = self.before.iter().copied().chain([self.child.id()]).collect();
        let start = Instant::now();
        while all.iter().any(|it| !groups(*it).is_empty())
            && start.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// `meanwhile cosched` where the small folder is the run-time folder.
fn inside(holder: &Child, folder: &Path) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--mount=/proc/{}/ns/mnt", holder.id())).args([BINARY, "cosched"]);
    command.env("XDG_RUNTIME_DIR", folder.join("small"));
    command
}

/// The control groups of a process.
fn groups_of(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("it runs")
}

/// A control group of version 2 in which processes of a manager are frozen; they leave it with it.
pub struct Frozen {
    group: PathBuf,
    home: PathBuf,
    pids: Vec<i32>,
}

impl Frozen {
    /// Freezes them at a moment when a program is.
    pub fn start(scene: &Scene, name: &str, pids: Vec<i32>) -> Option<Frozen> {
        let mounts = fs::read_to_string("/proc/mounts").expect("proc is there");
        let root = mounts
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>())
            .find(|words| words[2] == "cgroup2")?[1]
            .to_owned();
        let group = Path::new(&root).join(format!("{name}-{}", scene.own()));
        fs::create_dir(&group).ok()?;
        let own = groups_of(scene.own());
        let home = Path::new(&root).join(own.lines().find_map(|line| line.strip_prefix("0::/"))?);
        let it = Frozen { group, home, pids };
        it.move_to(&it.group);
        wait_for("a program is frozen with them", LIMIT, || {
            it.freeze(true);
            let is_so = scene.names.len() < 3 || !scene.frozen().is_empty();
            if !is_so {
                it.freeze(false);
                std::thread::sleep(Duration::from_millis(30));
            }
            is_so
        });
        Some(it)
    }

    fn freeze(&self, is_frozen: bool) {
        fs::write(self.group.join("cgroup.freeze"), if is_frozen { "1" } else { "0" })
            .expect("it is ours");
        let events = || fs::read_to_string(self.group.join("cgroup.events")).expect("it is there");
        wait_for("the kernel has done so", LIMIT, || {
            events().contains(&format!("frozen {}", u8::from(is_frozen)))
        });
    }

    fn move_to(&self, group: &Path) {
        self.pids
            .iter()
            .for_each(|pid| drop(fs::write(group.join("cgroup.procs"), pid.to_string())));
    }
}

impl Frozen {
    /// Ends them, all at one moment.
    fn kill(&self) {
        signal("KILL", &self.pids);
        let goes_on = |pid: &i32| {
            fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
        };
        wait_for("they are dead", LIMIT, || !self.pids.iter().any(goes_on));
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.freeze(false);
        self.move_to(&self.home);
        let _ = fs::remove_dir(&self.group);
    }
}

/// One case: strikes, and looks at what came of it. False if this scene is of no more use.
pub fn check(
    scene: &mut Scene,
    case: &str,
    (fault, victim, after): (Fault, Victim, After),
) -> bool {
    let freezer = scene.freezer;
    let what = format!("{case}{freezer}, {} to {victim:?}", fault.text());
    let supervisors = scene.supervisors();
    assert_eq!(supervisors.len(), 2, "{what}");
    let undo = scene.strike(fault, victim);
    match after {
        Free => {
            // What a supervisor lacks shows when it has to act, and a socket it has none.
            if matches!(fault, NoSpace | NoFiles | NoSocket) {
                signal("KILL", &[scene.own()]);
            }
            scene.are_free(&what);
            return false;
        }
        Refused => {
            let (value, code) = scene.ask(&["submit", "true"]);
            let said = value["errors"][0]["message"].as_str().unwrap_or_default().to_owned();
            assert!(
                code == 1
                    && (said.contains("No space left") || said.contains("Too many open files")),
                "{what}: {code} {value}"
            );
            scene.run_on(&what);
            undo(scene);
            assert_eq!(scene.ask(&["submit", "true"]).1, 0, "{what}: there is room again");
        }
        Managed => {
            if fault == Kill {
                wait_for(&format!("{what}: others are there"), LIMIT, || {
                    let new = scene.supervisors();
                    new.len() == 2 && !new.iter().any(|word| supervisors.contains(word))
                });
            }
            wait_for(&format!("{what}: it answers"), LIMIT, || scene.ask(&["status"]).1 == 0);
        }
        Others => {
            let pid = scene.pid("a").expect("it was written");
            if fault == Stop {
                scene.names.retain(|name| name != "a");
                scene.run_on(&what);
                undo(scene);
                scene.names.push("a".to_owned());
            } else {
                scene.has_ended("a", pid);
                scene.run_on(&what);
                scene.submit("a");
            }
        }
        Next => {
            scene.is_dead(&what);
            assert_eq!(scene.beside(&["run", "--freezer", freezer, "--", "true"]).1, 0, "{what}");
            scene.are_free(&what);
            return false;
        }
    }
    scene.run_on(&what);
    true
}

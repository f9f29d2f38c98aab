//! `cosched submit --cgroup`: control groups that somebody else made, such as containers, are
//! managed where they are, named by their paths, and get back exactly what they had.
//!
//! The groups are made here, as a container's runtime makes them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::support;
use support::{LIMIT, groups, may_freeze, parent, runs, signal, skipped, soft_daemon, wait_for};

const BINARY: &str = env!("CARGO_BIN_EXE_meanwhile");
const UID: &str = "6b1f0c1e-2f3a-4b5c-8d7e-9f0a1b2c3d4e";

/// Where these hierarchies are mounted: of version 2, the freezer's and the cpu controller's of
/// version 1.
fn mounts() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/mounts").expect("proc is there");
    let fits = |words: &[&str]| {
        words[2] == "cgroup2"
            || (words[2] == "cgroup"
                && words[3].split(',').any(|it| it == "cpu" || it == "freezer"))
    };
    let lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    lines.filter(|words| fits(words)).map(|words| PathBuf::from(words[1])).collect()
}

/// A group as a runtime makes it: the same path in every hierarchy. Its processes end with it.
struct Made {
    path: String,
    children: Vec<Child>,
}

impl Made {
    fn new(path: &str) -> Made {
        let made = Made { path: path.to_owned(), children: Vec::new() };
        made.make();
        made
    }

    fn make(&self) {
        self.folders().for_each(|folder| fs::create_dir_all(folder).expect("root may"));
    }

    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        mounts().into_iter().map(|root| root.join(&self.path))
    }

    /// The file of this name, in the hierarchy that has it.
    fn file(&self, name: &str) -> Option<PathBuf> {
        self.folders().map(|folder| folder.join(name)).find(|file| file.exists())
    }

    fn says(&self, name: &str) -> String {
        let file = self.file(name).unwrap_or_else(|| panic!("{} has no {name}", self.path));
        fs::read_to_string(file).expect("it is there").trim().to_owned()
    }

    fn tell(&self, name: &str, text: &str) {
        fs::write(self.file(name).expect("it is there"), text).expect("root may");
    }

    /// What it may use of the processors, as `cpu.max` says it.
    fn max(&self) -> String {
        match self.file("cpu.max") {
            Some(_) => self.says("cpu.max"),
            None => format!("{} {}", self.says("cpu.cfs_quota_us"), self.says("cpu.cfs_period_us"))
                .replace("-1 ", "max "),
        }
    }

    fn set_max(&self, quota: &str, period: &str) {
        match self.file("cpu.max") {
            Some(_) => self.tell("cpu.max", &format!("{quota} {period}")),
            None => {
                self.tell("cpu.cfs_period_us", period);
                self.tell("cpu.cfs_quota_us", quota);
            }
        }
    }

    /// What a group weighs against others.
    fn weight(&self) -> &'static str {
        if self.file("cpu.shares").is_some() { "cpu.shares" } else { "cpu.weight" }
    }

    /// Something that computes starts, and joins the group or one inside it.
    fn start(&mut self, inside: &str) -> i32 {
        self.start_with("while [ -e /proc/$1 ]; do :; done", inside)
    }

    fn start_with(&mut self, script: &str, inside: &str) -> i32 {
        let child = Command::new("setsid")
            .args(["sh", "-c", script, "sh", &std::process::id().to_string()])
            .spawn()
            .expect("setsid runs");
        let pid = child.id() as i32;
        for root in mounts() {
            let folder = root.join(&self.path).join(inside);
            fs::create_dir_all(&folder).expect("root may");
            fs::write(folder.join("cgroup.procs"), pid.to_string()).expect("root may");
        }
        self.children.push(child);
        pid
    }

    fn is_idle(&self) -> bool {
        self.says("cpu.idle") == "1"
    }

    /// As `docker pause` does.
    fn pause(&self, is_frozen: bool) {
        match self.file("freezer.state") {
            Some(file) => fs::write(file, if is_frozen { "FROZEN" } else { "THAWED" }),
            None => fs::write(
                self.file("cgroup.freeze").expect("one of two"),
                if is_frozen { "1" } else { "0" },
            ),
        }
        .expect("root may");
    }

    fn is_frozen(&self) -> bool {
        match self.file("freezer.state") {
            Some(file) => fs::read_to_string(file).expect("it is there").starts_with("FROZEN"),
            None => self.says("cgroup.events").contains("frozen 1"),
        }
    }

    fn end(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
        }
        for child in &mut self.children {
            let _ = child.wait();
        }
        self.children.clear();
        for folder in self.folders() {
            wait_for("its folders go", LIMIT, || remove(&folder));
        }
    }
}

/// True if a folder and those inside it are gone.
fn remove(folder: &Path) -> bool {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path());
        }
    }
    !folder.exists() || fs::remove_dir(folder).is_ok()
}

impl Drop for Made {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return self.end();
        }
        if self.file("cgroup.procs").is_some() {
            self.pause(false);
        }
        for child in &mut self.children {
            let _ = child.kill().and_then(|()| child.wait());
        }
        self.folders().for_each(|folder| _ = remove(&folder));
    }
}

/// A slice of a test's own, with a container, a pod and a service in it, and a daemon.
struct Scene {
    daemon: Child,
    more: &'static [&'static str],
    folder: tempfile::TempDir,
    container: Made,
    pod: Made,
    service: Made,
    /// The last to go.
    _slice: Made,
}

/// What the daemon is told more: nothing, or to give root's rights away.
const WAYS: [&[&str]; 2] = [&[], &["--attach-only", "--user", "nobody"]];

/// One at a time: what others burn only makes each of them slower.
fn scene(more: &'static [&'static str]) -> Option<(MutexGuard<'static, ()>, Scene)> {
    static ONE: Mutex<()> = Mutex::new(());
    if !may_freeze() {
        return None;
    }
    let probe = Command::new(BINARY).args(["cosched", "probe", "--json"]).output();
    if testkit::json(&probe.expect("the binary runs"))["idle_class"].is_null() {
        skipped("groups of others: no program can be put into the idle class");
        return None;
    }
    if !nix::unistd::geteuid().is_root()
        || std::thread::available_parallelism().is_ok_and(|n| n.get() != 2)
    {
        skipped("groups of others: root makes them, three for two processors");
        return None;
    }
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let slice = slice();
    let at = |name: &str| Made::new(&format!("{}/{name}", slice.path));
    let (container, pod, service) = (
        at(&docker()),
        at(&format!("kubepods-pod{}.slice", UID.replace('-', "_"))),
        at("a.service"),
    );
    if container.file("cpu.idle").is_none() {
        skipped("groups of others: no cpu controller for them");
        return None;
    }
    container.tell(container.weight(), "437");
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).expect("it is ours");
    let daemon = spawn(folder.path(), more);
    let mut scene = Scene { daemon, more, folder, container, pod, service, _slice: slice };
    scene.listens();
    scene.container.start("");
    scene.pod.start(&format!("cri-containerd-{}.scope", id()));
    scene.service.start("");
    scene.submit();
    Some((one, scene))
}

/// A slice that no other test has.
fn slice() -> Made {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let slice = Made::new(&format!("cgtest{}x{n}.slice", std::process::id()));
    for folder in slice.folders().filter(|folder| folder.join("cgroup.subtree_control").exists()) {
        // What the group above does not hand on is somewhere else.
        let _ = fs::write(folder.join("cgroup.subtree_control"), "+cpu");
    }
    slice
}

fn id() -> String {
    "0123456789abcdef".repeat(4)
}

fn docker() -> String {
    format!("docker-{}.scope", id())
}

fn spawn(folder: &Path, more: &[&str]) -> Child {
    soft_daemon(folder, &[&["--no-restart"], more].concat())
}

impl Scene {
    fn ask(&self, arguments: &[&str]) -> (Value, i32) {
        let ran = Command::new(BINARY)
            .args(["cosched", arguments[0], "--json"])
            .args(&arguments[1..])
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .output()
            .expect("the binary runs");
        let value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
        (value, ran.status.code().expect("it was not killed"))
    }

    fn listens(&mut self) {
        wait_for("the daemon listens", LIMIT, || {
            let said = fs::read_to_string(self.folder.path().join("said")).unwrap_or_default();
            assert!(self.daemon.try_wait().expect("it is ours").is_none(), "{said}");
            self.ask(&["status"]).1 == 0
        });
    }

    /// Each by another of its names; the container moves more than the link carries.
    fn submit(&self) {
        let folder = self.container.folders().next().expect("a hierarchy").display().to_string();
        for (path, mbps) in [
            (folder, "9000"),
            (format!("/{}", self.pod.path), "100"),
            (self.service.path.clone(), "100"),
        ] {
            let (value, code) = self.ask(&["submit", "--mbps", mbps, "--cgroup", &path]);
            assert_eq!(code, 0, "{value}");
        }
        self.take_turns();
    }

    fn take_turns(&self) {
        wait_for("the container waits", LIMIT, || self.container.is_idle());
        wait_for("the pod waits", LIMIT, || self.pod.is_idle());
    }

    fn all(&self) -> [&Made; 3] {
        [&self.container, &self.pod, &self.service]
    }

    fn program(&self, path: &str) -> Value {
        let status = self.ask(&["status"]).0;
        let programs = status["programs"].as_array().cloned().unwrap_or_default();
        let is_it = |it: &Value| it["cgroup"].as_str() == Some(&format!("/{path}"));
        programs.into_iter().find(is_it).unwrap_or_default()
    }

    /// Nobody is in the idle class, and each weighs what it weighed.
    fn is_given_back(&self, what: &str, weight: &str) {
        wait_for(what, LIMIT, || self.all().iter().all(|group| !group.is_idle()));
        assert_eq!(self.container.says(self.container.weight()), weight, "{what}");
        let usual = if self.pod.weight() == "cpu.shares" { "1024" } else { "100" };
        assert_eq!(self.pod.says(self.pod.weight()), usual, "{what}");
        wait_for("our groups go", LIMIT, || groups(self.daemon.id()).is_empty());
    }

    fn again(&mut self) {
        self.again_with(&[]);
    }

    fn again_with(&mut self, arguments: &[&str]) {
        self.daemon.wait().expect("it is ours");
        self.daemon = spawn(self.folder.path(), &[self.more, arguments].concat());
        self.listens();
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

#[test]
fn a_container_is_managed_where_it_is_from_its_start_to_its_end() {
    for more in WAYS {
        let Some((_one, mut scene)) = scene(more) else { return };
        let path = scene.container.path.clone();
        let own = scene.program(&path);
        assert_eq!((&own["container_id"], &own["pod_uid"]), (&id().into(), &Value::Null), "{own}");
        assert_eq!(
            (&own["name"], &own["is_attached"]),
            (&"container 0123456789ab".into(), &true.into())
        );
        let pod = scene.program(&scene.pod.path);
        assert_eq!(
            (&pod["pod_uid"], &pod["name"]),
            (&UID.into(), &format!("pod {UID}").into()),
            "{pod}"
        );
        let ran = Command::new(BINARY)
            .args(["cosched", "status", "--prometheus"])
            .env("XDG_RUNTIME_DIR", scene.folder.path())
            .output();
        let text = String::from_utf8(ran.expect("the binary runs").stdout).expect("text");
        assert!(text.contains(&format!("user=\"0\",pod_uid=\"{UID}\"}}")), "{text}");
        assert!(text.contains(&format!("user=\"0\",container_id=\"{}\"}}", id())), "{text}");

        // Its members come and go, and nothing moves.
        let first = scene.container.children[0].id() as i32;
        let second = scene.container.start("");
        signal("KILL", &[first]);
        scene.container.children[0].wait().expect("it is ours");
        wait_for("it is the next one's", LIMIT, || scene.program(&path)["pid"] == second);
        let before = scene.program(&path)["n_demotions"].as_u64().expect("a number");
        wait_for("it takes turns on", LIMIT, || {
            scene.program(&path)["n_demotions"].as_u64() > Some(before + 2)
        });
        let homes = fs::read_to_string(format!("/proc/{second}/cgroup")).expect("it runs");
        assert!(
            homes.lines().filter(|line| line.ends_with(&path)).count() >= mounts().len(),
            "{homes}"
        );
        assert!(!homes.contains("meanwhile-"), "{homes}");

        // Its owner pauses it: that is nobody else's to undo.
        scene.container.pause(true);
        wait_for("the kernel has done so", LIMIT, || scene.container.is_frozen());
        wait_for("that is seen", LIMIT, || scene.program(&path)["is_suspended"] == true);
        wait_for("no turn is cut", LIMIT, || scene.ask(&["status"]).0["is_cutting"] == false);
        wait_for("it waits for nobody else", LIMIT, || !scene.container.is_idle());
        assert!(scene.container.is_frozen());
        scene.container.pause(false);
        wait_for("it takes turns again", LIMIT, || scene.container.is_idle());
        assert_eq!(scene.program(&path)["is_suspended"], false);

        // It is killed. What is started at its path afterwards is another one.
        scene.container.end();
        wait_for("its end is seen", LIMIT, || scene.program(&path).is_null());
        let ended = scene.ask(&["status"]).0["ended"].clone();
        assert_eq!(ended[0]["name"], "container 0123456789ab", "{ended}");
        scene.container.make();
        scene.container.tell(scene.container.weight(), "512");
        scene.container.start("");
        assert!(scene.program(&path).is_null());
        assert_eq!(scene.ask(&["stop"]).1, 0);
        scene.is_given_back("stopped", "512");
    }
}

#[test]
fn a_group_gets_back_what_it_had_however_its_manager_ends() {
    for more in WAYS {
        let Some((_one, mut scene)) = scene(more) else { return };
        signal("KILL", &[scene.daemon.id() as i32]);
        scene.is_given_back("the manager was killed", "437");
        scene.again();
        scene.submit();
        // Its owner makes it weigh more meanwhile: that is what it has from now on.
        wait_for("its owner may", LIMIT, || {
            let file = scene.container.file(scene.container.weight()).expect("it is there");
            fs::write(file, "600").is_ok()
        });
        let demotions = || scene.program(&scene.container.path)["n_demotions"].as_u64();
        let before = demotions();
        wait_for("it waits again", LIMIT, || demotions() > before.map(|n| n + 1));
        wait_for("the container waits", LIMIT, || scene.container.is_idle());
        let own = scene.daemon.id() as i32;
        let supervisors = fs::read_dir("/proc")
            .expect("proc is there")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| parent(*pid) == Some(own));
        let all: Vec<i32> = std::iter::once(own).chain(supervisors).collect();
        signal("STOP", &all[..1]);
        signal("KILL", &all);
        wait_for("all are dead", LIMIT, || !all[1..].iter().any(|pid| runs(*pid)));
        scene.daemon.wait().expect("it is ours");
        assert_eq!(scene.ask(&["restore"]).1, 0);
        scene.is_given_back("all were killed, and restored", "600");
        scene.again();
        scene.submit();
        let id = scene.program(&scene.container.path)["id"].to_string();
        assert_eq!(scene.ask(&["stop", "--program", &id]).1, 0);
        wait_for("it is let go", LIMIT, || !scene.container.is_idle());
        assert_eq!(scene.container.says(scene.container.weight()), "600");
        assert_eq!(scene.ask(&["stop"]).1, 0);
        scene.is_given_back("stopped", "600");
    }
}

#[test]
fn what_a_group_may_not_be_is_said() {
    let Some((_one, mut scene)) = scene(WAYS[0]) else { return };
    let refused = |path: &str, scene: &Scene| {
        let (value, code) = scene.ask(&["submit", "--cgroup", path]);
        assert_eq!(code, 1, "{path}: {value}");
        value["errors"][0]["message"].as_str().expect("a sentence").to_owned()
    };
    let expect = |path: &str, what: &str, scene: &Scene| {
        let said = refused(path, scene);
        assert!(said.contains(what), "{path}: {said}");
    };
    let slice = Path::new(&scene.pod.path).parent().expect("a slice").display().to_string();
    expect("/", "the group of all groups", &scene);
    expect("/none-of-this-name", "there is no control group `/none-of-this-name` in /", &scene);
    expect("/none-of-this-name", "it must be in one of them", &scene);
    expect(&format!("{slice}/../{slice}/none"), "there is no control group", &scene);
    expect(&scene.pod.path, "is managed already", &scene);
    expect(&slice, "is managed already", &scene);
    let inside = format!("{}/cri-containerd-{}.scope", scene.pod.path, id());
    expect(&inside, "is managed already", &scene);
    let (value, code) =
        scene.ask(&["submit", "--pid", &scene.container.children[0].id().to_string()]);
    assert!(code == 1 && value.to_string().contains("is managed already"), "{value}");
    let other = Made::new(&format!("{slice}/other"));
    expect(&other.path, "no process is in control group", &scene);
    let manager = Made::new(&format!("{slice}/meanwhile-1/program-1"));
    expect(&manager.path, "belongs to a manager of programs (`meanwhile-1`)", &scene);
    let step = Made::new(&format!("{slice}/job_7/step_0"));
    expect(&step.path, "is Slurm's", &scene);
    drop((manager, step, other));
    remove_in_all(&format!("{slice}/meanwhile-1"));
    remove_in_all(&format!("{slice}/job_7"));

    // One that its owner has put into the idle class is left alone, and that is said.
    let path = scene.service.path.clone();
    let program = scene.program(&path)["id"].to_string();
    assert_eq!(scene.ask(&["stop", "--program", &program]).1, 0);
    scene.service.tell("cpu.idle", "1");
    assert_eq!(scene.ask(&["submit", "--mbps", "100", "--cgroup", &path]).1, 0);
    wait_for("it is said", LIMIT, || {
        let why = scene.program(&path)["cannot_wait"].clone();
        why.as_str().is_some_and(|why| why.ends_with("is in the idle class by its owner"))
    });
    assert_eq!(scene.ask(&["stop"]).1, 0);
    assert!(scene.service.is_idle(), "as it was");

    // With turns that freeze nobody could tell whose freezing it is.
    scene.again_with(&["--turns", "frozen"]);
    expect(&scene.container.path, "a daemon with --turns soft takes it", &scene);
}

fn remove_in_all(path: &str) {
    mounts().iter().for_each(|root| _ = remove(&root.join(path)));
}

/// As in a container without the host's process namespace: the groups' processes have no numbers.
#[test]
fn processes_that_the_daemon_cannot_see_are_no_reason_to_guess() {
    let Some((_one, mut scene)) = scene(WAYS[0]) else { return };
    assert_eq!(scene.ask(&["stop"]).1, 0);
    scene.daemon.wait().expect("it is ours");
    scene.daemon = Command::new("unshare")
        .args(["--pid", "--fork", "--kill-child", "--mount-proc", BINARY, "cosched", "daemon"])
        .args(["--no-restart", "--source", "told"])
        .env("XDG_RUNTIME_DIR", scene.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("unshare runs");
    scene.listens();
    let (value, code) = scene.ask(&["submit", "--cgroup", &scene.container.path]);
    let said = value["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(code == 1 && said.contains("not in the daemon's process namespace"), "{value}");
    assert_eq!(scene.ask(&["stop"]).1, 0);
}

#[test]
fn the_loudest_is_limited_only_where_its_rate_is_known_and_nothing_can_be_chosen() {
    for more in WAYS {
        let Some((_one, mut scene)) = scene(more) else { return };
        assert_eq!(scene.ask(&["stop"]).1, 0);
        scene.container.set_max("150000", "100000");
        scene.again_with(&["--at-most", "8000"]);
        let path = scene.container.path.clone();
        let submit = |scene: &Scene, path: &str, more: &[&str]| {
            let all = [&["submit", "--cgroup", path], more].concat();
            let (value, code) = scene.ask(&all);
            assert_eq!(code, 0, "{value}");
            value["id"].to_string()
        };
        let why = |scene: &Scene| scene.ask(&["status"]).0["why_limited"].clone();
        let is_why = |scene: &Scene, part: &str| {
            wait_for(part, LIMIT, || why(scene).as_str().is_some_and(|why| why.contains(part)));
        };
        submit(&scene, &path, &["--mbps", "9000"]);
        // What it moves nobody knows: it might be the loudest.
        let unknown = submit(&scene, &scene.pod.path, &[]);
        is_why(&scene, "what the programs move is not known");
        assert_eq!(
            (scene.container.max(), scene.pod.max()),
            ("150000 100000".into(), "max 100000".into())
        );
        assert_eq!(scene.ask(&["stop", "--program", &unknown]).1, 0);
        submit(&scene, &scene.pod.path, &["--mbps", "2000"]);
        is_why(&scene, "the loudest are limited");
        // 6000 of 9000 MB/s.
        wait_for("it is limited", LIMIT, || scene.container.max() == "13333 20000");
        assert_eq!(scene.pod.max(), "max 100000");
        let share = scene.program(&path)["limited_to"].as_f64().expect("a share");
        assert!((share - 6000.0 / 9000.0).abs() < 1e-9, "{share}");

        // One more computes: choosing is what helps, and nobody is limited.
        let third = submit(&scene, &scene.service.path, &["--mbps", "100"]);
        is_why(&scene, "more compute than there are processors");
        wait_for("it is lifted", LIMIT, || scene.container.max() == "150000 100000");
        assert_eq!(scene.ask(&["stop", "--program", &third]).1, 0);
        wait_for("it is limited again", LIMIT, || scene.container.max() == "13333 20000");

        signal("KILL", &[scene.daemon.id() as i32]);
        wait_for("it is given back", LIMIT, || scene.container.max() == "150000 100000");
        scene.is_given_back("the manager was killed", "437");
        scene.again_with(&["--at-most", "8000"]);
        submit(&scene, &path, &["--mbps", "9000"]);
        wait_for("8000 of 9000 MB/s", LIMIT, || scene.container.max() == "17778 20000");
        // Its owner limits it itself meanwhile: that is what it gets back.
        scene.container.set_max("80000", "100000");
        wait_for("less than its owner's", LIMIT, || scene.container.max() == "16000 20000");
        assert_eq!(scene.ask(&["stop"]).1, 0);
        wait_for("it is given back", LIMIT, || scene.container.max() == "80000 100000");
        scene.is_given_back("stopped", "437");
    }
}

#[test]
fn a_program_that_the_daemon_started_is_limited_too() {
    let Some((_one, mut scene)) = scene(WAYS[0]) else { return };
    assert_eq!(scene.ask(&["stop"]).1, 0);
    scene.again_with(&["--at-most", "3000"]);
    let script = "while [ -e /proc/$1 ]; do :; done";
    let own = std::process::id().to_string();
    let (value, code) = scene.ask(&["submit", "--mbps", "6000", "sh", "-c", script, "sh", &own]);
    assert_eq!(code, 0, "{value}");
    let program = || scene.ask(&["status"]).0["programs"][0].clone();
    wait_for("it is limited", LIMIT, || program()["limited_to"] == 0.5);
    let pid = program()["pid"].as_i64().expect("a number") as i32;
    let found = mounts().into_iter().find_map(|root| {
        let inside = homes(pid);
        let homes = inside.lines().filter_map(|line| line.splitn(3, ':').nth(2));
        homes.map(|home| root.join(home.trim_start_matches('/'))).find(|folder| {
            let says = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
            says("cpu.max").trim() == "10000 20000" || says("cpu.cfs_quota_us").trim() == "10000"
        })
    });
    assert!(found.is_some(), "half of a processor: {}", homes(pid));
    assert_eq!(scene.ask(&["stop"]).1, 0);
    scene.is_given_back("stopped", "437");
    assert!(!homes(pid).contains("meanwhile-"), "{}", homes(pid));
    signal("KILL", &[pid]);
}

#[test]
fn a_limit_needs_turns_that_are_soft() {
    for more in [["--turns", "frozen"], ["--policy", "linux"]] {
        let ran = Command::new(BINARY)
            .args(["cosched", "daemon", "--at-most", "100"])
            .args(more)
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{said}");
        assert!(said.contains("--at-most limits programs whose turns are soft"), "{said}");
    }
}

/// What the groups of a process are called, in every hierarchy.
fn homes(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("it runs")
}

/// The limits and the owner of another group are that one's, so what is in it is left in it.
#[test]
fn what_is_below_a_program_in_another_group_stays_there() {
    for more in WAYS {
        let Some((_one, scene)) = scene(more) else { return };
        let at = |name: &str| Made::new(&format!("{}/{name}", scene._slice.path));
        let (mut own, other) = (at("own.service"), at("other.service"));
        let root = own.start_with(
            &format!(
                "until [ $(grep -c own.service /proc/$$/cgroup) = {} ]; do sleep 0.1; done
                 for child in near far; do while [ -e /proc/$1 ]; do sleep 1; done & done; wait",
                mounts().len()
            ),
            "",
        );
        let children = || -> Vec<i32> {
            let file = format!("/proc/{root}/task/{root}/children");
            let text = fs::read_to_string(file).expect("it runs");
            text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
        };
        wait_for("it has begun two", LIMIT, || children().len() == 2);
        let [near, far] = children()[..] else { panic!("two") };
        for folder in other.folders() {
            fs::write(folder.join("cgroup.procs"), far.to_string()).expect("root may");
        }
        let before = [root, near, far].map(homes);
        let (value, code) = scene.ask(&["submit", "--pid", &root.to_string()]);
        assert_eq!(code, 0, "{value}");
        for pid in [root, near] {
            assert!(homes(pid).contains("own.service/meanwhile-"), "{}", homes(pid));
        }
        assert_eq!(homes(far), before[2]);
        assert_eq!(scene.ask(&["stop"]).1, 0);
        assert_eq!([root, near, far].map(homes), before);
        signal("KILL", &[root, near, far]);
    }
}

/// Its owner's limits are a program's again, when its manager is killed too.
#[test]
fn a_program_that_was_started_goes_home_to_its_owners_group() {
    let Some((_one, mut scene)) = scene(WAYS[0]) else { return };
    let own = Made::new(&format!("{}/own.service", scene._slice.path));
    let joins: String =
        own.folders().map(|it| format!("echo $$ > {}/cgroup.procs; ", it.display())).collect();
    let burn = format!("while [ -e /proc/{} ]; do sleep 0.1; done", std::process::id());
    let asked = Command::new("sh")
        .args(["-c", &format!("{joins} exec \"$@\""), "sh", BINARY])
        .args(["cosched", "submit", "--json", "--", "sh", "-c", &burn])
        .env("XDG_RUNTIME_DIR", scene.folder.path())
        .output()
        .expect("sh runs");
    let value = testkit::json(&asked);
    assert_eq!(asked.status.code(), Some(0), "{value}");
    let status = scene.ask(&["status"]).0;
    let mut programs = status["programs"].as_array().expect("they are listed").iter();
    let program = programs.find(|program| program["id"] == value["id"]).expect("it is managed");
    let pid = program["pid"].as_i64().expect("a number") as i32;
    wait_for("it has begun", LIMIT, || homes(pid).contains("/meanwhile-"));
    signal("KILL", &[scene.daemon.id() as i32]);
    let is_home = || homes(pid).lines().any(|line| line.ends_with("/own.service"));
    wait_for("it is home", LIMIT, is_home);
    scene.daemon.wait().expect("it is ours");
    signal("KILL", &[pid]);
}

/// Notes are the word of a daemon that may have been taken over.
#[test]
fn no_note_moves_a_process_into_another_group() {
    if !may_freeze() || !nix::unistd::geteuid().is_root() {
        skipped("notes of homes: root makes groups of others");
        return;
    }
    let slice = slice();
    let at = |name: &str| Made::new(&format!("{}/{name}", slice.path));
    let (mut own, other) = (at("own.service"), at("other.service"));
    let folder = tempfile::tempdir().expect("a scratch folder");
    let pages = folder.path().join("meanwhile/pages-4194304");
    fs::create_dir_all(&pages).expect("made");
    for path in [folder.path(), &folder.path().join("meanwhile"), &pages] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("it is ours");
    }
    let name = "meanwhile-4194304-program-1";
    let pid = own.start(name);
    // By a path through what a process sees, which may be another system's, nothing is done.
    let name_through = "meanwhile-4194304-program-9";
    let through = own.start(name_through);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let started = stat.rsplit(") ").next().and_then(|it| it.split(' ').nth(19)).expect("proc(5)");
    for (idx, root) in mounts().iter().enumerate() {
        let (group, home) = (root.join(&own.path).join(name), root.join(&other.path));
        let (group, home) = (group.display(), home.display());
        let before = format!("{group}\n{home}\n");
        let idle = format!("v1\n1024\n{group}\n{pid} {started} {home}\n");
        fs::write(pages.join(format!("program-{idx}.before")), before).expect("written");
        fs::write(pages.join(format!("program-{idx}.idle")), idle).expect("written");
        let group = root.join(&own.path).join(name_through);
        let before = format!("/proc/self/root{0}\n/proc/self/root{home}\n", group.display());
        fs::write(pages.join(format!("program-9{idx}.before")), before).expect("written");
    }
    let gone = folder.path().join("groups-that-are-gone");
    fs::write(pages.join("manager"), format!("1\nv2\n{}\n", gone.display())).expect("written");
    let ran = Command::new(BINARY)
        .args(["cosched", "restore"])
        .env("XDG_RUNTIME_DIR", folder.path())
        .output()
        .expect("the binary runs");
    let homes = homes(pid);
    assert!(!homes.contains("other.service"), "{homes}{}", String::from_utf8_lossy(&ran.stderr));
    let still = self::homes(through);
    assert!(still.lines().any(|line| line.ends_with(name_through)), "{still}");
    // What was ours is left, for its own group.
    assert!(homes.lines().any(|line| line.ends_with("/own.service")), "{homes}");
}

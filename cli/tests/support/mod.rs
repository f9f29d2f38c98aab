//! What tests of programs under a manager share: may they run, waiting, and whether anything is
//! frozen.

pub mod audited;
pub mod browser;
pub mod cluster;
pub mod compilers;
pub mod crates;
pub mod drivers;
pub mod loops;
pub mod scene;
pub mod served;
pub mod started;
pub mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Ends a hang; nothing that works comes near it on the slowest machine.
pub const LIMIT: Duration = Duration::from_secs(300);
/// Whatever happens to a manager, after so long nothing of it is frozen.
pub const THAWED: Duration = Duration::from_secs(1);

/// A daemon whose run-time folder this is, and where it writes what it says: with soft turns that
/// depend on what programs say of themselves, as nothing is measured.
pub fn soft_daemon(folder: &Path, more: &[&str]) -> Child {
    let said = fs::OpenOptions::new().create(true).append(true).open(folder.join("said"));
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["cosched", "daemon", "--policy", "rr", "--source", "told", "--capacity", "8000"])
        .args(more)
        .env("XDG_RUNTIME_DIR", folder)
        .stdout(Stdio::null())
        .stderr(said.expect("a scratch file"))
        .spawn()
        .expect("the binary runs")
}

/// A line for the list of skipped tests.
pub fn skipped(what: &str) {
    testkit::skipped(&format!("cosched: {what}"));
}

/// True if control groups can be made; a line for the list of skipped tests otherwise.
pub fn may_freeze() -> bool {
    static MAY: OnceLock<bool> = OnceLock::new();
    *MAY.get_or_init(|| {
        let probe = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
            .args(["cosched", "probe", "--json"])
            .output()
            .expect("the binary runs");
        let value: serde_json::Value = serde_json::from_slice(&probe.stdout).expect("an object");
        let may = value["freezer"].as_str().is_some_and(|text| text.contains("cgroup"));
        if !may {
            skipped("no right to make control groups with a freezer");
        }
        may
    })
}

pub fn wait_for(what: &str, limit: Duration, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// True if this process runs. One that has ended stays in /proc where nobody asks for it, as in a
/// container without an init.
pub fn runs(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, it)| !it.starts_with(['Z', 'X']))
}

pub fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Where the groups of this manager are, under whatever freezer it has: its folder, and those
/// inside the test's own group, which attached processes have.
pub fn groups(manager: u32) -> Vec<PathBuf> {
    let own = format!("meanwhile-{manager}");
    let mut places = ["", "/unified", "/freezer", "/cpu", "/cpu,cpuacct"]
        .map(|kind| format!("/sys/fs/cgroup{kind}"))
        .map(PathBuf::from)
        .to_vec();
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let homes: Vec<PathBuf> = text
        .lines()
        .filter_map(|line| line.splitn(3, ':').nth(2))
        .flat_map(|it| {
            places.iter().map(|place| place.join(it.trim_start_matches('/'))).collect::<Vec<_>>()
        })
        .collect();
    places.extend(homes);
    places.push(std::env::temp_dir());
    // With signals they lie in the run-time folder.
    places.extend(
        std::env::var_os("XDG_RUNTIME_DIR").map(|value| PathBuf::from(value).join("meanwhile")),
    );
    places.push(std::env::temp_dir().join(format!("meanwhile-{}", nix::unistd::geteuid())));
    places.sort();
    places.dedup();
    let entries = places.iter().filter_map(|place| fs::read_dir(place).ok()).flatten().flatten();
    let is_own = |name: &str| name == own || name.starts_with(&format!("{own}-"));
    entries
        .filter(|entry| is_own(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect()
}

/// Groups of this manager that are frozen or in the idle class, and processes that are stopped.
/// What the freezer says, not how fast programs are: that depends on what else runs here.
pub fn frozen(manager: u32, pids: &[i32]) -> Vec<String> {
    let mut found = Vec::new();
    let folders = groups(manager);
    let inside = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .flatten()
        .map(|it| it.path());
    for group in inside.chain(folders.iter().cloned()) {
        // What is gone meanwhile is not frozen.
        let says = |file: &str| fs::read_to_string(group.join(file)).unwrap_or_default();
        let is_idle = says("cpu.idle").trim() == "1";
        if is_idle
            || says("cgroup.freeze").trim() == "1"
            || says("freezer.state").trim().starts_with("FR")
        {
            found.push(group.display().to_string());
        }
    }
    for pid in pids {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.rsplit_once(") ").is_some_and(|pair| pair.1.starts_with('T')) {
            found.push(format!("process {pid}"));
        }
    }
    found
}

/// True if programs can be stopped in this way here.
pub fn works(freezer: &str) -> bool {
    let mut probe = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    probe
        .args(["cosched", "run", "--freezer", freezer, "--", "true"])
        .output()
        .expect("the binary runs")
        .status
        .success()
}

/// The processors that a thread may use.
pub fn cpus_of(tid: i32) -> String {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).expect("it runs");
    status.lines().find(|line| line.starts_with("Cpus_allowed_list")).expect("a line").to_owned()
}

pub fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// Sends a signal to processes that are there, all at once.
pub fn signal(name: &str, pids: &[i32]) {
    let words: Vec<String> = pids.iter().map(i32::to_string).collect();
    let ran = Command::new("sh")
        .args(["-c", &format!("kill -{name} {}", words.join(" "))])
        .status()
        .expect("sh runs");
    assert!(ran.success(), "kill -{name} {words:?}");
}

//! cosched under a real Slurm: a controller and nodes of this test's own on this machine, each with
//! a daemon, without munge.
//!
//! Needs root, as `slurmd` does. Under MEANWHILE_LONG also what takes Slurm minutes.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support;
use crate::support::cluster;
use cluster::{Cluster, LIMIT, remove};
use support::{may_freeze, runs, skipped, wait_for};

/// A folder of control groups of version 2, on machines that have a bare one beside version
/// 1, and on others.
const V2: [&str; 2] = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];

/// Whether Slurm, and the right to run one, is here.
fn has_slurm() -> bool {
    if !nix::unistd::geteuid().is_root() || !may_freeze() {
        skipped("only root runs a Slurm");
        return false;
    }
    let is_there = Command::new("slurmd").arg("-V").output().is_ok()
        && Path::new("/sys/fs/cgroup/freezer").is_dir();
    if !is_there {
        skipped("no slurmd, or no control groups of version 1 for it");
    }
    is_there
}

#[test]
fn jobs_of_a_real_slurm_are_managed_and_stay_slurms() {
    if !has_slurm() {
        return;
    }
    let mut cluster = Cluster::start();

    // Steps of srun: two tasks are one program, in a group of ours. A step that asks for it is left
    // alone.
    let wait = "touch \"$0/ran-$SLURM_PROCID\"; while [ ! -e \"$0/go\" ] && [ -e \"$0/etc\" ]; do sleep 0.05; done; exit 3";
    let mut srun = Command::new("srun");
    srun.args(["-w", "n2", "-n", "2", "-J", "two words", "sh", "-c", wait])
        .arg(cluster.folder.path());
    let mut srun = srun
        .env("SLURM_CONF", cluster.at("etc/slurm.conf"))
        .stderr(Stdio::null())
        .spawn()
        .expect("srun runs");
    wait_for("both tasks run", LIMIT, || {
        (0..2).all(|idx| cluster.at(&format!("ran-{idx}")).exists())
    });
    wait_for("the daemon has them", LIMIT, || !cluster.programs("n2").is_empty());
    let programs = cluster.programs("n2");
    assert_eq!(programs.len(), 1, "{programs:?}");
    assert!(
        programs[0]["name"].as_str().is_some_and(|text| text.ends_with(".0 two_words")),
        "{programs:?}"
    );
    let pid = programs[0]["pid"].as_i64().expect("a number");
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("it runs");
    assert!(groups.contains("freezer:/slurm_n2/") && groups.contains("0::/meanwhile-"), "{groups}");
    fs::write(cluster.at("go"), "").expect("a scratch file");
    assert_eq!(srun.wait().expect("it is ours").code(), Some(3), "its exit status is its own");
    wait_for("its end is heard", LIMIT, || cluster.programs("n2").is_empty());
    let off = cluster.ask("srun", &["-w", "n2", "--cosched=off", "cat", "/proc/self/cgroup"]);
    assert!(
        !String::from_utf8_lossy(&off.stdout).contains("meanwhile-"),
        "{}",
        String::from_utf8_lossy(&off.stdout)
    );
    cluster.managed_from_the_start(
        "srun",
        &["-w", "n2", "--cosched=auto", "cat", "/proc/self/cgroup"],
    );
    // Another user's steps: root's daemon takes them from root's slurmstepd, although each task is
    // root's for a moment.
    let as_nobody = [
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "srun",
        "-w",
        "n2",
        "sh",
        "-c",
        "id -u; cat /proc/self/cgroup",
    ];
    let nobody = cluster.managed_from_the_start("setpriv", &as_nobody);
    assert!(nobody.starts_with("65534\n"), "{nobody}");
    still_roots(&cluster, &as_nobody);
    let log = fs::read_to_string(cluster.at("log/slurmd.n2.log")).expect("slurmd writes one");
    assert!(!log.contains("the daemon refuses"), "{log}");
    let wrong = cluster.words("srun", &["--cosched=perhaps", "true"]);
    assert!(wrong.contains("Invalid --cosched argument: perhaps"), "{wrong}");

    // Three jobs on the processors of a node take turns; one that Slurm suspends takes none, and
    // goes on when it is resumed.
    let jobs = ["a", "b", "c"].map(|word| cluster.batch(word, &["-w", "n1", "--requeue"]));
    ["a", "b", "c"].iter().for_each(|word| cluster.goes_on(word));
    wait_for("all are managed", LIMIT, || {
        jobs.iter().all(|job| cluster.of_job("n1", job).is_some())
    });
    wait_for("one waits", LIMIT, || {
        cluster
            .programs("n1")
            .iter()
            .any(|program| program["longest_wait_quanta"].as_u64() > Some(0))
    });
    assert_eq!(cluster.words("scontrol", &["suspend", &jobs[0]]), "");
    wait_for("it is seen", LIMIT, || {
        cluster.of_job("n1", &jobs[0]).is_some_and(|job| job["is_suspended"] == true)
    });
    let turns = |option: Option<Value>| {
        option.and_then(|value| value["n_turns"].as_u64()).expect("it is managed")
    };
    let (stood, written) = (turns(cluster.of_job("n1", &jobs[0])), cluster.out("a"));
    ["b", "c"].iter().for_each(|word| cluster.goes_on(word));
    assert_eq!(
        (turns(cluster.of_job("n1", &jobs[0])), cluster.out("a")),
        (stood, written),
        "a suspended job takes no turns"
    );
    assert_eq!(cluster.words("scontrol", &["resume", &jobs[0]]), "");
    cluster.goes_on("a");

    // A daemon that dies thaws all, jobs run on, and new ones start without it and with the next
    // one.
    cluster.daemons[0].kill().and_then(|()| cluster.daemons[0].wait()).expect("it is ours");
    ["a", "b", "c"].iter().for_each(|word| cluster.goes_on(word));
    assert_eq!(cluster.words("srun", &["-w", "n1", "echo", "ran"]), "ran");
    cluster.daemon("n1");
    let next = cluster.batch("d", &["-w", "n1"]);
    wait_for("the next is managed", LIMIT, || cluster.of_job("n1", &next).is_some());
    // What it moves is a number where this machine shows it, and not known elsewhere; never 0.
    wait_for("it has turns", LIMIT, || {
        cluster.of_job("n1", &next).is_some_and(|job| job["n_turns"].as_u64() > Some(3))
    });
    let mbps = cluster.of_job("n1", &next).expect("it is managed")["mbps"].clone();
    assert!(mbps.is_null() || mbps.as_f64() > Some(0.0), "{mbps}");

    // Whatever ends them reaches them, frozen or not: drain lets them run, scancel ends them.
    cluster.words("scontrol", &["update", "nodename=n1", "state=drain", "reason=test"]);
    ["a", "d"].iter().for_each(|word| cluster.goes_on(word));
    cluster.ask("scancel", &jobs.iter().chain([&next]).map(String::as_str).collect::<Vec<_>>());
    cluster.has_ended(&["a", "b", "c", "d"]);
    for job in jobs.iter().chain([&next]) {
        wait_for("it is cancelled", LIMIT, || cluster.state(job) == "CANCELLED");
    }
    wait_for("nothing is managed", LIMIT, || cluster.programs("n1").is_empty());
    // A job whose bandwidth was not known leaves no line.
    let history = fs::read_to_string(cluster.at("history/n1")).unwrap_or_default();
    let is_rate = |rest: &str| rest.trim().parse::<u64>().is_ok_and(|mbps| mbps > 0);
    assert!(history.is_empty() || history.strip_prefix("0 d ").is_some_and(is_rate), "{history}");
    wait_for("the node is drained, not down", LIMIT, || {
        cluster.words("sinfo", &["-h", "-n", "n1", "-o", "%T %E"]) == "drained test"
    });

    // An array is as many programs as tasks; a job that shares its node with nobody runs as any
    // other.
    let array = cluster.batch("array", &["-w", "n2", "--array=0-1"]);
    wait_for("both are managed", LIMIT, || cluster.programs("n2").len() == 2);
    let alone = cluster.batch("alone", &["-w", "n3", "--exclusive"]);
    wait_for("it is managed", LIMIT, || cluster.of_job("n3", &alone).is_some());
    let beside = cluster.batch("beside", &["-w", "n3"]);
    assert!(
        cluster.state(&beside) == "PENDING" || cluster.state(&beside).is_empty(),
        "{}",
        cluster.state(&beside)
    );
    cluster.ask("scancel", &[&array, &alone, &beside]);
    cluster.has_ended(&["array", "alone"]);

    placement(&cluster);
    if cluster.at("etc/slurmdbd.conf").exists() {
        comments(&mut cluster);
    }
    other_abi(&cluster);
    if std::env::var_os("MEANWHILE_LONG").is_some() {
        requeue_and_time_limit(&cluster);
    }
}

/// A task is root's until it has become its user's, which other plugins of a site's take their time
/// for. The daemon is told before.
fn still_roots(cluster: &Cluster, step: &[&str]) {
    let slow = "#include <slurm/spank.h>\n#include <unistd.h>\nSPANK_PLUGIN(slow, 1)\n\
                int slurm_spank_task_init_privileged(spank_t sp, int ac, char **av) { (void)sp; (void)ac; (void)av; return usleep(300000); }\n";
    fs::write(cluster.at("slow.c"), slow).expect("a scratch file");
    let mut cc = Command::new("cc");
    let cc = cc
        .args(["-std=gnu11", "-fPIC", "-shared", "-o"])
        .arg(cluster.at("slow.so"))
        .arg(cluster.at("slow.c"))
        .status();
    assert!(cc.expect("cc runs").success());
    let line = fs::read_to_string(cluster.at("etc/plugstack.conf")).expect("it was written");
    fs::write(
        cluster.at("etc/plugstack.conf"),
        format!("{line}required {}\n", cluster.at("slow.so").display()),
    )
    .expect("it is ours");
    let mut srun = Command::new("setpriv");
    let script = "while [ ! -e \"$0/become\" ] && [ -e \"$0/etc\" ]; do sleep 0.05; done";
    srun.args(&step[..step.len() - 1]).args([script, &cluster.folder.path().display().to_string()]);
    let mut srun = srun
        .env("SLURM_CONF", cluster.at("etc/slurm.conf"))
        .current_dir(cluster.folder.path())
        .spawn()
        .expect("srun runs");
    wait_for("it is managed", LIMIT, || !cluster.programs("n2").is_empty());
    assert_eq!(
        cluster.programs("n2")[0]["user"],
        65534,
        "it is its user's whatever its task still was"
    );
    fs::write(cluster.at("become"), "").expect("a scratch file");
    assert!(srun.wait().expect("it is ours").success());
    wait_for("its end is heard", LIMIT, || cluster.programs("n2").is_empty());
    fs::write(cluster.at("etc/plugstack.conf"), line).expect("it is ours");
}

/// Two memory-bound jobs do not share a node, one that leaves the memory alone runs beside them.
fn placement(cluster: &Cluster) {
    fs::write(cluster.at("history/n9"), "0 heavy 4500\n0 light 700\n1 light 9000\n")
        .expect("a scratch file");
    let gres = |job: &str| {
        let text = cluster.words("scontrol", &["-o", "show", "job", job]);
        // Slurm 24.11 writes `gres/`.
        text.split(' ')
            .find_map(|part| part.strip_prefix("TresPerNode="))
            .map(|part| part.replace("gres/", "gres:"))
    };
    let first = cluster.batch("heavy", &["-w", "n2"]);
    assert_eq!(gres(&first).as_deref(), Some("gres:membw:51"), "more than half of the node");
    wait_for("it runs", LIMIT, || cluster.state(&first) == "RUNNING");
    let light = cluster.batch("light", &["-w", "n2"]);
    let unknown = cluster.batch("unknown", &["-w", "n2", "--gres=membw:30"]);
    assert_eq!(
        (gres(&light).as_deref(), gres(&unknown).as_deref()),
        (Some("gres:membw:7"), Some("gres:membw:30"))
    );
    wait_for("they share", LIMIT, || {
        cluster.state(&light) == "RUNNING" && cluster.state(&unknown) == "RUNNING"
    });
    let second = cluster.batch("heavy", &["-w", "n2"]);
    // It waits for what no node has twice; a queue in order would hold up what comes behind it.
    let why = || cluster.words("squeue", &["-h", "-j", &second, "-o", "%T %r"]);
    wait_for("it is looked at", LIMIT, || why() == "PENDING Resources");
    let said = cluster.batch("said", &["-w", "n3", "--membw=6000"]);
    assert_eq!(gres(&said).as_deref(), Some("gres:membw:60"));
    cluster.ask("scancel", &[&first, &second, &light, &unknown, &said]);
    cluster.has_ended(&["heavy", "light", "unknown", "said"]);
}

/// What a job was seen to move is in its AdminComment, beside what an administrator wrote; what is
/// not known is not. A daemon of the test's own says what was seen.
fn comments(cluster: &mut Cluster) {
    cluster.daemons[2].kill().and_then(|()| cluster.daemons[2].wait()).expect("it is ours");
    let (socket, answer) = (cluster.at("run/n3/sock"), cluster.at("answer"));
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).expect("its folder is ours");
    let said = answer.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            let _ = stream.write_all(&fs::read(&said).unwrap_or_default());
        }
    });
    let seen = |job: &str, mbps: &str| {
        let text = format!("{{\"ok\":true,\"ended\":[{{\"job\":{job},\"mbps\":{mbps}}}]}}\n");
        fs::write(&answer, text).expect("a scratch file");
    };
    let comment =
        |job: &str| cluster.words("sacct", &["-n", "-X", "-P", "-j", job, "-o", "AdminComment"]);
    let ended = |job: &str| {
        cluster.ask("scancel", &[job]);
        wait_for("its epilog has run", LIMIT, || {
            cluster.words("squeue", &["-h", "-t", "all", "-j", job, "-o", "%T"]) == "CANCELLED"
        });
    };
    let job = cluster.batch("moved", &["-w", "n3"]);
    wait_for("it runs", LIMIT, || cluster.state(&job) == "RUNNING");
    seen(&job, "4321.6");
    ended(&job);
    assert_eq!(comment(&job), "meanwhile: n3 4322 megabytes/s");

    let job = cluster.batch("watched", &["-w", "n3"]);
    wait_for("it runs", LIMIT, || cluster.state(&job) == "RUNNING");
    let own = "AdminComment=look at this & that";
    assert_eq!(cluster.words("scontrol", &["update", &format!("JobId={job}"), own]), "");
    seen(&job, "700");
    ended(&job);
    assert_eq!(comment(&job), "look at this & that; meanwhile: n3 700 megabytes/s");
    // As when it was requeued: only what is ours is another one.
    seen(&job, "5000");
    let again = Command::new(cluster.at("etc/epilog.sh"))
        .envs([("SLURM_JOB_ID", job.as_str()), ("SLURMD_NODENAME", "n3")])
        .env("SLURM_CONF", cluster.at("etc/slurm.conf"))
        .status();
    assert!(again.expect("it is a program").success());
    assert_eq!(comment(&job), "look at this & that; meanwhile: n3 5000 megabytes/s");

    // Written by sacctmgr, it would lose its capitals.
    let job = cluster.batch("capitals", &["-w", "n3"]);
    wait_for("it runs", LIMIT, || cluster.state(&job) == "RUNNING");
    let own = "AdminComment=Ask Ada";
    assert_eq!(cluster.words("scontrol", &["update", &format!("JobId={job}"), own]), "");
    seen(&job, "700");
    ended(&job);
    assert_eq!(comment(&job), "Ask Ada");

    let job = cluster.batch("unknown", &["-w", "n3"]);
    wait_for("it runs", LIMIT, || cluster.state(&job) == "RUNNING");
    seen(&job, "null");
    ended(&job);
    assert_eq!(comment(&job), "");
    cluster.has_ended(&["moved", "watched", "capitals", "unknown"]);
    // The daemon that was there comes back.
    fs::remove_file(&socket).expect("it is ours");
    cluster.daemon("n3");
}

/// A plugin for another Slurm is not loaded, and jobs run without it.
fn other_abi(cluster: &Cluster) {
    let source = fs::read_to_string(cluster.at("etc/cosched.c")).expect("it was written");
    let other = "#undef SLURM_VERSION_NUMBER\n#define SLURM_VERSION_NUMBER SLURM_VERSION_NUM(20, 11, 0)\nSPANK_PLUGIN";
    fs::write(cluster.at("other.c"), source.replace("SPANK_PLUGIN", other))
        .expect("a scratch file");
    let mut cc = Command::new("cc");
    let cc = cc
        .args(["-std=gnu11", "-fPIC", "-shared", "-o"])
        .arg(cluster.at("other.so"))
        .arg(cluster.at("other.c"))
        .status();
    assert!(cc.expect("cc runs").success());
    fs::rename(cluster.at("other.so"), cluster.at("etc/cosched.so")).expect("it is ours");
    let ran = cluster.ask("srun", &["-w", "n3", "cat", "/proc/self/cgroup"]);
    let (groups, said) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(
        groups.contains("freezer:/slurm_n3/") && !groups.contains("meanwhile-"),
        "{groups}{said}"
    );
    assert!(said.contains("Incompatible plugin version"), "{said}");
    let made = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args([
            "cosched",
            "slurm",
            "--membw",
            "10000",
            "-o",
            &cluster.at("etc").display().to_string(),
        ])
        .args(["--socket", &format!("{}/run/%n/sock", cluster.folder.path().display())])
        .output()
        .expect("the binary runs");
    assert!(
        made.status.success(),
        "what is ours is written again: {}",
        String::from_utf8_lossy(&made.stderr)
    );
    fs::remove_file(cluster.at("etc/gres.conf")).expect("it was written");
}

/// Both take Slurm a while.
fn requeue_and_time_limit(cluster: &Cluster) {
    let again = cluster.batch("again", &["-w", "n2", "--requeue"]);
    wait_for("it is managed", LIMIT, || cluster.of_job("n2", &again).is_some());
    let before = fs::read_to_string(cluster.at("pid-again")).expect("it runs");
    assert_eq!(cluster.words("scontrol", &["requeue", &again]), "");
    let limited = cluster.batch("limited", &["-w", "n2", "-t", "1"]);
    wait_for("it runs again", LIMIT, || {
        fs::read_to_string(cluster.at("pid-again")).is_ok_and(|text| text.lines().count() == 2)
    });
    wait_for("it is managed again", LIMIT, || cluster.of_job("n2", &again).is_some());
    assert!(!runs(before.trim().parse().expect("a number")));
    wait_for("the time limit ends it", 2 * LIMIT, || cluster.state(&limited) == "TIMEOUT");
    cluster.has_ended(&["limited"]);
    cluster.ask("scancel", &[&again]);
    cluster.has_ended(&["again"]);
}

/// Says a line to a socket, as the plugin does; the answer.
fn say(socket: &Path, line: &str) -> String {
    let mut stream = UnixStream::connect(socket).expect("it listens");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    stream.write_all(format!("{line}\n").as_bytes()).expect("it listens");
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).expect("it answers");
    answer
}

/// Programs and control groups as Slurm's of version 2, without Slurm.
struct InPlace {
    folder: tempfile::TempDir,
    groups: PathBuf,
    daemon: Child,
    tasks: Vec<Child>,
}

impl InPlace {
    fn start(v2: &str) -> InPlace {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let groups = Path::new(v2).join(format!("slurm-test-{}", std::process::id()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        command.args([
            "cosched",
            "daemon",
            "--turns",
            "frozen",
            "--no-restart",
            "--policy",
            "rr",
            "--source",
            "estimate",
            "--freezer",
            "v2",
            "--socket",
        ]);
        let daemon = command
            .arg(folder.path().join("own/sock"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut it =
            InPlace { folder, groups, daemon: daemon.expect("the binary runs"), tasks: Vec::new() };
        wait_for("the daemon listens", LIMIT, || UnixStream::connect(it.socket()).is_ok());
        for name in ["a", "b"] {
            let script = "while [ -e \"$0\" ]; do echo x >> \"$0/out-$1\"; k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done";
            it.tasks.push(
                Command::new("sh")
                    .args(["-c", script])
                    .arg(it.folder.path())
                    .arg(name)
                    .spawn()
                    .expect("sh runs"),
            );
        }
        for idx in 0..2 {
            fs::create_dir_all(it.task(idx)).expect("root makes groups");
            fs::write(it.task(idx).join("cgroup.procs"), it.tasks[idx].id().to_string())
                .expect("root moves processes");
        }
        it
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("own/sock")
    }

    fn user(&self) -> PathBuf {
        self.groups.join("job_7/step_0/user")
    }

    fn task(&self, idx: usize) -> PathBuf {
        self.user().join(format!("task_{idx}"))
    }

    fn is_frozen(&self, idx: usize) -> bool {
        fs::read_to_string(self.task(idx).join("cgroup.freeze"))
            .is_ok_and(|text| text.trim() == "1")
    }

    fn are_at_home(&self) {
        for (idx, task) in self.tasks.iter().enumerate() {
            let there = fs::read_to_string(self.task(idx).join("cgroup.procs")).expect("a group");
            assert_eq!(there.trim(), task.id().to_string(), "no task leaves its group");
            assert!(
                fs::read_dir(self.task(idx))
                    .expect("a group")
                    .flatten()
                    .all(|entry| !entry.path().is_dir()),
                "nor is one made in it"
            );
        }
    }

    fn first(&self) -> Value {
        serde_json::from_str::<Value>(&say(&self.socket(), "{\"do\":\"status\"}"))
            .expect("an object")["programs"][0]
            .clone()
    }
}

impl Drop for InPlace {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
        let _ = fs::write(self.user().join("cgroup.freeze"), "0");
        for it in &mut self.tasks {
            let _ = it.kill();
            let _ = it.wait();
        }
        remove(&self.groups);
    }
}

#[test]
fn in_groups_of_version_2_tasks_are_frozen_where_they_are() {
    if !nix::unistd::geteuid().is_root() || !support::works("v2") {
        skipped("only root makes groups as Slurm does");
        return;
    }
    let v2 = V2.iter().find(|it| Path::new(it).join("cgroup.procs").exists()).expect("v2 works");
    let mut it = InPlace::start(v2);
    let pids = it.tasks.iter().map(|task| task.id().to_string()).collect::<Vec<_>>().join(",");
    let step = format!(
        "{{\"do\":\"step\",\"job\":7,\"step\":0,\"user\":0,\"name\":\"x\",\"threads\":2,\"pids\":[{pids}]}}"
    );
    let refused = say(
        &it.socket(),
        "{\"do\":\"step\",\"job\":7,\"step\":0,\"user\":0,\"name\":\"x\",\"pids\":[1]}",
    );
    assert!(refused.contains("process 1 is no task of the step's daemon"), "{refused}");
    let taken = say(&it.socket(), &step);
    assert!(taken.contains("\"ok\":true"), "{taken}");
    assert!(say(&it.socket(), &step).contains("is managed already"));
    let other = "while [ -e \\\"$0\\\" ]; do :; done";
    let folder = it.folder.path().display();
    let submit = format!(
        "{{\"do\":\"submit\",\"command\":[\"sh\",\"-c\",\"{other}\",\"{folder}\"],\"threads\":2,\"folder\":\"/\",\"environment\":[],\"output\":null}}"
    );
    assert!(say(&it.socket(), &submit).contains("\"ok\":true"));
    wait_for("both tasks wait", LIMIT, || it.is_frozen(0) && it.is_frozen(1));
    wait_for("both tasks run", LIMIT, || !it.is_frozen(0) && !it.is_frozen(1));
    it.are_at_home();
    // Slurm suspends by the folder above.
    fs::write(it.user().join("cgroup.freeze"), "1").expect("root freezes");
    wait_for("it is seen", LIMIT, || {
        it.first()["is_suspended"] == true && !it.is_frozen(0) && !it.is_frozen(1)
    });
    fs::write(it.user().join("cgroup.freeze"), "0").expect("root thaws");
    wait_for("it takes turns again", LIMIT, || {
        it.first()["is_suspended"] == false && it.is_frozen(0)
    });
    // Or by signals.
    let pids: Vec<i32> = it.tasks.iter().map(|task| task.id() as i32).collect();
    support::signal("STOP", &pids);
    wait_for("it is seen", LIMIT, || it.first()["is_suspended"] == true && !it.is_frozen(0));
    support::signal("CONT", &pids);
    wait_for("it takes turns again", LIMIT, || {
        it.first()["is_suspended"] == false && it.is_frozen(0)
    });
    // What the daemon leaves behind is as it was.
    it.daemon.kill().and_then(|()| it.daemon.wait()).expect("it is ours");
    wait_for("both are thawed", support::THAWED, || !it.is_frozen(0) && !it.is_frozen(1));
    it.are_at_home();
}

/// The plugin in a program of the test's own that calls its hooks as slurmstepd does, with a
/// socket of this path.
fn hooks(folder: &Path, socket: &Path) -> String {
    let ran = Command::new(folder.join("hooks"))
        .arg(format!("socket={}", socket.display()))
        .output()
        .expect("it was compiled");
    assert!(ran.status.success(), "{:?}", ran.status);
    String::from_utf8(ran.stdout).expect("text")
}

#[test]
fn a_step_starts_whatever_the_daemon_does() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name);
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(at("hooks"));
    let cc = cc
        .arg(top.join("../systems/cosched/slurm/cosched.c"))
        .arg(top.join("tests/support/spank.c"))
        .output()
        .expect("cc runs");
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));

    let said = hooks(folder.path(), &at("nowhere"));
    assert!(said.contains("no daemon at") && said.contains("No such file or directory"), "{said}");
    let long = hooks(folder.path(), Path::new(&format!("/{}", "x".repeat(200))));
    assert!(long.contains("a socket whose path is too long"), "{long}");
    // Mute: it listens and takes nothing.
    let mute = UnixListener::bind(at("mute")).expect("a socket");
    let said = hooks(folder.path(), &at("mute"));
    assert!(said.contains("the daemon does not answer"), "{said}");
    let mut heard = String::new();
    mute.accept().expect("it came").0.read_to_string(&mut heard).expect("text");
    assert_eq!(
        heard,
        "{\"do\":\"step\",\"job\":7,\"step\":0,\"user\":1000,\"name\":\"a_b_\",\"threads\":2,\"nodes\":3,\"class\":\"auto\",\"pids\":[11,12]}\n"
    );
    mute.accept().expect("it came").0.read_to_string(&mut heard).expect("text");
    assert!(heard.ends_with("}\n{\"do\":\"stepend\",\"job\":7,\"step\":0}\n"), "{heard}");
    // Refuses, and agrees.
    for (answer, expected) in [
        ("{\"ok\":false,\"message\":\"no\"}\n", "the daemon refuses the step"),
        ("{\"ok\":true,\"id\":1}\n", ""),
    ] {
        let socket = at("answers");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("it came");
            let mut line = String::new();
            BufReader::new(stream.try_clone().expect("a copy")).read_line(&mut line).expect("text");
            stream.write_all(answer.as_bytes()).expect("it listens");
            listener.accept().map(drop).expect("the end");
        });
        let said = hooks(folder.path(), &socket);
        thread.join().expect("no panic");
        fs::remove_file(&socket).expect("it is ours");
        // On a busy machine an answer may come after the 50 ms that it may take.
        assert!(
            said.contains(expected) && (!expected.is_empty() || said.is_empty())
                || said.contains("does not answer"),
            "{said}"
        );
    }
}

#[test]
fn what_slurm_needs_is_written_and_nothing_else_is_overwritten() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write = |at: &Path, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        let ran = command
            .args(["cosched", "slurm", "--json", "--membw", "20000", "-o"])
            .arg(at)
            .args(more)
            .output()
            .expect("the binary runs");
        (serde_json::from_slice::<Value>(&ran.stdout).expect("an object"), ran.status.code())
    };
    let made = folder.path().join("made");
    for _ in 0..2 {
        let (value, code) = write(&made, &[]);
        assert_eq!(
            (code, value["membw"].as_u64(), value["measured"].as_bool()),
            (Some(0), Some(200), Some(false)),
            "{value}"
        );
        for name in value["files"].as_array().expect("a list") {
            assert!(made.join(name.as_str().expect("a name")).is_file(), "{name}");
        }
    }
    let line = fs::read_to_string(made.join("plugstack.conf")).expect("it was written");
    assert!(
        line.contains(&format!(
            "\noptional {}/cosched.so socket=/run/meanwhile/cosched.sock\n",
            made.display()
        )),
        "{line}"
    );
    let epilog = made.join("epilog.sh");
    let mode = fs::metadata(&epilog).expect("it was written").permissions().mode();
    let text = fs::read_to_string(&epilog).expect("it was written");
    assert!(mode & 0o111 != 0 && !text.contains('@'), "{text}");
    let lines = fs::read_to_string(made.join("slurm.conf.lines")).expect("it was written");
    assert!(lines.contains(&format!("\nEpilog={}\n", epilog.display())), "{lines}");
    let lua = fs::read_to_string(made.join("job_submit.lua")).expect("it was written");
    assert!(!lua.contains('@') && lua.contains("local total = 200 "), "{lua}");
    fs::write(made.join("job_submit.lua"), "mine").expect("a scratch file");
    let (value, code) = write(&made, &[]);
    let said = value["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(code == Some(1) && said.contains("job_submit.lua` is not ours"), "{value}");
    assert_eq!(fs::read_to_string(made.join("job_submit.lua")).expect("it is there"), "mine");
    for (at, more) in
        [("new", ["--history", "/a b"]), ("new", ["--socket", "/a'b"]), ("a b", ["--socket", "/a"])]
    {
        let at = folder.path().join(at);
        assert_eq!(write(&at, &more).1, Some(1));
        assert!(!at.exists(), "nothing is written");
    }
}

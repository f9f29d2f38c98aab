//! Door: a Slurm of a test's own on this machine: a controller, nodes, each with a daemon of ours,
//! and with MEANWHILE_LONG its accounts; without munge.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{length, runs, skipped, wait_for};

pub const LIMIT: Duration = Duration::from_secs(120);
/// Of so many steps one starts within the patience of the plugin, however busy the machine is.
const STEPS: usize = 50;
const NODES: [&str; 3] = ["n1", "n2", "n3"];

/// A cluster, ended with the test.
pub struct Cluster {
    pub folder: tempfile::TempDir,
    children: Vec<Child>,
    pub daemons: Vec<Child>,
}

impl Cluster {
    pub fn start() -> Cluster {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
        let mut it = Cluster { folder, children: Vec::new(), daemons: Vec::new() };
        for name in ["etc", "state", "spool", "run", "log", "history"] {
            fs::create_dir(it.at(name)).expect("a scratch folder");
        }
        let top = it.folder.path().display().to_string();
        let made = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
            .args(["cosched", "slurm", "--json", "--membw", "10000", "-o", &format!("{top}/etc")])
            .args([
                "--socket",
                &format!("{top}/run/%n/sock"),
                "--history",
                &format!("{top}/history"),
            ])
            .output()
            .expect("the binary runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let host = fs::read_to_string("/proc/sys/kernel/hostname")
            .expect("a name")
            .trim()
            .split('.')
            .next()
            .unwrap_or("localhost")
            .to_owned();
        let accounts = if it.has_accounts(&host) {
            format!(
                "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort={}\n",
                port() + 4
            )
        } else {
            String::new()
        };
        fs::write(it.at("etc/slurm.conf"), accounts.clone() + &configuration(&host, &top))
            .expect("a scratch file");
        fs::write(it.at("etc/cgroup.conf"), "CgroupPlugin=cgroup/v1\nConstrainCores=no\n")
            .expect("a scratch file");
        fs::remove_file(it.at("etc/gres.conf")).expect("it was written");
        for node in NODES {
            it.daemon(node);
        }
        if !accounts.is_empty() {
            it.slurm("slurmdbd", &["-D"]);
            wait_for("the accounts answer", LIMIT, || {
                it.ask("sacctmgr", &["-n", "show", "cluster"]).status.success()
            });
        }
        it.slurm("slurmctld", &["-D", "-c"]);
        for node in NODES {
            it.slurm("slurmd", &["-D", "-N", node]);
        }
        wait_for("all nodes are idle", LIMIT, || {
            it.words("sinfo", &["-h", "-N", "-t", "idle"]).lines().count() == NODES.len()
        });
        it
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A database of this test's own for Slurm's accounts; true if there is one.
    fn has_accounts(&mut self, host: &str) -> bool {
        let is_there = |program: &str| Command::new(program).arg("-V").output().is_ok();
        if std::env::var_os("MEANWHILE_LONG").is_none() {
            return false;
        }
        if !is_there("mariadbd") || !is_there("slurmdbd") {
            skipped("no accounts of Slurm's: mariadbd or slurmdbd is missing");
            return false;
        }
        let data = format!("--datadir={}", self.at("data").display());
        let made = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--user=root", "--skip-test-db", &data])
            .arg("--auth-root-authentication-method=normal")
            .output();
        assert!(made.expect("it is part of mariadbd").status.success());
        let socket = format!("--socket={}", self.at("database").display());
        let (database, accounts) = (port() + 5, port() + 4);
        let running = Command::new("mariadbd")
            .args(["--no-defaults", "--user=root", &data, &socket])
            .args(["--bind-address=127.0.0.1", &format!("--port={database}")])
            .stderr(fs::File::create(self.at("log/mariadbd")).expect("a scratch file"))
            .spawn();
        self.children.push(running.expect("it runs"));
        wait_for("the database listens", LIMIT, || {
            std::net::TcpStream::connect(("127.0.0.1", database)).is_ok()
        });
        let top = self.folder.path().display();
        let text = format!(
            "AuthType=auth/none\nDbdHost={host}\nDbdAddr=127.0.0.1\nDbdPort={accounts}\nSlurmUser=root\n\
             StorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\nStoragePort={database}\nStorageUser=root\n\
             StorageLoc=accounts\nPidFile={top}/run/slurmdbd.pid\nLogFile={top}/log/slurmdbd.log\n"
        );
        let path = self.at("etc/slurmdbd.conf");
        fs::write(&path, text).expect("a scratch file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        true
    }

    fn slurm(&mut self, program: &str, words: &[&str]) {
        let log = fs::File::create(self.at(&format!("log/{program}{}.said", words.join(""))))
            .expect("a scratch file");
        let mut command = Command::new(program);
        command
            .args(words)
            .env("SLURM_CONF", self.at("etc/slurm.conf"))
            .current_dir(self.folder.path());
        let copy = log.try_clone().expect("a file");
        self.children
            .push(command.stdin(Stdio::null()).stdout(log).stderr(copy).spawn().expect("it runs"));
    }

    pub fn daemon(&mut self, node: &str) {
        let said =
            fs::File::create(self.at(&format!("log/cosched.{node}"))).expect("a scratch file");
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
            "--socket",
        ]);
        command
            .arg(self.at(&format!("run/{node}/sock")))
            .arg("--history")
            .arg(self.at(&format!("history/{node}")));
        if node == "n2" {
            // One of them gives root's rights away.
            command.args(["--attach-only", "--user", "nobody"]);
        }
        self.daemons
            .push(command.stdout(Stdio::null()).stderr(said).spawn().expect("the binary runs"));
        wait_for("the daemon listens", LIMIT, || self.status(node)["ok"] == true);
    }

    pub fn status(&self, node: &str) -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        command
            .args(["cosched", "status", "--json", "--socket"])
            .arg(self.at(&format!("run/{node}/sock")));
        serde_json::from_slice(&command.output().expect("the binary runs").stdout)
            .unwrap_or_default()
    }

    pub fn programs(&self, node: &str) -> Vec<Value> {
        self.status(node)["programs"].as_array().cloned().unwrap_or_default()
    }

    /// What a node manages of a job.
    pub fn of_job(&self, node: &str, job: &str) -> Option<Value> {
        self.programs(node).into_iter().find(|program| {
            program["name"].as_str().is_some_and(|text| text.starts_with(&format!("{job}.")))
        })
    }

    pub fn ask(&self, program: &str, words: &[&str]) -> Output {
        let mut command = Command::new(program);
        command
            .args(words)
            .env("SLURM_CONF", self.at("etc/slurm.conf"))
            .current_dir(self.folder.path());
        command.output().expect("it runs")
    }

    pub fn words(&self, program: &str, words: &[&str]) -> String {
        let ran = self.ask(program, words);
        format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
            .trim()
            .to_owned()
    }

    /// The control groups in which a step of this command that prints its own starts. The plugin
    /// waits 50 ms for the daemon, so on a busy machine a step may run before the daemon has it:
    /// one of these starts in a group of ours.
    pub fn managed_from_the_start(&self, program: &str, words: &[&str]) -> String {
        let mut said = String::new();
        for _ in 0..STEPS {
            said = self.words(program, words);
            if said.contains("0::/meanwhile-") {
                return said;
            }
        }
        panic!("none of {STEPS} steps is managed from its first instruction: {said}");
    }

    /// A batch job that counts in `out-NAME` until it is ended; its number.
    pub fn batch(&self, name: &str, more: &[&str]) -> String {
        let script = self.at(&format!("{name}.sh"));
        let text = format!(
            "#!/bin/sh\necho $$ >> {0}/pid-{name}\nwhile [ -e {0}/etc ]; do echo x >> {0}/out-{name}; k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done\n",
            self.folder.path().display()
        );
        fs::write(&script, text).expect("a scratch file");
        let path = script.display().to_string();
        let words: Vec<&str> = ["--parsable", "-o", "/dev/null", "-J", name]
            .into_iter()
            .chain(more.iter().copied())
            .chain([path.as_str()])
            .collect();
        let ran = self.ask("sbatch", &words);
        let job = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
        assert!(!job.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        job
    }

    pub fn out(&self, name: &str) -> u64 {
        length(&self.at(&format!("out-{name}")))
    }

    pub fn goes_on(&self, name: &str) {
        let before = self.out(name);
        wait_for(&format!("{name} goes on"), LIMIT, || self.out(name) > before + 4);
    }

    pub fn state(&self, job: &str) -> String {
        let text = self.words("scontrol", &["-o", "show", "job", job]);
        text.split(' ')
            .find_map(|part| part.strip_prefix("JobState="))
            .unwrap_or_default()
            .to_owned()
    }

    pub fn has_ended(&self, names: &[&str]) {
        for name in names {
            for pid in
                fs::read_to_string(self.at(&format!("pid-{name}"))).unwrap_or_default().lines()
            {
                wait_for(&format!("{name} has ended"), LIMIT, || {
                    !runs(pid.parse().expect("a number"))
                });
            }
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.ask("scancel", &["-f", "-u", "root"]);
        let start = std::time::Instant::now();
        while !self.words("squeue", &["-h"]).is_empty() && start.elapsed() < Duration::from_secs(30)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        // Nodes first: they tell the controller.
        for it in self.daemons.iter_mut().chain(self.children.iter_mut().rev()) {
            let _ = nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(it.id() as i32),
                nix::sys::signal::Signal::SIGTERM,
            );
            let _ = it.wait();
        }
        for kind in ["freezer", "cpuset"] {
            let top = format!("/sys/fs/cgroup/{kind}");
            NODES.iter().for_each(|node| remove(&Path::new(&top).join(format!("slurm_{node}"))));
        }
    }
}

/// Removes a folder of control groups from below.
pub fn remove(path: &Path) {
    for it in
        fs::read_dir(path).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir())
    {
        remove(&it.path());
    }
    let _ = fs::remove_dir(path);
}

fn port() -> u16 {
    // Below those that the kernel gives away by itself.
    20_000 + (std::process::id() % 10_000) as u16
}

fn configuration(host: &str, top: &str) -> String {
    let port = port();
    format!(
        "ClusterName=cosched\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={port}\nAuthType=auth/none\nCredType=cred/none\n\
         AuthInfo=cred_expire=5\nSlurmUser=root\nStateSaveLocation={top}/state\nSlurmdSpoolDir={top}/spool/%n\n\
         SlurmctldPidFile={top}/run/slurmctld.pid\nSlurmdPidFile={top}/run/slurmd.%n.pid\nSlurmctldLogFile={top}/log/slurmctld.log\n\
         SlurmdLogFile={top}/log/slurmd.%n.log\nProctrackType=proctrack/cgroup\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_CPU\nReturnToService=2\nSlurmdParameters=config_overrides\nKillWait=2\nUnkillableStepTimeout=10\n\
         Epilog={top}/etc/epilog.sh\nGresTypes=membw\nJobSubmitPlugins=lua\nPlugStackConfig={top}/etc/plugstack.conf\n\
         NodeName=n[1-3] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{}-{}] CPUs=2 RealMemory=1000 Gres=membw:100 State=UNKNOWN\n\
         PartitionName=p Nodes=n[1-3] Default=YES OverSubscribe=FORCE:4 MaxTime=10 State=UP\n",
        port + 1,
        port + 3
    )
}

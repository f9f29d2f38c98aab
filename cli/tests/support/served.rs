//! A daemon of a test, in a folder that other users may read, with copies of the binary that they
//! may run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{LIMIT, groups, wait_for};

/// Ended with the test, and its programs with it.
pub struct Served {
    pub child: Child,
    pub folder: tempfile::TempDir,
    program: PathBuf,
}

/// A program that computes until there is a file `stop`.
const LOOP: &str = "while [ ! -e \"$1/stop\" ] && [ -e \"$1\" ]; do k=0; while [ $k -lt 999 ]; do k=$((k+1)); done; done";

impl Served {
    /// One with these arguments, and settings for many users if there are some; with turns that
    /// freeze, unless they say otherwise.
    pub fn start(settings: Option<&str>, arguments: &[&str]) -> Served {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
        let program = folder.path().join("meanwhile");
        // Not by this process: what another test starts meanwhile would hold it open to write.
        let copied = Command::new("cp")
            .arg(env!("CARGO_BIN_EXE_meanwhile"))
            .arg(&program)
            .status()
            .expect("cp runs");
        assert!(copied.success(), "a scratch file");
        let mut command = Command::new(&program);
        command
            .args(["cosched", "daemon", "--no-restart", "--socket"])
            .arg(folder.path().join("own").join("sock"))
            .args(arguments);
        if !arguments.contains(&"--turns") {
            command.args(["--turns", "frozen"]);
        }
        if let Some(settings) = settings {
            fs::write(folder.path().join("cosched.toml"), settings).expect("a scratch file");
            command.arg("--config").arg(folder.path().join("cosched.toml"));
        }
        let said = fs::File::create(folder.path().join("said")).expect("a scratch file");
        let child = command
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .expect("the binary runs");
        let mut it = Served { child, folder, program };
        wait_for("the daemon listens", LIMIT, || {
            assert!(
                it.child.try_wait().expect("it is ours").is_none(),
                "{:?}",
                fs::read_to_string(it.folder.path().join("said"))
            );
            it.ask(0, &["status"]).2 == 0
        });
        it
    }

    /// A command of this user, who has the group of the same number and another.
    pub fn command(&self, uid: u32, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        if uid != 0 {
            command = Command::new("setpriv");
            command
                .args([
                    format!("--reuid={uid}"),
                    format!("--regid={uid}"),
                    format!("--groups={}", uid + 1),
                ])
                .arg(&self.program);
        }
        command
            .arg("cosched")
            .arg(arguments[0])
            .arg("--socket")
            .arg(self.folder.path().join("own").join("sock"))
            .args(&arguments[1..]);
        command.current_dir(self.folder.path());
        command
    }

    /// Its answer, what it said was wrong, and its exit code.
    pub fn ask(&self, uid: u32, arguments: &[&str]) -> (Value, String, i32) {
        let ran = self
            .command(uid, &[&arguments[..1], &["--json"], &arguments[1..]].concat())
            .output()
            .expect("the binary runs");
        let value: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
        let said = value["errors"][0]["message"].as_str().unwrap_or_default().to_owned();
        (value, said, ran.status.code().expect("it was not killed"))
    }

    /// A loop of this user, which writes nothing.
    pub fn submit_loop(&self, uid: u32, shell: &str, more: &[&str]) -> (Value, String, i32) {
        let folder = self.folder.path().display().to_string();
        self.ask(
            uid,
            &[&["submit", "--output", "/dev/null"], more, &[shell, "-c", LOOP, "sh", &folder]]
                .concat(),
        )
    }

    /// The same without the daemon.
    pub fn loop_outside(&self, uid: u32) -> Child {
        let mut command = Command::new("setpriv");
        command.args([
            format!("--reuid={uid}"),
            format!("--regid={uid}"),
            "--clear-groups".to_owned(),
        ]);
        command
            .args(["sh", "-c", LOOP, "sh"])
            .arg(self.folder.path())
            .spawn()
            .expect("setpriv runs")
    }

    pub fn programs(&self, uid: u32) -> Vec<Value> {
        self.ask(uid, &["status"]).0["programs"].as_array().cloned().expect("a list")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = fs::write(self.folder.path().join("stop"), "");
        // Frozen, no program would see that it is to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let start = Instant::now();
        while !groups(self.child.id()).is_empty() && start.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

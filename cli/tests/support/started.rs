//! A started command with a folder of its own, whose descendants are known.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Ends a hang; nothing that works comes near it.
pub const LIMIT: Duration = Duration::from_secs(120);

/// A variable that tools hand on to what they start.
const MARK: &str = "MEANWHILE_TEST_OF_INTERRUPTS";

/// A command with its own folder for scratch files, from whose environment
/// its descendants are known.
pub struct Run {
    pub child: Child,
    /// Its working folder; `scratch` in it is for temporary files.
    pub folder: tempfile::TempDir,
}

impl Run {
    /// A line for the shell, in which `meanwhile` is `program`, in a folder that was prepared for
    /// it.
    pub fn start_with(program: &str, command: &str, prepare: impl FnOnce(&Path)) -> Run {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::create_dir(folder.path().join("scratch")).expect("made");
        prepare(folder.path());
        // Under `nohup` a hangup is ignored, and whoever is started inherits that.
        let mut shell = Command::new("env");
        shell.args([
            "--default-signal=HUP,INT,TERM",
            "sh",
            "-c",
            &command.replace("meanwhile ", &format!("exec {program} ")),
        ]);
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        Run::start_as(shell, folder)
    }

    /// Any command, whose folder has a folder `scratch`.
    pub fn start_as(mut command: Command, folder: tempfile::TempDir) -> Run {
        command
            .env("TMPDIR", folder.path().join("scratch"))
            .env("MEANWHILE_CACHE", folder.path().join("cache"));
        command.env(MARK, folder.path());
        command.current_dir(folder.path()).stdin(Stdio::null());
        Run { child: command.spawn().expect("the program starts"), folder }
    }

    /// All living processes that were started below this run, without its first one.
    pub fn descendants(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let ids = fs::read_dir("/proc")
            .expect("a /proc")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        // What ends meanwhile, and what has ended and waits for its parent, has no environment.
        let is_below = |id: &u32| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|part| part == mark.as_bytes())
        };
        ids.filter(|id| *id != self.child.id()).filter(is_below).collect()
    }

    /// Waits for a condition that holds while the command runs.
    pub fn wait_until(&mut self, what: &str, mut is_true: impl FnMut(&Run) -> bool) {
        let start = Instant::now();
        while !is_true(self) {
            assert!(start.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
            assert!(
                self.child.try_wait().expect("it is ours").is_none(),
                "{what}: it ended before"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends the command a signal.
    pub fn signal(&self, name: &str) {
        kill(name, self.child.id());
    }

    /// Waits for its end.
    pub fn end(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return status;
            }
            if start.elapsed() > LIMIT {
                self.child.kill().expect("it is ours");
                panic!("it does not end within {LIMIT:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// No process and no scratch file.
    pub fn assert_nothing_is_left(&self, what: &str) {
        assert_eq!(self.descendants(), Vec::<u32>::new(), "{what}: processes");
        let left: Vec<_> = fs::read_dir(self.folder.path().join("scratch"))
            .expect("there")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        assert!(left.is_empty(), "{what}: {left:?}");
    }
}

/// A test that failed leaves nothing either.
impl Drop for Run {
    fn drop(&mut self) {
        let left = self.descendants().into_iter().chain(
            self.child.try_wait().is_ok_and(|ended| ended.is_none()).then_some(self.child.id()),
        );
        for id in left {
            // It may have ended by itself by now.
            let _ = Command::new("sh")
                .args(["-c", &format!("kill -KILL {id}")])
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// Sends a signal to a process, or to a group of them that is written as `-ID`.
pub fn kill(name: &str, id: impl std::fmt::Display) {
    let status = Command::new("sh")
        .args(["-c", &format!("kill -s {name} -- {id}")])
        .status()
        .expect("sh runs");
    assert!(status.success(), "kill -{name} {id}");
}

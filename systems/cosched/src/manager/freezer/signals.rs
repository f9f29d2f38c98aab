//! Door: SIGSTOP to every process of a program's session or below its first, where no control group
//! can be made. Parents among them can see it.
//!
//! A group is a folder of our own with two files: `root` names the program, `stopped` the processes
//! that were sent SIGSTOP, written before they are.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::super::private;
use super::{Folder, Freezer, Process, ROUNDS, process};

#[derive(Debug)]
pub struct Signals;

impl Freezer for Signals {
    fn text(&self) -> &'static str {
        "signals"
    }

    fn name(&self) -> &'static str {
        "SIGSTOP"
    }

    fn drawback(&self) -> Option<&'static str> {
        Some("their parents can see it, and a change takes longer")
    }

    /// All processes there are have to be read.
    fn look_every(&self) -> Duration {
        Duration::from_millis(50)
    }

    /// A folder of this user's alone: in one for all users another could have taken the name.
    fn places(&self, _mounts: &str) -> Vec<PathBuf> {
        let runtime = private::runtime();
        private::folder(&runtime).map_or(Vec::new(), |()| vec![runtime])
    }

    fn home(&self, _pid: i32, _root: &Path) -> Option<PathBuf> {
        None
    }

    fn open(&self, folder: &Path) -> io::Result<File> {
        // Read as well, so that thawing opens nothing: a full table of files is no reason to leave
        // anything stopped.
        OpenOptions::new().create(true).read(true).append(true).open(folder.join("stopped"))
    }

    fn freeze(&self, folder: &Folder) -> io::Result<()> {
        for _ in 0..ROUNDS {
            let stopped = stopped(folder)?;
            // A process that others stopped is left to them. To one that was sent SIGSTOP a second
            // one would look like its owner's.
            let is_new = |process: &Process| {
                process.state != 'T' && !stopped.contains(&(process.pid, process.started))
            };
            let new: Vec<Process> = self.members(folder)?.into_iter().filter(is_new).collect();
            if new.is_empty() {
                break;
            }
            let lines: String = new
                .iter()
                .map(|process| format!("{} {}\n", process.pid, process.started))
                .collect();
            folder.state().write_all(lines.as_bytes())?;
            new.iter().for_each(|process| send(process.pid, Signal::SIGSTOP));
        }
        Ok(())
    }

    fn thaw(&self, folder: &Folder) -> io::Result<()> {
        self.let_run(folder)?;
        folder.state().set_len(0)
    }

    /// The list stays: the manager may be stopping them right now.
    fn let_run(&self, folder: &Folder) -> io::Result<()> {
        for (pid, started) in stopped(folder)? {
            // What cannot be looked at is continued: harmless, even if its number is another
            // process's now.
            let is_left = |found: Option<Process>| {
                found.is_none_or(|found| found.started != started || found.is_stopped_twice())
            };
            if !process::look(pid).is_ok_and(is_left) {
                send(pid, Signal::SIGCONT);
            }
        }
        Ok(())
    }

    fn members(&self, folder: &Folder) -> io::Result<Vec<Process>> {
        let Ok(text) = fs::read_to_string(folder.path().join("root")) else {
            return Ok(Vec::new());
        };
        let mut fields = text.split_ascii_whitespace();
        let root: Option<i32> = fields.next().and_then(|field| field.parse().ok());
        let owns_session = fields.next() == Some("session");
        let Some(root) = root else { return Ok(Vec::new()) };
        let all = process::all()?;
        let mut found = process::tree(&all, root);
        for it in all.iter().filter(|it| owns_session && it.session == root) {
            found.extend(process::tree(&all, it.pid));
        }
        found.sort_by_key(|found| found.pid);
        found.dedup_by_key(|found| found.pid);
        found.retain(|found| found.state != 'Z' && found.state != 'X');
        Ok(found)
    }

    fn threads(&self, folder: &Folder) -> io::Result<Vec<i32>> {
        Ok(self.members(folder)?.iter().flat_map(Process::threads).collect())
    }

    fn prefix(&self, _folder: &Folder) -> Vec<String> {
        vec!["setsid".to_owned()]
    }

    fn started(&self, folder: &Folder, pid: i32) -> io::Result<()> {
        fs::write(folder.path().join("root"), format!("{pid} session\n"))?;
        self.freeze(folder)
    }

    fn take(&self, folder: &Folder, pid: i32) -> io::Result<()> {
        fs::write(folder.path().join("root"), format!("{pid} tree\n"))?;
        self.freeze(folder)
    }

    fn send_home(
        &self,
        _folder: &Folder,
        _home: &dyn Fn(&Process) -> Option<PathBuf>,
    ) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, folder: &Path) -> io::Result<()> {
        fs::remove_dir_all(folder)
    }

    fn remove_all(&self, groups: &Path) -> io::Result<()> {
        fs::remove_dir(groups)
    }
}

fn stopped(folder: &Folder) -> io::Result<Vec<(i32, u64)>> {
    let mut bytes = vec![0; folder.state().metadata()?.len() as usize];
    folder.state().read_exact_at(&mut bytes, 0)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|pair| Some((pair.0.parse().ok()?, pair.1.parse().ok()?)))
        .collect())
}

/// A process that has ended needs no signal.
fn send(pid: i32, signal: Signal) {
    let _ = kill(Pid::from_raw(pid), signal);
}

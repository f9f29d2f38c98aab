//! Door: the manager's side of its supervisors: threads that start one again when it ends.
//!
//! While the manager keeps programs from running, two other processes watch it, each over a socket
//! that closes when it dies, whatever it dies of; then they give everything back
//! ([`journal`](super::journal)). There are two in case one is killed together with the manager,
//! and one of them leaves the manager's control group, in case that is frozen:
//!
//! ```text
//! manager --- keeper thread --- supervisor 0, in another control group where that is allowed
//!        \--- keeper thread --- supervisor 1, in the manager's
//! ```
//!
//! A keeper waits for its supervisor. If that ended and the manager does not want to end, it starts
//! another, as often as it takes: what keeps a process from starting, such as a full table of
//! processes, may pass. A new one has heard nothing yet, and the manager may be stopped before it
//! says anything, so the first thing that it hears is that programs may be frozen. An ending
//! manager says so ([`heartbeat::ENDS`]) before it closes the lines: a closed line without it is a
//! death.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};

use super::group::Hierarchy;
use super::heartbeat::{self, Lines};
use super::rights::{self, Deed};
use super::supervisor;

/// How supervisors are started.
#[derive(Debug, Clone, Default)]
pub struct Supervise {
    /// The arguments of this program that call [`supervisor::watch`]; what it watches follows.
    pub command: Vec<String>,
    /// The arguments of this program that start the manager again if it dies;
    /// none if nobody should.
    pub again: Vec<OsString>,
}

/// Two processes that free the programs when this one dies; one that ends before is started again.
/// Dropped, they do so and end, also where the manager failed to start.
pub(super) struct Keepers {
    pub(super) pids: supervisor::Pids,
    /// Where they hear us.
    pub(super) lines: Lines,
    /// What each was started with.
    pub(super) starts: Vec<Starts>,
    is_ending: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// What a supervisor is started with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Starts {
    program: PathBuf,
    arguments: Vec<OsString>,
    /// What it says is only of use if it becomes the manager.
    is_heard: bool,
}

impl Starts {
    /// The supervisor, and where it hears the manager.
    pub(super) fn start(&self) -> io::Result<(Child, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(&self.program);
        // It must outlive a Ctrl-C that ends us: a process group of its own.
        command
            .args(&self.arguments)
            .process_group(0)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null());
        if !self.is_heard {
            command.stderr(Stdio::null());
        }
        Ok((command.spawn()?, ours))
    }
}

/// A supervisor that runs: a child, or that of who has root's rights.
enum Kept {
    Ours(Child),
    Others(OwnedFd),
}

impl Kept {
    /// Waits for its end.
    fn wait(&mut self) {
        match self {
            Kept::Ours(child) => drop(child.wait()),
            Kept::Others(process) => {
                while poll(&mut [PollFd::new(process, PollFlags::IN)], None).is_err() {}
            }
        }
    }
}

struct KeeperPlace {
    idx: usize,
    starts: Starts,
    pids: supervisor::Pids,
    lines: Lines,
}

impl KeeperPlace {
    fn spawn(&self) -> io::Result<Kept> {
        let (kept, pid, line) = match rights::ask(|| Deed::Supervise { idx: self.idx }) {
            None => {
                let (child, line) = self.starts.start()?;
                let pid = child.id() as i32;
                (Kept::Ours(child), pid, line)
            }
            Some(asked) => {
                let (pid, line) = asked?;
                let line = line.ok_or(io::ErrorKind::InvalidData)?;
                let number = Pid::from_raw(pid as i32).ok_or(io::ErrorKind::InvalidData)?;
                let process = pidfd_open(number, PidfdFlags::empty())?;
                (Kept::Others(process), pid as i32, UnixStream::from(line))
            }
        };
        self.pids.lock().expect("nobody panics with it").insert(self.idx, pid);
        self.lines.lock().expect("nobody panics with it").insert(self.idx, line);
        Ok(kept)
    }

    /// Starts it again whenever it ends.
    fn keep(&self, mut child: Kept, is_ending: &AtomicBool) {
        loop {
            child.wait();
            if is_ending.load(Ordering::Acquire) {
                return;
            }
            // Whatever keeps it from starting may pass: a full table of processes does.
            child = loop {
                match self.spawn() {
                    Ok(it) => break it,
                    Err(_) if is_ending.load(Ordering::Acquire) => return,
                    Err(_) => std::thread::sleep(Duration::from_millis(100)),
                }
            };
            // The end was said before this one could hear it.
            if is_ending.load(Ordering::Acquire) {
                heartbeat::say(&self.lines, heartbeat::ENDS);
                self.lines.lock().expect("nobody panics with it").clear();
            }
        }
    }
}

impl Keepers {
    pub(super) fn start(
        hierarchy: &Hierarchy,
        pages: &Path,
        supervise: &Supervise,
    ) -> io::Result<Keepers> {
        let mut started = Keepers {
            pids: supervisor::Pids::default(),
            lines: Lines::default(),
            starts: Vec::new(),
            is_ending: Arc::default(),
            threads: Vec::new(),
        };
        let mut arguments: Vec<OsString> = Vec::new();
        arguments.extend([
            hierarchy.freezer.text().into(),
            hierarchy.path.clone().into(),
            pages.into(),
        ]);
        arguments.push(std::process::id().to_string().into());
        if !supervise.again.is_empty() {
            arguments.push("--".into());
            arguments.extend(supervise.again.iter().cloned());
        }
        for idx in 0..supervisor::COUNT {
            let command = supervise.command.iter().map(OsString::from);
            let outside = (idx == 0).then(|| OsString::from("--outside"));
            let starts = Starts {
                program: std::env::current_exe()?,
                arguments: command.chain(outside).chain(arguments.iter().cloned()).collect(),
                is_heard: !supervise.again.is_empty(),
            };
            started.starts.push(starts.clone());
            let place = KeeperPlace {
                idx,
                starts,
                pids: Arc::clone(&started.pids),
                lines: Arc::clone(&started.lines),
            };
            let child = place.spawn()?;
            let is_ending = Arc::clone(&started.is_ending);
            started.threads.push(
                std::thread::Builder::new()
                    .name("keeper".to_owned())
                    .spawn(move || place.keep(child, &is_ending))?,
            );
        }
        Ok(started)
    }
}

impl Drop for Keepers {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Release);
        heartbeat::say(&self.lines, heartbeat::ENDS);
        self.lines.lock().expect("nobody panics with it").clear();
        for it in self.threads.drain(..) {
            // One that panicked has nothing more to keep.
            let _ = it.join();
        }
    }
}

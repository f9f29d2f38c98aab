//! Door: what frees the programs when their manager dies or stops, however it does.
//!
//! A process of its own has the other end of a socket on which the manager shows that it works, and
//! a descriptor of the manager's process. When the manager ends, every program is thawed and gets
//! back its processors and its control group; when it is silent too long, they are thawed and get
//! back their processors, until it goes on. There are two of them, in case one is killed with the
//! manager, and one of them leaves the manager's control group, where it may, in case that is
//! frozen. The manager starts one again that has ended. They outlive the signals by which a
//! manager is asked to end: service managers send these to all. SIGSTOP does not hold them:
//! [`up_again`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;

use super::freezer;
use super::group::Hierarchy;
use super::heartbeat::{ENDS, FROZEN, LIMIT};
use super::{journal, process, rights, up_again};

/// How many there are.
pub const COUNT: usize = 2;

/// The numbers of the supervisors, by their places.
pub type Pids = Arc<Mutex<BTreeMap<usize, i32>>>;

/// How long groups are looked after whose programs were on their way into them.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// What a supervisor watches.
#[derive(Debug)]
pub struct Watched<'a> {
    /// The groups of the manager.
    pub hierarchy: Hierarchy,
    /// The folder of the programs' pages and of what they had before; it goes with the groups.
    pub pages: &'a Path,
    pub pid: i32,
    /// It leaves the manager's control group, where it may.
    pub is_outside: bool,
}

/// Waits for the end of the manager at the other end of `line`, then frees all programs; returns
/// when their groups are gone. True if this supervisor is the one to start the manager again: it
/// has managed and died, and no other supervisor does.
///
/// Errors: a signal could not be caught.
pub fn watch(watched: &Watched<'_>, line: OwnedFd) -> io::Result<bool> {
    let cpus = process::cpus_of(0);
    process::outlive_signals()?;
    rights::distrust();
    let homes = if watched.is_outside { leave_groups() } else { Vec::new() };
    // On a busy machine as well programs are thawed at once; it goes on where that is not allowed.
    process::be_real_time_above();
    // Where the kernel has no such timer the other one is left.
    let _timer = up_again::this_process().ok();
    let has_died = listen(watched, &UnixStream::from(line), &cpus);
    // Renaming needs no room on a full disk, and only one of two finds the file.
    let is_to_start = has_died
        && fs::rename(watched.pages.join(journal::RESTART), watched.pages.join("restarting"))
            .is_ok();
    let end = Instant::now() + AFTERWARDS;
    while !journal::free(&watched.hierarchy, watched.pages, &cpus) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    if is_to_start {
        // The manager that this process becomes is where the first one was.
        homes.iter().for_each(|home| drop(rights::join(home)));
    }
    Ok(is_to_start)
}

/// Out of every control group that somebody may freeze, into that of all; those that were left.
fn leave_groups() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let own = std::process::id() as i32;
    let leave = |root: PathBuf, kind: freezer::Kind| {
        let home = kind.home(own, &root).filter(|home| *home != root)?;
        rights::join(&root).ok().map(|()| home)
    };
    freezer::ALL
        .iter()
        .flat_map(|kind| kind.places(&mounts).into_iter().map(|root| (root, *kind)))
        .filter_map(|(root, kind)| leave(root, kind))
        .collect()
}

/// Listens until the manager ends; true if it has managed, and did not say that it would end.
fn listen(watched: &Watched<'_>, line: &UnixStream, cpus: &[usize]) -> bool {
    // Old kernels have no such descriptors; the socket ends with the manager as well.
    let process = rustix::process::Pid::from_raw(watched.pid).and_then(|pid| {
        rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
    });
    // Who is started again may find programs frozen already: until it hears otherwise it expects a
    // byte, and a manager that is frozen before its next one holds nobody.
    let (mut is_expected, mut has_managed, mut has_said_so, mut last) =
        (true, false, false, Instant::now());
    loop {
        let patience = LIMIT.saturating_sub(last.elapsed());
        let patience = is_expected.then(|| Timespec {
            tv_sec: patience.as_secs() as _,
            tv_nsec: patience.subsec_nanos().into(),
        });
        let mut sources = vec![PollFd::from_borrowed_fd(line.as_fd(), PollFlags::IN)];
        sources.extend(
            process
                .as_ref()
                .map(|process| PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)),
        );
        match poll(&mut sources, patience.as_ref()) {
            // A signal, such as that of the timer below.
            Err(_) => continue,
            Ok(0) => {
                // It is stopped, or hangs. Once for each silence: what others do to the programs
                // meanwhile stays.
                journal::thaw(&watched.hierarchy, watched.pages, cpus);
                is_expected = false;
                continue;
            }
            Ok(_) => {}
        }
        let has_ended = sources.get(1).is_some_and(|source| !source.revents().is_empty());
        if !sources[0].revents().is_empty() {
            let mut bytes = [0; 4096];
            match (&mut &*line).read(&mut bytes) {
                Ok(0) => return has_managed && !has_said_so,
                Ok(n) => {
                    last = Instant::now();
                    is_expected = bytes[n - 1] == FROZEN;
                    has_said_so |= bytes[..n].contains(&ENDS);
                    has_managed |= bytes[..n].iter().any(|byte| *byte != ENDS);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return has_managed && !has_said_so,
            }
        } else if has_ended {
            // Nothing more comes, even if another process has a copy of its end.
            return has_managed && !has_said_so;
        }
    }
}

/// Becomes the program with these arguments; returns only if that fails.
pub fn become_manager(arguments: &[OsString]) -> io::Error {
    match std::env::current_exe() {
        Ok(program) => Command::new(program).args(arguments).exec(),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::limit::Limit;

    /// A manager that is frozen before it says its first thing to a supervisor that was started
    /// again may have demoted or limited programs already.
    #[test]
    fn a_supervisor_that_hears_nothing_at_all_gives_back() {
        let folder = measure::scratch::folder().expect("a scratch folder");
        let (group, pages) = (folder.path().join("group"), folder.path().join("pages"));
        fs::create_dir_all(&group).expect("it is ours");
        fs::create_dir_all(&pages).expect("it is ours");
        fs::write(group.join("cpu.max"), "max 100000").expect("it is ours");
        let mut limit = Limit::make(vec![group.clone()], journal::limit_path(&pages, 1))
            .expect("it is a file like the kernel's");
        limit.set(0.5, 1).expect("it is ours");
        let now = || fs::read_to_string(group.join("cpu.max")).expect("it is there");
        assert_eq!(now(), "10000 20000");
        let (_manager, line) = UnixStream::pair().expect("a socket");
        let path = folder.path().join("groups");
        std::thread::spawn(move || {
            let hierarchy = Hierarchy::at(freezer::ALL[0], path);
            let pid = std::process::id() as i32;
            listen(&Watched { hierarchy, pages: &pages, pid, is_outside: false }, &line, &[0])
        });
        let until = Instant::now() + 30 * LIMIT;
        while now() != "max 100000" && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(now(), "max 100000");
    }
}

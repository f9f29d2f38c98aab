//! Door: a program and all that it starts, as a group that can be frozen.
//!
//! cgroup version 2 where a hierarchy of it lets us, else the freezer of version 1: a frozen program keeps its memory
//! and does not see that it was frozen. Without the right to make control groups: SIGSTOP to every process of the
//! program's session, which parents among them can see. Then a group is a folder of our own with two files: `root` names
//! the program, `stopped` the processes that were sent SIGSTOP, written before they are.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::process::{self, Process};

/// How groups are frozen here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freezer {
    /// `cgroup.freeze` of version 2.
    V2,
    /// `freezer.state` of version 1.
    V1,
    /// SIGSTOP and SIGCONT.
    Signals,
}

impl Freezer {
    /// As on the command line.
    pub fn text(self) -> &'static str {
        match self {
            Freezer::V2 => "v2",
            Freezer::V1 => "v1",
            Freezer::Signals => "signals",
        }
    }

    /// The freezer of this name.
    pub fn from_text(text: &str) -> Option<Freezer> {
        [Freezer::V2, Freezer::V1, Freezer::Signals].into_iter().find(|it| it.text() == text)
    }

    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Freezer::V2 => "cgroup v2 freezer",
            Freezer::V1 => "cgroup v1 freezer",
            Freezer::Signals => "SIGSTOP",
        }
    }
}

/// Rounds in which processes that were forked meanwhile are looked for.
const ROUNDS: usize = 10;

/// A folder in which this process may make groups.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    /// How its groups are frozen.
    pub freezer: Freezer,
    /// The folder of all groups of this manager.
    pub path: PathBuf,
}

impl Hierarchy {
    /// Makes the folder `name` in the first hierarchy that lets us, `wanted` if one is, and says what the better ones
    /// said; an error if the wanted one does not let us.
    pub fn create(name: &str, wanted: Option<Freezer>) -> Result<(Hierarchy, String), String> {
        let mounts = fs::read_to_string("/proc/mounts").map_err(|error| format!("/proc/mounts: {error}"))?;
        let mut said = Vec::new();
        for freezer in [Freezer::V2, Freezer::V1, Freezer::Signals] {
            if wanted.is_some_and(|it| it != freezer) {
                continue;
            }
            let scratch = std::env::temp_dir();
            let places = if freezer == Freezer::Signals { vec![scratch.as_path()] } else { places(&mounts, freezer) };
            if places.is_empty() {
                said.push(format!("no {} is mounted", freezer.name()));
            }
            for place in places {
                let path = place.join(name);
                match fs::DirBuilder::new().mode(0o700).create(&path) {
                    Ok(()) => return Ok((Hierarchy { freezer, path }, said.join("; "))),
                    Err(error) => said.push(format!("{}: {error}", path.display())),
                }
            }
        }
        Err(said.join("; "))
    }

    /// All folders whose name begins with `prefix`, wherever managers make theirs.
    pub fn all(prefix: &str) -> Vec<Hierarchy> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let scratch = std::env::temp_dir();
        let mut found = Vec::new();
        for freezer in [Freezer::V2, Freezer::V1, Freezer::Signals] {
            let places = if freezer == Freezer::Signals { vec![scratch.as_path()] } else { places(&mounts, freezer) };
            for entry in places.into_iter().filter_map(|it| fs::read_dir(it).ok()).flatten().flatten() {
                if entry.file_name().to_string_lossy().starts_with(prefix) {
                    found.push(Hierarchy { freezer, path: entry.path() });
                }
            }
        }
        found
    }

    /// Where the group of a process will be that runs already: inside its own control group, whose limits and whose owner
    /// reach it there, if we may make one in it; else in our folder.
    pub fn place_beside(&self, home: Option<&Path>, name: &str) -> PathBuf {
        let own = self.path.join(name);
        let Some(home) = home.filter(|_| self.freezer != Freezer::Signals) else { return own };
        let manager = self.path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let inside = home.join(format!("{manager}-{name}"));
        // Asked by doing: rights are not the only thing that may be in the way.
        if fs::create_dir(&inside).is_ok() && fs::remove_dir(&inside).is_ok() { inside } else { own }
    }

    /// A group at `path`, frozen from the start.
    pub fn group(&self, path: PathBuf) -> io::Result<Group> {
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        let group = Group::open(self.freezer, path)?;
        group.freeze()?;
        Ok(group)
    }

    /// The control group of a process here; none with signals.
    pub fn home(&self, pid: i32) -> Option<PathBuf> {
        let root = self.path.parent()?;
        match self.freezer {
            Freezer::V2 => process::control_group(pid, root, "0"),
            Freezer::V1 => process::control_group(pid, root, "freezer"),
            Freezer::Signals => None,
        }
    }

    /// Takes the folder away, if its groups are gone.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_dir(&self.path)
    }
}

/// Where hierarchies with this freezer are mounted.
fn places(mounts: &str, freezer: Freezer) -> Vec<&Path> {
    let fits = |kind: &str, options: &str| match freezer {
        Freezer::V2 => kind == "cgroup2",
        Freezer::V1 => kind == "cgroup" && options.split(',').any(|it| it == "freezer"),
        Freezer::Signals => false,
    };
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.filter(|it| it.len() >= 4 && fits(it[2], it[3])).map(|it| Path::new(it[1])).collect()
}

/// A program's processes.
#[derive(Debug)]
pub struct Group {
    freezer: Freezer,
    path: PathBuf,
    /// Open all the time: opening is half of what a change costs.
    state: File,
}

impl Group {
    /// One that is there.
    pub fn open(freezer: Freezer, path: PathBuf) -> io::Result<Group> {
        let file = match freezer {
            Freezer::V2 => "cgroup.freeze",
            Freezer::V1 => "freezer.state",
            Freezer::Signals => "stopped",
        };
        let mut options = OpenOptions::new();
        options.write(true);
        if freezer == Freezer::Signals {
            options.create(true).append(true);
        }
        let state = options.open(path.join(file))?;
        Ok(Group { freezer, path, state })
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stops all its threads.
    pub fn freeze(&self) -> io::Result<()> {
        match self.freezer {
            Freezer::V2 => self.state.write_all_at(b"1", 0),
            Freezer::V1 => self.state.write_all_at(b"FROZEN", 0),
            Freezer::Signals => {
                for _ in 0..ROUNDS {
                    let stopped = self.stopped()?;
                    let new: Vec<Process> = self.members()?.into_iter().filter(|it| !stopped.contains(&(it.pid, it.started))).collect();
                    if new.is_empty() {
                        break;
                    }
                    let lines: String = new.iter().map(|it| format!("{} {}\n", it.pid, it.started)).collect();
                    (&self.state).write_all(lines.as_bytes())?;
                    new.iter().for_each(|it| send(it, Signal::SIGSTOP));
                }
                Ok(())
            }
        }
    }

    /// Lets them go on.
    pub fn thaw(&self) -> io::Result<()> {
        match self.freezer {
            Freezer::V2 => self.state.write_all_at(b"0", 0),
            Freezer::V1 => self.state.write_all_at(b"THAWED", 0),
            Freezer::Signals => {
                for (pid, started) in self.stopped()? {
                    Process::find(pid).filter(|it| it.started == started).iter().for_each(|it| send(it, Signal::SIGCONT));
                }
                self.state.set_len(0)
            }
        }
    }

    fn stopped(&self) -> io::Result<Vec<(i32, u64)>> {
        let text = fs::read_to_string(self.path.join("stopped"))?;
        Ok(text.lines().filter_map(|it| it.split_once(' ')).filter_map(|it| Some((it.0.parse().ok()?, it.1.parse().ok()?))).collect())
    }

    /// All its processes.
    pub fn members(&self) -> io::Result<Vec<Process>> {
        if self.freezer != Freezer::Signals {
            let text = fs::read_to_string(self.path.join("cgroup.procs"))?;
            return Ok(text.lines().filter_map(|it| Process::find(it.parse().ok()?)).collect());
        }
        let Ok(text) = fs::read_to_string(self.path.join("root")) else { return Ok(Vec::new()) };
        let mut fields = text.split_ascii_whitespace();
        let root: Option<i32> = fields.next().and_then(|it| it.parse().ok());
        let owns_session = fields.next() == Some("session");
        let Some(root) = root else { return Ok(Vec::new()) };
        let all = process::all()?;
        let mut found = process::tree(&all, root);
        for it in all.iter().filter(|it| owns_session && it.session == root) {
            found.extend(process::tree(&all, it.pid));
        }
        found.sort_by_key(|it| it.pid);
        found.dedup_by_key(|it| it.pid);
        found.retain(|it| it.state != 'Z' && it.state != 'X');
        Ok(found)
    }

    /// The arguments before a program's own that start it in this group.
    pub fn prefix(&self) -> Vec<String> {
        match self.freezer {
            // The shell joins the group, which is frozen, and so stops there until the group has its first turn.
            Freezer::V2 | Freezer::V1 => {
                let script = "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"";
                ["sh", "-c", script, &self.path.to_string_lossy()].map(str::to_owned).into()
            }
            Freezer::Signals => vec!["setsid".to_owned()],
        }
    }

    /// A program that was started with [`Group::prefix`] has this number.
    pub fn started(&self, pid: i32) -> io::Result<()> {
        if self.freezer == Freezer::Signals {
            fs::write(self.path.join("root"), format!("{pid} session\n"))?;
            self.freeze()?;
        }
        Ok(())
    }

    /// Takes in a process that runs already, and all below it.
    pub fn take(&self, pid: i32) -> io::Result<()> {
        if self.freezer == Freezer::Signals {
            fs::write(self.path.join("root"), format!("{pid} tree\n"))?;
            return self.freeze();
        }
        let mut taken: Vec<i32> = Vec::new();
        for _ in 0..ROUNDS {
            let new: Vec<i32> = process::tree(&process::all()?, pid).iter().map(|it| it.pid).filter(|it| !taken.contains(it)).collect();
            if new.is_empty() {
                break;
            }
            for pid in new {
                match move_to(pid, &self.path) {
                    Err(error) if error.raw_os_error() != Some(ESRCH) => return Err(error),
                    Ok(()) | Err(_) => taken.push(pid),
                }
            }
        }
        Ok(())
    }

    /// All its threads.
    pub fn threads(&self) -> io::Result<Vec<i32>> {
        let file = match self.freezer {
            Freezer::V2 => "cgroup.threads",
            Freezer::V1 => "tasks",
            Freezer::Signals => return Ok(self.members()?.iter().flat_map(Process::threads).collect()),
        };
        Ok(fs::read_to_string(self.path.join(file))?.lines().filter_map(|it| it.parse().ok()).collect())
    }

    /// Keeps all its threads to these processors. Threads that end meanwhile are no error; how many may not be kept.
    pub fn keep_to(&self, cpus: &[usize]) -> io::Result<usize> {
        Ok(self.threads()?.into_iter().filter(|it| process::keep_thread(*it, cpus).is_err()).count())
    }

    /// Thaws it, moves each process in it to the control group that `home` names, and takes it away.
    pub fn release(&self, home: impl Fn(&Process) -> Option<PathBuf>) -> io::Result<()> {
        self.thaw()?;
        if self.freezer != Freezer::Signals {
            for it in self.members()? {
                let Some(home) = home(&it).or_else(|| self.path.parent()?.parent().map(Path::to_owned)) else { continue };
                // What has ended meanwhile is gone.
                let _ = move_to(it.pid, &home);
            }
        }
        self.remove()
    }

    /// Takes it away; its last process must have ended. With signals nothing holds it.
    pub fn remove(&self) -> io::Result<()> {
        if self.freezer == Freezer::Signals { fs::remove_dir_all(&self.path) } else { fs::remove_dir(&self.path) }
    }
}

const ESRCH: i32 = nix::errno::Errno::ESRCH as i32;

fn move_to(pid: i32, group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), pid.to_string())
}

/// A process that has ended needs no signal.
fn send(it: &Process, signal: Signal) {
    let _ = kill(Pid::from_raw(it.pid), signal);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_by_what_they_are() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup /sys/fs/cgroup/freezer cgroup rw,relatime,freezer 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(places(mounts, Freezer::V2), [Path::new("/sys/fs/cgroup/unified")]);
        assert_eq!(places(mounts, Freezer::V1), [Path::new("/sys/fs/cgroup/freezer")]);
        assert!(places("proc /proc proc rw 0 0\n", Freezer::V2).is_empty());
    }
}

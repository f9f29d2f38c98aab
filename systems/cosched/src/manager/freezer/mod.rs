//! Door: ways to stop programs, one a file. What is said here holds for control groups; a freezer
//! without them says all of it anew.

mod signals;
mod v1;
mod v2;

use std::fmt::Debug;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::process::{self, Process};
use super::rights;

/// The freezers, the best first.
pub const ALL: &[Kind] = &[&v2::V2, &v1::V1, &signals::Signals];

pub type Kind = &'static dyn Freezer;

/// The freezer of this name.
pub fn from_text(text: &str) -> Option<Kind> {
    ALL.iter().copied().find(|it| it.text() == text)
}

/// The folder of a group, and what its freezer writes to there.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    state: File,
}

impl Folder {
    /// One that is there.
    pub fn open(freezer: Kind, path: PathBuf) -> io::Result<Folder> {
        let state = freezer.open(&path)?;
        Ok(Folder { path, state })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its freezer writes to.
    pub fn state(&self) -> &File {
        &self.state
    }
}

/// A way to stop programs.
pub trait Freezer: Debug + Sync {
    /// As on the command line.
    fn text(&self) -> &'static str;

    /// As people call it.
    fn name(&self) -> &'static str;

    /// What programs or users notice of it.
    fn drawback(&self) -> Option<&'static str> {
        None
    }

    /// Between two looks at the programs that have their turn while others wait for theirs.
    fn look_every(&self) -> Duration;

    /// Folders in which managers make theirs, by what `/proc/mounts` says.
    fn places(&self, mounts: &str) -> Vec<PathBuf>;

    /// The control group of a process in the hierarchy that is mounted at `root`.
    fn home(&self, pid: i32, root: &Path) -> Option<PathBuf>;

    /// What is written to freeze and thaw the group in this folder: open all the time, as opening
    /// is half of what a change costs.
    fn open(&self, folder: &Path) -> io::Result<File>;

    /// Stops all threads of a group.
    fn freeze(&self, folder: &Folder) -> io::Result<()>;

    /// Lets them go on.
    fn thaw(&self, folder: &Folder) -> io::Result<()>;

    /// The same from outside the manager, which may freeze and thaw it at the same time.
    fn let_run(&self, folder: &Folder) -> io::Result<()> {
        self.thaw(folder)
    }

    /// All processes of a group.
    fn members(&self, folder: &Folder) -> io::Result<Vec<Process>> {
        let text = rights::read(folder.path(), "cgroup.procs")?;
        Ok(text.lines().filter_map(|line| Process::find(line.parse().ok()?)).collect())
    }

    fn threads(&self, folder: &Folder) -> io::Result<Vec<i32>>;

    /// The arguments before a program's own that start it in this group. The shell joins the group,
    /// which is frozen, and so stops there until the group is thawed.
    fn prefix(&self, folder: &Folder) -> Vec<String> {
        let script = "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"";
        // In a session of its own, to which the kernel gives its own share of the processors; it
        // goes on in ours where nothing makes one.
        let session = measure::tool::find("setsid").map(|path| path.display().to_string());
        let shell = ["sh", "-c", script, &folder.path().to_string_lossy()].map(str::to_owned);
        session.into_iter().chain(shell).collect()
    }

    /// A program that was started with [`Freezer::prefix`] has this number.
    fn started(&self, _folder: &Folder, _pid: i32) -> io::Result<()> {
        Ok(())
    }

    /// Takes in a process that runs already, and all below it that is in its control group: what is
    /// in another one, as its limits and its owner want it, stays there.
    ///
    /// Errors: it has left the group in which this one is, or may not be moved.
    fn take(&self, folder: &Folder, pid: i32) -> io::Result<()> {
        let home = folder.path().parent().unwrap_or(folder.path());
        for round in 0..ROUNDS {
            let all = numbers(home, "cgroup.procs")?;
            if round == 0 && !all.contains(&pid) {
                return Err(io::Error::other(format!("it is not in {} any more", home.display())));
            }
            let tree = process::tree(&process::all()?, pid);
            let mut new = tree.iter().map(|member| member.pid).filter(|pid| all.contains(pid));
            let moved = new.try_fold(0, |n, each| match move_to(each, folder.path()) {
                // It has ended, or left its group.
                Err(error) if error.raw_os_error() == Some(ESRCH) => Ok(n + 1),
                Err(_) if each != pid && !numbers(home, "cgroup.procs")?.contains(&each) => {
                    Ok(n + 1)
                }
                Err(error) => Err(error),
                Ok(()) => Ok(n + 1),
            })?;
            if moved == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Moves each process of a thawed group to the control group that `home` names.
    fn send_home(
        &self,
        folder: &Folder,
        home: &dyn Fn(&Process) -> Option<PathBuf>,
    ) -> io::Result<()> {
        let inside = folder.path().parent().unwrap_or(folder.path());
        let is_started = inside.file_name().is_some_and(rights::is_of_started);
        // Where its home is gone, or may not be entered, a program that was started is where the
        // manager is, or whoever does this; one that was taken in stays inside its owner's group.
        let others: Vec<PathBuf> = if is_started {
            let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
            // Not that of all, in which a supervisor may be: there is no limit.
            let own = self.places(&mounts).into_iter().find_map(|root| {
                self.home(std::process::id() as i32, &root).filter(|home| *home != root)
            });
            inside.parent().map(Path::to_owned).into_iter().chain(own).collect()
        } else {
            vec![inside.to_owned()]
        };
        for it in self.members(folder)? {
            // What has ended meanwhile is gone.
            let mut places = home(&it).into_iter().chain(others.iter().cloned());
            let _ = places.find(|place| move_to(it.pid, place).is_ok());
        }
        Ok(())
    }

    /// Takes a group away; its last process must have ended.
    fn remove(&self, folder: &Path) -> io::Result<()> {
        rights::remove(folder)
    }

    /// Takes the folder of all groups away, if they are gone.
    fn remove_all(&self, groups: &Path) -> io::Result<()> {
        rights::remove(groups)
    }
}

/// Rounds in which processes that were forked meanwhile are looked for.
const ROUNDS: usize = 10;

const ESRCH: i32 = nix::errno::Errno::ESRCH as i32;

pub(super) fn move_to(pid: i32, group: &Path) -> io::Result<()> {
    rights::write(group, "cgroup.procs", &pid.to_string())
}

/// The threads that a file of a group names.
fn numbers(folder: &Path, file: &str) -> io::Result<Vec<i32>> {
    Ok(rights::read(folder, file)?.lines().filter_map(|line| line.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_by_what_they_are() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup /sys/fs/cgroup/freezer cgroup rw,relatime,freezer 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(v2::V2.places(mounts), [Path::new("/sys/fs/cgroup/unified")]);
        assert_eq!(v1::V1.places(mounts), [Path::new("/sys/fs/cgroup/freezer")]);
        assert!(v2::V2.places("proc /proc proc rw 0 0\n").is_empty());
    }

    #[test]
    fn every_freezer_is_found_by_its_name() {
        for it in ALL {
            assert_eq!(from_text(it.text()).map(Freezer::name), Some(it.name()));
        }
        assert!(from_text("v3").is_none());
    }
}

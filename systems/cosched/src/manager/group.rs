//! Door: a program and all that it starts, as a control group that can be frozen.
//!
//! cgroup version 2 where a hierarchy of it is mounted, else the freezer of version 1. A frozen program keeps its memory
//! and does not see that it was frozen.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// How groups are frozen here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freezer {
    /// `cgroup.freeze` of version 2.
    V2,
    /// `freezer.state` of version 1.
    V1,
}

impl Freezer {
    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Freezer::V2 => "cgroup v2 freezer",
            Freezer::V1 => "cgroup v1 freezer",
        }
    }
}

/// A folder in which this process may make groups.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    /// Version 2 or 1.
    pub freezer: Freezer,
    /// The folder of all groups of this manager.
    pub path: PathBuf,
}

impl Hierarchy {
    /// Makes the folder `name` in the first hierarchy that lets us; what each of them said if none does.
    pub fn create(name: &str) -> Result<Hierarchy, String> {
        let mounts = fs::read_to_string("/proc/mounts").map_err(|error| format!("/proc/mounts: {error}"))?;
        let mut said = Vec::new();
        for freezer in [Freezer::V2, Freezer::V1] {
            for place in places(&mounts, freezer) {
                let path = Path::new(place).join(name);
                match fs::create_dir(&path) {
                    Ok(()) => return Ok(Hierarchy { freezer, path }),
                    Err(error) => said.push(format!("{}: {error}", path.display())),
                }
            }
        }
        Err(if said.is_empty() { "no control group hierarchy with a freezer is mounted".to_owned() } else { said.join("; ") })
    }

    /// A group, frozen from the start.
    pub fn group(&self, name: &str) -> io::Result<Group> {
        let path = self.path.join(name);
        fs::create_dir(&path)?;
        let group = Group { freezer: self.freezer, path };
        group.freeze()?;
        Ok(group)
    }

    /// All groups of the folder that are there.
    pub fn groups(&self) -> io::Result<Vec<Group>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                all.push(Group { freezer: self.freezer, path: entry.path() });
            }
        }
        Ok(all)
    }

    /// Takes the folder away, if its groups are gone.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_dir(&self.path)
    }
}

/// Where hierarchies with this freezer are mounted.
fn places(mounts: &str, freezer: Freezer) -> Vec<&str> {
    let fits = |kind: &str, options: &str| match freezer {
        Freezer::V2 => kind == "cgroup2",
        Freezer::V1 => kind == "cgroup" && options.split(',').any(|it| it == "freezer"),
    };
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.filter(|it| it.len() >= 4 && fits(it[2], it[3])).map(|it| it[1]).collect()
}

/// A control group.
#[derive(Debug, Clone)]
pub struct Group {
    freezer: Freezer,
    path: PathBuf,
}

impl Group {
    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stops all its threads.
    pub fn freeze(&self) -> io::Result<()> {
        match self.freezer {
            Freezer::V2 => fs::write(self.path.join("cgroup.freeze"), "1"),
            Freezer::V1 => fs::write(self.path.join("freezer.state"), "FROZEN"),
        }
    }

    /// Lets them go on.
    pub fn thaw(&self) -> io::Result<()> {
        match self.freezer {
            Freezer::V2 => fs::write(self.path.join("cgroup.freeze"), "0"),
            Freezer::V1 => fs::write(self.path.join("freezer.state"), "THAWED"),
        }
    }

    /// All its threads.
    pub fn threads(&self) -> io::Result<Vec<i32>> {
        let file = if self.freezer == Freezer::V2 { "cgroup.threads" } else { "tasks" };
        Ok(fs::read_to_string(self.path.join(file))?.lines().filter_map(|it| it.parse().ok()).collect())
    }

    /// Keeps all its threads to these processors. Threads that end meanwhile are no error.
    pub fn keep_to(&self, cpus: &[usize]) -> io::Result<()> {
        let mut set = CpuSet::new();
        cpus.iter().try_for_each(|cpu| set.set(*cpu)).map_err(io::Error::from)?;
        for thread in self.threads()? {
            match sched_setaffinity(Pid::from_raw(thread), &set) {
                Ok(()) | Err(nix::errno::Errno::ESRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Takes it away; its last process must have ended.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_dir(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_by_what_they_are() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup /sys/fs/cgroup/freezer cgroup rw,relatime,freezer 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(places(mounts, Freezer::V2), ["/sys/fs/cgroup/unified"]);
        assert_eq!(places(mounts, Freezer::V1), ["/sys/fs/cgroup/freezer"]);
        assert!(places("proc /proc proc rw 0 0\n", Freezer::V2).is_empty());
    }
}

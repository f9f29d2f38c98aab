//! Door: a program and all that it starts, as a group that can be frozen, and the folder of all groups of one manager.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::freezer::{self, Kind};
use super::process::{self, Process};

/// A folder in which this process may make groups.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    /// How its groups are frozen.
    pub freezer: Kind,
    /// The folder of all groups of this manager.
    pub path: PathBuf,
}

impl Hierarchy {
    /// Makes the folder `name` in the first hierarchy that lets us, `wanted` if one is, and says what the better ones
    /// said; an error if the wanted one does not let us.
    pub fn create(name: &str, wanted: Option<Kind>) -> Result<(Hierarchy, String), String> {
        let mounts = fs::read_to_string("/proc/mounts").map_err(|error| format!("/proc/mounts: {error}"))?;
        let mut said = Vec::new();
        for &freezer in freezer::ALL.iter().filter(|it| wanted.is_none_or(|wanted| wanted.text() == it.text())) {
            let places = freezer.places(&mounts);
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
        let mut found = Vec::new();
        for &freezer in freezer::ALL {
            for entry in freezer.places(&mounts).into_iter().filter_map(|it| fs::read_dir(it).ok()).flatten().flatten() {
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
        let Some(home) = home else { return own };
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
        self.freezer.home(pid, self.path.parent()?)
    }

    /// Takes the folder away, if its groups are gone.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_dir(&self.path)
    }
}

/// A program's processes.
#[derive(Debug)]
pub struct Group {
    freezer: Kind,
    path: PathBuf,
    state: File,
}

impl Group {
    /// One that is there.
    pub fn open(freezer: Kind, path: PathBuf) -> io::Result<Group> {
        let state = freezer.open(&path)?;
        Ok(Group { freezer, path, state })
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its freezer writes to.
    pub fn state(&self) -> &File {
        &self.state
    }

    /// Stops all its threads.
    pub fn freeze(&self) -> io::Result<()> {
        self.freezer.freeze(self)
    }

    /// Lets them go on.
    pub fn thaw(&self) -> io::Result<()> {
        self.freezer.thaw(self)
    }

    /// All its processes.
    pub fn members(&self) -> io::Result<Vec<Process>> {
        self.freezer.members(self)
    }

    /// All its threads.
    pub fn threads(&self) -> io::Result<Vec<i32>> {
        self.freezer.threads(self)
    }

    /// The arguments before a program's own that start it in this group.
    pub fn prefix(&self) -> Vec<String> {
        self.freezer.prefix(self)
    }

    /// A program that was started with [`Group::prefix`] has this number.
    pub fn started(&self, pid: i32) -> io::Result<()> {
        self.freezer.started(self, pid)
    }

    /// Takes in a process that runs already, and all below it.
    pub fn take(&self, pid: i32) -> io::Result<()> {
        self.freezer.take(self, pid)
    }

    /// Keeps all its threads to these processors. Threads that end meanwhile are no error; how many may not be kept.
    pub fn keep_to(&self, cpus: &[usize]) -> io::Result<usize> {
        Ok(self.threads()?.into_iter().filter(|it| process::keep_thread(*it, cpus).is_err()).count())
    }

    /// Thaws it, moves each process in it to the control group that `home` names, and takes it away.
    pub fn release(&self, home: impl Fn(&Process) -> Option<PathBuf>) -> io::Result<()> {
        self.thaw()?;
        self.freezer.send_home(self, &home)?;
        self.remove()
    }

    /// Takes it away; its last process must have ended.
    pub fn remove(&self) -> io::Result<()> {
        self.freezer.remove(&self.path)
    }
}

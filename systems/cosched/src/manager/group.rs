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
    /// Where the hierarchy is mounted.
    root: PathBuf,
    /// The folder of all groups of this manager.
    pub path: PathBuf,
}

impl Hierarchy {
    /// The one with this folder.
    pub fn at(freezer: Kind, path: PathBuf) -> Hierarchy {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let root = freezer.places(&mounts).into_iter().find(|it| path.starts_with(it)).unwrap_or_default();
        Hierarchy { freezer, root, path }
    }

    /// Makes the folder `name` in the first hierarchy that lets us, `wanted` if one is, and says what the better ones
    /// said; an error if the wanted one does not let us.
    pub fn create(name: &str, wanted: Option<Kind>) -> Result<(Hierarchy, String), String> {
        let mounts = fs::read_to_string("/proc/mounts").map_err(|error| format!("/proc/mounts: {error}"))?;
        let mut said = Vec::new();
        for &freezer in freezer::ALL.iter().filter(|it| wanted.is_none_or(|wanted| wanted.text() == it.text())) {
            let mut places = freezer.places(&mounts);
            // First inside our own group: its limits and its owner reach what we start, and it may be all that is ours.
            let own: Vec<PathBuf> = places.iter().filter_map(|it| freezer.home(std::process::id() as i32, it)).collect();
            places.splice(0..0, own);
            places.dedup();
            if places.is_empty() {
                said.push(format!("no {} is mounted", freezer.name()));
            }
            for place in places {
                let path = place.join(name);
                match fs::DirBuilder::new().mode(0o700).create(&path) {
                    Ok(()) => return Ok((Hierarchy::at(freezer, path), said.join("; "))),
                    Err(error) => said.push(format!("{}: {error}", path.display())),
                }
            }
        }
        Err(said.join("; "))
    }

    /// Where the group of a process will be that runs already: inside its own control group, whose limits and whose owner
    /// reach it there; in our folder where there are no control groups.
    ///
    /// # Errors
    /// We may make none there: nothing leaves its group for us.
    pub fn place_beside(&self, home: Option<&Path>, name: &str) -> io::Result<PathBuf> {
        let Some(home) = home else { return Ok(self.path.join(name)) };
        let manager = self.path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let inside = home.join(format!("{manager}-{name}"));
        // Asked by doing: rights are not the only thing that may be in the way.
        let made = fs::create_dir(&inside).and_then(|()| fs::remove_dir(&inside));
        let said = |error: io::Error| format!("make a group inside its own, {}, which it is not to leave: {error}", home.display());
        made.map(|()| inside).map_err(|error| io::Error::new(error.kind(), said(error)))
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
        self.freezer.home(pid, &self.root)
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

    /// The same by somebody else than the manager, who may freeze and thaw it at the same time.
    pub fn let_run(&self) -> io::Result<()> {
        self.freezer.let_run(self)
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

//! Door: a program and all that it starts, as a group that can be frozen, and the folder of all
//! groups of one manager.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::foreign::Foreign;
use super::freezer::{self, Folder, Kind};
use super::process::{self, Process};
use super::rights;
use super::tasks::{is_task, tasks};

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
        let root = freezer
            .places(&mounts)
            .into_iter()
            .find(|place| path.starts_with(place))
            .unwrap_or_default();
        Hierarchy { freezer, root, path }
    }

    /// Makes the folder `name` in the first hierarchy that lets us, `wanted` if one is, and says
    /// what the better ones said; an error if the wanted one does not let us.
    pub fn create(name: &str, wanted: Option<Kind>) -> Result<(Hierarchy, String), String> {
        let mounts =
            fs::read_to_string("/proc/mounts").map_err(|error| format!("/proc/mounts: {error}"))?;
        let mut said = Vec::new();
        for &freezer in
            freezer::ALL.iter().filter(|it| wanted.is_none_or(|wanted| wanted.text() == it.text()))
        {
            let mut places = freezer.places(&mounts);
            // First inside our own group: its limits and its owner reach what we start, and it may
            // be all that is ours.
            let own: Vec<PathBuf> = places
                .iter()
                .filter_map(|place| freezer.home(std::process::id() as i32, place))
                .collect();
            // Or beside it, if that is ours too, and hands on the cpu controller: a group in which
            // processes are hands on none.
            let beside: Vec<PathBuf> = own.iter().filter_map(|own| delegated_above(own)).collect();
            places.splice(0..0, beside.into_iter().chain(own));
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

    /// Where the group of a process will be that runs already: inside its own control group, whose
    /// limits and whose owner reach it there; in our folder where there are no control groups.
    ///
    /// Errors: we may make none there: nothing leaves its group for us.
    pub fn place_beside(&self, home: Option<&Path>, name: &str) -> io::Result<PathBuf> {
        let Some(home) = home else { return Ok(self.path.join(name)) };
        let manager = self
            .path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let inside = home.join(format!("{manager}-{name}"));
        // Asked by doing: rights are not the only thing that may be in the way.
        let made = rights::make(&inside).and_then(|()| {
            // Source: cgroup-v2.rst, "Threads". Version 1 has no such file.
            let kind = fs::read_to_string(inside.join("cgroup.type")).unwrap_or_default();
            rights::remove(&inside)?;
            match kind.trim() {
                "" | "domain" => Ok(()),
                kind => Err(io::Error::other(format!(
                    "a group there is of the type `{kind}`, as its own is one for threads; --freezer signals needs none"
                ))),
            }
        });
        let said = |error: io::Error| {
            format!(
                "make a group inside its own, {}, which it is not to leave: {error}",
                home.display()
            )
        };
        made.map(|()| inside).map_err(|error| io::Error::new(error.kind(), said(error)))
    }

    /// A group at `path`, frozen from the start.
    pub fn group(&self, path: PathBuf) -> io::Result<Group> {
        rights::make(&path)?;
        let group = Group::open(self.freezer, path)?;
        group.freeze()?;
        Ok(group)
    }

    /// The control group of a process here; none with signals.
    pub fn home(&self, pid: i32) -> Option<PathBuf> {
        self.freezer.home(pid, &self.root)
    }

    /// The path of a group as `/proc/PID/cgroup` shows it.
    pub fn inside(&self, path: &Path) -> PathBuf {
        Path::new("/").join(path.strip_prefix(&self.root).unwrap_or(path))
    }

    /// The group of Slurm's at `path` and those of the other tasks, frozen from now on.
    pub fn group_in_place(&self, path: PathBuf) -> io::Result<Group> {
        let group = Group::open(self.freezer, path)?;
        group.freeze()?;
        Ok(group)
    }

    /// Gives so many programs together what they would have each by itself, where the kernel takes
    /// the folder for one of many that share the processors. What fails leaves it as it is.
    pub fn weigh(&self, n_programs: usize) {
        let weight = (100 * n_programs).clamp(100, 10_000);
        if self.path.join("cpu.weight").exists() {
            let _ = rights::write(&self.path, "cpu.weight", &weight.to_string());
        }
    }

    /// Takes the folder away, if its groups are gone.
    pub fn remove(&self) -> io::Result<()> {
        self.freezer.remove_all(&self.path)
    }
}

/// The group above, if whoever made it left it to us and those in it have the cpu controller: as
/// systemd does for `Delegate=` with `DelegateSubgroup=`, and `chown` for an ordinary user.
///
/// Source: systemd's CGROUP_DELEGATION.md on the attributes.
fn delegated_above(own: &Path) -> Option<PathBuf> {
    let above = own.parent()?;
    let hands_on = fs::read_to_string(above.join("cgroup.subtree_control")).ok()?;
    let user = nix::unistd::geteuid();
    let is_left_to_us = if user.is_root() {
        let says_so = |name: &str| {
            rustix::fs::getxattr(above, name, &mut [0_u8; 8][..]).is_ok_and(|length| length == 1)
        };
        says_so("user.delegate") || says_so("trusted.delegate")
    } else {
        fs::metadata(above).is_ok_and(|folder| folder.uid() == user.as_raw())
    };
    let has_cpu = hands_on.split_ascii_whitespace().any(|word| word == "cpu");
    (is_left_to_us && has_cpu).then(|| above.to_owned())
}

#[derive(Debug)]
pub struct Group(Whose);

#[derive(Debug)]
enum Whose {
    /// Ours, or a task's of Slurm with those of the other tasks.
    Frozen { freezer: Kind, own: Folder, others: Vec<Folder> },
    /// Somebody else's: it is never frozen.
    Foreign(Foreign),
}

impl Group {
    /// One that somebody else made, in which all stays where it is.
    pub fn foreign(group: Foreign) -> Group {
        Group(Whose::Foreign(group))
    }

    pub fn as_foreign(&self) -> Option<&Foreign> {
        match &self.0 {
            Whose::Foreign(group) => Some(group),
            Whose::Frozen { .. } => None,
        }
    }

    pub fn is_foreign(&self) -> bool {
        self.as_foreign().is_some()
    }

    /// One that is there.
    pub fn open(freezer: Kind, path: PathBuf) -> io::Result<Group> {
        let own = Folder::open(freezer, path)?;
        let others = if is_task(own.path()) { tasks(own.path()) } else { Vec::new() };
        // One that is gone has ended.
        let others = others
            .into_iter()
            .filter(|other| *other != own.path())
            .filter_map(|other| Folder::open(freezer, other).ok())
            .collect();
        Ok(Group(Whose::Frozen { freezer, own, others }))
    }

    pub fn path(&self) -> &Path {
        match &self.0 {
            Whose::Frozen { own, .. } => own.path(),
            Whose::Foreign(group) => group.path(),
        }
    }

    /// It is not ours: nothing is moved into it or out of it, and it stays.
    fn is_in_place(&self) -> bool {
        self.is_foreign() || is_task(self.path())
    }

    /// True if processes of this group are in the folder `home`.
    pub fn is_at(&self, home: &Path) -> bool {
        self.folders().any(|folder| folder == home)
    }

    /// The folder that counts what all its processes use.
    pub fn counts(&self) -> &Path {
        if is_task(self.path()) { self.path().parent().unwrap_or(self.path()) } else { self.path() }
    }

    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        let others = match &self.0 {
            Whose::Frozen { others, .. } => others.as_slice(),
            Whose::Foreign(_) => &[],
        };
        std::iter::once(self.path()).chain(others.iter().map(Folder::path))
    }

    /// Does it with all folders that may be frozen; the first error.
    fn each<T>(&self, does: impl Fn(Kind, &Folder) -> io::Result<T>) -> io::Result<Vec<T>> {
        let Whose::Frozen { freezer, own, others } = &self.0 else { return Ok(Vec::new()) };
        let first = does(*freezer, own);
        // A task that has ended is no reason to leave the others as they are.
        let others =
            others.iter().filter_map(|other| does(*freezer, other).ok()).collect::<Vec<_>>();
        match first {
            Err(error) if others.is_empty() => Err(error),
            first => Ok(first.into_iter().chain(others).collect()),
        }
    }

    /// Stops all its threads, unless it is another's.
    pub fn freeze(&self) -> io::Result<()> {
        self.each(|freezer, folder| freezer.freeze(folder)).map(drop)
    }

    /// Lets them go on; what its owner froze stays.
    pub fn thaw(&self) -> io::Result<()> {
        self.each(|freezer, folder| freezer.thaw(folder)).map(drop)
    }

    /// The same from outside the manager, which may freeze and thaw it at the same time.
    pub fn let_run(&self) -> io::Result<()> {
        self.each(|freezer, folder| freezer.let_run(folder)).map(drop)
    }

    pub fn members(&self) -> io::Result<Vec<Process>> {
        if let Some(group) = self.as_foreign() {
            return Ok(group.members());
        }
        self.each(|freezer, folder| freezer.members(folder)).map(|each| each.concat())
    }

    pub fn threads(&self) -> io::Result<Vec<i32>> {
        if let Some(group) = self.as_foreign() {
            return Ok(group.members().iter().flat_map(Process::threads).collect());
        }
        self.each(|freezer, folder| freezer.threads(folder)).map(|each| each.concat())
    }

    /// The arguments before a program's own that start it in this group.
    pub fn prefix(&self) -> Vec<String> {
        self.ours().map(|(freezer, own)| freezer.prefix(own)).unwrap_or_default()
    }

    /// How it is frozen, and its folder, if it is ours.
    fn ours(&self) -> Option<(Kind, &Folder)> {
        match &self.0 {
            Whose::Frozen { freezer, own, .. } if !self.is_in_place() => Some((*freezer, own)),
            Whose::Frozen { .. } | Whose::Foreign(_) => None,
        }
    }

    /// A program that was started with [`Group::prefix`] has this number.
    pub fn started(&self, pid: i32) -> io::Result<()> {
        self.ours().map_or(Ok(()), |(freezer, own)| freezer.started(own, pid))
    }

    /// Takes in a process that runs already, and all below it.
    pub fn take(&self, pid: i32) -> io::Result<()> {
        self.ours().map_or(Ok(()), |(freezer, own)| freezer.take(own, pid))
    }

    /// Keeps all its threads to these processors. Threads that end meanwhile are no error; how many
    /// may not be kept.
    pub fn keep_to(&self, cpus: &[usize]) -> io::Result<usize> {
        Ok(self
            .threads()?
            .into_iter()
            .filter(|thread| process::keep_thread(*thread, cpus).is_err())
            .count())
    }

    /// Thaws it, moves each process in it to the control group that `home` names,
    /// and takes it away.
    pub fn release(&self, home: impl Fn(&Process) -> Option<PathBuf>) -> io::Result<()> {
        self.thaw()?;
        let Some((freezer, own)) = self.ours() else { return Ok(()) };
        freezer.send_home(own, &home)?;
        self.remove()
    }

    /// Takes it away; its last process must have ended.
    pub fn remove(&self) -> io::Result<()> {
        self.ours().map_or(Ok(()), |(freezer, own)| freezer.remove(own.path()))
    }
}

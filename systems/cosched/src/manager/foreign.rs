//! Door: a control group that somebody else made: where it is, whether it may be managed in place,
//! who is in it and whether its owner has frozen it.
//!
//! Nothing leaves it or joins it for us, and its owner freezes it with the file with which we would.
//! So we never freeze it: it is demoted and promoted, and what else happens to it is its owner's.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::container::Named;
use super::freezer::{self, Kind};
use super::mounts::mounted;
use super::process::{self, Process};
use super::refusal::Refusal;
use super::rights;

/// A group of another's.
#[derive(Debug, Clone)]
pub struct Foreign {
    /// The hierarchy that it is in.
    freezer: Kind,
    /// Where that is mounted.
    root: PathBuf,
    path: PathBuf,
    /// The number of its folder: another group may have its path later.
    inode: u64,
    /// Its folder in each hierarchy that can freeze it, the file that says so there, and how.
    says: Vec<(PathBuf, &'static str, &'static str)>,
}

impl Foreign {
    /// The one that a user calls so: its folder in any hierarchy, or its path
    /// as `/proc/PID/cgroup` shows it.
    ///
    /// Errors: there is none, or none that one may manage.
    pub fn find(text: &Path) -> Result<Foreign, Refusal> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let path = inside(text, &mounts)?;
        let places: Vec<(Kind, PathBuf)> = ["v2", "v1"]
            .into_iter()
            .filter_map(freezer::from_text)
            .flat_map(|kind| kind.places(&mounts).into_iter().map(move |root| (kind, root)))
            .collect();
        let there = places.iter().filter(|(_, root)| root.join(&path).is_dir());
        let all: Vec<Foreign> = there
            .filter_map(|(kind, root)| Foreign::at(*kind, root, &root.join(&path)).ok())
            .collect();
        // On a machine with both versions its processes may be in one of them only.
        let with_processes = all.iter().find(|group| !group.pids().is_empty());
        let Some(found) = with_processes.or(all.first()) else {
            let roots: Vec<String> =
                places.iter().map(|(_, root)| root.display().to_string()).collect();
            return Err(Refusal::NoControlGroup(shown(&path), roots.join(", ")));
        };
        Ok(found.clone())
    }

    /// The one whose folder this is, if it is in a hierarchy that can be frozen.
    pub fn open(path: &Path) -> io::Result<Foreign> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let kinds = ["v2", "v1"].into_iter().filter_map(freezer::from_text);
        let found = kinds
            .flat_map(|kind| kind.places(&mounts).into_iter().map(move |root| (kind, root)))
            .find(|(_, root)| path.starts_with(root) && is_plain(path));
        let (kind, root) = found.ok_or(io::ErrorKind::NotFound)?;
        Foreign::at(kind, &root, path)
    }

    pub(super) fn at(freezer: Kind, root: &Path, path: &Path) -> io::Result<Foreign> {
        let inode = fs::metadata(path)?.ino();
        let own = path.strip_prefix(root).unwrap_or(path);
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let of = |kind: &'static str, file: &'static str, word: &'static str| {
            let kind = freezer::from_text(kind).expect("it is one of them");
            kind.places(&mounts).into_iter().map(move |root| (root.join(own), file, word))
        };
        // Source: the kernel's cgroup-v2.rst and cgroup-v1/freezer-subsystem.rst.
        let v2 = of("v2", "cgroup.events", "frozen 1");
        let says = v2.chain(of("v1", "freezer.state", "FR")).collect();
        Ok(Foreign { freezer, root: root.to_owned(), path: path.to_owned(), inode, says })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its path as `/proc/PID/cgroup` shows it, without the first `/`.
    pub fn path_inside(&self) -> &Path {
        self.path.strip_prefix(&self.root).unwrap_or(&self.path)
    }

    /// What users call it.
    pub fn name(&self) -> String {
        let last = || self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Named::of(self.path_inside()).text().unwrap_or_else(last)
    }

    /// True if its folder is gone, or another group has its path.
    pub fn is_gone(&self) -> bool {
        fs::metadata(&self.path).map_or(true, |folder| folder.ino() != self.inode)
    }

    /// True if its owner has frozen it, what it is in, or all inside it that has processes: some
    /// runtimes keep a container's processes in a group of its own below, and freeze that.
    pub fn is_frozen(&self) -> bool {
        self.says.iter().any(|(folder, file, word)| is_frozen(folder, file, word))
    }

    /// True if this process is in it, or in a group below it.
    pub fn has(&self, pid: i32) -> bool {
        self.freezer.home(pid, &self.root).is_some_and(|home| home.starts_with(&self.path))
    }

    /// Its processes and those of all groups below it; one outside our process namespace is 0.
    pub fn pids(&self) -> Vec<i32> {
        pids_below(&self.path)
    }

    pub fn members(&self) -> Vec<Process> {
        self.pids().into_iter().filter(|pid| *pid > 0).filter_map(Process::find).collect()
    }

    /// The folder of this group that the cpu controller of version 1 has, if it has the same
    /// processes as this one.
    ///
    /// Errors: there is none, or others are in it too.
    pub fn for_cpu(&self) -> Result<PathBuf, String> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let is_cpu = |kind: &str, options: &str| {
            kind == "cgroup" && options.split(',').any(|part| part == "cpu")
        };
        let root =
            mounted(&mounts, is_cpu).into_iter().next().ok_or("no cpu controller is mounted")?;
        let folder = root.join(self.path_inside());
        if !folder.is_dir() {
            return Err(format!("the cpu controller has no group {}", folder.display()));
        }
        if let Some(pid) = pids_below(&folder).into_iter().find(|pid| !self.has(*pid)) {
            return Err(format!("{} has process {pid}, which is not in it", folder.display()));
        }
        let is_outside = |pid: &i32| {
            process::control_group(*pid, &root, "cpu")
                .is_some_and(|home| !home.starts_with(&folder))
        };
        match self.pids().into_iter().find(is_outside) {
            Some(pid) => Err(format!("its process {pid} is not in {}", folder.display())),
            None => Ok(folder),
        }
    }
}

/// It leads down alone.
fn is_plain(path: &Path) -> bool {
    !path.components().any(|part| part == Component::ParentDir)
}

/// The number of a group's folder; none if it is gone.
pub fn inode(folder: &Path) -> Option<u64> {
    fs::metadata(folder).ok().map(|folder| folder.ino())
}

/// The kernel calls a group frozen that was frozen itself or is in one that was, and not one in
/// which all groups are.
fn is_frozen(folder: &Path, file: &str, word: &str) -> bool {
    let says = fs::read_to_string(folder.join(file)).unwrap_or_default();
    if says.lines().any(|line| line.starts_with(word)) {
        return true;
    }
    let has_none = |folder: &Path| {
        rights::read(folder, "cgroup.procs").is_ok_and(|text| text.trim().is_empty())
    };
    if !has_none(folder) {
        return false;
    }
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let inside: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .filter(|folder| !pids_below(folder).is_empty())
        .collect();
    !inside.is_empty() && inside.iter().all(|folder| is_frozen(folder, file, word))
}

/// The processes in a group and below it.
fn pids_below(folder: &Path) -> Vec<i32> {
    let text = rights::read(folder, "cgroup.procs").unwrap_or_default();
    let mut found: Vec<i32> = text.lines().filter_map(|line| line.parse().ok()).collect();
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(pids_below(&entry.path()));
        }
    }
    found
}

/// As `/proc/PID/cgroup` shows it.
pub fn shown(path: &Path) -> String {
    format!("/{}", path.display())
}

/// The path of a group inside its hierarchy, whichever way it is named.
fn inside(text: &Path, mounts: &str) -> Result<PathBuf, Refusal> {
    // Names such as /sys/fs/cgroup/cpu may be links.
    let text = fs::canonicalize(text).unwrap_or_else(|_| text.to_owned());
    let mut roots = mounted(mounts, |kind, _| kind == "cgroup" || kind == "cgroup2");
    // Of one that is mounted below another the longer path counts.
    roots.sort_by_key(|root| std::cmp::Reverse(root.as_os_str().len()));
    let below = roots.iter().find_map(|root| text.strip_prefix(root).ok());
    let path: PathBuf = match below {
        Some(below) => below.to_owned(),
        None => text.strip_prefix("/").unwrap_or(&text).to_owned(),
    };
    if path.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(Refusal::NoControlGroup(text.display().to_string(), "any hierarchy".into()));
    }
    if path.as_os_str().is_empty() {
        return Err(Refusal::AllGroups);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                          cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    #[test]
    fn a_group_has_one_path_however_it_is_named() {
        for text in [
            "/sys/fs/cgroup/unified/no.slice/none.scope",
            "/sys/fs/cgroup/cpu/no.slice/none.scope",
            "/no.slice/none.scope",
            "no.slice/none.scope",
        ] {
            let path = inside(Path::new(text), MOUNTS).expect("it is one");
            assert_eq!(path, Path::new("no.slice/none.scope"), "{text}");
        }
    }

    #[test]
    fn what_is_no_group_of_its_own_is_refused() {
        let refused = |text: &str| inside(Path::new(text), MOUNTS).expect_err("refused");
        assert_eq!(refused("/sys/fs/cgroup/unified/"), Refusal::AllGroups);
        assert_eq!(refused("/"), Refusal::AllGroups);
        assert!(matches!(refused("none/../none"), Refusal::NoControlGroup(..)));
        let said = Foreign::find(Path::new("/none-of-this-name")).expect_err("refused").to_string();
        assert!(said.contains("/none-of-this-name"), "{said}");
    }

    #[test]
    fn a_container_is_paused_if_all_inside_its_scope_is() {
        let scope = tempfile::tempdir().expect("a scratch folder");
        let scope = scope.path();
        let says = |group: &str, procs: &str, frozen: &str| {
            let folder = scope.join(group);
            fs::create_dir_all(&folder).expect("a scratch folder");
            fs::write(folder.join("cgroup.procs"), procs).expect("a scratch file");
            let events = format!("populated 1\nfrozen {frozen}\n");
            fs::write(folder.join("cgroup.events"), events).expect("a scratch file");
        };
        let paused = || is_frozen(scope, "cgroup.events", "frozen 1");
        says("", "", "0");
        assert!(!paused(), "nobody is in it");
        // As crun does: the scope has a group `container` inside.
        says("container", "7\n", "0");
        assert!(!paused());
        says("container", "7\n", "1");
        assert!(paused());
        says("empty", "", "0");
        assert!(paused());
        says("exec", "8\n", "0");
        assert!(!paused(), "something runs");
        says("exec", "", "0");
        says("", "9\n", "0");
        assert!(!paused(), "its first process runs");
        says("", "9\n", "1");
        assert!(paused(), "its owner froze it whole");
    }
}

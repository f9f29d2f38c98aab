//! `cgroup.freeze` of version 2: a frozen program keeps its memory and does not see that it was
//! frozen.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::mounts::mounted;
use super::{Folder, Freezer, numbers, process, rights};

#[derive(Debug)]
pub struct V2;

impl Freezer for V2 {
    fn text(&self) -> &'static str {
        "v2"
    }

    fn name(&self) -> &'static str {
        "cgroup v2 freezer"
    }

    fn look_every(&self) -> Duration {
        Duration::from_millis(10)
    }

    fn places(&self, mounts: &str) -> Vec<PathBuf> {
        mounted(mounts, |kind, _| kind == "cgroup2")
    }

    fn home(&self, pid: i32, root: &Path) -> Option<PathBuf> {
        process::control_group(pid, root, "0")
    }

    fn open(&self, folder: &Path) -> io::Result<File> {
        rights::open(folder, "cgroup.freeze")
    }

    fn freeze(&self, folder: &Folder) -> io::Result<()> {
        folder.state().write_all_at(b"1", 0)
    }

    fn thaw(&self, folder: &Folder) -> io::Result<()> {
        folder.state().write_all_at(b"0", 0)
    }

    fn threads(&self, folder: &Folder) -> io::Result<Vec<i32>> {
        numbers(folder.path(), "cgroup.threads")
    }
}

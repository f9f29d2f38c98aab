//! `freezer.state` of version 1: as version 2, of which it is the elder.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::mounts::mounted;
use super::{Folder, Freezer, numbers, process, rights};

#[derive(Debug)]
pub struct V1;

impl Freezer for V1 {
    fn text(&self) -> &'static str {
        "v1"
    }

    fn name(&self) -> &'static str {
        "cgroup v1 freezer"
    }

    /// Each process of a program has to be read.
    fn look_every(&self) -> Duration {
        Duration::from_millis(20)
    }

    fn places(&self, mounts: &str) -> Vec<PathBuf> {
        mounted(mounts, |kind, options| {
            kind == "cgroup" && options.split(',').any(|part| part == "freezer")
        })
    }

    fn home(&self, pid: i32, root: &Path) -> Option<PathBuf> {
        process::control_group(pid, root, "freezer")
    }

    fn open(&self, folder: &Path) -> io::Result<File> {
        rights::open(folder, "freezer.state")
    }

    fn freeze(&self, folder: &Folder) -> io::Result<()> {
        folder.state().write_all_at(b"FROZEN", 0)
    }

    fn thaw(&self, folder: &Folder) -> io::Result<()> {
        folder.state().write_all_at(b"THAWED", 0)
    }

    fn threads(&self, folder: &Folder) -> io::Result<Vec<i32>> {
        numbers(folder.path(), "tasks")
    }
}

//! Door: scratch folders that go when they are dropped, and when the program is interrupted.

use std::io;
use std::path::Path;

use crate::interrupt;

/// A folder of our own.
#[derive(Debug)]
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Here, not in the field's own drop, so that an interrupt meanwhile still knows of it. What
        // cannot be removed now cannot be removed at all.
        let _ = std::fs::remove_dir_all(self.0.path());
        interrupt::forget(self.0.path());
    }
}

/// A new folder in the system's folder for scratch files.
pub fn folder() -> io::Result<Folder> {
    folder_in(&std::env::temp_dir())
}

/// A new folder in `parent`, from where its files can be renamed to their place.
pub fn folder_in(parent: &Path) -> io::Result<Folder> {
    let make = || tempfile::Builder::new().prefix("meanwhile-").tempdir_in(parent);
    interrupt::remembered(make, tempfile::TempDir::path)
        .map(Folder)
        .map_err(|error| crate::file::of_folder(&error, parent))
}

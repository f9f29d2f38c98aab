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

/// Where one is made if the system's folder for scratch files is not there or full: a build server
/// may have none, and a container only memory.
const ELSEWHERE: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// A new folder in the system's folder for scratch files, or where else one can be made.
///
/// Errors: what the system's folder said.
pub fn folder() -> io::Result<Folder> {
    first_of(&std::env::temp_dir(), &ELSEWHERE)
}

fn first_of(wanted: &Path, elsewhere: &[&str]) -> io::Result<Folder> {
    let others = || elsewhere.iter().find_map(|other| folder_in(Path::new(other)).ok());
    folder_in(wanted).or_else(|error| others().ok_or(error))
}

/// A new folder in `parent`, from where its files can be renamed to their place.
pub fn folder_in(parent: &Path) -> io::Result<Folder> {
    let make = || tempfile::Builder::new().prefix("meanwhile-").tempdir_in(parent);
    interrupt::remembered(make, tempfile::TempDir::path)
        .map(Folder)
        .map_err(|error| of_folder(&error, parent))
}

/// What is wrong with a folder in which a file or folder of ours could not be made, without the
/// name that we gave it.
pub(crate) fn of_folder(error: &io::Error, folder: &Path) -> io::Error {
    let what = match error.kind() {
        io::ErrorKind::NotFound => format!("there is no folder {}", folder.display()),
        io::ErrorKind::NotADirectory => format!("{} is no folder", folder.display()),
        io::ErrorKind::PermissionDenied => {
            format!("the folder {} may not be written", folder.display())
        }
        kind => return io::Error::from(kind),
    };
    io::Error::new(error.kind(), what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_folder_for_scratch_files_another_is_taken() {
        let there = tempfile::tempdir().expect("a scratch folder");
        let text = there.path().to_str().expect("a path of text");
        let nowhere = Path::new("/nonexistent");
        let found = first_of(nowhere, &["/nonexistent/too", text]).expect("one is there");
        assert_eq!(found.path().parent(), Some(there.path()));
        let error = first_of(nowhere, &[]).expect_err("there is none");
        assert!(error.to_string().contains("/nonexistent"), "{error}");
    }
}

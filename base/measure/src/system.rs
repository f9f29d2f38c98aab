//! Door: what Unix alone has: owners and modes of folders, groups of processes, ticks.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// True if `folder` is there and may be written, or could be made.
pub fn can_be_written(folder: &Path) -> bool {
    let present = folder.ancestors().find(|place| place.exists());
    present.is_some_and(|place| rustix::fs::access(place, rustix::fs::Access::WRITE_OK).is_ok())
}

/// A folder of this user alone among the temporary files, whose name begins so.
///
/// Errors: what could not be done with which folder, and why.
pub fn own_folder(name: &str) -> Result<PathBuf, (&'static str, PathBuf, io::Error)> {
    let user = rustix::process::geteuid().as_raw();
    let named = std::env::temp_dir().join(format!("{name}-{user}"));
    match std::fs::DirBuilder::new().mode(0o700).create(&named) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(("create", named, error));
        }
        _ => {}
    }
    let found = match named.symlink_metadata() {
        Ok(found) => found,
        Err(error) => return Err(("read", named, error)),
    };
    if found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0 {
        return Ok(named);
    }
    let why = "it is another user's, or others may write into it; set MEANWHILE_CACHE to a folder of your own";
    Err(("use", named, io::Error::other(why)))
}

/// True if `path` is a program that somebody may start.
pub fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// What `command` starts, and the children of that, will be a group of processes.
pub fn in_own_group(command: &mut Command) {
    command.process_group(0);
}

pub fn kill_group(child: &Child) {
    let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(id) = id {
        // The child has not been waited for, so its id cannot belong to another process yet.
        let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
    }
}

/// The unit of processor time in `/proc`.
pub fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}

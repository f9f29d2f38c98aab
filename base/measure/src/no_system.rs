//! What stands for `system` and `interrupt` where there is no operating system, as in a browser:
//! no process starts and no file is written there, so nothing has to be ended or removed.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

pub fn can_be_written(_folder: &Path) -> bool {
    false
}

pub fn own_folder(name: &str) -> Result<PathBuf, (&'static str, PathBuf, io::Error)> {
    Err(("create", PathBuf::from(name), io::ErrorKind::Unsupported.into()))
}

pub fn is_program(_path: &Path) -> bool {
    false
}

pub fn in_own_group(_command: &mut Command) {}

pub fn kill_group(_child: &Child) {}

pub fn ticks_per_second() -> u64 {
    1
}

pub mod interrupt {
    use std::io;
    use std::path::Path;
    use std::process::{Child, Command};

    pub fn hold() {}

    pub fn remembered<T>(
        make: impl FnOnce() -> io::Result<T>,
        _path: impl Fn(&T) -> &Path,
    ) -> io::Result<T> {
        make()
    }

    pub fn forget(_path: &Path) {}

    pub fn spawn(command: &mut Command) -> io::Result<Child> {
        command.spawn()
    }
}

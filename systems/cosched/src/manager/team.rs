//! Door: the page that a manager and an OpenMP program share, and the library that reads it there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::tool::{self, ToolError};

/// The library's source.
const SOURCE: &str = include_str!("../../preload/team.c");
/// Bytes of the page that are used: team (4), attached (4), progress (8).
const BYTES: u64 = 16;

/// Compiles the library into `folder`; its path.
///
/// # Errors
/// What was run, and what it said.
pub fn library(folder: &Path) -> Result<PathBuf, ToolError> {
    let io_error = |what: &str, error: io::Error| ToolError { ran: format!("{what} in {}", folder.display()), said: error.to_string() };
    let (source, made) = (folder.join("team.c"), folder.join("team.so"));
    std::fs::write(&source, SOURCE).map_err(|error| io_error("write team.c", error))?;
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-O2", "-fPIC", "-shared", "-o"]).arg(&made).arg(&source).arg("-ldl");
    tool::run(&mut command, &[], Duration::from_secs(60))?.ok()?;
    Ok(made)
}

/// A page.
#[derive(Debug)]
pub struct Page {
    file: File,
    path: PathBuf,
}

impl Page {
    /// A new page; 0 threads: as the program wants.
    pub fn create(path: &Path) -> io::Result<Page> {
        let file = OpenOptions::new().create_new(true).read(true).write(true).open(path)?;
        file.set_len(BYTES)?;
        Ok(Page { file, path: path.to_owned() })
    }

    /// Its file, for `MEANWHILE_TEAM`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Threads of the next region.
    pub fn set_team(&self, n: u32) -> io::Result<()> {
        self.file.write_all_at(&n.to_ne_bytes(), 0)
    }

    /// True if the program's OpenMP runtime asks for the team.
    pub fn is_followed(&self) -> bool {
        let mut bytes = [0; 4];
        self.file.read_exact_at(&mut bytes, 4).is_ok() && u32::from_ne_bytes(bytes) == 2
    }

    /// Regions that began, or what the program counts.
    pub fn progress(&self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, 8)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

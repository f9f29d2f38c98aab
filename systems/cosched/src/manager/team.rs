//! Door: the page that a manager and an OpenMP program share, and the library that reads it there.

use std::fs::{File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::tool::{self, ToolError};

/// The library's source.
const SOURCE: &str = include_str!("../../preload/team.c");
/// Bytes of the page that are used: team (4), attached (4), progress (8), turns (8).
const BYTES: u64 = 24;

/// The library in `folder`, compiled if it is not there yet; its path.
///
/// # Errors
/// What was run, and what it said.
pub fn library(folder: &Path) -> Result<PathBuf, ToolError> {
    let io_error = |what: &str, error: io::Error| ToolError { ran: format!("{what} in {}", folder.display()), said: error.to_string() };
    let mut hasher = std::hash::DefaultHasher::new();
    SOURCE.hash(&mut hasher);
    let made = folder.join(format!("team-{:016x}.so", hasher.finish()));
    if made.is_file() {
        return Ok(made);
    }
    // Two managers may start at once: each makes its own, and the last one stays.
    let own = |end: &str| folder.join(format!("team-{}.{end}", std::process::id()));
    std::fs::write(own("c"), SOURCE).map_err(|error| io_error("write team.c", error))?;
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-O2", "-fPIC", "-shared", "-o"]).arg(own("so")).arg(own("c")).arg("-ldl");
    let ran = tool::run(&mut command, &[], Duration::from_secs(60)).and_then(tool::Ran::ok);
    let _ = std::fs::remove_file(own("c"));
    ran?;
    std::fs::rename(own("so"), &made).map_err(|error| io_error("rename team.so", error))?;
    Ok(made)
}

/// Lets all programs with a page in `folder` have the threads they want.
pub fn free(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|it| it.file_name().to_string_lossy().starts_with(PAGE)) {
        // The manager is dead: what fails here is in nobody's way.
        if let Ok(file) = OpenOptions::new().write(true).open(entry.path()) {
            let _ = file.write_all_at(&0u32.to_ne_bytes(), 0);
        }
    }
}

/// How the names of pages begin.
const PAGE: &str = "page-";

/// Where the page of a program is.
pub fn page_path(folder: &Path, id: u64) -> PathBuf {
    folder.join(format!("{PAGE}{id}"))
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
        // Room for all of it now: what is written later never fails.
        if let Err(error) = file.write_all_at(&[0; BYTES as usize], 0) {
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
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

    /// How many quanta the program had so far.
    pub fn set_turns(&self, n: u64) -> io::Result<()> {
        self.file.write_all_at(&n.to_ne_bytes(), 16)
    }
}

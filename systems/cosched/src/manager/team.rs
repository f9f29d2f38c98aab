//! Door: the page that a manager and an OpenMP program share, and the library that reads it there.

use std::fs::{File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::users;

/// The library, as `build.rs` compiled it.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/team.so"));
/// Bytes of the page that are used: team (4), attached (4), progress (8), turns (8).
const BYTES: u64 = 24;

/// Where the library is, for children too that become other users, and programs that outlive their
/// manager: in a folder that all may enter and only this user writes to.
pub fn library_folder() -> PathBuf {
    let own = nix::unistd::geteuid();
    if own.is_root() {
        "/run/meanwhile-team".into()
    } else {
        format!("/tmp/meanwhile-team-{own}").into()
    }
}

/// The library in `folder`, written if it is not there yet; its path.
///
/// Errors: the folder is somebody else's, or there is no room.
pub fn library(folder: &Path) -> io::Result<PathBuf> {
    users::folder(folder)?;
    let mut hasher = std::hash::DefaultHasher::new();
    LIBRARY.hash(&mut hasher);
    let made = folder.join(format!("team-{:016x}.so", hasher.finish()));
    if made.is_file() {
        return Ok(made);
    }
    // Two managers may start at once: each writes its own, and the last one stays.
    let own = folder.join(format!("team-{}.so", std::process::id()));
    let write = || {
        std::fs::write(&own, LIBRARY)?;
        // Whatever the mask of new files is here.
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o644))?;
        std::fs::rename(&own, &made)
    };
    write().inspect_err(|_| {
        // What of it was written, if anything.
        let _ = std::fs::remove_file(&own);
    })?;
    Ok(made)
}

/// Lets all programs with a page in `folder` have the threads they want.
pub fn free(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PAGE)) {
        // The manager is dead: what fails here is in no one's way.
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

    /// It belongs to this user now, and nobody else reads it.
    pub(super) fn give_to(&self, uid: u32, gid: u32) -> io::Result<()> {
        self.file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        std::os::unix::fs::fchown(&self.file, Some(uid), Some(gid))
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

//! Door: what took long to make is kept: compiled programs, images, plugins, each named by a hash
//! of all that it was made from.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::tool::ToolError;
use crate::{scratch, system};

/// What a kept file is made from: sources, flags, the versions of the tools. Two of the same parts
/// in the same order are the same.
#[derive(Debug, Clone, Default)]
pub struct Key(Sha256);

impl Key {
    /// With one more part.
    #[must_use]
    pub fn with(mut self, part: impl AsRef<[u8]>) -> Key {
        let part = part.as_ref();
        // So that `a` and `bc` are not `ab` and `c`.
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// What a file of this key is named by.
    pub fn name(self) -> String {
        self.0.finalize().iter().take(16).map(|found| format!("{found:02x}")).collect()
    }
}

/// Where the files of the system `of` are kept: below `$MEANWHILE_CACHE`, else in the user's cache
/// folder; for a user without a home that can be written, as builders of packages are, below the
/// folder for temporary files.
///
/// Errors: the last one belongs to another user: what is kept is loaded and run.
pub fn folder(of: &str) -> Result<PathBuf, ToolError> {
    let under = |name: &str, rest: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(|value| PathBuf::from(value).join(rest).join(of))
    };
    if let Some(asked) = under("MEANWHILE_CACHE", "") {
        return Ok(asked);
    }
    let users = under("XDG_CACHE_HOME", "meanwhile").or_else(|| under("HOME", ".cache/meanwhile"));
    if let Some(folder) = users.filter(|folder| system::can_be_written(folder)) {
        return Ok(folder);
    }
    let own = system::own_folder("meanwhile-cache");
    own.map(|own| own.join(of)).map_err(|(what, path, error)| failed(what, &path, &error))
}

/// The file of this key, if it is kept.
pub fn find(system: &str, key: Key, ending: &str) -> Option<PathBuf> {
    folder(system)
        .ok()
        .map(|folder| folder.join(format!("{}{ending}", key.name())))
        .filter(|path| path.exists())
}

/// The file of this key, made by `make(scratch folder, file)` if it is not kept yet. It comes to
/// its place as a whole, or not at all; others that ask for it while it is being made wait. `make`
/// may not ask for another one, which could have the same lock.
///
/// Errors: those of `make`, and if the folder cannot be written.
pub fn kept(
    system: &str,
    key: Key,
    ending: &str,
    make: impl FnOnce(&Path, &Path) -> Result<(), ToolError>,
) -> Result<PathBuf, ToolError> {
    let name = key.name();
    let folder = folder(system)?;
    let path = folder.join(format!("{name}{ending}"));
    if path.exists() {
        return Ok(path);
    }
    std::fs::create_dir_all(&folder).map_err(|error| failed("create", &folder, &error))?;
    // One of 256 locks, so that they do not become as many as the files. Where a file system has
    // none, two may make the same.
    let lock = std::fs::File::create(folder.join(format!("{}.lock", &name[..2])));
    let held = lock.and_then(|file| file.lock().map(|()| file));
    if path.exists() {
        return Ok(path);
    }
    let scratch = scratch::folder_in(&folder)
        .map_err(|error| failed("create a folder in", &folder, &error))?;
    let made = scratch.path().join(format!("made{ending}"));
    make(scratch.path(), &made)?;
    std::fs::rename(&made, &path).map_err(|error| failed("keep", &path, &error))?;
    drop(held);
    Ok(path)
}

/// Writes one of the files that something is made from.
///
/// Errors: if it cannot be written, with its path.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), ToolError> {
    std::fs::write(path, bytes).map_err(|error| failed("write", path, &error))
}

fn failed(what: &str, path: &Path, error: &io::Error) -> ToolError {
    ToolError { ran: format!("{what} {}", path.display()), said: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        let name =
            |parts: &[&str]| parts.iter().fold(Key::default(), |key, it| key.with(it)).name();
        assert_eq!(name(&["a", "bc"]), name(&["a", "bc"]));
        let all = [
            name(&[]),
            name(&[""]),
            name(&["a", "bc"]),
            name(&["ab", "c"]),
            name(&["abc"]),
            name(&["abc", ""]),
        ];
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}

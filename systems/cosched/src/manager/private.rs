//! Door: folders that only their owner may enter.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Makes the folder if it is not there, for its owner only.
///
/// # Errors
/// It belongs to somebody else, others may enter it, or it is no folder.
pub fn folder(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // A link could lead into a folder of somebody else.
    let it = fs::symlink_metadata(path)?;
    let own = nix::unistd::geteuid().as_raw();
    let fault = if !it.is_dir() {
        Some("it is no folder".to_owned())
    } else if it.uid() != own {
        Some(format!("it belongs to user {}, not to user {own}", it.uid()))
    } else if it.mode() & 0o077 != 0 {
        Some(format!("others may enter it (mode {:o}, not 700)", it.mode() & 0o777))
    } else {
        None
    };
    fault.map_or(Ok(()), |fault| Err(io::Error::new(io::ErrorKind::PermissionDenied, fault)))
}

/// Where this user's sockets, libraries and pages are: in `XDG_RUNTIME_DIR`, else in the folder for scratch files.
pub fn runtime() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|it| !it.is_empty()) {
        Some(it) => PathBuf::from(it).join("meanwhile"),
        None => std::env::temp_dir().join(format!("meanwhile-{}", nix::unistd::geteuid())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn folders_that_others_may_enter_are_refused() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("own");
        folder(&path).expect("it is new");
        folder(&path).expect("it is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).expect("it is ours");
        let error = folder(&path).expect_err("a group may enter");
        assert_eq!(error.to_string(), "others may enter it (mode 750, not 700)");
        let link = scratch.path().join("link");
        std::os::unix::fs::symlink("/", &link).expect("a link");
        assert_eq!(folder(&link).expect_err("a link").to_string(), "it is no folder");
    }
}

//! Door: folders that only their owner may enter, and where they are: nobody else can take their
//! place.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long the lock of the folder for scratch files is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Makes the folder if it is not there, for its owner only.
///
/// Errors: it belongs to somebody else, others may enter it, or it is no folder.
pub fn folder(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    fault(path)?.map_or(Ok(()), |fault| Err(io::Error::new(io::ErrorKind::PermissionDenied, fault)))
}

/// What is wrong with a folder that should be this user's alone, if it is there.
fn fault(path: &Path) -> io::Result<Option<String>> {
    // A link could lead into a folder of somebody else.
    let it = fs::symlink_metadata(path)?;
    let own = nix::unistd::geteuid().as_raw();
    Ok(if !it.is_dir() {
        Some("it is no folder".to_owned())
    } else if it.uid() != own {
        Some(format!("it belongs to user {}, not to user {own}", it.uid()))
    } else if it.mode() & 0o077 != 0 {
        Some(format!("others may enter it (mode {:o}, not 700)", it.mode() & 0o777))
    } else {
        None
    })
}

/// Where this user's sockets, libraries and pages are, and a sentence for each place
/// that was passed over.
///
/// In `XDG_RUNTIME_DIR` if that is this user's, else in the folder for scratch files, where another
/// user may have made `meanwhile-UID` first: then in a folder beside it whose name nobody can know
/// before, found again by its owner and mode.
pub fn choose() -> (PathBuf, Vec<String>) {
    let given =
        std::env::var_os("XDG_RUNTIME_DIR").filter(|value| !value.is_empty()).map(PathBuf::from);
    choose_in(given.as_deref(), &std::env::temp_dir())
}

/// The same, without the sentences.
pub fn runtime() -> PathBuf {
    choose().0
}

fn choose_in(given: Option<&Path>, scratch: &Path) -> (PathBuf, Vec<String>) {
    let own = nix::unistd::geteuid().as_raw();
    let mut passed_over = Vec::new();
    if let Some(given) = given {
        match fs::metadata(given).map(|found| found.uid()) {
            Ok(uid) if uid == own => return (given.join("meanwhile"), passed_over),
            Ok(uid) => passed_over.push(format!(
                "XDG_RUNTIME_DIR, {}: it belongs to user {uid}, not to user {own}",
                given.display()
            )),
            Err(error) => {
                passed_over.push(format!("XDG_RUNTIME_DIR, {}: {error}", given.display()))
            }
        }
    }
    let name = format!("meanwhile-{own}");
    let usual = scratch.join(&name);
    let is_others = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir() || found.uid() != own)
    };
    if !is_others(&usual) {
        return (usual, passed_over);
    }
    passed_over.push(format!(
        "{}: {}",
        usual.display(),
        fault(&usual).ok().flatten().unwrap_or_default()
    ));
    let beside =
        |name_of_it: &str| name_of_it.strip_prefix(&name).is_some_and(|rest| rest.starts_with('.'));
    let found = || {
        let entries = fs::read_dir(scratch).into_iter().flatten().flatten();
        let ours = entries
            .filter(|entry| entry.file_name().to_str().is_some_and(beside))
            .map(|entry| entry.path());
        ours.filter(|path| matches!(fault(path), Ok(None))).min()
    };
    // Another one that was made meanwhile, or this one: whoever looks finds the same.
    let fresh = || {
        let _one_at_a_time = alone(scratch);
        found().or_else(|| {
            let random = RandomState::new().build_hasher().finish();
            let path = scratch.join(format!("{name}.{random:016x}"));
            folder(&path).ok().map(|()| path)
        })
    };
    (found().or_else(fresh).unwrap_or(usual), passed_over)
}

/// The lock of a folder, for as long as the file lives. Anybody may hold it, so that it is waited
/// for no longer than `PATIENCE`: without it two who choose at once may choose two folders.
fn alone(folder: &Path) -> Option<fs::File> {
    let file = fs::File::open(folder).ok()?;
    let until = Instant::now() + PATIENCE;
    while let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
        if Instant::now() > until {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
    Some(file)
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

    #[test]
    fn a_folder_that_somebody_else_made_first_locks_nobody_out() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let usual = scratch.path().join(format!("meanwhile-{}", nix::unistd::geteuid()));
        assert_eq!(choose_in(None, scratch.path()), (usual.clone(), Vec::new()));
        // A link is nobody's folder, whoever made it.
        std::os::unix::fs::symlink("/", &usual).expect("a link");
        let (first, passed_over) = choose_in(None, scratch.path());
        assert!(
            first != usual && passed_over[0].ends_with("it is no folder"),
            "{first:?} {passed_over:?}"
        );
        folder(&first).expect("it is ours alone");
        // Whoever asks later finds the same one, whatever others put beside it.
        std::os::unix::fs::symlink(
            "/",
            scratch.path().join(format!("meanwhile-{}.0", nix::unistd::geteuid())),
        )
        .expect("a link");
        assert_eq!(choose_in(None, scratch.path()).0, first);
        // A run-time folder that is not there is passed over as well.
        let (found, passed_over) = choose_in(Some(&scratch.path().join("none")), scratch.path());
        assert!(
            found == first
                && passed_over.len() == 2
                && passed_over[0].starts_with("XDG_RUNTIME_DIR"),
            "{passed_over:?}"
        );
        assert_eq!(
            choose_in(Some(scratch.path()), scratch.path()).0,
            scratch.path().join("meanwhile")
        );
    }

    /// Without the lock a folder that is made a moment later, with a lesser name, is what everyone
    /// who asks finds, and the daemon is in the other.
    #[test]
    fn all_who_choose_at_once_choose_the_same() {
        for _ in 0..50 {
            let scratch = tempfile::tempdir().expect("a scratch folder");
            let usual = scratch.path().join(format!("meanwhile-{}", nix::unistd::geteuid()));
            std::os::unix::fs::symlink("/", &usual).expect("a link is nobody's folder");
            let chosen: Vec<PathBuf> = thread::scope(|scope| {
                let all: Vec<_> =
                    (0..8).map(|_| scope.spawn(|| choose_in(None, scratch.path()).0)).collect();
                all.into_iter().map(|one| one.join().expect("it chooses")).collect()
            });
            assert!(chosen.iter().all(|path| *path == chosen[0]), "{chosen:?}");
        }
    }

    /// Whoever keeps the lock for ever delays the others, and no more.
    #[test]
    fn a_lock_that_somebody_keeps_locks_nobody_out() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let kept = fs::File::open(scratch.path()).expect("a folder opens");
        kept.lock().expect("nobody has it");
        let usual = scratch.path().join(format!("meanwhile-{}", nix::unistd::geteuid()));
        std::os::unix::fs::symlink("/", &usual).expect("a link is nobody's folder");
        let (first, _) = choose_in(None, scratch.path());
        assert!(first != usual && first == choose_in(None, scratch.path()).0, "{first:?}");
    }
}

//! Door: the one place that writes files a user named.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::{interrupt, scratch};

/// Links followed before a chain is taken for a circle, as the kernel does.
const N_LINKS_MAX: usize = 40;

/// Makes `bytes` the content of what `path` names.
///
/// - A regular file has either its old content or all of the new one. Mode and owner stay, a
///   symbolic link goes on pointing to it, and all its names (hard links) see the new content.
/// - A device, a pipe and the process's own streams (`/dev/stdout`, `/dev/fd/N`) are written to.
/// - A new file gets the mode that the umask leaves.
///
/// Errors: what the operating system says. Nothing new stays on the disk then.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = match followed(path)? {
        Target::Output => return through(io::stdout().lock(), bytes),
        Target::Errors => return through(io::stderr().lock(), bytes),
        Target::Open(path) => return stream(&path, bytes),
        Target::File(path) => path,
    };
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => replace(&path, bytes, None),
        Err(error) => Err(error),
        Ok(old) if old.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(old) if !old.is_file() => stream(&path, bytes),
        Ok(old) => {
            // A file that its own mode protects is refused, although its folder would let us
            // replace it.
            let file = OpenOptions::new().write(true).open(&path)?;
            if old.nlink() > 1 || replace(&path, bytes, Some(&old)).is_err() {
                return in_place(file, &old, bytes);
            }
            Ok(())
        }
    }
}

/// True if [`write`] would write to our own standard output.
pub fn is_standard_output(path: &Path) -> bool {
    matches!(followed(path), Ok(Target::Output))
}

/// Makes the folder that `path` will be in, and those above it, if they are missing.
///
/// Errors: what the operating system says.
pub fn create_folder_of(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| match error.kind() {
        // Said of a file in the way, and it sounds as if nothing were wrong.
        io::ErrorKind::AlreadyExists => io::Error::from(rustix::io::Errno::NOTDIR),
        _ => error,
    })
}

/// Refuses now what [`write`] would refuse later, and changes nothing. For work that takes
/// long before it writes.
///
/// Errors: the folder is missing or may not be written, or `path` is a folder or a file that
/// may not be written.
pub fn check_writable(path: &Path) -> io::Result<()> {
    let Target::File(path) = followed(path)? else { return Ok(()) };
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            beside(&path).map(|beside| interrupt::forget(beside.path()))
        }
        Err(error) => Err(error),
        Ok(old) if old.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        // Opening a pipe waits for its reader; a device may act on being opened.
        Ok(old) if !old.is_file() => Ok(()),
        Ok(_) => OpenOptions::new().write(true).open(&path).map(drop),
    }
}

/// What a path stands for after its symbolic links.
enum Target {
    /// Our own standard output. Opened by its name again, a file after it would be
    /// written from the start.
    Output,
    /// Our own standard error.
    Errors,
    /// A link of `/proc`, which is an open file and not a name.
    Open(PathBuf),
    /// A name, of something or of nothing yet.
    File(PathBuf),
}

fn followed(path: &Path) -> io::Result<Target> {
    let mut path = path.to_owned();
    for _ in 0..N_LINKS_MAX {
        if !fs::symlink_metadata(&path).is_ok_and(|symlink_metadata| symlink_metadata.is_symlink())
        {
            return Ok(Target::File(path));
        }
        let folder = folder_of(&path).canonicalize()?;
        if folder.starts_with("/proc") {
            let is_ours = folder == Path::new(&format!("/proc/{}/fd", std::process::id()));
            return Ok(match path.file_name().and_then(|name| name.to_str()) {
                Some("1") if is_ours => Target::Output,
                Some("2") if is_ours => Target::Errors,
                _ => Target::Open(path),
            });
        }
        path = folder.join(fs::read_link(&path)?);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn through(mut stream: impl Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn stream(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket()) {
        return Err(io::Error::other("it is a socket"));
    }
    OpenOptions::new().append(true).open(path)?.write_all(bytes)
}

/// A file beside `path`, gone when it is dropped. Errors do not say its name, which
/// is not the user's.
fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // Long names leave no room for a suffix of ours.
    let prefix =
        if name.len() > 200 { ".".to_owned() } else { format!(".{}", name.to_string_lossy()) };
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part").permissions(Permissions::from_mode(0o666));
    let folder = folder_of(path);
    interrupt::remembered(|| builder.tempfile_in(folder), tempfile::NamedTempFile::path)
        .map_err(|error| scratch::of_folder(&error, folder))
}

/// Writes the new content beside `path` and gives it the name when it is whole.
fn replace(path: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let file = beside(path)?;
    let scratch = file.path().to_owned();
    let replaced = fill(&file, bytes, old)
        .and_then(|()| file.persist(path).map(drop).map_err(|error| error.error));
    interrupt::forget(&scratch);
    replaced
}

fn fill(file: &tempfile::NamedTempFile, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let mut file = file.as_file();
    file.write_all(bytes)?;
    let Some(old) = old else { return Ok(()) };
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    // After the owner, whose change clears the set-user bit.
    file.set_permissions(old.permissions())
}

/// Writes over the content of a file that cannot be replaced: it has other names, or an owner we
/// cannot give, or its folder takes no new file. Room for all of it is asked for first, so that a
/// full disk leaves the old content.
fn in_place(mut file: File, old: &Metadata, bytes: &[u8]) -> io::Result<()> {
    let n_bytes = bytes.len() as u64;
    if n_bytes > 0 {
        match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, n_bytes) {
            Ok(()) => {}
            // A file system without the call gives no promise, only the write itself tells.
            Err(rustix::io::Errno::OPNOTSUPP) => {}
            Err(error) => {
                // What was added is zeros that were not asked for. A failure here is that of a disk
                // already said to fail.
                let _ = file.set_len(old.len());
                return Err(error.into());
            }
        }
    }
    file.write_all(bytes)?;
    file.set_len(n_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").mode() & 0o7777
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_has_the_mode_of_any_new_file() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
        write(&ours, b"x").expect("written");
        fs::write(&plain, b"x").expect("written");
        assert_eq!(mode(&ours), mode(&plain));
        assert_eq!(names(folder.path()), ["ours", "plain"]);
    }

    #[test]
    fn an_old_file_keeps_its_mode() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("key");
        for wanted in [0o600, 0o755, 0o640] {
            fs::write(&path, b"old and longer").expect("written");
            fs::set_permissions(&path, Permissions::from_mode(wanted)).expect("it is ours");
            write(&path, b"new").expect("written");
            assert_eq!((mode(&path), fs::read(&path).expect("there")), (wanted, b"new".to_vec()));
        }
    }

    #[test]
    fn links_stay_links() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).expect("made");
        fs::write(at("deep/file"), "old").expect("written");
        std::os::unix::fs::symlink("deep/file", at("soft")).expect("linked");
        std::os::unix::fs::symlink("soft", at("softer")).expect("linked");
        std::os::unix::fs::symlink("missing", at("dangling")).expect("linked");
        fs::hard_link(at("deep/file"), at("hard")).expect("linked");
        write(&at("softer"), b"new, and longer than before").expect("written");
        assert_eq!(fs::read_link(at("softer")).expect("a link"), Path::new("soft"));
        assert_eq!(fs::read(at("hard")).expect("there"), b"new, and longer than before");
        write(&at("hard"), b"short").expect("written");
        assert_eq!(fs::read(at("deep/file")).expect("there"), b"short");
        write(&at("dangling"), b"made").expect("written");
        assert_eq!(fs::read(at("missing")).expect("there"), b"made");
        assert_eq!(names(folder.path()), ["dangling", "deep", "hard", "missing", "soft", "softer"]);
    }

    #[test]
    fn circles_of_links_and_folders_are_refused() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::os::unix::fs::symlink("b", folder.path().join("a")).expect("linked");
        std::os::unix::fs::symlink("a", folder.path().join("b")).expect("linked");
        let error = write(&folder.path().join("a"), b"x").expect_err("a circle");
        assert_eq!(error.to_string(), "too many levels of symbolic links");
        assert_eq!(
            write(folder.path(), b"x").expect_err("a folder").kind(),
            io::ErrorKind::IsADirectory
        );
        assert_eq!(
            check_writable(folder.path()).expect_err("a folder").kind(),
            io::ErrorKind::IsADirectory
        );
        assert_eq!(
            check_writable(&folder.path().join("no/file")).expect_err("no folder").kind(),
            io::ErrorKind::NotFound
        );
        let (no, file) = (folder.path().join("no"), folder.path().join("file"));
        fs::write(&file, "").expect("written");
        for refused in [write(&no.join("file"), b"x"), check_writable(&no.join("file"))] {
            assert_eq!(
                refused.expect_err("no folder").to_string(),
                format!("there is no folder {}", no.display())
            );
        }
        let refused = write(&file.join("below"), b"x").expect_err("no folder").to_string();
        assert!(!refused.contains(".part"), "{refused}");
        fs::remove_file(&file).expect("it is ours");
        check_writable(&folder.path().join("new")).expect("may be written");
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[test]
    fn a_device_is_written_to_and_stays() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        // Through a link, so that a mistake here costs the link and not the machine's device.
        let link = folder.path().join("full");
        std::os::unix::fs::symlink("/dev/full", &link).expect("linked");
        let error = write(&link, b"x").expect_err("it is always full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(fs::metadata(&link).expect("there").file_type().is_char_device());
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(names(folder.path()), ["full"]);
    }

    #[test]
    fn a_pipe_is_written_to_and_stays() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from(0o600)).expect("made");
        let reading = {
            let path = path.clone();
            std::thread::spawn(move || fs::read(path))
        };
        write(&path, b"through").expect("written");
        assert_eq!(reading.join().expect("no panic").expect("read"), b"through");
        assert!(fs::metadata(&path).expect("there").file_type().is_fifo());
    }

    #[test]
    fn an_open_stream_keeps_its_file() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("log");
        let file = OpenOptions::new().create(true).append(true).open(&path).expect("made");
        write(Path::new(&format!("/dev/fd/{}", file.as_raw_fd())), b"first\n").expect("written");
        (&file).write_all(b"second\n").expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"first\nsecond\n");
    }
}

//! Door: what needs root's rights, few kinds of deeds: done by this process, or by another one
//! where this one has given its rights away.
//!
//! A daemon that becomes an ordinary user (`--user`) keeps all that decides and all that others
//! talk to: requests, metrics, policies, estimates. What it may not do itself it asks of
//! [`hands`](super::hands), a small process with root's rights that knows these deeds alone:
//!
//! ```text
//! daemon, an ordinary user --- deeds and answers --- hands, root --- starts --- supervisors, root
//! ```
//!
//! Supervisors and `restore` act by what is on disk, which a daemon wrote that may have been taken
//! over: they and the hands [distrust](distrust), and then nothing is written, made or removed but
//! in control groups and groups of resctrl, by what the kernel says of the opened folder.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::handover;
use super::mounts::mounted;

/// How the name of a manager's folder of groups begins; its number follows.
pub const GROUPS: &str = "meanwhile-";

/// Longest deed: what a program of very many threads had.
pub(super) const DEED_BYTES: usize = 16 << 20;
/// How long the hands may take. A manager that waits for them for a tenth of that is silent, and
/// its supervisors give everything back meanwhile.
const PATIENCE: Duration = Duration::from_secs(4);

/// The files that are written to. Sources: the kernel's cgroup-v2.rst, cgroup-v1 and resctrl.rst.
const FILES: [&str; 10] = [
    "cgroup.freeze",
    "cgroup.procs",
    "cgroup.subtree_control",
    "cpu.cfs_period_us",
    "cpu.cfs_quota_us",
    "cpu.idle",
    "cpu.max",
    "cpu.shares",
    "cpu.weight",
    "tasks",
];
/// The same, of version 1's freezer.
const STATE: &str = "freezer.state";

/// What folders must be of: cgroup, cgroup2, resctrl. Source: the kernel's magic.h.
const FILE_SYSTEMS: [i64; 3] = [0x0027_e0eb, 0x6367_7270, RESCTRL];
const RESCTRL: i64 = 0x0765_5821;

/// What may be asked of the hands.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Deed {
    /// Write to a file of a group.
    Write {
        folder: PathBuf,
        file: String,
        text: String,
    },
    /// Open one to be written to.
    Open {
        folder: PathBuf,
        file: String,
    },
    Make {
        folder: PathBuf,
    },
    Remove {
        folder: PathBuf,
    },
    /// Keep a thread to these processors.
    Keep {
        thread: i32,
        cpus: Vec<usize>,
    },
    /// Give an ordinary thread another ordinary policy.
    Schedule {
        thread: i32,
        policy: i32,
    },
    /// Open a file of a process in `/proc`, to be read.
    Read {
        pid: i32,
        file: String,
    },
    /// Let the kernel forget that pages of a process were used, a huge one from each address.
    Forget {
        pid: i32,
        chunks: Vec<usize>,
    },
    /// Count the cache misses of a thread.
    Count {
        thread: i32,
    },
    /// Write down what a program had, or strike it off.
    Note {
        name: String,
        text: String,
    },
    Strike {
        name: String,
    },
    /// Note what a step of Slurm moved.
    History {
        user: u32,
        name: String,
        mbps: f64,
    },
    /// Start the supervisor of this place.
    Supervise {
        idx: usize,
    },
    /// Make the daemon's socket anew, and take it away.
    Listen {},
    Leave {},
}

/// What came of a deed, beside a descriptor.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Done(i64),
    /// What the kernel said.
    Errno(i32),
    Refused(String),
}

/// What an asked deed gives back: a number, and a descriptor.
pub(super) type Given = (i64, Option<OwnedFd>);

static HANDS: OnceLock<Mutex<UnixStream>> = OnceLock::new();
static DISTRUSTS: AtomicBool = AtomicBool::new(false);
static STARTS_NOTHING: AtomicBool = AtomicBool::new(false);

/// True if what needs rights is asked of another process.
pub fn are_given_away() -> bool {
    HANDS.get().is_some()
}

/// Who has the rights: root, where they were given away.
pub fn owner() -> u32 {
    if are_given_away() { 0 } else { nix::unistd::geteuid().as_raw() }
}

/// From now on deeds are asked for at the other end of `line`.
pub(super) fn give_away(line: UnixStream) {
    assert!(HANDS.set(Mutex::new(line)).is_ok(), "rights are given away once");
}

/// From now on paths are those of somebody who is not trusted.
pub fn distrust() {
    DISTRUSTS.store(true, Ordering::Relaxed);
}

/// From now on no process is one that a manager has started, wherever it is.
pub(super) fn starts_nothing() {
    STARTS_NOTHING.store(true, Ordering::Relaxed);
}

/// Has the deed done, where rights were given away; none where this process does it itself.
///
/// If nobody answers any more this process ends: it can do nothing, not even give back. Its
/// supervisors take that for the death that it is.
pub(super) fn ask(deed: impl FnOnce() -> Deed) -> Option<io::Result<Given>> {
    let line = HANDS.get()?.lock().expect("nobody panics with it");
    Some(match answer(&line, &deed()) {
        Ok((Answer::Done(number), file)) => Ok((number, file)),
        Ok((Answer::Errno(number), _)) => Err(io::Error::from_raw_os_error(number)),
        Ok((Answer::Refused(said), _)) => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, said))
        }
        Err(error) => are_gone(&error.to_string()),
    })
}

/// Ends this process, as nobody does any more what it has no rights for.
pub(super) fn are_gone(why: &str) -> ! {
    let _ = writeln!(
        io::stderr(),
        "error: the process that acts for this daemon with root's rights is gone ({why}); \
         the daemon ends, and its programs run on"
    );
    std::process::exit(2);
}

fn answer(line: &UnixStream, deed: &Deed) -> io::Result<(Answer, Option<OwnedFd>)> {
    let mut text = serde_json::to_vec(deed).map_err(io::Error::other)?;
    text.push(b'\n');
    handover::send(line, &text, &[])?;
    let (text, mut files) = handover::receive(line, DEED_BYTES, Instant::now() + PATIENCE)?;
    if text.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((serde_json::from_slice(&text).map_err(io::Error::other)?, files.pop()))
}

/// Writes to a file of a group that is there.
pub(super) fn write(folder: &Path, file: &str, text: &str) -> io::Result<()> {
    let deed = || Deed::Write { folder: folder.into(), file: file.into(), text: text.into() };
    if let Some(asked) = ask(deed) {
        return asked.map(drop);
    }
    let mut open = open_own(folder, file)?;
    if DISTRUSTS.load(Ordering::Relaxed) && ["cgroup.procs", "tasks"].contains(&file) {
        stays_at_home(&open, file, text.trim())?;
    }
    open.write_all(text.as_bytes())
}

/// Moves this process itself, which nobody asked for.
pub(super) fn join(group: &Path) -> io::Result<()> {
    open_own(group, "cgroup.procs")?.write_all(std::process::id().to_string().as_bytes())
}

/// A process moves from a group into a manager's inside it, and back: what limits it, and whose it
/// is, stays as it was. One that a manager started goes where its owner is.
///
/// Errors: this process, or thread, would be moved otherwise.
fn stays_at_home(open: &File, file: &str, id: &str) -> io::Result<()> {
    let path = path_of(open)?;
    let folder = path.parent().unwrap_or(&path);
    let is_allowed = if file == "tasks" {
        // The kernel lets no thread leave the group that says what it may have for one that counts.
        system_of(open)? == RESCTRL
            && folder.parent().is_some_and(|above| above.ends_with("mon_groups"))
    } else {
        is_in_a_root(folder)
            && (is_in(&around(folder), id)
                || !STARTS_NOTHING.load(Ordering::Relaxed) && was_started(id))
    };
    if is_allowed { Ok(()) } else { Err(refused(format!("{id} would leave its group"))) }
}

/// Where the hierarchies are mounted in which managers move processes: of version 1 others may
/// limit each group by itself, whatever it is in.
fn roots() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    mounted(&mounts, |kind, options| {
        kind == "cgroup2"
            || kind == "cgroup"
                && options.split(',').any(|option| option == "cpu" || option == "freezer")
    })
}

/// True if this group is in one of these, by the mount that it is in.
fn is_in_a_root(folder: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let all = mounted(&mounts, |_, _| true).into_iter();
    let own =
        all.filter(|place| folder.starts_with(place)).max_by_key(|place| place.as_os_str().len());
    own.is_some_and(|own| roots().contains(&own))
}

/// True for a folder or group of a manager, such as `meanwhile-1`, `meanwhile-1-program-2`, and for
/// a group of resctrl, such as `meanwhile-1-2`.
pub(super) fn is_of_ours(part: &OsStr) -> bool {
    let words: Option<Vec<&str>> = part
        .to_str()
        .and_then(|name| name.strip_prefix(GROUPS))
        .map(|rest| rest.split('-').collect());
    match words.as_deref() {
        Some([manager]) => is_number(manager),
        Some([manager, id] | [manager, "program", id]) => is_number(manager) && is_number(id),
        _ => false,
    }
}

/// True for the folder of all groups that a manager starts programs in: it has only a number.
pub(super) fn is_of_started(part: &OsStr) -> bool {
    part.to_str().and_then(|name| name.strip_prefix(GROUPS)).is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The group in which a manager's is; one that is no manager's itself.
fn around(folder: &Path) -> PathBuf {
    folder.iter().take_while(|part| !is_of_ours(part)).collect()
}

/// True if this process is in this group, or in a manager's inside it.
fn is_in(group: &Path, id: &str) -> bool {
    let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let is_ours = group.iter().any(is_of_ours);
    let all = || fs::read_dir(group).into_iter().flatten().filter_map(Result::ok);
    text.lines().any(|line| line == id)
        || all().any(|entry| {
            (is_ours || is_of_ours(&entry.file_name()))
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
                && is_in(&entry.path(), id)
        })
}

/// True for a process that a manager of this user's started: its group is in that one's folder.
fn was_started(id: &str) -> bool {
    let text = fs::read_to_string(format!("/proc/{id}/cgroup")).unwrap_or_default();
    let (roots, user) = (roots(), nix::unistd::geteuid().as_raw());
    let is_own = |above: &Path| {
        roots
            .iter()
            .any(|root| fs::metadata(root.join(above)).is_ok_and(|folder| folder.uid() == user))
    };
    text.lines().filter_map(|line| line.splitn(3, ':').nth(2)).any(|group| {
        let group = Path::new(group.trim_start_matches('/'));
        let above = group.ancestors().skip(1);
        above.filter(|above| above.file_name().is_some_and(is_of_started)).any(is_own)
    })
}

/// What a file of a group says.
pub(super) fn read(folder: &Path, file: &str) -> io::Result<String> {
    if !DISTRUSTS.load(Ordering::Relaxed) {
        return fs::read_to_string(folder.join(file));
    }
    // What is no group may be a pipe that says nothing, or everything for ever.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let open = rustix::fs::openat(folder_of_groups(folder)?, file, flags, Mode::empty())?;
    io::read_to_string(File::from(open))
}

/// What the kernel says of a process in this file of `/proc`, if that is one that not all may read.
pub(super) fn read_process(pid: i32, file: &str) -> io::Result<String> {
    match ask(|| Deed::Read { pid, file: file.to_owned() }) {
        Some(given) => descriptor(given).and_then(|open| io::read_to_string(File::from(open))),
        None => fs::read_to_string(format!("/proc/{pid}/{file}")),
    }
}

/// Opens a file of a group that is there, to be written to again and again.
pub(super) fn open(folder: &Path, file: &str) -> io::Result<File> {
    match ask(|| Deed::Open { folder: folder.into(), file: file.into() }) {
        Some(asked) => descriptor(asked).map(File::from),
        None => open_own(folder, file),
    }
}

/// The descriptor that was asked for.
pub(super) fn descriptor(asked: io::Result<Given>) -> io::Result<OwnedFd> {
    asked?.1.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

fn open_own(folder: &Path, file: &str) -> io::Result<File> {
    if DISTRUSTS.load(Ordering::Relaxed) && !FILES.contains(&file) && file != STATE {
        return Err(refused(format!("`{file}` is not written to")));
    }
    let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(rustix::fs::openat(folder_of_groups(folder)?, file, flags, Mode::empty())?.into())
}

/// Makes a group for a program.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    if let Some(asked) = ask(|| Deed::Make { folder: folder.into() }) {
        return asked.map(drop);
    }
    let (above, name) = place_of_ours(folder)?;
    rustix::fs::mkdirat(&above, name, Mode::RWXU)?;
    if DISTRUSTS.load(Ordering::Relaxed) {
        // Who asked looks at what is in it.
        rustix::fs::chmodat(&above, name, Mode::from_raw_mode(0o755), AtFlags::empty())?;
    }
    Ok(())
}

/// Takes a group away; its last process must have ended.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    if let Some(asked) = ask(|| Deed::Remove { folder: folder.into() }) {
        return asked.map(drop);
    }
    let (above, name) = place_of_ours(folder)?;
    Ok(rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR)?)
}

/// The folder above a group, and the group's name in it.
fn place_of_ours(folder: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(refused(format!("{} is no group", folder.display())));
    };
    let above = folder_of_groups(above)?;
    if DISTRUSTS.load(Ordering::Relaxed) {
        let path = path_of(&above)?;
        if !path.iter().chain([name]).any(is_of_ours) {
            return Err(refused(format!("{} is no group of a manager", folder.display())));
        }
    }
    Ok((above, name))
}

/// Opens a folder; where nothing is trusted, only one of those that are written to, by a path of
/// this process's own and not through what another one sees.
fn folder_of_groups(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if !DISTRUSTS.load(Ordering::Relaxed) {
        return Ok(rustix::fs::open(path, flags, Mode::empty())?);
    }
    let found = match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
        // An old kernel, or a filter: what the path leads to has to have a path of our own.
        Err(Errno::NOSYS | Errno::PERM) => {
            let found = rustix::fs::open(path, flags, Mode::empty())?;
            let own = rustix::fs::open(path_of(&found)?, flags, Mode::empty())?;
            let which = |it: &OwnedFd| rustix::fs::fstat(it).map(|stat| (stat.st_dev, stat.st_ino));
            if which(&found)? != which(&own)? {
                return Err(refused(format!("{} is not of this system", path.display())));
            }
            own
        }
        found => found?,
    };
    if !FILE_SYSTEMS.contains(&system_of(&found)?) {
        return Err(refused(format!("{} is no control group", path.display())));
    }
    Ok(found)
}

/// Where it is, whatever it was called.
fn path_of(open: impl AsFd) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", open.as_fd().as_raw_fd()))
}

#[allow(clippy::unnecessary_cast, reason = "its type is another one with musl")]
fn system_of(open: impl AsFd) -> io::Result<i64> {
    Ok(rustix::fs::fstatfs(open)?.f_type as i64)
}

fn refused(said: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, said)
}

/// Writes down what a program had, at `path`, before anything of it changes.
pub(super) fn note(path: &Path, text: &str) -> io::Result<()> {
    match ask(|| Deed::Note { name: name_of(path), text: text.into() }) {
        Some(asked) => asked.map(drop),
        None => measure::file::write(path, text.as_bytes()),
    }
}

/// Strikes off what was written down at `path`.
pub(super) fn strike(path: &Path) -> io::Result<()> {
    match ask(|| Deed::Strike { name: name_of(path) }) {
        Some(asked) => asked.map(drop),
        None => fs::remove_file(path),
    }
}

/// The name of a file in the folder of pages.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbered_folders_are_managers() {
        for (name, is_ours, is_started) in [
            ("meanwhile-1", true, true),
            ("meanwhile-1-program-23", true, false),
            ("meanwhile-1-2", true, false),
            ("meanwhile-cosched.service", false, false),
            ("meanwhile-jobs.slice", false, false),
            ("meanwhile-", false, false),
            ("meanwhile-1-", false, false),
            ("meanwhile-1-program-", false, false),
            ("meanwhile-1-job-2", false, false),
            ("a-meanwhile-1", false, false),
        ] {
            let name = OsStr::new(name);
            assert_eq!((is_of_ours(name), is_of_started(name)), (is_ours, is_started), "{name:?}");
        }
        let around = |path: &str| super::around(Path::new(path)).display().to_string();
        assert_eq!(around("/cg/a.slice/meanwhile-1-program-2/x"), "/cg/a.slice");
        assert_eq!(around("/cg/meanwhile-jobs.slice"), "/cg/meanwhile-jobs.slice");
    }
}

//! Door: many users of one daemon: which of them may submit programs and how many, what each sees,
//! and how a program becomes its user's.
//!
//! The kernel says which user is at the other end of the connection, and in which groups. A program
//! is started in a clean environment, joins its group as root, and becomes its user's before
//! anything of the user's is looked at: [`enter`].

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::{Gid, Uid};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toml::Spanned;

use super::refusal::Refusal;

/// Where a daemon for many users listens unless said otherwise.
pub const SOCKET: &str = "/run/meanwhile/cosched.sock";
/// Programs of one user at a time, unless said otherwise.
const PROGRAMS: usize = 100;
/// Connections of one user at a time.
pub(super) const CONNECTIONS: usize = 8;
/// Most bytes of a user's command and environment, which lie in root's memory
/// until the program begins.
pub(super) const START_BYTES: usize = 256 << 10;

/// A user as the kernel knows one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub uid: u32,
    pub gid: u32,
    pub groups: Vec<u32>,
}

impl User {
    /// The one at the other end, with the groups it had when it connected, and the
    /// number of its process.
    pub fn of(stream: &UnixStream) -> io::Result<(User, i32)> {
        let it = getsockopt(stream, sockopt::PeerCredentials)?;
        Ok((User { uid: it.uid(), gid: it.gid(), groups: groups(stream)? }, it.pid()))
    }

    /// The user of this name or number, in its own group alone; none if there is no such user.
    pub fn named(text: &str) -> Option<User> {
        let named = nix::unistd::User::from_name(text).ok().flatten();
        let found = named.or_else(|| {
            nix::unistd::User::from_uid(Uid::from_raw(text.parse().ok()?)).ok().flatten()
        })?;
        let (uid, gid) = (found.uid.as_raw(), found.gid.as_raw());
        Some(User { uid, gid, groups: vec![gid] })
    }

    /// As users know it.
    fn text(&self) -> String {
        name(self.uid)
    }
}

/// Most groups of a process. Source: limits.h of Linux, `NGROUPS_MAX`.
const GROUPS_MAX: usize = 65536;

#[allow(unsafe_code)]
fn groups(stream: &UnixStream) -> io::Result<Vec<u32>> {
    let mut all = vec![0u32; GROUPS_MAX];
    let mut bytes = (GROUPS_MAX * size_of::<u32>()) as libc::socklen_t;
    // SAFETY: the buffer has room for as many bytes as are said, and lives longer than the call.
    let done = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERGROUPS,
            all.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    all.truncate(bytes as usize / size_of::<u32>());
    Ok(all)
}

/// What a user is called; its number if it has no name.
fn name(uid: u32) -> String {
    nix::unistd::User::from_uid(Uid::from_raw(uid))
        .ok()
        .flatten()
        .map_or_else(|| uid.to_string(), |it| it.name)
}

/// The settings of a daemon for many users, as in its file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct UsersFile {
    socket: Option<PathBuf>,
    mode: Option<Spanned<String>>,
    programs: Option<usize>,
    processors: Option<usize>,
    #[serde(default)]
    deny: Vec<Spanned<String>>,
    groups: Option<Vec<Spanned<String>>>,
}

/// The users that may submit programs to a daemon, and how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Users {
    pub socket: PathBuf,
    /// The mode of that socket.
    pub mode: u32,
    /// Programs of one user at a time.
    programs: usize,
    /// Processors that they have together.
    processors: Option<usize>,
    deny: BTreeSet<u32>,
    /// Users in one of these may; all if none are said.
    groups: Option<BTreeSet<u32>>,
}

impl Users {
    ///
    /// Errors: what is wrong with it, with the line.
    pub fn load(path: &Path) -> Result<Users, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("read {}: {error}", path.display()))?;
        Users::parse(&text).map_err(|(at, said)| {
            let line = 1 + text.get(..at).map_or(0, |text| text.matches('\n').count());
            format!("{}:{line}: {said}", path.display())
        })
    }

    /// What the text of such a file says; else where it is wrong, and why.
    fn parse(text: &str) -> Result<Users, (usize, String)> {
        let file: UsersFile = toml::from_str(text).map_err(|error| {
            (error.span().map_or(0, |span| span.start), error.message().to_owned())
        })?;
        let mode = match &file.mode {
            None => 0o666,
            Some(it) => u32::from_str_radix(it.get_ref(), 8)
                .ok()
                .filter(|mode| *mode <= 0o777)
                .ok_or_else(|| {
                    (
                        it.span().start,
                        format!("`{}` is no mode: write \"0666\" or \"0660\"", it.get_ref()),
                    )
                })?,
        };
        let user = |spanned: &Spanned<String>| {
            let named = || {
                nix::unistd::User::from_name(spanned.get_ref())
                    .ok()
                    .flatten()
                    .map(|user| user.uid.as_raw())
            };
            let found = spanned.get_ref().parse().ok().or_else(named);
            found.ok_or_else(|| {
                (spanned.span().start, format!("there is no user `{}`", spanned.get_ref()))
            })
        };
        let group = |spanned: &Spanned<String>| {
            let named = || {
                nix::unistd::Group::from_name(spanned.get_ref())
                    .ok()
                    .flatten()
                    .map(|group| group.gid.as_raw())
            };
            let found = spanned.get_ref().parse().ok().or_else(named);
            found.ok_or_else(|| {
                (spanned.span().start, format!("there is no group `{}`", spanned.get_ref()))
            })
        };
        Ok(Users {
            socket: file.socket.unwrap_or_else(|| SOCKET.into()),
            mode,
            programs: file.programs.unwrap_or(PROGRAMS),
            processors: file.processors,
            deny: file.deny.iter().map(user).collect::<Result<_, _>>()?,
            groups: file
                .groups
                .map(|it| it.iter().map(group).collect::<Result<_, _>>())
                .transpose()?,
        })
    }

    /// May this one ask? Root always may.
    pub(super) fn check(&self, user: &User) -> Result<(), Refusal> {
        if user.uid == 0 {
            return Ok(());
        }
        if self.deny.contains(&user.uid) {
            return Err(Refusal::Denied(user.text()));
        }
        let is_in = |groups: &BTreeSet<u32>| {
            groups.contains(&user.gid) || user.groups.iter().any(|group| groups.contains(group))
        };
        if self.groups.as_ref().is_some_and(|group| !is_in(group)) {
            Err(Refusal::NoGroup(user.text()))
        } else {
            Ok(())
        }
    }

    /// The threads of a program of this user: where processors are limited, one that does
    /// not say has one.
    pub(super) fn threads(&self, user: &User, said: Option<usize>) -> Option<usize> {
        if user.uid == 0 || self.processors.is_none() { said } else { said.or(Some(1)) }
    }

    /// May this one have one more program of so many threads, having so many of both?
    pub(super) fn check_quota(
        &self,
        user: &User,
        threads: Option<usize>,
        (n_programs, n_threads): (usize, usize),
    ) -> Result<(), Refusal> {
        if user.uid == 0 {
            return Ok(());
        }
        if n_programs >= self.programs {
            return Err(Refusal::Programs(n_programs, self.programs));
        }
        let wanted = threads.unwrap_or(1);
        match self.processors {
            Some(most) if n_threads + wanted > most => {
                Err(Refusal::Processors(wanted, n_threads, most))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Leaves in a status what `uid` may see: its own programs. Of those beside them it sees
/// that there are some.
pub(super) fn leave_own(status: &mut Value, uid: u32) {
    for key in ["programs", "ended"] {
        if let Some(all) = status[key].as_array_mut() {
            all.retain(|value| value["user"] == uid);
        }
    }
    let own: Vec<Value> = status["programs"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|status| status["id"].clone())
        .collect();
    for it in status["programs"].as_array_mut().into_iter().flatten() {
        for key in ["neighbours", "antagonists"] {
            let beside = it[key].as_array_mut().into_iter().flatten();
            for neighbour in beside.filter(|value| !own.contains(&value["id"])) {
                neighbour["name"] = json!("another user's");
            }
        }
    }
}

/// What a program becomes its user's with.
#[derive(Debug, Clone)]
pub struct Entry {
    pub user: User,
    /// Its standard input, output and error.
    pub streams: Arc<[OwnedFd; 3]>,
}

/// What [`enter`] is told, in a file that only root may read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) user: User,
    pub(super) folder: PathBuf,
    pub(super) environment: Vec<(String, String)>,
    pub(super) command: Vec<String>,
}

impl Start {
    pub(super) fn store(&self, path: &Path) -> io::Result<()> {
        let mut file =
            std::fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
        file.write_all(&serde_json::to_vec(self).map_err(io::Error::other)?)
    }
}

/// Becomes the user's program that the file says, which is removed; returns only if that fails,
/// with what was tried.
pub fn enter(path: &Path) -> (String, io::Error) {
    let read = std::fs::read(path)
        .and_then(|bytes| serde_json::from_slice::<Start>(&bytes).map_err(io::Error::other));
    // It has the user's environment: nobody needs it again.
    let _ = std::fs::remove_file(path);
    let start = match read {
        Ok(it) => it,
        Err(error) => return (format!("read {}", path.display()), error),
    };
    if let Err(error) = become_user(&start.user) {
        return (format!("become user {}", start.user.uid), error);
    }
    if let Err(error) = std::env::set_current_dir(&start.folder) {
        return (format!("enter {}", start.folder.display()), error);
    }
    if let Err(error) = close_the_rest() {
        return ("close what the daemon was started with".to_owned(), error);
    }
    let mut command = std::process::Command::new(&start.command[0]);
    command.args(&start.command[1..]).env_clear().envs(start.environment);
    (format!("run `{}`", start.command[0]), command.exec())
}

/// What whoever started the daemon left open in it is nothing to a user's program.
#[allow(unsafe_code)]
fn close_the_rest() -> io::Result<()> {
    // SAFETY: it only marks descriptors to be closed by `exec`; those of ours stay open until then.
    let done = unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// True if this process can run programs of other users.
pub fn may_be_others() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Nothing that this thread runs, and those that it starts, gets rights that they have not.
pub fn renounce_new_rights() -> io::Result<()> {
    Ok(nix::sys::prctl::set_no_new_privs()?)
}

/// For good: there is no way back.
fn become_user(user: &User) -> io::Result<()> {
    // A terminal of the daemon's is none of the program's. The head of a session has no other
    // already.
    let _ = nix::unistd::setsid();
    give_up_for(user)
}

/// The same in the session of this process, whose terminal is none of it any more: what is typed
/// there by who has no rights would be root's.
#[allow(unsafe_code)]
pub(super) fn give_up_for(user: &User) -> io::Result<()> {
    if nix::unistd::getsid(None)? != nix::unistd::getpid()
        && let Ok(terminal) = std::fs::File::open("/dev/tty")
    {
        // SAFETY: it takes no memory of ours, and its descriptor is open.
        let _ = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY) };
    }
    let groups: Vec<Gid> = user.groups.iter().map(|group| Gid::from_raw(*group)).collect();
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    nix::unistd::setgroups(&groups)?;
    nix::unistd::setresgid(gid, gid, gid)?;
    nix::unistd::setresuid(uid, uid, uid)?;
    assert!(
        user.uid == 0 || nix::unistd::setuid(Uid::from_raw(0)).is_err(),
        "who is no root any more cannot be it again"
    );
    Ok(())
}

/// Makes a folder that all users may enter if it is not there: this user's, and nobody else writes
/// there. One that is there keeps its mode.
pub(super) fn folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    match std::fs::create_dir(path) {
        // Whatever the mask of new files is here.
        Ok(()) => std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?,
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    let it = std::fs::symlink_metadata(path)?;
    let refused = |said: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, said));
    if !it.is_dir() {
        return refused("it is no folder".to_owned());
    }
    if it.uid() != nix::unistd::geteuid().as_raw() || it.mode() & 0o022 != 0 {
        return refused(format!(
            "it belongs to user {} and has mode {:o}: others may write there",
            it.uid(),
            it.mode() & 0o777
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(uid: u32, groups: &[u32]) -> User {
        User { uid, gid: uid, groups: groups.to_vec() }
    }

    #[test]
    fn settings_say_who_may_and_how_much() {
        let it = Users::parse("socket = \"/run/x/s\"\nmode = \"0660\"\nprograms = 2\nprocessors = 3\ndeny = [\"7\"]\ngroups = [\"100\"]\n")
            .expect("it is right");
        assert_eq!((it.socket.as_path(), it.mode), (Path::new("/run/x/s"), 0o660));
        assert_eq!(it.check(&user(7, &[100])), Err(Refusal::Denied(name(7))));
        assert_eq!(it.check(&user(4711, &[])), Err(Refusal::NoGroup("4711".to_owned())));
        assert_eq!(
            (it.check(&user(4711, &[5, 100])), it.check(&user(100, &[])), it.check(&user(0, &[]))),
            (Ok(()), Ok(()), Ok(()))
        );
        assert_eq!(it.check_quota(&user(8, &[]), None, (2, 2)), Err(Refusal::Programs(2, 2)));
        assert_eq!(
            it.check_quota(&user(8, &[]), Some(2), (1, 2)),
            Err(Refusal::Processors(2, 2, 3))
        );
        assert_eq!(it.check_quota(&user(8, &[]), it.threads(&user(8, &[]), None), (1, 2)), Ok(()));
        assert_eq!(it.check_quota(&user(0, &[]), Some(9), (9, 9)), Ok(()), "root");
    }

    #[test]
    fn mistakes_in_settings_are_said_with_their_lines() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("cosched.toml");
        for (text, said) in [
            ("programs = 1\nprogramms = 2\n", ":2: unknown field `programms`"),
            ("\n\ndeny = [\"no such user\"]\n", ":3: there is no user `no such user`"),
            ("groups = [\"no such group\"]\n", ":1: there is no group `no such group`"),
            ("mode = \"rw\"\n", ":1: `rw` is no mode"),
            ("programs = -1\n", ":1: "),
        ] {
            std::fs::write(&path, text).expect("a scratch file");
            let error = Users::load(&path).expect_err("it is wrong");
            assert!(error.starts_with(&format!("{}{said}", path.display())), "{error}");
        }
    }

    #[test]
    fn a_folder_that_is_there_keeps_its_mode() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let mode = |path: &Path| {
            std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
        };
        std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o700))
            .expect("it is ours");
        folder(scratch.path()).expect("it is ours");
        assert_eq!(mode(scratch.path()), 0o700);
        let new = scratch.path().join("new");
        folder(&new).expect("it is new");
        assert_eq!(mode(&new), 0o755);
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
        assert!(
            folder(&new).expect_err("all may write").to_string().contains("others may write there")
        );
    }

    #[test]
    fn users_see_their_own() {
        let mut it = json!({
            "programs": [
                {"id": 1, "user": 5, "name": "a", "neighbours": [{"id": 2, "name": "secret"}, {"id": 3, "name": "c"}],
                 "antagonists": [{"id": 2, "name": "secret", "slowdown": 1.5}]},
                {"id": 2, "user": 6, "name": "secret", "neighbours": []}, {"id": 3, "user": 5, "name": "c", "neighbours": []},
            ],
            "ended": [{"id": 0, "user": 6, "name": "secret"}],
        });
        leave_own(&mut it, 5);
        assert_eq!(it["programs"].as_array().map(Vec::len), Some(2));
        assert!(!it.to_string().contains("secret"), "{it}");
    }
}

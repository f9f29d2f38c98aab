//! Door: the process with root's rights that does what a daemon without them asks for
//! ([`rights`](super::rights)).
//!
//! It decides nothing but whether a deed is done at all: [`Hands::act`] is the table of that, and
//! paths are judged where they are opened. What a daemon that was taken over can have done for it is
//! in the explanation of cosched, "Root apart".
//!
//! It ends with the daemon, when the line closes. A daemon whose hands are gone ends as well: its
//! supervisors give back what programs had, and one of them starts it again.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, setrlimit};
use serde::{Deserialize, Serialize};

use super::keepers::Starts;
use super::rights::{self, Answer, DEED_BYTES, Deed, Given};
use super::slurm::History;
use super::users::{User, give_up_for};
use super::{daemon, handover, journal, pages, perf, process, supervisor, up_again};

/// What a daemon has done for it.
#[derive(Debug, Clone)]
pub struct Apart {
    /// What the daemon becomes.
    pub user: User,
    /// The arguments of this program that call [`serve`].
    pub command: Vec<String>,
    /// Its socket, and that of metrics if there is one.
    pub socket: PathBuf,
    pub metrics: Option<PathBuf>,
    pub history: Option<PathBuf>,
}

/// What the hands are told while the daemon is root still.
#[derive(Debug, Serialize, Deserialize)]
struct Begin {
    /// The folder of what is written down of programs.
    pages: PathBuf,
    supervisors: Vec<Starts>,
    socket: PathBuf,
    metrics: Option<PathBuf>,
    history: Option<PathBuf>,
}

/// Longer than any daemon is silent.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// How long the hands may take to begin.
const BEGINS: Duration = Duration::from_secs(10);
/// The highest real-time priority of this program's threads.
const PRIORITY: u64 = 10;
/// Files of a process that are read for a daemon.
const READ: [&str; 3] = ["io", "maps", "smaps_rollup"];
/// Longest value that is written to a group.
const VALUE_BYTES: usize = 64;

/// Starts the hands and gives this process's own rights away for good; the number of the hands.
///
/// Errors: they cannot be started, or rights cannot be given away; the daemon is not to go on.
pub(super) fn take(apart: &Apart, pages: &Path, supervisors: &[Starts]) -> io::Result<i32> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(&apart.command)
        // They outlive a Ctrl-C that ends us: programs are let go before they end.
        .process_group(0)
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .spawn()?;
    let begin = Begin {
        pages: pages.to_owned(),
        supervisors: supervisors.to_vec(),
        socket: apart.socket.clone(),
        metrics: apart.metrics.clone(),
        history: apart.history.clone(),
    };
    say(&ours, &begin, &[])?;
    let (begun, _) = handover::receive(&ours, DEED_BYTES, Instant::now() + BEGINS)?;
    if begun.is_empty() {
        return Err(io::Error::other("the process for what needs root's rights did not begin"));
    }
    // Threads that measure are real-time for a moment; where root may not allow it a unit can
    // (`LimitRTPRIO=`), and elsewhere they measure beside others.
    let _ = setrlimit(Resource::RLIMIT_RTPRIO, PRIORITY, PRIORITY);
    give_up_for(&apart.user)?;
    let pid = child.id() as i32;
    rights::give_away(ours);
    let wait = move || {
        let ended = child.wait();
        rights::are_gone(
            &ended.map_or_else(|error| error.to_string(), |status| status.to_string()),
        );
    };
    std::thread::Builder::new().name("hands".to_owned()).stack_size(64 << 10).spawn(wait)?;
    Ok(pid)
}

/// Does what the daemon at the other end of `line` asks for, until that ends.
///
/// Errors: what it said at the beginning is no sense, or a signal could not be caught.
pub fn serve(line: OwnedFd) -> io::Result<()> {
    process::outlive_signals()?;
    // What a real-time daemon waits for is real-time above it, and is not stopped for long.
    process::be_real_time_above();
    let _ = up_again::by_a_thread();
    rights::distrust();
    rights::starts_nothing();
    let line = UnixStream::from(line);
    let (text, _) = handover::receive(&line, DEED_BYTES, Instant::now() + BEGINS)?;
    let begin: Begin = serde_json::from_slice(&text).map_err(io::Error::other)?;
    let history = begin.history.clone().map(History::new).transpose()?;
    let hands = Hands { begin, history, is_taken: Default::default() };
    say(&line, &Answer::Done(0), &[])?;
    loop {
        let (text, _) = handover::receive(&line, DEED_BYTES, Instant::now() + FOR_EVER)?;
        // Its end, or a line that is longer than any deed: what follows that would be taken for another.
        if text.last() != Some(&b'\n') {
            return Ok(());
        }
        let deed = serde_json::from_slice(&text).map_err(io::Error::other);
        let (answer, file) = match deed.and_then(|deed| hands.act(deed)) {
            Ok((number, file)) => (Answer::Done(number), file),
            Err(error) => match error.raw_os_error() {
                Some(number) => (Answer::Errno(number), None),
                None => (Answer::Refused(error.to_string()), None),
            },
        };
        let files: Vec<BorrowedFd<'_>> = file.iter().map(AsFd::as_fd).collect();
        say(&line, &answer, &files)?;
    }
}

fn say(line: &UnixStream, what: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut text = serde_json::to_vec(what).map_err(io::Error::other)?;
    text.push(b'\n');
    handover::send(line, &text, files)
}

#[derive(Debug)]
struct Hands {
    begin: Begin,
    history: Option<History>,
    /// Supervisors of ours that live, by their places.
    is_taken: [Arc<AtomicBool>; supervisor::COUNT],
}

fn refused<T>(what: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("not done for a daemon: {what}")))
}

impl Hands {
    /// Does it if it is one of the deeds that are done for a daemon.
    fn act(&self, deed: Deed) -> io::Result<Given> {
        match deed {
            Deed::Write { folder, file, text } => {
                if !is_value(&file, &text) {
                    return refused("a value that this file of a group is not given");
                }
                rights::write(&folder, &file, &text)?;
            }
            Deed::Open { folder, file } => {
                if !["cgroup.freeze", "freezer.state"].contains(&file.as_str()) {
                    return refused("a file that stays open");
                }
                return Ok((0, Some(rights::open(&folder, &file)?.into())));
            }
            Deed::Make { folder } => {
                // It starts nothing, so nothing leaves a group as what was started may.
                if folder.file_name().is_some_and(rights::is_of_started) {
                    return refused("a folder for programs that are started");
                }
                rights::make(&folder)?;
            }
            Deed::Remove { folder } => rights::remove(&folder)?,
            Deed::Keep { thread, cpus } => {
                if thread <= 0 || cpus.is_empty() {
                    return refused("no thread, or no processor");
                }
                process::keep_thread(thread, &cpus)?;
            }
            Deed::Schedule { thread, policy } => {
                let now = process::policy_of(thread);
                if thread <= 0 || now.is_some_and(|now| !is_ordinary(now)) || !is_ordinary(policy) {
                    return refused("a thread that is real-time");
                }
                process::set_policy(thread, policy)?;
            }
            Deed::Read { pid, file } => {
                if pid <= 0 || !READ.contains(&file.as_str()) {
                    return refused("a file of a process");
                }
                return Ok((0, Some(File::open(format!("/proc/{pid}/{file}"))?.into())));
            }
            Deed::Forget { pid, chunks } => {
                return pages::forget(pid, &chunks).map(|bytes| (bytes as i64, None));
            }
            Deed::Count { thread } => {
                if thread <= 0 {
                    return refused("no thread");
                }
                return Ok((0, Some(perf::count(thread)?.into())));
            }
            Deed::Note { name, text } => {
                measure::file::write(&self.page(&name)?, text.as_bytes())?;
            }
            Deed::Strike { name } => std::fs::remove_file(self.page(&name)?)?,
            Deed::History { user, name, mbps } => {
                if name.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
                    return refused("a name of more than a word");
                }
                self.history.iter().for_each(|history| history.add(user, &name, mbps));
            }
            Deed::Supervise { idx } => {
                let places = self.begin.supervisors.get(idx).zip(self.is_taken.get(idx));
                let Some((starts, is_taken)) = places else {
                    return refused("another supervisor");
                };
                if is_taken.swap(true, Ordering::AcqRel) {
                    return refused("a supervisor whose place is taken");
                }
                let free = |error: io::Error| {
                    is_taken.store(false, Ordering::Release);
                    error
                };
                let (mut child, line) = starts.start().map_err(free)?;
                let (pid, is_taken) = (child.id(), Arc::clone(is_taken));
                let wait = move || {
                    let _ = child.wait();
                    is_taken.store(false, Ordering::Release);
                };
                std::thread::Builder::new().stack_size(64 << 10).spawn(wait)?;
                return Ok((i64::from(pid), Some(line.into())));
            }
            Deed::Listen {} => {
                let listener = daemon::listen_again(&self.begin.socket, None)?;
                return Ok((0, listener.map(OwnedFd::from)));
            }
            Deed::Leave {} => {
                for socket in self.begin.metrics.iter().chain([&self.begin.socket]) {
                    let _ = std::fs::remove_file(socket);
                }
            }
        }
        Ok((0, None))
    }

    /// The file of this name in the folder of pages, if it is one of a program.
    fn page(&self, name: &str) -> io::Result<PathBuf> {
        if journal::is_of_a_program(name) {
            Ok(self.begin.pages.join(name))
        } else {
            refused("a file that is of no program")
        }
    }
}

/// What a manager writes to this file of a group.
fn is_value(file: &str, text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" +-\n".contains(&byte);
    let is_one = text.len() <= VALUE_BYTES && text.bytes().all(is_plain);
    match file {
        // A process or thread 0, however it is written, would be one of ours.
        "cgroup.procs" | "tasks" => is_one && text.trim().parse::<i32>().is_ok_and(|id| id > 0),
        "cgroup.subtree_control" => text == "+cpu",
        _ => is_one,
    }
}

/// A policy that the kernel shares processors by, or the idle class.
fn is_ordinary(policy: i32) -> bool {
    let bare = policy & !libc::SCHED_RESET_ON_FORK;
    [libc::SCHED_OTHER, libc::SCHED_BATCH, libc::SCHED_IDLE].contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hands(pages: &Path) -> Hands {
        let begin = Begin {
            pages: pages.to_owned(),
            supervisors: Vec::new(),
            socket: pages.join("sock"),
            metrics: None,
            history: None,
        };
        Hands { begin, history: None, is_taken: Default::default() }
    }

    #[test]
    fn only_what_a_manager_needs_is_done() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let hands = hands(folder.path());
        let write = |file: &str, text: &str| Deed::Write {
            folder: folder.path().to_owned(),
            file: file.to_owned(),
            text: text.to_owned(),
        };
        let note = |name: &str| Deed::Note { name: name.to_owned(), text: String::new() };
        let own = std::process::id() as i32;
        let read = |file: &str| Deed::Read { pid: own, file: file.to_owned() };
        for deed in [
            write("cgroup.procs", "0"),
            write("tasks", "00"),
            write("tasks", "+0\n"),
            write("cgroup.procs", "-1"),
            write("cgroup.subtree_control", "-memory"),
            write("cpu.max", "max\t100000"),
            write("cpu.max", &"1".repeat(100)),
            Deed::Open { folder: folder.path().to_owned(), file: "cgroup.procs".to_owned() },
            Deed::Make { folder: folder.path().join("meanwhile-17") },
            Deed::Keep { thread: 0, cpus: vec![0] },
            Deed::Keep { thread: own, cpus: Vec::new() },
            Deed::Schedule { thread: own, policy: libc::SCHED_FIFO },
            Deed::Schedule { thread: 0, policy: libc::SCHED_IDLE },
            read("mem"),
            read("../1/environ"),
            note("../program-1.before"),
            note("program-1.txt"),
            note("manager"),
            note("program-.before"),
            Deed::Strike { name: "restart".to_owned() },
            Deed::Supervise { idx: 0 },
            Deed::History { user: 0, name: "two words".to_owned(), mbps: 1.0 },
            Deed::Count { thread: 0 },
        ] {
            let text = format!("{deed:?}");
            let error = hands.act(deed).map(drop).expect_err(&text);
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{text}: {error}");
        }
        assert!(std::fs::read_dir(folder.path()).expect("it is there").next().is_none());
        hands.act(note("program-1.before")).expect("it is what is asked for");
        assert!(folder.path().join("program-1.before").exists());
        hands.act(Deed::Strike { name: "program-1.before".to_owned() }).expect("it is there");
        let read = hands.act(read("smaps_rollup")).expect("it is ours");
        assert!(read.1.is_some());
    }
}

//! Door: what an interrupted program leaves: no children, no scratch folders.
//!
//! 1. The first SIGINT, SIGTERM or SIGHUP ends all descendants of the process, removes its scratch
//!    folders, and then ends it by that signal. Files that were written stay.
//! 2. The second one ends it at once.
//!
//! It dies by the signal and does not exit with 128 + its number: a shell stops a loop or a script
//! on Ctrl-C only if the command in the foreground died by SIGINT.
//!
//! A signal that was ignored when the process began (`nohup`, a background job of a script) stays
//! ignored.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// How long descendants may take to end by themselves before they are killed: mpirun ends its
/// ranks in this time.
const GRACE: Duration = Duration::from_secs(3);
/// When even killed ones are not waited for any more.
const LIMIT: Duration = Duration::from_secs(6);

/// Folders and files that must not outlive us. Starting a process or making such a folder takes the
/// lock; an interrupt takes it and keeps it, so that nothing new appears behind its back.
static SCRATCH: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

fn scratch() -> MutexGuard<'static, Vec<PathBuf>> {
    // A list of paths is whole after any panic.
    SCRATCH.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Makes this process clean up when it is interrupted; `restore` is called last, for the terminal.
///
/// Errors: the kernel refuses a signal handler or a thread.
pub fn install(restore: fn()) -> io::Result<()> {
    // Descendants whose parent has ended become our children, so they are found; QEMU, which runs
    // programs of other processors, does not know that, and they are lost there.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let mut signals = signal_hook::iterator::Signals::new(heeded())?;
    std::thread::Builder::new().name("interrupts".to_owned()).spawn(move || {
        let mut arrived = signals.forever();
        let Some(first) = arrived.next() else { return };
        INTERRUPTED.store(true, Ordering::SeqCst);
        std::thread::spawn(move || {
            clean_up();
            restore();
            die_by(first);
        });
        if let Some(second) = arrived.next() {
            restore();
            die_by(second);
        }
    })?;
    Ok(())
}

/// Ends this process by `signal`, as if it had never been caught.
pub fn die_by(signal: i32) -> ! {
    // It returns only for a signal whose default is not to end the process, and ours are none of
    // those.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    signal_hook::low_level::exit(128 + signal)
}

/// The signals that ask a process to end, but for those that are ignored now. To be asked
/// before any is caught.
pub fn heeded() -> Vec<i32> {
    let ignored = ignored_now();
    [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|number| ignored >> (number - 1) & 1 == 0)
        .collect()
}

/// Waits for the end of an interrupted process; returns at once in any other. For callers that
/// would report what is only a consequence of the interrupt, such as a killed child.
pub fn hold() {
    while INTERRUPTED.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Runs `make`, and removes what it made if the process is interrupted before [`forget`].
pub(crate) fn remembered<T>(
    make: impl FnOnce() -> io::Result<T>,
    path: impl Fn(&T) -> &Path,
) -> io::Result<T> {
    let mut scratch = scratch();
    let made = make()?;
    scratch.push(path(&made).to_owned());
    Ok(made)
}

/// `path` is gone, or has become a file that stays.
pub(crate) fn forget(path: &Path) {
    scratch().retain(|scratch| scratch != path);
}

/// Starts a process; never between an interrupt and its end.
///
/// Errors: as [`std::process::Command::spawn`].
pub fn spawn(command: &mut std::process::Command) -> io::Result<std::process::Child> {
    let _no_interrupt = scratch();
    command.spawn()
}

fn clean_up() {
    let scratch = scratch();
    end_descendants();
    for path in scratch.iter() {
        remove(path);
    }
    // The lock is never given back: see `SCRATCH`.
    std::mem::forget(scratch);
}

/// Removes a file, or a folder in which our other threads may be making and removing files at this
/// moment: what one of them does between the reading of the folder and its removal makes the
/// removal fail, so it is tried again.
fn remove(path: &Path) {
    let start = Instant::now();
    while path.symlink_metadata().is_ok() && start.elapsed() < GRACE {
        // What cannot be removed in that time cannot be removed at all, and there is nothing left
        // to tell.
        let _ =
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
}

fn end_descendants() {
    let start = Instant::now();
    let mut told: Vec<i32> = Vec::new();
    loop {
        let alive = descendants(std::process::id().cast_signed());
        let elapsed = start.elapsed();
        if alive.is_empty() || elapsed > LIMIT {
            return;
        }
        for &pid in &alive {
            let Some(id) = Pid::from_raw(pid) else { continue };
            // A process that has just ended cannot be signalled, which is what we want.
            if elapsed > GRACE {
                let _ = kill_process(id, Signal::KILL);
            } else if !told.contains(&pid) {
                told.push(pid);
                let _ = kill_process(id, Signal::TERM);
                let _ = kill_process(id, Signal::CONT);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// All processes below `root` that have not ended, parents before their children.
fn descendants(root: i32) -> Vec<i32> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    let ids = folder.filter_map(|folder| folder.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let parents: Vec<(i32, i32)> = ids.filter_map(|id| Some((id, parent(id)?))).collect();
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        let above = found[next];
        found.extend(parents.iter().filter(|parent| parent.1 == above).map(|parent| parent.0));
        next += 1;
    }
    found.remove(0);
    found
}

/// The parent of a process; none if the process has ended, reaped or not.
fn parent(id: i32) -> Option<i32> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // `id (name) state parent ...`; the name may hold parentheses and spaces.
    let (_, rest) = text.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    if matches!(words.next()?, "Z" | "X") {
        return None;
    }
    words.next()?.parse().ok()
}

/// A bit for each signal that is ignored, bit 0 for signal 1.
fn ignored_now() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_folder_goes_while_threads_write_into_it() {
        use std::sync::atomic::AtomicUsize;
        for _ in 0..20 {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let path = folder.path().join("scratch");
            std::fs::create_dir(&path).expect("made");
            let written = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for thread in 0..2 {
                    let (path, written) = (&path, &written);
                    // They end when their folder is gone, or at last by themselves.
                    scope.spawn(move || {
                        for number in 0..20_000 {
                            let file = path.join(format!("{thread}-{number}"));
                            if std::fs::write(&file, "x").is_err() {
                                return;
                            }
                            written.fetch_add(1, Ordering::SeqCst);
                            // The other remover may have been there first.
                            let _ = std::fs::remove_file(&file);
                        }
                    });
                }
                while written.load(Ordering::SeqCst) < 10 {
                    std::thread::yield_now();
                }
                remove(&path);
                assert!(!path.exists());
            });
        }
    }

    #[test]
    fn descendants_are_found_through_their_parents() {
        use std::io::{BufRead, BufReader};
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 100 & echo $!; wait"]).stdout(Stdio::piped());
        let mut child = spawn(&mut shell).expect("sh runs");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped"))
            .read_line(&mut line)
            .expect("it says an id");
        let sleeper: i32 = line.trim().parse().expect("an id");
        let own = child.id().cast_signed();
        assert_eq!(descendants(own), [sleeper]);
        let all = descendants(std::process::id().cast_signed());
        assert!(all.contains(&own) && all.contains(&sleeper), "{all:?}");
        for id in [sleeper, own] {
            kill_process(Pid::from_raw(id).expect("an id"), Signal::KILL).expect("it is ours");
        }
        child.wait().expect("it was killed");
        assert_eq!(parent(own), None);
    }
}

//! Door: what `/proc` says about processes: owner, parent, session, when they started, their
//! children; their processors and priority.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::Pid;

use super::rights::{self, Deed};

/// One process. Source: proc(5), `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number, which another one may have after its end.
    pub pid: i32,
    /// What its file is called, at most 15 bytes.
    pub name: String,
    /// `R`, `S`, `T` and so on.
    pub state: char,
    pub parent: i32,
    pub session: i32,
    /// Clock ticks from the start of the machine to its own: with the number it names
    /// one process for ever.
    pub started: u64,
    /// Clock ticks of processor time that it took, with those of its children that
    /// it has waited for.
    pub used: u64,
}

impl Process {
    /// The process of this number, if there is one and it can be looked at.
    pub fn find(pid: i32) -> Option<Process> {
        look(pid).ok().flatten()
    }

    /// True as long as this very process has not ended, or cannot be looked at.
    pub fn is_there(&self) -> bool {
        look(self.pid).map_or(true, |it| {
            it.is_some_and(|it| it.started == self.started && it.state != 'Z' && it.state != 'X')
        })
    }

    /// The user it runs as.
    pub fn owner(&self) -> io::Result<u32> {
        fs::metadata(format!("/proc/{}", self.pid)).map(|metadata| metadata.uid())
    }

    /// True if it is a thread of the kernel. A process has no arguments either while it becomes
    /// another program, and when it has ended.
    ///
    /// Source: proc(5), `/proc/PID/stat`, the ninth field; `PF_KTHREAD` of the kernel's sched.h.
    pub fn is_kernel(&self) -> bool {
        const OF_KERNEL: u32 = 0x0020_0000;
        let text = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        let flags = text.rsplit_once(") ").and_then(|(_, it)| it.split(' ').nth(6)?.parse().ok());
        flags.is_some_and(|flags: u32| flags & OF_KERNEL != 0)
    }

    /// True if it is stopped, and a signal waits that stops it: it was stopped while
    /// it was stopped already.
    pub fn is_stopped_twice(&self) -> bool {
        let text = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let stops: u64 = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU]
            .iter()
            .map(|signal| 1 << (signal - 1))
            .sum();
        let waits =
            |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(1)?, 16).ok();
        let mut waiting = text
            .lines()
            .filter(|line| line.starts_with("SigPnd:") || line.starts_with("ShdPnd:"))
            .filter_map(waits);
        self.state == 'T' && waiting.any(|waiting| waiting & stops != 0)
    }

    pub fn threads(&self) -> Vec<i32> {
        let Ok(entries) = fs::read_dir(format!("/proc/{}/task", self.pid)) else {
            return Vec::new();
        };
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
    }
}

/// The process of this number, none if there is none.
///
/// Errors: it cannot be looked at, as when this process has no descriptor left.
pub fn look(pid: i32) -> io::Result<Option<Process>> {
    // More than the fields that are asked for take, in one call: a manager looks at many processes,
    // often.
    let mut bytes = [0; 1024];
    match fs::File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut bytes)) {
        Ok(n) => Ok(parse(&String::from_utf8_lossy(&bytes[..n]))),
        Err(error)
            if error.kind() == io::ErrorKind::NotFound
                || error.raw_os_error() == Some(libc::ESRCH) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The line of `/proc/PID/stat`; the name stands in brackets and may contain some.
fn parse(line: &str) -> Option<Process> {
    let (pid, rest) = line.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Field 3 of the manual is the first here.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Process {
        pid: pid.parse().ok()?,
        name: name.to_owned(),
        state: fields.first()?.chars().next()?,
        parent: i32::try_from(number(4)?).ok()?,
        session: i32::try_from(number(6)?).ok()?,
        started: number(22)?,
        used: (14..=17).filter_map(number).sum(),
    })
}

/// All processes there are.
pub fn all() -> io::Result<Vec<Process>> {
    let names =
        fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(names.filter_map(Process::find).collect())
}

/// This process and all below it in `all`, parents first.
pub fn tree(all: &[Process], root: i32) -> Vec<Process> {
    let mut found: Vec<Process> = all.iter().filter(|it| it.pid == root).cloned().collect();
    let mut at = 0;
    while at < found.len() {
        let parent = found[at].pid;
        let children =
            all.iter().filter(|process| process.parent == parent && process.pid != parent);
        let new: Vec<Process> = children
            .filter(|children| !found.iter().any(|old| old.pid == children.pid))
            .cloned()
            .collect();
        found.extend(new);
        at += 1;
    }
    found
}

/// The processes above this one, and itself.
pub fn ancestors(pid: i32) -> Vec<i32> {
    let mut found = vec![pid];
    while let Some(it) =
        found.last().and_then(|found| Process::find(*found)).map(|process| process.parent)
    {
        if it == 0 || found.contains(&it) {
            break;
        }
        found.push(it);
    }
    found
}

/// The process that a thread belongs to.
pub fn process_of(thread: i32) -> Option<i32> {
    let text = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("Tgid:"))
        .and_then(|line| line.trim().parse().ok())
}

/// Keeps one thread to these processors. A thread that has ended is no error.
pub fn keep_thread(thread: i32, cpus: &[usize]) -> io::Result<()> {
    // The calling one may always be.
    let asked = (thread != 0).then(|| rights::ask(|| Deed::Keep { thread, cpus: cpus.into() }));
    if let Some(asked) = asked.flatten() {
        return asked.map(drop);
    }
    let mut set = CpuSet::new();
    cpus.iter().try_for_each(|cpu| set.set(*cpu)).map_err(io::Error::from)?;
    match sched_setaffinity(Pid::from_raw(thread), &set) {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The processors that a thread may use; 0: the calling one.
pub fn cpus_of(thread: i32) -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(thread));
    let is_set = |cpu: &usize| set.as_ref().is_ok_and(|set| set.is_set(*cpu).unwrap_or(false));
    (0..CpuSet::count()).filter(is_set).collect()
}

/// How exactly this process's timers fire, in nanoseconds, from before it became real-time.
static TIMER_SLACK: OnceLock<String> = OnceLock::new();

/// Gives a process that a real-time one has started the timers of an ordinary one. The kernel takes
/// the slack of a real-time thread for what its children are to have, which is none.
///
/// Source: the kernel's kernel/fork.c and sched(7); seen with Linux 6.18.
pub fn give_ordinary_timers(pid: u32) {
    if let Some(slack) = TIMER_SLACK.get() {
        // Older kernels leave it as it was; what has ended has no timers.
        let _ = fs::write(format!("/proc/{pid}/timerslack_ns"), slack);
    }
}

/// Makes the calling thread SCHED_FIFO; threads and processes that it starts are ordinary. False if
/// it may not be.
pub fn be_real_time() -> bool {
    be_fifo(PRIORITY)
}

/// The same above those: who watches or serves a real-time manager has its turn before it.
pub fn be_real_time_above() -> bool {
    be_fifo(PRIORITY + 1)
}

/// The priority of a manager's real-time threads.
const PRIORITY: i32 = 10;

fn be_fifo(priority: i32) -> bool {
    if let Ok(slack) = fs::read_to_string("/proc/self/timerslack_ns") {
        TIMER_SLACK.get_or_init(|| slack);
    }
    set_scheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, priority).is_ok()
}

/// The scheduling policy of a thread, with the flag that its children do not inherit it; none
/// if it has ended.
#[allow(unsafe_code)]
pub fn policy_of(thread: i32) -> Option<i32> {
    // SAFETY: the call takes a number and touches no memory of ours.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, thread) };
    i32::try_from(policy).ok().filter(|policy| *policy >= 0)
}

/// Gives an ordinary thread another ordinary policy; its nice value stays. A thread that has
/// ended is no error.
pub fn set_policy(thread: i32, policy: i32) -> io::Result<()> {
    if let Some(asked) = rights::ask(|| Deed::Schedule { thread, policy }) {
        return asked.map(drop);
    }
    match set_scheduler(thread, policy, 0) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        done => done,
    }
}

/// Asks the kernel itself: musl's functions of this name refuse.
#[allow(unsafe_code)]
fn set_scheduler(thread: i32, policy: i32, priority: i32) -> io::Result<()> {
    // SAFETY: the kernel reads one number, the priority, which outlives the call.
    let done =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, thread, policy, &raw const priority) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The nice value of a thread. Source: proc(5), field 19 of `/proc/PID/stat`.
pub fn nice_of(thread: i32) -> Option<i32> {
    let line = fs::read_to_string(format!("/proc/{thread}/stat")).ok()?;
    line.rsplit_once(") ")?.1.split_ascii_whitespace().nth(16)?.parse().ok()
}

/// True if this process may take threads out of the idle class, whoever's they are.
pub fn may_set_priorities() -> bool {
    if rights::are_given_away() {
        return true;
    }
    // Source: capabilities(7): CAP_SYS_NICE is number 23.
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = text.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << 23) != 0)
}

/// Raises the number of files that this process may open to the most it may ask for; how many it
/// was before, if it was fewer.
pub fn open_many_files() -> Option<u64> {
    let (now, most) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    (now < most && setrlimit(Resource::RLIMIT_NOFILE, most, most).is_ok()).then_some(now)
}

/// SIGTERM, SIGINT and SIGHUP do nothing to this process from now on.
pub fn outlive_signals() -> io::Result<()> {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // A flag that nobody reads.
        signal_hook::flag::register(signal, std::sync::Arc::default())?;
    }
    Ok(())
}

/// The control group of a process in the hierarchy that is mounted at `root`; `line` tells its line
/// in `/proc/PID/cgroup`, `0` for version 2, else the controller.
pub fn control_group(pid: i32, root: &Path, line: &str) -> Option<PathBuf> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let path = text.lines().find_map(|it| {
        let mut fields = it.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let fits = if line == "0" {
            number == "0"
        } else {
            controllers.split(',').any(|part| part == line)
        };
        fits.then_some(path)
    })?;
    Some(root.join(path.trim_start_matches('/'))).filter(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_contain_brackets() {
        let line = "42 (a) (b c) S 7 42 40 0 -1 4194304 1 0 0 0 5 6 7 8 20 0 1 0 12345 1 1\n";
        let it = parse(line).expect("it is a line of the manual");
        let expected = Process {
            pid: 42,
            name: "a) (b c".into(),
            state: 'S',
            parent: 7,
            session: 40,
            started: 12345,
            used: 26,
        };
        assert_eq!(it, expected);
        assert_eq!(parse("42 (a"), None);
    }

    #[test]
    fn this_process_is_below_its_ancestors() {
        let own = std::process::id() as i32;
        let above = ancestors(own);
        assert_eq!(above[0], own);
        assert!(above.len() > 1, "somebody started this test");
        let all = all().expect("/proc is there");
        let tree = tree(&all, above[1]);
        assert!(tree.iter().any(|it| it.pid == own));
        let own = Process::find(own).expect("it runs");
        assert!(own.is_there() && !own.is_kernel() && own.threads().contains(&own.pid));
        assert!(
            !Process { started: own.started + 1, ..own }.is_there(),
            "a number used again is another process"
        );
    }

    /// It has no arguments and no program, as a thread of the kernel, and is none.
    #[test]
    fn what_has_ended_is_no_thread_of_the_kernel() {
        let mut child = std::process::Command::new("true").spawn().expect("true runs");
        let pid = child.id() as i32;
        let ended = (0..1000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            Process::find(pid).filter(|found| found.state == 'Z')
        });
        assert!(!ended.expect("it ends").is_kernel());
        child.wait().expect("it is ours");
        if let Some(first) = Process::find(2).filter(|found| found.name == "kthreadd") {
            assert!(first.is_kernel());
        }
    }
}

//! Door: the policy SCHED_IDLE of each thread. It counts only within one scheduling group, so all
//! programs must be in the same one; and a thread that may not be taken out again is not put in.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::super::mounts::mounted;
use super::super::process::{self, Process};
use super::{Group, Had, Hierarchy, IdleClass, Part, v1};

/// RLIMIT_NICE of nice 0, from which on a thread may leave the idle class by itself.
const NICE_LIMIT: i64 = 20;

#[derive(Debug)]
pub struct Threads;

impl IdleClass for Threads {
    fn text(&self) -> &'static str {
        "threads"
    }

    fn name(&self) -> &'static str {
        "SCHED_IDLE"
    }

    fn probe(&self, _hierarchy: &Hierarchy) -> Result<(), String> {
        may_leave(std::process::id() as i32, 0)
    }

    fn look(&self, group: &Group, _name: &str) -> io::Result<Had> {
        let refused = |why: String| io::Error::new(io::ErrorKind::Unsupported, why);
        let members = group.members()?;
        let mut parts = Vec::new();
        for thread in members.iter().flat_map(Process::threads).filter_map(Process::find) {
            let Some(policy) = process::policy_of(thread.pid) else { continue };
            if is_ordinary(policy) {
                let nice = process::nice_of(thread.pid).unwrap_or(0);
                may_leave(thread.pid, nice).map_err(refused)?;
            }
            let what = policy.to_string();
            parts.push(Part { id: thread.pid, started: thread.started, what });
        }
        let homes: Vec<String> = members.iter().map(|member| scheduled_in(member.pid)).collect();
        let home = homes.first().cloned().unwrap_or_default();
        if homes.iter().any(|other| *other != home) {
            return Err(refused("its processes are in several scheduling groups".to_owned()));
        }
        let folder = PathBuf::new();
        Ok(Had { kind: &Threads, weight: home, folder, parts, times: Some(Vec::new()) })
    }

    fn enter(&self, _had: &Had, _group: &Group) -> io::Result<()> {
        Ok(())
    }

    fn demote(&self, _had: &Had, group: &Group) -> io::Result<()> {
        // A real-time thread, or one that is in the idle class already, is left alone.
        let is_to_go = |thread: &i32| process::policy_of(*thread).is_some_and(is_ordinary);
        let threads = group.threads()?;
        threads
            .into_iter()
            .filter(is_to_go)
            .try_for_each(|thread| process::set_policy(thread, libc::SCHED_IDLE))
    }

    fn promote(&self, had: &Had, group: Option<&Group>, _by: f64) -> io::Result<()> {
        let known = had.parts.iter().map(|part| part.id);
        let born = group.and_then(|group| group.threads().ok()).unwrap_or_default();
        let usual = had.parts.first().map_or("0", |part| part.what.as_str());
        let mut first = Ok(());
        for thread in known.chain(born) {
            let Some(now) = Process::find(thread) else { continue };
            let is_known = had.parts.iter().any(|part| part.id == thread);
            let before = match had.of(thread, now.started) {
                Some(before) => before,
                None if is_known => continue,
                None => usual,
            };
            let is_idle = process::policy_of(thread).is_some_and(|it| bare(it) == libc::SCHED_IDLE);
            if is_idle && let Ok(before) = before.parse() {
                first = first.and(process::set_policy(thread, before));
            }
        }
        first
    }

    fn groups(&self, _had: &Had) -> Vec<PathBuf> {
        Vec::new()
    }

    fn give_back(&self, had: &Had, group: Option<&Group>) -> io::Result<()> {
        self.promote(had, group, 1.0)
    }
}

fn bare(policy: i32) -> i32 {
    policy & !libc::SCHED_RESET_ON_FORK
}

fn is_ordinary(policy: i32) -> bool {
    [libc::SCHED_OTHER, libc::SCHED_BATCH].contains(&bare(policy))
}

/// Whether a thread of this nice value may be taken out of the idle class again.
///
/// Errors: why not. Source: sched(7): CAP_SYS_NICE, or its own RLIMIT_NICE.
fn may_leave(pid: i32, nice: i32) -> Result<(), String> {
    if process::may_set_priorities() {
        return Ok(());
    }
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
    let soft = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max nice priority"))
        .and_then(|rest| rest.split_ascii_whitespace().next()?.parse::<i64>().ok());
    if soft.is_some_and(|limit| limit >= NICE_LIMIT - i64::from(nice)) {
        return Ok(());
    }
    Err("without CAP_SYS_NICE or RLIMIT_NICE nothing could take it out again".to_owned())
}

/// In which scheduling group the kernel has a process: its control group for the cpu controller, and
/// in that of all its session's.
///
/// Source: the kernel's `task_wants_autogroup`, and cgroup-v2.rst: a group in which a controller is
/// not enabled belongs to the nearest one above in which it is.
fn scheduled_in(pid: i32) -> String {
    let autogroup = || {
        let text = fs::read_to_string(format!("/proc/{pid}/autogroup")).unwrap_or_default();
        text.trim().to_owned()
    };
    let group = if let Some(root) = v1::root() {
        process::control_group(pid, &root, "cpu").filter(|home| *home != root)
    } else {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let root = mounted(&mounts, |kind, _| kind == "cgroup2").into_iter().next();
        let home = root.and_then(|root| process::control_group(pid, &root, "0"));
        // The group of all has no such file.
        home.and_then(|home| {
            home.ancestors().find(|above| above.join("cpu.weight").exists()).map(PathBuf::from)
        })
    };
    group.map_or_else(autogroup, |group| group.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::super::super::freezer;
    use super::*;

    #[test]
    fn what_a_thread_had_is_given_back_and_real_time_is_left_alone() {
        if Threads.probe(&Hierarchy::at(signals(), std::env::temp_dir())).is_err() {
            return testkit::skipped("SCHED_IDLE: no CAP_SYS_NICE and no RLIMIT_NICE");
        }
        // The tests may be run with a nice value of their own.
        let own = process::nice_of(std::process::id() as i32).expect("it is ours");
        for (words, policy, more) in [
            (vec!["sleep", "100"], libc::SCHED_OTHER, 0),
            (vec!["nice", "-n", "7", "sleep", "100"], libc::SCHED_OTHER, 7),
            (vec!["chrt", "-b", "0", "sleep", "100"], libc::SCHED_BATCH, 0),
            (vec!["chrt", "-f", "3", "sleep", "100"], libc::SCHED_FIFO, 0),
            (vec!["chrt", "-i", "0", "sleep", "100"], libc::SCHED_IDLE, 0),
        ] {
            let nice = (own + more).min(19);
            let folder = tempfile::tempdir().expect("a scratch folder");
            let mut child =
                std::process::Command::new(words[0]).args(&words[1..]).spawn().expect("it runs");
            let pid = child.id() as i32;
            let has = || process::policy_of(pid).zip(process::nice_of(pid));
            let began = (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                let name = Process::find(pid).map(|found| found.name);
                name.as_deref() == Some("sleep") && has() == Some((policy, nice))
            });
            let group = Group::open(signals(), folder.path().to_owned()).expect("a group");
            group.started(pid).and_then(|()| group.thaw()).expect("it is ours");
            let had = Threads.look(&group, "");
            let demoted = had.as_ref().map(|had| Threads.demote(had, &group).map(|()| has()));
            let path = folder.path().join("had");
            let stored = had.as_ref().map(|had| had.store(&path));
            // By whoever outlives the manager.
            let back = Had::load(&path).map(|had| had.give_back(None).map(|()| has()));
            child.kill().and_then(|()| child.wait()).expect("it is ours");
            assert!(began, "{words:?}");
            let expected = if is_ordinary(policy) { libc::SCHED_IDLE } else { policy };
            assert_eq!(demoted.expect("seen").expect("done"), Some((expected, nice)), "{words:?}");
            stored.expect("seen").expect("written");
            assert_eq!(back.expect("read").expect("done"), Some((policy, nice)), "{words:?}");
        }
    }

    fn signals() -> freezer::Kind {
        freezer::from_text("signals").expect("it is one of them")
    }
}

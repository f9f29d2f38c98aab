//! Door: which processes are never frozen: the manager, its supervisors, what they and a client were
//! started by.

use super::process::{self, Process};
use super::refusal::Refusal;
use super::supervisor;

/// Processes that are never frozen.
#[derive(Debug, Clone)]
pub struct Spared {
    itself: i32,
    supervisors: supervisor::Pids,
    above: Vec<i32>,
    /// The daemon has many users.
    pub is_for_many: bool,
}

/// A process below this one that is another user's, as one of `sudo`.
fn other_below(pid: i32, uid: u32) -> Option<(i32, u32)> {
    let all = process::all().unwrap_or_default();
    process::tree(&all, pid)
        .iter()
        .filter_map(|process| Some((process.pid, process.owner().ok()?)))
        .find(|pair| pair.1 != uid)
}

impl Spared {
    /// The manager, its supervisors, and what they were started by.
    pub fn new(supervisors: supervisor::Pids) -> Spared {
        let own = std::process::id() as i32;
        Spared { itself: own, supervisors, above: above(own), is_for_many: false }
    }

    fn is_itself(&self, pid: i32) -> bool {
        pid == self.itself
            || self
                .supervisors
                .lock()
                .expect("nobody panics with it")
                .values()
                .any(|supervisor| *supervisor == pid)
    }

    /// The process that `asker`, a process of `own_uid`, may attach.
    ///
    /// Errors: why not.
    pub fn check(&self, pid: i32, asker: i32, own_uid: u32) -> Result<Process, Refusal> {
        let found = self.look(pid, asker)?;
        match found.owner() {
            // Root may attach whatever it likes.
            Ok(uid) if uid == own_uid => {
                match if own_uid == 0 { None } else { other_below(pid, own_uid) } {
                    Some((child, uid)) => Err(Refusal::Below(pid, child, uid)),
                    None => Ok(found),
                }
            }
            Ok(_) if own_uid == 0 && nix::unistd::geteuid().is_root() && self.is_for_many => {
                Ok(found)
            }
            Ok(uid) => Err(Refusal::Owner(pid, uid)),
            Err(_) => Err(Refusal::NotThere(pid)),
        }
    }

    /// The process, whoever it belongs to, if freezing it does not freeze the manager or `asker`.
    ///
    /// Errors: why not.
    pub fn look(&self, pid: i32, asker: i32) -> Result<Process, Refusal> {
        if pid == 1 {
            return Err(Refusal::Init);
        }
        let found = Process::find(pid).filter(Process::is_there).ok_or(Refusal::NotThere(pid))?;
        if self.is_itself(pid) || pid == asker {
            return Err(Refusal::Itself(pid));
        }
        if self.above.contains(&pid) || above(asker).contains(&pid) {
            return Err(Refusal::Above(pid, found.name));
        }
        if found.is_kernel() {
            return Err(Refusal::Kernel(pid));
        }
        Ok(found)
    }
}

/// What a process was started by, and the head of its session.
fn above(pid: i32) -> Vec<i32> {
    let mut found = process::ancestors(pid);
    found.extend(Process::find(pid).map(|it| it.session).filter(|session| *session > 0));
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_may_never_be_frozen_is_refused() {
        let own = std::process::id() as i32;
        let parent = process::ancestors(own)[1];
        let uid = nix::unistd::geteuid().as_raw();
        let mut child = std::process::Command::new("sleep").arg("100").spawn().expect("sleep runs");
        let pid = child.id() as i32;
        let spared = Spared::new(Arc::new(std::sync::Mutex::new([(0, pid)].into())));
        assert_eq!(spared.check(1, own, uid), Err(Refusal::Init));
        assert_eq!(spared.check(own, own, uid), Err(Refusal::Itself(own)));
        assert_eq!(spared.check(pid, own, uid), Err(Refusal::Itself(pid)), "the supervisor");
        assert!(
            matches!(spared.check(parent, own, uid), Err(Refusal::Above(it, _)) if it == parent)
                || parent == 1
        );
        assert_eq!(spared.check(i32::MAX, own, uid), Err(Refusal::NotThere(i32::MAX)));
        let spared = Spared {
            itself: own,
            supervisors: supervisor::Pids::default(),
            above: vec![],
            is_for_many: false,
        };
        assert_eq!(spared.check(pid, pid, uid), Err(Refusal::Itself(pid)), "who asks");
        assert_eq!(spared.check(pid, own, uid + 1), Err(Refusal::Owner(pid, uid)));
        let found = spared.check(pid, own, uid);
        child.kill().and_then(|()| child.wait()).expect("it is ours");
        assert_eq!(found.map(|found| found.pid), Ok(pid));
        assert_eq!(spared.check(pid, own, uid), Err(Refusal::NotThere(pid)));
    }
}

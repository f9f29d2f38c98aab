//! Door: which processes are never frozen: the manager, its supervisors, what they and a client were
//! started by.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::foreign::{Foreign, shown};
use super::process::{self, Process};
use super::refusal::Refusal;
use super::rights;
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
    /// Errors: why it is not to be attached.
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
            Ok(_) if own_uid == 0 && rights::owner() == 0 && self.is_for_many => Ok(found),
            Ok(uid) => Err(Refusal::Owner(pid, uid)),
            Err(_) => Err(Refusal::NotThere(pid)),
        }
    }

    /// Whether `asker`, a process of user `uid`, may have this group managed; its first process.
    ///
    /// Errors: why it is not taken.
    pub fn check_group(&self, group: &Foreign, asker: i32, uid: u32) -> Result<Process, Refusal> {
        let said = || shown(group.path_inside());
        for name in group.path_inside().iter().filter_map(|name| name.to_str()) {
            if rights::is_of_ours(name.as_ref()) {
                return Err(Refusal::ManagersGroup(said(), name.to_owned()));
            }
            let job = name.strip_prefix("job_").unwrap_or_default();
            if job.starts_with(|letter: char| letter.is_ascii_digit()) {
                return Err(Refusal::SlurmsGroup(said()));
            }
        }
        // Who owns the folder may put anything into it: whose processes they are does not matter.
        let owner = fs::metadata(group.path()).map_or(0, |folder| folder.uid());
        if uid != 0 && owner != uid {
            return Err(Refusal::GroupOwner(said(), owner));
        }
        let pids = group.pids();
        // Source: the kernel's cgroup-v2.rst, "Namespace": what is outside is shown as 0.
        if !pids.is_empty() && pids.iter().all(|pid| *pid == 0) {
            return Err(Refusal::Unseen(said(), pids.len()));
        }
        let members = group.members();
        for member in &members {
            match self.look(member.pid, asker) {
                Err(Refusal::NotThere(_)) | Ok(_) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        members.into_iter().next().ok_or_else(|| Refusal::EmptyGroup(said()))
    }

    /// The process, whoever it belongs to, if freezing it does not freeze the manager or `asker`.
    ///
    /// Errors: why it is not to be attached.
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

    #[test]
    fn whose_group_it_is_and_who_is_in_it_is_asked_first() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let kind = super::super::freezer::from_text("v2").expect("it is one of them");
        let group = Foreign::at(kind, folder.path(), &folder.path().join(".")).expect("a folder");
        let own = std::process::id() as i32;
        let uid = nix::unistd::geteuid().as_raw();
        let spared = Spared {
            itself: own,
            supervisors: supervisor::Pids::default(),
            above: vec![],
            is_for_many: false,
        };
        let with = |processes: &str, uid: u32| {
            fs::write(folder.path().join("cgroup.procs"), processes).expect("a scratch file");
            spared.check_group(&group, own, uid)
        };
        let mut child = std::process::Command::new("sleep").arg("100").spawn().expect("sleep runs");
        let processes = format!("{}\n", child.id());
        let (mine, others) = (with(&processes, uid), with(&processes, uid + 1));
        child.kill().and_then(|()| child.wait()).expect("it is ours");
        assert_eq!(mine.map(|found| found.pid), Ok(child.id() as i32));
        assert_eq!(others, Err(Refusal::GroupOwner("/".into(), uid)));
        assert_eq!(with("", uid), Err(Refusal::EmptyGroup("/".into())));
        assert_eq!(with("0\n0\n", uid), Err(Refusal::Unseen("/".into(), 2)));
        assert_eq!(with("1\n", uid), Err(Refusal::Init));
        assert_eq!(with(&format!("{own}\n"), uid), Err(Refusal::Itself(own)));
    }
}

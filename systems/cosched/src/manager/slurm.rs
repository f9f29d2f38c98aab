//! Door: steps of Slurm: which process may tell of them, where they are frozen, whether Slurm has
//! suspended them, what they moved.
//!
//! Where Slurm's own control groups are of version 2, tasks are frozen in them, in place: Slurm
//! signals what is in its groups, and a process that left them would outlive its job. Elsewhere
//! (version 1, hybrid machines, no groups) a step gets a group of ours in the hierarchy of version
//! 2, of which Slurm knows nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::class::Class;
use super::freezer;
use super::group::{Group, Hierarchy};
use super::process::{self, Process};
use super::refusal::Refusal;
use super::rights::{self, Deed};
use super::spared::Spared;
use super::tasks::is_task;

/// The plugin that tells of steps.
pub const PLUGIN: &str = include_str!("../../slurm/cosched.c");
/// What asks for bandwidth when a job is submitted.
pub const JOB_SUBMIT: &str = include_str!("../../slurm/job_submit.lua");
/// What writes into a job's comment what it moved, when it ends on a node.
pub const EPILOG: &str = include_str!("../../slurm/epilog.sh");
/// In each file of ours.
pub const MARK: &str = "Written by `meanwhile cosched slurm`.";
/// MB/s of one `membw`.
pub const UNIT_MBPS: u64 = 100;
/// The number of a batch script's step. Source: `slurm/slurm.h`, as its `SLURM_BATCH_SCRIPT`.
const BATCH: u32 = 0xffff_fffb;
/// Lines of a history.
const HISTORY: usize = 10_000;

/// All tasks of a step on this node.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub job: u32,
    pub step: u32,
    /// Whose tasks they are.
    pub user: u32,
    /// The job's name, one word.
    pub name: String,
    /// Processors of the step here.
    #[serde(default)]
    pub threads: Option<usize>,
    /// MB/s that its owner expects.
    #[serde(default)]
    pub membw: Option<u32>,
    /// What its owner says of it.
    #[serde(default)]
    pub class: Class,
    /// Nodes that it runs on.
    #[serde(default = "one")]
    pub nodes: u32,
    pub pids: Vec<i32>,
}

impl Step {
    /// `JOB.STEP name`, as Slurm's own tools call it.
    pub fn text(&self) -> String {
        let step = if self.step == BATCH { "batch".to_owned() } else { self.step.to_string() };
        format!("{}.{step} {}", self.job, self.name)
    }

    /// The tasks that `asker`, a process of `uid`, may give to us.
    ///
    pub fn check(&self, spared: &Spared, asker: i32, uid: u32) -> Result<Vec<Process>, Refusal> {
        if uid != 0 {
            return Err(Refusal::NoSlurm(uid));
        }
        if self.pids.is_empty()
            || self.name.contains(|letter: char| letter.is_whitespace() || letter.is_control())
        {
            return Err(Refusal::NoRequest("a step has tasks, and a name of one word".to_owned()));
        }
        let mut found = Vec::new();
        for &pid in &self.pids {
            if !process::ancestors(pid).contains(&asker) {
                return Err(if Process::find(pid).is_some() {
                    Refusal::NoTask(pid)
                } else {
                    Refusal::NotThere(pid)
                });
            }
            let task = spared.look(pid, asker)?;
            match task.owner() {
                // slurmstepd's child becomes the user's while the plugin tells of it, and is root's
                // until then.
                Ok(uid) if uid == self.user || uid == 0 => found.push(task),
                Ok(uid) => return Err(Refusal::Owner(pid, uid)),
                Err(_) => return Err(Refusal::NotThere(pid)),
            }
        }
        Ok(found)
    }
}

fn one() -> u32 {
    1
}

/// A step that is managed.
#[derive(Debug)]
pub(super) struct Managed {
    pub(super) step: Step,
    /// Its tasks but the first.
    pub(super) others: Vec<Process>,
    says: Option<PathBuf>,
}

impl Managed {
    /// Its tasks are in `group`.
    pub(super) fn new(step: Step, tasks: &[Process], group: &Path) -> Managed {
        let says = if is_task(group) {
            group.parent().map(|folder| folder.join("cgroup.freeze"))
        } else {
            let v1 = freezer::from_text("v1").expect("it is one of them");
            let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
            let home = v1.places(&mounts).first().and_then(|root| v1.home(tasks[0].pid, root));
            home.filter(|home| home.to_string_lossy().contains("/job_"))
                .map(|home| home.join("freezer.state"))
        };
        Managed { step, others: tasks[1..].to_vec(), says }
    }

    /// Slurm has suspended the step whose first task is `root`, and whose tasks are in `group`.
    pub(super) fn looks_suspended(&self, root: &Process, group: &Group) -> bool {
        let said = self.says.as_ref().and_then(|say| fs::read_to_string(say).ok());
        if said.is_some_and(|said| said.starts_with("FR") || said.trim() == "1") {
            return true;
        }
        // Without groups, and in batch scripts with those of version 2, Slurm stops every process.
        // The first ones are few.
        let runs = |it: &Process| {
            Process::find(it.pid).is_some_and(|it| it.state != 'T' && it.state != 'Z')
        };
        if std::iter::once(root).chain(&self.others).any(runs) {
            return false;
        }
        let members = group.members().unwrap_or_default();
        !members.is_empty() && members.iter().all(|member| member.state == 'T')
    }
}

/// Where the group of these tasks is.
///
/// Errors: there is none that Slurm would not miss them in.
pub(super) fn place(hierarchy: &Hierarchy, tasks: &[Process], name: &str) -> io::Result<PathBuf> {
    let refused = |said: String| Err(io::Error::new(io::ErrorKind::Unsupported, said));
    if hierarchy.freezer.text() != "v2" {
        return refused(format!(
            "steps are frozen by control groups of version 2, not by {}",
            hierarchy.freezer.name()
        ));
    }
    let homes: Vec<Option<PathBuf>> = tasks.iter().map(|task| hierarchy.home(task.pid)).collect();
    let home = homes[0].clone();
    match &home {
        Some(it) if is_task(it) => {
            if homes.iter().all(|other| {
                other.as_ref().is_some_and(|other| is_task(other) && other.parent() == it.parent())
            }) {
                return Ok(it.clone());
            }
            refused(format!("not all tasks are in {}", it.display()))
        }
        Some(it) if it.iter().any(|it| it.to_string_lossy().starts_with("job_")) => {
            refused(format!("{} is a group of Slurm's, which a task is not to leave", it.display()))
        }
        _ => hierarchy.place_beside(home.as_deref(), name),
    }
}

/// Where it is noted what steps moved. A thread writes: a folder on a network that does not answer
/// costs notes, and no program its turn.
#[derive(Debug)]
pub struct History {
    notes: Option<SyncSender<Note>>,
    is_written: Option<Receiver<()>>,
}

/// Whose, the name of the job, MB/s.
type Note = (u32, String, f64);

/// Notes that wait to be written.
const NOTES_MAX: usize = 256;
/// How long those are waited for at the end.
const LAST_NOTES: Duration = Duration::from_secs(1);

impl History {
    /// One in this file.
    ///
    /// Errors: no thread can be had.
    pub fn new(path: PathBuf) -> io::Result<History> {
        let (notes, given) = mpsc::sync_channel::<Note>(NOTES_MAX);
        let (done, is_written) = mpsc::channel();
        let write = move || {
            for (user, name, mbps) in given {
                // Without room, what is known of it stays as it is.
                let _ = note(&path, user, &name, mbps);
            }
            drop(done);
        };
        std::thread::Builder::new().name("history".to_owned()).spawn(write)?;
        Ok(History { notes: Some(notes), is_written: Some(is_written) })
    }

    /// One that is written by who has root's rights.
    pub fn of_the_hands() -> History {
        History { notes: None, is_written: None }
    }

    /// Notes what a step moved, MB/s on all its processors together.
    pub fn add(&self, user: u32, name: &str, mbps: f64) {
        if self.is_written.is_none() {
            let deed = || Deed::History { user, name: name.to_owned(), mbps };
            return drop(rights::ask(deed));
        }
        // Full, it is lost.
        let _ = self.notes.as_ref().map(|note| note.try_send((user, name.to_owned(), mbps)));
    }
}

impl Drop for History {
    fn drop(&mut self) {
        self.notes = None;
        let _ = self.is_written.as_ref().map(|written| written.recv_timeout(LAST_NOTES));
    }
}

/// Notes in a history what a step moved, MB/s on all its processors together: half of what
/// counts is the latest.
///
/// Errors: there is no room, or the folder is missing.
fn note(history: &Path, user: u32, name: &str, mbps: f64) -> io::Result<()> {
    let before = match fs::read_to_string(history) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        it => it.unwrap_or_default(),
    };
    let key = format!("{user} {name} ");
    let old = before.lines().find_map(|line| line.strip_prefix(&key)?.parse::<f64>().ok());
    // Nothing may be all that an earlier daemon could see.
    let new = old.filter(|old| *old > 0.0).map_or(mbps, |old| (old + mbps) / 2.0).max(0.0);
    let mut lines: Vec<String> =
        before.lines().filter(|line| !line.starts_with(&key)).map(str::to_owned).collect();
    lines.push(format!("{key}{new:.0}"));
    let first = lines.len().saturating_sub(HISTORY);
    measure::file::write(history, (lines[first..].join("\n") + "\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn tasks_are_known_by_their_folders() {
        assert!(is_task(Path::new(
            "/sys/fs/cgroup/n1_slurmstepd.scope/job_7/step_0/user/task_special"
        )));
        for path in [
            "/job_7/step_0/user",
            "/job_7/step_0/slurm/task_0",
            "/job_7/user/task_0",
            "/",
            "/sys/fs/cgroup/meanwhile-1",
        ] {
            assert!(!is_task(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_history_has_a_line_for_each_name_of_a_user() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("n1");
        for (user, name, mbps) in [
            (1, "stream", 9000.0),
            (2, "stream", 100.0),
            (1, "stream", 5000.0),
            (1, "str", 0.0),
            (1, "str", 800.0),
        ] {
            note(&path, user, name, mbps).expect("written");
        }
        assert_eq!(
            fs::read_to_string(&path).expect("it was written"),
            "2 stream 100\n1 stream 7000\n1 str 800\n"
        );
    }

    #[test]
    fn a_history_that_does_not_answer_holds_nobody_up() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("n1");
        // A pipe that nobody writes to: whoever reads it waits.
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&path)
                .status()
                .expect("mkfifo runs")
                .success()
        );
        let history = History::new(path).expect("a thread");
        let start = Instant::now();
        (0..4 * NOTES_MAX).for_each(|idx| history.add(1, "a", idx as f64));
        assert!(start.elapsed() < LAST_NOTES);
        drop(history);
        assert!(start.elapsed() < 5 * LAST_NOTES);
        let path = folder.path().join("n2");
        let history = History::new(path.clone()).expect("a thread");
        history.add(1, "a", 5.0);
        drop(history);
        assert_eq!(fs::read_to_string(&path).expect("it was written before the end"), "1 a 5\n");
    }

    #[test]
    fn only_root_tells_of_steps_and_only_of_its_own_tasks() {
        let own = std::process::id() as i32;
        let spared = Spared::new(super::super::supervisor::Pids::default());
        let step = |pids: Vec<i32>| Step {
            job: 7,
            step: BATCH,
            user: nix::unistd::geteuid().as_raw(),
            name: "a".into(),
            threads: None,
            membw: None,
            nodes: 1,
            class: Class::Auto,
            pids,
        };
        assert_eq!(step(vec![own]).text(), "7.batch a");
        assert_eq!(step(vec![own]).check(&spared, own, 1000), Err(Refusal::NoSlurm(1000)));
        assert!(matches!(step(vec![]).check(&spared, own, 0), Err(Refusal::NoRequest(_))));
        let mut child = std::process::Command::new("sleep").arg("100").spawn().expect("sleep runs");
        let pid = child.id() as i32;
        let found = step(vec![pid]).check(&spared, own, 0);
        let others = step(vec![pid]).check(&spared, pid + 1, 0);
        let of_4711 = Step { user: 4711, ..step(vec![pid]) }.check(&spared, own, 0);
        child.kill().and_then(|()| child.wait()).expect("it is ours");
        assert_eq!(found.map(|found| found[0].pid), Ok(pid));
        assert_eq!(others, Err(Refusal::NoTask(pid)));
        // A task that is root's may not have become its user's yet; one that is a third user's
        // never will.
        let is_root = nix::unistd::geteuid().is_root();
        let expected = if is_root {
            Ok(pid)
        } else {
            Err(Refusal::Owner(pid, nix::unistd::geteuid().as_raw()))
        };
        assert_eq!(of_4711.map(|it| it[0].pid), expected);
        if is_root {
            let mut child = std::os::unix::process::CommandExt::uid(
                std::process::Command::new("sleep").arg("100"),
                4712,
            )
            .spawn()
            .expect("sleep runs");
            let pid = child.id() as i32;
            let third = Step { user: 4711, ..step(vec![pid]) }.check(&spared, own, 0);
            child.kill().and_then(|()| child.wait()).expect("it is ours");
            assert_eq!(third, Err(Refusal::Owner(pid, 4712)));
        }
    }
}

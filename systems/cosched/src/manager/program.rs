//! Door: one program under the manager: how it is started, kept to its processors, and let go.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::across::{self, Across};
use super::class::Class;
use super::container::Named;
use super::group::Group;
use super::idle::Demotable;
use super::journal::Before;
use super::limit::Limit;
use super::perf;
use super::process::{self, Process};
use super::ready::Readiness;
use super::resctrl;
use super::rest::Usage;
use super::slurm;
use super::sweep::{Pace, PaceFound, Unknown};
use super::team::Page;
use super::users::{Entry, Start};

/// Estimates that are remembered.
const WINDOW: usize = 8;
/// Every so many turns a program is kept to its processors again, whatever it asked for itself.
const KEEP_EVERY: u64 = 10;

#[derive(Debug, Clone)]
pub struct Task {
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Threads that it is told to use, and that the policy counts; if none are said, those that
    /// are seen to run.
    pub n_threads: Option<usize>,
    pub expected: Expected,
    /// Where it runs and with which environment; as this process if there is none.
    pub place: Option<Place>,
    /// Where its output goes; to standard error if there is none.
    pub output: Option<PathBuf>,
}

/// What its owner says of a program.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expected {
    pub class: Class,
    /// MB/s of each of its threads, until something is seen.
    pub mbps: Option<f64>,
}

/// The surroundings of a program.
#[derive(Debug, Clone)]
pub struct Place {
    pub folder: PathBuf,
    pub environment: Vec<(String, String)>,
    /// Whose it becomes, where a daemon has many users.
    pub entry: Option<Entry>,
    /// The control group of the client, where it belongs when it leaves us; ours if there is none.
    pub home: Option<PathBuf>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ended {
    pub id: u64,
    pub user: u32,
    pub name: String,
    /// Seconds from its start to its end.
    pub turnaround_s: f64,
    /// Its exit status; none if a signal ended it, or if it was attached and is not our child.
    pub status: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    pub n_turns: u64,
    /// Most quanta in a row that it did not have.
    pub longest_wait_quanta: u64,
    /// Bytes that it moved, where they are counted.
    pub bytes: Option<u64>,
    /// The job of Slurm that it was a step of.
    pub job: Option<u32>,
    /// MB/s that it was seen to move on all its processors together.
    pub mbps: Option<f64>,
}

/// A program as it is now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    pub id: u64,
    pub user: u32,
    pub name: String,
    pub pid: i32,
    /// It ran before it was given to us.
    pub is_attached: bool,
    /// Threads that the policy counts.
    pub n_threads: usize,
    /// It has processors in this quantum, or takes no turns.
    pub is_running: bool,
    /// It is in the idle class until its next turn.
    pub is_demoted: bool,
    pub class: Class,
    /// Why it waits for no turn, if it should.
    pub cannot_wait: Option<String>,
    /// Nodes that it runs on, if it is a step of Slurm.
    pub n_nodes: Option<u32>,
    /// The share of its processors that it may use, if it is limited.
    pub limited_to: Option<f64>,
    /// Why it cannot be limited, if it should be.
    pub cannot_limit: Option<String>,
    /// Its threads sleep or wait for I/O: it takes no turns, and is not frozen.
    pub is_resting: bool,
    /// Its job is suspended by Slurm, or its owner has frozen its group.
    pub is_suspended: bool,
    /// The control group that it came from, as `/proc/PID/cgroup` shows it, if it ran before.
    pub cgroup: Option<String>,
    /// The pod and the container that this is, by its path.
    pub pod_uid: Option<String>,
    pub container_id: Option<String>,
    /// Its processors in this quantum; none while it waits, rests, or the kernel schedules alone.
    pub cpus: Vec<usize>,
    /// Its traffic on each processor in MB/s, if it was seen, and is more than can
    /// be told from nothing.
    pub mbps: Option<f64>,
    /// Its interval of 90 %, where it is known by the pages that the program touches.
    pub mbps_interval: Option<[f64; 2]>,
    /// Why these pages do not tell it, where nothing else did.
    pub cannot_measure: Option<String>,
    /// How far those beside it slow it down, if that is known.
    pub slowdown: Option<f64>,
    /// Its teams follow its processors.
    pub is_followed: bool,
    /// What it counted: regions of OpenMP, or its own; none if it has no page to count on.
    pub progress: Option<u64>,
    /// Threads that could not be kept to its processors.
    pub n_refusing: usize,
    pub n_turns: u64,
    /// Most quanta in a row that it did not have.
    pub longest_wait_quanta: u64,
    /// All quanta that it did not have.
    pub n_waits: u64,
    /// Times that it was frozen or demoted at the end of its turn.
    pub n_freezes: u64,
    pub n_demotions: u64,
    /// The programs beside it when it was compared with itself alone.
    pub neighbours: Vec<Neighbour>,
    /// Those that slow it, by what it did with and without them, the surest first.
    pub antagonists: Vec<Antagonist>,
    /// Seconds since its start.
    pub age_s: f64,
}

/// What was measured of a program while this one ran beside it, with or without others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Neighbour {
    pub id: u64,
    pub name: String,
    /// How far the program was slowed down, the mean.
    pub slowdown: f64,
    /// Of so many measurements.
    pub n: u64,
}

/// A neighbour that slows a program.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Antagonist {
    pub id: u64,
    pub name: String,
    /// What the program did without it in the same processor time, over what it did beside it.
    pub slowdown: f64,
    /// How sure that is, 0 to 1, of all neighbours that were suspected.
    pub confidence: f64,
    /// Times that it computed, and that it did not.
    pub n_with: usize,
    pub n_without: usize,
}

impl Neighbour {
    pub(super) fn add(&mut self, slowdown: f64) {
        self.n += 1;
        self.slowdown += (slowdown - self.slowdown) / self.n as f64;
    }
}

pub(super) struct Program {
    pub(super) id: u64,
    pub(super) user: u32,
    pub(super) name: String,
    pub(super) n_threads: usize,
    /// How many they are is what is seen to run.
    pub(super) is_counted: bool,
    pub(super) usage: Usage,
    pub(super) readiness: Readiness,
    pub(super) class: Class,
    /// It waits in the idle class, and is never frozen.
    pub(super) is_soft: bool,
    /// It is ready to be demoted.
    pub(super) demotable: Option<Demotable>,
    /// How often its own weight it has in its turn: with that of those that wait.
    pub(super) weighs: f64,
    /// Why it cannot be, as was last tried.
    pub(super) cannot_wait: Option<String>,
    /// It uses only a share of its processors; and why it cannot be limited so, as last tried.
    pub(super) limit: Option<Limit>,
    pub(super) cannot_limit: Option<String>,
    /// Its threads are kept to the processors that are chosen for it.
    pub(super) is_kept: bool,
    /// It takes no turns, and is not kept from running.
    pub(super) is_resting: bool,
    pub(super) group: Group,
    pub(super) root: Process,
    pub(super) is_attached: bool,
    /// It is a step of Slurm.
    pub(super) step: Option<slurm::Managed>,
    /// It runs on several nodes, whose clocks differ too much for one turn: it takes none.
    pub(super) is_adrift: bool,
    /// Somebody else keeps it from running: it takes no turns.
    pub(super) is_suspended: bool,
    /// Where it was before, and what that is.
    pub(super) cgroup: Option<PathBuf>,
    pub(super) named: Named,
    /// Where it goes when it leaves us, and the processors that its threads then may use.
    pub(super) before: Before,
    pub(super) page: Option<Page>,
    pub(super) counter: Counter,
    /// The processes that it counts, of a group that others may join.
    pub(super) counted: BTreeSet<i32>,
    pub(super) bytes_before: Option<u64>,
    pub(super) started: Instant,
    pub(super) has_ended: bool,
    pub(super) is_thawed: bool,
    pub(super) keeps_to: Vec<usize>,
    pub(super) n_refusing: usize,
    /// What was seen last, MB/s of each of its processors; none: less than can
    /// be told from nothing.
    pub(super) window_mbps: Vec<Option<f64>>,
    /// What its pages tell, where nothing counts its traffic.
    pub(super) pace: PaceFound,
    /// What its owner expects, until something is seen.
    pub(super) asked_mbps: Option<f64>,
    pub(super) seen: Seen,
    pub(super) slowdown: Option<f64>,
    pub(super) n_turns: u64,
    pub(super) waits: u64,
    pub(super) longest_wait_quanta: u64,
    pub(super) n_waits: u64,
    pub(super) n_freezes: u64,
    pub(super) n_demotions: u64,
    pub(super) neighbours: Vec<Neighbour>,
}

/// All that was seen of a program's traffic.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    sum_mbps: f64,
    n_rates: u32,
    n: u32,
}

impl Seen {
    /// One more look: MB/s on all its processors, none if that cannot be told from nothing.
    fn add(&mut self, mbps: Option<f64>) {
        self.n += 1;
        self.n_rates += u32::from(mbps.is_some());
        self.sum_mbps += mbps.unwrap_or(0.0);
    }

    /// What it moves, the mean; not known unless most looks found a rate.
    pub(super) fn mbps(self) -> Option<f64> {
        (2 * self.n_rates > self.n).then(|| self.sum_mbps / f64::from(self.n))
    }
}

/// What counts a program's traffic.
pub(super) enum Counter {
    Resctrl(resctrl::ResctrlCounter),
    Perf(perf::PerfCounter),
    Nothing,
}

impl Counter {
    pub(super) fn bytes(&mut self) -> io::Result<Option<u64>> {
        match self {
            Counter::Resctrl(it) => it.bytes(),
            Counter::Perf(it) => it.bytes(),
            Counter::Nothing => Ok(None),
        }
    }

    fn add(&mut self, threads: &[i32]) -> io::Result<()> {
        match self {
            Counter::Resctrl(it) => it.add(threads),
            Counter::Perf(it) => it.add(threads),
            Counter::Nothing => Ok(()),
        }
    }
}

impl Program {
    /// A process of its group that its user could signal: one that it made another's, as `passwd`
    /// is root's, is left alone.
    pub(super) fn may_signal(&self, process: &Process) -> bool {
        self.user == 0 || process.owner().is_ok_and(|owner| owner == self.user)
    }

    /// As it is now.
    pub(super) fn status(&self) -> Status {
        let seen = self.window_mbps.last().copied().flatten().filter(|_| !self.is_resting);
        let pace = self.pace.pace().filter(|_| !self.is_resting);
        Status {
            id: self.id,
            user: self.user,
            name: self.name.clone(),
            pid: self.root.pid,
            is_attached: self.is_attached,
            n_threads: self.n_threads,
            is_running: self.is_thawed,
            is_demoted: self.is_soft && !self.is_thawed,
            class: self.class,
            cannot_wait: if self.is_adrift {
                Some(across::ADRIFT.to_owned())
            } else {
                self.cannot_wait.clone()
            },
            n_nodes: self.step.as_ref().map(|managed| managed.step.nodes),
            limited_to: self.limit.as_ref().map(Limit::share),
            cannot_limit: self.cannot_limit.clone(),
            is_resting: self.is_resting,
            is_suspended: self.is_suspended,
            cgroup: self.cgroup.as_ref().map(|path| path.display().to_string()),
            pod_uid: self.named.pod_uid.clone(),
            container_id: self.named.container_id.clone(),
            cpus: if self.is_thawed && !self.is_resting {
                self.keeps_to.clone()
            } else {
                Vec::new()
            },
            mbps: seen.or(pace.map(|pace| pace.mbps)),
            mbps_interval: pace.filter(|_| seen.is_none()).map(|pace| [pace.low, pace.high]),
            cannot_measure: self.pace.why_not().filter(|_| seen.is_none()),
            slowdown: self.slowdown,
            is_followed: self.page.as_ref().is_some_and(Page::is_followed),
            progress: self.progress(),
            n_refusing: self.n_refusing,
            n_turns: self.n_turns,
            longest_wait_quanta: self.longest_wait_quanta,
            n_waits: self.n_waits,
            n_freezes: self.n_freezes,
            n_demotions: self.n_demotions,
            neighbours: self.neighbours.clone(),
            antagonists: Vec::new(),
            age_s: self.started.elapsed().as_secs_f64(),
        }
    }

    pub(super) fn progress(&self) -> Option<u64> {
        self.page.as_ref().and_then(|page| page.progress().ok())
    }

    /// True if it rests by itself.
    pub(super) fn rests_by_itself(&self) -> bool {
        self.is_resting && !self.has_ended && !self.is_suspended && !self.is_adrift
    }

    /// As all its nodes know it, if it is a step on several.
    pub(super) fn across(&self) -> Option<Across> {
        let step = &self.step.as_ref()?.step;
        let n_threads = self.n_threads;
        (step.nodes > 1).then_some(Across { job: step.job, step: step.step, n_threads })
    }

    /// True if none of its first processes is there any more; of a group of another's, if
    /// that is gone itself.
    pub(super) fn is_gone(&self) -> bool {
        if let Some(group) = self.group.as_foreign() {
            return group.is_gone();
        }
        !self.root.is_there()
            && self.step.iter().flat_map(|it| &it.others).all(|other| !other.is_there())
    }

    /// Who has joined a group of another's is counted from now on. What fails has ended,
    /// or is tried again.
    pub(super) fn count_who_joined(&mut self) {
        let Some(group) = self.group.as_foreign() else { return };
        if matches!(self.counter, Counter::Nothing) {
            return;
        }
        let members = group.members();
        let before = std::mem::take(&mut self.counted);
        for member in members {
            // What one that is counted has forked is counted with it.
            let is_counted = before.contains(&member.pid) || before.contains(&member.parent);
            if is_counted || self.counter.add(&member.threads()).is_ok() {
                self.counted.insert(member.pid);
            }
        }
    }

    /// What was seen just now, MB/s of each of its processors; none: less than can
    /// be told from nothing.
    pub(super) fn remember(&mut self, mbps: Option<f64>) {
        let n_cpus = if self.keeps_to.is_empty() { self.n_threads } else { self.keeps_to.len() }
            .max(1) as f64;
        self.seen.add(mbps.map(|mbps| mbps * n_cpus));
        self.window_mbps.push(mbps);
        if self.window_mbps.len() > WINDOW {
            self.window_mbps.remove(0);
        }
    }

    /// What was found of its pages, on each of its processors.
    pub(super) fn note_pace(&mut self, found: Result<Pace, Unknown>) {
        self.seen.add(found.as_ref().ok().map(|pace| pace.mbps * self.n_threads.max(1) as f64));
        self.pace.note(Instant::now(), found);
    }

    /// What a policy goes by, the latest last: what cannot be told from nothing counts as nothing,
    /// unless its pages tell it.
    pub(super) fn window(&self) -> Vec<f64> {
        let pace = self.pace.pace().map(|pace| pace.mbps);
        let first = pace.or(self.asked_mbps).filter(|_| self.window_mbps.is_empty());
        let told = |mbps: &Option<f64>| mbps.or(pace).unwrap_or(0.0);
        self.window_mbps.iter().map(told).chain(first).collect()
    }

    /// Keeps it to these processors, if they are others than before or if it is time to insist.
    pub(super) fn keep_to(&mut self, cpus: &[usize]) -> io::Result<()> {
        if self.keeps_to == cpus && !(self.is_thawed && self.n_turns.is_multiple_of(KEEP_EVERY)) {
            return Ok(());
        }
        if !self.is_kept {
            self.keeps_to = cpus.to_vec();
            return Ok(());
        }
        self.n_refusing = self.group.keep_to(cpus)?;
        if !self.is_attached {
            // Before its first instruction it may not have joined its group yet.
            process::keep_thread(self.root.pid, cpus)?;
        }
        if let Some(page) = &self.page {
            // A page that cannot be written leaves the program with the threads it has.
            let _ = page.set_team(cpus.len() as u32);
        }
        self.keeps_to = cpus.to_vec();
        Ok(())
    }

    /// Its turn ends: frozen or demoted.
    pub(super) fn wait_for_turn(&mut self) -> io::Result<()> {
        if !self.is_soft {
            self.group.freeze()?;
            self.n_freezes += 1;
        } else if let Some(demotable) = &mut self.demotable {
            demotable.demote(&self.group)?;
            self.n_demotions += 1;
        } else {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.is_thawed = false;
        Ok(())
    }

    /// Its turn begins, or it takes none; it weighs as much as before, times `weighs`.
    pub(super) fn go_on(&mut self, weighs: f64) -> io::Result<()> {
        if let Some(demotable) = &mut self.demotable {
            demotable.promote(&self.group, weighs)?;
        }
        self.weighs = weighs;
        if !self.is_soft {
            self.group.thaw()?;
        }
        self.is_thawed = true;
        Ok(())
    }

    /// It is limited no more. What could not be given back stays written down.
    pub(super) fn lift(&mut self) {
        if let Some(limit) = self.limit.take() {
            let _ = limit.give_back();
        }
        self.cannot_limit = None;
    }

    /// The kernel schedules it alone: on its own processors, in its own scheduling group.
    pub(super) fn leave_to_the_kernel(&mut self, cpus: &[usize]) {
        self.lift();
        if let Some(demotable) = self.demotable.take() {
            demotable.give_back(&self.group);
        }
        self.weighs = 1.0;
        if std::mem::take(&mut self.is_kept) {
            self.before.unbind(&self.group, cpus);
        }
        self.keeps_to.clear();
        self.waits = 0;
        if !self.is_thawed {
            self.run_on(cpus);
        }
    }

    /// Thawed, and if it is ours on all processors: no policy chooses. What fails is tried again.
    pub(super) fn run_on(&mut self, cpus: &[usize]) {
        if self.is_kept && !self.is_attached && self.group.keep_to(cpus).is_ok() {
            self.keeps_to = cpus.to_vec();
        }
        // Also one that waits in the idle class is frozen while it is taken in.
        if self.group.thaw().and_then(|()| self.go_on(1.0)).is_ok() {
            self.n_turns = self.n_turns.max(1);
        }
    }

    /// Thawed, on its own processors, with as many threads as it likes, in its own control group.
    pub(super) fn let_go(&mut self, all: &[usize]) {
        if let Some(page) = &self.page {
            // What fails here fails because the program has ended.
            let _ = page.set_team(0);
        }
        self.lift();
        if let Some(demotable) = self.demotable.take() {
            demotable.give_back(&self.group);
        }
        if self.is_soft && !self.is_kept {
            self.before.release(&self.group);
        } else {
            self.before.give_back(&self.group, all);
        }
    }
}

/// Starts a program in its group, where it may open so many files if we may open more. One that
/// becomes another user's is told how in the file `start`.
pub(super) fn spawn(
    task: &Task,
    group: &Group,
    team: Option<(&PathBuf, &Page)>,
    files: Option<u64>,
    start: &Path,
) -> io::Result<Child> {
    let limit = files.map(|file| {
        ["sh", "-c", "ulimit -S -n \"$0\"; exec \"$@\"", &file.to_string()].map(str::to_owned)
    });
    let before = match &task.place {
        Some(it) => it
            .environment
            .iter()
            .find(|pair| pair.0 == "LD_PRELOAD")
            .map(|pair| pair.1.clone())
            .unwrap_or_default(),
        None => std::env::var("LD_PRELOAD").unwrap_or_default(),
    };
    let mut ours = vec![("OMP_WAIT_POLICY", "passive".to_owned())];
    ours.extend(task.n_threads.map(|thread| ("OMP_NUM_THREADS", thread.to_string())));
    if let Some((library, page)) = team {
        let preload = library.to_string_lossy().into_owned();
        ours.push((
            "LD_PRELOAD",
            if before.is_empty() { preload } else { format!("{preload}:{before}") },
        ));
        ours.push(("MEANWHILE_TEAM", page.path().to_string_lossy().into_owned()));
    }
    let entered = task.place.as_ref().and_then(|place| Some((place, place.entry.as_ref()?)));
    let own = match entered {
        None => task.command.clone(),
        Some((place, entry)) => {
            let mut environment = place.environment.clone();
            environment.retain(|environment| ours.iter().all(|own| own.0 != environment.0));
            environment.extend(ours.iter().map(|our| (our.0.to_owned(), our.1.clone())));
            let it = Start {
                user: entry.user.clone(),
                folder: place.folder.clone(),
                environment,
                command: task.command.clone(),
            };
            it.store(start)?;
            let program = std::env::current_exe()?.to_string_lossy().into_owned();
            vec![
                program,
                "cosched".to_owned(),
                "enter".to_owned(),
                start.to_string_lossy().into_owned(),
            ]
        }
    };
    let words: Vec<String> = limit.into_iter().flatten().chain(group.prefix()).chain(own).collect();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    if let Some((_, entry)) = entered {
        // Until it is the user's, nothing of the user's is in its environment.
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").current_dir("/");
        let [stdin, stdout, stderr] = &*entry.streams;
        return command
            .stdin(stdin.try_clone()?)
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .spawn()
            .inspect(|child| process::give_ordinary_timers(child.id()));
    }
    if let Some(place) = &task.place {
        command
            .current_dir(&place.folder)
            .env_clear()
            .envs(place.environment.iter().map(|(name, value)| (name, value)));
    }
    command.envs(ours).stdin(Stdio::null());
    match &task.output {
        // Standard output is ours alone.
        None => command.stdout(Stdio::from(io::stderr())),
        Some(path) => {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
            command.stdout(file.try_clone()?).stderr(file)
        }
    };
    command.spawn().inspect(|child| process::give_ordinary_timers(child.id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seldom_seen_is_not_known() {
        let of = |looks: &[Option<f64>]| {
            let mut seen = Seen::default();
            looks.iter().for_each(|mbps| seen.add(*mbps));
            seen.mbps()
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[None, None, None]), None, "nothing is not 0 MB/s");
        assert_eq!(of(&[None, Some(9000.0)]), None);
        assert_eq!(of(&[Some(9000.0), Some(6000.0), None]), Some(5000.0));
        assert_eq!(of(&[Some(0.0), Some(0.0)]), Some(0.0), "a counter that counted nothing");
    }
}

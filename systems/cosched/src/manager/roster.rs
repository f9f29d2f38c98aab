//! Door: the programs of a manager: how they come, how they end, and what is said of them.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::class::Class;
use super::container::Named;
use super::foreign::Foreign;
use super::group::Group;
use super::host::{Host, Waiting};
use super::journal::{self, Before};
use super::perf;
use super::process::{self, Process};
use super::program::{Counter, Ended, Expected, Program, Seen, Status, Task, spawn};
use super::ready::{Crowd, Readiness};
use super::rest::Usage;
use super::slurm::{self, Step};
use super::source::Source;
use super::sweep::PaceFound;
use super::tasks::is_task;
use super::team::{self, Page};
use super::users::Entry;

/// Ended programs that are remembered.
const DONE: usize = 256;
/// Ended programs that a policy is told of: numbers of threads grow as long as it lives.
const ENDED_MAX: usize = 64;
/// Stack of a thread that only waits: a thousand of them are few megabytes.
const WAITER_BYTES: usize = 64 << 10;

/// The programs that are managed, and the clients that wait for one to end.
pub(super) struct Roster {
    pub(super) programs: Vec<Program>,
    /// Programs came, went or came to rest since the last decision.
    pub(super) is_stale: bool,
    /// The last [`DONE`] programs that ended.
    pub(super) done: VecDeque<Ended>,
    /// Programs that came and that ended so far.
    pub(super) n_started: u64,
    pub(super) n_ended: u64,
    /// Attached programs that are looked at next, and those that rest.
    dead: Round,
    pub(super) resting: Round,
    pub(super) crowd: Crowd,
    tell_end: TellEnd,
}

/// Some of many, in turn: a quantum looks at no more of them, however many there are.
#[derive(Debug, Default)]
pub(super) struct Round {
    next: usize,
}

const LOOKS: usize = 128;

impl Round {
    /// The next of `n`.
    pub(super) fn next(&mut self, n: usize) -> impl Iterator<Item = usize> + use<> {
        self.few(n, LOOKS)
    }

    /// The same, but so many at most.
    pub(super) fn few(&mut self, n: usize, most: usize) -> impl Iterator<Item = usize> + use<> {
        let from = if self.next < n { self.next } else { 0 };
        self.next = from + most.min(n);
        if n > 0 {
            self.next %= n;
        }
        (from..from + most.min(n)).map(move |idx| idx % n)
    }
}

/// Called by the thread that waited for a child, with the program's number.
pub(super) type TellEnd = Arc<dyn Fn(u64, io::Result<ExitStatus>, Instant) + Send + Sync>;

impl Roster {
    /// No programs yet; `tell_end` is told of their ends.
    pub(super) fn new(tell_end: TellEnd) -> Roster {
        Roster {
            programs: Vec::new(),
            is_stale: false,
            done: VecDeque::new(),
            n_started: 0,
            n_ended: 0,
            dead: Round::default(),
            resting: Round::default(),
            crowd: Crowd::default(),
            tell_end,
        }
    }

    /// Programs that have not ended.
    pub(super) fn active(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter().filter(|program| !program.has_ended)
    }

    pub(super) fn active_mut(&mut self) -> impl Iterator<Item = &mut Program> {
        self.programs.iter_mut().filter(|program| !program.has_ended)
    }

    /// Programs that have their turn.
    pub(super) fn running(&self) -> impl Iterator<Item = &Program> {
        self.active().filter(|active| active.is_thawed && !active.is_resting)
    }

    /// True if a program waits for its turn.
    pub(super) fn someone_waits(&self) -> bool {
        self.active().any(|active| !active.is_thawed)
    }

    /// Programs that have not ended.
    pub(super) fn n_active(&self) -> usize {
        self.active().count()
    }

    /// True if a program of this number runs.
    pub(super) fn is_active(&self, id: u64) -> bool {
        self.active().any(|active| active.id == id)
    }

    /// True if this process belongs to one of the programs.
    pub(super) fn has(&self, host: &Host, pid: i32) -> bool {
        if self.active().any(|active| active.group.as_foreign().is_some_and(|group| group.has(pid)))
        {
            return true;
        }
        // What the kernel says of the one process, not what each program says of all of its.
        if let Some(home) = host.hierarchy.home(pid) {
            return self.active().any(|active| active.group.is_at(&home));
        }
        let above = process::ancestors(pid);
        let session = Process::find(pid).map(|it| it.session);
        self.active().any(|active| {
            above.contains(&active.root.pid)
                || (!active.is_attached && session == Some(active.root.pid))
        })
    }

    /// The programs as they are.
    pub(super) fn status(&self) -> Vec<Status> {
        self.active().map(Program::status).collect()
    }

    /// Starts a program, its number. With turns that freeze it is frozen until its first one.
    pub(super) fn start(&mut self, host: &mut Host, task: &Task) -> io::Result<u64> {
        // First of all: where no thread can be had, nothing is started.
        let waiter = self.waiter()?;
        let id = host.number();
        let hierarchy = &host.hierarchy;
        let group = hierarchy.path.join(format!("program-{id}"));
        let home = task
            .place
            .as_ref()
            .and_then(|place| place.home.clone())
            .or_else(|| hierarchy.home(std::process::id() as i32));
        let before = Before { group, home, threads: Vec::new() };
        let group = new_group(host, id, &before)?;
        let entry = task.place.as_ref().and_then(|place| place.entry.as_ref());
        let page = new_page(host, id, entry);
        let start = journal::start_path(&host.pages, id);
        let spawned = page.and_then(|page| {
            Ok((
                spawn(
                    task,
                    &group,
                    host.preload.as_ref().zip(page.as_ref()),
                    host.files_before,
                    &start,
                )?,
                page,
            ))
        });
        let (mut child, page) = match spawned {
            Ok(it) => it,
            Err(error) => {
                before.give_back(&group, &host.cpus);
                forget(host, id, &before);
                return Err(error);
            }
        };
        let pid = child.id() as i32;
        let root = Process::find(pid).unwrap_or(Process {
            pid,
            name: String::new(),
            state: '?',
            parent: 0,
            session: 0,
            started: 0,
            used: 0,
        });
        // What keeps us to a processor is nothing to the program.
        let taken = group.started(pid).and_then(|()| process::keep_thread(pid, &host.cpus));
        let added = taken.and_then(|()| counter(host, id, &group, pid));
        let counter = match added {
            Ok(it) => it,
            Err(error) => {
                // It has not had its first turn: nothing is lost.
                let _ = child.kill();
                before.give_back(&group, &host.cpus);
                let _ = child.wait();
                // Its last process may have been in it until now.
                let _ = group.remove();
                forget(host, id, &before);
                return Err(error);
            }
        };
        let user = entry.map_or_else(|| nix::unistd::geteuid().as_raw(), |it| it.user.uid);
        self.add(id, user, task.name.clone(), task.n_threads, group, root, before, page, counter);
        self.welcome(host, task.expected);
        // It has its child already: what has to be done is done, whatever fails from here on.
        let _ = waiter.send((id, child));
        Ok(id)
    }

    /// Steps whose jobs Slurm has suspended, and groups that their owners have frozen, take no
    /// turns; we freeze nothing of them, so that they go on when it is said so.
    pub(super) fn note_suspended(&mut self, cpus: &[usize]) {
        for it in self.active_mut() {
            let is = match (&it.step, it.group.as_foreign()) {
                (Some(managed), _) => managed.looks_suspended(&it.root, &it.group),
                (None, Some(group)) => group.is_frozen(),
                (None, None) => continue,
            };
            let was = std::mem::replace(&mut it.is_suspended, is);
            if is && !was {
                it.run_on(cpus);
            }
            it.is_resting = if is != was { is } else { it.is_resting };
        }
    }

    /// Steps on several nodes whose clocks differ take no turns, until they no longer do.
    pub(super) fn note_adrift(&mut self, is_shared: impl FnOnce() -> bool, cpus: &[usize]) {
        let mut steps: Vec<&mut Program> =
            self.active_mut().filter(|active| active.across().is_some()).collect();
        let is = !steps.is_empty() && !is_shared();
        for it in &mut steps {
            let was = std::mem::replace(&mut it.is_adrift, is);
            if is && !was {
                it.run_on(cpus);
            }
            if is || was {
                it.is_resting = is || it.is_suspended;
            }
        }
    }

    /// A thread that waits for the child that it is given, if it is given one, and says
    /// when it has ended.
    fn waiter(&self) -> io::Result<Sender<(u64, Child)>> {
        let (sender, child) = mpsc::channel::<(u64, Child)>();
        let tell_end = Arc::clone(&self.tell_end);
        let wait = move || {
            if let Ok((id, mut child)) = child.recv() {
                let status = child.wait();
                tell_end(id, status, Instant::now());
            }
        };
        std::thread::Builder::new().stack_size(WAITER_BYTES).spawn(wait)?;
        Ok(sender)
    }

    /// Takes in a process that runs already, and all below it.
    pub(super) fn attach(
        &mut self,
        host: &mut Host,
        root: Process,
        n_threads: Option<usize>,
        expected: Expected,
    ) -> io::Result<u64> {
        let id = host.number();
        let hierarchy = &host.hierarchy;
        let place = hierarchy
            .place_beside(hierarchy.home(root.pid).as_deref(), &format!("program-{id}"))?;
        let (name, user) = (root.name.clone(), root.owner()?);
        self.take_in(host, id, place, vec![root], user, (name, n_threads))?;
        self.welcome(host, expected);
        Ok(id)
    }

    /// Takes in all tasks of a step of Slurm.
    pub(super) fn attach_step(
        &mut self,
        host: &mut Host,
        tasks: Vec<Process>,
        step: Step,
    ) -> io::Result<u64> {
        // Whose end was not heard has ended.
        self.end_step(host, step.job, step.step);
        let id = host.number();
        let place = slurm::place(&host.hierarchy, &tasks, &format!("program-{id}"))?;
        let managed = slurm::Managed::new(step.clone(), &tasks, &place);
        self.take_in(host, id, place, tasks, step.user, (step.text(), step.threads))?;
        let it = self.programs.last_mut().expect("it was just added");
        it.step = Some(managed);
        let mbps = step.membw.map(|mbps| f64::from(mbps) / it.n_threads.max(1) as f64);
        self.welcome(host, Expected { class: step.class, mbps });
        Ok(id)
    }

    /// Takes in a group that somebody else made, with whoever is in it now and later;
    /// `root` is one of its processes.
    pub(super) fn attach_group(
        &mut self,
        host: &mut Host,
        (found, root): (Foreign, Process),
        user: u32,
        n_threads: Option<usize>,
        expected: Expected,
    ) -> io::Result<u64> {
        let id = host.number();
        let path = found.path().to_owned();
        let before = Before { home: Some(path.clone()), group: path, threads: Vec::new() };
        before.store(&journal::path(&host.pages, id))?;
        let members: Vec<i32> = found.members().iter().map(|member| member.pid).collect();
        let (name, cgroup) = (found.name(), Path::new("/").join(found.path_inside()));
        let group = Group::foreign(found);
        let counter =
            counter(host, id, &group, root.pid).inspect_err(|_| forget(host, id, &before))?;
        self.add(id, user, name, n_threads, group, root, before, None, counter);
        let it = self.programs.last_mut().expect("it was just added");
        it.counted = members.into_iter().collect();
        self.note_home(Some(cgroup));
        self.welcome(host, expected);
        Ok(id)
    }

    /// The newest program ran before, in this control group.
    fn note_home(&mut self, cgroup: Option<PathBuf>) {
        let it = self.programs.last_mut().expect("it was just added");
        it.is_attached = true;
        it.named = cgroup.as_deref().map(Named::of).unwrap_or_default();
        it.cgroup = cgroup;
    }

    /// True if this group, one inside it or one around it is managed.
    pub(super) fn has_group(&self, found: &Foreign) -> bool {
        self.active().filter_map(|active| active.group.as_foreign()).any(|managed| {
            let (one, other) = (managed.path_inside(), found.path_inside());
            one.starts_with(other) || other.starts_with(one)
        })
    }

    /// The newest program as its owner sees it. With soft turns it runs from now on.
    fn welcome(&mut self, host: &Host, expected: Expected) {
        host.hierarchy.weigh(self.n_active());
        let it = self.programs.last_mut().expect("it was just added");
        it.class = expected.class;
        it.asked_mbps = expected.mbps;
        it.is_soft = host.waiting == Waiting::Soft;
        it.is_kept = !it.is_soft;
        if it.is_soft {
            it.run_on(&host.cpus);
        }
    }

    /// A step has ended; false if it was not known.
    pub(super) fn end_step(&mut self, host: &mut Host, job: u32, step: u32) -> bool {
        let is_it = |it: &Program| {
            !it.has_ended
                && it.step.as_ref().is_some_and(|it| (it.step.job, it.step.step) == (job, step))
        };
        let Some(idx) = self.programs.iter().position(is_it) else { return false };
        self.end(host, idx, (None, None), Instant::now());
        true
    }

    fn take_in(
        &mut self,
        host: &mut Host,
        id: u64,
        place: PathBuf,
        roots: Vec<Process>,
        user: u32,
        (name, n_threads): (String, Option<usize>),
    ) -> io::Result<u64> {
        let pids: Vec<i32> = roots.iter().map(|root| root.pid).collect();
        let before = Before::of(&pids, place, |pid| host.hierarchy.home(pid))?;
        let group = new_group(host, id, &before)?;
        let taken = pids.iter().try_for_each(|pid| group.take(*pid));
        // Frozen, it can end no more: a process that ended before may have given its number to
        // another.
        let is_same = || {
            roots
                .iter()
                .find(|root| !root.is_there())
                .map_or(Ok(()), |it| Err(ended_meanwhile(it.pid)))
        };
        let taken =
            taken.and_then(|()| is_same()).and_then(|()| counter(host, id, &group, pids[0]));
        let counter = match taken {
            Ok(it) => it,
            Err(error) => {
                before.give_back(&group, &host.cpus);
                forget(host, id, &before);
                return Err(error);
            }
        };
        let root = roots.into_iter().next().expect("a program has a process");
        let cgroup = before.home.as_ref().map(|home| host.hierarchy.inside(home));
        self.add(id, user, name, n_threads, group, root, before, None, counter);
        self.note_home(cgroup);
        Ok(id)
    }

    #[allow(clippy::too_many_arguments)] // two callers, who know different halves
    fn add(
        &mut self,
        id: u64,
        user: u32,
        name: String,
        n_threads: Option<usize>,
        group: Group,
        root: Process,
        before: Before,
        page: Option<Page>,
        counter: Counter,
    ) {
        self.n_started += 1;
        self.programs.push(Program {
            id,
            user,
            name,
            n_threads: n_threads.unwrap_or(1),
            is_counted: n_threads.is_none(),
            usage: Usage::of(&group),
            readiness: Readiness::default(),
            class: Class::Auto,
            is_soft: false,
            demotable: None,
            weighs: 1.0,
            cannot_wait: None,
            limit: None,
            cannot_limit: None,
            is_kept: true,
            is_resting: false,
            group,
            root,
            is_attached: false,
            step: None,
            is_adrift: false,
            is_suspended: false,
            cgroup: None,
            named: Named::default(),
            before,
            page,
            counter,
            counted: BTreeSet::new(),
            bytes_before: None,
            started: Instant::now(),
            has_ended: false,
            is_thawed: false,
            keeps_to: Vec::new(),
            n_refusing: 0,
            window_mbps: Vec::new(),
            pace: PaceFound::default(),
            asked_mbps: None,
            seen: Seen::default(),
            slowdown: None,
            n_turns: 0,
            waits: 0,
            longest_wait_quanta: 0,
            n_waits: 0,
            n_freezes: 0,
            n_demotions: 0,
            neighbours: Vec::new(),
        });
        self.is_stale = true;
    }

    /// A program has ended; what it left behind in its group runs on, alone.
    fn end(
        &mut self,
        host: &mut Host,
        idx: usize,
        (status, signal): (Option<i32>, Option<i32>),
        at: Instant,
    ) {
        let it = &mut self.programs[idx];
        it.has_ended = true;
        // A counter that fails now has nothing to say.
        let bytes = it.counter.bytes().unwrap_or(None);
        it.let_go(&host.cpus);
        let it = &self.programs[idx];
        forget(host, it.id, &it.before);
        let it = &mut self.programs[idx];
        if let (Some(managed), Some(history), Some(mbps)) =
            (&it.step, &host.history, it.seen.mbps())
        {
            history.add(managed.step.user, &managed.step.name, mbps);
        }
        self.n_ended += 1;
        host.hierarchy.weigh(self.n_active());
        let it = &self.programs[idx];
        let gone = it.id;
        self.programs
            .iter_mut()
            .for_each(|program| program.neighbours.retain(|neighbour| neighbour.id != gone));
        let it = &self.programs[idx];
        if self.done.len() == DONE {
            self.done.pop_front();
        }
        self.done.push_back(Ended {
            id: it.id,
            user: it.user,
            name: it.name.clone(),
            turnaround_s: (at - it.started).as_secs_f64(),
            status,
            signal,
            n_turns: it.n_turns,
            longest_wait_quanta: it.longest_wait_quanta.max(it.waits),
            bytes,
            job: it.step.as_ref().map(|managed| managed.step.job),
            mbps: it.seen.mbps(),
        });
        self.is_stale = true;
        if let Source::Estimate(it) = &mut host.source {
            it.start_again();
        }
    }

    /// Attached programs are nobody's children here: some of them are looked at, in turn.
    pub(super) fn notice_the_dead(&mut self, host: &mut Host) {
        let attached: Vec<usize> = (0..self.programs.len())
            .filter(|idx| self.programs[*idx].is_attached && !self.programs[*idx].has_ended)
            .collect();
        for at in self.dead.next(attached.len()) {
            let idx = attached[at];
            let it = &mut self.programs[idx];
            if it.is_gone() {
                self.end(host, idx, (None, None), Instant::now());
            } else if let Some(group) = it.group.as_foreign()
                && !it.root.is_there()
                && let Some(next) = group.members().into_iter().next()
            {
                it.root = next;
            }
        }
    }

    /// Ended programs are struck off now and then. True if they were: those that are left
    /// have other numbers now.
    pub(super) fn strike_off_the_ended(&mut self) -> bool {
        let is_time = self.programs.iter().filter(|program| program.has_ended).count() >= ENDED_MAX;
        if is_time {
            self.programs.retain(|program| !program.has_ended);
        }
        is_time
    }

    /// The child of this program has ended.
    pub(super) fn child_ended(
        &mut self,
        host: &mut Host,
        id: u64,
        status: (Option<i32>, Option<i32>),
        at: Instant,
    ) {
        if let Some(idx) =
            self.programs.iter().position(|program| program.id == id && !program.has_ended)
        {
            self.end(host, idx, status, at);
        }
    }

    /// Ends a program of ours that only ran beside the others; to be asked again until it has
    /// ended, as it may not have joined its group yet.
    pub(super) fn kill(&mut self, id: u64) -> io::Result<()> {
        for it in self.active().filter(|active| active.id == id && !active.is_attached) {
            // The number of a child that has ended may be another's.
            let child = Process::find(it.root.pid)
                .filter(|process| process.parent == std::process::id() as i32);
            let own =
                it.group.members()?.into_iter().chain(child).filter(|member| it.may_signal(member));
            for pid in own.map(|own| own.pid) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            it.group.thaw()?;
        }
        Ok(())
    }

    /// Asks a program to end, and thaws it so that it hears that.
    pub(super) fn tell_to_end(&mut self, id: u64) -> io::Result<()> {
        for it in self.active().filter(|active| active.id == id) {
            for member in it.group.members()?.iter().filter(|member| it.may_signal(member)) {
                let _ = kill(Pid::from_raw(member.pid), Signal::SIGTERM);
            }
            it.group.thaw()?;
        }
        Ok(())
    }

    /// Thaws one program and lets it go: it runs on without us.
    pub(super) fn release(&mut self, host: &mut Host, id: u64) {
        if let Some(idx) =
            self.programs.iter().position(|program| program.id == id && !program.has_ended)
        {
            self.end(host, idx, (None, None), Instant::now());
        }
    }

    /// Thaws all programs and lets them go: they run on without us.
    pub(super) fn release_all(&mut self, cpus: &[usize]) {
        for it in self.active_mut() {
            it.has_ended = true;
            it.let_go(cpus);
        }
        self.programs.clear();
    }
}

/// A group for a program, and on disk what the program had: before anything of it is frozen.
fn new_group(host: &Host, id: u64, before: &Before) -> io::Result<Group> {
    before.store(&journal::path(&host.pages, id))?;
    let hierarchy = &host.hierarchy;
    let made = if is_task(&before.group) {
        hierarchy.group_in_place(before.group.clone())
    } else {
        hierarchy.group(before.group.clone())
    };
    made.inspect_err(|_| forget(host, id, before))
}

/// A page, its user's if the program becomes another's.
fn new_page(host: &Host, id: u64, entry: Option<&Entry>) -> io::Result<Option<Page>> {
    let Some(_) = &host.preload else { return Ok(None) };
    let page = Page::create(&team::page_path(&host.pages, id))?;
    if let Some(entry) = entry {
        page.give_to(entry.user.uid, entry.user.gid)?;
    }
    Ok(Some(page))
}

fn ended_meanwhile(pid: i32) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("process {pid} has ended meanwhile"))
}

fn forget(host: &Host, id: u64, before: &Before) {
    journal::forget(&host.pages, id, before);
}

/// What counts the traffic of a program that has not joined its group yet, or has.
fn counter(host: &mut Host, id: u64, group: &Group, pid: i32) -> io::Result<Counter> {
    let threads =
        || group.threads().map(|thread| if thread.is_empty() { vec![pid] } else { thread });
    Ok(match &mut host.source {
        Source::Resctrl(it) => Counter::Resctrl(it.counter(id, &threads()?)?),
        Source::Perf => Counter::Perf(perf::PerfCounter::open(&threads()?)?),
        Source::Told => Counter::Nothing,
        Source::Estimate(it) => {
            it.start_again();
            Counter::Nothing
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::canary::Canary;
    use super::super::estimate::Estimate;
    use super::super::freezer;
    use super::super::group::Hierarchy;
    use super::*;

    /// In these folders, with signals.
    fn host(folder: &std::path::Path) -> Host {
        Host {
            hierarchy: Hierarchy::at(
                freezer::from_text("signals").expect("it is one of them"),
                folder.to_owned(),
            ),
            cpus: vec![0],
            topology: super::super::topology::Topology::default(),
            source: Source::Estimate(Estimate::new(None)),
            waiting: Waiting::Frozen,
            idle: Err("not looked for".to_owned()),
            longest_wait: std::time::Duration::ZERO,
            wall_clock: super::super::across::WallClock::default(),
            said_mbps: None,
            at_most_mbps: None,
            preload: None,
            pages: folder.to_owned(),
            canary: Canary::new(),
            n_programs: 0,
            settings: crate::policies::Settings::default(),
            files_before: None,
            is_asked: false,
            history: None,
            lines: super::super::heartbeat::Lines::default(),
        }
    }

    #[test]
    fn a_number_that_is_another_process_now_is_not_taken() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut host = host(folder.path());
        let mut roster = Roster::new(Arc::new(|_, _, _| ()));
        let mut child = std::process::Command::new("sleep").arg("100").spawn().expect("sleep runs");
        let own = Process::find(child.id() as i32).expect("it runs");
        // It was checked when it was another, which has ended since.
        let before = Process { started: own.started - 1, ..own.clone() };
        let said = roster
            .attach(&mut host, before, None, Expected::default())
            .expect_err("it is another")
            .to_string();
        assert!(said.contains("has ended meanwhile"), "{said}");
        assert_eq!(roster.n_active(), 0);
        let goes_on = |pid| {
            let is_stopped = || Process::find(pid).is_some_and(|it| it.state == 'T');
            (0..100).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                !is_stopped()
            })
        };
        let runs = goes_on(own.pid);
        let taken = roster.attach(&mut host, own.clone(), None, Expected::default());
        roster.release_all(&[0]);
        child.kill().and_then(|()| child.wait()).expect("it is ours");
        assert!(runs, "who was taken by mistake runs on");
        assert!(taken.is_ok(), "the same process: {taken:?}");
    }

    #[test]
    fn a_quantum_looks_at_some_and_a_round_at_all() {
        for n in [0, 1, 5, LOOKS, LOOKS + 1, 1000] {
            let mut round = Round::default();
            let mut seen = vec![0; n];
            for _ in 0..n.div_ceil(LOOKS) {
                let looks: Vec<usize> = round.next(n).collect();
                assert_eq!(looks.len(), n.min(LOOKS));
                looks.into_iter().for_each(|look| seen[look] += 1);
            }
            assert!(seen.iter().all(|it| *it > 0), "{n}: nobody is left out");
        }
        // Programs that go meanwhile leave nothing behind that is looked at.
        let mut round = Round::default();
        round.next(1000).for_each(drop);
        assert_eq!(round.next(3).collect::<Vec<_>>(), [0, 1, 2]);
    }
}

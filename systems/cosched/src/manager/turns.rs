//! Door: programs that get their turns: every quantum the policy is asked, programs without a processor are frozen, the
//! others are thawed and kept to theirs.
//!
//! Nothing but what was started here or given to us is touched, and a supervisor thaws everything if this process dies.

use std::collections::VecDeque;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use measure::stats;

use super::canary::Canary;
use super::estimate::Beside;
use super::group::{Group, Hierarchy};
use super::journal::{self, Before};
use super::perf;
use super::process::{self, Process};
use super::program::{Counter, Program, spawn};
pub use super::program::{Ended, Place, Status, Task};
use super::rest::{self, Usage};
use super::source::Source;
use super::team::{self, Page};
use super::topology::Topology;
use crate::machine::{Capacity, Machine};
use crate::policies::{Name, Policy, ProgramView, Settings, ThreadView, View};

/// Ended programs that are remembered.
const DONE: usize = 256;
/// Changes whose time is remembered.
const SWITCHES: usize = 10_000;
/// Without a quantum: how often it is seen whether attached programs have ended.
const IDLE: Duration = Duration::from_secs(1);
/// How long programs may take to end that are told to.
pub const GRACE: Duration = Duration::from_secs(3);
/// Quanta between two looks at the links; twice as many while they stay.
const LINKS_EVERY: u32 = 50;
const LINKS_EVERY_MAX: u32 = 600;

/// Where and with what.
#[derive(Debug)]
pub struct Ground {
    /// Where groups are made.
    pub hierarchy: Hierarchy,
    /// Processors that programs may have.
    pub cpus: Vec<usize>,
    /// Their links.
    pub topology: Topology,
    /// Where the traffic is known from.
    pub source: Source,
    /// The library that lets OpenMP programs follow their processors.
    pub preload: Option<PathBuf>,
    /// A folder for the programs' pages.
    pub pages: PathBuf,
    /// It reads.
    pub canary: Canary,
    /// Programs so far.
    pub n_programs: u64,
    /// Of the policies.
    pub settings: Settings,
}

/// What the manager hears while it waits.
pub enum Event {
    /// A child has ended.
    Ended(u64, io::Result<std::process::ExitStatus>, Instant),
    /// Somebody wants something done between two steps.
    Do(Box<dyn FnOnce(&mut Turns<'_>) + Send>),
}

/// The programs, and whose turn it is.
pub struct Turns<'a> {
    ground: &'a mut Ground,
    policy_name: Name,
    policy: Option<Box<dyn Policy>>,
    programs: Vec<Program>,
    sender: Sender<Event>,
    events: Receiver<Event>,
    /// Programs came or went since the last decision.
    is_stale: bool,
    links_in: u32,
    links_every: u32,
    freeze_in: u32,
    /// The last [`DONE`] programs that ended.
    pub done: VecDeque<Ended>,
    /// Microseconds that changes of programs took, freezing to thawing; the last [`SWITCHES`].
    pub switch_us: VecDeque<f64>,
    /// Decisions made.
    pub n_decisions: u64,
    /// Times that the links changed.
    pub n_moves: u32,
}

impl<'a> Turns<'a> {
    /// No programs yet; under `linux` the kernel decides alone.
    pub fn new(ground: &'a mut Ground, policy_name: Name) -> Turns<'a> {
        let (sender, events) = mpsc::channel();
        if let Source::Estimate(it) = &mut ground.source {
            it.start_again();
        }
        let mut turns = Turns {
            ground,
            policy_name,
            policy: None,
            programs: Vec::new(),
            sender,
            events,
            is_stale: false,
            links_in: LINKS_EVERY,
            links_every: LINKS_EVERY,
            freeze_in: FREEZE_FIRST,
            done: VecDeque::new(),
            switch_us: VecDeque::new(),
            n_decisions: 0,
            n_moves: 0,
        };
        turns.begin_policy();
        turns
    }

    fn begin_policy(&mut self) {
        self.policy = (self.policy_name != Name::Linux).then(|| self.policy_name.policy(self.ground.settings));
    }

    /// Where to send events.
    pub fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Where it all happens.
    pub fn ground(&self) -> &Ground {
        self.ground
    }

    /// The policy.
    pub fn policy(&self) -> Name {
        self.policy_name
    }

    /// Ends this quantum now.
    pub fn hurry(&mut self) {
        self.is_stale = true;
    }

    /// The 95th percentile of what changes of programs took, in microseconds.
    pub fn switch_us_p95(&self) -> Option<f64> {
        let all: Vec<f64> = self.switch_us.iter().copied().collect();
        (!all.is_empty()).then(|| stats::quantile(&all, 0.95))
    }

    /// Programs that have not ended.
    pub fn n_active(&self) -> usize {
        self.programs.iter().filter(|it| !it.has_ended).count()
    }

    /// True if a program of this number runs.
    pub fn is_active(&self, id: u64) -> bool {
        self.programs.iter().any(|it| it.id == id && !it.has_ended)
    }

    /// True if this process belongs to one of the programs.
    pub fn has(&self, pid: i32) -> bool {
        self.programs.iter().any(|it| !it.has_ended && it.group.members().is_ok_and(|them| them.iter().any(|it| it.pid == pid)))
    }

    /// The programs as they are.
    pub fn status(&self) -> Vec<Status> {
        let one = |it: &Program| Status {
            id: it.id,
            name: it.name.clone(),
            pid: it.root.pid,
            is_attached: it.is_attached,
            n_threads: it.n_threads,
            is_running: it.is_thawed,
            is_resting: it.is_resting,
            cpus: if it.is_thawed && !it.is_resting { it.keeps_to.clone() } else { Vec::new() },
            mbps: it.window_mbps.last().copied().filter(|_| !it.is_resting),
            slowdown: it.slowdown,
            is_followed: it.page.as_ref().is_some_and(Page::is_followed),
            progress: it.page.as_ref().and_then(|it| it.progress().ok()).unwrap_or(0),
            n_refusing: it.n_refusing,
            n_turns: it.n_turns,
            longest_wait_quanta: it.longest_wait_quanta,
            age_s: it.started.elapsed().as_secs_f64(),
        };
        self.programs.iter().filter(|it| !it.has_ended).map(one).collect()
    }

    /// Starts a program, frozen until its first turn; its number.
    pub fn start(&mut self, task: &Task) -> io::Result<u64> {
        let id = self.number();
        let hierarchy = &self.ground.hierarchy;
        let group = hierarchy.path.join(format!("program-{id}"));
        let before = Before { group, home: hierarchy.home(std::process::id() as i32), threads: Vec::new() };
        let group = self.new_group(id, &before)?;
        let page = self.new_page(id);
        let spawned = page.and_then(|page| Ok((spawn(task, &group, self.ground.preload.as_ref().zip(page.as_ref()))?, page)));
        let (mut child, page) = match spawned {
            Ok(it) => it,
            Err(error) => {
                before.give_back(&group, &self.ground.cpus);
                self.forget(id, &before);
                return Err(error);
            }
        };
        let pid = child.id() as i32;
        let root =
            Process::find(pid).unwrap_or(Process { pid, name: String::new(), state: '?', parent: 0, session: 0, started: 0, used: 0 });
        // What keeps us to a processor is nothing to the program.
        let taken = group.started(pid).and_then(|()| process::keep_thread(pid, &self.ground.cpus));
        let added = taken.and_then(|()| self.counter(id, &group, pid));
        let counter = match added {
            Ok(it) => it,
            Err(error) => {
                // It has not had its first turn: nothing is lost.
                let _ = child.kill();
                before.give_back(&group, &self.ground.cpus);
                let _ = child.wait();
                // Its last process may have been in it until now.
                let _ = group.remove();
                self.forget(id, &before);
                return Err(error);
            }
        };
        self.add(id, task.name.clone(), task.n_threads, group, root, before, page, counter);
        let sender = self.sender.clone();
        std::thread::spawn(move || {
            let status = child.wait();
            // Nobody listens if the manager has ended before.
            let _ = sender.send(Event::Ended(id, status, Instant::now()));
        });
        Ok(id)
    }

    /// Takes in a process that runs already, and all below it.
    pub fn attach(&mut self, root: Process, n_threads: Option<usize>) -> io::Result<u64> {
        let id = self.number();
        let hierarchy = &self.ground.hierarchy;
        let place = hierarchy.place_beside(hierarchy.home(root.pid).as_deref(), &format!("program-{id}"));
        let before = Before::of(root.pid, place, |pid| hierarchy.home(pid))?;
        let group = self.new_group(id, &before)?;
        let taken = group.take(root.pid).and_then(|()| self.counter(id, &group, root.pid));
        let counter = match taken {
            Ok(it) => it,
            Err(error) => {
                before.give_back(&group, &self.ground.cpus);
                self.forget(id, &before);
                return Err(error);
            }
        };
        let name = root.name.clone();
        self.add(id, name, n_threads, group, root, before, None, counter);
        self.programs.last_mut().expect("it was just added").is_attached = true;
        Ok(id)
    }

    /// A group for a program, and on disk what the program had: before anything of it is frozen.
    fn new_group(&self, id: u64, before: &Before) -> io::Result<Group> {
        before.store(&journal::path(&self.ground.pages, id))?;
        self.ground.hierarchy.group(before.group.clone()).inspect_err(|_| self.forget(id, before))
    }

    fn new_page(&self, id: u64) -> io::Result<Option<Page>> {
        self.ground.preload.as_ref().map(|_| Page::create(&self.page_path(id))).transpose()
    }

    fn page_path(&self, id: u64) -> PathBuf {
        team::page_path(&self.ground.pages, id)
    }

    fn forget(&self, id: u64, before: &Before) {
        journal::forget(&self.ground.pages, id, &before.group);
    }

    /// What counts the traffic of a program that has not joined its group yet, or has.
    fn counter(&mut self, id: u64, group: &Group, pid: i32) -> io::Result<Counter> {
        let threads = || group.threads().map(|it| if it.is_empty() { vec![pid] } else { it });
        Ok(match &mut self.ground.source {
            Source::Resctrl(it) => Counter::Resctrl(it.counter(id, &threads()?)?),
            Source::Perf => Counter::Perf(perf::Counter::open(&threads()?)?),
            Source::Estimate(it) => {
                it.start_again();
                Counter::Nothing
            }
        })
    }

    fn number(&mut self) -> u64 {
        self.ground.n_programs += 1;
        self.ground.n_programs
    }

    #[allow(clippy::too_many_arguments)] // two callers, who know different halves
    fn add(
        &mut self,
        id: u64,
        name: String,
        n_threads: Option<usize>,
        group: Group,
        root: Process,
        before: Before,
        page: Option<Page>,
        counter: Counter,
    ) {
        self.programs.push(Program {
            id,
            name,
            n_threads: n_threads.unwrap_or(1),
            is_counted: n_threads.is_none(),
            usage: Usage::of(&group),
            is_resting: false,
            group,
            root,
            is_attached: false,
            before,
            page,
            counter,
            bytes_before: None,
            started: Instant::now(),
            has_ended: false,
            is_thawed: false,
            keeps_to: Vec::new(),
            n_refusing: 0,
            window_mbps: Vec::new(),
            slowdown: None,
            n_turns: 0,
            waits: 0,
            longest_wait_quanta: 0,
        });
        self.is_stale = true;
    }

    /// One quantum, or the wait until something happens where there is none; at most until `until`.
    pub fn turn(&mut self, until: Option<Instant>) -> io::Result<()> {
        self.notice_the_dead();
        self.forget_the_ended();
        self.wake();
        self.is_stale = false;
        let mut deadline = Instant::now() + IDLE;
        if self.n_active() > 0 {
            match self.policy.take() {
                None => self.thaw_all()?,
                Some(mut policy) => {
                    let chosen = self.decide(policy.as_mut());
                    let start = Instant::now();
                    let quantum = Duration::from_micros((policy.quantum_ms() * 1000.0) as u64);
                    self.policy = Some(policy);
                    self.switch(&chosen)?;
                    deadline = start + quantum;
                    self.measure(&chosen, quantum)?;
                    self.wait(until.map_or(deadline, |it| it.min(deadline)))?;
                    self.count_threads();
                    return self.count_traffic(start.elapsed());
                }
            }
        }
        self.wait(until.map_or(deadline, |it| it.min(deadline)))
    }

    /// Listens until `deadline`, or until programs come, go or rest.
    fn wait(&mut self, deadline: Instant) -> io::Result<()> {
        let look_every = rest::look_every(self.ground.hierarchy.freezer);
        while !self.is_stale {
            let now = Instant::now();
            // Where nobody waits for a turn, none needs to be given up.
            let someone_waits = self.programs.iter().any(|it| !it.has_ended && !it.is_thawed);
            let until = if someone_waits { deadline.min(now + look_every) } else { deadline };
            match self.events.recv_timeout(until.saturating_duration_since(now)) {
                Ok(event) => self.hear(event)?,
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => self.let_rest(),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(())
    }

    /// Programs whose threads sleep give up their turns, and stay thawed on all processors.
    fn let_rest(&mut self) {
        for it in self.programs.iter_mut().filter(|it| it.is_thawed && !it.has_ended && !it.is_resting) {
            if it.usage.rests(&it.group) && it.keep_to(&self.ground.cpus).is_ok() {
                it.usage.begin(&it.group);
                it.is_resting = true;
                it.waits = 0;
                self.is_stale = true;
            }
        }
    }

    /// Programs that rested and compute much take turns again.
    fn wake(&mut self) {
        for it in self.programs.iter_mut().filter(|it| it.is_resting && !it.has_ended) {
            it.is_resting = !it.usage.is_awake(&it.group);
        }
    }

    /// At the end of a turn: programs that said no number of threads are counted with those that run.
    fn count_threads(&mut self) {
        let n_cpus = self.ground.cpus.len();
        let mut has_changed = false;
        for it in self.programs.iter_mut().filter(|it| it.is_counted && it.is_thawed && !it.has_ended && !it.is_resting) {
            let wanted = match &it.page {
                // Its team is as large as we let it be, so it shows no more threads than that.
                Some(page) if page.is_followed() => Some(n_cpus),
                _ => it.usage.threads_wanted(&it.group, it.keeps_to.len(), n_cpus),
            };
            has_changed |= wanted.is_some_and(|wanted| wanted != std::mem::replace(&mut it.n_threads, wanted));
        }
        if has_changed {
            // Policies know threads by number, and these are others now.
            self.begin_policy();
        }
    }

    fn hear(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Ended(id, status, at) => {
                let status = status?;
                if let Some(idx) = self.programs.iter().position(|it| it.id == id && !it.has_ended) {
                    self.end(idx, (status.code(), status.signal()), at);
                }
            }
            Event::Do(it) => it(self),
        }
        Ok(())
    }

    /// A program has ended; what it left behind in its group runs on, alone.
    fn end(&mut self, idx: usize, (status, signal): (Option<i32>, Option<i32>), at: Instant) {
        let it = &mut self.programs[idx];
        it.has_ended = true;
        // A counter that fails now has nothing to say.
        let bytes = it.counter.bytes().unwrap_or(None);
        it.let_go(&self.ground.cpus);
        let it = &self.programs[idx];
        self.forget(it.id, &it.before);
        let it = &mut self.programs[idx];
        if self.done.len() == DONE {
            self.done.pop_front();
        }
        self.done.push_back(Ended {
            id: it.id,
            name: it.name.clone(),
            turnaround_s: (at - it.started).as_secs_f64(),
            status,
            signal,
            n_turns: it.n_turns,
            longest_wait_quanta: it.longest_wait_quanta.max(it.waits),
            bytes,
        });
        self.is_stale = true;
        if let Source::Estimate(it) = &mut self.ground.source {
            it.start_again();
        }
    }

    /// Attached programs are nobody's children here.
    fn notice_the_dead(&mut self) {
        for idx in 0..self.programs.len() {
            let it = &self.programs[idx];
            if it.is_attached && !it.has_ended && !it.root.is_there() {
                self.end(idx, (None, None), Instant::now());
            }
        }
    }

    /// Numbers of threads grow as long as a policy lives: now and then it begins anew with those that run.
    fn forget_the_ended(&mut self) {
        let n_ended = self.programs.iter().filter(|it| it.has_ended).count();
        if n_ended >= 64 {
            self.programs.retain(|it| !it.has_ended);
            self.begin_policy();
        }
    }

    /// Ends a program of ours that only ran beside the others; to be asked again until it has ended, as it may not have
    /// joined its group yet.
    pub fn kill(&mut self, id: u64) -> io::Result<()> {
        for it in self.programs.iter().filter(|it| it.id == id && !it.has_ended && !it.is_attached) {
            // The number of a child that has ended may be another's.
            let child = Process::find(it.root.pid).filter(|it| it.parent == std::process::id() as i32);
            for pid in it.group.members()?.into_iter().chain(child).map(|it| it.pid) {
                let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
            }
            it.group.thaw()?;
        }
        Ok(())
    }

    /// Asks a program to end, and thaws it so that it hears that.
    pub fn tell_to_end(&mut self, id: u64) -> io::Result<()> {
        for it in self.programs.iter().filter(|it| it.id == id && !it.has_ended) {
            for member in it.group.members()? {
                let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(member.pid), nix::sys::signal::Signal::SIGTERM);
            }
            it.group.thaw()?;
        }
        Ok(())
    }

    /// Ends all programs of ours: they are told to, and killed if they have not ended after a while.
    pub fn end_all(&mut self) -> io::Result<()> {
        self.policy = None;
        self.thaw_all()?;
        let start = Instant::now();
        let mut is_told = false;
        while self.programs.iter().any(|it| !it.has_ended && !it.is_attached) {
            if start.elapsed() > GRACE {
                let ids: Vec<u64> = self.programs.iter().filter(|it| !it.has_ended).map(|it| it.id).collect();
                ids.into_iter().try_for_each(|it| self.kill(it))?;
            } else if !std::mem::replace(&mut is_told, true) {
                let ids: Vec<u64> = self.programs.iter().filter(|it| !it.is_attached).map(|it| it.id).collect();
                ids.into_iter().try_for_each(|it| self.tell_to_end(it))?;
            }
            self.turn(Some(Instant::now() + Duration::from_millis(20)))?;
        }
        Ok(())
    }

    /// Thaws all programs and lets them go: they run on without us.
    pub fn release_all(&mut self) {
        for it in self.programs.iter_mut().filter(|it| !it.has_ended) {
            it.has_ended = true;
            it.let_go(&self.ground.cpus);
        }
        self.programs.clear();
    }

    fn thaw_all(&mut self) -> io::Result<()> {
        for it in self.programs.iter_mut().filter(|it| !it.has_ended && !it.is_thawed) {
            if !it.is_attached {
                it.group.keep_to(&self.ground.cpus)?;
                it.keeps_to.clone_from(&self.ground.cpus);
            }
            it.group.thaw()?;
            it.is_thawed = true;
            it.n_turns = 1;
        }
        Ok(())
    }

    /// The processors and links as policies see them.
    fn machine(&self) -> Machine {
        let readers = self.ground.topology.pairs.first().map(|it| it.readers);
        let mbps = match &self.ground.source {
            Source::Estimate(it) => it.calibration.alone_mbps.max(it.calibration.beside_mbps + it.calibration.reader_mbps),
            Source::Resctrl(_) | Source::Perf => readers.map_or(f64::MAX, |it| it.alone_mbps.max(it.beside_mbps + it.reader_mbps)),
        };
        let n_links = self.ground.topology.links.len().max(1);
        let link_of = self.ground.topology.link_of(&self.ground.cpus);
        Machine { link_of, links: vec![Capacity::bus(mbps); n_links], cache_mb: 0.0 }
    }

    /// The processors of each program.
    fn decide(&mut self, policy: &mut dyn Policy) -> Vec<Vec<usize>> {
        let mut programs = Vec::new();
        let mut threads = Vec::new();
        for (program, it) in self.programs.iter().enumerate() {
            let is_active = !it.has_ended && !it.is_resting;
            let is_malleable = it.n_threads == 1 || it.page.as_ref().is_some_and(Page::is_followed);
            programs.push(ProgramView { n_threads: it.n_threads, first: threads.len(), is_active, is_malleable });
            for _ in 0..it.n_threads {
                threads.push(ThreadView {
                    program,
                    latest_mbps: it.window_mbps.last().copied().unwrap_or(0.0),
                    window_mbps: it.window_mbps.clone(),
                    write_share: 0.0,
                    slowdown: it.slowdown,
                    is_ready: is_active,
                    was_running: it.is_thawed,
                });
            }
        }
        let machine = self.machine();
        let placement = policy.decide(&View { machine: &machine, programs: &programs, threads: &threads });
        let mut chosen = vec![Vec::new(); self.programs.len()];
        for (place, thread) in placement.into_iter().enumerate() {
            if let Some(thread) = thread {
                chosen[threads[thread].program].push(self.ground.cpus[place]);
            }
        }
        self.n_decisions += 1;
        chosen
    }

    /// Freezes who has no processor any more, then thaws who has one. Only that is a change of programs: the newcomers
    /// are told their processors before, the others after.
    fn switch(&mut self, chosen: &[Vec<usize>]) -> io::Result<()> {
        let newcomers = self.programs.iter_mut().zip(chosen).filter(|(it, cpus)| !it.has_ended && !it.is_thawed && !cpus.is_empty());
        for (it, cpus) in newcomers {
            it.keep_to(cpus)?;
        }
        let start = Instant::now();
        let mut n_changes = 0;
        for (it, cpus) in self.programs.iter_mut().zip(chosen) {
            // One that cannot be frozen, as on a full disk with signals, runs on beside its turns: that hurts nobody for good.
            if it.is_thawed && cpus.is_empty() && !it.has_ended && !it.is_resting && it.group.freeze().is_ok() {
                it.is_thawed = false;
                n_changes += 1;
            }
        }
        for (it, cpus) in self.programs.iter_mut().zip(chosen) {
            if !it.is_thawed && !cpus.is_empty() && !it.has_ended {
                it.group.thaw()?;
                it.is_thawed = true;
                n_changes += 1;
            }
        }
        if n_changes > 0 {
            if self.switch_us.len() == SWITCHES {
                self.switch_us.pop_front();
            }
            self.switch_us.push_back(start.elapsed().as_secs_f64() * 1e6);
        }
        for (it, cpus) in self.programs.iter_mut().zip(chosen).filter(|(it, _)| !it.has_ended && !it.is_resting) {
            if cpus.is_empty() {
                it.waits += 1;
                it.longest_wait_quanta = it.longest_wait_quanta.max(it.waits);
            } else {
                it.waits = 0;
                it.n_turns += 1;
                if let Some(page) = &it.page {
                    let _ = page.set_turns(it.n_turns);
                }
                it.keep_to(cpus)?;
                it.usage.begin(&it.group);
            }
        }
        Ok(())
    }

    /// In the middle of the quantum, when the programs are warm.
    fn measure(&mut self, chosen: &[Vec<usize>], quantum: Duration) -> io::Result<()> {
        self.look_at_links()?;
        if !matches!(self.ground.source, Source::Estimate(_)) {
            return Ok(());
        }
        self.slow_down(chosen, quantum)?;
        let Source::Estimate(estimate) = &mut self.ground.source else { return Ok(()) };
        if !estimate.is_due() {
            return Ok(());
        }
        self.wait(Instant::now() + quantum.mul_f64(0.3))?;
        if self.is_stale {
            return Ok(());
        }
        let beside = |it: &Program, cpus: &Vec<usize>| Beside {
            cpus: if it.has_ended { Vec::new() } else { cpus.clone() },
            slowdown: it.slowdown,
            before_mbps: (!it.window_mbps.is_empty()).then(|| stats::median(&it.window_mbps)),
        };
        let programs: Vec<Beside> = self.programs.iter().zip(chosen).map(|(it, cpus)| beside(it, cpus)).collect();
        let Source::Estimate(estimate) = &mut self.ground.source else { return Ok(()) };
        let found = estimate.look(&programs, &self.ground.cpus, &mut self.ground.canary)?;
        for (it, mbps) in self.programs.iter_mut().zip(found) {
            mbps.into_iter().for_each(|mbps| it.remember(mbps));
        }
        Ok(())
    }

    /// What was counted in this quantum.
    fn count_traffic(&mut self, time: Duration) -> io::Result<()> {
        for it in self.programs.iter_mut().filter(|it| !it.has_ended) {
            let bytes = it.counter.bytes()?;
            if let (Some(before), Some(now), true) = (it.bytes_before, bytes, it.is_thawed && !it.is_resting) {
                let n_cpus = it.keeps_to.len().max(1) as f64;
                it.remember(now.saturating_sub(before) as f64 / 1e6 / time.as_secs_f64() / n_cpus);
            }
            it.bytes_before = bytes;
        }
        Ok(())
    }

    /// A virtual machine's processors move: now and then the round trips are measured, while nothing else runs.
    fn look_at_links(&mut self) -> io::Result<()> {
        self.links_in -= 1;
        if self.links_in > 0 || self.ground.cpus.len() < 2 {
            self.links_in = self.links_in.max(1);
            return Ok(());
        }
        let running = || self.programs.iter().filter(|it| it.is_thawed && !it.has_ended && !it.is_resting);
        running().try_for_each(|it| it.group.freeze())?;
        let changed = self.ground.topology.look_again(&self.ground.cpus);
        running().try_for_each(|it| it.group.thaw())?;
        let changed = changed?;
        self.n_moves += u32::from(changed);
        self.links_every = if changed { LINKS_EVERY } else { (2 * self.links_every).min(LINKS_EVERY_MAX) };
        self.links_in = self.links_every;
        Ok(())
    }

    /// Slowdown under freeze: how much faster a program that counts its progress is while the others are frozen.
    fn slow_down(&mut self, chosen: &[Vec<usize>], quantum: Duration) -> io::Result<()> {
        self.freeze_in = self.freeze_in.saturating_sub(1);
        let n_running = chosen.iter().filter(|it| !it.is_empty()).count();
        if self.freeze_in > 0 || n_running < 2 {
            return Ok(());
        }
        let counts = |it: &&mut Program| it.is_thawed && !it.has_ended && !it.is_resting && it.progress().is_some_and(|it| it > 0);
        // The one that was looked at longest ago, as the newest goes to the end.
        let Some(id) = self.programs.iter_mut().filter(counts).min_by_key(|it| it.slowdown.map_or(0, |_| it.n_turns)).map(|it| it.id)
        else {
            self.freeze_in = FREEZE_FIRST;
            return Ok(());
        };
        let idx = self.programs.iter().position(|it| it.id == id).expect("it was just found");
        let slot = quantum.mul_f64(0.25);
        let beside = self.rate(idx, slot)?;
        if self.is_stale {
            return Ok(());
        }
        let others = || self.programs.iter().filter(|it| it.id != id && it.is_thawed && !it.has_ended && !it.is_resting);
        others().try_for_each(|it| it.group.freeze())?;
        let start = Instant::now();
        let before = self.programs[idx].progress();
        std::thread::sleep(slot);
        let after = self.programs[idx].progress();
        let time = start.elapsed().as_secs_f64();
        others().try_for_each(|it| it.group.thaw())?;
        let alone = after.zip(before).map(|(after, before)| after.saturating_sub(before) as f64 / time);
        self.freeze_in = FREEZE_EVERY;
        if let (Some(beside), Some(alone)) = (beside, alone)
            && beside * slot.as_secs_f64() >= COUNTS_MIN
        {
            self.programs[idx].slowdown = Some(alone / beside);
        }
        Ok(())
    }

    /// Counts a second of a program over some time.
    fn rate(&mut self, idx: usize, time: Duration) -> io::Result<Option<f64>> {
        let start = Instant::now();
        let before = self.programs[idx].progress();
        self.wait(start + time)?;
        let after = self.programs[idx].progress();
        Ok(after.zip(before).map(|(after, before)| after.saturating_sub(before) as f64 / start.elapsed().as_secs_f64()))
    }
}

/// Quanta before the first freeze of the others, and between two: a quarter of a quantum in 128 is 0.2 %.
const FREEZE_FIRST: u32 = 8;
const FREEZE_EVERY: u32 = 128;
/// Fewer counts say nothing.
const COUNTS_MIN: f64 = 8.0;

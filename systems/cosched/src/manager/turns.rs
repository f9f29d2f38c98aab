//! Door: programs that get their turns: observe, decide, apply, once a quantum.
//!
//! Nothing but what was started here or given to us is touched, and a supervisor thaws everything
//! if this process dies.

use std::collections::VecDeque;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use measure::stats;

use super::across::{self, Across, WallClock};
use super::antagonists::Antagonists;
use super::at_most::AtMost;
use super::foreign::Foreign;
use super::heartbeat::{self, Beat, Heartbeat};
use super::host::{Host, Waiting};
use super::pacing::Pacing;
use super::pages;
use super::probes::Probes;
use super::process::Process;
use super::program::{Ended, Expected, Status, Task};
use super::refusal::Refusal;
use super::roster::{Roster, TellEnd};
use super::slurm::Step;
use super::soft::{self, Soft};
use super::source::Source;
use super::sweep::{Pace, Unknown};
use super::switcher::Switcher;
use super::team::Page;
use crate::policies::{Name, Policy, ProgramView, ThreadView, View};

/// Without a quantum: how often it is seen whether attached programs have ended.
const IDLE: Duration = Duration::from_secs(1);
/// Of a quantum: when the canary looks, as the programs are warm then.
const WARM: f64 = 0.3;
/// How long programs may take to end that are told to.
pub const GRACE: Duration = Duration::from_secs(3);

/// What the manager hears while it waits.
pub enum Event {
    /// A child has ended.
    Ended(u64, io::Result<std::process::ExitStatus>, Instant),
    /// There is a request to serve between two steps.
    Do(Box<dyn FnOnce(&mut Turns<'_>) + Send>),
}

fn quantum_of(policy: &dyn Policy) -> Duration {
    Duration::from_micros((policy.quantum_ms() * 1000.0) as u64)
}

/// About so long, and never twice the same: looks that keep time with a program that wakes for a
/// moment would always find it running.
fn at_any_time(about: Duration) -> Duration {
    let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos());
    about / 2 + about.mul_f64(f64::from(now % 1_009) / 1_009.0)
}

/// The programs, and whose turn it is.
pub struct Turns<'a> {
    host: &'a mut Host,
    policy_name: Name,
    policy: Option<Box<dyn Policy>>,
    roster: Roster,
    switcher: Switcher,
    probes: Probes,
    heartbeat: Heartbeat,
    soft: Soft,
    at_most: AtMost,
    pacing: Pacing,
    antagonists: Antagonists,
    sender: Sender<Event>,
    events: Receiver<Event>,
    pub n_decisions: u64,
    /// What the last one took, with all that the policy is told.
    pub decision: Duration,
}

impl<'a> Turns<'a> {
    /// No programs yet; under `linux` the kernel decides alone.
    pub fn new(host: &'a mut Host, policy_name: Name) -> Turns<'a> {
        let (sender, events) = mpsc::channel();
        if let Source::Estimate(it) = &mut host.source {
            it.start_again();
        }
        let ends = sender.clone();
        // Nothing listens if the manager has ended before.
        let tell_end: TellEnd =
            Arc::new(move |id, status, at| _ = ends.send(Event::Ended(id, status, at)));
        let (roster, switcher, probes) =
            (Roster::new(tell_end), Switcher::default(), Probes::new());
        let heartbeat = Heartbeat::new(Arc::clone(&host.lines));
        let mut turns = Turns {
            host,
            policy_name,
            policy: None,
            roster,
            switcher,
            probes,
            heartbeat,
            soft: Soft::default(),
            at_most: AtMost::default(),
            pacing: Pacing::default(),
            antagonists: Antagonists::default(),
            sender,
            events,
            n_decisions: 0,
            decision: Duration::ZERO,
        };
        turns.begin_policy();
        turns
    }

    fn begin_policy(&mut self) {
        self.policy =
            (self.policy_name != Name::Linux).then(|| self.policy_name.policy(self.host.settings));
    }

    /// One quantum, or the wait until something happens where there is none; at most until `until`.
    pub fn turn(&mut self, until: Option<Instant>) -> io::Result<()> {
        self.observe();
        self.roster.is_stale = false;
        let start = Instant::now();
        let by = |deadline: Instant| until.map_or(deadline, |until| until.min(deadline));
        if self.roster.n_active() == 0 || self.policy.is_none() {
            self.soft.leave(&mut self.roster, &self.host.cpus);
            self.switcher.thaw_all(&mut self.roster, &self.host.cpus);
            self.heartbeat.free();
            return self.wait(by(start + IDLE));
        }
        let mut policy = self.policy.take().expect("there is one, as was just seen");
        let quantum = quantum_of(policy.as_ref());
        if self.is_soft() && !self.soft.begin(&mut self.roster, self.host, quantum) {
            self.policy = Some(policy);
            return self.alone(start, quantum, until);
        }
        if !self.beat() {
            self.policy = Some(policy);
            // Until a supervisor is there again.
            self.roster.is_stale = false;
            return self.wait(by(start + heartbeat::EVERY));
        }
        let (number, rest) = WallClock::quantum(quantum);
        let mut chosen = self.decide(policy.as_mut(), number);
        self.decision = start.elapsed();
        let start = Instant::now();
        let is_across =
            self.roster.active().any(|program| program.across().is_some() && !program.is_resting);
        let length = if is_across { rest } else { quantum };
        self.policy = Some(policy);
        if self.is_soft() {
            self.spare_who_waited(&mut chosen, quantum);
        }
        self.switcher.apply(&mut self.roster, &chosen);
        self.probe(&chosen, quantum)?;
        self.wait(by(start + length))?;
        if Probes::count_threads(&mut self.roster, self.host.cpus.len()) {
            // Policies know threads by number, and these are others now.
            self.begin_policy();
        }
        Probes::count_traffic(&mut self.roster, start.elapsed());
        self.antagonists.look(&self.roster, true);
        Ok(())
    }

    fn is_soft(&self) -> bool {
        self.host.waiting == Waiting::Soft
    }

    /// A quantum in which turns do not pay: the kernel schedules alone.
    fn alone(
        &mut self,
        start: Instant,
        quantum: Duration,
        until: Option<Instant>,
    ) -> io::Result<()> {
        let has_counters = self.host.source.counts();
        let is_limiting = self.at_most.apply(&mut self.roster, self.host);
        self.soft.leave(&mut self.roster, &self.host.cpus);
        for it in self.roster.active_mut() {
            it.is_resting = it.is_suspended;
            if has_counters {
                it.usage.begin(&it.group);
            }
        }
        if is_limiting {
            // A supervisor lifts the limits of a manager that hangs; without one nobody is limited.
            self.beat();
            self.roster.is_stale = false;
        } else {
            self.heartbeat.free();
        }
        let is_wanted = self.soft.is_in_question() || self.host.at_most_mbps.is_some();
        if is_wanted && Probes::is_look_due(self.host) {
            Probes::look_at_who_ran(&mut self.roster, self.host)?;
        }
        let is_watching =
            self.soft.is_watching() || has_counters || self.host.at_most_mbps.is_some();
        let deadline = start + if is_watching { quantum } else { IDLE };
        self.wait(until.map_or(deadline, |until| until.min(deadline)))?;
        Probes::count_traffic(&mut self.roster, start.elapsed());
        self.antagonists.look(&self.roster, false);
        Ok(())
    }

    /// Nobody is in the idle class for longer than allowed: who would be runs beside the others.
    fn spare_who_waited(&self, chosen: &mut [Vec<usize>], quantum: Duration) {
        let most = self.host.longest_wait;
        for (it, cpus) in self.roster.programs.iter().zip(chosen) {
            let is_waiting = cpus.is_empty() && !it.has_ended && !it.is_resting;
            if is_waiting && quantum * (it.waits as u32 + 1) > most {
                cpus.clone_from(&self.host.cpus);
            }
        }
    }

    /// Shows the supervisors that this works; false if none sees it. Then all programs run: a
    /// manager without a supervisor may not freeze.
    fn beat(&mut self) -> bool {
        let mut beat = self.heartbeat.frozen();
        if beat != Beat::Watched {
            // Whatever we take for frozen or kept to processors may not be so any more.
            self.switcher.let_all_run(&mut self.roster, &self.host.cpus);
            self.roster.is_stale = true;
            // That may take its time where programs are many, and nothing is frozen meanwhile.
            self.heartbeat.free();
            beat = self.heartbeat.frozen();
        }
        beat != Beat::Unwatched
    }

    /// Which programs have ended, and which rest no longer.
    fn observe(&mut self) {
        self.roster.notice_the_dead(self.host);
        if self.roster.strike_off_the_ended() {
            self.begin_policy();
        }
        self.roster.note_suspended(&self.host.cpus);
        let (clock, policy) = (self.host.wall_clock, &self.policy);
        if let Some(quantum) = policy.as_ref().map(|policy| quantum_of(policy.as_ref())) {
            self.roster.note_adrift(|| clock.is_shared(quantum), &self.host.cpus);
        }
        let is_estimated = matches!(self.host.source, Source::Estimate(_));
        if self.is_soft() && is_estimated && self.host.wants_rates() {
            // Who computes was not seen for turns, where there are none to cut.
            if !self.soft.is_watching() {
                soft::look_at_each(&mut self.roster, self.host.cpus.len());
            }
            let tell = |id: u64| {
                let sender = self.sender.clone();
                move |found: Result<Pace, Unknown>, pause: Duration| {
                    let note = move |turns: &mut Turns<'_>| turns.note_pace(id, found, pause);
                    // Nobody listens if the manager has ended meanwhile.
                    let _ = sender.send(Event::Do(Box::new(note)));
                }
            };
            if let Some(id) = self.pacing.begin(&self.roster, tell) {
                self.note_of(id, Err(pages::SMALL));
            }
        }
        if !self.is_soft() {
            Probes::wake(&mut self.roster);
        }
    }

    /// The processors of each program in the quantum of this number: of steps on several nodes as
    /// all of these decide, of the others as the policy does with what is left.
    fn decide(&mut self, policy: &mut dyn Policy, quantum: u64) -> Vec<Vec<usize>> {
        self.n_decisions += 1;
        let mut chosen = vec![Vec::new(); self.roster.programs.len()];
        let n_taken = self.give_turns_across(quantum, &mut chosen);
        let free = &self.host.cpus[n_taken..];
        if free.is_empty() {
            return chosen;
        }
        let mut programs = Vec::new();
        let mut threads = Vec::new();
        for (program, it) in self.roster.programs.iter().enumerate() {
            let is_active = !it.has_ended && !it.is_resting && it.across().is_none();
            let is_malleable = it.n_threads == 1 || it.page.as_ref().is_some_and(Page::is_followed);
            programs.push(ProgramView {
                n_threads: it.n_threads,
                first: threads.len(),
                is_active,
                is_malleable,
            });
            let window_mbps = it.window();
            for _ in 0..it.n_threads {
                threads.push(ThreadView {
                    program,
                    // What is not known is to a policy as what never ran; nobody else is told so.
                    latest_mbps: window_mbps.last().copied().unwrap_or(0.0),
                    window_mbps: window_mbps.clone(),
                    write_share: 0.0,
                    slowdown: it.slowdown,
                    is_ready: is_active,
                    was_running: it.is_thawed,
                });
            }
        }
        let machine = self.host.machine(free);
        let placement =
            policy.decide(&View { machine: &machine, programs: &programs, threads: &threads });
        for (place, thread) in placement.into_iter().enumerate() {
            if let Some(thread) = thread {
                chosen[threads[thread].program].push(free[place]);
            }
        }
        chosen
    }

    /// Steps on several nodes that run in this quantum get the first processors; how many of those
    /// are taken.
    fn give_turns_across(&self, quantum: u64, chosen: &mut [Vec<usize>]) -> usize {
        let programs = &self.roster.programs;
        let ready = |idx: &usize| !programs[*idx].has_ended && !programs[*idx].is_resting;
        let (across, others): (Vec<usize>, Vec<usize>) =
            (0..programs.len()).filter(ready).partition(|idx| programs[*idx].across().is_some());
        let steps: Vec<Across> = across.iter().filter_map(|idx| programs[*idx].across()).collect();
        let n_others = others.iter().map(|idx| programs[*idx].n_threads).sum();
        let cpus = &self.host.cpus;
        let mut n_taken = 0;
        let runs = across::choose(&steps, n_others, cpus.len(), quantum);
        for (idx, _) in across.into_iter().zip(runs).filter(|(_, runs)| *runs) {
            let n = programs[idx].n_threads.clamp(1, cpus.len());
            chosen[idx] = cpus[n_taken..n_taken + n].to_vec();
            n_taken += n;
        }
        n_taken
    }

    /// In the middle of the quantum, when the programs are warm.
    fn probe(&mut self, chosen: &[Vec<usize>], quantum: Duration) -> io::Result<()> {
        if self.is_soft() {
            // Nothing is frozen for a look.
            let is_look = Probes::is_look_due(self.host);
            if is_look && self.soft.is_in_question() {
                self.wait(Instant::now() + quantum.mul_f64(WARM))?;
                Probes::look_at_who_ran(&mut self.roster, self.host)?;
            }
            return Ok(());
        }
        self.probes.links(&self.roster, self.host)?;
        if self.host.source.counts() {
            return Ok(());
        }
        if let Some(comparison) = self.probes.begin_comparison(&self.roster, chosen, quantum) {
            self.wait(comparison.until())?;
            if !self.roster.is_stale {
                self.probes.end_comparison(&comparison, &mut self.roster);
            }
        }
        if Probes::is_look_due(self.host) {
            self.wait(Instant::now() + quantum.mul_f64(WARM))?;
            if !self.roster.is_stale {
                Probes::look(&mut self.roster, self.host, chosen)?;
            }
        }
        Ok(())
    }

    /// Listens until `deadline`, or until programs come, go or rest.
    fn wait(&mut self, deadline: Instant) -> io::Result<()> {
        let look_every = self.host.hierarchy.freezer.look_every();
        while !self.roster.is_stale {
            let now = Instant::now();
            // Where no program waits for a turn, none needs to be given up.
            let someone_waits = self.roster.someone_waits();
            let mut until = if someone_waits && !self.is_soft() {
                deadline.min(now + at_any_time(look_every))
            } else {
                deadline
            };
            if self.heartbeat.is_expected() {
                self.beat();
                until = until.min(now + heartbeat::EVERY);
            }
            match self.events.recv_timeout(until.saturating_duration_since(now)) {
                Ok(event) => self.hear(event)?,
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {
                    if someone_waits && !self.is_soft() {
                        Probes::let_rest(&mut self.roster, &self.host.cpus);
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(())
    }

    fn hear(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Ended(id, status, at) => {
                let status = status?;
                self.roster.child_ended(self.host, id, (status.code(), status.signal()), at);
            }
            Event::Do(it) => it(self),
        }
        Ok(())
    }

    /// What the pages of a program told of it; looking cost so long a pause.
    pub(super) fn note_pace(&mut self, id: u64, found: Result<Pace, Unknown>, pause: Duration) {
        self.pacing.ended(pause);
        self.note_of(id, found);
    }

    fn note_of(&mut self, id: u64, found: Result<Pace, Unknown>) {
        if let Some(it) = self.roster.active_mut().find(|program| program.id == id) {
            it.note_pace(found);
        }
    }

    /// Where to send events.
    pub fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Where it all happens.
    pub fn host(&self) -> &Host {
        self.host
    }

    pub fn policy(&self) -> Name {
        self.policy_name
    }

    /// Ends this quantum now.
    pub fn hurry(&mut self) {
        self.roster.is_stale = true;
    }

    /// The last programs that ended.
    pub fn ended(&self) -> &VecDeque<Ended> {
        &self.roster.done
    }

    /// The one that ended first of those that are remembered, forgotten now.
    pub fn take_ended(&mut self) -> Option<Ended> {
        self.roster.done.pop_front()
    }

    /// Microseconds that changes of programs took, freezing to thawing.
    pub fn switch_us(&self) -> Vec<f64> {
        self.switcher.took_us.iter().copied().collect()
    }

    pub fn switch_us_p95(&self) -> Option<f64> {
        let all = self.switch_us();
        (!all.is_empty()).then(|| stats::quantile(&all, 0.95))
    }

    /// Changes of programs so far, the microseconds of all of them, and how many programs
    /// were frozen and demoted for them.
    pub fn changes(&self) -> (u64, f64, u64, u64) {
        let it = &self.switcher;
        (it.n_changes, it.total_us, it.n_freezes, it.n_demotions)
    }

    /// Programs that came and that ended so far.
    pub fn came_and_ended(&self) -> (u64, u64) {
        (self.roster.n_started, self.roster.n_ended)
    }

    /// The programs of this user, and their threads.
    pub fn of(&self, user: u32) -> (usize, usize) {
        let own = || self.roster.active().filter(|active| active.user == user);
        (own().count(), own().map(|own| own.n_threads).sum())
    }

    /// The numbers of the programs of this user, or of all.
    pub fn ids(&self, user: Option<u32>) -> Vec<u64> {
        self.roster
            .active()
            .filter(|active| user.is_none_or(|user| active.user == user))
            .map(|active| active.id)
            .collect()
    }

    /// Thaws one program and lets it go: it runs on without us.
    pub fn release(&mut self, id: u64) {
        self.roster.release(self.host, id);
    }

    /// Times that the links changed.
    pub fn n_moves(&self) -> u32 {
        self.probes.n_moves
    }

    /// Programs that have not ended.
    pub fn n_active(&self) -> usize {
        self.roster.n_active()
    }

    /// True if a program of this number runs.
    pub fn is_active(&self, id: u64) -> bool {
        self.roster.is_active(id)
    }

    /// True if this process belongs to one of the programs.
    pub fn has(&self, pid: i32) -> bool {
        self.roster.has(self.host, pid)
    }

    /// The programs as they are.
    pub fn status(&self) -> Vec<Status> {
        let mut all = self.roster.status();
        for status in &mut all {
            status.antagonists = self.antagonists.of(status.id);
        }
        all
    }

    /// True if turns are cut now, and why or why not; none with turns that freeze.
    pub fn judgement(&self) -> Option<(bool, &'static str)> {
        self.is_soft().then(|| (self.soft.is_cutting, self.soft.judgement.text()))
    }

    /// MB/s that the programs together may move, if that was asked for, and what comes of it.
    pub fn limits(&self) -> (Option<f64>, Option<&'static str>) {
        let found = if self.soft.is_cutting { AtMost::Choice } else { self.at_most };
        (self.host.at_most_mbps, self.host.at_most_mbps.and(found.text()))
    }

    /// Starts a program; its number. With turns that freeze it is frozen until its first one.
    pub fn start(&mut self, task: &Task) -> io::Result<u64> {
        self.heartbeat.frozen();
        self.roster.start(self.host, task)
    }

    /// Takes in a process that runs already, and all below it.
    pub fn attach(
        &mut self,
        root: Process,
        n_threads: Option<usize>,
        expected: Expected,
    ) -> io::Result<u64> {
        self.heartbeat.frozen();
        self.roster.attach(self.host, root, n_threads, expected)
    }

    /// Takes in all tasks of a step of Slurm, as one program.
    pub fn attach_step(&mut self, tasks: Vec<Process>, step: Step) -> io::Result<u64> {
        self.heartbeat.frozen();
        self.roster.attach_step(self.host, tasks, step)
    }

    /// Takes in a group that somebody else made; `root` is one of its processes.
    ///
    /// Errors: it is not to be managed as it is.
    pub fn attach_group(
        &mut self,
        (found, root): (Foreign, Process),
        user: u32,
        n_threads: Option<usize>,
        expected: Expected,
    ) -> Result<u64, Refusal> {
        let said = || Path::new("/").join(found.path_inside()).display().to_string();
        if !self.is_soft() {
            return Err(Refusal::FrozenTurns(said()));
        }
        if self.roster.has_group(&found) {
            return Err(Refusal::GroupManaged(said()));
        }
        if let Some(member) = found.members().iter().find(|member| self.has(member.pid)) {
            return Err(Refusal::Managed(member.pid));
        }
        let (name, found) = (said(), (found, root));
        self.roster
            .attach_group(self.host, found, user, n_threads, expected)
            .map_err(|error| Refusal::Failed(format!("manage control group {name}: {error}")))
    }

    /// A step has ended; false if it was not known, or its end was seen before.
    pub fn end_step(&mut self, job: u32, step: u32) -> bool {
        self.roster.end_step(self.host, job, step)
    }

    /// Ends a program of ours that only ran beside the others; to be asked again until it has
    /// ended, as it may not have joined its group yet.
    pub fn kill(&mut self, id: u64) -> io::Result<()> {
        self.roster.kill(id)
    }

    /// Asks a program to end, and thaws it so that it hears that.
    pub fn tell_to_end(&mut self, id: u64) -> io::Result<()> {
        self.roster.tell_to_end(id)
    }

    /// Ends all programs of ours: they are told to, and killed if they have not
    /// ended after a while.
    pub fn end_all(&mut self) -> io::Result<()> {
        self.policy = None;
        self.switcher.thaw_all(&mut self.roster, &self.host.cpus);
        let start = Instant::now();
        let mut is_told = false;
        loop {
            let ours: Vec<u64> = self
                .roster
                .active()
                .filter(|active| !active.is_attached)
                .map(|active| active.id)
                .collect();
            if ours.is_empty() {
                return Ok(());
            }
            if start.elapsed() > GRACE {
                ours.into_iter().try_for_each(|our| self.kill(our))?;
            } else if !std::mem::replace(&mut is_told, true) {
                ours.into_iter().try_for_each(|our| self.tell_to_end(our))?;
            }
            self.turn(Some(Instant::now() + Duration::from_millis(20)))?;
        }
    }

    /// Thaws all programs and lets them go: they run on without us.
    pub fn release_all(&mut self) {
        self.roster.release_all(&self.host.cpus);
    }
}

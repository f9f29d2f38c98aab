//! Workloads on machines that we do not have: what a policy decides, how fast the threads then run,
//! when programs end.
//!
//! Time goes from event to event: the end of a quantum, of a thread's share of a parallel region,
//! of a wait that spins. Between two events every thread runs at the rate that the contention model
//! gives it. The same input always gives the same output.
//!
//! A program works in parallel regions with a barrier at the end of each. A manager tells malleable
//! programs their processors: the team of the next region has as many threads, and a thread that
//! was taken off a processor in mid-region is resumed in place of a sibling that has done its
//! share. Without a manager all threads are in the team; a thread that has done its share spins,
//! then sleeps.

use crate::assumptions::{Assumptions, Sleepers};
use crate::contention::{Demand, Model};
use crate::machine::Machine;
use crate::policies::{Placement, Policy, ProgramView, QUANTUM_MS, ThreadView, View};
use crate::workload::{Program, Workload};

/// Quanta that [`ThreadView::window_mbps`] holds at most.
const WINDOW_MAX: usize = 16;
/// Seconds of simulated time after which a run is a mistake of ours.
const TIME_MAX_S: f64 = 1e7;
/// Shorter work than this is done.
const DONE_S: f64 = 1e-10;

/// A thread on a processor for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    pub cpu: usize,
    pub thread: usize,
    pub program: usize,
    /// From here, in seconds.
    pub from_s: f64,
    pub to_s: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Seconds from the start of each program to its end, in the order of the workload; those in
    /// the background left out.
    pub turnaround_s: Vec<f64>,
    /// When the last ended.
    pub end_s: f64,
    /// Most quanta of 100 ms that a malleable program, or a thread of another,
    /// waited between two turns.
    pub longest_wait_quanta: f64,
    /// Mean age of the measurements behind decisions, in quanta.
    pub decision_age_quanta: f64,
    /// Traffic over capacity of all links, over the whole run.
    pub bus_utilisation: f64,
    /// Processor-quanta without work, spinning included.
    pub quanta_idle: f64,
    /// Which thread was on which processor.
    pub segments: Vec<Segment>,
    /// For each quantum of 100 ms the share of the links that was used.
    pub used: Vec<f64>,
}

impl Outcome {
    /// Mean of the programs' turnaround.
    pub fn mean_s(&self) -> f64 {
        self.turnaround_s.iter().sum::<f64>() / self.turnaround_s.len() as f64
    }
}

/// A run of a workload to its end.
pub fn run(
    workload: &Workload,
    machine: &Machine,
    model: Model,
    policy: &mut dyn Policy,
) -> Outcome {
    run_assuming(workload, machine, model, policy, Assumptions::default())
}

/// The same, with more assumed of the machine and its programs.
pub fn run_assuming(
    workload: &Workload,
    machine: &Machine,
    model: Model,
    policy: &mut dyn Policy,
    assumed: Assumptions,
) -> Outcome {
    let quantum_s = policy.quantum_ms() / 1000.0;
    let mut sim = Sim::new(workload, machine, model, policy.is_manager(), quantum_s, assumed);
    let (mut n_decisions, mut age) = (0u64, 0u64);
    loop {
        sim.admit();
        if sim
            .programs
            .iter()
            .all(|program| program.ended_s.is_some() || program.spec.is_background)
        {
            break;
        }
        let placement =
            policy.decide(&View { machine, programs: &sim.program_views, threads: &sim.views });
        sim.check(&placement);
        n_decisions += 1;
        age += u64::from(policy.age_quanta());
        sim.place(placement, quantum_s);
        sim.advance(sim.now_s + quantum_s);
        assert!(sim.now_s < TIME_MAX_S, "{} does not end", workload.title);
    }
    sim.outcome(age as f64 / n_decisions.max(1) as f64)
}

struct ProgramState<'a> {
    spec: &'a Program,
    first: usize,
    started_s: Option<f64>,
    ended_s: Option<f64>,
    /// Work behind the region that runs.
    left_s: f64,
    /// What is left of each share of the region that runs.
    shares: Vec<f64>,
    /// Since when it has had no processor.
    waits_since_s: f64,
}

#[derive(Debug, Clone, Default)]
struct ThreadState {
    cpu: Option<usize>,
    /// The share of the region that it works on.
    share: Option<usize>,
    spun_s: f64,
    sleeps: bool,
    /// Where it ran in the quantum before.
    was_on: Option<usize>,
    /// Work that its cold cache adds to the next share.
    cold_s: f64,
    placed_s: f64,
    moved_mb: f64,
    written_mb: f64,
    waits_since_s: f64,
}

struct Sim<'a> {
    machine: &'a Machine,
    model: Model,
    is_manager: bool,
    assumed: Assumptions,
    sleepers: Sleepers,
    quantum_s: f64,
    now_s: f64,
    programs: Vec<ProgramState<'a>>,
    threads: Vec<ThreadState>,
    views: Vec<ThreadView>,
    program_views: Vec<ProgramView>,
    placement: Placement,
    segments: Vec<Segment>,
    used: Vec<f64>,
    idle_s: f64,
    moved_mb: f64,
    longest_wait_s: f64,
}

impl<'a> Sim<'a> {
    fn new(
        workload: &'a Workload,
        machine: &'a Machine,
        model: Model,
        is_manager: bool,
        quantum_s: f64,
        assumed: Assumptions,
    ) -> Sim<'a> {
        let mut programs = Vec::new();
        let (mut views, mut program_views) = (Vec::new(), Vec::new());
        for spec in &workload.programs {
            let first = views.len();
            for _ in 0..spec.n_threads {
                let program = programs.len();
                views.push(ThreadView::new(program));
            }
            program_views.push(ProgramView {
                n_threads: spec.n_threads,
                first,
                is_active: false,
                is_malleable: spec.is_malleable,
            });
            let state = ProgramState {
                spec,
                first,
                started_s: None,
                ended_s: None,
                left_s: spec.work_s,
                shares: Vec::new(),
                waits_since_s: 0.0,
            };
            programs.push(state);
        }
        Sim {
            machine,
            model,
            is_manager,
            assumed,
            sleepers: assumed.sleepers(),
            quantum_s,
            now_s: 0.0,
            threads: vec![ThreadState::default(); views.len()],
            programs,
            views,
            program_views,
            placement: vec![None; machine.n_cpus()],
            segments: Vec::new(),
            used: Vec::new(),
            idle_s: 0.0,
            moved_mb: 0.0,
            longest_wait_s: 0.0,
        }
    }

    /// Programs whose time has come begin; the views are brought up to date.
    fn admit(&mut self) {
        for idx in 0..self.programs.len() {
            let spec = self.programs[idx].spec;
            let has_come = match spec.after {
                Some(before) => self.programs[before].ended_s.is_some(),
                None => spec.arrival_s <= self.now_s + DONE_S,
            };
            if has_come && self.programs[idx].started_s.is_none() {
                // A successor starts when its predecessor ends, whether or not a decision is due.
                let start = spec
                    .after
                    .and_then(|after| self.programs[after].ended_s)
                    .unwrap_or(spec.arrival_s);
                let program = &mut self.programs[idx];
                (program.started_s, program.waits_since_s) = (Some(start), self.now_s);
                for thread in program.first..program.first + spec.n_threads {
                    self.threads[thread].waits_since_s = self.now_s;
                }
            }
            let program = &self.programs[idx];
            self.program_views[idx].is_active =
                program.started_s.is_some() && program.ended_s.is_none();
        }
        for (idx, thread) in self.threads.iter_mut().enumerate() {
            let view = &mut self.views[idx];
            view.was_running = thread.placed_s > 0.0;
            if thread.placed_s > 0.0 {
                view.latest_mbps = thread.moved_mb / thread.placed_s;
                view.window_mbps.push(view.latest_mbps);
                if view.window_mbps.len() > WINDOW_MAX {
                    view.window_mbps.remove(0);
                }
                view.write_share =
                    if thread.moved_mb > 0.0 { thread.written_mb / thread.moved_mb } else { 0.0 };
                (thread.placed_s, thread.moved_mb, thread.written_mb) = (0.0, 0.0, 0.0);
            }
            view.is_ready = self.program_views[view.program].is_active
                && !thread.sleeps
                && !self.sleepers.next(self.quantum_s);
        }
    }

    /// No processor twice, no thread twice, none that may not run.
    fn check(&self, placement: &Placement) {
        assert_eq!(placement.len(), self.machine.n_cpus(), "one place for each processor");
        let mut is_on = vec![false; self.threads.len()];
        for thread in placement.iter().flatten() {
            assert!(self.views[*thread].is_ready, "thread {thread} may not run");
            assert!(!std::mem::replace(&mut is_on[*thread], true), "thread {thread} runs twice");
        }
    }

    fn place(&mut self, placement: Placement, quantum_s: f64) {
        for thread in &mut self.threads {
            thread.was_on = thread.cpu.take();
        }
        for (cpu, thread) in placement.iter().enumerate() {
            let Some(thread) = *thread else { continue };
            let (state, program) = (&mut self.threads[thread], self.views[thread].program);
            state.cpu = Some(cpu);
            if state.was_on != Some(cpu) {
                state.cold_s = self.assumed.cold_s();
            }
            let waited = if self.programs[program].spec.is_malleable {
                self.programs[program].waits_since_s
            } else {
                state.waits_since_s
            };
            self.longest_wait_s = self.longest_wait_s.max(self.now_s - waited);
            state.waits_since_s = self.now_s + quantum_s;
            let to_s = self.now_s + quantum_s;
            match self
                .segments
                .iter_mut()
                .rev()
                .take(4 * placement.len())
                .find(|segment| segment.cpu == cpu)
            {
                Some(last) if last.thread == thread && (last.to_s - self.now_s).abs() < 1e-6 => {
                    last.to_s = to_s
                }
                _ => self.segments.push(Segment { cpu, thread, program, from_s: self.now_s, to_s }),
            }
        }
        for thread in placement.iter().flatten() {
            self.programs[self.views[*thread].program].waits_since_s = self.now_s + quantum_s;
        }
        self.placement = placement;
        for program in 0..self.programs.len() {
            if self.program_views[program].is_active {
                self.deal(program);
            }
        }
    }

    /// Gives the placed threads of a program their shares; begins a region if none runs.
    fn deal(&mut self, program: usize) {
        let ProgramState { spec, first, .. } = self.programs[program];
        let own = first..first + spec.n_threads;
        let n_placed = own.clone().filter(|own| self.threads[*own].cpu.is_some()).count();
        let adapts = self.is_manager && spec.is_malleable;
        let keeps = self.assumed.one_by_one;
        if self.programs[program].shares.is_empty() {
            if n_placed == 0 {
                return;
            }
            let team = if adapts { n_placed } else { spec.n_threads };
            let state = &mut self.programs[program];
            let work = spec.region_s.min(state.left_s);
            state.left_s -= work;
            state.shares = vec![work / team as f64; team];
            for it in own.clone() {
                let thread = &mut self.threads[it];
                (thread.share, thread.sleeps, thread.spun_s) = (None, false, 0.0);
            }
        }
        let shares = &self.programs[program].shares;
        if adapts {
            // A share that no thread on a processor works on goes to a thread that has none.
            let mut is_taken = vec![false; shares.len()];
            for it in own.clone() {
                let thread = &mut self.threads[it];
                thread.share = thread
                    .share
                    .filter(|&share| (keeps || thread.cpu.is_some()) && shares[share] > DONE_S);
                if let Some(share) = thread.share {
                    is_taken[share] = true;
                }
            }
            let mut open = (0..shares.len()).filter(|&idx| !is_taken[idx] && shares[idx] > DONE_S);
            for it in own {
                let thread = &mut self.threads[it];
                if thread.cpu.is_some() && thread.share.is_none() {
                    thread.share = open.next();
                }
            }
        } else {
            for it in own.clone() {
                self.threads[it].share = Some(it - first).filter(|&share| shares[share] > DONE_S);
            }
        }
        for it in first..first + spec.n_threads {
            let thread = &mut self.threads[it];
            if let (Some(share), Some(_)) = (thread.share, thread.cpu) {
                self.programs[program].shares[share] += std::mem::take(&mut thread.cold_s);
            }
        }
    }

    fn demand(&self, thread: usize) -> Demand {
        let program = &self.programs[self.views[thread].program];
        let done =
            1.0 - (program.left_s + program.shares.iter().sum::<f64>()) / program.spec.work_s;
        let phase = program.spec.phases.iter().find(|phase| done < phase.until - 1e-12);
        phase.unwrap_or_else(|| program.spec.phases.last().expect("a program has a phase")).demand
    }

    /// Runs the placed threads until `to_s`.
    fn advance(&mut self, to_s: f64) {
        while self.now_s < to_s - DONE_S {
            // Which threads work, on which link, at what rate.
            let mut rates: Vec<(usize, f64)> = Vec::new();
            let mut moves: Vec<(usize, f64)> = Vec::new();
            let (mut traffic_mbps, mut n_idle) = (0.0, 0usize);
            for (link, capacity) in self.machine.links.iter().enumerate() {
                let on_link =
                    (0..self.placement.len()).filter(|&cpu| self.machine.link_of[cpu] == link);
                let mut working = Vec::new();
                for cpu in on_link {
                    match self.placement[cpu]
                        .filter(|placement| self.threads[*placement].share.is_some())
                    {
                        Some(thread) => working.push(thread),
                        None => n_idle += 1,
                    }
                }
                let demands: Vec<Demand> = working.iter().map(|&it| self.demand(it)).collect();
                let (of, traffic) = self.model.rates(*capacity, self.machine.cache_mb, &demands);
                traffic_mbps += traffic.iter().sum::<f64>();
                moves.extend(working.iter().copied().zip(traffic));
                rates.extend(working.into_iter().zip(of));
            }
            let mut step_s = to_s - self.now_s;
            for &(thread, rate) in &rates {
                let program = &self.programs[self.views[thread].program];
                let share = self.threads[thread].share.expect("it works");
                step_s = step_s.min(program.shares[share] / rate);
            }
            let spinning: Vec<usize> =
                self.placement.iter().flatten().copied().filter(|it| self.spins(*it)).collect();
            for &thread in &spinning {
                step_s =
                    step_s.min((self.assumed.spin_s() - self.threads[thread].spun_s).max(1e-6));
            }
            for (thread, mbps) in moves {
                let demand = self.demand(thread);
                let state = &mut self.threads[thread];
                state.moved_mb += mbps * step_s;
                state.written_mb +=
                    mbps * step_s * demand.write_mbps / demand.total_mbps().max(1e-9);
            }
            for &(thread, rate) in &rates {
                let program = &mut self.programs[self.views[thread].program];
                let share = self.threads[thread].share.expect("it works");
                program.shares[share] = (program.shares[share] - rate * step_s).max(0.0);
            }
            for thread in self.placement.iter().flatten() {
                self.threads[*thread].placed_s += step_s;
            }
            for &thread in &spinning {
                self.threads[thread].spun_s += step_s;
                self.threads[thread].sleeps =
                    self.threads[thread].spun_s >= self.assumed.spin_s() - DONE_S;
            }
            self.idle_s += n_idle as f64 * step_s;
            self.moved_mb += traffic_mbps * step_s;
            self.account(traffic_mbps, step_s);
            self.now_s += step_s;
            self.barriers();
        }
        self.now_s = to_s;
    }

    /// It is on a processor, has done its share and waits for its siblings, and
    /// there is no manager.
    fn spins(&self, thread: usize) -> bool {
        let state = &self.threads[thread];
        !self.is_manager
            && state.share.is_none()
            && !state.sleeps
            && self.programs[self.views[thread].program].ended_s.is_none()
    }

    /// Adds traffic to the quanta that the step lies in.
    fn account(&mut self, traffic_mbps: f64, step_s: f64) {
        let quantum_s = QUANTUM_MS / 1000.0;
        let (mut from, to) = (self.now_s, self.now_s + step_s);
        while from < to - DONE_S {
            let idx = ((from + DONE_S) / quantum_s) as usize;
            let until = to.min((idx + 1) as f64 * quantum_s);
            self.used.resize(self.used.len().max(idx + 1), 0.0);
            self.used[idx] += traffic_mbps * (until - from) / quantum_s / self.machine.mixed_mbps();
            from = until;
        }
    }

    /// Shares that are done: another one for the thread, the next region, or the
    /// end of the program.
    fn barriers(&mut self) {
        for idx in 0..self.programs.len() {
            if !self.program_views[idx].is_active
                || self.programs[idx].ended_s.is_some()
                || self.programs[idx].shares.is_empty()
            {
                continue;
            }
            let program = &mut self.programs[idx];
            let own = program.first..program.first + program.spec.n_threads;
            let some_done = own.clone().any(|own| {
                self.threads[own].share.is_some_and(|share| program.shares[share] <= DONE_S)
            });
            if !some_done {
                continue;
            }
            if program.shares.iter().any(|share| *share > DONE_S) {
                self.deal(idx);
                continue;
            }
            program.shares.clear();
            if program.spec.is_background {
                // It begins again.
                program.left_s = program.left_s.max(program.spec.region_s);
            }
            if program.left_s <= DONE_S {
                program.ended_s = Some(self.now_s);
                for it in own {
                    (self.threads[it].share, self.threads[it].sleeps) = (None, false);
                }
            } else {
                self.deal(idx);
            }
        }
    }

    fn outcome(self, decision_age_quanta: f64) -> Outcome {
        let span = |state: &ProgramState<'_>| {
            state.ended_s.expect("all have ended") - state.started_s.expect("it began")
        };
        let counted = || self.programs.iter().filter(|program| !program.spec.is_background);
        let end_s = counted().filter_map(|counted| counted.ended_s).fold(0.0, f64::max);
        let quantum_s = QUANTUM_MS / 1000.0;
        // After the end of the last program no processor counts as idle.
        let after = (self.now_s - end_s) * self.machine.n_cpus() as f64;
        Outcome {
            turnaround_s: counted().map(span).collect(),
            end_s,
            longest_wait_quanta: self.longest_wait_s / quantum_s,
            decision_age_quanta,
            bus_utilisation: self.moved_mb / (self.machine.mixed_mbps() * end_s),
            quanta_idle: (self.idle_s - after) / quantum_s,
            segments: self.segments,
            used: self.used,
        }
    }
}

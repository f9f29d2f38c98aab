//! Ours: a crew that asks for the average bandwidth of the workload and stays until its work is
//! done.
//!
//! 1. A thread's demand is the most it moved in one of its last quanta: beside others it moves less
//!    than it would, so
//!    the quantum in which it was least disturbed says most. A program known to be slowed down by
//others counts at least as !    much as that: a pointer chase asks for little, and suffers beside
//one that asks for much.
//! 2. The crew has a thread for each processor. Places that fall free go, up to half of them, to
//!    the program that came
//!    first; the others to the run of threads, in the order of their demand, whose sum brings the
//crew nearest to the !    target: all demand over the quanta in which every thread runs once, so
//that neither a quantum that asks for more !    than the average nor one that asks for less is left
//for later; at most what the links carry and a tenth. Of threads !    alike in demand a writer is
//taken beside readers, and a reader beside writers, where links limit them apart.
//! 3. A program in the crew stays: programs then end one after the other instead of all at the end,
//!    at the same use of the
//!    bus, and none ends later for it.
//! 4. Every fourth quantum belongs to the others, the ones that have waited longest first, filled
//!    up in the same way: so
//!    no program waits longer than four times the quanta that the others need for a round.
//! 5. Where no choice of threads can fill a link nothing is rearranged: it is round robin. If asked
//!    to finish first, the crew
//!    stays there too: on the mean programs end sooner, those that came last start slower than they
//would by turns.
//! 6. A share of the quanta, none unless set, goes by round robin whatever the demand: programs
//!    that lose beside those
//!    that ask for much lose less, and those gain less.
//!
//! A program that cannot adapt to its processors runs whole or not at all. One decision is O(N log
//! N). With several links the threads of a quantum are dealt out over them, the largest first, each
//! to the link with the most left.

use std::cmp::Reverse;

use super::parts::{Links, Queue, place, round_robin};
use super::{Placement, Policy, ThreadView, View};
use crate::machine::Capacity;

/// Quanta that a demand is remembered.
const MEMORY: usize = 4;
/// Every so many quanta one is for those outside the crew.
const OTHERS_EVERY: u64 = 4;
/// Most exchanges after the first choice.
const EXCHANGES_MAX: usize = 4;
/// Demands within this factor count as equal; a link that is overbooked by no more counts as full.
const ALIKE: f64 = 1.1;

#[derive(Debug, Default)]
pub(super) struct Pairing {
    queue: Queue,
    crew: Vec<usize>,
    n_decisions: u64,
    /// The programs of the quanta that go by round robin, their share, and what of such a
    /// quantum has come together.
    conventional: Queue,
    round_robin: f64,
    due: f64,
    finishes_first: bool,
}

impl Pairing {
    pub fn new(round_robin: f64, finishes_first: bool) -> Pairing {
        Pairing { round_robin, finishes_first, ..Pairing::default() }
    }
}

/// A thread that waits: its class of demand, its place in the queue, its number.
type Candidate = (Reverse<u64>, usize, usize);

/// Threads chosen for one quantum, and what they ask for.
struct PairChoice<'a> {
    view: &'a View<'a>,
    demand: &'a [f64],
    target: f64,
    chosen: Vec<usize>,
    sum: f64,
    written: f64,
    /// What all links carry: of reads, of writes, of both.
    limits: [f64; 3],
    is_chosen: Vec<bool>,
}

impl Policy for Pairing {
    fn decide(&mut self, view: &View<'_>) -> Placement {
        self.due += self.round_robin;
        if self.due >= 1.0 - 1e-9 {
            self.due -= 1.0;
            return round_robin(&mut self.conventional, view);
        }
        let n_cpus = view.machine.n_cpus();
        let moved: Vec<f64> = view.threads.iter().map(|thread| most(&thread.window_mbps)).collect();
        self.queue.admit(view.threads.len(), |idx| view.threads[idx].is_ready);
        self.n_decisions += 1;
        let ready: Vec<usize> = self.queue.iter().collect();
        if !self.finishes_first && !can_fill_a_link(view, &moved) {
            self.crew.clear();
            let threads: Vec<usize> = ready.into_iter().take(n_cpus).collect();
            self.queue.send_back(&threads);
            return place(view, &threads);
        }
        // Siblings of one core slow each other down without any traffic: that matters for programs
        // that traffic can slow down.
        let demand: Vec<f64> = view
            .threads
            .iter()
            .zip(moved)
            .map(|(it, moved)| moved.max(suffers(it, view)))
            .collect();
        let n_quanta = ready.len().div_ceil(n_cpus).max(1);
        let each = ready.iter().map(|idx| demand[*idx]).sum::<f64>() / n_quanta as f64;
        let target = each.min(ALIKE * view.machine.mixed_mbps());
        let mut choice = PairChoice::new(view, &demand, target);
        self.crew.retain(|crew| view.threads[*crew].is_ready);
        self.crew.iter().for_each(|it| choice.take(*it));
        // In the order of their arrival.
        let by_arrival: Vec<usize> = view.ready().collect();
        choice.fill(&by_arrival);
        let crew = std::mem::take(&mut choice.chosen);
        self.crew.clone_from(&crew);
        let mut threads = crew;
        if self.n_decisions.is_multiple_of(OTHERS_EVERY) && ready.len() > threads.len() {
            let others: Vec<usize> =
                ready.iter().copied().filter(|idx| !choice.is_chosen[*idx]).collect();
            let mut turn = PairChoice::new(view, &demand, target);
            turn.fill(&others);
            // Fewer others than places: the crew has the rest.
            turn.fill(&threads);
            threads = turn.chosen;
        }
        self.queue.send_back(&threads);
        if view.machine.links.len() == 1 {
            return place(view, &threads);
        }
        threads.sort_by(|a, b| demand[*b].total_cmp(&demand[*a]).then(a.cmp(b)));
        let mut links = Links::of(view);
        for thread in threads {
            let Some((link, _)) = links.most_left() else { break };
            links.put(link, thread, demand[thread]);
        }
        links.placement
    }
}

fn most(window: &[f64]) -> f64 {
    window.iter().rev().take(MEMORY).copied().fold(0.0, f64::max)
}

/// What a thread that is slowed down so far would ask for, if demand were the reason: twice as slow
/// beside one other is a whole link.
fn suffers(thread: &ThreadView, view: &View<'_>) -> f64 {
    let (n_cpus, n_links) = (view.machine.n_cpus() as f64, view.machine.links.len() as f64);
    let others = (n_cpus / n_links - 1.0).max(1.0);
    thread
        .slowdown
        .map_or(0.0, |slowdown| (slowdown - 1.0) / others * view.machine.mixed_mbps() / n_links)
}

/// A link that is used to this share may be what holds its threads up: they move no
/// more than it carries.
const FULL: f64 = 0.95;

/// Some choice of threads asks for all that a link carries.
fn can_fill_a_link(view: &View<'_>, demand: &[f64]) -> bool {
    let mut ready: Vec<f64> = view.ready().map(|ready| demand[ready]).collect();
    let mut n_of = vec![0usize; view.machine.links.len()];
    view.machine.link_of.iter().for_each(|link| n_of[*link] += 1);
    let mut worst = |n: usize| {
        if n < ready.len() {
            ready.select_nth_unstable_by(n, |a, b| b.total_cmp(a));
        }
        ready.iter().take(n).sum::<f64>()
    };
    // A link of one processor is not shared, however full it is.
    let mut shared = n_of.iter().zip(&view.machine.links).filter(|pair| *pair.0 > 1);
    shared.any(|(&n, link)| {
        worst(n) > FULL * link.mixed_mbps.min(link.read_mbps).min(link.write_mbps)
    })
}

impl<'a> PairChoice<'a> {
    fn new(view: &'a View<'a>, demand: &'a [f64], target: f64) -> PairChoice<'a> {
        let all = |of: fn(&Capacity) -> f64| view.machine.links.iter().map(of).sum::<f64>();
        let limits = [all(|it| it.read_mbps), all(|it| it.write_mbps), all(|it| it.mixed_mbps)];
        PairChoice {
            view,
            limits,
            demand,
            target,
            chosen: Vec::new(),
            sum: 0.0,
            written: 0.0,
            is_chosen: vec![false; demand.len()],
        }
    }

    fn n_free(&self) -> usize {
        self.view.machine.n_cpus() - self.chosen.len()
    }

    fn take(&mut self, thread: usize) {
        if self.n_free() > 0 && !std::mem::replace(&mut self.is_chosen[thread], true) {
            self.chosen.push(thread);
            self.sum += self.demand[thread];
            self.written += self.writes(thread);
        }
    }

    fn writes(&self, thread: usize) -> f64 {
        self.demand[thread] * self.view.threads[thread].write_share
    }

    /// How full the fullest of the limits would be with this thread.
    fn load_with(&self, thread: usize) -> f64 {
        let (all, written) = (self.sum + self.demand[thread], self.written + self.writes(thread));
        ((all - written) / self.limits[0]).max(written / self.limits[1]).max(all / self.limits[2])
    }

    /// So many of threads that are alike in demand: in their order, but rather from the other half
    /// of readers and writers if that leaves the links clearly less full.
    fn take_alike(&mut self, alike: &[Candidate], n: usize) {
        let writes = |candidate: &&Candidate| self.view.threads[candidate.2].write_share > 0.5;
        let (writers, readers): (Vec<&Candidate>, Vec<&Candidate>) = alike.iter().partition(writes);
        let (mut writers, mut readers) =
            (writers.into_iter().peekable(), readers.into_iter().peekable());
        for _ in 0..n {
            let is_writer = match (writers.peek(), readers.peek()) {
                (None, _) => false,
                (_, None) => true,
                (Some(writer), Some(reader)) => {
                    let loads = (self.load_with(writer.2), self.load_with(reader.2));
                    let is_first = writer.1 < reader.1;
                    if is_first { loads.0 <= ALIKE * loads.1 } else { ALIKE * loads.0 < loads.1 }
                }
            };
            let next = if is_writer { writers.next() } else { readers.next() };
            next.into_iter().for_each(|pair| self.take(pair.2));
        }
    }

    fn is_whole(&self, thread: usize) -> bool {
        let program = &self.view.programs[self.view.threads[thread].program];
        !program.is_malleable && program.n_threads > 1
    }

    /// Fills the free places from `waiting`, which stand in the order of their right to run.
    fn fill(&mut self, waiting: &[usize]) {
        if self.n_free() == 0 {
            return;
        }
        self.first_program(waiting);
        self.nearest_run(waiting);
        self.whole_programs(waiting);
        // Nothing else fits: rather some threads of a program than idle processors.
        waiting.iter().for_each(|it| self.take(*it));
    }

    /// Up to half of the free places to the program of the first that waits; all that it has
    /// if it runs whole.
    fn first_program(&mut self, waiting: &[usize]) {
        let Some(&first) = waiting.iter().find(|it| !self.is_chosen[**it]) else { return };
        let program = self.view.threads[first].program;
        let own = waiting
            .iter()
            .copied()
            .filter(|idx| self.view.threads[*idx].program == program && !self.is_chosen[*idx]);
        let n = if self.is_whole(first) { self.n_free() } else { self.n_free().div_ceil(2) };
        let own: Vec<usize> = own.take(n).collect();
        own.into_iter().for_each(|it| self.take(it));
    }

    /// The run of as many threads as places are free, in the order of demand, that comes nearest to
    /// the target; of threads alike those with the most right to run.
    fn nearest_run(&mut self, waiting: &[usize]) {
        let class = |number: usize| (self.demand[number].max(1.0).ln() / ALIKE.ln()) as u64;
        let open = waiting
            .iter()
            .copied()
            .enumerate()
            .filter(|pair| !self.is_chosen[pair.1] && !self.is_whole(pair.1));
        let mut sorted: Vec<Candidate> =
            open.map(|(right, it)| (Reverse(class(it)), right, it)).collect();
        sorted.sort_unstable();
        let n = self.n_free().min(sorted.len());
        if n == 0 {
            return;
        }
        let wanted = self.target - self.sum;
        let mut sum: f64 = sorted[..n].iter().map(|pair| self.demand[pair.2]).sum();
        let mut best = (f64::INFINITY, 0);
        for from in 0..=sorted.len() - n {
            if from > 0 {
                sum += self.demand[sorted[from + n - 1].2] - self.demand[sorted[from - 1].2];
            }
            if (sum - wanted).abs() < best.0 - 1e-9 {
                best = ((sum - wanted).abs(), from);
            }
        }
        // So many of each class, the first of each.
        let n_before = self.chosen.len();
        let mut from = 0;
        let run = best.1..best.1 + n;
        while from < sorted.len() {
            let n_class = sorted[from..].iter().take_while(|pair| pair.0 == sorted[from].0).count();
            let n_of = (from + n_class).min(run.end).saturating_sub(from.max(run.start));
            self.take_alike(&sorted[from..from + n_class], n_of);
            from += n_class;
        }
        self.exchange(n_before, sorted.iter().map(|pair| pair.2));
    }

    /// Changes one of the chosen from place `from` on for another candidate, as long as that
    /// brings the sum nearer.
    fn exchange(&mut self, from: usize, candidates: impl Iterator<Item = usize>) {
        let key = |demand: &[f64], it: usize| (demand[it].to_bits(), it);
        let mut others: Vec<(u64, usize)> = candidates
            .filter(|candidate| !self.is_chosen[*candidate])
            .map(|candidate| key(self.demand, candidate))
            .collect();
        others.sort_unstable();
        for _ in 0..EXCHANGES_MAX {
            let off = (self.target - self.sum).abs();
            let mut best = (off * 0.99 - 1e-9, None);
            for place in from..self.chosen.len() {
                let out = self.chosen[place];
                let wanted = self.demand[out] + self.target - self.sum;
                let above = others.partition_point(|other| *other < (wanted.max(0.0).to_bits(), 0));
                let near = [others.get(above), above.checked_sub(1).map(|number| &others[number])];
                for &(_, into) in near.into_iter().flatten() {
                    let then = (self.demand[into] - wanted).abs();
                    if then < best.0 {
                        best = (then, Some((place, into)));
                    }
                }
            }
            let Some((place, into)) = best.1 else { return };
            let out = std::mem::replace(&mut self.chosen[place], into);
            (self.is_chosen[out], self.is_chosen[into]) = (false, true);
            let place = |others: &[(u64, usize)], it: usize| {
                others.partition_point(|other| *other < key(self.demand, it))
            };
            others.remove(place(&others, into));
            others.insert(place(&others, out), key(self.demand, out));
            self.sum += self.demand[into] - self.demand[out];
            self.written += self.writes(into) - self.writes(out);
        }
    }

    /// Programs that run whole, as long as one fits, the nearest to what is left for each place.
    fn whole_programs(&mut self, waiting: &[usize]) {
        while self.n_free() > 0 {
            let wanted = (self.target - self.sum) / self.n_free() as f64;
            let open =
                waiting.iter().copied().filter(|idx| !self.is_chosen[*idx] && self.is_whole(*idx));
            let fits = open.filter(|open| {
                self.view.programs[self.view.threads[*open].program].n_threads <= self.n_free()
            });
            let far = |number: usize| (self.demand[number] - wanted).abs();
            let Some(next) = fits.min_by(|a, b| far(*a).total_cmp(&far(*b))) else { return };
            let program = &self.view.programs[self.view.threads[next].program];
            (program.first..program.first + program.n_threads).for_each(|idx| self.take(idx));
        }
    }
}

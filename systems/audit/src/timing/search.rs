//! The fastest order of a trace under its edges: branch and bound over orders.
//!
//! 1. Start with the better of the given order and a list schedule that prefers long tails.
//! 2. Try each instruction that may come next, the one with the longest tail first.
//! 3. Give up an order whose bound ([`bound`](crate::timing::bound)) is no better than the best
//!    order so
//!    far, or that reached the same set of instructions no later before.
//!
//! Keeps: all edges. The given order wins ties, so nothing moves without need.
//! Costs: exponential in the worst case, so nodes are counted; at the limit the answer is the best
//! order so far and the bound, and no word of optimality.

use std::collections::HashMap;

use machine::in_order::Core;

use crate::timing::bound::{Bounds, Job, PASSES_MAX, bounds, cycles, job, makespan};
use crate::timing::depend::Edge;
use crate::timing::pipe::{Need, Pipe};
use crate::timing::stalls::{rows, time};

/// Longer traces are not searched.
pub const EXACT_MAX: usize = 60;
/// Nodes before the search gives up.
pub const NODES_MAX: u32 = 20_000;

/// An order and what is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The instructions of the trace in the order in which they start.
    pub order: Vec<u32>,
    /// Cycles of this order.
    pub total_cycles: u32,
    /// No order takes fewer; equal to `total_cycles` if this one is optimal.
    pub bound_cycles: u32,
}

impl Found {
    /// It is proved that no order is faster.
    pub fn is_optimal(&self) -> bool {
        self.total_cycles == self.bound_cycles
    }
}

/// An order as fast as `found` and nearer to the given one: what moved without need moves back.
pub fn nearest(needs: &[Need], edges: &[Edge], core: &Core, found: &Found) -> Vec<u32> {
    let mut order = found.order.clone();
    let mut tries = if order.len() <= PASSES_MAX { TRIES_MAX } else { 0 };
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for at in 1..order.len() {
            if order[at - 1] <= order[at] || tries == 0 {
                continue;
            }
            tries -= 1;
            let is_as_fast = |nearer: &Vec<u32>| {
                time(needs, edges, nearer, core).total_cycles <= found.total_cycles
            };
            if let Some(nearer) = turned_back(&order, at).into_iter().find(is_as_fast) {
                (order, is_changed) = (nearer, true);
            }
        }
    }
    order
}

/// The order with its places `at - 1` and `at` turned back: these two alone, the first behind all
/// that it went above, or the second before all that it went below. One step may cost what the whole
/// way does not. Edges lead forwards, so what is turned round may always be turned back.
fn turned_back(order: &[u32], at: usize) -> [Vec<u32>; 3] {
    let (first, second) = (order[at - 1], order[at]);
    let n_behind = order[at..].iter().take_while(|number| **number < first).count();
    let n_before = order[..at].iter().rev().take_while(|number| **number > second).count();
    let [mut swapped, mut sunk, mut risen] = [order.to_vec(), order.to_vec(), order.to_vec()];
    swapped.swap(at - 1, at);
    sunk[at - 1..at + n_behind].rotate_left(1);
    risen[at - n_before..=at].rotate_right(1);
    [swapped, sunk, risen]
}

/// So many pairs are turned back, or tried.
const TRIES_MAX: u32 = 2000;

/// The fastest order that is found with at most `nodes_max` nodes; longer traces than
/// [`EXACT_MAX`] get the list schedule.
pub fn search(needs: &[Need], edges: &[Edge], core: &Core, nodes_max: u32) -> Found {
    let n = needs.len();
    let bounds = bounds(needs, edges, core);
    let given: Vec<u32> = (0..n as u32).collect();
    let mut best = Found {
        total_cycles: time(needs, edges, &given, core).total_cycles,
        order: given,
        bound_cycles: bounds.total_cycles,
    };
    let listed = list_schedule(needs, edges, core, &bounds);
    let listed_cycles = time(needs, edges, &listed, core).total_cycles;
    if listed_cycles < best.total_cycles {
        best = Found { total_cycles: listed_cycles, order: listed, ..best };
    }
    debug_assert!(best.bound_cycles <= best.total_cycles, "a bound holds for every order");
    if best.is_optimal() || n > EXACT_MAX {
        return best;
    }
    let mut search = Search {
        needs,
        edges,
        core,
        rows: rows(edges, n),
        bounds,
        best,
        nodes_left: nodes_max,
        seen: HashMap::new(),
    };
    let start =
        SearchState { pipe: Pipe::new(core), done: 0, starts: vec![0; n], order: Vec::new() };
    search.extend(&start);
    let mut best = search.best;
    if search.nodes_left > 0 {
        best.bound_cycles = best.total_cycles;
    }
    best
}

/// Always the instruction that can start first, of these the one with the longest tail.
fn list_schedule(needs: &[Need], edges: &[Edge], core: &Core, bounds: &Bounds) -> Vec<u32> {
    let n = needs.len();
    let mut waits_for = vec![0u32; n];
    let mut behind: Vec<Vec<&Edge>> = vec![Vec::new(); n];
    for edge in edges {
        waits_for[edge.to as usize] += 1;
        behind[edge.from as usize].push(edge);
    }
    let mut pipe = Pipe::new(core);
    let mut ready = vec![0u32; n];
    let mut is_done = vec![false; n];
    let mut order = Vec::with_capacity(n);
    // All before the first that is not done are done: there is always one to take.
    let mut first = 0;
    while order.len() < n {
        while is_done[first] {
            first += 1;
        }
        let open =
            (first..n.min(first + WINDOW)).filter(|idx| !is_done[*idx] && waits_for[*idx] == 0);
        let timed = open.map(|open| {
            (pipe.start(&needs[open], ready[open]), u32::MAX - bounds.tails[open], open)
        });
        let (start, _, at) =
            timed.min().expect("edges lead forwards, so the first that is not done can start");
        pipe.take(&needs[at], start);
        for edge in &behind[at] {
            let to = edge.to as usize;
            waits_for[to] -= 1;
            ready[to] = ready[to].max(start + edge.cycles);
        }
        is_done[at] = true;
        order.push(at as u32);
    }
    order
}

/// The list schedule looks so far ahead.
const WINDOW: usize = 200;

struct Search<'a> {
    needs: &'a [Need],
    edges: &'a [Edge],
    core: &'a Core,
    rows: Vec<std::ops::Range<usize>>,
    bounds: Bounds,
    best: Found,
    nodes_left: u32,
    /// For a set of instructions, the states in which it was reached: none of these is
    /// worth a second look.
    seen: HashMap<u64, Vec<(Pipe, Vec<u32>)>>,
}

#[derive(Clone)]
struct SearchState {
    pipe: Pipe,
    /// Bit i: instruction i has started.
    done: u64,
    starts: Vec<u32>,
    order: Vec<u32>,
}

impl Search<'_> {
    fn extend(&mut self, state: &SearchState) {
        let n = self.needs.len();
        if state.order.len() == n {
            let total_cycles = state.pipe.passed();
            if total_cycles < self.best.total_cycles {
                self.best.total_cycles = total_cycles;
                self.best.order.clone_from(&state.order);
            }
            return;
        }
        let ready = self.ready(state);
        if self.bound(state, &ready) >= self.best.total_cycles || self.was_here(state, &ready) {
            return;
        }
        let is_open = |at: &usize| state.done >> at & 1 == 0;
        let may_come = |at: &usize| {
            self.edges[self.rows[*at].clone()].iter().all(|edge| state.done >> edge.from & 1 == 1)
        };
        let mut next: Vec<(u32, u32, usize)> = (0..n)
            .filter(|at| is_open(at) && may_come(at))
            .map(|at| {
                (state.pipe.start(&self.needs[at], ready[at]), u32::MAX - self.bounds.tails[at], at)
            })
            .collect();
        next.sort_unstable();
        for (start, _, at) in next {
            if self.nodes_left == 0 {
                return;
            }
            self.nodes_left -= 1;
            let mut after = state.clone();
            after.pipe.take(&self.needs[at], start);
            after.done |= 1 << at;
            after.starts[at] = start;
            after.order.push(at as u32);
            self.extend(&after);
            if self.best.is_optimal() {
                return;
            }
        }
    }

    /// The earliest start of each instruction that has not started, by the edges alone.
    fn ready(&self, state: &SearchState) -> Vec<u32> {
        let mut ready = vec![0u32; self.needs.len()];
        for at in 0..ready.len() {
            if state.done >> at & 1 == 1 {
                ready[at] = state.starts[at];
                continue;
            }
            let known = self.edges[self.rows[at].clone()]
                .iter()
                .map(|edge| ready[edge.from as usize] + edge.cycles)
                .max();
            ready[at] = known.unwrap_or(0);
        }
        ready
    }

    fn bound(&self, state: &SearchState, ready: &[u32]) -> u32 {
        let open = (0..self.needs.len()).filter(|at| state.done >> at & 1 == 0);
        let jobs: Vec<Job> = open
            .map(|at| {
                let head =
                    ready[at].max(self.bounds.heads[at]).max(state.pipe.place(&self.needs[at]));
                job(&self.needs[at], self.core, head, self.bounds.tails[at])
            })
            .collect();
        // What is left of the current cycle's slots is counted as if all were free: a bound may be
        // low.
        cycles(makespan(&jobs), self.core).max(state.pipe.passed())
    }

    /// The same instructions were started before, and everything was ready no later.
    fn was_here(&mut self, state: &SearchState, ready: &[u32]) -> bool {
        let seen = self.seen.entry(state.done).or_default();
        let no_later = |old: &(Pipe, Vec<u32>)| {
            old.0.is_no_later(&state.pipe) && old.1.iter().zip(ready).all(|(old, new)| old <= new)
        };
        if seen.iter().any(no_later) {
            return true;
        }
        // What has started no longer matters.
        let open: Vec<u32> = (0..ready.len())
            .map(|at| if state.done >> at & 1 == 1 { 0 } else { ready[at] })
            .collect();
        seen.push((state.pipe.clone(), open));
        false
    }
}

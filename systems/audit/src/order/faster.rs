//! The order of one straight piece with which the paths through it take the fewest cycles.
//!
//! 1. Begin with the better of the order as written and the best for the piece alone
//!    ([`search`](crate::timing::search)).
//! 2. Move one instruction at a time to each place that it may go to, and keep a move that makes
//!    the paths faster, until none does.
//!
//! A loop counts with its cycles an iteration in the steady state, and before the path, which passes
//! each loop once.
//!
//! Keeps: all that must stay in order. Costs: the square of the piece's length in timings of the
//! path, at most [`TRIES_MAX`].

use std::ops::Range;

use machine::in_order::Core;

use crate::decode::code::Flow;
use crate::facts::frame::StackFrame;
use crate::facts::liveness::Liveness;
use crate::facts::loops::loops;
use crate::facts::trace::{End, Guide, Trace, hot_trace};
use crate::order::NewOrder;
use crate::program::function::Function;
use crate::timing::depend::{Crossing, Edge, Licence, Why, dependences, latencies};
use crate::timing::pipe::Need;
use crate::timing::search::{NODES_MAX, nearest, search};
use crate::timing::stalls::time;
use crate::timing::steady::Iteration;

/// So many orders of one piece are timed.
const TRIES_MAX: usize = 6000;
/// Longer pieces stay as they are.
const PIECE_MAX: usize = 400;

/// A path that is to be fast: the hot one, or an iteration of a loop.
#[derive(Debug)]
pub struct FastPath<'a> {
    core: &'a Core,
    pub places: Vec<usize>,
    time: PathTime,
}

#[derive(Debug)]
enum PathTime {
    Once { needs: Vec<Need>, edges: Vec<Edge> },
    Iteration(Iteration),
}

impl<'a> FastPath<'a> {
    /// The innermost loops of the function and its hot path.
    pub fn all(function: &Function, core: &'a Core, guide: &Guide<'_>) -> Vec<FastPath<'a>> {
        let frame = StackFrame::of(function);
        let rounds = loops(function, guide);
        let straight = rounds.iter().filter(|found| found.case.is_none() && !found.has_inner);
        let mut paths: Vec<FastPath<'a>> = straight
            .map(|found| FastPath {
                core,
                places: found.round.places.clone(),
                time: PathTime::Iteration(Iteration::of(function, &frame, core, &found.round)),
            })
            .collect();
        let trace = hot_trace(guide);
        paths.push(FastPath {
            core,
            time: PathTime::Once {
                needs: Need::of_trace(function, &trace, core),
                edges: latencies(function, &frame, &trace, core),
            },
            places: trace.places,
        });
        paths
    }

    /// Where the places begin that this path does not go on to: after a branch that it takes.
    pub fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        let left = self.places.windows(2).filter(|pair| pair[1] != pair[0] + 1);
        left.map(|pair| pair[0] + 1).chain(self.places.last().map(|last| last + 1))
    }

    fn first(&self, piece: &Range<usize>) -> Option<usize> {
        let first = self.places.iter().position(|idx| *idx == piece.start)?;
        let all = self.places.get(first..first + piece.len())?;
        all.iter().copied().eq(piece.clone()).then_some(first)
    }

    /// All of the piece is on the path.
    pub fn passes(&self, piece: &Range<usize>) -> bool {
        self.first(piece).is_some()
    }

    /// The cycles of the path, or of an iteration, with the function in this order.
    pub fn cycles(&self, order: &NewOrder) -> f64 {
        let at = |idx: usize| self.places.iter().position(|place| *place == idx);
        let new = self.places.iter().map(|place| order.places[*place]);
        let all: Option<Vec<u32>> = new.map(|idx| Some(at(idx)? as u32)).collect();
        let all = all.expect("pieces lie on a path as a whole");
        self.cost_of(&all).0
    }

    /// The cycles with this order of the piece, and how early its instructions start: of two orders
    /// that take as long the earlier one leads to a faster one.
    fn cost(&self, piece: &Range<usize>, order: &[u32]) -> Cost {
        let first = self.first(piece).expect("the path passes the piece");
        let mut all: Vec<u32> = (0..self.places.len() as u32).collect();
        for (slot, at) in all[first..].iter_mut().zip(order) {
            *slot = first as u32 + at;
        }
        self.cost_of(&all)
    }

    fn cost_of(&self, all: &[u32]) -> Cost {
        match &self.time {
            PathTime::Once { needs, edges } => {
                let timing = time(needs, edges, all, self.core);
                let starts = timing.starts.iter().map(|start| u64::from(*start)).sum();
                (f64::from(timing.total_cycles), starts)
            }
            PathTime::Iteration(iteration) => iteration.cost(all, self.core),
        }
    }

    /// It is an iteration of a loop.
    pub fn is_loop(&self) -> bool {
        matches!(self.time, PathTime::Iteration(_))
    }
}

/// Cycles, and the sum of the cycles in which instructions start.
type Cost = (f64, u64);

/// The best order that is found for the instructions of the piece, as places in the function; none if
/// the order as written is as good. Those for which `keeps_turn` says so pass none of each other.
pub fn order(
    function: &Function,
    core: &Core,
    paths: &[FastPath<'_>],
    piece: &Range<usize>,
    keeps_turn: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    if piece.len() > PIECE_MAX {
        return None;
    }
    let mut through: Vec<&FastPath<'_>> = paths.iter().filter(|path| path.passes(piece)).collect();
    // The path passes a loop once: where there is one, its iterations count alone.
    if through.iter().any(|path| path.is_loop()) {
        through.retain(|path| path.is_loop());
    }
    let cost = |order: &[u32]| -> Cost {
        let all = through.iter().map(|path| path.cost(piece, order));
        all.fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    let (needs, edges) = constraints(function, core, piece, keeps_turn);
    let given: Vec<u32> = (0..piece.len() as u32).collect();
    let written = cost(&given);
    let mut best = (written, given);
    let found = search(&needs, &edges, core, NODES_MAX);
    let found = nearest(&needs, &edges, core, &found);
    let alone = cost(&found);
    if alone < best.0 {
        best = (alone, found);
    }
    let before = before(&edges, piece.len());
    let mut n_tries = 0;
    while let Some(better) = moved(&best, &before, &cost, &mut n_tries) {
        best = better;
    }
    (best.0.0 < written.0).then(|| best.1.iter().map(|at| piece.start + *at as usize).collect())
}

/// The first order that is better than `best` with one instruction elsewhere.
fn moved(
    best: &(Cost, Vec<u32>),
    before: &[Vec<u32>],
    cost: &impl Fn(&[u32]) -> Cost,
    n_tries: &mut usize,
) -> Option<(Cost, Vec<u32>)> {
    let n = best.1.len();
    let follows = |later: u32, earlier: u32| before[later as usize].contains(&earlier);
    for from in 0..n {
        let moving = best.1[from];
        // Upwards past all that it need not follow, and downwards past all that need not follow it.
        let up = best.1[..from].iter().rev().take_while(|at| !follows(moving, **at)).count();
        let down = best.1[from + 1..].iter().take_while(|at| !follows(**at, moving)).count();
        for to in (from - up..from).chain(from + 1..=from + down) {
            if *n_tries == TRIES_MAX {
                return None;
            }
            *n_tries += 1;
            let mut order = best.1.clone();
            order.remove(from);
            order.insert(to, moving);
            let then = cost(&order);
            if then < best.0 {
                return Some((then, order));
            }
        }
    }
    None
}

/// By instruction of the piece, what it has to follow.
fn before(edges: &[Edge], n: usize) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); n];
    edges.iter().for_each(|edge| before[edge.to as usize].push(edge.from));
    before
}

/// What the instructions of the piece need of the core, and what of them must stay in order.
fn constraints(
    function: &Function,
    core: &Core,
    piece: &Range<usize>,
    keeps_turn: impl Fn(usize) -> bool,
) -> (Vec<Need>, Vec<Edge>) {
    let last = &function.instructions[piece.end - 1];
    let goes_on = !matches!(last.flow, Flow::Return | Flow::Jump | Flow::Stop)
        && piece.end < function.instructions.len();
    let trace = Trace::through(
        function,
        &Liveness::of(function),
        piece.clone().collect(),
        goes_on.then_some(piece.end),
        End::Jump,
    );
    let licence = Licence { renames: false, crosses: Crossing::Proved, reorders_memory: false };
    let mut edges = dependences(function, &StackFrame::of(function), &trace, core, licence);
    let keep: Vec<usize> = piece.clone().filter(|idx| keeps_turn(*idx)).collect();
    let at = |idx: usize| (idx - piece.start) as u32;
    edges.extend(keep.windows(2).map(|pair| Edge {
        from: at(pair[0]),
        to: at(pair[1]),
        cycles: 0,
        why: Why::Control,
    }));
    let above = |exit: usize, idx: usize| is_readable(function, piece, exit, idx);
    for exit in trace.exits.iter().map(|exit| piece.start + exit.at) {
        let held = (exit + 1..piece.end).filter(|idx| !above(exit, *idx));
        edges.extend(held.map(|idx| Edge {
            from: at(exit),
            to: at(idx),
            cycles: 0,
            why: Why::Control,
        }));
    }
    edges.sort_by_key(|edge| (edge.to, edge.from));
    (Need::of_trace(function, &trace, core), edges)
}

/// What instruction `idx` accesses can be read before `exit`, too: it lies between bytes that were
/// accessed before that by the same register, on two pages at most. That the object was accessed
/// elsewhere says nothing: a string may end with its page, and a union with its first member.
fn is_readable(function: &Function, piece: &Range<usize>, exit: usize, idx: usize) -> bool {
    const PAGE: i64 = 4096;
    let it = &function.instructions[idx];
    let stack_pointer = function.isa.conventions().stack_pointer;
    it.accesses.iter().all(|access| {
        let (Some(base), None) = (access.base, access.index) else { return false };
        if base == stack_pointer {
            return true;
        }
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for before in (piece.start..idx).rev() {
            let earlier = &function.instructions[before];
            if earlier.writes.iter().any(|write| write.reg == base) {
                break;
            }
            let is_done = before < exit && !earlier.is_guarded();
            for known in earlier.accesses.iter().filter(|_| is_done) {
                if known.base == Some(base) && known.index.is_none() {
                    low = low.min(known.disp);
                    high = high.max(known.disp + i64::from(known.width));
                }
            }
        }
        let end = access.disp + i64::from(access.width);
        low <= access.disp && end <= high && high - low <= PAGE
    })
}

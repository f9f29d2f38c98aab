//! Cycles of one round of a loop after many, and why no order of its instructions takes fewer.
//!
//! ```text
//! 1: ldr x3, [x0], #8     on Cortex-A53 a round starts every 7 cycles: 3 until the product has what is loaded,
//!    mul x2, x2, x3       and 4 until the branch behind it is over; each product needs the one before,
//!    subs x1, x1, #1      so no order takes less than 4
//!    b.ne 1b
//! ```
//!
//! Rounds are put one after the other, with what the second needs of the first, and timed until
//! the pipeline repeats itself. The bound is the largest of three: the issue slots of a round, the
//! work of each set of units, and the recurrence: the longest chain from a value to the same value
//! a round later.

use machine::Dispute;
use machine::in_order::Core;
use serde::Serialize;

use crate::facts::frame::StackFrame;
use crate::facts::loops::Loop;
use crate::facts::trace::{Exit, Trace};
use crate::program::function::Function;
use crate::timing::bound::slots;
use crate::timing::depend::{Edge, Why, latencies};
use crate::timing::pipe::Need;
use crate::timing::stalls::{Cause, CauseKind, Timing, causes, time};
use crate::timing::words::Path;

/// Rounds that are timed; the later half counts. A loop that repeats itself every 1 to
/// 6 rounds is exact.
const ROUNDS: usize = 120;
/// Instructions that are timed at most, in at least [`ROUNDS_MIN`] rounds: a long round hardly
/// depends on those before.
const TIMED_MAX: usize = 50_000;
const ROUNDS_MIN: usize = 4;

/// A loop in the steady state, on the model.
#[derive(Debug, Clone)]
pub struct Steady {
    /// The path of a round.
    pub round: Trace,
    /// Where the computed jump on it leads in this round, as a place in the function.
    pub case: Option<usize>,
    /// There may be more cases, which are not timed.
    pub has_more_cases: bool,
    pub depth: usize,
    /// An inner loop is passed once.
    pub has_inner: bool,
    /// Rounds each time that it is entered, if that was recorded.
    pub rounds: Option<f64>,
    /// Cycles from the start of a round to that of the next.
    pub cycles: f64,
    /// What no order of the instructions beats.
    pub bound: LoopBound,
    /// The instructions that wait in the last round that was timed.
    pub waits: Vec<Wait>,
    /// Figures that these waits or the longest chain rest on and that
    /// another source gives otherwise.
    pub disputed: Vec<Dispute>,
}

/// An instruction that waits in each round.
#[derive(Debug, Clone)]
pub struct Wait {
    /// The instruction, as a place in the round.
    pub at: usize,
    pub cycles: u32,
    /// For what, in words.
    pub why: String,
}

/// Cycles a round that no order of its instructions beats, by what they rest on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoopBound {
    /// The largest of the three.
    pub total: f64,
    /// All issue slots of a round.
    pub issue: f64,
    /// The work for the set of units that has most.
    pub units: f64,
    /// The longest chain from a value to the same value in the next round.
    pub recurrence: f64,
    /// The names of these units.
    pub busiest: Vec<String>,
    /// The instructions of this chain, as places in the round.
    pub chain: Vec<usize>,
}

pub fn steady(function: &Function, frame: &StackFrame, core: &Core, it: &Loop) -> Steady {
    let n = it.round.places.len();
    let needs = Need::of_trace(function, &it.round, core);
    let edges = carried(function, frame, core, &it.round);
    let rounds = rounds(n);
    let all: Vec<Need> = (0..rounds).flat_map(|_| needs.iter().copied()).collect();
    let unrolled = unrolled(&edges, n, rounds);
    let order: Vec<u32> = (0..all.len() as u32).collect();
    let timing = time(&all, &unrolled, &order, core);
    let start = |round: usize| f64::from(timing.starts[round * n]);
    let (first, last) = (rounds / 2 - 1, rounds - 1);
    let cycles = (start(last) - start(first)) / (last - first) as f64;
    let path = Path { function, core, places: &it.round.places };
    // What the last round waits for lies in it or in the one before.
    let from = (last - 1) * n;
    let base = timing.starts[from];
    let two = Timing {
        starts: timing.starts[from..].iter().map(|start| start - base).collect(),
        stall_cycles: timing.stall_cycles[from..].to_vec(),
        total_cycles: timing.total_cycles - base,
    };
    let (two_needs, two_edges) = (&all[from..], self::unrolled(&edges, n, 2));
    let (mut waits, mut disputed) = (Vec::new(), Vec::new());
    for at in (n..2 * n).filter(|idx| two.stall_cycles[*idx] > 0) {
        // Producers as places in the round, whichever round they are of.
        let causes = causes(two_needs, &two_edges, &two, core, at)
            .into_iter()
            .map(|cause| Cause { producer: cause.producer % n as u32, ..cause });
        let causes: Vec<Cause> = causes.collect();
        let why: Vec<String> = causes.iter().map(|cause| path.cause(at % n, cause)).collect();
        disputed.extend(path.disputed(at % n, &causes));
        waits.push(Wait { at: at % n, cycles: two.stall_cycles[at], why: why.join("; ") });
    }
    let bound = bound(&needs, &edges, core);
    if bound.recurrence == bound.total {
        disputed.extend(chain_disputes(&path, &edges, &bound.chain));
    }
    let mut all: Vec<Dispute> = Vec::new();
    for it in disputed {
        if !all.contains(&it) {
            all.push(it);
        }
    }
    let Loop { round, case, has_more_cases, depth, has_inner, rounds, .. } = it.clone();
    Steady {
        waits,
        disputed: all,
        cycles,
        bound,
        round,
        case,
        has_more_cases,
        depth,
        has_inner,
        rounds,
    }
}

/// Iterations that are timed to compare orders of one.
const COMPARED: usize = 24;

/// One iteration of a loop, to be timed in other orders.
#[derive(Debug)]
pub struct Iteration {
    needs: Vec<Need>,
    edges: Vec<Edge>,
    n: usize,
}

impl Iteration {
    pub fn of(function: &Function, frame: &StackFrame, core: &Core, round: &Trace) -> Iteration {
        let n = round.places.len();
        let needs = Need::of_trace(function, round, core);
        let edges = unrolled(&carried(function, frame, core, round), n, COMPARED);
        Iteration { needs: needs.repeat(COMPARED), edges, n }
    }

    /// The cycles of an iteration after many in this order of its instructions, and the sum of the
    /// cycles in which they start.
    pub fn cost(&self, order: &[u32], core: &Core) -> (f64, u64) {
        let n = self.n as u32;
        let all: Vec<u32> = (0..COMPARED as u32)
            .flat_map(|round| order.iter().map(move |at| round * n + at))
            .collect();
        let timing = time(&self.needs, &self.edges, &all, core);
        let start = |round: usize| f64::from(timing.starts[round * self.n + order[0] as usize]);
        let cycles = (start(COMPARED - 1) - start(COMPARED / 2 - 1)) / (COMPARED / 2) as f64;
        (cycles, timing.starts.iter().map(|start| u64::from(*start)).sum())
    }
}

/// What is disputed of the latencies along a chain that leads to itself.
fn chain_disputes(path: &Path<'_>, edges: &[Carried], chain: &[usize]) -> Vec<Dispute> {
    let next = chain.iter().cycle().skip(1);
    let steps = chain.iter().zip(next);
    let of_step = |(from, to): (&usize, &usize)| {
        let is_step = |carried: &&Carried| {
            carried.edge.from as usize == *from
                && carried.edge.to as usize == *to
                && matches!(carried.edge.why, Why::Value(..))
        };
        let edge = edges.iter().filter(is_step).max_by_key(|edge| edge.edge.cycles)?;
        let cause = Cause {
            producer: edge.edge.from,
            kind: CauseKind::Order(edge.edge.why),
            cycles: edge.edge.cycles,
        };
        Some(path.disputed(*to, &[cause]))
    };
    steps.filter_map(of_step).flatten().collect()
}

/// How many rounds of so many instructions are timed.
fn rounds(n: usize) -> usize {
    (TIMED_MAX / n.max(1)).clamp(ROUNDS_MIN, ROUNDS)
}

/// An order between instructions of one round, or of one and the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carried {
    pub(crate) edge: Edge,
    /// `from` is in the round before.
    pub(crate) is_carried: bool,
}

/// What the second of two rounds waits for.
pub(crate) fn carried(
    function: &Function,
    frame: &StackFrame,
    core: &Core,
    round: &Trace,
) -> Vec<Carried> {
    let n = round.places.len();
    let mut twice = round.clone();
    twice.places.extend(&round.places);
    twice.exits.extend(round.exits.iter().map(|exit| Exit { at: exit.at + n, ..exit.clone() }));
    let edges = latencies(function, frame, &twice, core);
    let second = edges.into_iter().filter(|edge| edge.to as usize >= n);
    let short = |edge: Edge| Carried {
        is_carried: (edge.from as usize) < n,
        edge: Edge { from: edge.from % n as u32, to: edge.to % n as u32, ..edge },
    };
    second.map(short).collect()
}

/// The edges of so many rounds, by where they lead.
pub(crate) fn unrolled(edges: &[Carried], n: usize, rounds: usize) -> Vec<Edge> {
    let mut all = Vec::with_capacity(edges.len() * rounds);
    for round in 0..rounds {
        let first = (round * n) as u32;
        for it in edges.iter().filter(|edge| round > 0 || !edge.is_carried) {
            let from = it.edge.from + first - if it.is_carried { n as u32 } else { 0 };
            all.push(Edge { from, to: it.edge.to + first, ..it.edge });
        }
    }
    all
}

fn bound(needs: &[Need], edges: &[Carried], core: &Core) -> LoopBound {
    let issue = needs.iter().map(|need| slots(need, core)).sum::<i64>() as f64
        / f64::from(core.issue_width);
    let (units, busiest) = busiest(needs, core);
    let (recurrence, chain) = recurrence(needs.len(), edges);
    LoopBound { total: issue.max(units).max(recurrence), issue, units, recurrence, busiest, chain }
}

/// The cycles a round of the set of units that has most to do, and its units: what
/// can go nowhere else.
fn busiest(needs: &[Need], core: &Core) -> (f64, Vec<String>) {
    let mut most = (0.0, Vec::new());
    for set in 1u32..1 << core.units.len() {
        let holds = |unit: usize| set >> unit & 1 == 1;
        let stays =
            |need: &&Need| need.units.iter().next().is_some() && need.units.iter().all(holds);
        let work: u32 = needs.iter().filter(stays).map(|need| need.unit_cycles).sum();
        let cycles = f64::from(work) / f64::from(set.count_ones());
        if cycles > most.0 {
            let names = core
                .units
                .iter()
                .enumerate()
                .filter(|(unit, _)| holds(*unit))
                .map(|(_, it)| it.clone());
            most = (cycles, names.collect());
        }
    }
    most
}

/// The growth of the longest chain of values from round to round, and the instructions
/// that it goes through.
fn recurrence(n: usize, edges: &[Carried]) -> (f64, Vec<usize>) {
    let values: Vec<Carried> =
        edges.iter().filter(|edge| matches!(edge.edge.why, Why::Value(..))).copied().collect();
    let rounds = rounds(n);
    let unrolled = unrolled(&values, n, rounds);
    let mut heads = vec![0u32; n * rounds];
    let mut from = vec![None; n * rounds];
    for edge in &unrolled {
        let head = heads[edge.from as usize] + edge.cycles;
        if head >= heads[edge.to as usize] && (head > 0 || from[edge.to as usize].is_none()) {
            heads[edge.to as usize] = head;
            from[edge.to as usize] = Some(edge.from as usize);
        }
    }
    let latest =
        |round: usize| (round * n..(round + 1) * n).map(|idx| heads[idx]).max().unwrap_or(0);
    let growth = f64::from(latest(rounds - 1).saturating_sub(latest(rounds / 2 - 1)))
        / (rounds - rounds / 2) as f64;
    let mut chain = Vec::new();
    if growth > 0.0 {
        let mut at = ((rounds - 1) * n..rounds * n).max_by_key(|idx| heads[*idx]);
        // Backwards until an instruction comes again.
        while let Some(place) = at {
            if let Some(again) = chain.iter().position(|it| *it == place % n) {
                chain.drain(..again);
                break;
            }
            chain.push(place % n);
            at = from[place];
        }
        chain.reverse();
    }
    (growth, chain)
}

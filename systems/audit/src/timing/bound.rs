//! Lower bounds on the cycles of a trace: no order of its instructions is faster.
//!
//! ```text
//! ldr r0, [r4]     starts at 0 at the earliest, and 5 cycles pass from there to the end
//! and r3, r0, #3   3                            2
//! cmp r3, #1       4                            1: no order takes less than 5 cycles
//! ```
//!
//! Each instruction has a head, the earliest cycle that chains of latencies leave it, and a tail,
//! the cycles from its start to the end. All that must start between the head of one and the tail
//! of another shares the issue slots: the shortest schedule of jobs with heads and tails on one
//! machine that may be interrupted is a bound (Rim and Jain 1994), and applied to what comes before
//! each single instruction it makes better heads (Langevin and Cerny 1996), and tails likewise. The units are machines
//! of the same kind: what keeps one busy keeps the trace from being shorter.
//!
//! Needs: edges that lead from earlier to later instructions of the trace.
//! Costs: the square of the length for each pass; beyond [`PASSES_MAX`] instructions chains and
//! issue slots alone are counted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use machine::UnitSet;
use machine::in_order::Core;

use crate::timing::depend::Edge;
use crate::timing::pipe::Need;
use crate::timing::stalls::rows;

/// Longer traces get the simple bound.
pub const PASSES_MAX: usize = 400;

/// A trace as jobs with heads and tails.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// The earliest start of each instruction, in cycles from 0.
    pub heads: Vec<u32>,
    /// Cycles from the start of each to the end of the trace, at least.
    pub tails: Vec<u32>,
    /// No order takes fewer cycles.
    pub total_cycles: u32,
}

/// A job on one machine: when it may start, how long it takes, what must follow. All in issue slots.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    /// It starts at this slot at the earliest.
    pub head: i64,
    /// So many slots are its own.
    pub slots: i64,
    /// So many slots pass behind it.
    pub tail: i64,
}

/// Issue slots that are an instruction's own. Of one that takes several cycles others may share the
/// first and the last.
pub fn slots(need: &Need, core: &Core) -> i64 {
    i64::from(match need.issue_cycles {
        0 | 1 => need.slots,
        cycles => (cycles - 2) * core.issue_width + 2 * need.slots,
    })
}

/// What an order costs in any case: who comes behind starts behind, or together if there is a place.
pub fn distance(edge: &Edge, needs: &[Need], core: &Core) -> u32 {
    let (from, to) = (&needs[edge.from as usize], &needs[edge.to as usize]);
    let shares = from.slots + to.slots <= core.issue_width;
    edge.cycles.max(if shares { from.issue_cycles.saturating_sub(1) } else { from.issue_cycles })
}

/// The bounds of a trace.
pub fn bounds(needs: &[Need], edges: &[Edge], core: &Core) -> Bounds {
    let n = needs.len();
    let rows = rows(edges, n);
    let mut heads = vec![0u32; n];
    for at in 0..n {
        heads[at] = edges[rows[at].clone()].iter().map(|it| heads[it.from as usize] + distance(it, needs, core)).max().unwrap_or(0);
    }
    let mut tails: Vec<u32> = needs.iter().map(|it| it.issue_cycles).collect();
    for edge in edges.iter().rev() {
        let tail = tails[edge.to as usize] + distance(edge, needs, core);
        tails[edge.from as usize] = tails[edge.from as usize].max(tail);
    }
    if n <= PASSES_MAX {
        let apart = apart(needs, edges, core);
        better_heads(needs, &apart, core, &mut heads);
        better_tails(needs, &apart, core, &mut tails);
    }
    let jobs: Vec<Job> = (0..n).map(|at| job(&needs[at], core, heads[at], tails[at])).collect();
    let longest = (0..n).map(|at| heads[at] + tails[at]).max().unwrap_or(0);
    let total_cycles = cycles(makespan(&jobs), core).max(longest).max(units(needs, &heads, &tails));
    Bounds { total_cycles, heads, tails }
}

/// What the work for each set of units that some instruction has takes: only what can go nowhere else counts.
fn units(needs: &[Need], heads: &[u32], tails: &[u32]) -> u32 {
    let mut sets: Vec<UnitSet> = needs.iter().map(|it| it.units).filter(|it| it.count() > 0).collect();
    sets.sort_unstable_by_key(|it| it.0);
    sets.dedup();
    let takes = |set: &UnitSet| {
        let width = i64::from(set.count());
        let stays = |it: &usize| needs[*it].units.count() > 0 && needs[*it].units.0 & !set.0 == 0;
        // As one machine that is as fast as all of them: who starts late keeps its unit beyond the end.
        let job = |at: usize| {
            let slots = i64::from(needs[at].unit_cycles);
            Job { head: i64::from(heads[at]) * width, slots, tail: (i64::from(tails[at]) - slots) * width }
        };
        let jobs: Vec<Job> = (0..needs.len()).filter(stays).map(job).collect();
        makespan(&jobs).max(0).unsigned_abs().div_ceil(width.unsigned_abs())
    };
    sets.iter().map(|it| u32::try_from(takes(it)).expect("a trace has fewer cycles than 32 bits count")).max().unwrap_or(0)
}

/// An instruction as a job, its tail counted from its start.
pub fn job(need: &Need, core: &Core, head: u32, tail: u32) -> Job {
    let width = i64::from(core.issue_width);
    Job { head: i64::from(head) * width, slots: slots(need, core), tail: (i64::from(tail) - i64::from(need.issue_cycles)) * width }
}

/// Whole cycles that so many slots fill.
pub fn cycles(slots: i64, core: &Core) -> u32 {
    let slots = u32::try_from(slots.max(0)).expect("a trace has fewer slots than 32 bits count");
    slots.div_ceil(core.issue_width)
}

/// The shortest time in which all jobs and their tails can be over on one machine that may
/// interrupt a job for a more urgent one (Jackson's preemptive schedule).
pub fn makespan(jobs: &[Job]) -> i64 {
    let mut by_head: Vec<&Job> = jobs.iter().collect();
    by_head.sort_by_key(|it| it.head);
    let mut waiting: BinaryHeap<(i64, Reverse<i64>)> = BinaryHeap::new();
    let (mut now, mut end, mut next) = (0i64, 0i64, 0usize);
    while next < by_head.len() || !waiting.is_empty() {
        if waiting.is_empty() {
            now = now.max(by_head[next].head);
        }
        while next < by_head.len() && by_head[next].head <= now {
            waiting.push((by_head[next].tail, Reverse(by_head[next].slots)));
            next += 1;
        }
        let Some((tail, Reverse(left))) = waiting.pop() else { continue };
        // It runs until it is done or the next job arrives.
        let until = by_head.get(next).map_or(now + left, |it| it.head.min(now + left));
        let still = left - (until - now);
        now = until;
        if still > 0 {
            waiting.push((tail, Reverse(still)));
        } else {
            end = end.max(now + tail);
        }
    }
    end
}

/// The longest chain from each instruction to each later one; `None` if there is none.
fn apart(needs: &[Need], edges: &[Edge], core: &Core) -> Vec<Vec<Option<u32>>> {
    let n = needs.len();
    let rows = rows(edges, n);
    let mut apart = vec![vec![None; n]; n];
    for from in 0..n {
        let mut row = vec![None; n];
        row[from] = Some(0);
        for to in from + 1..n {
            row[to] = edges[rows[to].clone()].iter().filter_map(|it| Some(row[it.from as usize]? + distance(it, needs, core))).max();
        }
        apart[from] = row;
    }
    apart
}

fn better_heads(needs: &[Need], apart: &[Vec<Option<u32>>], core: &Core, heads: &mut [u32]) {
    for at in 0..needs.len() {
        let before = (0..at).filter_map(|from| Some(job(&needs[from], core, heads[from], apart[from][at]?)));
        let jobs: Vec<Job> = before.collect();
        heads[at] = heads[at].max(cycles(makespan(&jobs), core));
    }
}

fn better_tails(needs: &[Need], apart: &[Vec<Option<u32>>], core: &Core, tails: &mut [u32]) {
    for at in (0..needs.len()).rev() {
        // This instruction itself is the first job.
        let own = job(&needs[at], core, 0, needs[at].issue_cycles);
        let behind = (at + 1..needs.len()).filter_map(|to| Some(job(&needs[to], core, apart[at][to]?, tails[to])));
        let jobs: Vec<Job> = behind.chain([own]).collect();
        tails[at] = tails[at].max(cycles(makespan(&jobs), core));
    }
}

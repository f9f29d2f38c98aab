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
//! each single instruction it makes better heads (Langevin and Cerny 1996), and tails likewise. The
//! units are machines of the same kind: what keeps one busy keeps the trace from being shorter.
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

/// A job on one machine: when it may start, how long it takes, what must follow.
/// All in issue slots.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    /// It starts at this slot at the earliest.
    pub head: i64,
    /// So many slots are its own.
    pub slots: i64,
    /// So many slots pass after it.
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

/// What an order costs in any case: a successor starts after, or together if there is a place.
pub fn distance(edge: &Edge, needs: &[Need], core: &Core) -> u32 {
    let (from, to) = (&needs[edge.from as usize], &needs[edge.to as usize]);
    let shares = from.slots + to.slots <= core.issue_width;
    edge.cycles.max(if shares { from.issue_cycles.saturating_sub(1) } else { from.issue_cycles })
}

/// The bounds of a trace.
pub fn bounds(needs: &[Need], edges: &[Edge], core: &Core) -> Bounds {
    let mut chains = Chains::of(needs, edges, core);
    if needs.len() <= PASSES_MAX {
        let apart = apart(&chains);
        better_heads(needs, &apart, core, &mut chains.heads);
        better_tails(needs, &apart, core, &mut chains.tails);
    }
    Bounds {
        total_cycles: total(needs, core, &chains.heads, &chains.tails),
        heads: chains.heads,
        tails: chains.tails,
    }
}

/// The bound alone. An order of the trace takes `written_cycles`, so no bound is larger: what
/// reaches it is not improved.
pub fn bound_cycles(needs: &[Need], edges: &[Edge], core: &Core, written_cycles: u32) -> u32 {
    let mut chains = Chains::of(needs, edges, core);
    let simple = total(needs, core, &chains.heads, &chains.tails);
    if needs.len() > PASSES_MAX || simple >= written_cycles {
        return simple;
    }
    let apart = apart(&chains);
    better_heads(needs, &apart, core, &mut chains.heads);
    better_tails(needs, &apart, core, &mut chains.tails);
    total(needs, core, &chains.heads, &chains.tails)
}

/// What chains of latencies alone say of a trace.
struct Chains {
    /// For each instruction its predecessors, and by how much at least.
    before: Vec<Vec<(u32, u32)>>,
    heads: Vec<u32>,
    tails: Vec<u32>,
}

impl Chains {
    fn of(needs: &[Need], edges: &[Edge], core: &Core) -> Chains {
        let n = needs.len();
        let mut before: Vec<Vec<(u32, u32)>> = Vec::with_capacity(n);
        let mut heads = vec![0u32; n];
        for (at, row) in rows(edges, n).into_iter().enumerate() {
            let mut distances: Vec<(u32, u32)> =
                edges[row].iter().map(|edge| (edge.from, distance(edge, needs, core))).collect();
            // Of several edges from one instruction the longest says it all.
            distances.dedup_by(|b, a| {
                a.0 == b.0 && {
                    a.1 = a.1.max(b.1);
                    true
                }
            });
            heads[at] = distances
                .iter()
                .map(|(from, cycles)| heads[*from as usize] + cycles)
                .max()
                .unwrap_or(0);
            before.push(distances);
        }
        let mut tails: Vec<u32> = needs.iter().map(|need| need.issue_cycles).collect();
        for to in (0..n).rev() {
            for &(from, cycles) in &before[to] {
                tails[from as usize] = tails[from as usize].max(tails[to] + cycles);
            }
        }
        Chains { before, heads, tails }
    }
}

/// No order takes fewer cycles with these heads and tails.
fn total(needs: &[Need], core: &Core, heads: &[u32], tails: &[u32]) -> u32 {
    let longest = (0..needs.len()).map(|at| heads[at] + tails[at]).max().unwrap_or(0);
    let mut by_head: Vec<usize> = (0..needs.len()).collect();
    by_head.sort_by_key(|head| heads[*head]);
    let jobs: Vec<Job> =
        by_head.iter().map(|&at| job(&needs[at], core, heads[at], tails[at])).collect();
    let issue = cycles(
        makespan_above(
            &jobs,
            i64::from(longest) * i64::from(core.issue_width),
            &mut BinaryHeap::new(),
        ),
        core,
    );
    issue.max(units(needs, heads, tails, &by_head))
}

/// What the work for each set of units that some instruction has takes: only what can
/// go nowhere else counts.
fn units(needs: &[Need], heads: &[u32], tails: &[u32], by_head: &[usize]) -> u32 {
    let mut sets: Vec<UnitSet> =
        needs.iter().map(|need| need.units).filter(|units| units.count() > 0).collect();
    sets.sort_unstable_by_key(|set| set.0);
    sets.dedup();
    let takes = |set: &UnitSet| {
        let width = i64::from(set.count());
        let stays = |number: &usize| {
            needs[*number].units.count() > 0 && needs[*number].units.0 & !set.0 == 0
        };
        // As one machine that is as fast as all of them: a late one keeps its unit beyond the end.
        let job = |at: usize| {
            let slots = i64::from(needs[at].unit_cycles);
            Job {
                head: i64::from(heads[at]) * width,
                slots,
                tail: (i64::from(tails[at]) - slots) * width,
            }
        };
        let jobs: Vec<Job> = by_head.iter().copied().filter(stays).map(job).collect();
        makespan_above(&jobs, 0, &mut BinaryHeap::new())
            .unsigned_abs()
            .div_ceil(width.unsigned_abs())
    };
    sets.iter()
        .map(|set| u32::try_from(takes(set)).expect("a trace has fewer cycles than 32 bits count"))
        .max()
        .unwrap_or(0)
}

/// An instruction as a job, its tail counted from its start.
pub fn job(need: &Need, core: &Core, head: u32, tail: u32) -> Job {
    let width = i64::from(core.issue_width);
    Job {
        head: i64::from(head) * width,
        slots: slots(need, core),
        tail: (i64::from(tail) - i64::from(need.issue_cycles)) * width,
    }
}

/// Whole cycles that so many slots fill.
pub fn cycles(slots: i64, core: &Core) -> u32 {
    let slots = u32::try_from(slots.max(0)).expect("a trace has fewer slots than 32 bits count");
    slots.div_ceil(core.issue_width)
}

/// The shortest time in which all jobs and their tails can be over on one machine that may
/// interrupt a job for a more urgent one (Jackson's preemptive schedule).
pub fn makespan(jobs: &[Job]) -> i64 {
    let mut by_head: Vec<Job> = jobs.to_vec();
    by_head.sort_by_key(|head| head.head);
    makespan_above(&by_head, 0, &mut BinaryHeap::new())
}

/// The same of jobs in the order of their heads, or `floor` if that is no shorter. The queue
/// is for its memory.
fn makespan_above(jobs: &[Job], floor: i64, waiting: &mut BinaryHeap<(i64, Reverse<i64>)>) -> i64 {
    // One after the other as they come is a schedule, too: if it is over by then, so is the
    // shortest.
    let (mut now, mut end, mut next) = (0i64, 0i64, 0usize);
    for it in jobs {
        now = now.max(it.head) + it.slots;
        end = end.max(now + it.tail);
    }
    if end <= floor {
        return floor;
    }
    (now, end) = (0, floor);
    while next < jobs.len() || !waiting.is_empty() {
        if waiting.is_empty() {
            now = now.max(jobs[next].head);
        }
        while next < jobs.len() && jobs[next].head <= now {
            waiting.push((jobs[next].tail, Reverse(jobs[next].slots)));
            next += 1;
        }
        let Some((tail, Reverse(left))) = waiting.pop() else { continue };
        // It runs until it is done or the next job arrives.
        let until = jobs.get(next).map_or(now + left, |job| job.head.min(now + left));
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

/// No chain leads from the one to the other.
const APART: i32 = i32::MIN / 2;

/// The longest chain to each instruction from each one before it, and from itself.
fn apart(chains: &Chains) -> Vec<Vec<i32>> {
    let mut apart: Vec<Vec<i32>> = Vec::with_capacity(chains.before.len());
    for (to, before) in chains.before.iter().enumerate() {
        let mut longest = vec![APART; to + 1];
        longest[to] = 0;
        // From the nearest on: an edge no longer than a chain that is known already says nothing of
        // those before it, either.
        for &(from, cycles) in before.iter().rev() {
            let cycles = i32::try_from(cycles).expect("no instruction takes so long");
            if longest[from as usize] < cycles {
                longest
                    .iter_mut()
                    .zip(&apart[from as usize])
                    .for_each(|(known, it)| *known = (*known).max(it + cycles));
            }
        }
        apart.push(longest);
    }
    apart
}

fn better_heads(needs: &[Need], apart: &[Vec<i32>], core: &Core, heads: &mut [u32]) {
    let width = i64::from(core.issue_width);
    let mut by_head: Vec<usize> = Vec::with_capacity(needs.len());
    let (mut jobs, mut waiting) = (Vec::with_capacity(needs.len()), BinaryHeap::new());
    for at in 0..needs.len() {
        jobs.clear();
        let before = by_head.iter().filter(|found| apart[at][**found] >= 0);
        jobs.extend(before.map(|&from| Job {
            head: i64::from(heads[from]) * width,
            slots: slots(&needs[from], core),
            tail: (i64::from(apart[at][from]) - i64::from(needs[from].issue_cycles)) * width,
        }));
        heads[at] = cycles(makespan_above(&jobs, i64::from(heads[at]) * width, &mut waiting), core);
        by_head.insert(by_head.partition_point(|head| heads[*head] <= heads[at]), at);
    }
}

/// As for heads, with the time turned round: what is a tail there is a head here.
fn better_tails(needs: &[Need], apart: &[Vec<i32>], core: &Core, tails: &mut [u32]) {
    let width = i64::from(core.issue_width);
    let behind =
        |at: usize, tails: &[u32]| i64::from(tails[at]) - i64::from(needs[at].issue_cycles);
    let mut by_tail: Vec<usize> = Vec::with_capacity(needs.len());
    let (mut jobs, mut waiting) = (Vec::with_capacity(needs.len()), BinaryHeap::new());
    for at in (0..needs.len()).rev() {
        jobs.clear();
        // This instruction itself is the first job.
        jobs.push(Job { head: 0, slots: slots(&needs[at], core), tail: 0 });
        let after = by_tail.iter().filter(|found| apart[**found][at] >= 0);
        jobs.extend(after.map(|&to| Job {
            head: behind(to, tails) * width,
            slots: slots(&needs[to], core),
            tail: i64::from(apart[to][at]) * width,
        }));
        tails[at] = cycles(makespan_above(&jobs, i64::from(tails[at]) * width, &mut waiting), core);
        by_tail
            .insert(by_tail.partition_point(|tail| behind(*tail, tails) <= behind(at, tails)), at);
    }
}

//! Stalls, cycle by cycle: what waits, for what, how long, and everything else that would have made
//! it wait.

use machine::in_order::Core;

use crate::timing::depend::{Edge, Why};
use crate::timing::pipe::{Need, Pipe};

/// When the instructions of a trace start, one after the other in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// The cycle in which each starts, from 0.
    pub starts: Vec<u32>,
    /// Cycles in which nothing starts because each of them waits. Two that could have started
    /// together and do not lose no cycle here, only a place.
    pub stall_cycles: Vec<u32>,
    /// Cycles from the start of the first until the last lets go.
    pub total_cycles: u32,
}

/// One cause of a stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// What it waits for, as a place in the trace.
    pub producer: u32,
    pub kind: CauseKind,
    /// Cycles that this cause alone makes it wait.
    pub cycles: u32,
}

/// What a stall waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CauseKind {
    /// An order of the program.
    Order(Why),
    /// A unit that the producer takes.
    Unit,
}

/// Times instructions in the order of `order`, a permutation of the trace that keeps all edges.
/// The results are by place in the trace.
pub fn time(needs: &[Need], edges: &[Edge], order: &[u32], core: &Core) -> Timing {
    let n = needs.len();
    let mut timing = Timing { starts: vec![0; n], stall_cycles: vec![0; n], total_cycles: 0 };
    let rows = rows(edges, n);
    let mut pipe = Pipe::new(core);
    for &at in order {
        let at = at as usize;
        let ready = rows[at]
            .clone()
            .map(|row| timing.starts[edges[row].from as usize] + edges[row].cycles)
            .max()
            .unwrap_or(0);
        let start = pipe.start(&needs[at], ready);
        timing.stall_cycles[at] = start.saturating_sub(pipe.turn(&needs[at]));
        timing.starts[at] = start;
        pipe.take(&needs[at], start);
    }
    timing.total_cycles = pipe.passed();
    timing
}

/// For each instruction, where its incoming edges stand.
pub fn rows(edges: &[Edge], n: usize) -> Vec<std::ops::Range<usize>> {
    let mut rows = vec![0..0; n];
    let mut at = 0;
    for (to, row) in rows.iter_mut().enumerate() {
        let first = at;
        while at < edges.len() && edges[at].to as usize == to {
            at += 1;
        }
        *row = first..at;
    }
    rows
}

/// All causes of the stall of instruction `at` in the trace's own order, the longest first.
pub fn causes(
    needs: &[Need],
    edges: &[Edge],
    timing: &Timing,
    core: &Core,
    at: usize,
) -> Vec<Cause> {
    let turn = timing.starts[at] - timing.stall_cycles[at];
    let mut causes: Vec<Cause> = Vec::new();
    let first = edges.partition_point(|edge| (edge.to as usize) < at);
    for edge in edges[first..].iter().take_while(|edge| edge.to as usize == at) {
        let ready = timing.starts[edge.from as usize] + edge.cycles;
        if ready > turn {
            causes.push(Cause {
                producer: edge.from,
                kind: CauseKind::Order(edge.why),
                cycles: ready - turn,
            });
        }
    }
    // What takes the unit: the last one before that has a unit in common and keeps it beyond this
    // turn.
    let mut pipe = Pipe::new(core);
    for (before, need) in needs[..at].iter().enumerate() {
        pipe.take(need, timing.starts[before]);
    }
    let free = pipe.start(&needs[at], turn);
    if free > turn {
        let keeps = |number: &usize| {
            let takes = needs[*number].units.meets(needs[at].units)
                && timing.starts[*number] + needs[*number].unit_cycles > turn;
            let held = needs[*number].holds.filter(|(units, _)| units.meets(needs[at].units));
            takes || held.is_some_and(|(_, cycles)| timing.starts[*number] + cycles > turn)
        };
        if let Some(holder) = (0..at).rev().find(keeps) {
            causes.push(Cause {
                producer: holder as u32,
                kind: CauseKind::Unit,
                cycles: free - turn,
            });
        }
    }
    causes.sort_by_key(|cause| (std::cmp::Reverse(cause.cycles), cause.producer));
    // Of several flags of one producer, or of the words of one double register, one says it all.
    causes.dedup_by(|b, a| a.producer == b.producer && a.cycles == b.cycles && same_role(a, b));
    causes
}

fn same_role(a: &Cause, b: &Cause) -> bool {
    match (a.kind, b.kind) {
        (CauseKind::Order(Why::Value(_, a)), CauseKind::Order(Why::Value(_, b))) => a == b,
        _ => false,
    }
}

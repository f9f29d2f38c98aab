//! What prevents the compiler: the same trace ordered anew under growing licence. The first licence
//! that takes a stall away is the answer.
//!
//! ```text
//! inside its blocks                  11 cycles    nothing to gain: the compiler did what it could
//! ... and in other registers         11
//! ... a load proved safe, above      11
//! ... a load the programmer vouches   8           `ldr r3, [ip, #-208]` goes above `beq`: say so in C
//! ... past a store                    8
//! ```

use machine::in_order::Core;

use crate::facts::frame::StackFrame;
use crate::facts::trace::Trace;
use crate::program::function::Function;
use crate::timing::bound::bound_cycles;
use crate::timing::depend::{Crossing, Edge, Licence, Why, dependences};
use crate::timing::pipe::Need;
use crate::timing::pressure::{available, is_known, needed};
use crate::timing::search::{Found, NODES_MAX, nearest, search};
use crate::timing::stalls::{Timing, time};

/// The licences, each allowing what the one before allows and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Another order inside each block.
    InsideBlocks,
    Renaming,
    /// Above a side exit what cannot fault.
    ProvedLoad,
    /// Above a side exit any load.
    PromisedLoad,
    /// A load before a store that perhaps writes what it reads.
    PastStore,
}

impl Step {
    /// All of them, from the smallest.
    pub const ALL: [Step; 5] =
        [Step::InsideBlocks, Step::Renaming, Step::ProvedLoad, Step::PromisedLoad, Step::PastStore];

    pub fn licence(self) -> Licence {
        let crosses = match self {
            Step::InsideBlocks | Step::Renaming => Crossing::Nothing,
            Step::ProvedLoad => Crossing::Proved,
            Step::PromisedLoad | Step::PastStore => Crossing::Promised,
        };
        Licence {
            renames: self > Step::InsideBlocks,
            crosses,
            reorders_memory: self == Step::PastStore,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Step::InsideBlocks => "another order inside the blocks",
            Step::Renaming => "other registers",
            Step::ProvedLoad => "above a side exit what is proved safe",
            Step::PromisedLoad => "above a side exit what the programmer vouches for",
            Step::PastStore => "loads past stores that may alias",
        }
    }
}

/// The best order under one licence.
#[derive(Debug, Clone)]
pub struct Reached {
    pub step: Step,
    pub found: Found,
    pub timing: Timing,
    /// Values alive at once in it, if that is known to be more than there are registers.
    pub lacks_registers: Option<usize>,
}

/// How much work an answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Bounds alone, in polynomial time.
    Bounds,
    /// Loops in their steady state, too.
    Loops,
    /// The best orders, too.
    Search,
}

/// The best order under each licence, and the bound for it. An order that is no better than that of
/// a smaller licence is not taken, so that nothing moves without need.
pub fn reach(
    function: &Function,
    frame: &StackFrame,
    trace: &Trace,
    core: &Core,
    needs: &[Need],
    written: &Timing,
    effort: Effort,
) -> Vec<Reached> {
    let given: Vec<u32> = (0..needs.len() as u32).collect();
    // The order as written has enough registers, however they are counted.
    let affordable = || available(function).max(needed(function, trace, &given));
    let is_known = is_known(function, trace);
    let mut best = (given.clone(), written.clone());
    let mut reached: Vec<Reached> = Vec::new();
    for step in Step::ALL {
        let is_asked = effort == Effort::Search || matches!(step, Step::Renaming | Step::PastStore);
        if !is_asked {
            continue;
        }
        let edges = dependences(function, frame, trace, core, step.licence());
        let mut found = match effort {
            Effort::Search => search(needs, &edges, core, NODES_MAX),
            Effort::Bounds | Effort::Loops => {
                let bound_cycles = bound_cycles(needs, &edges, core, written.total_cycles);
                Found { order: best.0.clone(), total_cycles: best.1.total_cycles, bound_cycles }
            }
        };
        if found.total_cycles < best.1.total_cycles {
            found.order = nearest(needs, &edges, core, &found);
            best = (found.order.clone(), time(needs, &edges, &found.order, core));
        } else {
            found.order.clone_from(&best.0);
            found.total_cycles = best.1.total_cycles;
        }
        // The order as written has as many as it needs.
        let is_other = found.order != given && is_known;
        let lacks_registers = is_other
            .then(|| needed(function, trace, &found.order))
            .filter(|then| *then > affordable());
        reached.push(Reached { step, found, timing: best.1.clone(), lacks_registers });
    }
    // What no order beats under a licence, none beats under a smaller one, though the search there
    // may have given up.
    let mut bound = 0;
    for it in reached.iter_mut().rev() {
        bound = bound.max(it.found.bound_cycles);
        it.found.bound_cycles = bound;
    }
    reached
}

/// The smallest licence that shortens the stall of instruction `at`, and by how many cycles.
pub fn smallest(reached: &[Reached], written: &Timing, at: usize) -> Option<(usize, u32)> {
    let stall = written.stall_cycles[at];
    let mut total = written.total_cycles;
    for (idx, it) in reached.iter().enumerate() {
        let is_faster = it.timing.total_cycles < total;
        total = it.timing.total_cycles;
        if is_faster && it.timing.stall_cycles[at] < stall {
            return Some((idx, stall - it.timing.stall_cycles[at]));
        }
    }
    None
}

/// The instructions that stand between `producer` and `waiting` in the new order and did
/// not in the old.
pub fn fill(order: &[u32], producer: u32, waiting: u32) -> Vec<u32> {
    let from = order.iter().position(|it| *it == producer);
    let to = order.iter().position(|it| *it == waiting);
    let (Some(from), Some(to)) = (from, to) else { return Vec::new() };
    let between = order.get(from + 1..to).unwrap_or_default();
    between.iter().copied().filter(|found| *found < producer || *found > waiting).collect()
}

/// The instructions that went above a side exit, each with the first exit that it passed.
pub fn crossings(order: &[u32], trace: &Trace) -> Vec<(u32, u32)> {
    let mut place = vec![0; order.len()];
    for (new, at) in order.iter().enumerate() {
        place[*at as usize] = new;
    }
    let passed = |at: u32| {
        let exits = trace.exits.iter().map(|exit| exit.at as u32).filter(|exit| *exit < at);
        exits.filter(|exit| place[at as usize] < place[*exit as usize]).min().map(|exit| (at, exit))
    };
    (0..order.len() as u32).filter_map(passed).collect()
}

/// The instructions that went below a side exit, each with the last exit that it passed.
pub fn sinkings(order: &[u32], trace: &Trace) -> Vec<(u32, u32)> {
    let mut place = vec![0; order.len()];
    for (new, at) in order.iter().enumerate() {
        place[*at as usize] = new;
    }
    let passed = |at: u32| {
        let exits = trace.exits.iter().map(|exit| exit.at as u32).filter(|exit| *exit > at);
        exits.filter(|exit| place[at as usize] > place[*exit as usize]).max().map(|exit| (at, exit))
    };
    (0..order.len() as u32).filter_map(passed).collect()
}

/// The stores that a load went past, though it may read what they write.
pub fn past_stores(order: &[u32], edges: &[Edge]) -> Vec<(u32, u32)> {
    let mut place = vec![0; order.len()];
    for (new, at) in order.iter().enumerate() {
        place[*at as usize] = new;
    }
    let turned = edges.iter().filter(|edge| {
        edge.why == Why::Memory && place[edge.to as usize] < place[edge.from as usize]
    });
    turned.map(|turned| (turned.to, turned.from)).collect()
}

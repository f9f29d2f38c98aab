//! The time of one function's hot path on an in-order core, in one walk: when each instruction
//! starts, why those wait that wait, and which order would be faster under which licence.

pub mod beyond;
pub mod bound;
pub mod cost;
pub mod depend;
pub mod explain;
pub mod licence;
mod meeting;
mod pieces;
pub mod pipe;
pub mod pressure;
pub mod search;
pub mod stalls;
pub mod steady;
pub mod words;

use std::collections::BTreeSet;

use machine::in_order::Core;
use serde::Serialize;

use crate::decode::Isa;
use crate::decode::code::{Class, Flow};
use crate::facts::frame::StackFrame;
use crate::facts::loops::loops;
use crate::facts::trace::{Guide, Trace, hot_trace};
use crate::program::function::Function;
use crate::timing::beyond::{BeyondC, beyond_c};
use crate::timing::depend::{Edge, Licence, dependences};
use crate::timing::licence::{Effort, Reached, reach};
use crate::timing::pipe::Need;
use crate::timing::stalls::{Cause, Timing, causes, time};
use crate::timing::steady::{Steady, steady};

/// Everything that is known about the time of one function.
#[derive(Debug, Clone)]
pub struct Timed {
    pub cpu: String,
    pub trace: Trace,
    /// When each of its instructions starts, in the order of the trace.
    pub timing: Timing,
    /// Why those wait that wait, in the order of the trace; of the others nothing.
    pub causes: Vec<Vec<Cause>>,
    pub cycles: Cycles,
    /// The best order under each licence that was asked.
    pub reached: Vec<Reached>,
    /// What no C can take away.
    pub beyond_c: Option<BeyondC>,
    /// Whether the claims of the slides hold for this function on this core.
    pub conditions: Vec<Condition>,
    /// The function's loops in the steady state, by their heads.
    pub loops: Vec<Steady>,
    /// Instructions of floating point and vectors on the path and in loops, if the core has one row
    /// for all of them.
    pub n_one_row: usize,
    /// What must stay in order, as the path is written.
    pub edges: Vec<Edge>,
}

/// Cycles of the hot path, on the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cycles {
    /// Instructions on the path.
    pub instructions: u32,
    /// Cycles in which something starts or holds the issue stage.
    pub issue_cycles: u32,
    /// Cycles that instructions wait.
    pub stall_cycles: u32,
    pub total_cycles: u32,
    /// What no order of the same instructions beats.
    pub lower_bound: LowerBound,
    /// Cycles of the best order that was found under the largest licence.
    pub best_cycles: u32,
    /// That order is proved to be the best.
    pub is_optimal: bool,
}

/// The lower bound, and what lies between it and the cycles as written:
/// `total_cycles = issue + in_block + side_exit + inherent`, and `total = issue + inherent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LowerBound {
    /// No order of these instructions takes fewer cycles, whatever may cross what.
    pub total: u32,
    /// Cycles that the instructions take without any wait.
    pub issue: u32,
    /// Waits that another order inside the blocks can take away.
    pub in_block: u32,
    /// Waits that go only if something crosses a side exit, or a load a store.
    pub side_exit: u32,
    pub inherent: u32,
}

/// One condition under which the slides claim that C comes near to assembly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    pub what: &'static str,
    pub holds: bool,
    pub why: String,
}

/// Times `function` on `core`. A function without instructions has no time.
pub fn time_path(function: &Function, core: &Core, guide: &Guide, effort: Effort) -> Option<Timed> {
    if function.instructions.is_empty() {
        return None;
    }
    let frame = StackFrame::of(function);
    let trace = hot_trace(guide);
    let needs = Need::of_trace(function, &trace, core);
    let edges = dependences(function, &frame, &trace, core, Licence::default());
    let order: Vec<u32> = (0..needs.len() as u32).collect();
    let timing = time(&needs, &edges, &order, core);
    let waits = |at: usize| timing.stall_cycles[at] > 0;
    let causes = (0..needs.len())
        .map(|at| if waits(at) { causes(&needs, &edges, &timing, core, at) } else { Vec::new() })
        .collect();
    let reached = reach(function, &frame, &trace, core, &needs, &timing, effort);
    let cycles = count(&timing, &reached);
    let beyond_c = (effort == Effort::Search)
        .then(|| beyond_c(function, &frame, &trace, core, timing.total_cycles));
    let conditions = conditions(function, core, &trace);
    let all_loops = if effort != Effort::Bounds { loops(function, guide) } else { Vec::new() };
    let loops = all_loops.iter().map(|found| steady(function, &frame, core, found)).collect();
    let is_float = |idx: &usize| function.instructions[*idx].class >= Class::Float;
    let timed_places: BTreeSet<usize> = trace
        .places
        .iter()
        .chain(all_loops.iter().flat_map(|number| &number.round.places))
        .copied()
        .collect();
    let n_one_row = if core.tells_floats_apart() {
        0
    } else {
        timed_places.iter().filter(|timed_place| is_float(timed_place)).count()
    };
    Some(Timed {
        cpu: core.name.clone(),
        trace,
        timing,
        causes,
        cycles,
        reached,
        beyond_c,
        conditions,
        loops,
        n_one_row,
        edges,
    })
}

fn count(timing: &Timing, reached: &[Reached]) -> Cycles {
    let stall_cycles: u32 = timing.stall_cycles.iter().sum();
    let total_cycles = timing.total_cycles;
    let issue_cycles = total_cycles - stall_cycles;
    let bound = |wanted: fn(&Reached) -> bool| {
        reached
            .iter()
            .rev()
            .find(|it| wanted(it))
            .map_or(total_cycles, |found| found.found.bound_cycles)
    };
    let inside = bound(|it| it.step <= crate::timing::licence::Step::Renaming);
    let across = bound(|_| true);
    let best = reached.last();
    Cycles {
        instructions: timing.starts.len() as u32,
        issue_cycles,
        stall_cycles,
        total_cycles,
        lower_bound: LowerBound {
            total: across,
            issue: issue_cycles.min(across),
            in_block: total_cycles - inside,
            side_exit: inside - across,
            inherent: across.saturating_sub(issue_cycles),
        },
        best_cycles: best.map_or(total_cycles, |best| best.timing.total_cycles),
        is_optimal: best.is_some_and(|best| best.found.is_optimal()),
    }
}

/// A path is branch-heavy if at least one of so many instructions is a branch.
const BRANCH_EVERY: usize = 8;
/// Registers that a function may leave alone and still be called short of none.
const SPARE_MIN: usize = 2;

fn conditions(function: &Function, core: &Core, trace: &Trace) -> Vec<Condition> {
    let conventions = function.isa.conventions();
    let general = conventions
        .saved
        .iter()
        .chain(conventions.scratch)
        .filter(|found| **found != conventions.stack_pointer);
    let all = function.instructions.iter();
    let used: Vec<_> = all
        .flat_map(|instruction| {
            instruction
                .reads
                .iter()
                .map(|read| read.reg)
                .chain(instruction.writes.iter().map(|write| write.reg))
        })
        .collect();
    let n_spare = general.filter(|general| !used.contains(general)).count();
    let on_path = trace.places.iter().map(|idx| &function.instructions[*idx]);
    let n_branches = on_path
        .filter(|on_path| on_path.flow != Flow::Next && on_path.class != Class::Return)
        .count();
    let n = trace.places.len();
    vec![
        Condition {
            what: "RISC instruction set",
            holds: function.isa != Isa::X86,
            why: function.isa.name().to_owned(),
        },
        Condition {
            what: "single issue",
            holds: core.issue_width == 1,
            why: format!("{} a cycle", core.issue_width),
        },
        Condition {
            what: "registers to spare",
            holds: n_spare >= SPARE_MIN,
            why: format!("{n_spare} are never used"),
        },
        Condition {
            what: "branch-heavy code",
            holds: n_branches * BRANCH_EVERY >= n,
            why: format!("{n_branches} of {n} instructions branch"),
        },
    ]
}

//! What a core that reorders takes at least for the hot path and for an iteration of each loop, and
//! what limits it.
//!
//! ```text
//! chain       results that wait for one another                     chain.rs
//! ports       work that only some units can do                      machine::port_bound
//! front end   instructions that enter in a cycle, taken branches
//! ```
//!
//! The bound is the largest of the three. When an instruction waits is not said: that rests on what
//! is in flight besides, and on much that no file says. What has no row counts as one place
//! that enters, and for nothing else: the bound is one without it, too.

mod chain;
pub mod form;
mod work;

use machine::{Instructions, Machine, UnitSet, port_bound};
use serde::Serialize;

pub use chain::Chain;

use crate::decode::code::{Flow, Instruction};
use crate::facts::loops::{Loop, loops};
use crate::facts::trace::{Guide, Trace};
use crate::limits::work::{Work, works};
use crate::program::function::Function;

/// What is left out, in a line, and what says more.
pub const LEFT_OUT: &str = "left out: caches, mispredicted branches, most of what stores and loads cost each other, and how much is in flight; llvm-mca or uiCA simulate the core, and perf counts on the machine itself";

/// All bounds of one function.
#[derive(Debug, Clone)]
pub struct Limits {
    pub path: Bound,
    pub loops: Vec<IterationBound>,
}

/// The bound of an iteration.
#[derive(Debug, Clone)]
pub struct IterationBound {
    pub of: Loop,
    pub bound: Bound,
}

/// The largest of three is the bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    pub chain: Chain,
    pub ports: Ports,
    pub front_end: FrontEnd,
    /// Instructions without a row, as places in the path.
    pub unknown: Vec<usize>,
}

/// The set of units with most to do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ports {
    pub cycles: f64,
    pub units: Vec<String>,
    /// What can go nowhere else, as places in the path.
    pub places: Vec<usize>,
}

/// What enters, and how many cycles that takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrontEnd {
    pub cycles: f64,
    pub micro_ops: u32,
    pub width: u32,
    pub taken: u32,
    pub taken_a_cycle: u32,
}

/// Which of the three is the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    Chain,
    Ports,
    FrontEnd,
}

impl Bound {
    pub fn cycles(&self) -> f64 {
        self.chain.cycles.max(self.ports.cycles).max(self.front_end.cycles)
    }

    pub fn by(&self) -> LimitedBy {
        match self.cycles() {
            cycles if cycles == self.chain.cycles => LimitedBy::Chain,
            cycles if cycles == self.ports.cycles => LimitedBy::Ports,
            _ => LimitedBy::FrontEnd,
        }
    }
}

/// The bounds of a function on a machine that has rows of its instructions.
pub fn limits(
    function: &Function,
    trace: &Trace,
    guide: &Guide<'_>,
    machine: &Machine,
) -> Option<Limits> {
    let rows = machine.instructions.as_ref()?;
    let of =
        |of: Loop| IterationBound { bound: bound(function, &of.round, machine, rows, true), of };
    Some(Limits {
        path: bound(function, trace, machine, rows, false),
        loops: loops(function, guide).into_iter().map(of).collect(),
    })
}

fn bound(
    function: &Function,
    trace: &Trace,
    machine: &Machine,
    rows: &Instructions,
    is_loop: bool,
) -> Bound {
    let path: Vec<&Instruction> =
        trace.places.iter().map(|place| &function.instructions[*place]).collect();
    let works = works(machine, rows, function.isa, &path);
    let of = if is_loop { chain::of_loop } else { chain::of_path };
    Bound {
        chain: of(function.isa, &path, &works, rows.forwarding_cycles),
        ports: ports(machine, &works),
        front_end: front_end(machine, rows, &path, &works, is_loop),
        unknown: (0..works.len()).filter(|at| !works[*at].is_known).collect(),
    }
}

fn ports(machine: &Machine, works: &[Work]) -> Ports {
    let mut all: Vec<(UnitSet, u64)> = Vec::new();
    for (units, cycles) in works.iter().flat_map(|work| &work.uses) {
        match all.iter_mut().find(|known| known.0 == *units) {
            Some(known) => known.1 += u64::from(*cycles),
            None => all.push((*units, u64::from(*cycles))),
        }
    }
    let Some((cycles, units)) = port_bound(&all) else { return Ports::default() };
    let stays = |work: &Work| work.uses.iter().any(|(of, _)| of.0 & !units.0 == 0);
    Ports {
        cycles,
        units: units.iter().map(|idx| machine.units[idx].clone()).collect(),
        places: (0..works.len()).filter(|at| stays(&works[*at])).collect(),
    }
}

fn front_end(
    machine: &Machine,
    rows: &Instructions,
    path: &[&Instruction],
    works: &[Work],
    is_loop: bool,
) -> FrontEnd {
    let micro_ops: u32 = works.iter().map(|work| work.micro_ops).sum();
    let goes_on = |at: usize| match path.get(at + 1) {
        Some(next) => next.address == path[at].address + u64::from(path[at].length),
        None => !is_loop,
    };
    // A call and a return go elsewhere and do not come back for nothing.
    let is_taken = |at: &usize| match path[*at].flow {
        Flow::Call { .. } | Flow::LastCall | Flow::Return | Flow::Jump => true,
        Flow::Branch { is_conditional, .. } => !goes_on(*at) || !is_conditional,
        Flow::Next | Flow::Resume | Flow::Stop => false,
    };
    let taken = (0..path.len()).filter(is_taken).count() as u32;
    let (width, taken_a_cycle) = (machine.issue_width, rows.taken_a_cycle);
    let entering = f64::from(micro_ops) / f64::from(width);
    let cycles = entering.max(f64::from(taken) / f64::from(taken_a_cycle));
    FrontEnd { cycles, micro_ops, width, taken, taken_a_cycle }
}

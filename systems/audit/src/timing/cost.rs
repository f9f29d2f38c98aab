//! What an instruction that is not needed costs on a core: what it takes to start it.

use machine::in_order::{Class, Core};

use super::pipe::Need;
use crate::facts::trace::Trace;
use crate::finding::{Finding, Kind};
use crate::program::function::Function;

/// The findings in cycles of this core in place of issue slots, as far as they are of its path.
/// A branch that costs no more taken than not is left out.
pub fn priced(
    findings: Vec<Finding>,
    function: &Function,
    trace: &Trace,
    core: &Core,
) -> Vec<Finding> {
    let needs = Need::of_trace(function, trace, core);
    let of_place = |idx: usize| trace.places.iter().position(|place| *place == idx);
    let price = |mut finding: Finding| {
        let Some(at) = of_place(finding.idx) else { return Some(finding) };
        let own = needs[at].issue_cycles;
        match finding.kind {
            Kind::DeadValue
            | Kind::RedundantExtension
            | Kind::Spill
            | Kind::Reload
            | Kind::DeadStore
            | Kind::ComputedTwice
            | Kind::Jump => {
                // Of several registers that go or come at once, one is meant.
                let is_one = function.instructions[finding.idx].accesses.len() <= 1;
                finding.cycles = if is_one { own.max(1) } else { finding.cycles };
            }
            Kind::Call => finding.cycles = own + core.work(Class::Return).issue_cycles,
            Kind::TakenBranch => {
                let instruction = &function.instructions[finding.idx];
                let taken = Need::of(instruction, true, core);
                let more = taken.issue_cycles - Need::of(instruction, false, core).issue_cycles;
                if more == 0 && !taken.is_taken {
                    return None;
                }
                finding.cycles = more.max(1);
            }
            _ => {}
        }
        Some(finding)
    };
    findings.into_iter().filter_map(price).collect()
}

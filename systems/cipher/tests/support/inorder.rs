//! How many cycles steps take on an in-order machine.
//!
//! ```text
//! u = a + b      cycle 0          u = a + b      cycle 0
//! v = u + 2      cycle 1   --->   w = c + d      cycle 0      two at a time,
//! w = c + d      cycle 1          v = u + 2      cycle 1      one cycle each
//! x = e + f      cycle 2          x = e + f      cycle 1
//! ```
//!
//! A step starts in the first cycle, not before that of the previous step, in which its operands
//! are ready, fewer steps than the issue width have started, and a unit for it is free. Results
//! can be used as soon as they are ready (full bypass). Within a cycle units are assigned so that
//! as many steps as possible get one. The micro-operations of a step start one after the other
//! like steps; its result is ready `latency_cycles` after the first has started, but not before
//! the cycle after the last has.

use machine::{Machine, Operation, UnitSet};

/// One step; it comes after all steps that it reads.
#[derive(Debug, Clone)]
pub struct Step {
    /// The positions of the steps that it reads.
    pub reads: Vec<usize>,
    /// The units of which each micro-operation takes one for a cycle.
    pub units: UnitSet,
    /// Cycles from the start until the result is ready.
    pub latency_cycles: u32,
    /// Micro-operations, at least 1.
    pub micro_ops: u32,
}

impl Step {
    /// A step that reads `reads` and runs as `operation`.
    pub fn new(reads: &[usize], operation: &Operation) -> Step {
        Step {
            reads: reads.to_vec(),
            units: operation.units,
            latency_cycles: operation.latency_cycles,
            micro_ops: operation.micro_ops,
        }
    }
}

/// When the steps run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// Cycles from the first start until the last result is ready.
    pub cycles: u64,
    /// The cycle in which each step starts, from 0.
    pub issue: Vec<u64>,
}

/// Runs `steps` in their order on the units of `machine`, `machine.issue_width` at a time, whether
/// or not that machine is in-order.
///
/// Panics: if a step reads itself or a later one, or no unit of the machine can run it.
pub fn timeline(machine: &Machine, steps: &[Step]) -> Timeline {
    let mut issue: Vec<u64> = Vec::with_capacity(steps.len());
    let mut ready: Vec<u64> = Vec::with_capacity(steps.len());
    let mut now = Cycle::new(0, machine);
    for (idx, step) in steps.iter().enumerate() {
        assert!(
            step.units.iter().any(|unit| unit < machine.units.len()),
            "no unit can run step {idx}"
        );
        let operands = step.reads.iter().map(|&read| {
            assert!(read < idx, "step {idx} reads step {read}, which does not stand before it");
            ready[read]
        });
        let earliest = operands.max().unwrap_or(0);
        if earliest > now.number {
            now = Cycle::new(earliest, machine);
        }
        let mut first = None;
        for _ in 0..step.micro_ops.max(1) {
            while !now.start(step.units) {
                now = Cycle::new(now.number + 1, machine);
            }
            first.get_or_insert(now.number);
        }
        let first = first.expect("a step has a micro-operation");
        issue.push(first);
        let after_last = if step.micro_ops > 1 { now.number + 1 } else { first };
        ready.push((first + u64::from(step.latency_cycles)).max(after_last));
    }
    let end = issue.iter().map(|cycle| cycle + 1).chain(ready.iter().copied()).max();
    Timeline { cycles: end.unwrap_or(0), issue }
}

/// The micro-operations that start in one cycle.
struct Cycle {
    number: u64,
    free: u32,
    /// For each unit the units that its micro-operation could also have taken.
    taken: Vec<Option<UnitSet>>,
}

impl Cycle {
    fn new(number: u64, machine: &Machine) -> Cycle {
        Cycle { number, free: machine.issue_width, taken: vec![None; machine.units.len()] }
    }

    /// Starts a micro-operation, if there is room.
    fn start(&mut self, units: UnitSet) -> bool {
        let placed = self.free > 0 && self.place(units, &mut UnitSet::default());
        self.free -= u32::from(placed);
        placed
    }

    /// Finds a unit, moving others to other units if need be; `tried` ends cycles.
    fn place(&mut self, units: UnitSet, tried: &mut UnitSet) -> bool {
        let n_units = self.taken.len();
        for unit in units.iter().take_while(|unit| *unit < n_units) {
            if tried.contains(unit) {
                continue;
            }
            tried.0 |= 1 << unit;
            if self.taken[unit].is_none_or(|other| self.place(other, tried)) {
                self.taken[unit] = Some(units);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use machine::{Class, Kind};

    use super::*;

    /// Lines such as `v = u + 2`; a name that no line before defines is an input.
    fn check(machine: &Machine, text: &str, cycles: u64, issue: &[u64]) {
        let mut names: Vec<&str> = Vec::new();
        let mut steps = Vec::new();
        for line in text.split(';').map(str::trim).filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(" = ").expect("name = value");
            let reads: Vec<usize> = value
                .split(' ')
                .filter_map(|word| names.iter().position(|name| *name == word))
                .collect();
            steps.push(Step::new(&reads, machine.operation(Kind::General, Class::Add)));
            names.push(name);
        }
        let expected = Timeline { cycles, issue: issue.to_vec() };
        assert_eq!(timeline(machine, &steps), expected, "{text}");
    }

    #[test]
    fn four_sums_two_at_a_time() {
        let machine = Machine::in_order(2);
        check(&machine, "u = a + b; v = u + 2; w = c + d; x = e + f", 3, &[0, 1, 1, 2]);
        check(&machine, "u = a + b; w = c + d; v = u + 2; x = e + f", 2, &[0, 0, 1, 1]);
    }

    #[test]
    fn six_xors_two_at_a_time() {
        let machine = Machine::in_order(2);
        let [a1, a2, b1] = ["a1 = x1 ^ x2;", "a2 = x3 ^ x4;", "b1 = a1 ^ x5;"];
        let [b2, c1, c2] = ["b2 = a2 ^ x6;", "c1 = x7 ^ x8;", "c2 = c1 ^ x9;"];
        check(&machine, &[a1, a2, b1, b2, c1, c2].concat(), 4, &[0, 0, 1, 1, 2, 3]);
        check(&machine, &[a1, a2, c1, b1, b2, c2].concat(), 3, &[0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn one_at_a_time_every_order_is_equal() {
        let machine = Machine::in_order(1);
        check(&machine, "u = a + b; v = u + 2; w = c + d; x = e + f", 4, &[0, 1, 2, 3]);
        check(&machine, "", 0, &[]);
    }

    #[test]
    fn units_latency_and_order_hold_steps_up() {
        let machine = Machine::in_order(2);
        let step = |reads: &[usize], units: u32, latency_cycles: u32, micro_ops: u32| Step {
            reads: reads.to_vec(),
            units: UnitSet(units),
            latency_cycles,
            micro_ops,
        };
        // The second needs the unit that the first holds.
        assert_eq!(timeline(&machine, &[step(&[], 1, 1, 1), step(&[], 1, 1, 1)]).issue, [0, 1]);
        // The first can move to another unit.
        assert_eq!(timeline(&machine, &[step(&[], 3, 1, 1), step(&[], 1, 1, 1)]).issue, [0, 0]);
        // The third could start at once, but it comes after the second, which waits.
        let steps = [step(&[], 3, 4, 1), step(&[0], 3, 1, 1), step(&[], 3, 1, 1)];
        assert_eq!(timeline(&machine, &steps), Timeline { cycles: 5, issue: vec![0, 4, 4] });
        // Three micro-operations on one unit; the result waits for the last.
        let steps = [step(&[], 1, 2, 3), step(&[0], 2, 1, 1)];
        assert_eq!(timeline(&machine, &steps), Timeline { cycles: 4, issue: vec![0, 3] });
    }

    #[test]
    #[should_panic(expected = "does not stand before it")]
    fn a_step_cannot_read_the_future() {
        let machine = Machine::in_order(2);
        let add = machine.operation(Kind::General, Class::Add);
        timeline(&machine, &[Step::new(&[1], add), Step::new(&[], add)]);
    }
}

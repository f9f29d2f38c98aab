//! Which registers may still be read before they are written again, at each instruction of a
//! function.

use super::landings::landings;
use crate::decode::code::{Delay, Flow, Instruction, Reg};
use crate::program::function::Function;

/// A set of registers and flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegSet([u64; 4]);

impl RegSet {
    /// Every register there can be.
    pub const ALL: RegSet = RegSet([u64::MAX; 4]);

    /// The register is in the set.
    pub fn contains(&self, reg: Reg) -> bool {
        self.0[usize::from(reg.0) / 64] >> (reg.0 % 64) & 1 == 1
    }

    pub fn insert(&mut self, reg: Reg) {
        self.0[usize::from(reg.0) / 64] |= 1 << (reg.0 % 64);
    }

    /// Takes a register out.
    pub fn remove(&mut self, reg: Reg) {
        self.0[usize::from(reg.0) / 64] &= !(1 << (reg.0 % 64));
    }

    /// Adds all of `other`; says whether that changed anything.
    pub(super) fn add_all(&mut self, other: &RegSet) -> bool {
        let before = *self;
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
        *self != before
    }
}

impl FromIterator<Reg> for RegSet {
    fn from_iter<T: IntoIterator<Item = Reg>>(regs: T) -> RegSet {
        let mut set = RegSet::default();
        for reg in regs {
            set.insert(reg);
        }
        set
    }
}

/// The registers that are live before each instruction.
#[derive(Debug)]
pub struct Liveness(Vec<RegSet>);

impl Liveness {
    /// Follows all paths of `function` backwards. What lies after a jump to an unknown
    /// place may read everything.
    pub fn of(function: &Function) -> Liveness {
        let ends = Ends {
            returned: after_return(function),
            elsewhere: elsewhere(function),
            unknown: RegSet::ALL,
        };
        Liveness::follow(function, &ends, step_back)
    }

    /// The same of what instructions read: of a call's arguments the first counts alone.
    pub fn of_reads(function: &Function) -> Liveness {
        let ends = Ends {
            returned: after_return(function),
            elsewhere: elsewhere(function),
            unknown: RegSet::ALL,
        };
        Liveness::follow(function, &ends, reads_back)
    }

    /// The same of what only the conventions of calls want where it is: what instructions
    /// read may be elsewhere.
    pub(super) fn of_conventions(function: &Function) -> Liveness {
        let ends = Ends {
            returned: returned(function),
            elsewhere: left(function),
            unknown: left(function),
        };
        Liveness::follow(function, &ends, conventions_back)
    }

    fn follow(
        function: &Function,
        ends: &Ends,
        step_back: fn(&Function, &Instruction, &mut RegSet),
    ) -> Liveness {
        let n = function.instructions.len();
        let mut live = vec![RegSet::default(); n];
        let landings = landings(function);
        let mut is_changed = true;
        // Backward order settles straight code in one round, and each loop in one more for each
        // level.
        while is_changed {
            is_changed = false;
            let mut anywhere = RegSet::default();
            landings.iter().for_each(|landing| _ = anywhere.add_all(&live[*landing]));
            for idx in (0..n).rev() {
                let mut set = behind(function, idx, &live, ends);
                step_back(function, &function.instructions[idx], &mut set);
                // An instruction that faults has written nothing.
                let faults = match function.fixup(idx) {
                    Some(None) => RegSet::ALL,
                    _ if function.is_opaque(idx) => RegSet::ALL,
                    _ if function.instructions[idx].sets_trap_handler() => RegSet::ALL,
                    _ => anywhere,
                };
                set.add_all(&faults);
                is_changed |= live[idx].add_all(&set);
            }
        }
        Liveness(live)
    }

    /// What is live before the instruction at place `idx`.
    pub fn before(&self, idx: usize) -> &RegSet {
        &self.0[idx]
    }
}

/// What the caller may read: results, saved registers, the stack pointer.
pub fn after_return(function: &Function) -> RegSet {
    let conventions = function.isa.conventions();
    let kept = conventions.results.iter().chain(conventions.saved);
    let reserved = conventions.reserved.iter().map(|(reg, _)| *reg);
    kept.copied()
        .chain([conventions.stack_pointer])
        .chain(reserved)
        .chain(conventions.unlisted())
        .collect()
}

/// What another function may read that a branch goes to: arguments, saved registers, the way back.
pub fn elsewhere(function: &Function) -> RegSet {
    let conventions = function.isa.conventions();
    let kept = conventions.arguments.iter().chain(conventions.saved).copied();
    let reserved = conventions.reserved.iter().map(|(reg, _)| *reg);
    kept.chain([conventions.stack_pointer])
        .chain(conventions.link)
        .chain(reserved)
        .chain(conventions.unlisted())
        .collect()
}

/// What is live where control leaves a function.
struct Ends {
    returned: RegSet,
    elsewhere: RegSet,
    /// To a place that is not known.
    unknown: RegSet,
}

/// What is live right after an instruction, whichever way control goes.
fn behind(function: &Function, idx: usize, live: &[RegSet], ends: &Ends) -> RegSet {
    let instruction = &function.instructions[idx];
    let mut set = RegSet::default();
    let (goes_on, there) = match instruction.flow {
        Flow::Next | Flow::Call { .. } => (true, None),
        Flow::Branch { is_conditional, .. } => {
            let there = function.target(idx).map_or(ends.elsewhere, |to| live[to]);
            (is_conditional, Some(there))
        }
        Flow::Return => (instruction.is_guarded(), Some(ends.returned)),
        Flow::Resume => (instruction.is_guarded(), Some(RegSet::ALL)),
        Flow::Jump | Flow::LastCall => (instruction.is_guarded(), Some(ends.unknown)),
        Flow::Stop => (false, None),
    };
    if let Some(there) = there {
        set.add_all(&there);
    }
    // The instruction in a delay slot is read before control leaves: what it reads is live, too.
    if goes_on || instruction.delay != Delay::None {
        let next = live.get(idx + 1).unwrap_or(&RegSet::ALL);
        set.add_all(next);
    }
    set
}

fn step_back(function: &Function, instruction: &Instruction, set: &mut RegSet) {
    back(function, instruction, usize::MAX, set);
}

/// What instructions read, calls aside.
fn reads_back(function: &Function, instruction: &Instruction, set: &mut RegSet) {
    back(function, instruction, 1, set);
}

/// What is live before an instruction, if callees have so many arguments at most.
fn back(function: &Function, instruction: &Instruction, n_arguments: usize, set: &mut RegSet) {
    let conventions = function.isa.conventions();
    if matches!(instruction.flow, Flow::Call { .. }) {
        if instruction.flow.ends_scratch() {
            conventions.scratch.iter().for_each(|&reg| set.remove(reg));
        }
        conventions
            .arguments
            .iter()
            .take(n_arguments)
            .copied()
            .chain(conventions.unlisted())
            .for_each(|reg| set.insert(reg));
    }
    if !instruction.is_guarded() {
        // A part of a register that is written leaves the rest: only a whole write ends a life.
        let whole = |reg: Reg| {
            if conventions.flags.contains(&reg) { 1 } else { low_bits(conventions.bits) }
        };
        for write in &instruction.writes {
            if write.bits & whole(write.reg) == whole(write.reg) {
                set.remove(write.reg);
            }
        }
    }
    for read in &instruction.reads {
        set.insert(read.reg);
    }
}

/// What conventions want before an instruction.
fn conventions_back(function: &Function, instruction: &Instruction, set: &mut RegSet) {
    let conventions = function.isa.conventions();
    if matches!(instruction.flow, Flow::Call { .. }) {
        conventions.scratch.iter().for_each(|&reg| set.remove(reg));
        conventions.arguments.iter().take(1).for_each(|&reg| set.insert(reg));
    }
    if !instruction.is_guarded() {
        instruction.writes.iter().for_each(|write| set.remove(write.reg));
    }
}

fn low_bits(n: u8) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// What is wanted where a function returns: the result, what is the caller's, the way back.
pub(super) fn returned(function: &Function) -> RegSet {
    let conventions = function.isa.conventions();
    conventions
        .results
        .iter()
        .take(1)
        .chain(conventions.saved)
        .copied()
        .chain(conventions.link)
        .collect()
}

/// What is wanted where a branch leaves the function: what is the caller's, and the first argument.
pub(super) fn left(function: &Function) -> RegSet {
    let conventions = function.isa.conventions();
    conventions
        .arguments
        .iter()
        .take(1)
        .chain(conventions.saved)
        .copied()
        .chain(conventions.link)
        .collect()
}

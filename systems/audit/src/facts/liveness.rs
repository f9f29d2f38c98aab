//! Which registers may still be read before they are written again, at each instruction of a
//! function.

use super::landings::{is_pad, landings, unreached};
use crate::decode::code::{Delay, Flow, Reg};
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
        Liveness::with_arguments(function, usize::MAX)
    }

    /// The same of what instructions read: of a call's arguments the first counts alone, where it is
    /// not known which there are.
    pub fn of_reads(function: &Function) -> Liveness {
        Liveness::with_arguments(function, 1)
    }

    /// What somebody reads as far as a compiler's code goes: as all callees may, but arguments of
    /// functions of which nothing is known are not handed through calls.
    pub fn likely(function: &Function) -> Liveness {
        let mut all = Liveness::with_arguments(function, 0);
        let ends = Ends { ends_scratch: true, ..Ends::of(function, usize::MAX) };
        let handed = Liveness::follow(function, &ends, back);
        all.0.iter_mut().zip(&handed.0).for_each(|(set, more)| _ = set.add_all(more));
        all
    }

    fn with_arguments(function: &Function, n_arguments: usize) -> Liveness {
        Liveness::follow(function, &Ends::of(function, n_arguments), back)
    }

    /// The same of what only the conventions of calls want where it is: what instructions
    /// read may be elsewhere.
    pub(super) fn of_conventions(function: &Function) -> Liveness {
        let ends = Ends {
            returned: returned(function),
            elsewhere: callers(function),
            unknown: left(function),
            never_back: RegSet::default(),
            n_arguments: 1,
            ends_scratch: true,
        };
        Liveness::follow(function, &ends, conventions_back)
    }

    fn follow(
        function: &Function,
        ends: &Ends,
        step_back: fn(&Function, usize, &Ends, &mut RegSet),
    ) -> Liveness {
        let n = function.instructions.len();
        let mut live = vec![RegSet::default(); n];
        let (landings, conventions) = (landings(function), function.isa.conventions());
        let mut is_changed = true;
        // Backward order settles straight code in one round, and each loop in one more for each
        // level.
        while is_changed {
            is_changed = false;
            let mut anywhere = RegSet::default();
            for landing in &landings {
                let mut there = live[*landing];
                if is_pad(function, *landing) {
                    // Who unwinds the stack brings back what is saved, and no more.
                    conventions.scratch.iter().for_each(|reg| there.remove(*reg));
                }
                anywhere.add_all(&there);
            }
            for idx in (0..n).rev() {
                let mut set = behind(function, idx, &live, ends);
                step_back(function, idx, ends, &mut set);
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

    /// What is live before any of these.
    pub fn before_any(&self, places: &[usize]) -> RegSet {
        let mut all = RegSet::default();
        places.iter().for_each(|place| _ = all.add_all(&self.0[*place]));
        all
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

/// What the function that the instruction at place `idx` goes to, out of this one, may read:
/// arguments, saved registers, the way back.
pub fn elsewhere(function: &Function, idx: usize) -> RegSet {
    arguments(function, Some(idx), usize::MAX, beside_arguments(function))
}

/// These, and the registers in which the function that is called or jumped to at place `idx` has
/// arguments: where nobody says which, so many.
fn arguments(function: &Function, idx: Option<usize>, n: usize, mut set: RegSet) -> RegSet {
    let all = function.isa.conventions().arguments;
    let known = idx.and_then(|idx| function.arguments_at(idx));
    known.unwrap_or(&all[..n.min(all.len())]).iter().for_each(|reg| set.insert(*reg));
    set
}

/// What another function may read, its arguments aside.
fn beside_arguments(function: &Function) -> RegSet {
    let conventions = function.isa.conventions();
    let mut set = beside_saved(function);
    conventions.saved.iter().chain(&conventions.link).for_each(|reg| set.insert(*reg));
    set
}

/// The same of one that does not come back: nobody misses what was saved for the caller.
fn beside_saved(function: &Function) -> RegSet {
    let conventions = function.isa.conventions();
    let reserved = conventions.reserved.iter().map(|(reg, _)| *reg);
    [conventions.stack_pointer].into_iter().chain(reserved).chain(conventions.unlisted()).collect()
}

/// The function that is called at place `idx` may be left by an exception, for which a caller gets
/// back what is saved: one of C++ or Rust, of their run-time parts, or one that is not known.
fn may_unwind(function: &Function, idx: usize) -> bool {
    const BEGINNINGS: [&str; 5] = ["_Z", "_R", "__cxa_", "_Unwind_", "rust_"];
    let callee = function.callees.get(&function.instructions[idx].address);
    callee.is_none_or(|name| BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)))
}

/// A compiler made the function, and no table leads from its jumps through registers to other places
/// in it: they are last calls.
fn goes_to_functions(function: &Function) -> bool {
    let is_compiled = function.frames.iter().any(|frames| !frames.is_empty());
    let is_assembly = function
        .frames
        .iter()
        .flatten()
        .any(|frame| [".s", ".S", ".asm"].iter().any(|ending| frame.file.ends_with(ending)));
    is_compiled
        && !is_assembly
        && unreached(function).iter().all(|landing| is_pad(function, *landing))
}

/// What is live where control leaves a function, arguments aside.
struct Ends {
    returned: RegSet,
    elsewhere: RegSet,
    /// To a place that is not known, arguments too.
    unknown: RegSet,
    /// To a function that does not come back, nor throws.
    never_back: RegSet,
    /// Functions have so many arguments, where it is not known which.
    n_arguments: usize,
    /// No call leaves a register alone that conventions give it.
    ends_scratch: bool,
}

impl Ends {
    fn of(function: &Function, n_arguments: usize) -> Ends {
        Ends {
            returned: after_return(function),
            elsewhere: beside_arguments(function),
            unknown: if goes_to_functions(function) {
                arguments(function, None, n_arguments, beside_arguments(function))
            } else {
                RegSet::ALL
            },
            never_back: beside_saved(function),
            n_arguments,
            ends_scratch: false,
        }
    }
}

/// What is live right after an instruction, whichever way control goes.
fn behind(function: &Function, idx: usize, live: &[RegSet], ends: &Ends) -> RegSet {
    let instruction = &function.instructions[idx];
    let mut set = RegSet::default();
    let (goes_on, there) = match instruction.flow {
        Flow::Next | Flow::Call { .. } => (true, None),
        Flow::Branch { is_conditional, .. } => {
            let there = match function.target(idx) {
                Some(to) => live[to],
                None => arguments(function, Some(idx), ends.n_arguments, ends.elsewhere),
            };
            (is_conditional, Some(there))
        }
        Flow::Return => (instruction.is_guarded(), Some(ends.returned)),
        Flow::Resume => (instruction.is_guarded(), Some(RegSet::ALL)),
        Flow::Jump => {
            let there = match (function.cases_of(idx), function.arguments_at(idx)) {
                (Some(cases), _) => {
                    let mut all = RegSet::default();
                    cases.iter().for_each(|case| _ = all.add_all(&live[*case]));
                    all
                }
                (None, Some(_)) => arguments(function, Some(idx), 0, ends.elsewhere),
                (None, None) => ends.unknown,
            };
            (instruction.is_guarded(), Some(there))
        }
        Flow::LastCall => {
            let beside = if may_unwind(function, idx) { ends.elsewhere } else { ends.never_back };
            let there = arguments(function, Some(idx), ends.n_arguments, beside);
            (instruction.is_guarded(), Some(there))
        }
        Flow::Stop => (false, None),
    };
    if let Some(there) = there {
        set.add_all(&there);
    }
    // The instruction in a delay slot is read before control leaves: what it reads is live, too.
    if goes_on || instruction.delay != Delay::None {
        // Behind the last one there is another function, if anything.
        match live.get(idx + 1) {
            Some(next) => set.add_all(next),
            None if matches!(instruction.flow, Flow::Call { .. }) => set.add_all(&ends.elsewhere),
            None => set.add_all(&RegSet::ALL),
        };
    }
    set
}

/// What is live before an instruction.
fn back(function: &Function, idx: usize, ends: &Ends, set: &mut RegSet) {
    let conventions = function.isa.conventions();
    let instruction = &function.instructions[idx];
    if matches!(instruction.flow, Flow::Call { .. }) {
        if ends.ends_scratch || instruction.flow.ends_scratch() {
            conventions.scratch.iter().for_each(|&reg| set.remove(reg));
        }
        *set = arguments(function, Some(idx), ends.n_arguments, *set);
        conventions.unlisted().for_each(|reg| set.insert(reg));
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
fn conventions_back(function: &Function, idx: usize, ends: &Ends, set: &mut RegSet) {
    let conventions = function.isa.conventions();
    let instruction = &function.instructions[idx];
    if matches!(instruction.flow, Flow::Call { .. }) {
        conventions.scratch.iter().for_each(|&reg| set.remove(reg));
        *set = arguments(function, Some(idx), ends.n_arguments, *set);
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

/// What is wanted where a branch leaves the function for one of which nothing is known: what is the
/// caller's, and the first argument.
pub(super) fn left(function: &Function) -> RegSet {
    arguments(function, None, 1, callers(function))
}

/// The same at place `idx`, where the arguments of the function may be known.
pub(super) fn left_at(function: &Function, idx: usize) -> RegSet {
    arguments(function, Some(idx), 1, callers(function))
}

/// What a caller gets back, and the way back.
fn callers(function: &Function) -> RegSet {
    let conventions = function.isa.conventions();
    conventions.saved.iter().chain(&conventions.link).copied().collect()
}

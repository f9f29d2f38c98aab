//! The pipeline of an in-order core: when each instruction starts, given when its operands are
//! there.

use machine::UnitSet;
use machine::in_order::Core;

use crate::decode::code::{Class, Flow, Instruction, Out};
use crate::facts::trace::Trace;
use crate::program::function::Function;

/// What starting an instruction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Cycles until the next may start.
    pub issue_cycles: u32,
    /// Nothing starts in the last of them: control goes elsewhere.
    pub is_taken: bool,
    /// Places among those that start together.
    pub slots: u32,
    /// It takes any one of these units.
    pub units: UnitSet,
    pub unit_cycles: u32,
    /// A unit that it keeps from others, and for so long.
    pub holds: Option<(UnitSet, u32)>,
    /// It starts in a cycle as the first; where it would have been the second, alone.
    pub is_first: bool,
}

impl Need {
    /// What each instruction of a trace takes on this core.
    pub fn of_trace(function: &Function, trace: &Trace, core: &Core) -> Vec<Need> {
        let needs = trace.places.iter().enumerate().map(|(at, idx)| {
            let instruction = &function.instructions[*idx];
            let is_taken = match instruction.flow {
                Flow::Branch { is_conditional: true, .. } => {
                    trace.exits.iter().any(|exit| exit.at == at && exit.is_taken)
                }
                Flow::Branch { .. } | Flow::Call { .. } => true,
                _ => false,
            };
            Need::of(instruction, is_taken, core)
        });
        needs.collect()
    }

    pub(super) fn of(instruction: &Instruction, is_taken: bool, core: &Core) -> Need {
        if instruction.is_unknown() {
            let units = UnitSet::default();
            return Need {
                issue_cycles: 1,
                is_taken: false,
                slots: 1,
                units,
                unit_cycles: 0,
                holds: None,
                is_first: false,
            };
        }
        let work = core.work_of(instruction.class, instruction.is_quad);
        let updates_base = instruction.writes.iter().any(|write| write.out == Out::BaseUpdate);
        let n_registers = instruction.accesses.len();
        let n_bytes = instruction.accesses.iter().map(|access| u32::from(access.width)).sum();
        // A load of the program counter is a jump, too, and as long as one, if nothing else is
        // said.
        let jump_cycles = match (instruction.class, instruction.flow) {
            (Class::Load | Class::LoadSlow | Class::LoadMultiple, Flow::Return | Flow::Resume) => {
                core.work(Class::Return).issue_cycles
            }
            (Class::Load | Class::LoadSlow | Class::LoadMultiple, Flow::Jump) => {
                core.work(Class::Jump).issue_cycles
            }
            _ => 0,
        };
        let taken_cycles = if is_taken { work.taken_cycles() } else { None };
        let own_cycles = work.issue_cycles(n_registers);
        let own_cycles = match work.jump_cycles().filter(|_| jump_cycles > 0) {
            Some(more) => own_cycles + more,
            None => own_cycles.max(jump_cycles),
        };
        let issue_cycles = own_cycles.max(taken_cycles.unwrap_or(0));
        Need {
            issue_cycles,
            is_taken: taken_cycles.is_some(),
            // A wider instruction than the core starts alone.
            slots: if issue_cycles == 0 {
                0
            } else {
                work.slots(updates_base).clamp(1, core.issue_width)
            },
            units: if shifts(instruction, core) {
                core.work(Class::AluShiftImm).units
            } else {
                work.units
            },
            unit_cycles: work.unit_cycles(n_registers, n_bytes),
            holds: work.holds,
            is_first: core.pairing.as_ref().is_some_and(|pairing| {
                pairing.first_only.iter().any(|name| instruction.text.starts_with(name.as_str()))
            }),
        }
    }
}

/// An immediate of Thumb's that is spread from more than its low byte: it takes the shifter where
/// the core says so.
fn shifts(instruction: &Instruction, core: &Core) -> bool {
    let word = instruction.word as u32;
    let is_immediate = instruction.length == 4
        && word >> 27 == 0b11110
        && word >> 25 & 1 == 0
        && word >> 15 & 1 == 0;
    let is_wide = word >> 26 & 1 != 0 || word >> 12 & 7 != 0;
    let is_one =
        matches!(instruction.class, Class::Alu | Class::Constant) && is_immediate && is_wide;
    is_one
        && core.sets.iter().any(|set| set == "t32")
        && core.pairing.as_ref().is_some_and(|pairing| pairing.wide_immediates_shift)
}

/// The state of the pipeline between two instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipe {
    width: u32,
    /// The cycle in which the last instruction started, or in which it lets go.
    cycle: u32,
    /// Places that are taken in this cycle.
    used: u32,
    /// From which cycle on each unit is free; those that instructions of this
    /// cycle take not counted.
    free: Vec<u32>,
    /// What the instructions of this cycle take.
    taking: Vec<(UnitSet, u32)>,
    /// What they keep from others.
    holding: Vec<(UnitSet, u32)>,
    /// Some instructions start in a cycle only as the first.
    has_first: bool,
}

impl Pipe {
    /// An empty pipeline at cycle 0.
    pub fn new(core: &Core) -> Pipe {
        let has_first = core.pairing.is_some();
        Pipe {
            width: core.issue_width,
            cycle: 0,
            used: 0,
            free: vec![0; core.units.len()],
            taking: Vec::new(),
            holding: Vec::new(),
            has_first,
        }
    }

    /// Cycles that have passed when everything so far has started and lets go.
    pub fn passed(&self) -> u32 {
        self.cycle + u32::from(self.used > 0)
    }

    /// The first cycle with a place for this instruction, if only the order counts.
    pub fn place(&self, need: &Need) -> u32 {
        self.cycle
            + u32::from(self.used + need.slots > self.width || need.is_first && self.used > 0)
    }

    /// The first cycle in which it would be missed: the one after what starts already.
    pub fn turn(&self, need: &Need) -> u32 {
        if self.used > 0 { self.cycle + 1 } else { self.place(need) }
    }

    /// The first cycle from `ready` on with a place and a unit for it.
    pub fn start(&self, need: &Need, ready: u32) -> u32 {
        let mut at = self.place(need).max(ready);
        while !self.has_unit(need, at) {
            at += 1;
        }
        at
    }

    /// Starts it; `at` is what [`Pipe::start`] said.
    pub fn take(&mut self, need: &Need, at: u32) {
        debug_assert!(at >= self.place(need), "an instruction starts in the order of the program");
        // The pair that it was the second of is not filled up again.
        let was_second =
            need.is_first && self.used > 0 && self.used < self.width && at == self.cycle + 1;
        if at > self.cycle {
            self.settle();
            self.cycle = at;
            self.used = 0;
        }
        self.used += need.slots;
        if need.units != UnitSet::default() {
            self.taking.push((need.units, need.unit_cycles));
        }
        self.holding.extend(need.holds);
        if need.issue_cycles > 1 {
            self.settle_at(at);
            self.cycle = at + need.issue_cycles - 1;
            self.used = need.slots;
        }
        if need.is_taken || was_second {
            self.used = self.width;
        }
    }

    /// Whatever follows can start in this state at least as early as in the other.
    pub fn is_no_later(&self, other: &Pipe) -> bool {
        let (mut mine, mut theirs) = (self.clone(), other.clone());
        let turn = |pipe: &Pipe| (pipe.cycle, pipe.used);
        let takes = |pipe: &Pipe| (pipe.taking.clone(), pipe.holding.clone());
        let is_idle = self.taking.is_empty() && self.holding.is_empty();
        // What may only be the first starts alone after a half pair.
        if self.has_first && self.used > 0 && turn(self) != turn(other) {
            return false;
        }
        if turn(self) > turn(other)
            || self.cycle == other.cycle && takes(self) != takes(other) && !is_idle
        {
            return false;
        }
        mine.settle();
        theirs.settle();
        mine.free.iter().zip(&theirs.free).all(|(mine, theirs)| *mine <= (*theirs).max(other.cycle))
    }

    fn has_unit(&self, need: &Need, at: u32) -> bool {
        if need.units == UnitSet::default() {
            return true;
        }
        let mut free: Vec<bool> = self.free.iter().map(|found| *found <= at).collect();
        let mut all: Vec<UnitSet> = vec![need.units];
        if at == self.cycle {
            all.extend(self.taking.iter().map(|(units, _)| *units));
        } else if !self.taking.is_empty() || !self.holding.is_empty() {
            let mut later = self.clone();
            later.settle();
            free = later.free.iter().map(|found| *found <= at).collect();
        }
        assign(&all, &mut free).is_some()
    }

    /// Gives the instructions of this cycle their units for good.
    fn settle(&mut self) {
        self.settle_at(self.cycle);
    }

    fn settle_at(&mut self, at: u32) {
        if self.taking.is_empty() && self.holding.is_empty() {
            return;
        }
        let mut free: Vec<bool> = self.free.iter().map(|found| *found <= at).collect();
        let all: Vec<UnitSet> = self.taking.iter().map(|(units, _)| *units).collect();
        let places = assign(&all, &mut free)
            .expect("an instruction starts only when there is a unit for it");
        for (unit, (_, cycles)) in places.into_iter().zip(std::mem::take(&mut self.taking)) {
            self.free[unit] = at + cycles;
        }
        for (units, cycles) in std::mem::take(&mut self.holding) {
            units.iter().for_each(|unit| self.free[unit] = self.free[unit].max(at + cycles));
        }
    }
}

/// A unit for each; there are as many as start in one cycle, so all ways can be tried.
fn assign(sets: &[UnitSet], free: &mut [bool]) -> Option<Vec<usize>> {
    let Some((first, rest)) = sets.split_first() else { return Some(Vec::new()) };
    for unit in first.iter() {
        if !free.get(unit).is_some_and(|found| *found) {
            continue;
        }
        free[unit] = false;
        let others = assign(rest, free);
        free[unit] = true;
        if let Some(mut others) = others {
            others.insert(0, unit);
            return Some(others);
        }
    }
    None
}

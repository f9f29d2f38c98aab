//! What an allocation is told to, instruction by instruction: a count of its traffic here, the model
//! of a core and the text of the assembly elsewhere.

use super::steps::{Memory, Step, StepKind};

/// Where an operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValuePlace {
    Register(u8),
    /// In memory, at an address that has a register of its own.
    Memory(Memory),
    /// In memory, at an address that one of the registers for values holds.
    Based(u8, i32),
    /// In a spill slot.
    Slot(u32),
    /// In the read-only data.
    Constant(u32),
    Immediate(i64),
}

/// Receives the instructions in order.
pub trait Sink {
    /// `dst = kind args`; if `kind` overwrites an operand, `dst` is the register of the first one.
    fn operate(&mut self, step: &Step, kind: StepKind, dst: u8, args: &[ValuePlace]);
    fn load(&mut self, dst: u8, place: ValuePlace);
    fn store(&mut self, place: ValuePlace, src: u8);
    /// `dst` = the address, from its slot in the frame.
    fn load_address(&mut self, dst: u8, address: u32);
    fn copy(&mut self, dst: u8, src: u8);
    /// The last store wrote what the next iteration reads as this carried value.
    fn kept(&mut self, _carried: u32) {}
    /// The next load reads this carried value, stored in the last iteration.
    fn carried(&mut self, _carried: u32) {}
}

/// Loads, stores and moves around the instructions that compute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub loads: u32,
    /// Stores, including those of results.
    pub stores: u32,
    /// Memory operands of instructions that compute.
    pub folded: u32,
    pub copies: u32,
}

impl Count {
    /// What the search minimises.
    pub fn cost(&self) -> u32 {
        4 * self.loads + 5 * self.stores + 2 * self.folded + 2 * self.copies
    }
}

impl Sink for Count {
    fn operate(&mut self, _: &Step, _: StepKind, _: u8, args: &[ValuePlace]) {
        self.folded += args
            .iter()
            .filter(|arg| !matches!(arg, ValuePlace::Register(_) | ValuePlace::Immediate(_)))
            .count() as u32;
    }
    fn load(&mut self, _: u8, place: ValuePlace) {
        self.loads += u32::from(!matches!(place, ValuePlace::Immediate(_)));
    }
    fn store(&mut self, _: ValuePlace, _: u8) {
        self.stores += 1;
    }
    fn load_address(&mut self, _: u8, _: u32) {
        self.loads += 1;
    }
    fn copy(&mut self, _: u8, _: u8) {
        self.copies += 1;
    }
}

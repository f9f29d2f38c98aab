//! One function as it was loaded: its instructions, and where each comes from.

use std::collections::BTreeMap;

use crate::decode::Isa;
use crate::decode::code::{Flow, Instruction, Reg};
use crate::program::tables::{Patch, PatchKind, Tables};

/// A place in the source, in one of the functions that were inlined into each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct SourceFrame {
    pub function: String,
    /// The file, as the debug information names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A function, or a piece of plain assembly.
#[derive(Debug, Clone)]
pub struct Function {
    pub name: String,
    pub isa: Isa,
    /// All instructions, by address; a word that is none is one that touches everything.
    pub instructions: Vec<Instruction>,
    /// For each instruction the frames it stands in, the innermost first;
    /// none without line information.
    pub frames: Vec<Vec<SourceFrame>>,
    /// The symbols that calls and jumps out of the function go to, by address of the instruction.
    pub callees: BTreeMap<u64, String>,
    /// It lies in a section for code that seldom runs (`.text.unlikely`, `.text.exit`, ...).
    pub is_cold: bool,
    /// What loads of words beside the code bring, by address of the instruction, where it is known:
    /// no linker writes it.
    pub constants: BTreeMap<u64, u32>,
    /// What tables of a kernel say of it.
    pub tables: Tables,
    /// Where computed jumps lead whose tables are read, by the address of the jump.
    pub cases: BTreeMap<u64, Vec<u64>>,
    /// The registers in which the functions that it calls or jumps to have arguments, by address of
    /// the instruction; of those alone of which that is known.
    pub arguments: BTreeMap<u64, Vec<Reg>>,
    /// Registers that hold pointers by the debug information, by the address of the instruction before
    /// which they do: at the beginning the function's own arguments, at a call those of the callee.
    pub addresses: BTreeMap<u64, Vec<Reg>>,
}

impl Function {
    /// The instruction at this address, as a place in `instructions`.
    pub fn at(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, |instruction| instruction.address).ok()
    }

    /// The instruction at place `idx` is another one on some core, or while some key is set.
    pub fn is_patched(&self, idx: usize) -> bool {
        self.tables.patch_at(self.instructions[idx].address).is_some()
    }

    /// It is not known which instruction stands at place `idx` when the kernel runs.
    pub fn is_open(&self, idx: usize) -> bool {
        self.tables.patch_at(self.instructions[idx].address).is_some_and(Patch::is_open)
    }

    /// What stands at place `idx` on some core may read and write anything. A jump label is not so:
    /// it is a branch or none.
    pub fn is_opaque(&self, idx: usize) -> bool {
        let address = self.instructions[idx].address;
        self.tables.patch_at(address).is_some_and(|patch| {
            let stays = |to: &u64| self.at(*to).is_some();
            let is_known = matches!(patch.kind, PatchKind::JumpLabel | PatchKind::Tracing);
            !is_known || !patch.leads_to.iter().all(stays)
        })
    }

    /// Where control goes on if the instruction at place `idx` faults, where a table says that: a
    /// place, if it is in the function.
    pub fn fixup(&self, idx: usize) -> Option<Option<usize>> {
        self.tables.fixups.get(&self.instructions[idx].address).map(|to| self.at(*to))
    }

    /// The registers in which the function that is called or jumped to at place `idx` has arguments,
    /// if that is known.
    pub fn arguments_at(&self, idx: usize) -> Option<&[Reg]> {
        self.arguments.get(&self.instructions[idx].address).map(Vec::as_slice)
    }

    /// Where the computed jump at place `idx` leads, as places, if its table is read.
    pub fn cases_of(&self, idx: usize) -> Option<Vec<usize>> {
        let cases = self.cases.get(&self.instructions[idx].address)?;
        Some(cases.iter().filter_map(|case| self.at(*case)).collect())
    }

    /// For each place whether a branch leads there, or a computed jump whose table is read.
    pub fn led_to(&self) -> Vec<bool> {
        let mut is_led_to = vec![false; self.instructions.len()];
        for idx in 0..self.instructions.len() {
            let cases = self.cases_of(idx).into_iter().flatten();
            self.target(idx).into_iter().chain(cases).for_each(|to| is_led_to[to] = true);
        }
        is_led_to
    }

    /// The branch at place `from`, or its table, leads to place `to`.
    pub fn leads(&self, from: usize, to: usize) -> bool {
        self.target(from) == Some(to) || self.cases_of(from).is_some_and(|all| all.contains(&to))
    }

    /// Where the branch at place `idx` goes, as a place in `instructions`; `None` if
    /// out of the function.
    pub fn target(&self, idx: usize) -> Option<usize> {
        match self.instructions[idx].flow {
            Flow::Branch { target, .. } => self.at(target),
            Flow::Next
            | Flow::Call { .. }
            | Flow::LastCall
            | Flow::Return
            | Flow::Resume
            | Flow::Jump
            | Flow::Stop => None,
        }
    }
}

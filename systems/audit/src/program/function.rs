//! One function as it was loaded: its instructions, and where each comes from.

use std::collections::BTreeMap;

use crate::decode::Isa;
use crate::decode::code::{Flow, Instruction};

/// A place in the source, in one of the functions that were inlined into each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct SourceFrame {
    /// The function.
    pub function: String,
    /// The file, as the debug information names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A function, or a piece of plain assembly.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// Its instruction set.
    pub isa: Isa,
    /// All instructions, by address; a word that is none is one that touches everything.
    pub instructions: Vec<Instruction>,
    /// For each instruction the frames it stands in, the innermost first; none without line information.
    pub frames: Vec<Vec<SourceFrame>>,
    /// The symbols that calls and jumps out of the function go to, by address of the instruction.
    pub callees: BTreeMap<u64, String>,
    /// It lies in a section for code that seldom runs (`.text.unlikely`, `.text.exit`, ...).
    pub is_cold: bool,
    /// What loads of words beside the code bring, by address of the instruction, where it is known: no linker writes it.
    pub constants: BTreeMap<u64, u32>,
}

impl Function {
    /// The instruction at this address, as a place in `instructions`.
    pub fn at(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, |it| it.address).ok()
    }

    /// Where the branch at place `idx` goes, as a place in `instructions`; `None` if out of the function.
    pub fn target(&self, idx: usize) -> Option<usize> {
        match self.instructions[idx].flow {
            Flow::Branch { target, .. } => self.at(target),
            Flow::Next | Flow::Call { .. } | Flow::LastCall | Flow::Return | Flow::Resume | Flow::Jump | Flow::Stop => None,
        }
    }
}

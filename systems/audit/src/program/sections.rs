//! Sections with code, and what lies in them: functions, marks, and what a linker would complete.

use crate::decode::Isa;

/// A function of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub address: u64,
    /// Its bytes, data between its instructions included.
    pub size: u64,
    pub isa: Isa,
    /// It lies in a section for code that seldom runs, or is a part that the compiler
    /// split off as such.
    pub is_cold: bool,
    /// Other files may call it.
    pub is_global: bool,
    /// The linker may take another function of this name.
    pub is_weak: bool,
    /// Of functions that are joined: each, by address.
    pub(super) parts: Vec<Symbol>,
    pub(super) section: usize,
}

/// The bytes of one section with code.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) base: u64,
    pub(super) bytes: Vec<u8>,
    /// Where code, data or Thumb code begins, by address.
    pub(super) marks: Vec<(u64, Mark)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Code,
    Data,
    Thumb,
}

/// A call or jump that the linker would complete.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) symbol: Option<String>,
    pub(super) target: Option<u64>,
}

impl Code {
    pub(super) fn mark(&self, address: u64) -> Option<Mark> {
        let after = self.marks.partition_point(|(at, _)| *at <= address);
        self.marks[..after].last().map(|(_, mark)| *mark)
    }

    /// Arm's set of a function here: an odd address, or a mark, says Thumb.
    pub(super) fn isa(&self, machine: Isa, address: u64) -> Isa {
        let is_thumb = address & 1 == 1 || self.mark(address) == Some(Mark::Thumb);
        if machine == Isa::A32 && is_thumb { Isa::T32 } else { machine }
    }

    pub(super) fn next_mark(&self, address: u64) -> Option<u64> {
        let after = self.marks.partition_point(|(at, _)| *at <= address);
        self.marks.get(after).map(|(at, _)| *at)
    }

    pub(super) fn end(&self) -> u64 {
        self.base.saturating_add(self.bytes.len() as u64)
    }

    pub(super) fn has(&self, address: u64) -> bool {
        (self.base..self.end()).contains(&address)
    }
}

impl Symbol {
    /// The address lies in it.
    pub fn has(&self, address: u64) -> bool {
        (self.address..self.address + self.size).contains(&address)
    }
}

//! Where a computed jump leads, as that of a `switch` by a table. Most tables are not read: the cases
//! of the only computed jump of a function are the places in it that nothing else leads to. A case
//! that the code before it runs into, or that a branch leads to as well, is not told from other
//! code.
//!
//! Of several computed jumps it is not known which leads where. In threaded code, as of an
//! interpreter, all share their cases, and which piece follows which is known when it runs; two
//! `switch` statements look the same from outside of their tables.

use std::collections::BTreeSet;

use crate::decode::code::{Flow, Reg, Role};
use crate::facts::landings::{behind, in_tables, landings, unreached};
use crate::program::function::Function;

/// The computed jumps of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Computed {
    None,
    /// One, and where it may lead: places in the function.
    One(usize, Vec<usize>),
    /// So many, and where they may lead in all.
    Several(usize, Vec<usize>),
}

impl Computed {
    /// Those of this function.
    pub fn of(function: &Function) -> Computed {
        let n = function.instructions.len();
        let is_computed = |number: &usize| {
            let instruction = &function.instructions[*number];
            let is_read = function.cases.contains_key(&instruction.address);
            let is_left = !is_read && function.callees.contains_key(&instruction.address);
            instruction.flow == Flow::Jump && !is_left
        };
        let jumps: Vec<usize> = (0..n).filter(is_computed).collect();
        let mut cases = unreached(function);
        let read = jumps.iter().filter_map(|jump| function.cases_of(*jump));
        cases.extend(read.flatten());
        // A jump that may not be done has what is after it as one more.
        let behind = jumps.iter().map(|jump| behind(function, *jump));
        cases.extend(
            behind.filter(|(behind, goes_on)| *goes_on && *behind < n).map(|(behind, _)| behind),
        );
        match jumps[..] {
            [] => Computed::None,
            [jump] => Computed::One(jump, cases),
            _ => Computed::Several(jumps.len(), cases),
        }
    }

    /// Where the instruction leads, if it is the only computed jump.
    pub fn cases(&self, idx: usize) -> Option<&[usize]> {
        match self {
            Computed::One(jump, cases) if *jump == idx => Some(cases),
            _ => None,
        }
    }
}

/// The tables of all computed jumps of the function are read, if it has any.
fn all_are_read(function: &Function, computed: &Computed) -> bool {
    let n_jumps = match computed {
        Computed::None => 0,
        Computed::One(..) => 1,
        Computed::Several(n_jumps, _) => *n_jumps,
    };
    function.cases.len() == n_jumps
}

/// Some instruction may lead to a place that no branch shows, and no computed jump.
pub fn has_hidden_ways(function: &Function) -> bool {
    !in_tables(function).is_empty()
        || all_are_read(function, &Computed::of(function)) && !unreached(function).is_empty()
}

/// Where code may be entered that other ways lead to as well: at [`landings`], and by a computed
/// jump, as the label of a case is that the one before falls into: no word shows it, but such a
/// label begins a line of the source, or loads what the case before it has stored. What makes the
/// frame at the beginning is entered once.
pub fn entries(function: &Function) -> Vec<bool> {
    let n = function.instructions.len();
    let computed = Computed::of(function);
    let has_cases = match &computed {
        Computed::None => false,
        Computed::One(_, cases) | Computed::Several(_, cases) => {
            !cases.is_empty() && !all_are_read(function, &computed)
        }
    };
    let begins = |idx: usize| {
        idx > 0
            && (function.frames[idx].is_empty()
                || function.frames[idx] != function.frames[idx - 1]
                || brings_back(function, idx))
    };
    let first = frame_is_made(function);
    let mut entries: Vec<bool> =
        (0..n).map(|idx| has_cases && idx >= first && begins(idx)).collect();
    landings(function).into_iter().for_each(|landing| entries[landing] = true);
    entries
}

/// The instruction loads what the one before it stored, into the register that it came from: there
/// is no reason to, but for somebody who comes from elsewhere.
fn brings_back(function: &Function, idx: usize) -> bool {
    let (store, load) = (&function.instructions[idx - 1], &function.instructions[idx]);
    let ([to], [from]) = (&store.accesses[..], &load.accesses[..]) else { return false };
    let is_place = to.is_store
        && !from.is_store
        && (to.base, to.index, to.disp, to.width) == (from.base, from.index, from.disp, from.width);
    let data = store.reads.iter().filter(|read| read.role == Role::Data);
    is_place && load.writes.iter().map(|write| write.reg).eq(data.map(|read| read.reg))
}

/// The place after the last instruction of the first piece, up to a branch or where one leads,
/// that moves the stack pointer or keeps a register for the caller.
fn frame_is_made(function: &Function) -> usize {
    let conventions = function.isa.conventions();
    let n = function.instructions.len();
    let targets: BTreeSet<usize> = (0..n).filter_map(|idx| function.target(idx)).collect();
    let is_inside = |idx: &usize| {
        !targets.contains(idx) && (*idx == 0 || function.instructions[*idx - 1].flow == Flow::Next)
    };
    let makes = |idx: &usize| {
        let instruction = &function.instructions[*idx];
        let is_kept = |reg: &Reg| conventions.saved.contains(reg) || conventions.link == Some(*reg);
        let keeps = instruction
            .accesses
            .iter()
            .any(|access| access.is_store && access.base == Some(conventions.stack_pointer))
            && instruction
                .reads
                .iter()
                .filter(|read| read.role == Role::Data)
                .all(|read| is_kept(&read.reg));
        keeps || instruction.writes.iter().any(|write| write.reg == conventions.stack_pointer)
    };
    (0..n).take_while(is_inside).filter(makes).last().map_or(0, |idx| idx + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Isa;
    use crate::program::function::SourceFrame;

    /// Two cases of one line, of which the first falls into the second.
    #[test]
    fn a_case_that_loads_what_the_one_before_it_stores_is_entered() {
        let is_entered = |load: u32| {
            // sub sp, sp, #16; br x1; str x0, [sp, #8]; the load; add sp, sp, #16; ret
            let words = [0xd100_43ff, 0xd61f_0020, 0xf900_07e0, load, 0x9100_43ff, 0xd65f_03c0];
            let decode = |(nth, word): (usize, &u32)| {
                Isa::A64.decode(4 * nth as u64, &word.to_le_bytes()).expect("an instruction")
            };
            let frame = SourceFrame { function: "f".to_owned(), file: "f.c".to_owned(), line: 1 };
            let function = Function {
                name: "f".to_owned(),
                isa: Isa::A64,
                instructions: words.iter().enumerate().map(decode).collect(),
                frames: vec![vec![frame]; words.len()],
                callees: Default::default(),
                is_cold: false,
                constants: Default::default(),
                tables: Default::default(),
                cases: Default::default(),
                addresses: Default::default(),
                arguments: Default::default(),
            };
            entries(&function)[3]
        };
        assert!(is_entered(0xf940_07e0)); // ldr x0, [sp, #8]
        assert!(!is_entered(0xf940_07e2)); // ldr x2, [sp, #8]
        assert!(!is_entered(0xf940_03e0)); // ldr x0, [sp]
    }
}

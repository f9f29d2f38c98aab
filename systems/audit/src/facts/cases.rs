//! Where computed jumps lead, as that of a `switch` by a table. Where the [tables](crate::program)
//! are not understood, the cases of the only such jump of a function are the places in it that
//! nothing else leads to. A case that the code before it runs into, or that a branch leads to as well,
//! is not told from other code then.
//!
//! Of several such jumps it is not known which leads where. In threaded code, as of an interpreter,
//! all share their cases, and which piece follows which is known when it runs.

use std::collections::BTreeMap;

use crate::decode::code::{Flow, Reg, Role};
use crate::facts::landings::{behind, in_tables, landings, unreached};
use crate::program::function::Function;

/// The computed jumps of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Computed {
    /// Where each leads, as places, of which that is known: by its table, or as the only one left.
    known: BTreeMap<usize, Vec<usize>>,
    /// How many are left whose tables are not read.
    n_left: usize,
    /// Where these may lead in all, if they are several.
    pub shared: Vec<usize>,
}

impl Computed {
    /// Those of this function.
    pub fn of(function: &Function) -> Computed {
        let n = function.instructions.len();
        let (mut known, mut left) = (BTreeMap::new(), Vec::new());
        for (idx, instruction) in function.instructions.iter().enumerate() {
            if instruction.flow != Flow::Jump {
                continue;
            }
            // A jump that may not be done has what is after it as one more.
            let (behind, goes_on) = behind(function, idx);
            let behind = Some(behind).filter(|behind| goes_on && *behind < n);
            match function.cases_of(idx) {
                Some(cases) => _ = known.insert(idx, cases.into_iter().chain(behind).collect()),
                None if function.callees.contains_key(&instruction.address) => {}
                None => left.push((idx, behind)),
            }
        }
        let mut shared = Vec::new();
        if !left.is_empty() {
            shared = unreached(function);
            shared.extend(left.iter().filter_map(|(_, behind)| *behind));
        }
        if let [(jump, _)] = left[..] {
            known.insert(jump, std::mem::take(&mut shared));
        }
        Computed { known, n_left: left.len(), shared }
    }

    pub fn n_jumps(&self) -> usize {
        self.known.len() + self.n_several()
    }

    /// So many jumps lead to places of which it is not known which leads where.
    pub fn n_several(&self) -> usize {
        if self.n_left > 1 { self.n_left } else { 0 }
    }

    /// Where the instruction leads, if that is known of it alone.
    pub fn cases(&self, idx: usize) -> Option<&[usize]> {
        self.known.get(&idx).map(Vec::as_slice)
    }

    /// All places that computed jumps lead to.
    fn all(&self) -> impl Iterator<Item = usize> {
        self.known.values().flatten().chain(&self.shared).copied()
    }
}

/// Some instruction may lead to a place that no branch shows, and no computed jump.
pub fn has_hidden_ways(function: &Function) -> bool {
    !in_tables(function).is_empty()
        || Computed::of(function).n_left == 0 && !unreached(function).is_empty()
}

/// Where code may be entered that other ways lead to as well: at [`landings`], and by a computed
/// jump, as the label of a case is that the one before falls into: no word shows it, but such a
/// label begins a line of the source, or loads what the case before it has stored. What makes the
/// frame at the beginning is entered once.
pub fn entries(function: &Function) -> Vec<bool> {
    let n = function.instructions.len();
    let computed = Computed::of(function);
    let has_cases = computed.n_left > 0 && computed.all().next().is_some();
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
    let is_led_to = function.led_to();
    let is_inside = |idx: &usize| {
        !is_led_to[*idx] && (*idx == 0 || function.instructions[*idx - 1].flow == Flow::Next)
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
                arguments: Default::default(),
                addresses: Default::default(),
            };
            entries(&function)[3]
        };
        assert!(is_entered(0xf940_07e0)); // ldr x0, [sp, #8]
        assert!(!is_entered(0xf940_07e2)); // ldr x2, [sp, #8]
        assert!(!is_entered(0xf940_03e0)); // ldr x0, [sp]
    }
}

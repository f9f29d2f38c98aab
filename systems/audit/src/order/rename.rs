//! Other registers for values that a straight piece makes and uses up, so that a name that is used
//! again forces no order.
//!
//! ```text
//! ldr  r3, [r1]           ldr  r3, [r1]
//! tst  r3, #7             tst  r3, #7
//! ldr  r3, [lr]    --->   ldr  r4, [lr]     may go above `tst` now: nothing after the piece reads
//! and  r0, r3, #15        and  r0, r4, #15  r3, and nothing needs what r4 held
//! ```
//!
//! A value is renamed only if every read of it is in the piece, no exit needs it, no call comes
//! between, and a register is free from its first write to its last read. The text is renamed word by
//! word; an instruction that has one word for what it reads and writes keeps both the same.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::decode::Isa;
use crate::decode::code::{Class, Flow, Instruction, Out, Reg, Value};
use crate::facts::liveness::{Liveness, RegSet};
use crate::facts::trace::Trace;
use crate::program::function::Function;

/// A value from its first write to its last read, in one register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Web {
    pub reg: Reg,
    /// The instructions that write it: more than one where they change it.
    pub writes: Vec<usize>,
    pub reads: Vec<usize>,
}

impl Web {
    fn last(&self) -> usize {
        self.reads.iter().chain(&self.writes).copied().max().unwrap_or_default()
    }
}

/// What registers of one instruction are called now: those that it reads, and those that it writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewNames {
    pub read: Vec<(Reg, Reg)>,
    pub written: Vec<(Reg, Reg)>,
}

/// New names by instruction.
pub type Renamed = BTreeMap<usize, NewNames>;

/// The webs of a piece that could have other registers, each with one.
pub fn chosen(function: &Function, live: &Liveness, trace: &Trace) -> Vec<(Web, Reg)> {
    let (Some(first), Some(last)) = (trace.places.first(), trace.places.last()) else {
        return Vec::new();
    };
    let piece = *first..last + 1;
    let mut free: Vec<(Reg, usize)> =
        free(function, live, &piece).into_iter().map(|reg| (reg, 0)).collect();
    let mut chosen = Vec::new();
    let mut latest: BTreeMap<Reg, Reg> = BTreeMap::new();
    for web in webs(function, live, trace) {
        let begin = web.writes[0];
        // The one that was used longest ago.
        let found =
            free.iter_mut().filter(|(_, until)| *until <= begin).min_by_key(|register| register.1);
        // Two values after each other in one new register would be as before.
        let one_before = latest.remove(&web.reg);
        let Some((reg, until)) = found.filter(|free| one_before != Some(free.0)) else { continue };
        *until = web.last() + 1;
        latest.insert(web.reg, *reg);
        chosen.push((web, *reg));
    }
    chosen
}

/// The new names of these webs.
pub fn names(webs: &[(Web, Reg)]) -> Renamed {
    let mut renamed = Renamed::new();
    for (web, new) in webs {
        for idx in &web.writes {
            renamed.entry(*idx).or_default().written.push((web.reg, *new));
        }
        for idx in &web.reads {
            renamed.entry(*idx).or_default().read.push((web.reg, *new));
        }
    }
    renamed
}

/// Registers that hold nothing that is needed, all through the piece.
fn free(function: &Function, live: &Liveness, piece: &Range<usize>) -> Vec<Reg> {
    let conventions = function.isa.conventions();
    let is_touched = |reg: Reg| {
        function.instructions[piece.clone()].iter().any(|it| {
            it.reads.iter().any(|read| read.reg == reg)
                || it.writes.iter().any(|write| write.reg == reg)
        })
    };
    let is_reserved = |reg: Reg| conventions.reserved.iter().any(|pair| pair.0 == reg);
    // Callers in the same file may know what the function leaves alone, and flags may take registers
    // from the compiler: only what it writes anyway is taken.
    let is_written = |reg: Reg| {
        let mut writes = function.instructions.iter().flat_map(|it| &it.writes);
        writes.any(|write| write.reg == reg)
    };
    let all = conventions.scratch.iter().chain(conventions.saved).filter(|reg| is_written(**reg));
    all.copied()
        .filter(|reg| is_general(function.isa, *reg) && !is_reserved(*reg))
        .filter(|reg| !live.before(piece.start).contains(*reg) && !is_touched(*reg))
        .collect()
}

/// One that plain instructions compute in; of Thumb one that short ones have.
fn is_general(isa: Isa, reg: Reg) -> bool {
    let conventions = isa.conventions();
    let is_listed = conventions.scratch.contains(&reg) || conventions.saved.contains(&reg);
    let is_other = reg == conventions.stack_pointer
        || Some(reg) == conventions.zero
        || conventions.link == Some(reg)
        || conventions.flags.contains(&reg);
    let name = isa.register_name(reg);
    let letters = match isa {
        Isa::A64 => "x",
        Isa::A32 => "r",
        Isa::T32 => return is_listed && !is_other && reg.0 < 8,
        Isa::Riscv32 | Isa::Riscv64 => "ats",
        Isa::Sparc | Isa::X86 => return false,
    };
    is_listed && !is_other && name.starts_with(|letter| letters.contains(letter))
}

fn webs(function: &Function, live: &Liveness, trace: &Trace) -> Vec<Web> {
    let isa = function.isa;
    let mut done = Vec::new();
    // The value in each register, and whether it may be renamed so far.
    let mut open: BTreeMap<Reg, (Web, bool)> = BTreeMap::new();
    for (at, &idx) in trace.places.iter().enumerate() {
        let it = &function.instructions[idx];
        let is_list = matches!(it.class, Class::LoadMultiple | Class::StoreMultiple);
        for read in &it.reads {
            if let Some((web, may)) = open.get_mut(&read.reg) {
                if !web.reads.contains(&idx) {
                    web.reads.push(idx);
                }
                *may &= !is_list;
            }
        }
        for write in it.writes.iter().filter(|write| is_general(isa, write.reg)) {
            let reads = it.reads.iter().any(|read| read.reg == write.reg);
            let n_results = it.writes.iter().filter(|write| is_general(isa, write.reg)).count();
            let changes = it.is_guarded()
                || reads && n_results > 1
                || write.out == Out::BaseUpdate
                || isa.leaves_part(write)
                || reads && n_words(isa, &it.text, write.reg) < 2;
            if changes {
                if let Some((web, may)) = open.get_mut(&write.reg) {
                    web.writes.push(idx);
                    // Under a condition, or in part, it keeps what was there.
                    if !web.reads.contains(&idx) {
                        web.reads.push(idx);
                    }
                    *may &= !is_list;
                }
                continue;
            }
            let web = Web { reg: write.reg, writes: vec![idx], reads: Vec::new() };
            if let Some((old, true)) = open.insert(write.reg, (web, !is_list)) {
                done.push(old);
            }
        }
        if it.is_barrier() {
            // A call takes what it is given where it is, and keeps no scratch register.
            open.clear();
        }
        let exit = trace.exits.iter().find(|exit| exit.at == at).map(|exit| exit.live);
        // What control goes on with, a branch has before it goes.
        let goes_on = it.flow == Flow::Next && idx + 1 < function.instructions.len();
        let ends = (at + 1 == trace.places.len()).then(|| *live.before(idx + usize::from(goes_on)));
        for needed in [exit, ends].into_iter().flatten() {
            keep(&mut open, &needed);
        }
    }
    let rest = open.into_values().filter(|(_, may)| *may).map(|(web, _)| web);
    done.extend(rest);
    // What is written and never read overwrites: a secret that was there is not to be elsewhere.
    let wiped: Vec<Reg> =
        done.iter().filter(|web| web.reads.is_empty()).map(|web| web.reg).collect();
    done.retain(|web| !wiped.contains(&web.reg));
    done.sort_by_key(|web| web.writes[0]);
    done
}

/// Values that something outside needs stay where they are.
fn keep(open: &mut BTreeMap<Reg, (Web, bool)>, needed: &RegSet) {
    for (reg, (_, may)) in open.iter_mut() {
        *may &= !needed.contains(*reg);
    }
}

/// The function with these names.
pub fn renamed(function: &Function, names: &Renamed) -> Function {
    let mut function = function.clone();
    for (idx, new) in names {
        let isa = function.isa;
        let it = &mut function.instructions[*idx];
        it.text = words(isa, &it.text, it, new);
        let read = |reg: Reg| name_of(&new.read, reg);
        let written = |reg: Reg| name_of(&new.written, reg);
        it.reads.iter_mut().for_each(|part| part.reg = read(part.reg));
        it.writes.iter_mut().for_each(|part| part.reg = written(part.reg));
        for access in &mut it.accesses {
            access.base = access.base.map(read);
            access.index = access.index.map(|(reg, shift)| (read(reg), shift));
        }
        let value = |value: Value| match value {
            Value::Reg(reg) => Value::Reg(read(reg)),
            Value::Const(_) => value,
            Value::Shifted(reg, shift, by) => Value::Shifted(read(reg), shift, by),
            Value::Extended(reg, extension, by) => Value::Extended(read(reg), extension, by),
        };
        if let Some(operation) = &mut it.operation {
            operation.result = operation.result.map(written);
            (operation.a, operation.b) = (value(operation.a), value(operation.b));
        }
    }
    function
}

fn name_of(names: &[(Reg, Reg)], reg: Reg) -> Reg {
    names.iter().find(|(old, _)| *old == reg).map_or(reg, |(_, new)| *new)
}

/// The text of an instruction, or a line with it, with new names.
pub fn words(isa: Isa, text: &str, instruction: &Instruction, names: &NewNames) -> String {
    let is_result = |out: Out| out != Out::BaseUpdate;
    let n_results = instruction
        .writes
        .iter()
        .filter(|write| is_result(write.out) && is_general(isa, write.reg))
        .count();
    let mut new = String::new();
    let mut nth = 0;
    for (word, reg) in parts(isa, text) {
        let Some((reg, is_half)) = reg else {
            new += word;
            continue;
        };
        let is_written = nth < n_results && instruction.writes.iter().any(|write| write.reg == reg);
        nth += 1;
        let list = if is_written { &names.written } else { &names.read };
        match list.iter().find(|(old, _)| *old == reg) {
            Some((_, renamed)) => {
                let name = isa.register_name(*renamed);
                new += &if is_half { name.replacen('x', "w", 1) } else { name.to_owned() };
            }
            None => new += word,
        }
    }
    new
}

/// How many words of the text name this register.
fn n_words(isa: Isa, text: &str, reg: Reg) -> usize {
    parts(isa, text)
        .into_iter()
        .filter(|(_, found)| found.is_some_and(|named| named.0 == reg))
        .count()
}

/// The text in words and what is between; with a word the general register that it names, and whether
/// it means its low half. The first word of code names an instruction.
fn parts(isa: Isa, text: &str) -> Vec<(&str, Option<(Reg, bool)>)> {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "._$".contains(letter);
    let mut parts = Vec::new();
    let mut rest = text;
    let mut n_words = 0;
    while let Some(first) = rest.chars().next() {
        let is_word = is_of_word(first);
        let end = rest.find(|letter| is_of_word(letter) != is_word).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        // What follows a colon or a number sign is no register.
        let is_free = !text[..text.len() - rest.len()].ends_with([':', '#', '%']);
        let reg = (is_word && n_words > 0 && is_free).then(|| register(isa, word)).flatten();
        n_words += usize::from(is_word);
        parts.push((word, reg));
        rest = after;
    }
    parts
}

fn register(isa: Isa, word: &str) -> Option<(Reg, bool)> {
    let is_half = isa == Isa::A64 && word.starts_with('w');
    let name = match (isa, word) {
        (Isa::A64, _) if is_half => word.replacen('w', "x", 1),
        (Isa::A32 | Isa::T32, "sb") => "r9".to_owned(),
        (Isa::A32 | Isa::T32, "sl") => "r10".to_owned(),
        (Isa::A32 | Isa::T32, "fp") => "r11".to_owned(),
        _ => word.to_owned(),
    };
    let reg = isa.register(&name)?;
    is_general(isa, reg).then_some((reg, is_half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_results_and_of_operands_are_told_apart() {
        let word = 0x8b02_0c42_u32; // add x2, x2, x2, lsl #3
        let add = Isa::A64.decode(0, &word.to_le_bytes()).expect("it is an instruction");
        let [x2, x9, x10] = ["x2", "x9", "x10"].map(|it| Isa::A64.register(it).expect("a name"));
        let names = NewNames { read: vec![(x2, x9)], written: vec![(x2, x10)] };
        assert_eq!(words(Isa::A64, &add.text, &add, &names), "add x10, x9, x9, lsl #3");
        let line = "\tadd\tw2, w2, w2, lsl 3";
        assert_eq!(words(Isa::A64, line, &add, &names), "\tadd\tw10, w9, w9, lsl 3");
        let symbol = "\tadd\tx2, x2, :lo12:x2";
        assert_eq!(words(Isa::A64, symbol, &add, &names), "\tadd\tx10, x9, :lo12:x2");
    }
}

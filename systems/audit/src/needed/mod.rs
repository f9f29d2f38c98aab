//! Is it needed? One kind of answer a file; each looks at the whole function and says what it
//! found.

mod boolean;
mod call;
mod dead_store;
mod dead_value;
mod flag_idiom;
mod immediate;
mod jump;
mod redundant_extension;
pub mod shorter;
mod spill;
mod twice;

use std::collections::BTreeMap;

use crate::decode::code::{Class, Instruction, Reg, Role};
use crate::facts::bits::{Bits, Writer};
use crate::facts::cases::entries;
use crate::finding::{Finding, Kind};
use crate::program::function::Function;

/// What the answers are made from.
#[derive(Debug)]
pub struct Subject<'a> {
    pub function: &'a Function,
    /// Its known and demanded bits.
    pub bits: Bits,
    /// For each instruction: it lies on the hot path. All do if nothing is known about paths.
    pub is_hot: Vec<bool>,
    /// For each instruction: more than the layout says that control seldom comes there.
    pub is_seldom: Vec<bool>,
    /// It returns in one register, or in more; none if nobody says what it returns.
    pub has_one_result: Option<bool>,
    /// Functions that are called and whose code is here, with the number of their instructions.
    pub callees: BTreeMap<String, Callee>,
}

/// A function that is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callee {
    pub n_instructions: usize,
    /// It has no call and no branch.
    pub is_straight: bool,
    /// It has no line information, while its caller has: it was written in assembly.
    pub is_assembly: bool,
    /// A compiler could have made it: it keeps the conventions of calls, and its return is not part
    /// of a statement, as a naked function's is.
    pub is_ordinary: bool,
}

/// All findings, in the order of the code.
pub fn needed(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    redundant_extension::find(subject, &mut findings);
    dead_value::find(subject, &mut findings);
    flag_idiom::find(subject, &mut findings);
    immediate::find(subject, &mut findings);
    boolean::find(subject, &mut findings);
    spill::find(subject, &mut findings);
    dead_store::find(subject, &mut findings);
    call::find(subject, &mut findings);
    twice::find(subject, &mut findings);
    jump::find(subject, &mut findings);
    shorter::find(subject, &mut findings);
    findings.sort_by_key(|finding| (finding.idx, finding.kind));
    // One instruction is not needed for one reason: what is dead need not be anything else.
    let dead: Vec<usize> = findings
        .iter()
        .filter(|finding| finding.kind == Kind::DeadValue)
        .map(|finding| finding.idx)
        .collect();
    findings.retain(|finding| finding.kind == Kind::DeadValue || !dead.contains(&finding.idx));
    // What was spilled is there twice because of that.
    let reloads: Vec<usize> = findings
        .iter()
        .filter(|finding| finding.kind == Kind::Reload)
        .map(|finding| finding.idx)
        .collect();
    findings
        .retain(|finding| finding.kind != Kind::ComputedTwice || !reloads.contains(&finding.idx));
    findings
}

impl<'a> Subject<'a> {
    /// Nothing is known but the code.
    pub fn of(function: &'a Function) -> Subject<'a> {
        let n = function.instructions.len();
        Subject {
            function,
            bits: Bits::of(function),
            is_hot: vec![true; n],
            is_seldom: vec![false; n],
            has_one_result: None,
            callees: BTreeMap::new(),
        }
    }

    fn at(&self, idx: usize) -> &'a Instruction {
        &self.function.instructions[idx]
    }

    fn name(&self, reg: Reg) -> &'static str {
        self.function.isa.register_name(reg)
    }

    fn is_flag(&self, reg: Reg) -> bool {
        self.function.isa.conventions().flags.contains(&reg)
    }

    /// Of Thumb: the function has a word that ARMv6-M lacks. Calls, barriers and special
    /// registers are all that it has in 32 bits, its immediates are bytes, and what it
    /// computes sets flags anyway.
    fn has_wide_words(&self) -> bool {
        let is_newer = |instruction: &Instruction| {
            instruction.length == 4 && !matches!(instruction.class, Class::Call | Class::System)
        };
        self.function.instructions.iter().any(is_newer)
    }

    /// An instruction as text with its line, for sentences.
    fn named(&self, idx: usize) -> String {
        match self.line(idx) {
            Some(line) => format!("`{}` (line {line})", self.at(idx).text),
            None => format!("`{}` at {:#x}", self.at(idx).text, self.at(idx).address),
        }
    }

    fn line(&self, idx: usize) -> Option<u32> {
        self.function.frames.get(idx)?.first().map(|frame| frame.line)
    }

    /// The instruction stands in a file of assembly that people wrote: a compiler's ends in `.s`.
    /// Where conventions of calls are kept and where a device is, only they know.
    fn is_assembly(&self, idx: usize) -> bool {
        let frame = self.function.frames.get(idx).and_then(|frames| frames.first());
        frame.is_some_and(|frame| frame.file.ends_with(".S"))
    }

    /// A finding about instruction `idx` that costs one issue slot.
    fn finding(&self, idx: usize, kind: Kind, why: String) -> Finding {
        let instruction = format!("`{}`", self.at(idx).text);
        Finding::new(idx, kind, instruction, why)
    }

    /// An instruction after `idx` that reads `reg` in the same straight piece, before it is
    /// written again, is such a one.
    fn is_read_by(&self, idx: usize, reg: Reg, is_meant: impl Fn(&Instruction) -> bool) -> bool {
        for instruction in &self.function.instructions[idx + 1..] {
            if instruction.reads.iter().any(|read| read.reg == reg) && is_meant(instruction) {
                return true;
            }
            let is_over = instruction.writes.iter().any(|write| write.reg == reg);
            if is_over || !matches!(instruction.flow, crate::decode::code::Flow::Next) {
                return false;
            }
        }
        false
    }

    /// The instruction that wrote `reg` last before `idx`, if it is one on all ways.
    fn writer(&self, idx: usize, reg: Reg) -> Option<usize> {
        match self.bits.before(idx, reg).writer {
            Writer::At(place) => Some(place),
            Writer::Caller | Writer::Several => None,
        }
    }

    /// The instructions after `idx` that read `reg` before it is written again: in this straight
    /// piece only; `None` if control leaves it before.
    fn readers(&self, idx: usize, reg: Reg) -> Option<Vec<usize>> {
        let mut readers = Vec::new();
        for (place, instruction) in self.function.instructions.iter().enumerate().skip(idx + 1) {
            if instruction.reads.iter().any(|read| read.reg == reg) {
                readers.push(place);
            }
            if self.bits.demanded(place, reg) == 0 {
                return Some(readers);
            }
            if !matches!(instruction.flow, crate::decode::code::Flow::Next) {
                return None;
            }
        }
        None
    }

    /// True if `idx` and `to` lie in one piece without branches in, out or between.
    fn is_straight(&self, idx: usize, to: usize) -> bool {
        let entries = entries(self.function);
        let enters = |place: usize| {
            entries[place] || (0..entries.len()).any(|from| self.function.leads(from, place))
        };
        let stays = |place: usize| matches!(self.at(place).flow, crate::decode::code::Flow::Next);
        idx <= to && (idx..to).all(stays) && !(idx + 1..=to).any(enters)
    }

    /// True if nothing between the two writes `reg`.
    fn is_kept(&self, reg: Reg, idx: usize, to: usize) -> bool {
        !self.function.instructions[idx + 1..to]
            .iter()
            .any(|instruction| instruction.writes.iter().any(|write| write.reg == reg))
    }
}

fn is_load(instruction: &Instruction) -> bool {
    matches!(instruction.class, Class::Load | Class::LoadSlow) && instruction.accesses.len() == 1
}

fn reads_as(instruction: &Instruction, reg: Reg, role: Role) -> bool {
    instruction.reads.iter().any(|read| read.reg == reg && read.role == role)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Isa;

    /// A32 words as a function, and what is found in it: place, kind, why.
    pub fn found(words: &[u32]) -> Vec<(usize, Kind, String)> {
        found_on(Isa::A32, words)
    }

    pub fn found_on(isa: Isa, words: &[u32]) -> Vec<(usize, Kind, String)> {
        let function = function_on(isa, words);
        needed(&Subject::of(&function))
            .into_iter()
            .map(|finding| (finding.idx, finding.kind, finding.why))
            .collect()
    }

    /// The places at which a kind is found.
    pub fn places(words: &[u32], kind: Kind) -> Vec<usize> {
        found(words).into_iter().filter(|pair| pair.1 == kind).map(|pair| pair.0).collect()
    }

    /// The same for words of another instruction set.
    pub fn places_on(isa: Isa, words: &[u32], kind: Kind) -> Vec<usize> {
        found_on(isa, words).into_iter().filter(|pair| pair.1 == kind).map(|pair| pair.0).collect()
    }

    pub fn function(words: &[u32]) -> Function {
        function_on(Isa::A32, words)
    }

    pub fn function_on(isa: Isa, words: &[u32]) -> Function {
        let bytes =
            |word: &u32| if isa == Isa::Sparc { word.to_be_bytes() } else { word.to_le_bytes() };
        let decoded =
            words.iter().enumerate().map(|(idx, word)| isa.decode(4 * idx as u64, &bytes(word)));
        let instructions: Vec<Instruction> =
            decoded.map(|decoded| decoded.unwrap_or_else(|error| panic!("{error}"))).collect();
        let frames = vec![Vec::new(); instructions.len()];
        Function {
            name: "f".into(),
            isa,
            instructions,
            frames,
            callees: BTreeMap::new(),
            is_cold: false,
            constants: Default::default(),
            tables: Default::default(),
            cases: Default::default(),
            arguments: Default::default(),
            addresses: Default::default(),
        }
    }

    pub const RETURN: u32 = 0xe12f_ff1e; // bx lr
}

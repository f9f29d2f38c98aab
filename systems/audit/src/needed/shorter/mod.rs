//! Instructions in whose place one would do, or none.
//!
//! ```text
//! lsr w0, w0, #4      ubfx w0, w0, #4, #4
//! and w0, w0, #15
//!
//! slli a2, a2, 32     nothing: a2 came from `lbu` and has zeros there
//! srli a2, a2, 32
//! ```
//!
//! What a form could be is tried, not listed: [`values`] makes every operation of the words at hand,
//! [`accesses`] every pair and moved base, and the decoder says which of them are instructions. Each
//! is then proved: the code is run on [`meaning`](crate::facts::meaning) with and without the
//! change, and all that anything reads afterwards is the same function of what was there before.

mod accesses;
mod values;

use super::Subject;
use crate::decode::Isa;
use crate::decode::code::{Delay, Flow, Instruction, Op, Reg, Value};
use crate::facts::bits::Bits;
use crate::facts::cases::entries;
use crate::facts::meaning::{Meaning, State};
use crate::finding::{Finding, Kind};

/// Instructions between the first and the last of those that are replaced.
const REACH: usize = 12;

/// Another way to compute what some instructions do.
#[derive(Debug)]
pub struct Shortening {
    /// Those that go, in ascending order; the last of them is where the code is told of.
    pub removed: Vec<usize>,
    /// What stands in place of one of them; nothing if all can go.
    pub replacement: Option<(usize, Instruction)>,
    /// What has to hold besides, and no word shows.
    pub provided: Vec<String>,
    /// It holds for these instructions by themselves, whatever the code before them computes.
    pub is_alone: bool,
}

impl Shortening {
    fn new(removed: Vec<usize>, replacement: Option<(usize, Instruction)>) -> Shortening {
        Shortening { removed, replacement, provided: Vec::new(), is_alone: false }
    }
}

pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let taken: Vec<usize> = findings.iter().map(|finding| finding.idx).collect();
    findings.extend(changes(subject, taken).iter().map(|change| told(subject, change)));
}

/// All changes that leave the instructions `taken` alone, and each other's.
pub fn changes(subject: &Subject<'_>, mut taken: Vec<usize>) -> Vec<Shortening> {
    let mut changes = Vec::new();
    // Of SPARC and x86-64 the forms are not written down.
    if matches!(subject.function.isa, Isa::Sparc | Isa::X86) {
        return changes;
    }
    let one_result = Bits::with_one_result(subject.function);
    let n = subject.function.instructions.len();
    taken.extend((0..n).filter(|idx| ends_address(subject, *idx)));
    for run in runs(subject) {
        let mut piece = StraightRun::new(subject, run.clone());
        for idx in run {
            let change = piece.change(idx).or_else(|| piece.with_one_result(&one_result, idx));
            let is_open =
                |change: &Shortening| !change.removed.iter().any(|idx| taken.contains(idx));
            if let Some(change) = change.filter(is_open) {
                taken.extend(&change.removed);
                let is_alone = piece.is_alone(&change, &one_result);
                changes.push(Shortening { is_alone, ..change });
            }
        }
    }
    changes
}

/// It adds what an address lies behind the beginning of its page, as a linker wrote it: nothing,
/// for some of them.
fn ends_address(subject: &Subject<'_>, idx: usize) -> bool {
    let adds_nothing = subject
        .at(idx)
        .operation
        .filter(|operation| operation.op == Op::Add && operation.b == Value::Const(0));
    let base = adds_nothing.and_then(|operation| match operation.a {
        Value::Reg(base) => subject.writer(idx, base),
        _ => None,
    });
    base.is_some_and(|writer| subject.at(writer).text.starts_with("adrp "))
}

/// Code that is entered at its first instruction only and that nothing leaves but branches.
fn runs(subject: &Subject<'_>) -> Vec<std::ops::Range<usize>> {
    let function = subject.function;
    let n = function.instructions.len();
    let mut begins = entries(function);
    begins.iter_mut().zip(function.led_to()).for_each(|(begins, is)| *begins |= is);
    let mut runs = Vec::new();
    let mut first = 0;
    for (idx, begins) in begins.into_iter().enumerate() {
        if begins && first < idx {
            runs.push(first..idx);
            first = idx;
        }
        if !is_followed(subject, idx) {
            runs.push(first..idx);
            first = idx + 1;
        }
    }
    runs.push(first..n);
    runs.retain(|run| !run.is_empty() && subject.bits.is_reached(run.start));
    runs
}

/// Nothing but its own registers and accesses counts, and it comes to the next one, or branches.
fn is_followed(subject: &Subject<'_>, idx: usize) -> bool {
    let it = subject.at(idx);
    let is_branch = matches!(it.flow, Flow::Branch { is_conditional: true, .. });
    !it.is_barrier()
        && (it.flow == Flow::Next || is_branch)
        && it.delay == Delay::None
        && !subject.function.is_patched(idx)
}

/// One run and what its registers hold.
struct StraightRun<'a> {
    subject: &'a Subject<'a>,
    /// What is read of it.
    bits: &'a Bits,
    first: usize,
    meaning: Meaning,
    /// Before each instruction of the run, and after the last one.
    states: Vec<State>,
}

impl<'a> StraightRun<'a> {
    fn new(subject: &'a Subject<'a>, run: std::ops::Range<usize>) -> StraightRun<'a> {
        let mut meaning = Meaning::new(subject.function.isa);
        let mut state = meaning.start();
        let mut is_seen = [false; 256];
        for read in run.clone().flat_map(|idx| &subject.at(idx).reads) {
            let is_new = !std::mem::replace(&mut is_seen[usize::from(read.reg.0)], true);
            if is_new && !subject.is_flag(read.reg) {
                meaning.knows(&mut state, read.reg, subject.bits.before(run.start, read.reg));
            }
        }
        let mut states = vec![state.clone()];
        for idx in run.clone() {
            step(&mut meaning, &mut state, idx, subject.at(idx));
            states.push(state.clone());
        }
        StraightRun { subject, bits: &subject.bits, first: run.start, meaning, states }
    }

    /// What could stand there if no caller reads a second register. What nobody but a caller can
    /// read was made for one.
    fn with_one_result(&mut self, bits: &'a Bits, idx: usize) -> Option<Shortening> {
        let is_known = self.subject.has_one_result;
        if is_known == Some(false) || bits.is_dead(self.subject.function, idx) {
            return None;
        }
        let second = *self.subject.function.isa.conventions().results.get(1)?;
        let first = self.first.max(idx.saturating_sub(REACH));
        let differs = |at| bits.demanded(at, second) != self.bits.demanded(at, second);
        if !(first..=idx).any(differs) {
            return None;
        }
        self.bits = bits;
        let change = self.change(idx);
        self.bits = &self.subject.bits;
        let mut change = change?;
        if is_known.is_none() {
            change.provided.push(format!("if {} is no result", self.subject.name(second)));
        }
        Some(change)
    }

    fn before(&self, idx: usize) -> &State {
        &self.states[idx - self.first]
    }

    fn after(&self, idx: usize) -> &State {
        &self.states[idx + 1 - self.first]
    }

    /// The first instruction that a window with `idx` at its end may have: nothing is left in
    /// between by a branch or a fault.
    fn reaches(&self, idx: usize) -> usize {
        let leaves = |at: &usize| {
            self.subject.at(*at).flow != Flow::Next || self.subject.function.fixup(*at).is_some()
        };
        let from = self.first.max(idx.saturating_sub(REACH));
        (from..idx).rev().find(leaves).map_or(from, |at| at + 1)
    }

    /// What could stand in place of `idx` and of those before it that nothing else needs.
    fn change(&mut self, idx: usize) -> Option<Shortening> {
        let instruction = self.subject.at(idx);
        if instruction.is_guarded() || self.subject.function.fixup(idx).is_some() {
            return None;
        }
        if self.is_needless(idx) {
            return Some(Shortening::new(vec![idx], None));
        }
        if self.subject.function.isa == Isa::T32 && !self.subject.has_wide_words() {
            return accesses::narrow(self, idx);
        }
        if instruction.accesses.is_empty() && instruction.operation.is_some() {
            values::shorter(self, idx).or_else(|| accesses::moved_base(self, idx))
        } else {
            accesses::shorter(self, idx)
        }
    }

    /// All that it writes is there already, in the bits that are read.
    fn is_needless(&mut self, idx: usize) -> bool {
        let instruction = self.subject.at(idx);
        let is_plain = instruction.operation.is_some()
            && instruction.accesses.is_empty()
            && instruction.flow == Flow::Next
            && !instruction.is_filler()
            && !instruction.writes.is_empty();
        is_plain && !self.subject.bits.is_dead(self.subject.function, idx) && {
            let (mut before, after) = (self.before(idx).clone(), self.after(idx).clone());
            before.taken = None;
            self.is_same(idx, &before, &after)
        }
    }

    /// All that is read after instruction `idx` is the same in both states.
    fn is_same(&mut self, idx: usize, one: &State, other: &State) -> bool {
        one.memory == other.memory
            && one.taken == other.taken
            && one.registers().chain(other.registers()).all(|reg| {
                let demanded = self.bits.demanded(idx, reg);
                demanded == 0 || self.meaning.is_same(one, other, reg, demanded)
            })
    }

    /// The code does the same with the change, up to and with `last`.
    fn is_proved(&mut self, change: &Shortening, last: usize) -> bool {
        let first = change.removed[0];
        let mut state = self.before(first).clone();
        for idx in first..=last {
            if let Some((_, replacement)) = change.replacement.as_ref().filter(|(at, _)| *at == idx)
            {
                step(&mut self.meaning, &mut state, idx, replacement);
            } else if !change.removed.contains(&idx) {
                step(&mut self.meaning, &mut state, idx, self.subject.at(idx));
            }
        }
        let after = self.after(last).clone();
        self.is_same(last, &after, &state)
    }

    /// The change is proved without the code before it.
    fn is_alone(&self, change: &Shortening, one_result: &'a Bits) -> bool {
        let last = *change.removed.last().expect("a change removes something");
        let mut own = StraightRun::new(self.subject, change.removed[0]..last + 1);
        let is_proved = own.is_proved(change, last);
        own.bits = one_result;
        is_proved || !change.provided.is_empty() && own.is_proved(change, last)
    }

    /// The stack pointer, which an interrupt may find between any two instructions.
    fn is_stack(&self, reg: Reg) -> bool {
        self.subject.function.isa.conventions().stack_pointer == reg
    }
}

/// One step; an address that is counted from the code itself is no number that another instruction
/// may make, since the code may lie elsewhere.
fn step(meaning: &mut Meaning, state: &mut State, idx: usize, instruction: &Instruction) {
    let is_relative = instruction.text.starts_with("adr")
        || instruction.text.starts_with("auipc")
        || instruction.text.contains(", pc");
    if is_relative {
        meaning.step(state, idx, &Instruction { operation: None, ..instruction.clone() });
    } else {
        meaning.step(state, idx, instruction);
    }
}

/// The finding that tells of a change.
fn told(subject: &Subject<'_>, change: &Shortening) -> Finding {
    let (&last, before) = change.removed.split_last().expect("a change removes something");
    let named: Vec<String> = before.iter().map(|idx| subject.named(*idx)).collect();
    let with = match &named[..] {
        [] => String::new(),
        [one] => format!("with {one}, "),
        [first, rest @ ..] => format!("with {first} and {}, ", rest.join(" and ")),
    };
    let provided: String = change.provided.iter().map(|provided| format!(", {provided}")).collect();
    let why = match &change.replacement {
        Some((_, it)) => {
            let n = change.removed.len();
            format!("{with}{n} instructions for what `{}` does alone{provided}", it.text)
        }
        None => format!("{with}what it computes is there already{provided}"),
    };
    let why = match change.is_alone {
        true => why,
        false => format!("{why}; the code before them makes it so"),
    };
    let mut finding = subject.finding(last, Kind::FewerInstructions, why);
    finding.fill = change.replacement.as_ref().map(|(_, it)| format!("`{}`", it.text));
    finding.cycles = (change.removed.len() - usize::from(change.replacement.is_some())) as u32;
    finding
}

#[cfg(test)]
mod tests {
    use super::super::tests::places_on;
    use super::*;

    /// Where an object lies in its page, only the linker knows.
    #[test]
    fn the_second_half_of_an_address_is_needed() {
        // adrp x0, #0x1000, or ldr x0, [x1]; then add x0, x0, #0; ret
        let told = |first: u32| {
            places_on(Isa::A64, &[first, 0x9100_0000, 0xd65f_03c0], Kind::FewerInstructions)
        };
        assert_eq!((told(0xb000_0000), told(0xf940_0020)), (vec![], vec![1]));
    }
}

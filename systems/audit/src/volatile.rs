//! Findings about accesses each of which stays, because the source says `volatile` or because a
//! device is there: they are counted.

use std::collections::BTreeSet;

use crate::audit::Audit;
use crate::decode::code::{Access, Flow, Reg};
use crate::facts::bits::{Bits, Writer, low};
use crate::finding::{Finding, Kind, Moot};
use crate::program::addresses::pair_of_halves;
use crate::program::function::Function;
use crate::views::text::Sources;

/// What is said of accesses: that one of them could go, or be one with another.
fn asks_for_less(found: &Finding) -> bool {
    matches!(
        found.kind,
        Kind::ComputedTwice | Kind::DeadValue | Kind::DeadStore | Kind::FewerInstructions
    )
}

/// Takes findings of accesses away whose line has one of these names of `volatile` objects.
pub fn count_volatile(audit: &mut Audit, names: &BTreeSet<String>, sources: &Sources) {
    let function = &audit.function;
    let is_word = |word: &str| word == "volatile" || names.contains(word);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let line = |idx: usize| {
        let frame = function.frames[idx].first()?;
        sources.get(&frame.file)?.get((frame.line as usize).checked_sub(1)?)
    };
    let says_so = |idx: usize| {
        line(idx).is_some_and(|line| line.split(|letter| !is_letter(letter)).any(is_word))
    };
    let accesses = |idx: usize| !function.instructions[idx].accesses.is_empty();
    let is_fixed = |idx: usize| accesses(idx) && says_so(idx);
    let mut unfilled = BTreeSet::new();
    for found in audit.findings.iter_mut().filter(|found| found.kind == Kind::Stall) {
        // Such an access passes no other, so it fills nothing.
        let n = found.fillers.len();
        found.fillers.retain(|(idx, _)| !is_fixed(*idx));
        if found.fillers.len() < n {
            let names: Vec<&str> = found.fillers.iter().map(|(_, name)| &name[..]).collect();
            found.fill = (!names.is_empty()).then(|| names.join(", "));
            unfilled.extend(names.is_empty().then_some(found.idx));
        }
    }
    let is_volatile = |found: &Finding| match found.kind {
        Kind::Stall => {
            let asks = found.prevents.as_ref().is_some_and(|why| why.contains("`volatile`"));
            asks && says_so(found.idx)
                || found.mover.is_some_and(is_fixed)
                || unfilled.contains(&found.idx)
        }
        _ => asks_for_less(found) && is_fixed(found.idx),
    };
    let is_asm = |found: &Finding| {
        let words = ["asm", "__asm", "__asm__"];
        let mut own =
            line(found.idx).into_iter().flat_map(|line| line.split(|letter| !is_letter(letter)));
        asks_for_less(found) && own.any(|word| words.contains(&word))
    };
    let moots = audit.findings.iter().map(|found| match found {
        _ if is_volatile(found) => Some(Moot::Volatile),
        _ if is_asm(found) => Some(Moot::Asm),
        _ => None,
    });
    let moots = moots.collect();
    count(audit, moots);
}

/// Takes findings of accesses away whose address is a number at which the program has nothing.
pub fn count_devices(audit: &mut Audit, has: impl Fn(u64) -> bool) {
    if !audit.findings.iter().any(asks_for_less) {
        return;
    }
    let function = &audit.function;
    let bits = Bits::of(function);
    let is_outside = |idx: usize, access: &Access| {
        let base = access.base.filter(|_| access.index.is_none());
        let base = base.and_then(|base| fixed(function, &bits, idx, base));
        base.is_some_and(|base| !has(base.wrapping_add_signed(access.disp)))
    };
    let is_device = |found: &Finding| {
        let accesses = &function.instructions[found.idx].accesses;
        asks_for_less(found) && accesses.iter().any(|access| is_outside(found.idx, access))
    };
    let moots = audit.findings.iter().map(|found| is_device(found).then_some(Moot::Device));
    let moots = moots.collect();
    count(audit, moots);
}

/// The number that a register holds before instruction `idx`, if code says it.
fn fixed(function: &Function, bits: &Bits, idx: usize, reg: Reg) -> Option<u64> {
    let known = bits.before(idx, reg);
    let all = low(function.isa.conventions().bits);
    match known.writer {
        _ if known.zeros | known.ones == all => Some(known.ones),
        Writer::At(place) => {
            let address = function.instructions[place].address;
            let loaded = function.constants.get(&address).map(|value| u64::from(*value));
            loaded.or_else(|| pair_of_halves(&function.instructions, place, function.isa))
        }
        Writer::Caller | Writer::Several => None,
    }
}

/// Takes these findings away, and those that something is not read but by what one of them is about.
fn count(audit: &mut Audit, mut moots: Vec<Option<Moot>>) {
    for nth in (0..audit.findings.len()).rev() {
        let found = &audit.findings[nth];
        let reader = (found.kind == Kind::DeadValue && moots[nth].is_none())
            .then(|| reader(&audit.function, found.idx))
            .flatten();
        if let Some(reader) = reader {
            let mut of_reader =
                audit.findings.iter().zip(&moots).filter(|(found, _)| found.idx == reader);
            moots[nth] = of_reader.find_map(|(_, moot)| *moot);
        }
    }
    for moot in moots.iter().flatten() {
        *audit.moot.entry(*moot).or_default() += 1;
    }
    let mut moots = moots.into_iter();
    audit.findings.retain(|_| moots.next() == Some(None));
}

/// The next instruction that reads what this one writes.
fn reader(function: &Function, idx: usize) -> Option<usize> {
    let mut written: Vec<Reg> =
        function.instructions[idx].writes.iter().map(|write| write.reg).collect();
    let flags = function.isa.conventions().flags;
    written.retain(|reg| !flags.contains(reg));
    for (at, instruction) in function.instructions.iter().enumerate().skip(idx + 1) {
        if instruction.reads.iter().any(|read| written.contains(&read.reg)) {
            return Some(at);
        }
        written.retain(|reg| instruction.writes.iter().all(|write| write.reg != *reg));
        if written.is_empty() || instruction.flow != Flow::Next {
            return None;
        }
    }
    None
}

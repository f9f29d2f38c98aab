//! Values and loads that are computed again although they were there.
//!
//! ```text
//! ldr r3, [r0, #8]     int x = p->next->a + p->next->b;
//! ldr r2, [r3]
//! ldr r3, [r0, #8]     again: nothing stored between
//! ldr r3, [r3, #4]     node *n = p->next; int x = n->a + n->b;
//! ```

use std::collections::{BTreeSet, HashMap};

use super::Subject;
use crate::decode::code::{Access, Class, Extension, Flow, Op, Operation, Reg, Role, Value};
use crate::facts::bits::Writer;
use crate::facts::cases::entries;
use crate::facts::frame::StackFrame;
use crate::facts::spills::in_own_frame;
use crate::finding::{Finding, Kind, Way};

/// A value by its number; equal numbers are equal values.
type Number = u32;

/// What a value is computed from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Load { base: Number, disp: i64, width: u8, is_signed: bool, to: u8 },
    Operation { op: String, width: u8, a: Part, b: Part },
}

impl Key {
    /// What a load loads.
    fn bytes(&self) -> Option<Bytes> {
        match *self {
            Key::Load { base, disp, width, .. } => Some(Bytes { base, disp, width }),
            Key::Operation { .. } => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Number(Number),
    Const(u64),
    Shifted(Number, u8, u8),
    Extended(Number, Extension, u8),
}

/// All of them, in pieces that only their first instruction can be entered at.
pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let mut is_entered = entries(subject.function);
    is_entered.iter_mut().zip(subject.function.led_to()).for_each(|(entered, is)| *entered |= is);
    let reach = FrameReach::of(subject);
    let mut piece = Piece::default();
    for (idx, entered) in is_entered.iter().enumerate() {
        if *entered || subject.function.is_opaque(idx) {
            piece = Piece { next: piece.next, ..Piece::default() };
        }
        findings.extend(piece.step(subject, &reach, idx));
    }
}

/// What is known in one piece.
#[derive(Debug, Default)]
struct Piece {
    next: Number,
    values: HashMap<Reg, Number>,
    computed: HashMap<Key, (Number, usize)>,
    /// Stores, and what else may have changed what was loaded before.
    changes: Vec<MemoryChange>,
}

/// Which instructions go to the frame.
struct FrameReach {
    frame: StackFrame,
    /// Those that go to slots which no pointer leads to.
    own: BTreeSet<usize>,
}

impl FrameReach {
    fn of(subject: &Subject<'_>) -> FrameReach {
        let frame = StackFrame::of(subject.function);
        FrameReach { own: in_own_frame(subject.function, &frame), frame }
    }

    /// What is stored at `store` is not what is loaded at `load`: what is spilled changes no
    /// object, and a pointer changes nothing that is spilled.
    fn is_apart(&self, subject: &Subject<'_>, store: usize, load: usize) -> bool {
        if self.own.contains(&load) {
            let by_frame = |access: &Access| {
                access.base.is_some_and(|base| self.frame.pointer(store, base, 0).is_some())
            };
            let is_argument = |access: &Access| {
                self.frame.slot(load, access).is_some_and(|slot| slot.is_argument())
            };
            !self.own.contains(&store)
                && !subject.at(store).accesses.iter().any(by_frame)
                && (subject.at(load).accesses.iter().all(is_argument)
                    || !may_be_its_own(subject, store, load))
        } else {
            self.own.contains(&store) || is_push(subject, store)
        }
    }
}

/// What may have changed what was loaded before.
#[derive(Debug, Clone, Copy)]
struct MemoryChange {
    at: usize,
    /// What it writes, if that is known.
    bytes: Option<Bytes>,
    /// The value that it stores as a whole.
    stored: Option<Number>,
}

impl MemoryChange {
    /// It leaves these bytes, which hold `value`, as they are. An access lies where a multiple of
    /// its width is, so another one of the same width is to all of them or to none.
    fn leaves(&self, loaded: Bytes, value: Number) -> bool {
        self.bytes.is_some_and(|bytes| {
            bytes.is_apart(loaded) || bytes.width == loaded.width && self.stored == Some(value)
        })
    }
}

/// Bytes of memory, by a distance from a value.
#[derive(Debug, Clone, Copy)]
struct Bytes {
    base: Number,
    disp: i64,
    width: u8,
}

impl Bytes {
    /// None of these bytes is one of the others: both lie at a known distance from one value.
    fn is_apart(self, other: Bytes) -> bool {
        let end = |bytes: Bytes| bytes.disp.saturating_add(i64::from(bytes.width));
        self.base == other.base && (end(self) <= other.disp || end(other) <= self.disp)
    }
}

impl Piece {
    fn fresh(&mut self) -> Number {
        self.next += 1;
        self.next
    }

    fn value(&mut self, reg: Reg) -> Number {
        if let Some(number) = self.values.get(&reg) {
            return *number;
        }
        let number = self.fresh();
        self.values.insert(reg, number);
        number
    }

    fn part(&mut self, value: Value) -> Part {
        match value {
            Value::Reg(reg) => Part::Number(self.value(reg)),
            Value::Const(it) => Part::Const(it),
            Value::Shifted(reg, shift, by) => Part::Shifted(self.value(reg), shift as u8, by),
            Value::Extended(reg, of, by) => Part::Extended(self.value(reg), of, by),
        }
    }

    fn step(&mut self, subject: &Subject<'_>, reach: &FrameReach, idx: usize) -> Option<Finding> {
        let instruction = subject.at(idx);
        let key = self.key(subject, idx);
        let bits = subject.function.isa.conventions().bits;
        let copied = instruction
            .operation
            .filter(|operation| !instruction.is_guarded() && operation.width == bits)
            .and_then(moved)
            .map(|from| self.value(from));
        let written: Vec<Option<Bytes>> = instruction
            .accesses
            .iter()
            .filter(|access| access.is_store)
            .map(|access| self.bytes(access.base.filter(|_| access.index.is_none()), access))
            .collect();
        let stored = stored(subject, idx).map(|reg| self.value(reg));
        let known = key.as_ref().and_then(|key| self.computed.get(key).copied());
        let store =
            known.and_then(|known| self.change(subject, reach, known, idx, key.as_ref()?.bytes()?));
        // What a store may have changed may be another value.
        let number = copied
            .or(known.filter(|_| store.is_none()).map(|known| known.0))
            .unwrap_or_else(|| self.fresh());
        // What comes back from the frame was no longer in its register: it is a reload, or what is
        // kept for the caller.
        let is_stored = |at: usize| subject.at(at).accesses.iter().any(|access| access.is_store);
        let comes_back = |before: usize| {
            reach.own.contains(&idx) && reach.own.contains(&before) && is_stored(before)
        };
        let is_changed = store.is_some_and(|store| may_be_its_own(subject, store, idx));
        let is_other = |known: &(Number, usize)| comes_back(known.1) || is_changed;
        let finding = known.filter(|known| !is_other(known) && !is_by_frame(subject, idx)).map(
            |(number, before)| {
                let is_kept = self.values.values().any(|held| *held == number);
                again(subject, idx, before, is_kept, store)
            },
        );
        for write in &instruction.writes {
            let is_result = instruction.operation.and_then(|operation| operation.result)
                == Some(write.reg)
                && !instruction.is_guarded();
            let number = if is_result { number } else { self.fresh() };
            self.values.insert(write.reg, number);
        }
        if let Some(key) = key {
            self.computed.insert(key, (number, idx));
        }
        let is_call = matches!(instruction.flow, Flow::Call { .. });
        if is_call {
            self.values.clear();
        }
        for bytes in written.iter().flatten() {
            self.computed.retain(|key, _| {
                key.bytes().is_none_or(|byte| byte.base != bytes.base || byte.is_apart(*bytes))
            });
        }
        if let (Some(number), [Some(bytes)], false) =
            (stored, &written[..], instruction.is_guarded())
        {
            let Bytes { base, disp, width } = *bytes;
            for is_signed in [false, true] {
                self.computed
                    .insert(Key::Load { base, disp, width, is_signed, to: bits }, (number, idx));
            }
        }
        let changes = written.into_iter().map(|bytes| MemoryChange { at: idx, bytes, stored });
        self.changes.extend(changes);
        if is_call || instruction.is_barrier() {
            // What others may have written since is not what it was.
            self.changes.push(MemoryChange { at: idx, bytes: None, stored: None });
            self.computed.retain(|key, _| !matches!(key, Key::Load { .. }));
        }
        finding
    }

    fn bytes(&mut self, base: Option<Reg>, access: &Access) -> Option<Bytes> {
        Some(Bytes { base: self.value(base?), disp: access.disp, width: access.width })
    }

    /// The instruction's value as a key, if it is one that could have been kept.
    fn key(&mut self, subject: &Subject<'_>, idx: usize) -> Option<Key> {
        let instruction = subject.at(idx);
        let operation = instruction.operation.filter(|_| !instruction.is_guarded())?;
        let result = operation.result?;
        if let Op::Load { is_signed } = operation.op {
            let [access] = instruction.accesses[..] else { return None };
            let base = access.base.filter(|_| access.index.is_none())?;
            // A loaded register that is its own base is another value afterwards; the key is of
            // before.
            let base = self.value(base);
            return Some(Key::Load {
                base,
                disp: access.disp,
                width: access.width,
                is_signed,
                to: operation.width,
            });
        }
        let trivial = matches!(operation.a, Value::Const(_))
            && (operation.op == Op::Not || matches!(operation.b, Value::Const(_)));
        let reads_flags = instruction.reads.iter().any(|read| subject.is_flag(read.reg));
        let stack = subject.function.isa.conventions().stack_pointer;
        if trivial
            || operation.op == Op::Move
            || moved(operation).is_some()
            || reads_flags
            || result == stack
        {
            return None;
        }
        let (a, b) = (self.part(operation.a), self.part(operation.b));
        Some(Key::Operation { op: format!("{:?}", operation.op), width: operation.width, a, b })
    }

    /// The last of those after `before` that may have changed these bytes, which `idx` loads and
    /// which held the number then.
    fn change(
        &self,
        subject: &Subject<'_>,
        reach: &FrameReach,
        (number, before): (Number, usize),
        idx: usize,
        loaded: Bytes,
    ) -> Option<usize> {
        let may_change = |change: &&MemoryChange| {
            !reach.is_apart(subject, change.at, idx) && !change.leaves(loaded, number)
        };
        let mut since = self.changes.iter().rev().take_while(|change| change.at > before);
        since.find(may_change).map(|change| change.at)
    }
}

/// What goes to a place that it takes from the stack changes no object: nobody points there yet.
fn is_push(subject: &Subject<'_>, at: usize) -> bool {
    let stack = subject.function.isa.conventions().stack_pointer;
    let instruction = subject.at(at);
    instruction.accesses.iter().all(|access| access.is_store)
        && instruction.accesses.iter().all(|access| access.base == Some(stack))
        && instruction.base_moves.is_some_and(|by| by < 0)
        && instruction.writes.iter().any(|write| write.reg == stack)
}

/// The finding that `idx` computes what `before` did, whose register may hold another value since,
/// unless `store` changed it.
fn again(
    subject: &Subject<'_>,
    idx: usize,
    before: usize,
    is_kept: bool,
    store: Option<usize>,
) -> Finding {
    let has =
        if is_kept { "has it already" } else { "had it, in a register that was written since" };
    let is_load = !subject.at(idx).accesses.is_empty();
    let mut finding =
        subject.finding(idx, Kind::ComputedTwice, format!("{} {has}", subject.named(before)));
    if let Some(store) = store {
        finding.why += ", but a store came between";
        finding.prevents = Some(format!(
            "{} may change the object: the compiler cannot know that it does not",
            subject.named(store)
        ));
    }
    // What is computed again no line shows, nor what comes again from a variable's own place.
    let stack = subject.function.isa.conventions().stack_pointer;
    let is_variable = subject.at(idx).accesses.iter().all(|access| access.base == Some(stack));
    if is_load && (store.is_some() || !is_variable) {
        finding.ways = vec![Way::LocalCopy, Way::Restrict];
    }
    finding
}

/// What the stack pointer leads to at `idx` may be the very object that `store` writes by a pointer,
/// as a variable that is copied byte by byte: the pointer is not known to come from elsewhere.
fn may_be_its_own(subject: &Subject<'_>, store: usize, idx: usize) -> bool {
    let stack = subject.function.isa.conventions().stack_pointer;
    let by_stack =
        |at: usize| subject.at(at).accesses.iter().all(|access| access.base == Some(stack));
    if !by_stack(idx) || by_stack(store) {
        return false;
    }
    let may_point = |base: Reg| match subject.bits.before(store, base).writer {
        Writer::Caller => false,
        Writer::At(writer) => {
            let reads = subject.at(writer).reads.iter().any(|read| read.reg == stack);
            reads || by_stack(writer) && !subject.at(writer).accesses.is_empty()
        }
        Writer::Several => true,
    };
    subject.at(store).accesses.iter().filter_map(|access| access.base).any(may_point)
}

/// It loads by a register that only ever points into the frame, whatever the conventions call it: a
/// spill slot, of which no line shows a load.
fn is_by_frame(subject: &Subject<'_>, idx: usize) -> bool {
    let stack = subject.function.isa.conventions().stack_pointer;
    let [access] = subject.at(idx).accesses[..] else { return false };
    let Some(base) = access.base.filter(|base| *base != stack && access.index.is_none()) else {
        return false;
    };
    let from_stack = |operation: Operation| {
        matches!(operation.op, Op::Move | Op::Add | Op::Sub) && operation.a == Value::Reg(stack)
    };
    let all = subject.function.instructions.iter();
    // What comes back for the caller is loaded by the stack pointer.
    let mut writers = all.filter(|instruction| {
        instruction.writes.iter().any(|write| write.reg == base)
            && instruction.accesses.iter().all(|access| access.base != Some(stack))
    });
    let moves = |operation: Operation| {
        operation.a == Value::Reg(base) && matches!(operation.b, Value::Const(_))
    };
    let mut is_made = false;
    let is_kept = writers.all(|writer| match writer.operation {
        Some(operation) if from_stack(operation) => {
            is_made = true;
            true
        }
        operation => operation.is_some_and(moves),
    });
    is_kept && is_made
}

/// The register that a plain store writes as a whole into one place, if it is done.
fn stored(subject: &Subject<'_>, idx: usize) -> Option<Reg> {
    let instruction = subject.at(idx);
    let [access] = instruction.accesses[..] else { return None };
    let mut data = instruction.reads.iter().filter(|read| read.role == Role::Data);
    let (Some(read), None) = (data.next(), data.next()) else { return None };
    let is_whole =
        u64::from(access.width) * 8 == u64::from(subject.function.isa.conventions().bits);
    (access.is_store && is_whole && instruction.class == Class::Store).then_some(read.reg)
}

/// The register that is only copied: by a move, or by adding nothing, as RISC-V moves.
fn moved(operation: Operation) -> Option<Reg> {
    match (operation.op, operation.a, operation.b) {
        (Op::Move, Value::Reg(from), _) => Some(from),
        (Op::Add | Op::Or, Value::Reg(from), Value::Const(0))
        | (Op::Add | Op::Or, Value::Const(0), Value::Reg(from)) => Some(from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::needed;
    use super::super::tests::{RETURN, found, found_on, function_on, places, places_on};
    use super::*;
    use crate::decode::Isa;
    use crate::program::function::SourceFrame;

    const NEXT3: u32 = 0xe590_3008; // ldr r3, [r0, #8]
    const NEXT2: u32 = 0xe590_2008; // ldr r2, [r0, #8]
    const SUM: u32 = 0xe083_0002; // add r0, r3, r2
    const STORE: u32 = 0xe581_4000; // str r4, [r1]

    #[test]
    fn a_load_again() {
        let all = found(&[NEXT3, NEXT2, SUM, RETURN]);
        assert_eq!((all[0].0, all[0].1), (1, Kind::ComputedTwice));
        assert_eq!(all[0].2, "`ldr r3, [r0, #8]` at 0x0 has it already");
    }

    #[test]
    fn a_store_between_may_change_it() {
        let all = found(&[NEXT3, STORE, NEXT2, SUM, RETURN]);
        assert_eq!(all[0].2, "`ldr r3, [r0, #8]` at 0x0 has it already, but a store came between");
    }

    #[test]
    fn a_store_beside_it_does_not() {
        // str r3, [r0, #12], and str r3, [r0, #9].
        let why = |store: u32| found(&[NEXT3, store, NEXT2, SUM, RETURN])[0].2.clone();
        assert_eq!(why(0xe580_300c), "`ldr r3, [r0, #8]` at 0x0 has it already");
        // Neither is it said of one that changes a part of it.
        assert!(places(&[NEXT3, 0xe580_3009, NEXT2, SUM, RETURN], Kind::ComputedTwice).is_empty());
        // The one before it may: str r4, [r1]; str r3, [r0, #12].
        let all = found(&[NEXT3, STORE, 0xe580_300c, NEXT2, SUM, RETURN]);
        assert_eq!(all[0].2, "`ldr r3, [r0, #8]` at 0x0 has it already, but a store came between");
    }

    /// A variable that is copied byte by byte changes.
    #[test]
    fn a_store_through_a_pointer_to_a_variable_is_no_store_between() {
        // sub sp, sp, #16; mov x6, x1; the pointer; ldr x4, [sp, #8]; strb w2, [x3];
        // ldr x5, [sp, #8]; add x0, x4, x5; add sp, sp, #16; ret
        let twice = |pointer: u32, again: u32| {
            let words = [
                0xd100_43ff,
                0xaa01_03e6,
                pointer,
                0xf940_07e4,
                0x3900_0062,
                again,
                0x8b05_0080,
                0x9100_43ff,
                0xd65f_03c0,
            ];
            places_on(Isa::A64, &words, Kind::ComputedTwice)
        };
        const VARIABLE: u32 = 0xf940_07e5;
        // add x3, sp, #8; ldr x3, [sp]; add x3, sp, #9
        for own in [0x9100_23e3, 0xf940_03e3, 0x9100_27e3] {
            assert!(twice(own, VARIABLE).is_empty(), "{own:#x}");
        }
    }

    /// What is found computed twice in words whose lines are those of a file.
    fn twice_in(isa: Isa, name: &str, file: &str, words: &[u32]) -> Option<String> {
        let mut function = function_on(isa, words);
        let frame =
            SourceFrame { function: name.split('.').next()?.into(), file: file.into(), line: 7 };
        function.name = name.into();
        function.frames = vec![vec![frame]; words.len()];
        let all = needed(&Subject::of(&function));
        all.into_iter().find(|finding| finding.kind == Kind::ComputedTwice).map(|twice| twice.why)
    }

    #[test]
    fn no_pointer_changes_an_argument_on_the_stack() {
        // ldr r3, [sp]; str r4, [r1]; ldr r2, [sp]
        let code = [0xe59d_3000, STORE, 0xe59d_2000, SUM, RETURN];
        let why = |name: &str, file: &str| twice_in(Isa::A32, name, file, &code);
        assert_eq!(why("f", "f.c").as_deref(), Some("`ldr r3, [sp]` (line 7) has it already"));
        // In assembly, and in what is split off, the caller's variables lie there.
        for (name, file) in
            [("f", "f.S"), ("f", "f.asm"), ("f.cold", "f.c"), ("OUTLINED_FUNCTION_1", "f.c")]
        {
            let why = why(name, file);
            assert!(why.is_some_and(|why| why.ends_with("a store came between")), "{name} {file}");
        }
        // add r6, sp, #0: its address is known. And add r6, sp, #4, that of the next one.
        let of = |taken: u32| {
            twice_in(Isa::A32, "f", "f.c", &[taken, code[0], STORE, code[2], SUM, RETURN])
        };
        assert!(of(0xe28d_6000).is_some_and(|why| why.ends_with("a store came between")));
        assert_eq!(of(0xe28d_6004).as_deref(), Some("`ldr r3, [sp]` (line 7) has it already"));
    }

    #[test]
    fn no_pointer_to_a_variable_changes_an_argument_on_the_stack() {
        // sub sp, sp, #96; add x3, sp, ..; ldr x4, [sp, #96]; strb w2, [x3]; ldr x5, [sp, #96];
        // add x0, x4, x5; add sp, sp, #96; ret
        let why = |pointer: u32| {
            let words = [
                0xd101_83ff,
                pointer,
                0xf940_33e4,
                0x3900_0062,
                0xf940_33e5,
                0x8b05_0080,
                0x9101_83ff,
                0xd65f_03c0,
            ];
            twice_in(Isa::A64, "f", "f.c", &words)
        };
        // add x3, sp, #8
        let known = "`ldr x4, [sp, #96]` (line 7) has it already";
        assert_eq!(why(0x9100_23e3).as_deref(), Some(known));
        // add x3, sp, #80: right below it lies what came in registers, perhaps of one object.
        assert_eq!(why(0x9101_43e3), None);
    }

    /// Where a frame is larger than an immediate, an argument's address is a sum in two steps.
    #[test]
    fn an_address_in_two_steps_may_be_an_arguments() {
        // sub sp, sp, #4352; add x3, sp, #4096; add x3, x3, ..; ldr x4, [sp, #4352];
        // strb w2, [x3]; ldr x5, [sp, #4352]; add x0, x4, x5; add sp, sp, #4352; ret
        let why = |second: u32| {
            let words = [
                0xd140_07ff,
                0xd104_03ff,
                0x9140_07e3,
                second,
                0xf948_83e4,
                0x3900_0062,
                0xf948_83e5,
                0x8b05_0080,
                0x9140_07ff,
                0x9104_03ff,
                0xd65f_03c0,
            ];
            twice_in(Isa::A64, "f", "f.c", &words)
        };
        // nop; add x3, x3, #256
        let known = "`ldr x4, [sp, #4352]` (line 7) has it already";
        assert_eq!(why(0xd503_201f).as_deref(), Some(known));
        assert!(why(0x9104_0063).is_some_and(|why| why.ends_with("a store came between")));
    }

    #[test]
    fn no_pointer_changes_a_slot_whose_address_is_not_known() {
        // sub sp, sp, #8; ldr r3, [sp, #4]; str r4, [r1]; ldr r2, [sp, #4]; add r0, r3, r2; add sp,
        // sp, #8
        let words = [0xe24d_d008, 0xe59d_3004, STORE, 0xe59d_2004, SUM, 0xe28d_d008, RETURN];
        let why = |words: &[u32]| twice_in(Isa::A32, "f", "f.c", words);
        assert_eq!(why(&words).as_deref(), Some("`ldr r3, [sp, #4]` (line 7) has it already"));
        // str r3, [sp, r2] goes to some slot.
        let indexed = [&words[..2], &[0xe78d_3002], &words[3..]].concat();
        assert!(why(&indexed).is_some_and(|why| why.ends_with("a store came between")));
    }

    /// `prev->next = handle->next` changes `handle->next` to what it is.
    #[test]
    fn a_store_of_the_very_value_changes_nothing() {
        // ldr r3, [r0, #8]; str r3, [r1, #8]; ldr r2, [r0, #8], and with str r4.
        let why = |store: u32| found(&[NEXT3, store, NEXT2, SUM, RETURN])[0].2.clone();
        let known = "`ldr r3, [r0, #8]` at 0x0 has it already";
        assert_eq!(why(0xe581_3008), known);
        assert_eq!(why(0xe581_4008), format!("{known}, but a store came between"));
        // Nor does one that may not be done: strne r3, [r1, #8].
        assert_eq!(why(0x1581_3008), known);
        // Half of it is another value: strh r3, [r1, #8].
        assert_eq!(why(0xe1c1_30b8), format!("{known}, but a store came between"));
        // ldr x3, [x0, #8]; str x3, [x1]; ldr x2, [x0, #8]; add x0, x3, x2; ret, and with str x4.
        let again = |store: u32| {
            let words = [0xf940_0403, store, 0xf940_0402, 0x8b02_0060, 0xd65f_03c0];
            let all = found_on(Isa::A64, &words);
            all.into_iter().find(|found| found.1 == Kind::ComputedTwice).map(|found| found.2)
        };
        let ends = |store: u32, end: &str| again(store).is_some_and(|why| why.ends_with(end));
        assert!(ends(0xf900_0023, "has it already") && ends(0xf900_0024, "a store came between"));
    }

    /// Where registers are pushed to, no pointer leads.
    #[test]
    fn a_push_between_changes_no_object() {
        // push {r4, lr}, and at the end pop {r4, pc}
        let all = found(&[NEXT3, 0xe92d_4010, NEXT2, SUM, 0xe8bd_8010]);
        let twice = all.iter().find(|found| found.1 == Kind::ComputedTwice);
        assert_eq!(
            twice.map(|found| &found.2[..]),
            Some("`ldr r3, [r0, #8]` at 0x0 has it already")
        );
    }

    #[test]
    fn what_is_spilled_between_changes_no_object() {
        let why = |words: &[u32]| {
            found(words)
                .iter()
                .find(|pair| pair.1 == Kind::ComputedTwice)
                .map(|pair| pair.2.clone())
        };
        // sub sp, sp, #8; ldr r3, [r0, #8]; str r4, [sp, #4]; ldr r2, [r0, #8]; add r0, r3, r2; add
        // sp, sp, #8
        let spilled = |store: u32| [0xe24d_d008, NEXT3, store, NEXT2, SUM, 0xe28d_d008, RETURN];
        let kept = why(&spilled(0xe58d_4004));
        assert_eq!(kept.as_deref(), Some("`ldr r3, [r0, #8]` at 0x4 has it already"));
        // A slot below an object whose address is known is none of it: add r1, sp, #8; str r3, [sp,
        // #4].
        let below = [0xe24d_d010, 0xe28d_1008, NEXT3, 0xe58d_4004, NEXT2, SUM, 0xe28d_d010, RETURN];
        assert_eq!(why(&below).as_deref(), Some("`ldr r3, [r0, #8]` at 0x8 has it already"));
        // Above the frame are the caller's objects: str r4, [sp, #12]. And the address of the frame
        // may be known: mov r1, sp.
        assert!(
            why(&spilled(0xe58d_400c)).is_some_and(|why| why.ends_with("a store came between"))
        );
        let known = [0xe24d_d008, 0xe1a0_100d, NEXT3, 0xe58d_4004, NEXT2, SUM, 0xe28d_d008, RETURN];
        assert!(why(&known).is_some_and(|why| why.ends_with("a store came between")));
        // A slot that is loaded twice with another between: ldr r3, [sp]; str r1, [sp, r2]; ldr r2,
        // [sp].
        let slots = [0xe24d_d008, 0xe59d_3000, 0xe78d_1002, 0xe59d_2000, SUM, 0xe28d_d008, RETURN];
        assert!(
            why(&slots).is_some_and(|why| why.ends_with("a store came between")),
            "{:?}",
            why(&slots)
        );
    }

    /// The register was needed for something else: that is a reload, and no
    /// value is computed twice.
    #[test]
    fn what_comes_back_from_the_frame_is_not_there_already() {
        // sub sp, sp, #8; str r4, [sp, #4]; ldr r4, [r0, #8]; ldr r4, [sp, #4]; add sp, sp, #8
        let kept = [0xe24d_d008, 0xe58d_4004, 0xe590_4008, 0xe59d_4004, 0xe28d_d008, RETURN];
        assert!(places(&kept, Kind::ComputedTwice).is_empty());
        // sub sp, sp, #48; str x21, [sp, #32]; ldr x21, [x0, #40]; ldrh w0, [x21]; ldr x21, [sp,
        // #32]; add sp, sp, #48; ret
        let kept = [
            0xd100_c3ff,
            0xf900_13f5,
            0xf940_1415,
            0x7940_02a0,
            0xf940_13f5,
            0x9100_c3ff,
            0xd65f_03c0,
        ];
        assert!(places_on(Isa::A64, &kept, Kind::ComputedTwice).is_empty());
        // An object is loaded though it was stored: str r4, [r1, #4]; ldr r0, [r1, #4].
        let object = [0xe581_4004, 0xe591_0004, RETURN];
        assert_eq!(places(&object, Kind::ComputedTwice), [1]);
    }

    #[test]
    fn what_was_stored_is_what_is_loaded() {
        // ldr r3, [r0, #8]; add r2, r3, #1; str r2, [r0, #8]; ldr r3, [r0, #8]; add r1, r3, #1:
        // another sum.
        let count = [NEXT3, 0xe283_2001, 0xe580_2008, NEXT3, 0xe283_1001, 0xe082_0001, RETURN];
        let all = found(&count);
        assert_eq!(all.iter().map(|pair| pair.0).collect::<Vec<_>>(), [3], "{all:?}");
        assert_eq!(all[0].2, "`str r2, [r0, #8]` at 0x8 has it already");
        // Nor are sums of what a store may have changed: ldr r3; add r2, r3, #1; str r2, [r1]; ldr
        // r3; add r1, r3, #1.
        let maybe = [NEXT3, 0xe283_2001, 0xe581_2000, NEXT3, 0xe283_1001, 0xe082_0001, RETURN];
        assert_eq!(places(&maybe, Kind::ComputedTwice), [3]);
    }

    #[test]
    fn moves_and_constants_are_no_work() {
        // mv a0, s1; mv a1, s1; li a2, 0; li a3, 0
        for word in [[0x0004_8513, 0x0004_8593], [0x0000_0613, 0x0000_0693]] {
            let [a, b] = word.map(|number: u32| {
                Isa::Riscv64
                    .decode(0, &number.to_le_bytes())
                    .expect("it is one")
                    .operation
                    .expect("known")
            });
            let is_constant = |operation: Operation| {
                matches!((operation.a, operation.b), (Value::Const(_), Value::Const(_)))
            };
            assert!([a, b].iter().all(|it| moved(*it).is_some() || is_constant(*it)), "{a:?}");
        }
    }

    #[test]
    fn through_another_value_of_the_register_it_is_another_load() {
        assert!(places(&[NEXT3, 0xe280_0004, NEXT2, SUM, RETURN], Kind::ComputedTwice).is_empty()); // add r0, r0, #4
        assert!(places(&[NEXT3, 0xe590_200c, SUM, RETURN], Kind::ComputedTwice).is_empty()); // ldr r2, [r0, #12]
    }

    #[test]
    fn a_value_again() {
        // and r3, r1, #12; and r2, r1, #12
        assert_eq!(places(&[0xe201_300c, 0xe201_200c, SUM, RETURN], Kind::ComputedTwice), [1]);
        assert!(places(&[0xe201_300c, 0xe201_2008, SUM, RETURN], Kind::ComputedTwice).is_empty());
    }

    /// As where an object is copied by a base that is counted on.
    #[test]
    fn a_register_that_was_written_since_has_it_no_more() {
        // and r3, r1, #12; add r3, r3, #4; and r2, r1, #12
        let all = found(&[0xe201_300c, 0xe283_3004, 0xe201_200c, SUM, RETURN]);
        let twice = all.iter().find(|found| found.1 == Kind::ComputedTwice);
        let why = twice.map(|found| found.2.as_str());
        assert_eq!(
            why,
            Some("`and r3, r1, #12` at 0x0 had it, in a register that was written since")
        );
    }

    #[test]
    fn what_is_entered_from_elsewhere_knows_nothing() {
        // cmp r1, #0; beq to the second load
        assert!(
            places(&[0xe351_0000, 0x0a00_0000, NEXT3, NEXT2, SUM, RETURN], Kind::ComputedTwice)
                .is_empty()
        );
    }
}

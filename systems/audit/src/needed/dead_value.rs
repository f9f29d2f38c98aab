//! Instructions whose results are not read.
//!
//! ```text
//! mov r3, #0           overwritten before anybody reads it
//! ldr r3, [r0]
//! ```

use super::Subject;
use crate::decode::code::{Class, Flow, Op, Value};
use crate::finding::{Finding, Kind, Moot};

pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for (idx, instruction) in subject.function.instructions.iter().enumerate() {
        let writes = instruction.writes.iter().any(|write| !subject.is_flag(write.reg));
        let is_nop = instruction.class == Class::Nop
            || instruction.is_filler()
            || !writes && instruction.writes.is_empty();
        if is_nop || !subject.bits.is_reached(idx) || !subject.bits.is_dead(subject.function, idx) {
            continue;
        }
        // No compiler leaves a load that nobody reads: it brings back what somebody keeps whose
        // convention is another.
        if subject.is_assembly(idx) && instruction.accesses.iter().any(|access| !access.is_store) {
            continue;
        }
        let names: Vec<&str> =
            instruction.writes.iter().map(|write| subject.name(write.reg)).collect();
        let what = if writes { names.join(", ") } else { "the flags".to_owned() };
        let by = subject.function.isa.name();
        if makes_frame_pointer(subject, idx) {
            let why = format!(
                "only who walks the stack reads {what} behind it: debuggers, profilers, unwinders without tables"
            );
            let mut finding = subject.finding(idx, Kind::DeadValue, why);
            finding.moot = Some(Moot::FramePointer);
            findings.push(finding);
            continue;
        }
        let reader = reader(subject, idx);
        let why = match reader {
            Some(reader) => format!(
                "only {} reads {what}, and nobody reads what that makes",
                subject.named(reader)
            ),
            None => format!("nobody reads {what} behind it"),
        };
        findings.push(subject.finding(
            idx,
            Kind::DeadValue,
            format!("{why} (demanded bits, by the {by} calling convention)"),
        ));
    }
}

/// The next that reads what this writes, if nothing leads elsewhere before: itself dead.
fn reader(subject: &Subject<'_>, idx: usize) -> Option<usize> {
    let mut written: Vec<_> = subject.at(idx).writes.iter().map(|write| write.reg).collect();
    // While the flags are the same, what its own condition excludes is not done after it.
    let mut guard = subject.at(idx).guard;
    for at in idx + 1..subject.function.instructions.len() {
        let instruction = subject.at(at);
        let writes_flags =
            |place: usize| subject.at(place).writes.iter().any(|write| subject.is_flag(write.reg));
        guard = guard.filter(|_| !writes_flags(at - 1));
        let is_excluded =
            guard.zip(instruction.guard).is_some_and(|(one, other)| one.excludes(other));
        if !is_excluded && instruction.reads.iter().any(|read| written.contains(&read.reg)) {
            return Some(at);
        }
        if !instruction.is_guarded() {
            written.retain(|reg| instruction.writes.iter().all(|write| write.reg != *reg));
        }
        if written.is_empty() || instruction.flow != Flow::Next {
            return None;
        }
    }
    None
}

/// The frame pointer is made from the stack pointer, as at the beginning of a function.
fn makes_frame_pointer(subject: &Subject<'_>, idx: usize) -> bool {
    let conventions = subject.function.isa.conventions();
    let Some(operation) = subject.at(idx).operation else { return false };
    let is_stack = operation.a == Value::Reg(conventions.stack_pointer);
    is_stack
        && operation.result.is_some()
        && operation.result == conventions.frame_pointer
        && matches!(operation.op, Op::Move | Op::Add)
}

#[cfg(test)]
mod tests {
    use super::super::needed;
    use super::super::tests::{RETURN, found, function, places, places_on};
    use super::*;
    use crate::decode::Isa;
    use crate::program::function::SourceFrame;

    #[test]
    fn overwritten_before_it_is_read() {
        assert_eq!(places(&[0xe3a0_3000, 0xe590_3000, 0xe1a0_0003, RETURN], Kind::DeadValue), [0]); // mov r3, #0
    }

    /// In assembly a load that nobody reads brings back what somebody else keeps.
    #[test]
    fn what_assembly_restores_is_read() {
        // ldr r3, [r0]; mov r0, #2; bx lr
        let words = [0xe590_3000, 0xe3a0_0002, RETURN];
        let dead = |file: &str| {
            let mut function = function(&words);
            let frame = SourceFrame { function: "f".to_owned(), file: file.to_owned(), line: 1 };
            function.frames = vec![vec![frame]; words.len()];
            let all = needed(&Subject::of(&function));
            all.iter().filter(|found| found.kind == Kind::DeadValue).count()
        };
        assert_eq!((dead("restore.S"), dead("f.c")), (0, 1));
    }

    /// Who takes a trap for itself finds in registers what the handler is to know.
    #[test]
    fn what_a_trap_handler_of_its_own_finds_is_read() {
        // mv a3, a1; csrrw a2, mtvec, a2; csrr a0, 0x7a5; csrw mtvec, a2; ret, and with mscratch
        let words = |number: u32| {
            [
                0x0005_8693,
                number << 20 | 0x0006_1673,
                0x7a50_2573,
                number << 20 | 0x0006_1073,
                0x0000_8067,
            ]
        };
        let dead = |number| places_on(Isa::Riscv64, &words(number), Kind::DeadValue);
        assert_eq!((dead(0x305), dead(0x340)), (vec![], vec![0]));
    }

    #[test]
    fn a_chain_of_them() {
        // mov r3, #0; add r3, r3, #1; mov r0, #2
        assert_eq!(
            places(&[0xe3a0_3000, 0xe283_3001, 0xe3a0_0002, RETURN], Kind::DeadValue),
            [0, 1]
        );
    }

    /// What is read is not said to be read by nobody.
    #[test]
    fn only_something_dead_reads_it() {
        let why = |words: &[u32]| {
            found(words)
                .into_iter()
                .find(|pair| pair.0 == 0 && pair.1 == Kind::DeadValue)
                .map(|pair| pair.2)
        };
        let by = "(demanded bits, by the a32 calling convention)";
        // mov r3, #64; ldr r3, [r3]; mov r0, #2
        let load = why(&[0xe3a0_3040, 0xe593_3000, 0xe3a0_0002, RETURN]);
        assert_eq!(
            load,
            Some(format!(
                "only `ldr r3, [r3]` at 0x4 reads r3, and nobody reads what that makes {by}"
            ))
        );
        // mov r3, #0; mov r2, #1; add r3, r3, r2; mov r0, #2
        let sum = why(&[0xe3a0_3000, 0xe3a0_2001, 0xe083_3002, 0xe3a0_0002, RETURN]);
        assert_eq!(
            sum,
            Some(format!(
                "only `add r3, r3, r2` at 0x8 reads r3, and nobody reads what that makes {by}"
            ))
        );
        // mov r3, #0; mov r3, #1; add r3, r3, #1: the first is written over.
        let over = why(&[0xe3a0_3000, 0xe3a0_3001, 0xe283_3001, 0xe3a0_0002, RETURN]);
        assert_eq!(over, Some(format!("nobody reads r3 behind it {by}")));
    }

    /// Of two whose conditions exclude each other one is not done: it reads nothing.
    #[test]
    fn what_is_not_done_reads_nothing() {
        let why = |words: &[u32]| {
            found(words)
                .into_iter()
                .find(|pair| pair.0 == 1 && pair.1 == Kind::DeadValue)
                .map(|pair| pair.2)
        };
        let by = "(demanded bits, by the a32 calling convention)";
        // cmp r0, #0; movne r3, #0; addeq r3, r3, #1; mov r0, #2
        let other = why(&[0xe350_0000, 0x13a0_3000, 0x0283_3001, 0xe3a0_0002, RETURN]);
        assert_eq!(other, Some(format!("nobody reads r3 behind it {by}")));
        // The same under `hi`, which implies `ne`; and under `eq` of other flags: cmp r1, #0 stands
        // between.
        let same = why(&[0xe350_0000, 0x13a0_3000, 0x8283_3001, 0xe3a0_0002, RETURN]);
        assert_eq!(
            same,
            Some(format!(
                "only `addhi r3, r3, #1` at 0x8 reads r3, and nobody reads what that makes {by}"
            ))
        );
        let later = why(&[0xe350_0000, 0x13a0_3000, 0xe351_0000, 0x0283_3001, 0xe3a0_0002, RETURN]);
        assert_eq!(
            later,
            Some(format!(
                "only `addeq r3, r3, #1` at 0xc reads r3, and nobody reads what that makes {by}"
            ))
        );
    }

    #[test]
    fn a_comparison_that_nobody_asks() {
        assert_eq!(places(&[0xe350_0000, RETURN], Kind::DeadValue), [0]); // cmp r0, #0
        assert!(places(&[0xe350_0000, 0x03a0_0001, RETURN], Kind::DeadValue).is_empty()); // moveq r0, #1
    }

    #[test]
    fn results_arguments_and_saved_registers_are_read_by_others() {
        assert!(places(&[0xe3a0_0000, RETURN], Kind::DeadValue).is_empty());
        assert!(places(&[0xe3a0_4000, RETURN], Kind::DeadValue).is_empty()); // mov r4, #0
        assert!(places(&[0xe3a0_2000, 0xea00_0100], Kind::DeadValue).is_empty()); // mov r2, #0; b elsewhere
    }

    #[test]
    fn interrupts_read_the_stack_pointer() {
        // ldr r8, [r11, #-92]; mov sp, r8; sub sp, r11, #32: nobody in the function reads the
        // first.
        assert!(
            places(&[0xe51b_805c, 0xe1a0_d008, 0xe24b_d020, RETURN], Kind::DeadValue).is_empty()
        );
        // The same with r3 in its place.
        assert_eq!(places(&[0xe1a0_3002, 0xe24b_3020, 0xe1a0_0003, RETURN], Kind::DeadValue), [0]);
    }

    #[test]
    fn nothing_was_to_be_done_by_what_does_nothing() {
        // mov r0, r0: ARMv6's place for what is patched in later. mov r3, r3 is no such thing.
        assert!(places(&[0xe1a0_0000, RETURN], Kind::DeadValue).is_empty());
        assert_eq!(places(&[0xe1a0_3003, RETURN], Kind::DeadValue), [0]);
    }

    #[test]
    fn a_frame_pointer_is_for_who_walks_the_stack() {
        // mov r11, sp; mov r11, #0: debuggers may look in between.
        let all = found(&[0xe1a0_b00d, 0xe3a0_b000, RETURN]);
        assert!(all[0].2.starts_with("only who walks the stack reads r11"), "{all:?}");
    }

    #[test]
    fn read_on_one_way_is_read() {
        // mov r3, #0; cmp r0, #0; beq over `mov r3, #1`; mov r0, r3
        assert!(
            places(
                &[0xe3a0_3000, 0xe350_0000, 0x0a00_0000, 0xe3a0_3001, 0xe1a0_0003, RETURN],
                Kind::DeadValue
            )
            .is_empty()
        );
    }
}

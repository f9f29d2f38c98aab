//! Instructions whose results nobody reads.
//!
//! ```text
//! mov r3, #0           overwritten before anybody reads it
//! ldr r3, [r0]
//! ```

use super::Subject;
use crate::decode::code::Class;
use crate::finding::{Edit, Finding, Kind};

/// All of them.
pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for (idx, instruction) in subject.function.instructions.iter().enumerate() {
        let writes = instruction.writes.iter().any(|it| !subject.is_flag(it.reg));
        let is_nop = instruction.class == Class::Nop || !writes && instruction.writes.is_empty();
        if is_nop || !subject.bits.is_reached(idx) || !subject.bits.is_dead(subject.function, idx) {
            continue;
        }
        let names: Vec<&str> = instruction.writes.iter().map(|it| subject.name(it.reg)).collect();
        let what = if writes { names.join(", ") } else { "the flags".to_owned() };
        let by = subject.function.isa.name();
        let mut finding =
            subject.finding(idx, Kind::DeadValue, format!("nobody reads {what} behind it (demanded bits, by the {by} calling convention)"));
        if !instruction.accesses.is_empty() {
            finding.edit = Some(Edit::unverified("leave the load out, unless the object is `volatile`"));
        }
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RETURN, places};
    use super::*;

    #[test]
    fn overwritten_before_it_is_read() {
        assert_eq!(places(&[0xe3a0_3000, 0xe590_3000, 0xe1a0_0003, RETURN], Kind::DeadValue), [0]); // mov r3, #0
    }

    #[test]
    fn a_chain_of_them() {
        // mov r3, #0; add r3, r3, #1; mov r0, #2
        assert_eq!(places(&[0xe3a0_3000, 0xe283_3001, 0xe3a0_0002, RETURN], Kind::DeadValue), [0, 1]);
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
        // ldr r8, [r11, #-92]; mov sp, r8; sub sp, r11, #32: nobody in the function reads the first.
        assert!(places(&[0xe51b_805c, 0xe1a0_d008, 0xe24b_d020, RETURN], Kind::DeadValue).is_empty());
        // The same with r3 in its place.
        assert_eq!(places(&[0xe1a0_3002, 0xe24b_3020, 0xe1a0_0003, RETURN], Kind::DeadValue), [0]);
    }

    #[test]
    fn read_on_one_way_is_read() {
        // mov r3, #0; cmp r0, #0; beq over `mov r3, #1`; mov r0, r3
        assert!(places(&[0xe3a0_3000, 0xe350_0000, 0x0a00_0000, 0xe3a0_3001, 0xe1a0_0003, RETURN], Kind::DeadValue).is_empty());
    }
}

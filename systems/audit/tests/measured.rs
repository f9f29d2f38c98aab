//! What others measured of two cores that LLVM's tables have otherwise: arithmetic of the
//! Cortex-A55, and what starts together on the Cortex-M7.

use crate::support::assembler;

use assembler::assembled;
use audit::decode::Isa;
use audit::facts::trace::Guide;
use audit::timing::licence::Effort;
use audit::timing::time_path;
use machine::in_order::Core;

/// The cycle in which the last instruction starts.
fn last_start(isa: Isa, cpu: &str, lines: &[&str]) -> u32 {
    let function = assembled(isa, &(lines.join("\n") + "\n"));
    let core = Core::bundled(cpu).expect("it is bundled");
    let timed = time_path(&function, &core, &Guide::of(&function), Effort::Bounds)
        .expect("it has instructions");
    *timed.timing.starts.last().expect("it has instructions")
}

/// SLOTHY's table, fitted to a board: a sum is there after a cycle, whoever reads it or its flags.
#[test]
fn arithmetic_of_the_a55_takes_a_cycle() {
    let a55 = |lines: &[&str]| last_start(Isa::A64, "cortex-a55", lines);
    assert_eq!(
        a55(&["adds x1, x1, x2", "adcs x3, x3, x4", "adcs x6, x6, x7", "adc x8, x8, x9"]),
        3
    );
    assert_eq!(a55(&["cmp x0, x1", "csel x2, x3, x4, hi", "str x2, [x5]"]), 2);
    assert_eq!(a55(&["add x1, x1, #8", "ldr x3, [x1]"]), 1);
    // A shifted operand is needed a cycle earlier; a product and a load take as long as before.
    assert_eq!(a55(&["add x1, x1, #8", "add x2, x3, x1, lsl #2"]), 2);
    assert_eq!(a55(&["ldr x1, [x0]", "add x2, x1, #1"]), 3);
    assert_eq!(a55(&["mul x1, x1, x2", "mul x1, x1, x2"]), 3);
}

/// Measured on a STM32H7: `rev` and operations for signals start with another only
/// from the lower address.
#[test]
fn some_instructions_of_the_m7_pair_as_the_first_only() {
    let m7 = |pair: [&str; 2]| last_start(Isa::T32, "cortex-m7", &pair.repeat(8));
    for one in ["rev.w r3, r4", "uadd8 r3, r4, r5", "qadd r3, r4, r5"] {
        assert_eq!(
            (m7(["add.w r0, r1, r2", one]), m7([one, "add.w r0, r1, r2"])),
            (15, 7),
            "{one}"
        );
    }
    assert_eq!(m7(["add.w r0, r1, r2", "add.w r3, r4, r5"]), 7);
}

/// An immediate that is spread from more than its low byte takes the only shifter.
#[test]
fn two_wide_immediates_of_the_m7_do_not_pair() {
    let m7 = |one: &str, other: &str| last_start(Isa::T32, "cortex-m7", &[one, other].repeat(8));
    assert_eq!(m7("and r0, r1, #0x7e0", "and r3, r4, #0x7e0"), 15);
    assert_eq!(m7("and r0, r1, #0x7e", "and r3, r4, #0x7e"), 7);
    assert_eq!(m7("and r0, r1, #0x7e0", "add.w r3, r4, r5"), 7, "one of the two shifts");
}

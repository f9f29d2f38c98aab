//! The Cortex-M cores against the sequences that Arm's manuals time.

use crate::support::assembler;

use assembler::assembled;
use audit::decode::Isa;
use audit::facts::trace::Guide;
use audit::timing::licence::Effort;
use audit::timing::time_path;
use machine::in_order::Core;

/// Cycles of a sequence, and of an addition after it: what is still under way then counts.
fn cycles(cpu: &str, text: &str) -> u32 {
    cycles_on(&Core::bundled(cpu).expect("it is bundled"), &format!("{text}\nadd.w r12, r12, r12"))
        - 1
}

fn cycles_on(core: &Core, text: &str) -> u32 {
    let function = assembled(Isa::T32, text);
    time_path(&function, core, &Guide::of(&function), Effort::Search)
        .expect("it has instructions")
        .cycles
        .total_cycles
}

#[test]
fn loads_and_stores_of_the_m3_and_m4_overlap_as_their_manuals_say() {
    // ARM DDI 0337I and ARM 100166, section 3.3.2, the optimized examples.
    for cpu in ["cortex-m3", "cortex-m4"] {
        assert_eq!(cycles(cpu, "ldr r0, [r1]"), 2);
        assert_eq!(cycles(cpu, "ldr r0, [r1]\nldr r1, [r2]"), 3);
        assert_eq!(cycles(cpu, "ldr.w r0, [r1, r2]\nstr r0, [r3, #20]"), 3);
        assert_eq!(cycles(cpu, "ldr.w r0, [r1, r2]\nstr.w r1, [r3, r2]"), 3);
        assert_eq!(cycles(cpu, "ldr.w r0, [r1, r5]\nldr r1, [r2]\nldr r2, [r3, #4]"), 4);
        // The address of the second is what the first loads.
        assert_eq!(cycles(cpu, "ldr r0, [r1]\nldr r2, [r0]"), 4);
        assert_eq!(cycles(cpu, "str r0, [r1, #4]"), 1);
        assert_eq!(cycles(cpu, "str.w r0, [r1, r2]"), 2);
        assert_eq!(cycles(cpu, "ldrd r0, r1, [r2]"), 3);
        assert_eq!(cycles(cpu, "ldm.w r0, {r1, r2, r3}"), 4);
        assert_eq!(cycles(cpu, "push {r4, r5, lr}"), 4);
        // An address that the instruction before computes.
        assert_eq!(cycles(cpu, "adds r0, r0, r1\nstr r2, [r0]"), 3);
        assert_eq!(cycles(cpu, "adds r0, r0, r1\nstr r2, [r3]"), 2);
    }
}

#[test]
fn products_differ_between_the_m3_and_the_m4() {
    for (cpu, mul, mla, smull) in [("cortex-m3", 1, 2, 3), ("cortex-m4", 1, 1, 1)] {
        let of = |text: &str| cycles(cpu, text);
        assert_eq!(
            (of("mul r0, r1, r2"), of("mla r0, r1, r2, r3"), of("smull r0, r1, r2, r3")),
            (mul, mla, smull),
            "{cpu}"
        );
    }
}

#[test]
fn nothing_overlaps_on_the_m0plus() {
    // ARM DDI 0484C, table 3-1.
    let of = |text: &str| cycles("cortex-m0plus", text);
    assert_eq!(
        (of("ldr r0, [r1]"), of("ldr r0, [r1]\nldr r2, [r3]"), of("str r0, [r1]")),
        (2, 4, 2)
    );
    assert_eq!(
        (of("push {r4, lr}"), of("ldm r0!, {r1, r2, r3}"), of("muls r0, r1, r0")),
        (3, 4, 1)
    );
    let core = Core::bundled("cortex-m0plus").expect("it is bundled");
    assert_eq!((cycles_on(&core, "pop {r4, pc}"), cycles_on(&core, "bx lr")), (5, 2));
}

#[test]
fn the_slides_example_as_thumb() {
    let before = "ldr r0, [r4]\nand r3, r0, #3\ncmp r3, #1\nbeq.w #400\nldr r3, [r12, #-208]\ncmp r3, #0\nbeq.w #400";
    let after = "ldr r0, [r4]\nldr r3, [r12, #-208]\nand r5, r0, #3\ncmp r5, #1\nbeq.w #400\ncmp r3, #0\nbeq.w #400";
    // llvm-mca 19, which lets anything but what needs it follow a load: 9 and 7 on the M4 and the
    // M33; on the M7, where it holds back what would be ready before a branch, 7 and 6.
    for (cpu, cycles) in [
        ("cortex-m4", (9, 8)),
        ("cortex-m33", (9, 7)),
        ("cortex-m7", (6, 5)),
        ("cortex-m0plus", (9, 9)),
    ] {
        let core = Core::bundled(cpu).expect("it is bundled");
        assert_eq!((cycles_on(&core, before), cycles_on(&core, after)), cycles, "{cpu}");
    }
}

#[test]
fn flash_makes_only_those_wait_that_go_elsewhere() {
    let core = Core::bundled("cortex-m4").expect("it is bundled");
    let slow = core.clone().with_flash_wait(4);
    let more = |text: &str| cycles_on(&slow, text) - cycles_on(&core, text);
    assert_eq!(more("adds r0, r0, r1\nldr r1, [r2]\nmul r3, r4, r5"), 0);
    assert_eq!((more("bx lr"), more("pop {r4, pc}"), more("bl #400\nadds r0, r0, r1")), (4, 4, 4));
}

#[test]
fn a_block_stays_where_it_is() {
    let core = Core::bundled("cortex-m4").expect("it is bundled");
    // Only inside the block could something fill the wait for r0.
    let text =
        "ldr r0, [r1]\ncmp r2, #0\nit eq\naddeq r0, r0, #1\nadds r3, r3, #1\nadds r5, r5, #1";
    let function = assembled(Isa::T32, text);
    let path = time_path(&function, &core, &Guide::of(&function), Effort::Search)
        .expect("it has instructions");
    for reached in &path.reached {
        let order: Vec<u32> = {
            let mut all: Vec<u32> = (0..6).collect();
            all.sort_by_key(|at| (reached.timing.starts[*at as usize], *at));
            all
        };
        assert_eq!(
            order.iter().position(|it| *it == 3),
            order.iter().position(|it| *it == 2).map(|idx| idx + 1),
            "{order:?}"
        );
    }
}

//! Accesses that may meet stay in order, and so do those of which both may be done.

use audit::decode::Isa;
use audit::facts::frame::StackFrame;
use audit::facts::trace::{Guide, hot_trace};
use audit::program::function::SourceFrame;
use audit::timing::depend::{Licence, Why, dependences};

use super::{core, function};
use crate::support::made::of_words;

/// Whether the last of these words follows the one before, by any edge.
fn follows(words: &[u32]) -> bool {
    let function = function(words);
    let trace = hot_trace(&Guide::of(&function));
    let edges = dependences(
        &function,
        &StackFrame::of(&function),
        &trace,
        &core("arm1136jf-s"),
        Licence::default(),
    );
    let last = words.len() as u32 - 1;
    edges.iter().any(|edge| (edge.from, edge.to) == (last - 1, last))
}

#[test]
fn of_two_conditions_that_exclude_each_other_one_is_done() {
    const CMP: u32 = 0xe352_0000; // cmp r2, #0
    const MOVNE: u32 = 0x13a0_3000; // movne r3, #0
    // movne r3, #0: ldreq r3, [r3, r2, lsl #2], and moveq r3, #1, which only writes it, and addeq
    // r1, r3, r1, which only reads it.
    assert!(!follows(&[CMP, MOVNE, 0x0793_3102]));
    assert!(!follows(&[CMP, MOVNE, 0x03a0_3001]));
    assert!(!follows(&[CMP, MOVNE, 0x0083_1001]));
    // `hi` implies `ne`, and excludes `eq` and `ls`: addhi r3, r3, #1; moveq r3, #0, and movls r3,
    // #0
    assert!(follows(&[CMP, MOVNE, 0x8283_3001]));
    assert!(!follows(&[CMP, 0x8283_3001, 0x03a0_3000]));
    assert!(!follows(&[CMP, 0x8283_3001, 0x93a0_3000]));
    // Stores to one place: strne r1, [r0]; ldreq r1, [r0], and ldrne r4, [r0]
    assert!(!follows(&[CMP, 0x1580_1000, 0x0590_1000]));
    assert!(follows(&[CMP, 0x1580_1000, 0x1590_4000]));
    // Other flags: movne r3, #0; cmpne r1, #0; addeq r1, r3, r1 may both be done; and a read
    // without a condition is done in any case.
    let function = function(&[CMP, MOVNE, 0x1351_0000, 0x0083_1001]);
    let trace = hot_trace(&Guide::of(&function));
    let edges = dependences(
        &function,
        &StackFrame::of(&function),
        &trace,
        &core("arm1136jf-s"),
        Licence::default(),
    );
    assert!(edges.iter().any(|edge| (edge.from, edge.to) == (1, 3)));
    assert!(follows(&[CMP, MOVNE, 0xe083_1001]));
}

#[test]
fn a_base_that_is_written_back_is_so_far_from_where_it_was() {
    let a32 = |load: u32| {
        // mov r3, r0; ldr r1, [r3], #32; str r1, [r3, #12]; ldr r2, [r0, #..]
        let function = function(&[0xe1a0_3000, 0xe493_1020, 0xe583_100c, load]);
        let trace = hot_trace(&Guide::of(&function));
        let edges = dependences(
            &function,
            &StackFrame::of(&function),
            &trace,
            &core("arm1136jf-s"),
            Licence::default(),
        );
        edges.iter().any(|edge| (edge.from, edge.to, edge.why) == (2, 3, Why::Memory))
    };
    assert!(!a32(0xe590_201c) && a32(0xe590_202c));
    // mov x3, x0; ldp x1, x2, [x3, #32]!; str x1, [x3, #8]; ldr x4, [x0, #40], and #32; the same
    // with stp x1, x2, [x3], #-16, and #-8
    let a64 = |moves: u32, load: u32| {
        stays_behind_in_memory(&[0xaa00_03e3, moves, 0xf900_0461, load], 2, 3)
    };
    assert!(a64(0xa9c2_0861, 0xf940_1404) && !a64(0xa9c2_0861, 0xf940_1004));
    assert!(a64(0xa8bf_0861, 0xf85f_8004) && !a64(0xa8bf_0861, 0xf940_0004));
}

/// Whether the later access of A64 is kept after the earlier because it may be to the same bytes.
fn stays_behind_in_memory(words: &[u32], from: u32, to: u32) -> bool {
    let function = of_words(Isa::A64, words);
    let trace = hot_trace(&Guide::of(&function));
    let edges = dependences(
        &function,
        &StackFrame::of(&function),
        &trace,
        &core("cortex-a53"),
        Licence::default(),
    );
    edges.iter().any(|edge| (edge.from, edge.to, edge.why) == (from, to, Why::Memory))
}

#[test]
fn no_object_of_the_linker_lies_in_the_frame() {
    let follows = |isa: Isa, words: &[u32]| {
        let function = of_words(isa, words);
        let trace = hot_trace(&Guide::of(&function));
        let name = if isa == Isa::A32 { "arm1136jf-s" } else { "sifive-u74" };
        let edges = dependences(
            &function,
            &StackFrame::of(&function),
            &trace,
            &core(name),
            Licence::default(),
        );
        let last = words.len() as u32 - 1;
        edges.iter().any(|edge| (edge.from, edge.to, edge.why) == (last - 1, last, Why::Memory))
    };
    // addi sp, sp, -32; addi a0, sp, 8: its address is known. auipc a5, 0; sd a1, 8(sp); ld a4,
    // 0(a5), and with ld a5, 0(a2) for auipc
    let rv64 = |base: u32| {
        follows(Isa::Riscv64, &[0xfe01_0113, 0x0081_0513, base, 0x00b1_3423, 0x0007_b703])
    };
    assert!(!rv64(0x0000_0797) && rv64(0x0006_3783));
    // sub sp, sp, #32; add r0, sp, #8; ldr r5, [pc, #4], a word of the code; str r1, [sp, #8]; ldr
    // r4, [r5], and with ldr r5, [r2]
    let a32 =
        |base: u32| follows(Isa::A32, &[0xe24d_d020, 0xe28d_0008, base, 0xe58d_1008, 0xe595_4000]);
    assert!(!a32(0xe59f_5004) && a32(0xe592_5000));
}

#[test]
fn no_pointer_leads_to_an_argument_on_the_stack() {
    let follows = |isa: Isa, words: &[u32], file: &str| {
        let mut function = of_words(isa, words);
        let frame = SourceFrame { function: "f".to_owned(), file: file.to_owned(), line: 7 };
        function.frames = vec![vec![frame]; words.len()];
        let trace = hot_trace(&Guide::of(&function));
        let name = if isa == Isa::A32 { "arm1136jf-s" } else { "sifive-u74" };
        let frame = StackFrame::of(&function);
        let edges = dependences(&function, &frame, &trace, &core(name), Licence::default());
        let last = words.len() as u32 - 1;
        edges.iter().any(|edge| (edge.from, edge.to, edge.why) == (last - 1, last, Why::Memory))
    };
    // sub sp, sp, #8; str r3, [r1]; ldr r2, [sp, #8]. In assembly the caller's frame lies there.
    let a32 = [0xe24d_d008, 0xe581_3000, 0xe59d_2008];
    assert!(!follows(Isa::A32, &a32, "f.c") && follows(Isa::A32, &a32, "f.S"));
    // ld a4, 0(a1); sd a4, 0(a4), through a pointer of which nothing is known; ld a5, 0(sp). And
    // with addi a4, sp, 0
    let rv64 = |pointer: u32| follows(Isa::Riscv64, &[pointer, 0x00e7_3023, 0x0001_3783], "f.c");
    assert!(!rv64(0x0005_b703) && rv64(0x0001_0713));
}

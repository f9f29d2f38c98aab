//! Values that conventions of calls want in one register come after who needs the one before.

use std::collections::BTreeSet;

use audit::decode::Isa;
use audit::facts::frame::StackFrame;
use audit::facts::trace::{Guide, hot_trace};
use audit::timing::depend::{Crossing, Licence, dependences};

use super::core;
use crate::support::made::of_words;

/// Whether instruction `to` stays after instruction `from` whatever a compiler, and
/// a programmer, may do.
fn stays_behind(isa: Isa, words: &[u32], from: u32, to: u32) -> bool {
    let function = of_words(isa, words);
    let trace = hot_trace(&Guide::of(&function));
    let full = Licence { renames: true, crosses: Crossing::Promised, reorders_memory: true };
    let name = match isa {
        Isa::A32 => "arm1136jf-s",
        Isa::A64 => "cortex-a53",
        _ => "sifive-u74",
    };
    let edges = dependences(&function, &StackFrame::of(&function), &trace, &core(name), full);
    let mut behind = BTreeSet::from([from]);
    for edge in &edges {
        if behind.contains(&edge.from) {
            behind.insert(edge.to);
        }
    }
    behind.contains(&to)
}

#[test]
fn a_result_is_not_there_while_the_argument_is_read() {
    // ld a5, 8(a0); sd a5, 0(a1); li a0, 0; ret, and with li a4, 0, which nobody wants there
    let rv64 = |write: u32| {
        stays_behind(Isa::Riscv64, &[0x0085_3783, 0x00f5_b023, write, 0x0000_8067], 0, 2)
    };
    assert!(rv64(0x0000_0513) && !rv64(0x0000_0713));
    // ldr x5, [x0, #8]; str x5, [x1]; mov x0, #0; ret, and with mov x4, #0
    let a64 =
        |write: u32| stays_behind(Isa::A64, &[0xf940_0405, 0xf900_0025, write, 0xd65f_03c0], 0, 2);
    assert!(a64(0xd280_0000) && !a64(0xd280_0004));
    // ldr r5, [r0, #8]; str r5, [r1]; mov r0, #0; bx lr, and with mov r3, #0
    let a32 =
        |write: u32| stays_behind(Isa::A32, &[0xe590_5008, 0xe581_5000, write, 0xe12f_ff1e], 0, 2);
    assert!(a32(0xe3a0_0000) && !a32(0xe3a0_3000));
    // The argument's register was given to another value in between, which may have any: mov r0, #7
    // and its reader.
    let words = [0xe590_5008, 0xe581_5000, 0xe3a0_0007, 0xe581_0004, 0xe3a0_0000, 0xe12f_ff1e];
    assert!(stays_behind(Isa::A32, &words, 0, 4) && !stays_behind(Isa::A32, &words, 3, 4));
}

#[test]
fn an_argument_of_a_call_is_not_there_while_the_own_one_is_read() {
    // ld a5, 8(a0); sd a5, 0(a2); mv a0, a1; jal elsewhere; ret, and with mv a3, a1, which is read:
    // it may be anything
    let rv64 = |copy: u32, next: u32| {
        stays_behind(
            Isa::Riscv64,
            &[0x0085_3783, 0x00f6_3023, copy, next, 0x1000_00ef, 0x0000_8067],
            0,
            2,
        )
    };
    assert!(rv64(0x0005_8513, 0x0000_0013));
    assert!(!rv64(0x0005_8693, 0x00d6_3423)); // sd a3, 8(a2)
    // The third argument: ldr r5, [r2]; str r5, [r3]; mov r2, r1; bl elsewhere; bx lr
    assert!(stays_behind(
        Isa::A32,
        &[0xe592_5000, 0xe583_5000, 0xe1a0_2001, 0xeb00_0100, 0xe12f_ff1e],
        0,
        2
    ));
    // A jump in place of a call: ldr x5, [x0]; str x5, [x3]; mov x0, x1; b elsewhere
    assert!(stays_behind(Isa::A64, &[0xf940_0005, 0xf900_0065, 0xaa01_03e0, 0x1400_0100], 0, 2));
}

#[test]
fn a_result_is_not_there_where_a_way_out_wants_the_argument() {
    // ld a5, 0(a0); beqz a5, 4; li a0, 0; ret; 4: ld a0, 16(a0); ret, and with li a4, 0
    let rv64 = |write: u32| {
        stays_behind(
            Isa::Riscv64,
            &[0x0005_3783, 0x0007_8663, write, 0x0000_8067, 0x0105_3503, 0x0000_8067],
            1,
            2,
        )
    };
    assert!(rv64(0x0000_0513) && !rv64(0x0000_0713));
    // ldr r3, [r0]; cmp r3, #0; beq 5; mov r0, #0; bx lr; 5: ldr r0, [r0, #16]; bx lr, and with mov
    // r2, #0
    let a32 = |write: u32| {
        stays_behind(
            Isa::A32,
            &[0xe590_3000, 0xe353_0000, 0x0a00_0001, write, 0xe12f_ff1e, 0xe590_0010, 0xe12f_ff1e],
            2,
            3,
        )
    };
    assert!(a32(0xe3a0_0000) && !a32(0xe3a0_2000));
}

#[test]
fn what_is_the_callers_comes_back_behind_the_last_reader() {
    // sd s0, 8(sp); mv s0, a0; sd s0, 0(a1); ld s0, 8(sp); ret, and with ld t0, 8(sp)
    let rv64 = |load: u32| {
        stays_behind(
            Isa::Riscv64,
            &[0x0081_3423, 0x0005_0413, 0x0085_b023, load, 0x0000_8067],
            2,
            3,
        )
    };
    assert!(rv64(0x0081_3403) && !rv64(0x0081_3283));
    // str x19, [sp, #8]; mov x19, x0; str x19, [x1]; ldr x19, [sp, #8]; ret
    assert!(stays_behind(
        Isa::A64,
        &[0xf900_07f3, 0xaa00_03f3, 0xf900_0033, 0xf940_07f3, 0xd65f_03c0],
        2,
        3
    ));
    // Whoever was interrupted gets every register back: ldr x2, [x2]; str x2, [x3]; ldr x2, [x1];
    // eret
    assert!(stays_behind(Isa::A64, &[0xf940_0042, 0xf900_0062, 0xf940_0022, 0xd69f_03e0], 0, 2));
    assert!(!stays_behind(Isa::A64, &[0xf940_0042, 0xf900_0062, 0xf940_0022, 0xd65f_03c0], 0, 2));
}

#[test]
fn a_register_is_kept_for_the_caller_before_it_is_used() {
    // addi sp, sp, -32; sd s1, 8(sp); mv s1, a0; add a0, a0, s1; ld s1, 8(sp); addi sp, sp, 32;
    // ret, and with mv t1, a0
    let rv64 = |copy: u32| {
        stays_behind(
            Isa::Riscv64,
            &[0xfe01_0113, 0x0091_3423, copy, 0x0095_0533, 0x0081_3483, 0x0201_0113, 0x0000_8067],
            1,
            2,
        )
    };
    assert!(rv64(0x0005_0493) && !rv64(0x0005_0313));
    // stp x19, x20, [sp, #-16]!; mov x20, x1; str x20, [x0]; mov x20, x2; ldp x19, x20, [sp], #16;
    // ret: the second is as free as any.
    let words = [0xa9bf_53f3, 0xaa01_03f4, 0xf900_0014, 0xaa02_03f4, 0xa8c1_53f3, 0xd65f_03c0];
    assert!(stays_behind(Isa::A64, &words, 0, 1) && !stays_behind(Isa::A64, &words, 2, 3));
}

#[test]
fn the_way_back_is_kept_before_the_next_call_is_made_ready() {
    // addi sp, sp, -16; sd ra, 8(sp); auipc ra, 0; jalr ra; ld ra, 8(sp); addi sp, sp, 16; ret, and
    // with auipc t1
    let rv64 = |auipc: u32| {
        stays_behind(
            Isa::Riscv64,
            &[0xff01_0113, 0x0011_3423, auipc, 0x0000_80e7, 0x0081_3083, 0x0101_0113, 0x0000_8067],
            1,
            2,
        )
    };
    assert!(rv64(0x0000_0097));
    // str x30, [sp, #-16]!; mov x30, x1; str x30, [x0]; ldr x30, [sp], #16; ret, and with x9
    let a64 = |mov: u32| {
        stays_behind(Isa::A64, &[0xf81f_0ffe, mov, 0xf900_001e, 0xf841_07fe, 0xd65f_03c0], 0, 1)
    };
    assert!(a64(0xaa01_03fe) && !a64(0xaa01_03e9));
}

#[test]
fn a_second_result_is_one_if_nobody_reads_it_before() {
    // ldr r3, [r1]; str r3, [r2]; mov r1, #7; bx lr: a pair may be returned. With add r0, r1, #1 it
    // is a value like any.
    assert!(stays_behind(Isa::A32, &[0xe591_3000, 0xe582_3000, 0xe3a0_1007, 0xe12f_ff1e], 0, 2));
    assert!(!stays_behind(
        Isa::A32,
        &[0xe591_3000, 0xe582_3000, 0xe3a0_1007, 0xe281_0001, 0xe12f_ff1e],
        0,
        2
    ));
    // ld a5, 0(a1); sd a5, 0(a2); li a1, 7; ret, and with addi a0, a1, 1
    assert!(stays_behind(
        Isa::Riscv64,
        &[0x0005_b783, 0x00f6_3023, 0x0070_0593, 0x0000_8067],
        0,
        2
    ));
    assert!(!stays_behind(
        Isa::Riscv64,
        &[0x0005_b783, 0x00f6_3023, 0x0070_0593, 0x0015_8513, 0x0000_8067],
        0,
        2
    ));
}

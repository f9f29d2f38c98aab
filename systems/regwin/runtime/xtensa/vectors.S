/* Vectors: windows, which are the scheme's, and all others. */
#include "machine.h"
#ifdef SCHEME_SP
#include "windows_sp.h"
#else
#include "windows_ns.h"
#endif
    .section .vectors, "ax"
    .global thr_vectors
    .p2align 2
thr_vectors:
    s32e a0, a5, -16; s32e a1, a5, -12; s32e a2, a5, -8; s32e a3, a5, -4; rfwo
    .org 0x40
    UNDERFLOW_4
    .org 0x80
    s32e a0, a9, -16; l32e a0, a1, -12; s32e a1, a9, -12; s32e a2, a9, -8; s32e a3, a9, -4
    s32e a4, a0, -32; s32e a5, a0, -28; s32e a6, a0, -24; s32e a7, a0, -20; rfwo
    .org 0xc0
    UNDERFLOW_8
    .org 0x100
    OVERFLOW_TOP
    s32e a0, a13, -16; l32e a0, a1, -12; s32e a1, a13, -12; s32e a2, a13, -8; s32e a3, a13, -4
    s32e a4, a0, -48; s32e a5, a0, -44; s32e a6, a0, -40; s32e a7, a0, -36
    s32e a8, a0, -32; s32e a9, a0, -28; s32e a10, a0, -24; s32e a11, a0, -20; rfwo
#ifdef SCHEME_SP
    OVERFLOW_TOP_NEAR
#endif
    .org 0x140
    UNDERFLOW_12
    .org 0x180
    j level_2
    .org 0x1c0
    j level_3
    .org 0x200
    j bad_level             /* 4 */
    .org 0x240
    j bad_level             /* 5 */
    .org 0x280
    j bad_level             /* 6, debugging */
    .org 0x2c0
    j bad_level             /* 7 */
    .org 0x300
    j level_1               /* an exception of the kernel */
    .org 0x340
    j level_1               /* and of a user */
    .org 0x3c0
    j bad_level             /* an exception in a handler */
    .org 0x400

#ifdef SCHEME_SP
underflow_12:
    UNDERFLOW_12_BODY
overflow_top:
    OVERFLOW_TOP_BODY
#endif

/* An exception of level 1. EXCSAVE2 and EXCSAVE3 are free: their interrupts are masked. */
level_1:
    wsr a0, excsave1
    wsr a2, excsave2
    wsr a3, excsave3
    rsr a2, exccause
#ifdef PREEMPT
    bnei a2, 4, not_interrupt
    j interrupt_1
not_interrupt:
#endif
    beqi a2, 5, moves_stack
    rsr a3, epc1
    j fault

/* MOVSP of a function whose caller is stored. The return looks for four registers of it below the stack pointer, so they
 * move along; the caller itself is not needed. */
moves_stack:
    rsr a3, epc1
    l8ui a2, a3, 1          /* movsp a1, as: the number s is in the low half of the second byte */
    extui a2, a2, 0, 4
    addi a3, a3, 3
    wsr a3, epc1
    l32r a3, .Lmoves_from
    addx2 a2, a2, a2
    addx2 a2, a2, a3
    jx a2
    .literal .Lmoves_from, moves_from
moves_from:                     /* six bytes each */
    rsr a2, excsave1; j moves_to
    or a2, a1, a1; j moves_to
    rsr a2, excsave2; j moves_to
    rsr a2, excsave3; j moves_to
    or a2, a4, a4; j moves_to
    or a2, a5, a5; j moves_to
    or a2, a6, a6; j moves_to
    or a2, a7, a7; j moves_to
    or a2, a8, a8; j moves_to
    or a2, a9, a9; j moves_to
    or a2, a10, a10; j moves_to
    or a2, a11, a11; j moves_to
    or a2, a12, a12; j moves_to
    or a2, a13, a13; j moves_to
    or a2, a14, a14; j moves_to
    or a2, a15, a15; j moves_to
moves_to:                       /* the four words may overlap: clang moves by single words around arguments on the stack */
    bltu a1, a2, moves_up
    l32e a0, a1, -16; s32e a0, a2, -16; l32e a0, a1, -12; s32e a0, a2, -12
    l32e a0, a1, -8; s32e a0, a2, -8; l32e a0, a1, -4; s32e a0, a2, -4
    j moved
moves_up:
    l32e a0, a1, -4; s32e a0, a2, -4; l32e a0, a1, -8; s32e a0, a2, -8
    l32e a0, a1, -12; s32e a0, a2, -12; l32e a0, a1, -16; s32e a0, a2, -16
moved:
    mov.n a1, a2
    rsr a0, excsave1
    rsr a2, excsave2
    rsr a3, excsave3
    rfe

/* What has no handler: the cause in a2, where in a3. The stack of the boot thread is taken, and one window. */
#ifndef PREEMPT
level_2:
level_3:
#endif
bad_level:
    movi a2, 255
    movi a3, 0
fault:
    or a5, a1, a1
    or a6, a2, a2
    or a7, a3, a3
    call0 recover
    or a10, a6, a6
    or a11, a7, a7
    or a12, a5, a5
    l32r a8, .Lbad_trap
    callx8 a8
    .literal .Lbad_trap, bad_trap_report
    .global thr_overflowed
thr_overflowed:                 /* the running thread's stack is too small */
    call0 recover
    l32r a8, .Lstack_overflow
    callx8 a8
    .literal .Lstack_overflow, stack_overflow_report
    .p2align 2
recover:
    rsr a2, windowbase
    ssl a2
    movi a2, 1
    sll a2, a2
    wsr a2, windowstart
    movi a2, 0
    wsr a2, intenable
    l32r a2, .Lfault_ps
    wsr a2, ps
    rsync
    l32r a1, .Lboot_end
    addi a2, a1, 32
    addi a3, a1, -12
    s32i a2, a3, 0          /* as in _start */
    ret
    .literal .Lfault_ps, PS_WOE + PS_UM + LOCKED
    .literal .Lboot_end, boot_stack_end - 64

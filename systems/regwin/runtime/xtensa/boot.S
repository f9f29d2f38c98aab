/* Boot: one window, vectors, the boot thread. */
#include "machine.h"
    .section .reset, "ax"
    .p2align 2
thr_reset:
    j 1f
    .p2align 2
thr_reset_start:
    .long _start
1:  l32r a0, thr_reset_start
    jx a0

    .section .text.boot, "ax"
    .p2align 2
    .literal .Lvectors, thr_vectors
    .literal .Lbss, __bss_start
    .literal .Lbss_end, __bss_end
    .literal .Lboot_stack, boot_stack_end - 64
    .literal .Lboot_ps, PS_WOE + PS_UM
    .literal .Lbegin, thr_begin
    .literal .Lmain, main
    .literal .Lleave, thr_leave
    .literal .Ltoo_many, too_many_registers_report
    .global _start
_start:
    movi a2, LOCKED
    wsr a2, ps
    rsync
    movi a2, 0
    wsr a2, intenable
    wsr a2, lcount
    movi a2, 8
    wsr a2, windowbase
    rsync
    rsr a3, windowbase      /* 8 with 64 registers, 0 with 32 */
    movi a2, 1
    ssl a3
    sll a2, a2
    wsr a2, windowstart
    l32r a2, .Lvectors
    wsr a2, vecbase
    l32r a2, .Lboot_ps
    wsr a2, ps
    rsync
    l32r a4, .Lbss
    l32r a5, .Lbss_end
    movi a2, 0
1:  bgeu a4, a5, 2f
    s32i a2, a4, 0
    addi a4, a4, 4
    j 1b
2:  l32r a1, .Lboot_stack
    addi a2, a1, 32
    addi a4, a1, -12
    s32i a2, a4, 0          /* the stack pointer of the caller that there is not, above whose area this frame is stored */
    movi a0, 0
    beqz a3, 3f
    l32r a8, .Ltoo_many
    callx8 a8
3:  l32r a8, .Lbegin
    callx8 a8
    l32r a8, .Lmain
    callx8 a8
    LOCK(a8)
    l32r a8, .Lleave
    callx8 a8

/* A new thread's first frame holds its function in a2 and its argument in a3. */
    .section .text.app, "ax"
    .literal .Lfinished, thr_finished
    .literal .Lthr_leave, thr_leave
    .global thr_entry
    .p2align 2
thr_entry:
    or a10, a3, a3
    callx8 a2
    l32r a8, .Lfinished
    callx8 a8               /* masks interrupts */
    l32r a8, .Lthr_leave
    callx8 a8

/* Calls of the simulator. */
    .global machine_stop, console_byte
    .p2align 2
machine_stop:
    entry a1, 32
    movi a2, 1
    movi a3, 0
    .byte 0x00, 0x51, 0x00  /* simcall: exit */
    .p2align 2
console_byte:
    entry a1, 48
    s8i a2, a1, 0
    movi a2, 4
    movi a3, 1
    or a4, a1, a1
    movi a5, 1
    .byte 0x00, 0x51, 0x00  /* simcall: write */
    retw

    .section .bss
    .p2align 3
    .global boot_stack, boot_stack_end
boot_stack: .skip 4096
boot_stack_end:

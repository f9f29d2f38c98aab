@ Runs the words of all records, each from the registers of its record, and writes the records to standard output.
@ Control block at 0x41000000: address of the current record, address behind the last. Stack for signals behind it; at 0x4100c000 the memory of the current record.
@ Record: slot, status, registers before (r0-r14, cpsr, d0-d31), the same after, memory.
    .fpu neon
    .syntax unified
    .arm
first:
    b start
    b fall
    b taken
start:
    adr r0, stack
    mov r1, #0
    mov r7, #186
    svc #0
    mov r8, #4
    mov lr, pc
    b handle
    mov r8, #5
    mov lr, pc
    b handle
    mov r8, #7
    mov lr, pc
    b handle
    mov r8, #8
    mov lr, pc
    b handle
    mov r8, #11
    mov lr, pc
    b handle
next:
    mov r0, #0x41000000
    ldr r1, [r0]
    ldr r2, [r0, #4]
    cmp r1, r2
    bhs done
    orr r3, r0, #0xc000
    add r4, r1, #656
    mov r5, #64
1:  ldr r6, [r4], #4
    str r6, [r3], #4
    subs r5, r5, #1
    bne 1b
    ldr r2, [r1, #68]
    msr cpsr_fs, r2
    add r2, r1, #72
    vldmia r2!, {d0-d15}
    vldmia r2, {d16-d31}
    ldr r2, [r1, #64]
    mcr p15, 0, r2, c13, c0, 2
    ldr r14, [r1]
    ldr r0, [r1, #8]
    clrex
    ldr r13, [r1, #60]
    add r1, r1, #12
    ldm r1, {r1-r12}
    bx r14
fall:
    mcr p15, 0, r14, c13, c0, 2
    mov r14, #0x41000000
    ldr r14, [r14]
    str r0, [r14, #328]
    mov r0, #1
    b save
taken:
    mcr p15, 0, r14, c13, c0, 2
    mov r14, #0x41000000
    ldr r14, [r14]
    str r0, [r14, #328]
    mov r0, #2
save:
    str r0, [r14, #4]
    add r0, r14, #332
    stm r0, {r1-r12}
    str r13, [r14, #380]
    mrs r0, cpsr
    str r0, [r14, #388]
    add r0, r14, #392
    vstmia r0!, {d0-d15}
    vstmia r0, {d16-d31}
    mrc p15, 0, r0, c13, c0, 2
    str r0, [r14, #384]
    mov r3, #0x41000000
    orr r3, r3, #0xc000
    add r4, r14, #656
    mov r5, #64
1:  ldr r6, [r3], #4
    str r6, [r4], #4
    subs r5, r5, #1
    bne 1b
advance:
    mov r0, #0x41000000
    ldr r1, [r0]
    add r1, r1, #912
    str r1, [r0]
    b next
trap:
    mov r0, #0x41000000
    ldr r1, [r0]
    mov r2, #3
    str r2, [r1, #4]
    b advance
handle:
    mov r0, r8
    adr r1, action
    mov r2, #0
    mov r3, #8
    mov r7, #174
    svc #0
    bx lr
done:
    mov r8, #0x41000000
    add r8, r8, #0x10000
    mov r9, r1
write:
    mov r0, #1
    mov r1, r8
    sub r2, r9, r8
    mov r7, #4
    svc #0
    add r8, r8, r0
    cmp r8, r9
    blo write
    mov r0, #0
    mov r7, #248
    svc #0
stack:
    .word 0x41000100, 0, 0x7f00
action:
    .word trap - first + 0x40001000, 0x48000000, 0, 0, 0

// Runs the words of all records, each from the registers of its record, and writes the records to standard output.
// Control block at 0x41000000: address of the current record, address behind the last. Stack for signals behind it; at 0x4100c000 the memory of the current record.
// Record: slot, status, registers before (x0-x30, sp, nzcv, pad, q0-q31), the same after, memory.
first:
    b start
    b fall
    b taken
start:
    adr x0, stack
    mov x1, #0
    mov x8, #132
    svc #0
    mov x9, #4
    bl handle
    mov x9, #5
    bl handle
    mov x9, #7
    bl handle
    mov x9, #8
    bl handle
    mov x9, #11
    bl handle
next:
    movz x0, #0x4100, lsl #16
    ldr x1, [x0]
    ldr x2, [x0, #8]
    cmp x1, x2
    b.hs done
    movz x3, #0x4100, lsl #16
    add x3, x3, #0xc000 >> 12, lsl #12
    add x4, x1, #1584
    mov x5, #256
1:  ldr x6, [x4], #8
    str x6, [x3], #8
    subs x5, x5, #8
    b.ne 1b
    msr fpcr, xzr
    msr fpsr, xzr
    ldp q0, q1, [x1, #288]
    ldp q2, q3, [x1, #320]
    ldp q4, q5, [x1, #352]
    ldp q6, q7, [x1, #384]
    ldp q8, q9, [x1, #416]
    ldp q10, q11, [x1, #448]
    ldp q12, q13, [x1, #480]
    ldp q14, q15, [x1, #512]
    ldp q16, q17, [x1, #544]
    ldp q18, q19, [x1, #576]
    ldp q20, q21, [x1, #608]
    ldp q22, q23, [x1, #640]
    ldp q24, q25, [x1, #672]
    ldp q26, q27, [x1, #704]
    ldp q28, q29, [x1, #736]
    ldp q30, q31, [x1, #768]
    ldr x30, [x1]
    ldr x2, [x1, #272]
    msr nzcv, x2
    ldr x2, [x1, #264]
    mov sp, x2
    ldr x2, [x1, #256]
    msr tpidr_el0, x2
    clrex
    ldp x2, x3, [x1, #32]
    ldp x4, x5, [x1, #48]
    ldp x6, x7, [x1, #64]
    ldp x8, x9, [x1, #80]
    ldp x10, x11, [x1, #96]
    ldp x12, x13, [x1, #112]
    ldp x14, x15, [x1, #128]
    ldp x16, x17, [x1, #144]
    ldp x18, x19, [x1, #160]
    ldp x20, x21, [x1, #176]
    ldp x22, x23, [x1, #192]
    ldp x24, x25, [x1, #208]
    ldp x26, x27, [x1, #224]
    ldp x28, x29, [x1, #240]
    ldr x0, [x1, #16]
    ldr x1, [x1, #24]
    br x30
fall:
    msr tpidr_el0, x30
    movz x30, #0x4100, lsl #16
    ldr x30, [x30]
    str x0, [x30, #800]
    mov x0, #1
    b save
taken:
    msr tpidr_el0, x30
    movz x30, #0x4100, lsl #16
    ldr x30, [x30]
    str x0, [x30, #800]
    mov x0, #2
save:
    str x0, [x30, #8]
    str x1, [x30, #808]
    str x2, [x30, #816]
    str x3, [x30, #824]
    str x4, [x30, #832]
    str x5, [x30, #840]
    str x6, [x30, #848]
    str x7, [x30, #856]
    str x8, [x30, #864]
    str x9, [x30, #872]
    str x10, [x30, #880]
    str x11, [x30, #888]
    str x12, [x30, #896]
    str x13, [x30, #904]
    str x14, [x30, #912]
    str x15, [x30, #920]
    str x16, [x30, #928]
    str x17, [x30, #936]
    str x18, [x30, #944]
    str x19, [x30, #952]
    str x20, [x30, #960]
    str x21, [x30, #968]
    str x22, [x30, #976]
    str x23, [x30, #984]
    str x24, [x30, #992]
    str x25, [x30, #1000]
    str x26, [x30, #1008]
    str x27, [x30, #1016]
    str x28, [x30, #1024]
    str x29, [x30, #1032]
    str q0, [x30, #1072]
    str q1, [x30, #1088]
    str q2, [x30, #1104]
    str q3, [x30, #1120]
    str q4, [x30, #1136]
    str q5, [x30, #1152]
    str q6, [x30, #1168]
    str q7, [x30, #1184]
    str q8, [x30, #1200]
    str q9, [x30, #1216]
    str q10, [x30, #1232]
    str q11, [x30, #1248]
    str q12, [x30, #1264]
    str q13, [x30, #1280]
    str q14, [x30, #1296]
    str q15, [x30, #1312]
    str q16, [x30, #1328]
    str q17, [x30, #1344]
    str q18, [x30, #1360]
    str q19, [x30, #1376]
    str q20, [x30, #1392]
    str q21, [x30, #1408]
    str q22, [x30, #1424]
    str q23, [x30, #1440]
    str q24, [x30, #1456]
    str q25, [x30, #1472]
    str q26, [x30, #1488]
    str q27, [x30, #1504]
    str q28, [x30, #1520]
    str q29, [x30, #1536]
    str q30, [x30, #1552]
    str q31, [x30, #1568]
    mov x0, sp
    str x0, [x30, #1048]
    mrs x0, nzcv
    str x0, [x30, #1056]
    mrs x0, tpidr_el0
    str x0, [x30, #1040]
    movz x3, #0x4100, lsl #16
    add x3, x3, #0xc000 >> 12, lsl #12
    add x4, x30, #1584
    mov x5, #256
1:  ldr x6, [x3], #8
    str x6, [x4], #8
    subs x5, x5, #8
    b.ne 1b
advance:
    movz x0, #0x4100, lsl #16
    ldr x1, [x0]
    add x1, x1, #1840
    str x1, [x0]
    b next
trap:
    movz x0, #0x4100, lsl #16
    ldr x1, [x0]
    mov x2, #3
    str x2, [x1, #8]
    b advance
handle:
    mov x0, x9
    adr x1, action
    mov x2, #0
    mov x3, #8
    mov x8, #134
    svc #0
    ret
done:
    movz x9, #0x4101, lsl #16
    mov x10, x1
write:
    mov x0, #1
    mov x1, x9
    sub x2, x10, x9
    mov x8, #64
    svc #0
    add x9, x9, x0
    cmp x9, x10
    b.lo write
    mov x0, #0
    mov x8, #94
    svc #0
    .balign 8
stack:
    .quad 0x41000100, 0, 0x7f00
action:
    .quad trap - first + 0x40001000
    .quad 0x48000000, 0, 0

@ meanwhile audit m4_switch.s --cpu cortex-m4: a byte code whose cases a table of bytes leads to, one of which leaves the loop.
    .syntax unified
    .thumb
    .text
    .global run
    .type run, %function
    .thumb_func
run:
    ldrb r3, [r0], #1
    cmp r3, #3
    bhi run
    tbb [pc, r3]
1:
    .byte (2f - 1b) / 2
    .byte (3f - 1b) / 2
    .byte (4f - 1b) / 2
    .byte (5f - 1b) / 2
    .p2align 1
2:
    adds r1, r1, #3
    b run
3:
    mul r1, r1, r2
    b run
4:
    udiv r1, r1, r2
    adds r1, r1, #1
    b run
5:
    mov r0, r1
    bx lr
    .size run, . - run

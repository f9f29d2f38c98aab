@ What gcc 12 -O2 makes of improved.c, its order edited by hand: the frame first, loads away from
@ their users, the badge in the shadow of the endpoint, and one address computed once.

        .arch   armv6
        .arm
        .text
        .align  2
        .global fastpath_call
        .type   fastpath_call, %function
fastpath_call:
        push    {r4, r5, r6, r7, r8, r9, r10, lr}
        tst     r3, #508
        bne     .L5
        ldr     ip, [r1, #24]
        ldr     lr, [r1, #20]
        ldr     r4, [r1, #28]
        cmp     ip, r2
        add     lr, lr, r2, lsl #4
        bcc     .L5
        ldr     r2, [lr]
        ldr     r8, [lr, #4]
        tst     r4, #7
        bne     .L5
        and     r2, r2, #63
        cmp     r2, #50
        ldr     ip, [r1, #44]
        bne     .L5
        ldr     r9, [r8]
        ldr     r4, [r1, #48]
        ldr     lr, [lr, #8]
        sub     r2, r9, #2
        tst     r2, #3
        bne     .L5
        ldr     r5, [r2, #44]
        ldr     r6, [r2, #48]
        ldr     r10, [r2, #32]
        cmp     ip, r5
        bhi     .L5
        cmp     r4, r6
        bne     .L5
        cmp     r10, #0
        beq     .L5
        ldr     ip, [r2, #16]
        ldrd    r6, r7, [r1]
        ldrd    r4, r5, [r1, #8]
        cmp     ip, #0
        and     r3, r3, #3
        stm     r0, {r2, r10}
        orrne   ip, ip, #2
        str     r3, [r2, #56]
        mov     r0, #0
        mov     r3, #4
        str     lr, [r2, #52]
        str     ip, [r8]
        strd    r6, r7, [r2]
        strd    r4, r5, [r2, #8]
        str     r1, [r2, #36]
        str     r3, [r1, #40]
        str     r0, [r2, #40]
        pop     {r4, r5, r6, r7, r8, r9, r10, pc}
.L5:
        pop     {r4, r5, r6, r7, r8, r9, r10, lr}
        b       slowpath
        .size   fastpath_call, .-fastpath_call
        .section .note.GNU-stack, "", %progbits

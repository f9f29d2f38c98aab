@ The fast path written from scratch, each instruction in the cycle that its comment names (ARM1136).
@
@ In:   r0 kernel, r1 sender, r2 capability, r3 message information
@ Out:  r0 0, or what the slow path says
@ Keeps what the procedure call standard asks for.

        .arch   armv6
        .arm
        .text
        .global fastpath_call
        .type   fastpath_call, %function

        @ struct tcb
        .equ    NEXT, 16
        .equ    SLOTS, 20
        .equ    MASK, 24
        .equ    FAULT, 28
        .equ    SPACE, 32
        .equ    CALLER, 36
        .equ    STATE, 40
        .equ    PRIORITY, 44
        .equ    DOMAIN, 48
        .equ    WHO, 52
        .equ    INFO, 56

fastpath_call:
        push    {r4-r8, lr}             @ 0     memory is busy for three cycles
        tst     r3, #0x1fc              @ 1     a length of more than 3, or capabilities
        bne     slow                    @ 2
        ldr     r5, [r1, #MASK]         @ 3
        ldr     r4, [r1, #SLOTS]        @ 4
        ldr     r6, [r1, #FAULT]        @ 5
        cmp     r2, r5                  @ 6
        add     r4, r4, r2, lsl #4      @ 7     the capability
        bhi     slow                    @ 8
        ldr     r5, [r4]                @ 9     its type and rights
        ldr     r2, [r4, #4]            @ 10    the endpoint
        tst     r6, #7                  @ 11
        bne     slow                    @ 12
        and     r5, r5, #63             @ 13
        cmp     r5, #2 + 16 + 32        @ 14
        ldr     r6, [r1, #PRIORITY]     @ 15
        bne     slow                    @ 16
        ldr     ip, [r2]                @ 17    first thread and state
        ldr     r7, [r1, #DOMAIN]       @ 18
        ldr     r4, [r4, #8]            @ 19    the badge
        sub     ip, ip, #2              @ 20    the receiver, if the state is 2
        tst     ip, #3                  @ 21
        bne     slow                    @ 22
        ldr     r5, [ip, #PRIORITY]     @ 23
        ldr     r8, [ip, #DOMAIN]       @ 24
        ldr     lr, [ip, #SPACE]        @ 25
        cmp     r5, r6                  @ 26
        blo     slow                    @ 27
        cmp     r8, r7                  @ 28
        bne     slow                    @ 29
        cmp     lr, #0                  @ 30
        beq     slow                    @ 31

        @ From here on nothing fails.
        stm     r0, {ip, lr}            @ 32    current thread and address space
        ldr     r0, [ip, #NEXT]         @ 33
        str     r4, [ip, #WHO]          @ 34
        ldm     r1, {r4-r7}             @ 35    the message
        cmp     r0, #0                  @ 36
        and     r3, r3, #3              @ 37
        orrne   r0, r0, #2              @ 38
        str     r3, [ip, #INFO]         @ 39
        str     r0, [r2]                @ 40    who waits there now
        mov     r3, #4                  @ 41
        str     r1, [ip, #CALLER]       @ 42
        str     r3, [r1, #STATE]        @ 43
        stm     ip, {r4-r7}             @ 44
        mov     r0, #0                  @ 45
        str     r0, [ip, #STATE]        @ 46
        pop     {r4-r8, pc}             @ 47

slow:   pop     {r4-r8, lr}
        b       slowpath
        .size   fastpath_call, . - fastpath_call
        .section .note.GNU-stack, "", %progbits

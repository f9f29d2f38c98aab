# Runs the words of all records, each from the registers of its record, and writes the records to standard output.
# Control block at 0x41000000: address of the current record, address behind the last; action of signals. Stack for signals behind it; at 0x4100c000 the memory of the current record.
# Record: slot, status, registers before (x1-x31), the same after, memory.
    .option norvc
first:
    j start
    j fall
    j taken
start:
    lla a0, stack
    li a1, 0
    li a7, 132
    ecall
    li s0, 4
    jal handle
    li s0, 5
    jal handle
    li s0, 7
    jal handle
    li s0, 8
    jal handle
    li s0, 11
    jal handle
next:
    lui t0, 0x41000
    ld x1, 0(t0)
    ld t1, 8(t0)
    bgeu x1, t1, done
    lui t0, 0x4100c
    addi t1, x1, 512
    addi t2, t1, 256
1:  ld t3, 0(t1)
    sd t3, 0(t0)
    addi t0, t0, 8
    addi t1, t1, 8
    bne t1, t2, 1b
    ld x31, 256(x1)
    fmv.d.x f31, x31
    ld x2, 24(x1)
    ld x3, 32(x1)
    ld x4, 40(x1)
    ld x5, 48(x1)
    ld x6, 56(x1)
    ld x7, 64(x1)
    ld x8, 72(x1)
    ld x9, 80(x1)
    ld x10, 88(x1)
    ld x11, 96(x1)
    ld x12, 104(x1)
    ld x13, 112(x1)
    ld x14, 120(x1)
    ld x15, 128(x1)
    ld x16, 136(x1)
    ld x17, 144(x1)
    ld x18, 152(x1)
    ld x19, 160(x1)
    ld x20, 168(x1)
    ld x21, 176(x1)
    ld x22, 184(x1)
    ld x23, 192(x1)
    ld x24, 200(x1)
    ld x25, 208(x1)
    ld x26, 216(x1)
    ld x27, 224(x1)
    ld x28, 232(x1)
    ld x29, 240(x1)
    ld x30, 248(x1)
    ld x31, 0(x1)
    ld x1, 16(x1)
    jr x31
fall:
    fmv.d.x f31, x31
    lui x31, 0x41000
    ld x31, 0(x31)
    sd x1, 264(x31)
    li x1, 1
    j save
taken:
    fmv.d.x f31, x31
    lui x31, 0x41000
    ld x31, 0(x31)
    sd x1, 264(x31)
    li x1, 2
save:
    sd x1, 8(x31)
    sd x2, 272(x31)
    sd x3, 280(x31)
    sd x4, 288(x31)
    sd x5, 296(x31)
    sd x6, 304(x31)
    sd x7, 312(x31)
    sd x8, 320(x31)
    sd x9, 328(x31)
    sd x10, 336(x31)
    sd x11, 344(x31)
    sd x12, 352(x31)
    sd x13, 360(x31)
    sd x14, 368(x31)
    sd x15, 376(x31)
    sd x16, 384(x31)
    sd x17, 392(x31)
    sd x18, 400(x31)
    sd x19, 408(x31)
    sd x20, 416(x31)
    sd x21, 424(x31)
    sd x22, 432(x31)
    sd x23, 440(x31)
    sd x24, 448(x31)
    sd x25, 456(x31)
    sd x26, 464(x31)
    sd x27, 472(x31)
    sd x28, 480(x31)
    sd x29, 488(x31)
    sd x30, 496(x31)
    fmv.x.d x1, f31
    sd x1, 504(x31)
    lui t0, 0x4100c
    addi t1, x31, 512
    addi t2, t1, 256
1:  ld t3, 0(t0)
    sd t3, 0(t1)
    addi t0, t0, 8
    addi t1, t1, 8
    bne t1, t2, 1b
advance:
    lui t0, 0x41000
    ld t1, 0(t0)
    addi t1, t1, 768
    sd t1, 0(t0)
    j next
trap:
    lui t0, 0x41000
    ld t1, 0(t0)
    li t2, 3
    sd t2, 8(t1)
    j advance
handle:
    mv a0, s0
    lui a1, 0x41000
    addi a1, a1, 32
    lla t0, trap
    sd t0, 0(a1)
    lui t0, 0x48000
    sd t0, 8(a1)
    li a2, 0
    li a3, 8
    li a7, 134
    ecall
    ret
done:
    lui s0, 0x41010
    mv s1, x1
write:
    li a0, 1
    mv a1, s0
    sub a2, s1, s0
    li a7, 64
    ecall
    add s0, s0, a0
    bltu s0, s1, write
    li a0, 0
    li a7, 94
    ecall
    .balign 8
stack:
    .quad 0x41000100, 0, 0x7f00

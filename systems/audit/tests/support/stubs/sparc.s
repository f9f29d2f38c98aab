! Runs the words of all records, each from the registers of its record, which stay in memory.
! Every trap saves the registers and goes on to the next record; `ta 1`, 2 and 3 are how a word ends.
! Control block at 0x41000000: address of the current record, address behind the last; at 0x4100c000 the memory
! of the current record.
! Record: slot, status (number of the trap), registers before (g0-i7, psr, y), the same after, memory.
! The trap handler works in window 3, the word in window 4; no window is invalid.
first:
    ba start
    nop
    nop
    nop
    .set i, 1
    .rept 255
    mov i, %l3
    ba common
    rd %psr, %l0
    nop
    .set i, i + 1
    .endr
start:
    sethi %hi(0x40000000), %g1
    wr %g1, 0, %tbr
    wr %g0, 0, %wim
    nop
    nop
    nop
    ba next
    nop
common:
    sethi %hi(0x41000000), %l4
    ld [%l4], %l4
    st %l3, [%l4 + 4]
    st %g1, [%l4 + 148]
    st %g2, [%l4 + 152]
    st %g3, [%l4 + 156]
    st %g4, [%l4 + 160]
    st %g5, [%l4 + 164]
    st %g6, [%l4 + 168]
    st %g7, [%l4 + 172]
    st %i0, [%l4 + 176]
    st %i1, [%l4 + 180]
    st %i2, [%l4 + 184]
    st %i3, [%l4 + 188]
    st %i4, [%l4 + 192]
    st %i5, [%l4 + 196]
    st %i6, [%l4 + 200]
    st %i7, [%l4 + 204]
    st %l0, [%l4 + 272]
    rd %y, %l5
    st %l5, [%l4 + 276]
    mov %l4, %g1
    restore
    st %l0, [%g1 + 208]
    st %l1, [%g1 + 212]
    st %l2, [%g1 + 216]
    st %l3, [%g1 + 220]
    st %l4, [%g1 + 224]
    st %l5, [%g1 + 228]
    st %l6, [%g1 + 232]
    st %l7, [%g1 + 236]
    st %i0, [%g1 + 240]
    st %i1, [%g1 + 244]
    st %i2, [%g1 + 248]
    st %i3, [%g1 + 252]
    st %i4, [%g1 + 256]
    st %i5, [%g1 + 260]
    st %i6, [%g1 + 264]
    st %i7, [%g1 + 268]
    sethi %hi(0x41000000), %g2
    ld [%g2], %g1
    set 0x4100c000, %g4
    add %g1, 288, %g5
    add %g5, 256, %g6
1:  ld [%g4], %g7
    st %g7, [%g5]
    add %g4, 4, %g4
    add %g5, 4, %g5
    cmp %g5, %g6
    bne 1b
    nop
    add %g1, 544, %g1
    st %g1, [%g2]
next:
    ! Window 4, no traps, floating point on.
    sethi %hi(0x1000), %g2
    or %g2, 0xf84, %g2
    wr %g2, 0, %psr
    nop
    nop
    nop
    sethi %hi(0x41000000), %g2
    ld [%g2], %g1
    ld [%g2 + 4], %g3
    cmp %g1, %g3
    bgeu done
    nop
    set 0x4100c000, %g4
    add %g1, 288, %g5
    add %g5, 256, %g6
1:  ld [%g5], %g7
    st %g7, [%g4]
    add %g4, 4, %g4
    add %g5, 4, %g5
    cmp %g5, %g6
    bne 1b
    nop
    ld [%g1 + 72], %l0
    ld [%g1 + 76], %l1
    ld [%g1 + 80], %l2
    ld [%g1 + 84], %l3
    ld [%g1 + 88], %l4
    ld [%g1 + 92], %l5
    ld [%g1 + 96], %l6
    ld [%g1 + 100], %l7
    ld [%g1 + 104], %i0
    ld [%g1 + 108], %i1
    ld [%g1 + 112], %i2
    ld [%g1 + 116], %i3
    ld [%g1 + 120], %i4
    ld [%g1 + 124], %i5
    ld [%g1 + 128], %i6
    ld [%g1 + 132], %i7
    ! The windows beside the word's hold the same for every record.
    restore
    sethi %hi(0x11111000), %l0
    mov %l0, %l1
    mov %l0, %l2
    mov %l0, %l3
    mov %l0, %l4
    mov %l0, %l5
    mov %l0, %l6
    mov %l0, %l7
    mov %l0, %i0
    mov %l0, %i1
    mov %l0, %i2
    mov %l0, %i3
    mov %l0, %i4
    mov %l0, %i5
    mov %l0, %i6
    mov %l0, %i7
    save
    save
    mov %g1, %l0
    ld [%l0 + 40], %i0
    ld [%l0 + 44], %i1
    ld [%l0 + 48], %i2
    ld [%l0 + 52], %i3
    ld [%l0 + 56], %i4
    ld [%l0 + 60], %i5
    ld [%l0 + 64], %i6
    ld [%l0 + 68], %i7
    ld [%l0 + 140], %l3
    wr %l3, 0, %y
    nop
    nop
    nop
    ! Window 3, no traps yet, supervisor before too; and the flags of the record.
    ld [%l0 + 136], %l3
    set 0x00f00000, %l4
    and %l3, %l4, %l3
    set 0x10c3, %l4
    or %l3, %l4, %l3
    wr %l3, 0, %psr
    nop
    nop
    nop
    ld [%l0], %l1
    add %l1, 4, %l2
    ld [%l0 + 12], %g1
    ld [%l0 + 16], %g2
    ld [%l0 + 20], %g3
    ld [%l0 + 24], %g4
    ld [%l0 + 28], %g5
    ld [%l0 + 32], %g6
    ld [%l0 + 36], %g7
    jmp %l1
    rett %l2
done:
    wr %g0, 0xc0, %psr
    nop
    nop
    nop
    ta 0

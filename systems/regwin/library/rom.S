/* The start of a ROM: copies the image after it to the start of RAM and goes there. What a board needs before its RAM
 * works belongs in front. */
    .section .text.rom, "ax"
    .global rom_start
rom_start:
    wr %g0, 0x80, %psr      /* supervisor, traps off */
    nop; nop; nop
    set rom_image, %g1
    set rom_image_end, %g2
    sethi %hi(0x40000000), %g3
1:  cmp %g1, %g2
    bgeu 2f
    nop
    ld [%g1], %g4
    st %g4, [%g3]
    add %g1, 4, %g1
    ba 1b
    add %g3, 4, %g3
2:  sethi %hi(0x40000000), %g3
    flush %g3
    jmp %g3
    nop

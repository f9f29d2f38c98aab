/* A way to each register by its number, two words each: READ and WRITE are the includer's. */
registers_read:
    READ(%g0); READ(%g1); READ(%g2); READ(%g3); READ(%g4); READ(%g5); READ(%g6); READ(%g7)
    READ(%o0); READ(%o1); READ(%o2); READ(%o3); READ(%o4); READ(%o5); READ(%o6); READ(%o7)
    READ(%l0); READ(%l1); READ(%l2); READ(%l3); READ(%l4); READ(%l5); READ(%l6); READ(%l7)
    READ(%i0); READ(%i1); READ(%i2); READ(%i3); READ(%i4); READ(%i5); READ(%i6); READ(%i7)
registers_written:
    WRITE(%g0); WRITE(%g1); WRITE(%g2); WRITE(%g3); WRITE(%g4); WRITE(%g5); WRITE(%g6); WRITE(%g7)
    WRITE(%o0); WRITE(%o1); WRITE(%o2); WRITE(%o3); WRITE(%o4); WRITE(%o5); WRITE(%o6); WRITE(%o7)
    WRITE(%l0); WRITE(%l1); WRITE(%l2); WRITE(%l3); WRITE(%l4); WRITE(%l5); WRITE(%l6); WRITE(%l7)
    WRITE(%i0); WRITE(%i1); WRITE(%i2); WRITE(%i3); WRITE(%i4); WRITE(%i5); WRITE(%i6); WRITE(%i7)

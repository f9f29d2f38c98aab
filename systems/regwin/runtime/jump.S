/* Long jumps, for any scheme: all windows go to memory, and a restore loads the one that is gone back to. */
#include "window.h"
    .section .text.app, "ax"
    .global thr_setjmp, thr_longjmp
thr_setjmp:
    st %sp, [%o0]
    st %o7, [%o0 + 4]
    retl
    clr %o0
thr_longjmp:
    save %sp, -96, %sp
#ifndef SCHEME_FLAT
    ta 3
#endif
    ld [%i0], %fp
    ld [%i0 + 4], %i7
    ret
    restore %i1, 0, %o0

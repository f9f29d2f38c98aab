/* setjmp and longjmp. newlib's and picolibc's store all windows at each setjmp; and their longjmp loads a frame into the window that
 * it is in, over which an interrupt meanwhile stores what is loaded so far. gcc keeps nothing there. */
    .section .text.app, "ax"
    .global setjmp, _setjmp, longjmp, _longjmp
setjmp:
_setjmp:
    ba thr_setjmp
    nop
longjmp:
_longjmp:
    cmp %o1, 1              /* 0 becomes 1 */
    ba thr_longjmp
    addx %o1, 0, %o1

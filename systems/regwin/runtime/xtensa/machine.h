/* What assembly and C share about the processor.
 *
 * A suspended thread's newest frame is that of the function which called the switch: the routines of
 * switch.S have no frame of their own. What they are called with is in a8 (where to go on, as
 * call8 left it) and a10, a11; a9 to a15 are theirs.
 *
 * Windows move by four registers, a place; the 32 registers are eight places. WINDOWSTART has a bit
 * for each place where a frame begins. */
#define PS_WOE 0x40000
#define PS_UM 0x20
#define PS_EXCM 0x10
#define PS_CALLINC_2 0x20000
/* Masks levels 1 to 3: those that exceptions mask, too. */
#define LOCKED 3
/* A thread's state at first: windows, no interrupt masked, called by call8. */
#define THREAD_PS (PS_WOE | PS_UM | PS_CALLINC_2)
/* A return address as call8 leaves it. */
#define CALLED_BY_8(function) (((unsigned)(function) & 0x3fffffff) | 0x80000000)

/* Fields of a record; machine.c compares them. */
#define TCB_PLACE 0
#define TCB_PC 4
#define TCB_PS 8
#define TCB_FRAME 12
#define TCB_NEXT 44
#define TCB_STACK 60
#define QUEUE_SELF 0
#define QUEUE_FIRST 4
#define QUEUE_LAST 8

#ifdef __ASSEMBLER__
#include "regwin_options.h"

/* The switch of this build: schedule.c wraps it. */
#if defined(PREEMPT) || defined(PRIORITIES)
#define SWITCH_LEAVE switch_leave
#define SWITCH_FLUSH switch_flush
#else
#define SWITCH_LEAVE thr_block_leave
#define SWITCH_FLUSH thr_block_flush
#endif

/* Returns from a routine without a frame, in the frame of the function that called it by call8: opens the window that the
 * call would have had, and closes it. */
#define RETURN entry a1, 16; retw

/* Stores all windows but the current one: looks at a register of each place. Interrupts are masked: a place without a start bit
 * must not be interrupted. */
#define SPILL_OTHERS \
    or a12, a12, a12; \
    rotw 3; \
    or a12, a12, a12; \
    rotw 3; \
    or a4, a4, a4; \
    rotw 2

/* Masks interrupts, and gives back the state. */
#ifdef PREEMPT
#define LOCK(to) rsil to, LOCKED
#define UNLOCK(from) wsr from, ps; rsync
#else
#define LOCK(to)
#define UNLOCK(from)
#endif
#endif

/* regwin: threads in cyclic register windows, for SPARC V8 on the bare machine.
 *
 * One processor. Threads, a ready queue and byte streams, about 3 KiB of code; nothing is allocated: every thread,
 * stack and buffer is the caller's. No function here uses the heap, floating point or libgcc.
 *
 * Building. Link boot.S, ready.S, threads.c, streams.c, int64.c, console.c and the files of one scheme, all of them
 * compiled with the same -D:
 *
 *   -DSCHEME_NS        overflow_ns.S underflow_ns.S flush_ns.S switch_ns.S
 *   -DSCHEME_SNP       overflow_sharing.S underflow_sharing.S flush_sharing.S switch_snp.S
 *   -DSCHEME_SP        overflow_sharing.S underflow_sharing.S flush_sharing.S switch_sp.S
 *   -DSCHEME_ADAPTIVE  overflow_adaptive.S underflow_adaptive.S underflow_lone.S overflow_ns.S flush_ns.S
 *                      flush_sharing.S switch_adaptive.S
 *
 *   -DWORKING_SET      a woken thread whose windows are resident is the next to run
 *   -DPREEMPT          timer interrupts; link preempt.S too
 *   -DFPU              floating point in threads, main and machine_idle; link fpu.S too
 *   -DSTACK_UNCHECKED  no look at stacks at switches and window overflows: 4 to 6 cycles less each (ERC32)
 *
 * Assembly and C with sparc64-linux-gnu-gcc (%g2 to %g7 are the runtime's), then the link:
 *
 *   gcc:  -m32 -mcpu=leon3 -fno-pic -no-pie -mno-app-regs -ffixed-g5 -Wa,--noexecstack -O2 -ffreestanding
 *   gcc:  -fno-stack-protector -fno-optimize-sibling-calls -std=gnu11 -fno-shrink-wrap
 *   gcc:  -fno-tree-loop-distribute-patterns
 *   link: -m elf32_sparc -T link.ld -z noexecstack --build-id=none
 *
 * clang compiles C with --target=sparc-none-elf -mcpu=leon3 -fno-pic -ffreestanding -fno-optimize-sibling-calls
 * -ffixed-g2 ... -ffixed-g7. -ffunction-sections may be added to either.
 * The number of windows, 4 to 32, is found at boot.
 *
 * Floating point. Without -DFPU its first instruction is trap 4. With it a thread's record is 136 bytes longer, a switch
 * that loads a thread from memory takes 5 cycles more, and a thread that computes with float or double takes a trap when
 * another one did so before it. Nobody else pays, and a switch between threads with windows costs nothing more. Rounding
 * and exceptions (%fsr) are each thread's own; sqrt is an instruction with -fno-math-errno. long double calls routines
 * that are not here. So does -msoft-float: no compiler of Debian brings __adddf3 and its like for 32-bit SPARC. Whoever
 * links his own says -DTHR_SOFT_FLOAT.
 *
 * Starting. The program gives `main`, which runs as the boot thread, makes threads and returns; they run then. It
 * gives `machine_idle`, which runs when no thread is ready: all have ended, or all wait. It may call thr_report
 * and must not return.
 *
 * Time. No function here has a loop whose length depends on the number of threads, but thr_report. A switch
 * stores at most as many windows as there are: `meanwhile report` prints the longest switch of each scheme.
 *
 * Faults. A trap that nobody handles prints its type, pc and thread on the console and stops the machine. So does a
 * stack that is too small: at each switch, window overflow, flush and interrupt the newest frame must lie inside, before
 * any window is stored. What a function itself writes below its stack before that is not seen.
 */
#ifndef REGWIN_H
#define REGWIN_H

#if defined(_SOFT_FLOAT) && !defined(THR_SOFT_FLOAT)
#error "regwin: -msoft-float needs __adddf3 and its like, which no compiler of Debian brings for 32-bit SPARC: leave it out \
and use -DFPU, or link routines of your own and say -DTHR_SOFT_FLOAT"
#endif

/* A thread's record: the caller's memory, the runtime's contents. The first fields are those that window.h names. */
struct thr {
    unsigned psr, wim, sp, pc, refusals;
    struct thr *next;
    unsigned hint, patience;
    const char *name;
    unsigned *stack;            /* its lowest word is the guard */
    const struct stream *waits; /* the stream that it waits for */
    int waits_for;              /* THR_RUNS, THR_WAITS_... */
    int alive;
    unsigned stamp;             /* allocation `lru`: the time of its last switch */
    unsigned return_to;         /* PREEMPT: where its switch was called */
    unsigned slot;              /* its place among those that thr_report looks at */
#ifdef FPU
    unsigned fpu[32], fsr;      /* what fpu.S keeps while another thread has the floating point registers */
#endif
} __attribute__((aligned(8)));  /* stored by pairs of words */

enum { THR_RUNS, THR_WAITS_BYTES, THR_WAITS_ROOM };

/* What a thread that goes to sleep leaves behind. */
enum thr_reason {
    THR_LEAVE, /* its windows: it will be back soon */
    THR_FLUSH  /* nothing: its windows are stored at once, which is cheaper than later, one by one */
};

/* Most threads at a time. One that has ended makes room, and its memory is the program's again. */
#define THR_MAX 32
/* The word at the low end of a stack; if it is another one, something wrote below the stack. It is looked at when a
 * thread ends, and by thr_report, which names the thread. */
#define THR_GUARD 0x57494e44u
/* Bytes that a stack needs before the first call of its thread. A frame takes 96 bytes or more; with PREEMPT, leave
 * another 256 for the interrupt. */
#define THR_STACK_MIN 512

/* The thread that runs main, and the one that runs machine_idle. */
extern struct thr thr_boot, thr_idle;
/* Number of windows less one. */
extern const unsigned window_last;

/* The running thread. */
static inline struct thr *thr_self(void)
{
    struct thr *self;
    __asm__ volatile("mov %%g7, %0" : "=r"(self));
    return self;
}

/* Makes a thread that calls entry(argument), and ends when that returns; it is ready at once. `stack` is `bytes` long
 * and aligned to 8; it and `name` are used as long as the thread lives. From main or from any thread.
 * Returns 0, or -1 if there are THR_MAX threads or `bytes` is below THR_STACK_MIN; nothing has happened then. */
int thr_create(struct thr *thread, const char *name, void *stack, unsigned bytes, void (*entry)(void *), void *argument);

/* The two switches, in assembly; thr_block chooses. */
void thr_block_leave(void);
void thr_block_flush(void);

/* Suspends the running thread and runs the next. Returns when somebody has called thr_wake for it. Whoever is to do
 * that must know of the thread before this is called. Not from main and not from machine_idle. */
static inline void thr_block(enum thr_reason reason)
{
    if (reason == THR_FLUSH)
        thr_block_flush();
    else
        thr_block_leave();
}

/* Lets a suspended thread run again, after the threads that are ready (with WORKING_SET before them, if its windows are
 * still there). The caller runs on. The thread must be suspended. */
void thr_wake(struct thr *thread);

/* Lets all ready threads run before the running one goes on; returns at once if there are none. */
void thr_yield(void);
/* The same for a long wait: THR_FLUSH. */
void thr_yield_flush(void);

/* Stores all windows of the running thread but the current one (trap 0x83, `ta 3`): its stack can be read then, by
 * longjmp or by a debugger. */
static inline void thr_flush(void)
{
#ifndef SCHEME_FLAT
    __asm__ volatile("ta 3" : : : "memory");
#endif
}

#ifdef PREEMPT
/* Lets a timer interrupt the running thread every `ticks` ticks of the timer, 1 or more, as if it had called thr_yield
 * there; 0 stops the timer. A tick is one of the timer unit's prescaler, which is left as the boot loader set it. Code
 * of the runtime itself is never interrupted for this: the timer comes again shortly. */
void thr_preempt(unsigned ticks);
#endif

/* A cyclic byte buffer: any number of writers, one reader. The caller's memory, the runtime's contents. */
struct stream {
    const char *name;
    unsigned char *bytes;
    unsigned capacity, n_bytes, read_at;
    struct thr *reader;         /* waits for bytes */
    struct thr *writer;         /* the first that waits for room; linked by `hint` */
    struct thr *writer_last;
    unsigned n_writers;         /* that have not closed it */
};

/* Makes an empty stream of `capacity` bytes, 1 or more, at `bytes`, for so many writers. */
void stream_open(struct stream *s, const char *name, void *bytes, unsigned capacity, unsigned n_writers);
/* One of the writers has written all that it will. */
void stream_close(struct stream *s);
/* Writes one byte; waits for room. */
void stream_put(struct stream *s, unsigned byte);
/* Reads one byte, 0 to 255; waits for one; -1 when all writers have closed it. */
int stream_get(struct stream *s);
/* Writes n bytes; waits for room as often as needed. */
void stream_write(struct stream *s, const void *bytes, unsigned n);
/* Reads n bytes, fewer only at the end; returns their number. */
unsigned stream_read(struct stream *s, void *bytes, unsigned n);

/* Prints `done` if all threads have ended and no stack was too small; else which thread waits for what, and whose
 * stack was too small. For machine_idle. */
void thr_report(void);

/* The console: LEON3's serial port, by polling. */
void console_text(const char *text);
void console_hex(unsigned value);
void console_number(unsigned value);
/* Ends the machine. */
void machine_stop(void) __attribute__((noreturn));

#endif

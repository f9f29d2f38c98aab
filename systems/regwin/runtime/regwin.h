/* regwin: threads in cyclic register windows, for SPARC V8 and Xtensa on the bare machine; what is of the processor is in
 * regwin_machine.h. What follows on windows, floating point, time and faults is of SPARC.
 *
 * One processor. Threads, a ready queue and byte streams, about 3 KiB of code; nothing is
 * allocated: every thread, stack and buffer is the caller's. No function here uses the heap,
 * floating point or libgcc.
 *
 * Building. `meanwhile regwin build` writes a folder with a library, this header, a linker script,
 * a Makefile and a pkg-config file, which have the flags. The options that the library was built
 * with are in regwin_options.h:
 *
 *   SCHEME_NS, SCHEME_SNP, SCHEME_SP or SCHEME_ADAPTIVE
 *   WORKING_SET      a woken thread whose windows are resident is the next to run (of its priority)
 *   PRIORITIES       32 fixed priorities; a mutex lends its owner the priority of the threads that
 *   wait for it PREEMPT          interrupts, the clock, time slices, waits that end after a time
 *   FPU              floating point in threads, main and machine_idle THR_TLS          __thread: so
 *   many bytes of variables that each thread has for itself STACK_UNCHECKED  no look at stacks at
 *   switches and window overflows: 4 to 6 cycles less each (ERC32)
 *
 * %g2 to %g7 are the runtime's. The number of windows, 4 to 32, is found at boot.
 *
 * Floating point. Without FPU its first instruction is trap 4. With it a thread's record is 136
 * bytes longer, a switch that loads a thread from memory takes 5 cycles more, and a thread that
 * computes with float or double takes a trap when another one did so before it. No other thread
 * pays, and a switch between threads with windows costs nothing more. Rounding and exceptions
 * (%fsr) are each thread's own; sqrt is an instruction with -fno-math-errno. long double calls
 * routines that are not here. So does -msoft-float: no compiler of Debian brings __adddf3 and its
 * like for 32-bit SPARC. If you link your own, say -DTHR_SOFT_FLOAT.
 *
 * Starting. The program gives `main`, which runs as the boot thread, makes threads and returns;
 * they run then. It gives `machine_idle`, which runs when no thread is ready: all have ended, or
 * all wait. It may call thr_report and must not return.
 *
 * C++. Constructors run before main, destructors of what is global never. There are no exceptions,
 * no new and no delete: compile with -fno-exceptions -fno-rtti -fno-threadsafe-statics
 * -fno-use-cxa-atexit, and give operator delete if a destructor is virtual.
 *
 * A C library. lib/regwin-libc.o has what newlib and picolibc ask for: write to the console, sbrk (from
 * the image to __heap_end, which the linker script says), locks that are mutexes, setjmp and
 * longjmp, _exit. errno is each thread's own if the library has it in __thread, which needs THR_TLS.
 * Handlers of interrupts call nothing of it that has a lock: malloc, stdio.
 *
 * Time. Switches, single wakes and semaphores have no loop whose length depends on the number of
 * threads. These have one, and interrupts are masked meanwhile: the end of a thread, which wakes
 * all that join it; a list of waiting threads, which is kept in order by a walk along it, and so
 * are the waits that end after a time. `meanwhile regwin wcet` gives the longest of a linked
 * program. A switch stores at most as many windows as there are.
 *
 * Faults. A trap without a handler prints its type, pc and thread on the console and stops the
 * machine. So does a stack that is too small: at each switch, window overflow, flush and interrupt
 * the newest frame must lie inside, before any window is stored. What a function itself writes
 * below its stack before that is not seen.
 */
#ifndef REGWIN_H
#define REGWIN_H
#include "regwin_options.h"

#ifdef __cplusplus
extern "C" {
/* Called by the runtime, so that they have the names of C. */
int main(void);
void machine_idle(void);
#endif

#include "regwin_machine.h"

/* Waiting threads. */
struct thr_list {
    struct thr *first, *last;
};

/* A thread's record: the caller's memory, the runtime's contents, but `local`, which is the program's. */
struct thr {
    THR_REGISTERS
    struct thr *next;           /* in the ready queue or in a list */
    unsigned hint, patience;
    const char *name;
    unsigned *stack;            /* its lowest word is the guard */
    const void *waits;          /* what it waits for; that begins with its name */
    int waits_for;              /* THR_RUNS, THR_WAITS_... */
    int alive;
    unsigned stamp;             /* allocation `lru`: the time of its last switch */
    unsigned slot;              /* its place among those that thr_report looks at */
    struct thr *prev;
    struct thr_list *in;        /* the list that it waits in */
    struct thr_list joiners;
    void *local;                /* thread-local storage: what the program likes, 0 at first */
#ifdef PRIORITIES
    unsigned priority, base;    /* as it is now, and without what mutexes lend */
    unsigned queued;
    struct mutex *held;
#endif
#ifdef PREEMPT
    unsigned wakes_at;
    int timed_out;
    struct thr *timed_next, **timed;
#endif
#ifdef FPU
    unsigned fpu[32] __attribute__((aligned(8))), fsr; /* while another thread has the floating point registers */
#endif
} __attribute__((aligned(8)));  /* stored by pairs of words */

#ifdef THR_TLS
/* With __thread a record has the thread's own variables in front of it, where the compiler looks for them: below %g7. What a program
 * gives thr_create is `thr` of one of these; else it is refused. Their first values are copied when
 * the thread is made. Handlers of interrupts see those of the interrupted thread. */
struct thr_tls {
    unsigned mark, unused;      /* THR_TLS_MARK */
    unsigned char bytes[THR_TLS];
    struct thr thr;
};
#define THR_TLS_MARK 0x746c7321u
#define THR_TLS_RECORD {.mark = THR_TLS_MARK}
#endif

enum {
    THR_RUNS, THR_WAITS_BYTES, THR_WAITS_ROOM, THR_WAITS_SEMAPHORE, THR_WAITS_MUTEX, THR_WAITS_ITEM, THR_WAITS_SPACE,
    THR_WAITS_END, THR_WAITS_TIME
};

/* What a function that can fail returns, if not 0. */
enum { THR_REFUSED = -1, THR_TIMEOUT = -2, THR_DEADLOCK = -3 };

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
/* Makes a thread that calls entry(argument), and ends when that returns; it is ready at once. `stack` is `bytes` long
 * and aligned to 8; it and `name` are used as long as the thread lives. From main or from any
 * thread. Returns 0, or THR_REFUSED if there are THR_MAX threads, if `bytes` is below THR_STACK_MIN
 * or goes beyond the end of memory, if the stack is not aligned, if there is no `entry`, if the
 * record is that of a thread that has not ended, or with THR_TLS if it is no part of a struct
 * thr_tls; nothing has happened then. */
int thr_create(struct thr *thread, const char *name, void *stack, unsigned bytes, void (*entry)(void *), void *argument);

/* Waits until a thread has ended: its record and its stack are the caller's then. THR_REFUSED for the running thread. */
int thr_join(struct thr *thread);

/* Threads that have not ended. */
unsigned thr_alive(void);

#ifdef PRIORITIES
/* Priorities are 0, the most urgent, to 31; thr_create gives 16, main runs at 0. The most urgent ready thread runs. One that
 * becomes ready and is more urgent than the running one runs at once; without PREEMPT this happens
 * only in calls of the runtime. */
enum { THR_PRIORITIES = 32, THR_PRIORITY = 16 };
/* The same with a priority; THR_REFUSED also if there is no such priority. */
int thr_create_at(unsigned priority, struct thr *thread, const char *name, void *stack, unsigned bytes, void (*entry)(void *),
                  void *argument);
/* Another priority, from now on; what mutexes lend comes on top. THR_REFUSED if there is no such priority. */
int thr_set_priority(struct thr *thread, unsigned priority);
#endif

/* The two switches; thr_block chooses. */
void thr_block_leave(void);
void thr_block_flush(void);

/* Suspends the running thread and runs the next. Returns when another thread or a handler has called thr_wake for it. What is to do
 * that must know of the thread before this is called. Not from main and not from machine_idle. */
static inline void thr_block(enum thr_reason reason)
{
    if (reason == THR_FLUSH)
        thr_block_flush();
    else
        thr_block_leave();
}

/* Lets a suspended thread run again, after the threads that are ready (with WORKING_SET before them, if its windows are
 * still there). The caller runs on. The thread must be suspended; with PRIORITIES one that is ready
 * or runs is left as it is. */
void thr_wake(struct thr *thread);

/* Lets all ready threads run before the running one goes on; returns at once if there are none. */
void thr_yield(void);
/* The same for a long wait: THR_FLUSH. */
void thr_yield_flush(void);

/* As setjmp and longjmp, within one thread: thr_setjmp returns 0, and once more, with `value`, when thr_longjmp goes back there.
 * The function that called it must not have returned. */
int thr_setjmp(unsigned where[2]) __attribute__((returns_twice));
void thr_longjmp(const unsigned where[2], int value) __attribute__((noreturn));

/* A counter that threads wait for. `name` is for reports. */
struct semaphore {
    const char *name;
    unsigned count;
    struct thr_list waiters;
};
void semaphore_open(struct semaphore *s, const char *name, unsigned count);
void semaphore_take(struct semaphore *s);
/* Without waiting: THR_REFUSED if the count is 0. */
int semaphore_try(struct semaphore *s);
/* Also from interrupt handlers. */
void semaphore_give(struct semaphore *s);

/* Owned by one thread at a time; with PRIORITIES the owner is as urgent as the most urgent thread that waits for it, and so is
 * the thread that the owner waits for. Handed over in the order of the list. */
struct mutex {
    const char *name;
    struct thr *owner;
    struct thr_list waiters;
    struct mutex *next;         /* of those that the owner has */
};
void mutex_open(struct mutex *m, const char *name);
/* 0, or THR_DEADLOCK if the running thread has it or waiting would close a circle; nothing has happened then. */
int mutex_lock(struct mutex *m);
int mutex_try(struct mutex *m);
/* THR_REFUSED if it is not the running thread's. */
int mutex_unlock(struct mutex *m);

/* Messages of `bytes` bytes each, copied in and out, in order. */
struct queue {
    const char *name;
    unsigned char *items;
    unsigned bytes, capacity, n_items, read_at;
    struct thr_list senders, receivers;
};
/* Empty, for `capacity` messages, 1 or more, at `items`. */
void queue_open(struct queue *q, const char *name, void *items, unsigned bytes, unsigned capacity);
void queue_send(struct queue *q, const void *item);
void queue_receive(struct queue *q, void *item);
/* Without waiting, also from interrupt handlers: THR_REFUSED if it is full, or empty. */
int queue_try_send(struct queue *q, const void *item);
int queue_try_receive(struct queue *q, void *item);

/* Blocks of one size, to be taken and given back. */
struct pool {
    struct semaphore free;
    void *first;
};
/* `n` blocks of `bytes` bytes each, at `memory`. THR_REFUSED if one of the two is no multiple of 4, or `bytes` is 0. */
int pool_open(struct pool *p, const char *name, void *memory, unsigned bytes, unsigned n);
void *pool_take(struct pool *p);
/* Without waiting, also from interrupt handlers: 0 if no block is free. */
void *pool_try(struct pool *p);
/* A block of this pool, once. Also from interrupt handlers. */
void pool_give(struct pool *p, void *memory);

/* Deferred work: a function that an interrupt handler leaves to a thread. */
struct work {
    void (*run)(void *);
    void *argument;
    struct work *next;
    int posted;
};
/* Also from interrupt handlers. Posted again before it ran, it runs once. */
void work_post(struct work *w);
/* The entry of the thread that does it; never returns. */
void work_loop(void *unused);

#ifdef PREEMPT
/* Interrupts. A handler runs at its level, on a stack of its own (THR_IRQ_STACK bytes, in regwin_options.h): those of higher levels
 * come meanwhile. It may use what is said to be for handlers, and thr_wake; no floating point, and
 * nothing that waits: that stops the machine with `regwin: a handler calls NAME`.
 * A thread that it makes ready runs when the outermost handler has returned. */
typedef void irq_handler(void *argument);
/* Levels 1 to 14. THR_REFUSED if the level is in use or is none, or there is no handler. The interrupt controller lets it through from now on. */
int irq_attach(unsigned level, irq_handler *handler, void *argument);
void irq_detach(unsigned level);
/* Raises an interrupt by software. */
void irq_raise(unsigned level);
/* Masks all interrupts up to 14; irq_unlock puts back what was there. Pairs nest, and each has its own value. Nothing that waits may be
 * called between. `meanwhile regwin wcet` bounds the time between them. */
unsigned irq_lock(void);
void irq_unlock(unsigned before);

/* Starts the clock, which has the interrupt THR_TIMER_IRQ (regwin_options.h): a tick every `ticks` ticks of the timer unit's prescaler, which is left as the boot loader set it.
 * If that has another handler, the machine stops and says so. At each tick the running thread is
 * interrupted as if it had called thr_yield there. 0 stops the clock. */
void thr_preempt(unsigned ticks);
/* Ticks of the clock so far. */
unsigned thr_now(void);
/* Waits for so many ticks, 1 or more: at least n - 1 whole ones pass. */
void thr_sleep(unsigned ticks);
/* The same as without `_for`, for at most so many ticks, 1 or more: THR_TIMEOUT. */
int semaphore_take_for(struct semaphore *s, unsigned ticks);
int mutex_lock_for(struct mutex *m, unsigned ticks);
int queue_send_for(struct queue *q, const void *item, unsigned ticks);
int queue_receive_for(struct queue *q, void *item, unsigned ticks);
/* 0 if no block became free. */
void *pool_take_for(struct pool *p, unsigned ticks);
#endif

/* What a loop between irq_lock and irq_unlock says to `meanwhile regwin wcet`: its body runs `most` times at most, each time that the
 * loop is reached. `for` or `while`, with its parentheses:
 *
 *     THR_LOOP(16, for (unsigned i = 0; i < n; i++))
 *         sum += sample[i];
 *
 * `most` is a constant; nothing checks it. A nop before the loop and one in its body carry it. */
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

/* The console: LEON3's serial port, by polling; on Xtensa the simulator's. */
void console_text(const char *text);
void console_hex(unsigned value);
void console_number(unsigned value);
/* Ends the machine. */
void machine_stop(void) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
#endif

/* regwin: threads in cyclic register windows for SPARC V8.
 *
 * Link boot.S, ready.S, threads.c, streams.c, int64.c, console.c and the four files of one scheme
 * (overflow, underflow, flush, switch), compiled with -DSCHEME_NS, -DSCHEME_SNP, -DSCHEME_SP or -DSCHEME_ADAPTIVE.
 * One processor, no preemption: a thread runs until it blocks, yields or returns. Compile for the
 * windows with %g2-%g7 reserved: gcc -mno-app-regs -ffixed-g5, clang -ffixed-g2 to -ffixed-g7.
 */
#ifndef REGWIN_H
#define REGWIN_H

/* The first fields are those that window.h names. */
struct thr {
    unsigned psr, wim, sp, pc, refusals;
    struct thr *next;
    unsigned hint, patience;
    const char *name;
    unsigned *stack;            /* its lowest word is the guard */
    const struct stream *waits; /* the stream that it waits for */
    int waits_for;              /* THR_WAITS_... */
    int alive;
} __attribute__((aligned(8))); /* stored by pairs of words */

enum { THR_RUNS, THR_WAITS_BYTES, THR_WAITS_ROOM };
enum { THR_LEAVE, THR_FLUSH };

#define THR_MAX 32
#define THR_GUARD 0x57494e44u
/* What a stack needs before the first call of its thread. */
#define THR_STACK_MIN 512

extern struct thr thr_boot, thr_idle;
extern const unsigned window_last; /* number of windows less one */

/* The running thread. */
static inline struct thr *thr_self(void)
{
    struct thr *self;
    __asm__ volatile("mov %%g7, %0" : "=r"(self));
    return self;
}

/* Makes a thread that calls entry(argument); it is ready at once. `stack` has `bytes` bytes and is
 * aligned to 8. Returns 0, or -1 if the table of threads is full or the stack too small. */
int thr_create(struct thr *thread, const char *name, void *stack, unsigned bytes, void (*entry)(void *), void *argument);

/* Suspends the running thread and runs the next. Its windows stay where they are. */
void thr_block(void);
/* The same for a long sleep: its windows are stored at once, which is cheaper than later, one by one. */
void thr_block_flush(void);
/* Lets a suspended thread run again. */
void thr_wake(struct thr *thread);
/* Lets all ready threads run before the running one goes on. */
void thr_yield(void);

/* Stores all windows of the running thread but the current one: its stack can be read then. */
static inline void thr_flush(void)
{
#ifndef SCHEME_FLAT
    __asm__ volatile("ta 3" : : : "memory");
#endif
}

/* A cyclic byte buffer: any number of writers, one reader. */
struct stream {
    const char *name;
    unsigned char *bytes;
    unsigned capacity, n_bytes, read_at;
    struct thr *reader;         /* waits for bytes */
    struct thr *writer;         /* the first that waits for room; linked by `next_writer` */
    struct thr *writer_last;
    unsigned n_writers;         /* that have not closed it */
    struct stream *next_stream;
};

void stream_open(struct stream *s, const char *name, void *bytes, unsigned capacity, unsigned n_writers);
/* One of the writers has written all that it will. */
void stream_close(struct stream *s);
/* Writes one byte; waits for room. */
void stream_put(struct stream *s, unsigned byte);
/* Reads one byte; waits for one; -1 when all writers have closed it. */
int stream_get(struct stream *s);
/* Writes n bytes. */
void stream_write(struct stream *s, const void *bytes, unsigned n);
/* Reads n bytes, fewer only at the end; returns their number. */
unsigned stream_read(struct stream *s, void *bytes, unsigned n);

/* The console and the end of the machine. */
void console_text(const char *text);
void console_hex(unsigned value);
void console_number(unsigned value);
void machine_stop(void) __attribute__((noreturn));

#endif

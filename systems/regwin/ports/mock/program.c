/* Threads whose every register holds a pattern: they call, return, take turns, are interrupted, end, are ended, and begin again. At the
 * end: how many registers were wrong, and how much has happened. */
#include "mock.h"

static struct {
    unsigned seed;
} jobs[MOCK_THREADS];
static unsigned n_actions, n_wrong, n_ended, n_killed, n_stored;

static unsigned random_from(unsigned *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void thread(unsigned slot);
enum { SPIN, FLUSH, YIELD, DEEPER, INTERRUPT, DEEPER_TOO, AGAIN, RETURN };

/* A thread that has ended begins anew; another is ended now and then, wherever it is. The first stays. */
static void make_and_end(unsigned *seed)
{
    unsigned slot = random_from(seed) % MOCK_THREADS;
    if (!mock_is_alive(slot)) {
        mock_make(slot, thread);
    } else if (random_from(seed) % 4 == 0 && slot != mock_self() && slot != 0) {
        mock_kill(slot);
        n_killed++;
    }
}

#ifdef FLOATS
/* The registers of floating point keep what they have while others run. Thread 1 computes with them, as the kernel says. */
static void floats(unsigned seed)
{
    unsigned before[2] __attribute__((aligned(8))) = {seed, ~seed}, after[2] __attribute__((aligned(8)));
    __asm__ volatile("ldd [%1], %%f0\n ldd [%1], %%f30\n mov 60, %%g1\n 1: subcc %%g1, 1, %%g1\n bne 1b\n nop\n"
                     "std %%f0, [%2]\n ld [%2], %%g1\n std %%f30, [%2]\n st %%g1, [%2]\n"
                     : "=m"(after) : "r"(before), "r"(after) : "g1", "cc", "memory");
    n_wrong += after[0] != before[0] || after[1] != before[1];
}
#endif

/* What a frame does next. */
unsigned choose(unsigned depth);
unsigned choose(unsigned depth)
{
    unsigned *seed = &jobs[mock_self()].seed, n = random_from(seed) >> 8;
    if (++n_actions >= ACTIONS)
        return RETURN;
    if (n % 31 == 0)
        make_and_end(seed);
    if (n % 97 == 0)
        mock_ticks(3 + random_from(seed) % 200);
    if (n % 211 == 0) {
        mock_store_others();
        n_stored++;
    }
#ifdef FLOATS
    if (mock_self() == 1)
        floats(n);
#endif
#ifdef FAULTS
    if (n % 1009 == 0 && mock_self() != 0) {
        n_ended++;
        register unsigned reason __asm__("g1") = 4;
        __asm__ volatile("ta 15" : : "r"(reason) : "memory");
    }
#endif
    n = n / 1024 % 8;
    return depth == 0 && (n == DEEPER || n == DEEPER_TOO) ? YIELD : n;
}

void raise_one(void);
void raise_one(void)
{
    mock_raise(1 + n_actions % 5);
}

/* unsigned frame(unsigned seed, unsigned depth, unsigned n_wrong): the number of wrong registers so far. %i0 is the seed,
 * %i1 the depth, %i2 the number. */
unsigned frame(unsigned seed, unsigned depth, unsigned wrong);
#define PUT(k, r) "xor %i0, " #k ", " #r "\n"
#define GET(k, r) "xor %i0, " #k ", %g1\n cmp %g1, " #r "\n bne,a 1f\n add %i2, 1, %i2\n 1:\n"
#define KEPT(of) \
    of(1, %l0) of(2, %l1) of(3, %l2) of(4, %l3) of(5, %l4) of(6, %l5) of(7, %l6) of(8, %l7) of(9, %i3) of(10, %i4) of(11, %i5)
#define OUTS(of) \
    of(12, %o0) of(13, %o1) of(14, %o2) of(15, %o3) of(16, %o4) of(17, %o5) of(18, %o7) of(19, %g2) of(20, %g3) of(21, %g4)
#define AROUND(what) KEPT(PUT) OUTS(PUT) what KEPT(GET) OUTS(GET) "ba frame_next\n nop\n"
#define CALLS(what) KEPT(PUT) what KEPT(GET) "ba frame_next\n nop\n"
__asm__(".section .text.frame,\"ax\"\n.global frame\nframe:\n save %sp, -96, %sp\n"
        "frame_next: call choose\n mov %i1, %o0\n"
        "sll %o0, 2, %o0\n set frame_table, %o1\n ld [%o1 + %o0], %o1\n jmp %o1\n nop\n"
        "frame_spin:\n" AROUND("wr %i0, %y\n mov 40, %g1\n 2: subcc %g1, 1, %g1\n bne 2b\n nop\n rd %y, %g1\n cmp %g1, %i0\n"
                               "bne,a 3f\n add %i2, 1, %i2\n 3:\n")
        "frame_flush:\n" AROUND("ta 3\n")
        "frame_yield:\n" CALLS("call mock_yield\n nop\n")
        "frame_interrupt:\n" CALLS("call raise_one\n nop\n")
        "frame_deeper:\n" CALLS("add %i0, 77, %o0\n sub %i1, 1, %o1\n call frame\n clr %o2\n add %i2, %o0, %i2\n")
        /* Frames that open late and close early, as compilers make them. */
        "frame_again:\n" OUTS(PUT) "call opens_late\n mov %i0, %o0\n cmp %o0, %i0\n bne,a 1f\n add %i2, 1, %i2\n 1: ba frame_next\n nop\n"
        "opens_late: mov 15, %o5\n mov %o7, %o4\n save %sp, -96, %sp\n ta 3\n call raise_one\n nop\n restore %g0, %i0, %o3\n"
        "cmp %o5, 15\n bne,a 1f\n clr %o0\n 1: cmp %o3, %o0\n bne,a 1f\n clr %o0\n 1: jmp %o4 + 8\n nop\n"
        "frame_return: ret\n restore %i2, 0, %o0\n.previous\n"
        ".section .rodata\n.align 4\nframe_table: .word frame_spin, frame_flush, frame_yield, frame_deeper, frame_interrupt,"
        "frame_deeper, frame_again, frame_return\n.previous\n");

/* A handler with frames of its own. */
static __attribute__((noinline)) unsigned sum(unsigned n)
{
    unsigned below = n ? sum(n - 1) : 0;
    __asm__ volatile("" : "+r"(below));
    return below + n;
}

int program_interrupted(void)
{
    static unsigned seed = 99;
    unsigned n = random_from(&seed) % 11;
    n_wrong += sum(n) != n * (n + 1) / 2;
    return n < 6;
}

static void thread(unsigned slot)
{
    unsigned rounds = 1 + random_from(&jobs[slot].seed) % 8;
    while ((rounds-- || slot == 0) && n_actions < ACTIONS)
        n_wrong += frame(random_from(&jobs[slot].seed), 1 + random_from(&jobs[slot].seed) % DEPTH, 0);
    n_ended++;
}

void program_begins(void)
{
    for (unsigned slot = 0; slot < MOCK_THREADS; slot++) {
        jobs[slot].seed = SEED * 7919 + slot;
        mock_make(slot, thread);
    }
    mock_ticks(50);
}

static void say(const char *what, unsigned n)
{
    mock_text(what);
    mock_number(n);
}

void program_ends(void)
{
    say("wrong ", n_wrong);
    say(" actions ", n_actions);
    say(" switches ", mock_switches);
    say(" interrupts ", mock_interrupts);
    say(" ended ", n_ended);
    say(" killed ", n_killed);
    say(" stored ", n_stored);
    mock_text("\n");
    mock_stop();
}

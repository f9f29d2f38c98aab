/* Every register of every window holds a pattern, whatever comes between: calls, switches, interrupts, traps, flushes, long
 * jumps and other threads' floating point. At the end: how many registers were wrong, and how much
 * has happened. */
#include <regwin.h>

#define N_THREADS 5
#define DEPTH 14

static struct thr threads[N_THREADS];
static unsigned stacks[N_THREADS][2048] __attribute__((aligned(8)));
static struct {
    unsigned seed;
    void *jump[5];
} jobs[N_THREADS];
unsigned n_traps, n_interrupts, n_actions;
static unsigned n_wrong, n_jumps;

static unsigned random_from(unsigned *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static unsigned me(void)
{
    return (unsigned)(thr_self() - threads);
}

enum { SPIN, TRAP, FLUSH, YIELD, YIELD_FLUSH, DEEPER, INTERRUPT, RETURN };

/* What a frame does next. */
unsigned choose(unsigned depth);
unsigned choose(unsigned depth)
{
    unsigned *seed = &jobs[me()].seed, n = random_from(seed) >> 8;
    if (++n_actions >= ACTIONS)
        return RETURN;
    if (depth == 0 && n % 8 == DEEPER)
        return RETURN;
    if (n % 97 == 0)
        thr_preempt(3 + random_from(seed) % 200);
    return n % 8;
}

void raise_one(void);
void raise_one(void)
{
    irq_raise(1 + 2 * (n_actions & 3));
}

/* unsigned frame(unsigned seed, unsigned depth, unsigned n_wrong): the number of wrong registers so far. %i0 is the seed,
 * %i1 the depth, %i2 the number. */
unsigned frame(unsigned seed, unsigned depth, unsigned wrong);
#define PUT(k, r) "xor %i0, " #k ", " #r "\n"
#define GET(k, r) "xor %i0, " #k ", %g1\n cmp %g1, " #r "\n bne,a 1f\n add %i2, 1, %i2\n 1:\n"
#define KEPT(of) \
    of(1, %l0) of(2, %l1) of(3, %l2) of(4, %l3) of(5, %l4) of(6, %l5) of(7, %l6) of(8, %l7) of(9, %i3) of(10, %i4) of(11, %i5)
#define OUTS(of) of(12, %o0) of(13, %o1) of(14, %o2) of(15, %o3) of(16, %o4) of(17, %o5) of(18, %o7)
#define AROUND(what) KEPT(PUT) OUTS(PUT) what KEPT(GET) OUTS(GET) "ba frame_next\n nop\n"
#define CALLS(what) KEPT(PUT) what KEPT(GET) "ba frame_next\n nop\n"
__asm__(".section .text.frame,\"ax\"\n.global frame\nframe:\n save %sp, -96, %sp\n"
        "frame_next: call choose\n mov %i1, %o0\n"
        "sll %o0, 2, %o0\n set frame_table, %o1\n ld [%o1 + %o0], %o1\n jmp %o1\n nop\n"
        "frame_spin:\n" AROUND("wr %i0, %y\n mov 40, %g1\n 2: subcc %g1, 1, %g1\n bne 2b\n nop\n rd %y, %g1\n cmp %g1, %i0\n"
                               "bne,a 3f\n add %i2, 1, %i2\n 3:\n")
        "frame_trap:\n" AROUND("ta 5\n")
        "frame_flush:\n" AROUND("ta 3\n")
        "frame_yield:\n" CALLS("call thr_yield\n nop\n")
        "frame_yield_flush:\n" CALLS("call thr_yield_flush\n nop\n")
        "frame_interrupt:\n" CALLS("call raise_one\n nop\n")
        "frame_deeper:\n" CALLS("add %i0, 77, %o0\n sub %i1, 1, %o1\n call frame\n clr %o2\n add %i2, %o0, %i2\n")
        "frame_return: ret\n restore %i2, 0, %o0\n.previous\n"
        ".section .rodata\n.align 4\nframe_table: .word frame_spin, frame_trap, frame_flush, frame_yield, frame_yield_flush, frame_deeper,"
        "frame_interrupt, frame_return\n.previous\n");

/* A trap of the program's own: it keeps all but its window's locals, unless it is to show that the check sees. */
#ifdef BREAKS
#define DAMAGE "st %l5, [%l4 + %lo(n_traps)]\n and %l5, 63, %l6\n cmp %l6, 63\n be,a 1f\n not %i3, %i3\n 1:\n"
#else
#define DAMAGE "st %l5, [%l4 + %lo(n_traps)]\n"
#endif
void count_trap(void);
__asm__(".section .text.count,\"ax\"\n.global count_trap\ncount_trap:\n"
        "sethi %hi(n_traps), %l4\n ld [%l4 + %lo(n_traps)], %l5\n add %l5, 1, %l5\n" DAMAGE
        "wr %l0, %psr\n nop\n nop\n nop\n jmp %l2\n rett %l2 + 4\n.previous\n");

/* A handler with windows of its own, some of them interrupted again. */
static __attribute__((noinline)) unsigned sum(unsigned n)
{
    unsigned below = n ? sum(n - 1) : 0;
    __asm__ volatile("" : "+r"(below));
    return below + n;
}

static void on_interrupt(void *level)
{
    unsigned n = 1 + (unsigned)level;
    n_interrupts++;
    n_wrong += sum(n) != n * (n + 1) / 2;
}

/* All registers of floating point, before and after. */
void floats_put(const unsigned *from);
void floats_get(unsigned *to);
#define F(k) #k
#define EACH(of) \
    of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8) of(9) of(10) of(11) of(12) of(13) of(14) of(15) of(16) of(17) of(18) of(19) \
    of(20) of(21) of(22) of(23) of(24) of(25) of(26) of(27) of(28) of(29) of(30) of(31)
#define LOAD(k) "ld [%o0 + 4 * " F(k) "], %f" F(k) "\n"
#define STORE(k) "st %f" F(k) ", [%o0 + 4 * " F(k) "]\n"
__asm__(".section .text.floats,\"ax\"\n.global floats_put, floats_get\n"
        "floats_put:\n" EACH(LOAD) "retl\n nop\nfloats_get:\n" EACH(STORE) "retl\n nop\n.previous\n");

/* gcc's own, where there are some, and the library's. */
#if defined(__clang__) || SEED % 4 == 3
#define SETJMP thr_setjmp((unsigned *)jobs[me()].jump)
#define LONGJMP thr_longjmp((unsigned *)jobs[me()].jump, 1)
#else
#define SETJMP __builtin_setjmp(jobs[me()].jump)
#define LONGJMP __builtin_longjmp(jobs[me()].jump, 1)
#endif
static __attribute__((noinline)) void jump_from(unsigned depth)
{
    if (depth == 0) {
        n_jumps++;
        LONGJMP;
    }
    thr_yield();
    jump_from(depth - 1);
    __asm__ volatile("" : : : "memory");
}

static __attribute__((noinline)) void jump(unsigned depth)
{
    if (SETJMP == 0)
        jump_from(depth);
}

static void run(void *x)
{
    unsigned i = (unsigned)x, floats[32], after[32];
    while (n_actions < ACTIONS) {
        unsigned seed = random_from(&jobs[i].seed);
        if (i % 2 == 0) {
            for (unsigned k = 0; k < 32; k++)
                floats[k] = seed + k;
            floats_put(floats);
        }
        n_wrong += frame(seed, DEPTH, 0);
        if (i % 2 == 0) {
            floats_get(after);
            for (unsigned k = 0; k < 32; k++)
                n_wrong += floats[k] != after[k];
        }
        jump(random_from(&jobs[i].seed) % 9);
    }
    thr_preempt(0);
}

int main(void)
{
    if (trap_attach(0x85, count_trap))
        console_text("no trap\n");
    for (unsigned level = 1; level < 8; level += 2)
        if (irq_attach(level, on_interrupt, (void *)(3 * level)))
            console_text("no interrupt\n");
    for (unsigned i = 0; i < N_THREADS; i++) {
        jobs[i].seed = SEED + 0x9e3779b9u * (i + 1);
        thr_create(&threads[i], "t", stacks[i], sizeof stacks[i], run, (void *)i);
    }
    thr_preempt(50);
    return 0;
}

void machine_idle(void *unused)
{
    (void)unused;
    const struct {
        const char *what;
        unsigned n;
    } seen[] = {{"wrong ", n_wrong}, {" traps ", n_traps}, {" interrupts ", n_interrupts}, {" jumps ", n_jumps}};
    for (unsigned i = 0; i < sizeof seen / sizeof *seen; i++) {
        console_text(seen[i].what);
        console_number(seen[i].n);
    }
    console_text("\n");
    thr_report();
    machine_stop();
}

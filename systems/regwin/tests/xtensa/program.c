/* Every register of every window holds a pattern, whatever comes between: calls of each size, switches, interrupts, moved stack
 * pointers, stores of all windows, long jumps. At the end: how many registers were wrong, and how
 * much has happened. */
#include <regwin.h>

#ifndef N_THREADS
#define N_THREADS 5
#endif
#ifndef DEPTH
#define DEPTH 14
#endif

static struct thr threads[N_THREADS];
static unsigned stacks[N_THREADS][2048] __attribute__((aligned(16)));
static struct {
    unsigned seed, jump[2];
} jobs[N_THREADS];
unsigned n_actions;
static unsigned n_wrong, n_jumps, n_interrupts, n_yields, n_ticks;

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

enum { SPIN, MOVE, FLUSH, YIELD, YIELD_FLUSH, INTERRUPT, CALL_4, CALL_8, CALL_12, RETURN, YIELD_RETURN };

/* What a frame does next. */
unsigned choose(unsigned depth);
unsigned choose(unsigned depth)
{
    unsigned *seed = &jobs[me()].seed, n = random_from(seed) >> 8;
    if (++n_actions >= ACTIONS)
        return RETURN;
#ifdef PREEMPT
    if (n % 97 == 0)
        thr_preempt(PERIOD + random_from(seed) % (16 * PERIOD));
#endif
    static const unsigned char more[] = {RETURN, YIELD_RETURN, YIELD_RETURN, CALL_8, CALL_8};
    n %= CALL_12 + 1 + sizeof more;
    if (n > CALL_12)
        n = more[n - CALL_12 - 1];
    if (n == YIELD || n == YIELD_FLUSH || n == YIELD_RETURN)
        n_yields++;
    return depth == 0 && n >= CALL_4 && n <= CALL_12 ? RETURN : n;
}

void raise_one(void);
void raise_one(void)
{
#ifdef PREEMPT
    irq_raise(n_actions & 1 ? 7 : 11);
#endif
}

/* unsigned frame(unsigned seed, unsigned depth): the number of wrong registers. a2 is the seed, a3 the depth, a4 the number.
 * On the stack, which may move: seed, depth, the number over a call4. */
unsigned frame(unsigned seed, unsigned depth);
#define PUT(k, r) "addmi " #r ", a2, 256 * " #k "\n xor " #r ", " #r ", a3\n"
#define GET(k, r, with) "addmi " #with ", a2, 256 * " #k "\n xor " #with ", " #with ", a3\n beq " #with ", " #r ", 1f\n addi a4, a4, 1\n 1:\n"
#define KEEP "s32i a2, a1, 0\n s32i a3, a1, 4\n"
#define KEPT(with) "l32i " #with ", a1, 0\n beq " #with ", a2, 1f\n addi a4, a4, 1\n mov " #with ", a2\n 1: l32i " #with ", a1, 4\n" \
    "beq " #with ", a3, 1f\n addi a4, a4, 1\n 1:\n"
#define CALLS(what) "l32r a8, .Lf_" #what "\n callx8 a8\n"
/* What a frame returns in a3 to a5, and the caller's look at it: the callee had another seed and depth. */
#define RESULT(k, r) "addmi " #r ", a2, 256 * " #k "\n xor " #r ", " #r ", a3\n"
#define SEEN(k, r, with, too) "addi " #with ", a2, 77\n addmi " #with ", " #with ", 256 * " #k "\n addi " #too ", a3, -1\n" \
    "xor " #with ", " #with ", " #too "\n beq " #with ", " #r ", 1f\n addi a4, a4, 1\n 1:\n"
/* Over a call8: a2 to a7. */
#define AROUND(what) KEEP PUT(5, a5) PUT(6, a6) PUT(7, a7) what GET(5, a5, a8) GET(6, a6, a8) GET(7, a7, a8) KEPT(a8) "j frame_next\n"
/* The stack pointer moves down when the caller is stored, and back when it may be again. */
#define MOVES(with, bytes) "addi a5, a1, 0\n addi a6, a1, -" #bytes "\n l32r a8, .Lf_flush\n callx8 a8\n or " #with ", a6, a6\n movsp a1, " #with "\n" \
    CALLS(yield) "addi a7, a1, " #bytes "\n beq a7, a5, 1f\n addi a4, a4, 1\n 1: movsp a1, a5\n"
__asm__(".section .text.frame,\"ax\"\n.global frame\n"
        ".literal .Lf_choose, choose\n.literal .Lf_flush, thr_flush\n.literal .Lf_yield, thr_yield\n"
        ".literal .Lf_yield_flush, thr_yield_flush\n.literal .Lf_raise, raise_one\n.literal .Lf_frame, frame\n.literal .Lf_table, frame_table\n"
        ".p2align 2\n.type frame, @function\nframe: entry a1, 96\n movi a4, 0\n"
        "frame_next: or a10, a3, a3\n" CALLS(choose)
        "l32r a8, .Lf_table\n addx4 a8, a10, a8\n l32i a8, a8, 0\n jx a8\n"
        /* All registers, a loop of the processor's own, the shift. */
        "frame_spin:\n" KEEP PUT(5, a5) PUT(6, a6) PUT(7, a7) PUT(9, a9) PUT(10, a10) PUT(11, a11) PUT(12, a12) PUT(13, a13) PUT(14, a14)
        PUT(15, a15) PUT(1, a8)
        "ssr a8\n movi a8, 60\n loop a8, frame_spun\n addi a8, a8, -1\n xor a9, a9, a8\n xor a9, a9, a8\n frame_spun: beqz a8, 1f\n addi a4, a4, 1\n"
        "1: rsr a8, sar\n s32i a8, a1, 12\n" PUT(1, a8) "ssr a8\n rsr a8, sar\n s32i a9, a1, 16\n l32i a9, a1, 12\n beq a8, a9, 1f\n addi a4, a4, 1\n"
        "1: l32i a9, a1, 16\n" GET(5, a5, a8) GET(6, a6, a8) GET(7, a7, a8) GET(9, a9, a8) GET(10, a10, a8) GET(11, a11, a8) GET(12, a12, a8)
        GET(13, a13, a8) GET(14, a14, a8) GET(15, a15, a8) KEPT(a8) "j frame_next\n"
        "frame_move:\n" KEEP "bbsi a2, 0, 2f\n bbsi a2, 1, 3f\n" MOVES(a8, 64) KEPT(a8) "j frame_next\n"
        "2:" MOVES(a15, 12) KEPT(a8) "j frame_next\n"
        "3: s32i a2, a1, 12\n" MOVES(a2, 4) "l32i a2, a1, 12\n" KEPT(a8) "j frame_next\n"
        "frame_flush:\n" AROUND(CALLS(flush))
        "frame_yield:\n" AROUND(CALLS(yield))
        "frame_yield_flush:\n" AROUND(CALLS(yield_flush))
        "frame_interrupt:\n" AROUND(CALLS(raise))
        "frame_call_4:\n" KEEP "s32i a4, a1, 8\n addi a6, a2, 77\n addi a7, a3, -1\n l32r a4, .Lf_frame\n callx4 a4\n l32i a4, a1, 8\n add a4, a4, a6\n"
        SEEN(21, a7, a10, a11) SEEN(22, a8, a10, a11) SEEN(23, a9, a10, a11) KEPT(a8) "j frame_next\n"
        "frame_call_8:\n" AROUND("addi a10, a2, 77\n addi a11, a3, -1\n" CALLS(frame) "add a4, a4, a10\n"
                                 SEEN(21, a11, a14, a15) SEEN(22, a12, a14, a15) SEEN(23, a13, a14, a15))
        "frame_call_12:\n" KEEP PUT(5, a5) PUT(6, a6) PUT(7, a7) PUT(8, a8) PUT(9, a9) PUT(10, a10) PUT(11, a11)
        "addi a14, a2, 77\n addi a15, a3, -1\n l32r a12, .Lf_frame\n callx12 a12\n add a4, a4, a14\n"
        SEEN(21, a15, a12, a13)
        GET(5, a5, a12) GET(6, a6, a12) GET(7, a7, a12) GET(8, a8, a12) GET(9, a9, a12) GET(10, a10, a12) GET(11, a11, a12) KEPT(a12) "j frame_next\n"
        /* The frame that is gone on with returns at once, before a call makes room. */
        "frame_yield_return:\n" KEEP PUT(5, a5) PUT(6, a6) PUT(7, a7) CALLS(yield) GET(5, a5, a8) GET(6, a6, a8) GET(7, a7, a8) KEPT(a8)
        "frame_return: or a6, a4, a4\n" RESULT(22, a4) RESULT(23, a5) RESULT(21, a7) "or a2, a6, a6\n or a3, a7, a7\n retw\n.size frame, . - frame\n"
        ".section .rodata\n.p2align 2\nframe_table: .long frame_spin, frame_move, frame_flush, frame_yield, frame_yield_flush, frame_interrupt\n"
        ".long frame_call_4, frame_call_8, frame_call_12, frame_return, frame_yield_return\n.text\n");

#ifdef PREEMPT
/* A handler with windows of its own. */
static __attribute__((noinline)) unsigned sum(unsigned n)
{
    unsigned below = n ? sum(n - 1) : 0;
    __asm__ volatile("" : "+r"(below));
    return below + n;
}

static void on_interrupt(void *number)
{
    unsigned n = 1 + (unsigned)number;
    n_interrupts++;
    n_wrong += sum(n) != n * (n + 1) / 2;
}
#endif

static __attribute__((noinline)) void jump_from(unsigned depth)
{
    if (depth == 0) {
        n_jumps++;
        thr_longjmp(jobs[me()].jump, 7);
    }
    thr_yield();
    jump_from(depth - 1);
    __asm__ volatile("" : : : "memory");
}

static __attribute__((noinline)) void jump(unsigned depth)
{
    int result = thr_setjmp(jobs[me()].jump);
    if (result == 0)
        jump_from(depth);
    n_wrong += result != 7;
}

static void run(void *x)
{
    unsigned i = (unsigned)x;
    while (n_actions < ACTIONS) {
        unsigned seed = random_from(&jobs[i].seed);
        n_wrong += frame(seed, random_from(&jobs[i].seed) % (DEPTH + 1));
        jump(random_from(&jobs[i].seed) % 9);
    }
#ifdef PREEMPT
    thr_preempt(0);
#endif
}

int main(void)
{
#ifdef PREEMPT
    if (irq_attach(7, on_interrupt, (void *)7) || irq_attach(11, on_interrupt, (void *)11))
        console_text("no interrupt\n");
#endif
    for (unsigned i = 0; i < N_THREADS; i++) {
        jobs[i].seed = SEED + 0x9e3779b9u * (i + 1);
        thr_create(&threads[i], "t", stacks[i], sizeof stacks[i], run, (void *)i);
    }
#ifdef PREEMPT
    thr_preempt(PERIOD);
#endif
    return 0;
}

void machine_idle(void *unused)
{
    (void)unused;
#ifdef PREEMPT
    n_ticks = thr_now();
#endif
    const struct {
        const char *what;
        unsigned n;
    } seen[] = {{"wrong ", n_wrong}, {" yields ", n_yields}, {" interrupts ", n_interrupts}, {" jumps ", n_jumps}, {" ticks ", n_ticks}};
    for (unsigned i = 0; i < sizeof seen / sizeof *seen; i++) {
        console_text(seen[i].what);
        console_number(seen[i].n);
    }
    console_text("\n");
    thr_report();
    machine_stop();
}

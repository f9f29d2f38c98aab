/* What a user may write on the first day: streams, recursion, floating point, a timer, an interrupt, priorities. */
#include <regwin.h>

static struct stream samples, results;
static struct semaphore pressed;
static struct mutex console;
static struct thr source, filter, sink, button, urgent;
static unsigned char a[8], b[32];
static unsigned stacks[5][1024] __attribute__((aligned(8)));
static volatile unsigned n_presses;

static void line(const char *text, unsigned n)
{
    mutex_lock(&console);
    console_text(text);
    console_text(" ");
    console_number(n);
    console_text("\n");
    mutex_unlock(&console);
}

/* Ackermann's function goes deep. */
static unsigned ackermann(unsigned m, unsigned n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static void make_samples(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 100; i++)
        stream_put(&samples, ackermann(2, i % 8));
    stream_close(&samples);
}

static void filter_samples(void *unused)
{
    (void)unused;
    double mean = 0;
    int x;
    while ((x = stream_get(&samples)) >= 0) {
        mean += (x - mean) * 0.25;
        float half = (float)mean * 0.5f;
        stream_put(&results, (unsigned)(int)(half * 8));
    }
    stream_close(&results);
}

static void add_results(void *unused)
{
    (void)unused;
    unsigned sum = 0;
    double squares = 0;
    int x;
    while ((x = stream_get(&results)) >= 0) {
        sum += (unsigned)x;
        squares += (double)x * x;
    }
    line("sum", sum);
    line("squares", (unsigned)squares);
}

static void on_press(void *unused)
{
    (void)unused;
    n_presses++;
    semaphore_give(&pressed);
}

static void watch_button(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 3; i++)
        semaphore_take(&pressed);
    line("presses", n_presses);
}

static void press(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 3; i++) {
        unsigned before = thr_now();
        thr_sleep(2);
        if (thr_now() - before < 2)
            line("too early", i);
        irq_raise(9);
    }
    line("late", semaphore_take_for(&pressed, 4) == THR_TIMEOUT);
    thr_join(&sink);
}

int main(void)
{
    stream_open(&samples, "samples", a, sizeof a, 1);
    stream_open(&results, "results", b, sizeof b, 1);
    semaphore_open(&pressed, "pressed", 0);
    mutex_open(&console, "console");
    irq_attach(9, on_press, 0);
    thr_create(&source, "source", stacks[0], sizeof stacks[0], make_samples, 0);
    thr_create(&filter, "filter", stacks[1], sizeof stacks[1], filter_samples, 0);
    thr_create(&sink, "sink", stacks[2], sizeof stacks[2], add_results, 0);
    thr_create_at(3, &button, "button", stacks[3], sizeof stacks[3], watch_button, 0);
    thr_create_at(2, &urgent, "urgent", stacks[4], sizeof stacks[4], press, 0);
    thr_preempt(20000);
    return 0;
}

void machine_idle(void *unused)
{
    (void)unused;
    while (thr_alive())
        machine_wait();
    thr_report();
    machine_stop();
}

/* A producer, a worker that calls itself deep down, and a consumer; with the options that the library has. */
#include <regwin.h>

static struct stream numbers;
static struct semaphore done;
static struct thr producer, consumer;
static unsigned char bytes[16];
static unsigned stacks[2][1024] __attribute__((aligned(8)));

/* Each call is a register window. */
static unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void produce(void *unused)
{
    (void)unused;
    for (unsigned n = 1; n <= 10; n++)
        stream_put(&numbers, n);
    stream_close(&numbers);
    semaphore_give(&done);
}

static void consume(void *unused)
{
    (void)unused;
    int n;
    while ((n = stream_get(&numbers)) >= 0) {
        console_number(fibonacci((unsigned)n));
        console_text(n == 10 ? "\n" : " ");
    }
    semaphore_take(&done);
#ifdef FPU
    static volatile double third = 3;
    console_number((unsigned)(1e6 / third));
    console_text(" millionths are a third\n");
#endif
#ifdef PREEMPT
    thr_sleep(3);
    console_text("3 ticks later\n");
#endif
}

int main(void)
{
    stream_open(&numbers, "numbers", bytes, sizeof bytes, 1);
    semaphore_open(&done, "done", 0);
    thr_create(&producer, "producer", stacks[0], sizeof stacks[0], produce, 0);
    thr_create(&consumer, "consumer", stacks[1], sizeof stacks[1], consume, 0);
#ifdef PRIORITIES
    thr_set_priority(&consumer, 1);
#endif
#ifdef PREEMPT
    thr_preempt(1000);
#endif
    return 0;
}

/* Runs when no thread is ready. */
void machine_idle(void *unused)
{
    (void)unused;
#ifdef PREEMPT
    while (thr_alive())
        machine_wait();
#endif
    thr_report();
    machine_stop();
}

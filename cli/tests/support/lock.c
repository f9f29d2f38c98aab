/* Two threads of one program that take turns with a lock and spin while they wait. Under a manager: how long does one of
 * them spin while the other one has the lock and is frozen? A quantum at least, if the manager
 * froze single threads. Counted is the waiter's processor time while the kernel says of the other
 * one that it neither runs nor could run: what else runs on the machine takes time from both and is
 * not the manager's. With an argument the second thread sleeps in its section, as if it were frozen
 * alone. Ends with 1 if it was a quantum, with 2 if there is no manager. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { UNTIL = 14, SECTION = 1000000, QUANTUM_MS = 100, ASLEEP_S = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_known;
static uint64_t (*turns)(void);
static int sleeps;
static int states[2];
static double longest_ms[2];
static uint64_t sections[2];

static double own_ms(void)
{
    struct timespec it;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &it);
    return (double)it.tv_sec * 1e3 + (double)it.tv_nsec / 1e6;
}

/* It runs or waits for a processor only; what has ended counts as well. */
static int could_run(int state)
{
    char text[128];
    ssize_t n = pread(state, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    char *after_name = strrchr(text, ')');
    return !after_name || after_name[2] == 'R';
}

/* Takes the lock; the processor time spent while the other one, who has it, could not run. */
static double take(int own)
{
    double frozen_ms = 0, before = own_ms();
    int could = 1;
    while (pthread_mutex_trylock(&lock)) {
        int can = could_run(states[!own]);
        double now = own_ms();
        if (!could && !can)
            frozen_ms += now - before;
        could = can;
        before = now;
    }
    return frozen_ms;
}

static void *work(void *argument)
{
    int own = (int)(intptr_t)argument;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", gettid());
    states[own] = open(path, O_RDONLY);
    pthread_barrier_wait(&both_known);
    while (turns() < UNTIL) {
        double frozen_ms = take(own);
        if (frozen_ms > longest_ms[own])
            longest_ms[own] = frozen_ms;
        for (volatile int i = 0; i < SECTION; i++)
            ;
        if (own && sleeps && !sections[own])
            sleep(ASLEEP_S);
        sections[own]++;
        pthread_mutex_unlock(&lock);
        /* The other one's turn. */
        for (volatile int i = 0; i < SECTION / 10; i++)
            ;
    }
    return 0;
}

int main(int n, char **words)
{
    (void)words;
    turns = (uint64_t (*)(void))dlsym(RTLD_DEFAULT, "meanwhile_turns");
    if (!turns)
        return 2;
    sleeps = n > 1;
    pthread_barrier_init(&both_known, 0, 2);
    pthread_t other;
    pthread_create(&other, 0, work, (void *)1);
    work(0);
    pthread_join(other, 0);
    fprintf(stderr, "sections %llu and %llu, longest waits %.1f and %.1f ms\n", (unsigned long long)sections[0],
            (unsigned long long)sections[1], longest_ms[0], longest_ms[1]);
    return longest_ms[0] >= QUANTUM_MS || longest_ms[1] >= QUANTUM_MS;
}

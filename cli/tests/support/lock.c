/* Two threads of one program that take turns with a lock and spin while they wait. Under a manager: how much processor
 * time does one of them spend on one wait? If the other were frozen with the lock, a quantum at least. Processor time, as
 * others on a busy machine take time from both. Ends with 1 if it was a quantum, with 2 if there is no manager. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { UNTIL = 14, SECTION = 1000000, QUANTUM_MS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t (*turns)(void);
static double longest_ms[2];
static uint64_t sections[2];

static double own_ms(void)
{
    struct timespec it;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &it);
    return (double)it.tv_sec * 1e3 + (double)it.tv_nsec / 1e6;
}

static void *work(void *argument)
{
    int own = (int)(intptr_t)argument;
    while (turns() < UNTIL) {
        double before = own_ms();
        while (pthread_mutex_trylock(&lock))
            ;
        double waited = own_ms() - before;
        if (waited > longest_ms[own])
            longest_ms[own] = waited;
        for (volatile int i = 0; i < SECTION; i++)
            ;
        sections[own]++;
        pthread_mutex_unlock(&lock);
        /* The other one's turn. */
        for (volatile int i = 0; i < SECTION / 10; i++)
            ;
    }
    return 0;
}

int main(void)
{
    turns = (uint64_t (*)(void))dlsym(RTLD_DEFAULT, "meanwhile_turns");
    if (!turns)
        return 2;
    pthread_t other;
    pthread_create(&other, 0, work, (void *)1);
    work(0);
    pthread_join(other, 0);
    fprintf(stderr, "sections %llu and %llu, longest waits %.1f and %.1f ms\n", (unsigned long long)sections[0],
            (unsigned long long)sections[1], longest_ms[0], longest_ms[1]);
    return longest_ms[0] >= QUANTUM_MS || longest_ms[1] >= QUANTUM_MS;
}

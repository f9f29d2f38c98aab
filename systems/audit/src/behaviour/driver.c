/* Calls one function on random inputs, and prints a line a run: what came of it, and a hash of its
   result, of all memory it was given, of its objects and of the calls that it made. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { REGIONS = 24, REGION_BYTES = 2048, OWN = 8 };

static unsigned char *arena;
static int may_alias, has_null;
static uint64_t state, calls;
static sigjmp_buf back;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1d;
}

static uintptr_t region(unsigned long nth)
{
    return (uintptr_t)(arena + nth * REGION_BYTES);
}

/* Small numbers are counts and indices, so most are small. */
static uint64_t number(void)
{
    uint64_t kind = next() >> 60, value = next() >> 8;
    if (kind < 8)
        return value % 17;
    if (kind < 12)
        return value % 256;
    return kind < 14 ? value % 33 - 16 : value;
}

static uintptr_t pointer(unsigned long own)
{
    /* Where objects may be one, a pointer also leads into the middle of one, to a member. */
    if (may_alias)
        return region((next() >> 8) % 4) + (next() >> 62 ? 0 : (next() >> 8) % 8 * 8);
    return region(OWN + own % (REGIONS - OWN));
}

/* Words: a pointer, or numbers of 1, 2, 4 or 8 bytes, whatever the members there are. */
static void fill(unsigned char *to, unsigned long bytes, unsigned long own)
{
    for (unsigned long at = 0; at < bytes; at += 8) {
        unsigned char word[8];
        unsigned long width = 1ul << (next() >> 62);
        for (unsigned long from = 0; from < 8; from += width) {
            uint64_t value = number();
            memcpy(word + from, &value, width);
        }
        for (unsigned long from = 0; from < 8; from += sizeof(uintptr_t)) {
            uintptr_t value = pointer(own * 13 + (at + from) / sizeof value);
            if (next() >> 60 < 5)
                memcpy(word + from, &value, sizeof value);
        }
        memcpy(to + at, word, bytes - at < 8 ? bytes - at : 8);
    }
}

static uint64_t hashed(uint64_t hash, const void *from, unsigned long bytes)
{
    uint64_t word = 0;
    for (unsigned long at = 0; at < bytes; at += sizeof word) {
        memcpy(&word, (const char *)from + at, bytes - at < sizeof word ? bytes - at : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    }
    return hash;
}

/* What a parameter leads to; now and then nothing. */
static void *passed(unsigned long nth)
{
    if (next() >> 60 == 0) {
        has_null = 1;
        return 0;
    }
    return (void *)(may_alias ? pointer(nth) : region(nth % OWN));
}

/* A callee changes what it is passed a pointer to, if that may be changed. */
static void changes(uintptr_t to)
{
    if (to - region(0) <= (REGIONS - 1) * REGION_BYTES)
        fill((unsigned char *)to, 64, next() >> 8);
}

static void called(uint64_t which, uint64_t argument)
{
    calls = hashed(hashed(calls, &which, sizeof which), &argument, sizeof argument);
}

static unsigned char reached[@BYTES@ + 1];

static void ended(int sent)
{
    unsigned long all = 0;
    for (unsigned long at = 0; at < sizeof reached - 1; at++)
        all += reached[at];
    dprintf(1, "reached %lu\n", all);
    _exit(sent ? 1 : 0);
}

static void stopped(int sent)
{
    siglongjmp(back, sent);
}

@DECLARED@
static struct { unsigned char *at, *first; unsigned long bytes; int is_zero; } objects[] = {
@OBJECTS@    { 0, 0, 0, 0 }
};

/* Called by each block of a function that was compiled so. */
void __sanitizer_cov_trace_pc(void)
{
    uintptr_t at = (uintptr_t)__builtin_return_address(0) - (uintptr_t)meanwhile_subject;
    if (at < sizeof reached - 1)
        reached[at] = 1;
}

static uint64_t run(void)
{
@CALL@
}

static void prepare(unsigned long nth)
{
    state = 0x9e3779b97f4a7c15 * (@SEED@ + nth + 1);
    calls = 0;
    has_null = 0;
    may_alias = @ALIAS@ && nth % 2;
    for (unsigned long it = 0; it < REGIONS; it++)
        fill((unsigned char *)region(it), REGION_BYTES, it);
    for (int it = 0; objects[it].at; it++) {
        if (objects[it].is_zero)
            fill(objects[it].at, objects[it].bytes, 64 + it);
        else
            memcpy(objects[it].at, objects[it].first, objects[it].bytes);
    }
}

/* The argument has an `l` for each run that took too long before: it is not made again, and the others have more time, so
   that none of them ends before a limit that it met by chance. */
int main(int count, char **words)
{
    static unsigned char aside[1 << 16];
    static volatile unsigned long nth;
    static const char *skipped;
    const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGVTALRM };
    stack_t stack = { .ss_sp = aside, .ss_size = sizeof aside };
    struct sigaction action;
    struct itimerval limit = { { 0, 0 }, { 0, 100000 } };
    const struct itimerval none = { { 0, 0 }, { 0, 0 } };
    /* Of the processor: on a loaded machine it is as many runs as on a quiet one. */
    const struct itimerval all = { { 0, 0 }, { @SECONDS@, 0 } };
    if (count > 1) {
        skipped = words[1];
        limit.it_value.tv_usec = 500000;
    }
    arena = mmap((void *)0x20000000, REGIONS * REGION_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena != (unsigned char *)0x20000000)
        return 3;
    memset(&action, 0, sizeof action);
    action.sa_handler = stopped;
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&stack, 0);
    for (unsigned it = 0; it < sizeof signals / sizeof *signals; it++)
        sigaction(signals[it], &action, 0);
    for (int it = 0; objects[it].at; it++) {
        objects[it].first = malloc(objects[it].bytes);
        memcpy(objects[it].first, objects[it].at, objects[it].bytes);
    }
    signal(SIGPROF, ended);
    setitimer(ITIMER_PROF, &all, 0);
    signal(SIGALRM, ended);
    alarm(6 * @SECONDS@);
    for (nth = 0; nth < @RUNS@; nth++) {
        uint64_t hash = 0xcbf29ce484222325;
        int sent;
        if (skipped && nth < strlen(skipped) && skipped[nth] == 'l') {
            dprintf(1, "long\n");
            continue;
        }
        prepare(nth);
        sent = sigsetjmp(back, 1);
        if (!sent) {
            uint64_t result;
            setitimer(ITIMER_VIRTUAL, &limit, 0);
            result = run();
            hash = hashed(hash, &result, sizeof result);
        }
        setitimer(ITIMER_VIRTUAL, &none, 0);
        if (sent) {
            dprintf(1, "%s\n", sent == SIGVTALRM ? "long" : has_null ? "fault, null" : "fault");
            continue;
        }
        hash = hashed(hash, arena, REGIONS * REGION_BYTES);
        for (int it = 0; objects[it].at; it++)
            hash = hashed(hash, objects[it].at, objects[it].bytes);
        hash = hashed(hash, &calls, sizeof calls);
        dprintf(1, "end %016llx\n", (unsigned long long)hash);
    }
    ended(0);
}

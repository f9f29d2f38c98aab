/* A scenario: threads that do what a table says, on the bare machine. */
#include "regwin.h"
#include "kernel.h"

#define THREADS_MAX 24
#define STREAMS_MAX 32
#define BUFFER_MAX 1024
#define NEST_MAX 8
#define LOCKS_MAX 8
#define STACK_WORDS 8192

/* What the loader puts into memory; src/scenario.rs writes it. */
struct table {
    unsigned n_threads, n_streams;
    unsigned quantum; /* ticks after which a thread is interrupted; 0: never */
    struct {
        char name[16];
        unsigned capacity, n_writers;
    } streams[STREAMS_MAX];
    char mutexes[LOCKS_MAX][16];
    struct {
        char name[16];
        unsigned count;
    } semaphores[LOCKS_MAX];
    struct {
        char name[16];
        unsigned code; /* number of its first word in `words` */
    } threads[THREADS_MAX];
    unsigned words[];
};
#define TABLE ((const struct table *)0x40440000u)

enum { END, CALL, RETURN, PUT, GET, YIELD, REPEAT, AGAIN, CLOSE, FLUSH, SLEEP, LOCK, UNLOCK, TAKE, GIVE, PRIORITY, FLOAT, WAIT, TICK, TRY };

struct job {
    const unsigned *at;
    unsigned nest, left[NEST_MAX];
    unsigned sum, sent, n_wrong;
    unsigned kept, seen; /* what a register of floating point has */
};

static struct stream streams[STREAMS_MAX];
static struct mutex mutexes[LOCKS_MAX];
static struct semaphore semaphores[LOCKS_MAX];
static unsigned char buffers[STREAMS_MAX][BUFFER_MAX];
struct thr threads[THREADS_MAX];
static struct job jobs[THREADS_MAX];
static unsigned stacks[THREADS_MAX][STACK_WORDS] __attribute__((aligned(8)));

/* Hides from the compiler where a value comes from, so that it has to keep it. */
#define KEEP(value) __asm__ volatile("" : "+r"(value))

/* True if 64-bit quotients and remainders, of either sign, belong together. */
static int divides(unsigned long long n, unsigned d)
{
    unsigned long long q = n / d, r = n % d;
    long long negative = -(long long)(n >> 1), nq = negative / (int)d, nr = negative % (int)d;
    return q * d + r == n && r < d && nq * (int)d + nr == negative && nr <= 0 && nr > -(long long)d;
}

static void perform(struct job *job, unsigned depth);

/* Calls whose last instruction computes what is returned: the restore of a window that may have to be loaded adds a
 * register, a constant, or half of a 64-bit value. */
static __attribute__((noinline)) unsigned through_sum(struct job *job, unsigned depth, unsigned more)
{
    perform(job, depth);
    return depth + more;
}

static __attribute__((noinline)) unsigned through_constant(struct job *job, unsigned depth)
{
    perform(job, depth);
    return depth + 1001;
}

static __attribute__((noinline)) unsigned long long through_wide(struct job *job, unsigned depth, unsigned long long more)
{
    perform(job, depth);
    return more - depth;
}

/* True if the call brought another value than it should. */
static inline int deeper(struct job *job, unsigned depth, unsigned small, unsigned long long large)
{
    switch (depth % 4) {
    case 0:
        return through_sum(job, depth + 1, small) != depth + 1 + small;
    case 1:
        return through_constant(job, depth + 1) != depth + 1002;
    case 2:
        return through_wide(job, depth + 1, large) != large - depth - 1;
    default:
        perform(job, depth + 1);
        return 0;
    }
}

/* Does what the table says up to the next RETURN or END. Values of this frame are kept over calls
 * and waits, 64 bits wide too: if a window is lost or mixed up, they are wrong. */
static __attribute__((noinline)) void perform(struct job *job, unsigned depth)
{
    unsigned small = depth * 0x9e3779b9u ^ (unsigned)job;
    unsigned long long large = ((unsigned long long)small << 32 | ~small) + depth;
    unsigned char bytes[64];
    KEEP(small);
    KEEP(large);
    for (;;) {
        unsigned word = *job->at++, n = word & 0xffff, s = word >> 16 & 255;
        switch (word >> 24) {
        case CALL:
            job->n_wrong += (unsigned)deeper(job, depth, small, large);
            break;
        case PUT:
            for (unsigned i = 0; i < n && i < sizeof bytes; i++)
                bytes[i] = (unsigned char)job->sent++;
            stream_write(&streams[s], bytes, n);
            break;
        case GET: {
            unsigned n_read = stream_read(&streams[s], bytes, n);
            for (unsigned i = 0; i < n_read; i++)
                job->sum += bytes[i];
            break;
        }
        case YIELD:
            thr_yield();
            break;
        case FLUSH:
            thr_flush();
            break;
        case SLEEP:
            thr_yield_flush();
            break;
        case REPEAT:
            job->left[job->nest++] = n;
            break;
        case AGAIN:
            if (--job->left[job->nest - 1])
                job->at -= n;
            else
                job->nest--;
            break;
        case LOCK:
            mutex_lock(&mutexes[s]);
            break;
        case UNLOCK:
            mutex_unlock(&mutexes[s]);
            break;
        case TAKE:
            semaphore_take(&semaphores[s]);
            break;
        case GIVE:
            semaphore_give(&semaphores[s]);
            break;
        case PRIORITY:
#ifdef PRIORITIES
            thr_set_priority(thr_self(), n);
#endif
            break;
#ifdef PREEMPT
        case WAIT:
            thr_sleep(n);
            break;
        case TICK: {
            unsigned before = kernel_enter();
            clock_tick();
            kernel_leave(before);
            break;
        }
        case TRY:
            if (semaphore_take_for(&semaphores[s], n) == 0)
                semaphore_give(&semaphores[s]);
            else
                job->sum += 1000;
            break;
#endif
        case FLOAT:
#ifdef FPU
            __asm__ volatile("st %%f7, [%0]" : : "r"(&job->seen) : "memory");
            job->n_wrong += job->seen != job->kept;
            job->kept += n;
            __asm__ volatile("ld [%0], %%f7" : : "r"(&job->kept) : "memory");
#endif
            break;
        case CLOSE:
            stream_close(&streams[s]);
            break;
        default: {
            unsigned expected = depth * 0x9e3779b9u ^ (unsigned)job;
            KEEP(expected);
            if (depth % 4 == 1)
                job->n_wrong += !divides(large, 1000003u + depth);
            job->n_wrong += small != expected || large != ((unsigned long long)expected << 32 | ~expected) + depth;
            return;
        }
        }
    }
}

static void thread(void *argument)
{
    struct job *job = argument;
    perform(job, 0);
    job->nest = 0;
}

BOOT void machine_idle(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < TABLE->n_threads; i++) {
        console_text(TABLE->threads[i].name);
        console_text(" ");
        console_number(jobs[i].sum);
        console_text(jobs[i].n_wrong ? " wrong\n" : "\n");
    }
    thr_report();
    machine_stop();
}

BOOT int main(void)
{
    for (unsigned i = 0; i < TABLE->n_streams; i++)
        stream_open(&streams[i], TABLE->streams[i].name, buffers[i], TABLE->streams[i].capacity, TABLE->streams[i].n_writers);
    for (unsigned i = 0; i < LOCKS_MAX; i++) {
        mutex_open(&mutexes[i], TABLE->mutexes[i]);
        semaphore_open(&semaphores[i], TABLE->semaphores[i].name, TABLE->semaphores[i].count);
    }
    for (unsigned i = 0; i < TABLE->n_threads; i++) {
        jobs[i].at = TABLE->words + TABLE->threads[i].code;
        thr_create(&threads[i], TABLE->threads[i].name, stacks[i], sizeof stacks[i], thread, &jobs[i]);
    }
#ifdef PREEMPT
    thr_preempt(TABLE->quantum);
#endif
    return 0;
}

/* Lets an OpenMP program follow the processors it is given.
 *
 * Preloaded into a program of gcc's libgomp or LLVM's libomp. The manager and the program share a
 * page (the file named by MEANWHILE_TEAM): the manager writes a number of threads, and the next
 * parallel region has a team of that many; the library counts the regions that began. Programs
 * without OpenMP can count their own progress with the functions at the end.
 *
 * libgomp: the functions that compilers call for a parallel region are wrapped. libomp: an OMPT
 * tool. A change takes effect at the next region with libgomp, at the one after with libomp.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The page; systems/cosched/src/manager/team.rs has the same. */
struct page {
    _Atomic uint32_t team;     /* threads of the next region; 0: as the program wants */
    _Atomic uint32_t attached; /* 1: this library is in the program, 2: and its runtime asks it */
    _Atomic uint64_t progress; /* regions begun, or what the program counts */
    _Atomic uint64_t turns;    /* quanta that the program had */
};

static struct page *page;

__attribute__((constructor)) static void attach(void)
{
    const char *path = getenv("MEANWHILE_TEAM");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *at = mmap(0, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED)
        return;
    page = at;
    uint32_t none = 0;
    atomic_compare_exchange_strong(&page->attached, &none, 1);
}

/* The team of a region that begins now. */
static unsigned team(unsigned wanted)
{
    if (!page)
        return wanted;
    atomic_store(&page->attached, 2);
    atomic_fetch_add(&page->progress, 1);
    unsigned n = atomic_load(&page->team);
    return n ? n : wanted;
}

/* libgomp. RTLD_NEXT is the runtime that the program was linked with, libomp too if it plays libgomp. */
typedef void body(void *);
#define NEXT(name, type) \
    static __typeof__(type) *next; \
    if (!next) \
        next = (__typeof__(type) *)dlsym(RTLD_NEXT, name)

void GOMP_parallel(body *f, void *data, unsigned n, unsigned flags)
{
    NEXT("GOMP_parallel", void(body *, void *, unsigned, unsigned));
    next(f, data, team(n), flags);
}

void GOMP_parallel_start(body *f, void *data, unsigned n)
{
    NEXT("GOMP_parallel_start", void(body *, void *, unsigned));
    next(f, data, team(n));
}

void GOMP_parallel_sections(body *f, void *data, unsigned n, unsigned count, unsigned flags)
{
    NEXT("GOMP_parallel_sections", void(body *, void *, unsigned, unsigned, unsigned));
    next(f, data, team(n), count, flags);
}

#define CHUNKED(name) \
    void name(body *f, void *data, unsigned n, long from, long to, long step, long chunk, unsigned flags) \
    { \
        NEXT(#name, void(body *, void *, unsigned, long, long, long, long, unsigned)); \
        next(f, data, team(n), from, to, step, chunk, flags); \
    }
CHUNKED(GOMP_parallel_loop_static)
CHUNKED(GOMP_parallel_loop_dynamic)
CHUNKED(GOMP_parallel_loop_guided)
CHUNKED(GOMP_parallel_loop_nonmonotonic_dynamic)
CHUNKED(GOMP_parallel_loop_nonmonotonic_guided)

#define UNCHUNKED(name) \
    void name(body *f, void *data, unsigned n, long from, long to, long step, unsigned flags) \
    { \
        NEXT(#name, void(body *, void *, unsigned, long, long, long, unsigned)); \
        next(f, data, team(n), from, to, step, flags); \
    }
UNCHUNKED(GOMP_parallel_loop_runtime)
UNCHUNKED(GOMP_parallel_loop_nonmonotonic_runtime)
UNCHUNKED(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* libomp. The few types of OMPT that are needed; OpenMP 5.2, chapter 19. */
typedef void (*callback)(void);
typedef callback (*lookup)(const char *);
struct start_result {
    int (*initialize)(lookup, int, void *);
    void (*finalize)(void *);
    uint64_t data;
};
enum { PARALLEL_BEGIN = 3 };

static void (*set_num_threads)(int);

static void parallel_begin(void *task, const void *frame, void *region, unsigned wanted, int flags, const void *code)
{
    (void)task, (void)frame, (void)region, (void)wanted, (void)flags, (void)code;
    unsigned n = team(0);
    if (n && set_num_threads)
        set_num_threads((int)n);
}

static int initialize(lookup find, int device, void *data)
{
    (void)device, (void)data;
    int (*set_callback)(int, callback) = (int (*)(int, callback))find("ompt_set_callback");
    set_num_threads = (void (*)(int))dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (set_callback)
        set_callback(PARALLEL_BEGIN, (callback)parallel_begin);
    return 1;
}

static void finalize(void *data)
{
    (void)data;
}

struct start_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct start_result result = {initialize, finalize, 0};
    (void)version, (void)runtime;
    return page ? &result : 0;
}

/* For programs that count their own progress. */
unsigned meanwhile_team(void)
{
    return page ? atomic_load(&page->team) : 0;
}

uint64_t meanwhile_turns(void)
{
    return page ? atomic_load(&page->turns) : 0;
}

void meanwhile_progress(uint64_t n)
{
    if (page)
        atomic_fetch_add(&page->progress, n);
}

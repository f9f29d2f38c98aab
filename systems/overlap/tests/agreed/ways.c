/* Random programs whose ranks come to the same collectives by different ways. Each is a sequence of
 * collectives on random communicators that follows from its seed; what follows from seed and rank
 * is by which name a rank calls each, in which types it says the length, in which file, and what it
 * does behind it. Ends with how many were right; the first wrong one is told with its seed.
 * Arguments: the first seed, how many. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ways.h"

enum { MAX = 6000, COMMS = 4, STEPS_MAX = 12 };

static int in[MAX], out[MAX], w[MAX];
static MPI_Datatype four;

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int below(uint64_t *state, int n)
{
    return (int)(next(state) % (uint64_t)n);
}

/* What rank `of` of a communicator puts in place `i` at this step. */
static int element(int of, int i, int step)
{
    return of * 7 + i % 251 + step * 3;
}

static void work(int n)
{
    for (int i = 1; i < n; i++)
        w[i] = w[i] / 2 + w[i - 1] + i;
}

/* Converted: start, work, wait. */
#define WIDENED(name, collective)                    \
    static void widened_##name(const struct call *c) \
    {                                                \
        collective;                                  \
        work(1000);                                  \
    }
WIDENED(bcast, MPI_Bcast(out, c->n, MPI_INT, c->root, c->comm))
WIDENED(reduce, MPI_Reduce(in, out, c->n, MPI_INT, MPI_SUM, c->root, c->comm))
WIDENED(allreduce, MPI_Allreduce(in, out, c->n, MPI_INT, MPI_SUM, c->comm))
WIDENED(allgather, MPI_Allgather(in, c->n, MPI_INT, out, c->n, MPI_INT, c->comm))
WIDENED(alltoall, MPI_Alltoall(in, c->n, MPI_INT, out, c->n, MPI_INT, c->comm))
WIDENED(reduce_scatter_block, MPI_Reduce_scatter_block(in, out, c->n, MPI_INT, MPI_SUM, c->comm))
WIDENED(scan, MPI_Scan(in, out, c->n, MPI_INT, MPI_SUM, c->comm))
WIDENED(exscan, MPI_Exscan(in, out, c->n, MPI_INT, MPI_SUM, c->comm))

static void widened(const struct call *c)
{
    static void (*const of_kind[KINDS])(const struct call *) = {
        widened_bcast,
        widened_reduce,
        widened_allreduce,
        widened_allgather,
        widened_alltoall,
        widened_reduce_scatter_block,
        widened_scan,
        widened_exscan,
    };
    of_kind[c->kind](c);
}

static void (*const ways[])(const struct call *) = {
    widened, widened, plain, profiling, fortran, large, in_another_type};
enum { WAYS = sizeof ways / sizeof *ways };

/* What place `i` of `out` has to hold on rank `me` of `size`. */
static int expected(const struct call *c, int i, int me, int size, int step)
{
    int n = c->n, sum = 0, from = 0, to = size, at = i;
    switch (c->kind) {
    case BCAST:
        return element(c->root, i, step);
    case ALLGATHER:
        return element(i / n, i % n, step);
    case ALLTOALL:
        return element(i / n, me * n + i % n, step);
    case REDUCE_SCATTER_BLOCK:
        at = me * n + i;
        break;
    case SCAN:
        to = me + 1;
        break;
    case EXSCAN:
        to = me;
        break;
    default:
        break;
    }
    for (int of = from; of < to; of++)
        sum += element(of, at, step);
    return sum;
}

/* True if all of `out` that the call writes on this rank is right. */
static int is_right(const struct call *c, int me, int size, int step)
{
    int n = c->kind == ALLGATHER || c->kind == ALLTOALL ? c->n * size : c->n;
    if ((c->kind == REDUCE && me != c->root) || (c->kind == EXSCAN && me == 0))
        return 1;
    for (int i = 0; i < n; i++)
        if (out[i] != expected(c, i, me, size, step))
            return 0;
    return 1;
}

/* By the rule, of the kinds that are counted, for programs built with --min-bytes 4000. */
static uint64_t n_expected;

static int run(uint64_t seed, int rank)
{
    uint64_t all = seed, mine = seed * 1000003 + (uint64_t)rank;
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
    int n_comms = 1, n_steps = 1 + below(&all, STEPS_MAX), right = 1;
    for (int step = 0; step < n_steps; step++) {
        /* Now and then a communicator comes or goes, so that handles are used again. */
        int event = below(&all, 8);
        if (event == 0 && n_comms < COMMS) {
            int parent = below(&all, n_comms), colours = 1 + below(&all, 2);
            MPI_Comm_split(
                comms[parent], rank % colours, below(&all, 2) ? rank : -rank, &comms[n_comms++]);
        } else if (event == 1 && n_comms > 1) {
            MPI_Comm_free(&comms[--n_comms]);
        }
        struct call c = {.kind = below(&all, KINDS), .in = in, .out = out, .four = four};
        int me, size;
        c.comm = comms[below(&all, n_comms)];
        MPI_Comm_rank(c.comm, &me);
        MPI_Comm_size(c.comm, &size);
        /* Whole groups of four, about the least length of the rule. */
        c.n = 4 * below(&all, below(&all, 2) ? 20 : MAX / 4 / 4);
        c.root = below(&all, 2) ? 0 : size - 1;
        for (int i = 0; i < MAX; i++) {
            in[i] = element(me, i, step);
            out[i] = c.kind == BCAST && me == c.root ? in[i] : -1;
        }
        n_expected += (c.kind == BCAST || c.kind == ALLREDUCE) && 4 * c.n >= 4000;
        n_expected += c.kind == ALLGATHER && 4 * c.n * size >= 4000;
        ways[below(&mine, WAYS)](&c);
        right &= is_right(&c, me, size, step);
        if (below(&mine, 4) == 0)
            work(below(&mine, MAX));
    }
    while (n_comms > 1)
        MPI_Comm_free(&comms[--n_comms]);
    return right;
}

int main(int argc, char **argv)
{
    int rank, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    uint64_t first = strtoull(argv[1], NULL, 10), n = strtoull(argv[2], NULL, 10), right = 0;
    for (uint64_t seed = first; seed < first + n; seed++) {
        /* Where a run hangs, the last line says at which. */
        if (rank == 0 && (seed - first) % 1000 == 0)
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        if (run(seed, rank))
            right++;
        else if (seed - first == right)
            printf("rank %d: wrong with seed %llu\n", rank, (unsigned long long)seed);
    }
    MPI_Type_free(&four);
    const char *as_expected = started() == n_expected ? "as expected" : "not as the rule says";
    printf("rank %d: %llu right, %llu started, %s\n", rank, (unsigned long long)right,
        (unsigned long long)started(), as_expected);
    MPI_Finalize();
    return 0;
}

/* One collective, and the ways to it that other files have: ways.c. */
#include <mpi.h>
#include "counted.h"

enum kind {
    BCAST,
    REDUCE,
    ALLREDUCE,
    ALLGATHER,
    ALLTOALL,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    KINDS
};

struct call {
    enum kind kind;
    const int *in;
    int *out, n, root;
    MPI_Comm comm;
    /* Four of MPI_INT. */
    MPI_Datatype four;
};

void plain(const struct call *c);
void profiling(const struct call *c);
void fortran(const struct call *c);
void large(const struct call *c);
void in_another_type(const struct call *c);

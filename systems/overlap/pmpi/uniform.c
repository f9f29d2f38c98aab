/* The uniform shim: every blocking collective that was not converted becomes a start and a wait,
   so that it matches the converted ones. Linked into programs compiled with --collectives uniform;
   a converted start looks for `__overlap_uniform` and calls the blocking twin without it. */
#include <mpi.h>

const char __overlap_uniform = 1;

#define NONBLOCKING(name, twin, parameters, arguments)                                             \
  int MPI_##name parameters {                                                                      \
    MPI_Request request;                                                                           \
    int code = PMPI_##twin arguments;                                                              \
    return code == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : code;                    \
  }

#define D MPI_Datatype
#define C MPI_Comm
#define R &request
NONBLOCKING(Bcast, Ibcast, (void *b, int n, D d, int root, C c), (b, n, d, root, c, R))
NONBLOCKING(Reduce, Ireduce, (const void *b, void *o, int n, D d, MPI_Op op, int root, C c), (b, o, n, d, op, root, c, R))
NONBLOCKING(Allreduce, Iallreduce, (const void *b, void *o, int n, D d, MPI_Op op, C c), (b, o, n, d, op, c, R))
NONBLOCKING(Gather, Igather, (const void *b, int n, D d, void *o, int m, D e, int root, C c), (b, n, d, o, m, e, root, c, R))
NONBLOCKING(Gatherv, Igatherv, (const void *b, int n, D d, void *o, const int m[], const int p[], D e, int root, C c),
            (b, n, d, o, m, p, e, root, c, R))
NONBLOCKING(Scatter, Iscatter, (const void *b, int n, D d, void *o, int m, D e, int root, C c), (b, n, d, o, m, e, root, c, R))
NONBLOCKING(Scatterv, Iscatterv, (const void *b, const int n[], const int p[], D d, void *o, int m, D e, int root, C c),
            (b, n, p, d, o, m, e, root, c, R))
NONBLOCKING(Allgather, Iallgather, (const void *b, int n, D d, void *o, int m, D e, C c), (b, n, d, o, m, e, c, R))
NONBLOCKING(Allgatherv, Iallgatherv, (const void *b, int n, D d, void *o, const int m[], const int p[], D e, C c),
            (b, n, d, o, m, p, e, c, R))
NONBLOCKING(Alltoall, Ialltoall, (const void *b, int n, D d, void *o, int m, D e, C c), (b, n, d, o, m, e, c, R))
NONBLOCKING(Alltoallv, Ialltoallv,
            (const void *b, const int n[], const int p[], D d, void *o, const int m[], const int q[], D e, C c),
            (b, n, p, d, o, m, q, e, c, R))
NONBLOCKING(Alltoallw, Ialltoallw,
            (const void *b, const int n[], const int p[], const D d[], void *o, const int m[], const int q[], const D e[], C c),
            (b, n, p, d, o, m, q, e, c, R))
NONBLOCKING(Reduce_scatter, Ireduce_scatter, (const void *b, void *o, const int n[], D d, MPI_Op op, C c),
            (b, o, n, d, op, c, R))
NONBLOCKING(Reduce_scatter_block, Ireduce_scatter_block, (const void *b, void *o, int n, D d, MPI_Op op, C c),
            (b, o, n, d, op, c, R))
NONBLOCKING(Scan, Iscan, (const void *b, void *o, int n, D d, MPI_Op op, C c), (b, o, n, d, op, c, R))
NONBLOCKING(Exscan, Iexscan, (const void *b, void *o, int n, D d, MPI_Op op, C c), (b, o, n, d, op, c, R))

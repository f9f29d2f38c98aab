/* The ways of ways.c that are compiled without the plugin: by each name of a collective, in types
 * of the same signature. */
#include "ways.h"

/* All kinds by names that begin with P, with counts in MPI_INT or in fours. */
#define EACH(P, c_, count, type)                                                         \
    switch (c->kind) {                                                                   \
    case BCAST:                                                                          \
        P##MPI_Bcast##c_(c->out, count, type, c->root, c->comm);                         \
        break;                                                                           \
    case REDUCE:                                                                         \
        P##MPI_Reduce##c_(c->in, c->out, c->n, MPI_INT, MPI_SUM, c->root, c->comm);      \
        break;                                                                           \
    case ALLREDUCE:                                                                      \
        P##MPI_Allreduce##c_(c->in, c->out, c->n, MPI_INT, MPI_SUM, c->comm);            \
        break;                                                                           \
    case ALLGATHER:                                                                      \
        P##MPI_Allgather##c_(c->in, c->n, MPI_INT, c->out, count, type, c->comm);        \
        break;                                                                           \
    case ALLTOALL:                                                                       \
        P##MPI_Alltoall##c_(c->in, count, type, c->out, count, type, c->comm);           \
        break;                                                                           \
    case REDUCE_SCATTER_BLOCK:                                                           \
        P##MPI_Reduce_scatter_block##c_(c->in, c->out, c->n, MPI_INT, MPI_SUM, c->comm); \
        break;                                                                           \
    case SCAN:                                                                           \
        P##MPI_Scan##c_(c->in, c->out, c->n, MPI_INT, MPI_SUM, c->comm);                 \
        break;                                                                           \
    default:                                                                             \
        P##MPI_Exscan##c_(c->in, c->out, c->n, MPI_INT, MPI_SUM, c->comm);               \
    }

void plain(const struct call *c)
{
    EACH(, , c->n, MPI_INT)
}

void profiling(const struct call *c)
{
    EACH(P, , c->n, MPI_INT)
}

void in_another_type(const struct call *c)
{
    EACH(, , c->n / 4, c->four)
}

void large(const struct call *c)
{
#if MPI_VERSION >= 4
    EACH(, _c, c->n, MPI_INT)
#else
    plain(c);
#endif
}

/* The Fortran binding, as a compiler calls it. */
void mpi_bcast_(void *, const int *, const MPI_Fint *, const int *, const MPI_Fint *, int *);
void mpi_allreduce_(
    const void *, void *, const int *, const MPI_Fint *, const MPI_Fint *, const MPI_Fint *, int *);
void mpi_alltoall_(const void *, const int *, const MPI_Fint *, void *, const int *,
    const MPI_Fint *, const MPI_Fint *, int *);

void fortran(const struct call *c)
{
    MPI_Fint type = MPI_Type_c2f(MPI_INT), comm = MPI_Comm_c2f(c->comm), sum = MPI_Op_c2f(MPI_SUM);
    int code;
    switch (c->kind) {
    case BCAST:
        mpi_bcast_(c->out, &c->n, &type, &c->root, &comm, &code);
        break;
    case ALLREDUCE:
        mpi_allreduce_(c->in, c->out, &c->n, &type, &sum, &comm, &code);
        break;
    case ALLTOALL:
        mpi_alltoall_(c->in, &c->n, &type, c->out, &c->n, &type, &comm, &code);
        break;
    default:
        plain(c);
    }
}

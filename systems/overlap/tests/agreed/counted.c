/* Counts what is started, by the program or for it. Compiled without the plugin, which believes
 * that a start of MPI changes no variable of the program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include "counted.h"

static uint64_t n_started;

uint64_t started(void)
{
    return n_started;
}

/* Counts what is started, by the program or for it: these names are looked up here first. */
#define COUNTED(name, parameters, arguments)                                \
    int name parameters                                                     \
    {                                                                       \
        int(*next) parameters = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
        n_started++;                                                        \
        return next arguments;                                              \
    }
#define BOTH(name, parameters, arguments) \
    COUNTED(MPI_##name, parameters, arguments) COUNTED(PMPI_##name, parameters, arguments)
BOTH(
    Ibcast, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c, MPI_Request *q), (b, n, t, r, c, q))
BOTH(Iallreduce,
    (const void *b, void *o, int n, MPI_Datatype t, MPI_Op p, MPI_Comm c, MPI_Request *q),
    (b, o, n, t, p, c, q))
BOTH(Iallgather,
    (const void *b, int n, MPI_Datatype t, void *o, int m, MPI_Datatype u, MPI_Comm c,
        MPI_Request *q),
    (b, n, t, o, m, u, c, q))
BOTH(Iallgatherv,
    (const void *b, int n, MPI_Datatype t, void *o, const int *m, const int *d, MPI_Datatype u,
        MPI_Comm c, MPI_Request *q),
    (b, n, t, o, m, d, u, c, q))
#if MPI_VERSION >= 4
BOTH(Ibcast_c, (void *b, MPI_Count n, MPI_Datatype t, int r, MPI_Comm c, MPI_Request *q),
    (b, n, t, r, c, q))
BOTH(Iallreduce_c,
    (const void *b, void *o, MPI_Count n, MPI_Datatype t, MPI_Op p, MPI_Comm c, MPI_Request *q),
    (b, o, n, t, p, c, q))
BOTH(Iallgather_c,
    (const void *b, MPI_Count n, MPI_Datatype t, void *o, MPI_Count m, MPI_Datatype u, MPI_Comm c,
        MPI_Request *q),
    (b, n, t, o, m, u, c, q))
#endif

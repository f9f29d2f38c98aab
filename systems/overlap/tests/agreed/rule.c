/* Which collectives start nonblocking, by the rule: one line a case, with how many did on this
 * rank. Built with --min-bytes 100000, for 4 ranks. What a rank has for itself, such as an error
 * handler, changes nothing. */
#include <mpi.h>
#include <stdio.h>
#include "counted.h"

static int rank;
static char a[400000], b[400000];

static void tell(const char *what)
{
    static uint64_t before;
    uint64_t now = started();
    printf("%d %s: %d\n", rank, what, (int)(now - before));
    before = now;
}

int main(int argc, char **argv)
{
    MPI_Comm half, other, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    MPI_Bcast(a, 100000, MPI_CHAR, 1, MPI_COMM_WORLD);
    tell("long enough");
    MPI_Bcast(a, 99999, MPI_CHAR, 1, MPI_COMM_WORLD);
    MPI_Bcast(a, 0, MPI_CHAR, 1, MPI_COMM_WORLD);
    tell("too short");
    MPI_Allgather(a, 25000, MPI_CHAR, b, 25000, MPI_CHAR, MPI_COMM_WORLD);
    tell("parts of a whole");
    int n[4] = {99999, 1, 1, 1}, at[4] = {0, 100000, 200000, 300000};
    MPI_Allgatherv(a, n[rank], MPI_CHAR, b, n, at, MPI_CHAR, MPI_COMM_WORLD);
    tell("parts of any length");
    MPI_Bcast(a, rank == 1 ? 100000 : 25000, rank == 1 ? MPI_PACKED : MPI_INT, 1, MPI_COMM_WORLD);
    tell("packed by the root");

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Bcast(a, 100000, MPI_CHAR, 0, half);
    tell("a part of the world");
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &other);
    MPI_Bcast(a, 100000, MPI_CHAR, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
    tell("two groups");
    MPI_Intercomm_merge(other, 0, &both);
    MPI_Comm_free(&other);
    MPI_Bcast(a, 100000, MPI_CHAR, 0, both);
    tell("made of both");
    MPI_Comm_free(&both);
    MPI_Comm_dup(half, &both);
    MPI_Bcast(a, 100000, MPI_CHAR, 0, both);
    tell("with a handle that was another's");
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);

    if (rank == 2)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast(a, 100000, MPI_CHAR, 1, MPI_COMM_WORLD);
    tell("an error handler of one rank");
    if (rank == 2)
        printf("2 no such root: %s\n",
            MPI_Bcast(a, 100000, MPI_CHAR, 99, MPI_COMM_WORLD) != MPI_SUCCESS ? "an error"
                                                                              : "none");
    MPI_Finalize();
    return 0;
}

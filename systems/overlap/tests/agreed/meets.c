/* Rank 0 widens a broadcast, the others come to it by the name COME. What OWN and TOOL define is a
 * broadcast of messages between two, as a program or a tool in front of the library may have; with
 * DIES one rank does so in front of it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(OWN) || defined(TOOL)
int MPI_Bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c)
{
    int rank, size;
    PMPI_Comm_rank(c, &rank);
    PMPI_Comm_size(c, &size);
    if (rank != root)
        return PMPI_Recv(b, n, t, root, 1000, c, MPI_STATUS_IGNORE);
    for (int to = 0; to < size; to++)
        if (to != root)
            PMPI_Send(b, n, t, to, 1000, c);
    return MPI_SUCCESS;
}
#endif

#ifndef TOOL
#define N 100000
static double a[N], x[5000];

__attribute__((noinline)) static void widened(void)
{
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 1; i < 5000; i++)
        x[i] = x[i - 1] * .5 + i;
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        a[i] = rank * 7 + i % 9;
    for (int pass = 0; pass < 5; pass++) {
#ifdef DIES
        if (rank == 1 && pass == 3)
            _exit(3);
#endif
        if (rank == 0)
            widened();
        else
            COME(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        a[pass] += x[9] + rank;
    }
    for (int i = 0; i < N; i++)
        sum += a[i];
    if (rank == 1)
        printf("%.17g\n", sum);
    MPI_Finalize();
    return 0;
}
#endif

// The communicator of a session has the error handler that it was made with: the program counts
// receives that are too short.
#include <mpi.h>
#include <stdio.h>
enum { N = 200000 };
static int a[N], b[N];
static double w[N];
int main(int argc, char **argv) {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank, size, errors = 0;
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group group;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
#else
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
#endif
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int k = 0; k < 3; k++) {
    MPI_Request request;
    MPI_Isend(a, N, MPI_INT, (rank + 1) % size, k, comm, &request);
    int code = MPI_Recv(b, N / 4, MPI_INT, (rank + size - 1) % size, k, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
      w[i] = w[i] * 0.5 + i;
    if (code)
      errors++;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  printf("%d errors %d %g\n", rank, errors, w[7]);
  fflush(stdout);
#if MPI_VERSION >= 4
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
#else
  MPI_Finalize();
#endif
}

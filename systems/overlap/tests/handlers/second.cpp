/* An error handler that throws. */
#include "second.h"
extern double work[];
static double saw;
static void thrower(MPI_Comm *, int *, ...) {
  saw = work[40000 - 1];
  throw 7;
}
void set_throwing(MPI_Comm comm) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(thrower, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
}
void set_code(MPI_Comm comm, int returns) {
  MPI_Comm_set_errhandler(comm, returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);
}
double seen(void) { return saw; }

static int irecvs;
extern "C" int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Request *request) {
  irecvs++;
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}
int started(void) { return irecvs; }

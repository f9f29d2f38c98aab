/* Counts what is sent nonblocking. Compiled without the plugin. */
#include "across.h"
static int n_sent;
int MPI_Isend(
    const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  n_sent++;
  return PMPI_Isend(b, n, t, to, tag, comm, request);
}
int sent(void) { return n_sent; }

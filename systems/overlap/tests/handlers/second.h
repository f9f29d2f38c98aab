/* The part of throws.cpp that is another file or a shared library. */
#include <mpi.h>
#ifdef __cplusplus
extern "C" {
#endif
/* Errors on `comm` throw 7 from now on. */
void set_throwing(MPI_Comm comm);
/* Errors on `comm` end the program from now on, or are returned as codes. */
void set_code(MPI_Comm comm, int returns);
/* The last cell of `work` when the handler ran last. */
double seen(void);
/* Messages that were received into by a nonblocking call. */
int started(void);
#ifdef __cplusplus
}
#endif

/// \file
/// Takes back what hides too little: a start and its waits become the blocking call again.
///
///   overlap.start.MPI_Send(buf, n, ..., state, site);   --->   MPI_Send(buf, n, ...);
///   x = y + 1; overlap.wait(state);                            x = y + 1;
///
/// Needs:    a split site.
/// Keeps:    the order of all MPI calls.
#ifndef OVERLAP_CLEANUP_H
#define OVERLAP_CLEANUP_H

#include "Effects.h"

namespace overlap {

/// Makes the call of `S` blocking again.
void undo(Site &S);

} // namespace overlap
#endif

/// \file
/// Replaces a blocking MPI call by its start and a wait right behind it:
///
///   MPI_Send(buf, n, ...);   --->   overlap.start.MPI_Send(buf, n, ..., state, site);
///                                   overlap.wait(state);
///
/// The meaning is unchanged and nothing overlaps yet. The status of a receive moves to the wait.
///
/// Needs:    a site that was not refused.
/// Keeps:    the order of all MPI calls.
#ifndef OVERLAP_SPLIT_H
#define OVERLAP_SPLIT_H

#include "Classify.h"

namespace overlap {

/// Splits the call of `S`; fills Init, Waits and State.
void split(Site &S, const Options &O);

/// Takes away the state of a message whose start and waits are gone, and all that asks it.
void eraseState(Site &S);

} // namespace overlap
#endif

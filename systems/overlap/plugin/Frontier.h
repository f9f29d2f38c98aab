/// \file
/// Puts a wait before the first statement on each path that may not be passed:
///
///   wait(d);                     if (last)
///   if (last)                      wait(d), use(d);
///     use(d);          --->      else
///   else                           work(b);
///     work(b);                   wait(d);
///   use(d);                      use(d);
///
/// A second wait on a path finds nothing open. A loop that uses the buffers has its wait before
/// the loop. A wait passes the back edge of a loop around the start only if the buffers are the
/// same in every iteration.
///
/// Needs:    a site with one wait.
/// Keeps:    everything but the place of the waits.
#ifndef OVERLAP_FRONTIER_H
#define OVERLAP_FRONTIER_H

#include "Widen.h"

namespace overlap {

/// Replaces the wait of `S`. True if the control flow graph changed.
bool frontier(Site &S, Analyses &A);

/// What of `Work`, in weighted instructions, the waits of `S` would pass.
uint64_t passed(Site &S, llvm::ArrayRef<llvm::Instruction *> Work, Analyses &A, Cost &Weights);

} // namespace overlap
#endif

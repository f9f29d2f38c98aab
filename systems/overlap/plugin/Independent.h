/// \file
/// How much work behind the first use of a message does not need it: what could be moved by hand.
///
///   MPI_Wait(r);          the window ends here,
///   s = r[0];             a use,
///   for (...) work(x);    and this does not depend on it
///   MPI_Send(...);        up to the next call that may not be passed
///
/// Needs:    the wait where it stays.
/// Keeps:    everything; this is an estimate, in weighted instructions. Nothing is moved because of
/// it.
#ifndef OVERLAP_INDEPENDENT_H
#define OVERLAP_INDEPENDENT_H

#include "Cost.h"
#include "Effects.h"
#include "llvm/Analysis/PostDominators.h"

namespace overlap {

/// The work behind the waits of `S` up to the next call of MPI, or any that may do anything, that
/// depends on nothing that the message brings and writes nothing that it still needs.
uint64_t independentBehind(const Site &S, Effects &Fx, Cost &Weights, llvm::LoopInfo &LI,
                           llvm::PostDominatorTree &PDT);

} // namespace overlap
#endif

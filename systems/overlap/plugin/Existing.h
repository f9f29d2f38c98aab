/// \file
/// The nonblocking calls that the program has: each MPI_Wait and MPI_Waitall is matched with the
/// starts of its requests, and both ends are widened like ours.
///
///   MPI_Irecv(b, ..., &q);            MPI_Irecv(b, ..., &q);
///   MPI_Wait(&q, &status);    --->    work(x);
///   work(x);                          MPI_Wait(&q, &status);
///
/// Request and status of the program are reused, and the one wait stays one.
///
/// Needs:    requests in a local variable or array that only starts and waits use; starts in the
///           same loop as the wait.
/// Keeps:    everything but the place of the starts and of the wait.
#ifndef OVERLAP_EXISTING_H
#define OVERLAP_EXISTING_H

#include "Classify.h"
#include "llvm/Analysis/LoopInfo.h"

namespace overlap {

/// A wait of the program with all that it may wait for. `Init` is the last start before it.
struct ExistingWait {
  Site Whole;
  llvm::SmallVector<llvm::CallInst *, 4> Starts;
};

/// The waits of `F` whose starts are known.
std::vector<ExistingWait> findExisting(llvm::Function &F, llvm::LoopInfo &LI);

} // namespace overlap
#endif

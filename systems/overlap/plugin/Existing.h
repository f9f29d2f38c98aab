/// \file
/// The nonblocking calls that the program has: the starts of the requests in one place are matched
/// with the call that ends them, and both ends are widened like ours.
///
///   MPI_Irecv(b, ..., &q);            MPI_Irecv(b, ..., &q);
///   MPI_Wait(&q, &status);    --->    work(x);
///   work(x);                          MPI_Wait(&q, &status);
///
/// Request and status of the program are reused, and the one wait stays one. MPI_Waitany and
/// MPI_Waitsome end some of the messages, so what follows is treated as if all were pending. Where
/// the end cannot be moved, because the program asks with MPI_Test or ends its messages in a loop,
/// the starts still move up.
///
/// Needs:    requests in a local variable, an array or a member of a struct, that only starts and
///           ends use, or in any memory where `Started` shows what the wait ends; C or Fortran.
/// Keeps:    everything but the place of the starts and of the wait.
#ifndef OVERLAP_EXISTING_H
#define OVERLAP_EXISTING_H

#include "Effects.h"
#include "llvm/Analysis/LoopInfo.h"

namespace overlap {

/// The requests of one variable with all that starts and ends them.
struct ExistingWait {
  Site Whole;              ///< `Init` is the last start, `Waits` the one end; none if that stays.
  std::vector<Site> Heads; ///< Each start with its own buffer, to be moved up.
  llvm::SmallVector<llvm::CallInst *, 2> Ends; ///< All calls that end them, or ask.
  llvm::SmallVector<llvm::CallInst *, 2>
      Frees; ///< Taken out behind the wait, to be made behind it wherever it is.
};

/// The requests of `F` that are known; the others have `Refused` and nothing else.
std::vector<ExistingWait> findExisting(llvm::Function &F, llvm::FunctionAnalysisManager &FAM,
                                       Effects &Fx);

/// True if the start `Start` has its request in a variable that only starts and ends of its own
/// function use.
bool endsWhereItStarts(const llvm::CallBase &Start);

} // namespace overlap
#endif

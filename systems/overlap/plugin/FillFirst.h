/// \file
/// Runs those passes of a loop first that fill a message, and the others while it is under way:
///
///   for (k = 0; k < n; k++)             passes(those that fill p, as far as known);
///     p[k] = ...;                --->   [Start] a = MPI_Isend(p, ...);
///   MPI_Send(p, ...);                   passes(the others), with polls;
///                                       [Wait] MPI_Wait(a);
///
/// Where the message lies is not computed in front of the loop: what was sent when it ran last says
/// it. Before a message starts it is compared with what the passes write that are left; if it meets
/// them, they run before it. They also run before anything that may use what they write, or write
/// what they read, so each pass computes what it computed.
///
/// Needs:    a loop whose passes may run in any order (`PassLoop`), as the code shows; nothing
/// between it and the message that
///           may write what the loop reads or writes, in the eyes of alias analysis. In Fortran,
// dummy arguments are apart.
/// Keeps:    the order of all calls of MPI; the call stays blocking where nothing is left.
/// Costs:    a few dozen instructions a run of the loop, and a copy of it.
#ifndef OVERLAP_FILLFIRST_H
#define OVERLAP_FILLFIRST_H

#include "Classify.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// Fills messages of `F` first that nothing else hides, and says so; marks them among `Sites`,
/// blocking calls, and `Waits` of the program. All analyses of the function are stale behind it.
void fillFirst(llvm::Function &F, llvm::FunctionAnalysisManager &FAM, llvm::ArrayRef<Site *> Sites,
               llvm::MutableArrayRef<Site> Waits, const Options &O);

} // namespace overlap
#endif

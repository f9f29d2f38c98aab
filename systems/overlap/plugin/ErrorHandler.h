/// \file
/// What error handlers mean for the calls of MPI. A start asks which one its communicator has; what
/// moves without asking stays where a handler is seen.
///
/// Without a handler of the program's own no call throws, so an invoke is a call:
///
///   invoke @MPI_Wait(...) to label %next unwind label %catch   --->   call @MPI_Wait(...)
///
/// Needs:    the whole program for that.
/// Keeps:    the order of all MPI calls.
#ifndef OVERLAP_ERRORHANDLER_H
#define OVERLAP_ERRORHANDLER_H

#include "llvm/IR/Module.h"

namespace overlap {

/// True if `M` makes or sets an error handler other than the one that MPI begins with.
bool setsHandler(const llvm::Module &M);

/// Invokes of MPI in `F` become calls; true if there were any. For programs that set no error
/// handler.
bool callMpi(llvm::Function &F);

} // namespace overlap
#endif

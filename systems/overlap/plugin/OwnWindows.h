/// \file
/// Which loops may run while requests of the program's own are pending that leave the function that
/// starts them: they lie in an object or an array of the caller's, and another function ends them.
///
///   begin(q);                 // MPI_Irecv(..., &q->request[k]);
///   for (...) work();         // this loop
///   other(x);                 // and those in `other` and all that it calls
///   finish(q);                // MPI_Waitall(q->n, q->request, ...);
///
/// What is found decides what polls (`PollEverywhere`), and nothing else; so it need not be exact.
/// A function that ends requests is taken to end those that are pending, and a call through a
/// pointer to do nothing.
///
/// Needs:    starts and ends in one module: a file, or the program with -flto.
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_OWNWINDOWS_H
#define OVERLAP_OWNWINDOWS_H

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// Of each function the blocks that run while requests are pending.
using OwnWindows = llvm::MapVector<llvm::Function *, llvm::SmallPtrSet<llvm::BasicBlock *, 16>>;

OwnWindows findOwnWindows(llvm::Module &M, llvm::FunctionAnalysisManager &FAM);

} // namespace overlap
#endif

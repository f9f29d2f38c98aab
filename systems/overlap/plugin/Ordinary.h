/// \file
/// Which functions may be changed: their control flow is all in their branches, and each cycle of
/// it is a loop of LLVM's.
///
///   if (enter) goto second;
///   first:  ... in[i] ...          a cycle that is entered at two places is no loop, and what it
///           i++;                   changes would count as the same in every pass: stays as it is
///   second: if (i < n) goto first;
///
/// Needs:    a function with a body.
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_ORDINARY_H
#define OVERLAP_ORDINARY_H

#include "llvm/IR/PassManager.h"

namespace overlap {

/// True if a cycle of `F` is entered at several places.
bool hasSeveralEntries(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

/// True if `F` has a body that may be optimised, and leaves only as its branches and calls say.
bool isOptimised(const llvm::Function &F);

/// True if `F` may be changed: it is that, and has no such cycle.
bool isOrdinary(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace overlap
#endif

/// \file
/// The first half of a full LTO build leaves loops as they are written; the second, where messages
/// and the work beside them meet, vectorises and unrolls them when the windows are made:
///
///   for (...) o[i] = u[i];   --->   for (...) o[i] = u[i];  // not to be vectorised: held
///
/// A loop that is vectorised behind a test of its pointers cannot be split any more: which row a
/// pass reads does not follow from its counter.
///
/// Needs:    the plugin in the linker, too, which the driver sees to.
/// Keeps:    loops that the program itself says more about.
/// Costs:    nothing where it is released: the linker's pipeline has the same passes.
#ifndef OVERLAP_HOLDLOOPS_H
#define OVERLAP_HOLDLOOPS_H

#include "llvm/IR/PassManager.h"

namespace overlap {

/// Marks the loops of `M`; true if there are any.
bool holdLoops(llvm::Module &M, llvm::FunctionAnalysisManager &FAM);

/// Takes the marks away again, wherever the loops are by now; true if there were any.
bool releaseLoops(llvm::Module &M);

} // namespace overlap
#endif

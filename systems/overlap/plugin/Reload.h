/// \file
/// Undoes what redundancy elimination does to the bounds of rows: each pass loads again what the
/// pass before has loaded.
///
///   end = at[0];                          for (k = 0; k < n; k++) {
///   for (k = 0; k < n; k++) {      --->     start = at[k];
///     start = end;                          end = at[k + 1];
///     end = at[k + 1];
///
/// A pass is then told by its number alone, and can be run or looked at without the one before.
///
/// Needs:    a loop that stores nothing where it loads that; what the first pass begins with is
/// loaded in front of the loop. Keeps:    all values.
/// Costs:    a load in each pass.
#ifndef OVERLAP_RELOAD_H
#define OVERLAP_RELOAD_H

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// Does that in the loops of `F` that could be deferred but for it. True if there was one.
bool reloadCarried(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace overlap
#endif

/// \file
/// Runs those passes of a loop that need no pending message, and keeps the others until the
/// messages are there:
///
///   end(later);                            passes(later, n, look, run, values);
///   for (k = 0; k < n; k++) {    --->
///     for (j...) s += v[k][j] * x[i[k][j]];
///     y[k] = s;
///   }
///
/// `look(from, to)` is the loop without what it computes: it finds what these passes reach, and
/// compares it with what is pending and with what the loop writes. `run(from, to)` is the loop
/// itself. Passes are looked at together, those of a group that meets something in smaller groups.
/// Behind the wait, the passes that were kept run in their order. Each pass computes what it
/// computed, from the same values in the same order.
///
/// A load that decides where others go, or how often, is looked at before it is made; if it is
/// pending, or if a pass reads what another writes, the messages come first and the rest of the
/// loop keeps its order.
///
/// Needs:    a loop whose passes may run in any order (`PassLoop`).
/// Keeps:    the order of what a pass does.
/// Costs:    as long as messages are pending, the least and the largest of the indices of a pass,
/// and a few comparisons a group.
#ifndef OVERLAP_DEFERPASSES_H
#define OVERLAP_DEFERPASSES_H

#include "Options.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// True if the passes of `L` can be deferred.
bool canDefer(llvm::Loop &L, llvm::FunctionAnalysisManager &FAM);

/// Defers the passes of `L` that meet what is pending in `Later`, the list of its function; a trace
/// calls this window `Site`. With `Asked`, the function has asked if enough is pending. All
/// analyses of the function are stale behind it.
void defer(llvm::Loop &L, llvm::Value *Later, llvm::Constant *Site, bool Asked,
           llvm::FunctionAnalysisManager &FAM, const Options &O);

} // namespace overlap
#endif

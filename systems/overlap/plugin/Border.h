/// \file
/// Splits a loop that uses a pending buffer in its first or last passes only (a halo exchange):
///
///   wait(d);                       q = passes at the end that use d;  p = those at the start
///   for (k = 0; k < n; k++)        for (k = p; k < n - q; k++) body(k);   // interior
///     body(k);             --->    wait(d);
///                                  for (k = 0; k < p; k++) body(k);       // border
///                                  for (k = n - q; k < n; k++) body(k);
///
/// Which passes use the buffer is found before the loop runs, from addresses: an access lies in
/// pass `k` at `low + step * k`, and is `span` bytes wide. The first passes come after the interior
/// only if addresses show that no pass writes what another one uses; else, and where the buffer is
/// used in the middle or nothing is pending, the wait comes first and all passes follow in their
/// order.
///
/// Needs:    waits right before a loop with one exit, whose accesses follow from its counter.
/// Keeps:    the order of passes that depend on each other; values that pass from one to the next.
/// Costs:    three copies of the loop, a few comparisons each time it is entered.
#ifndef OVERLAP_BORDER_H
#define OVERLAP_BORDER_H

#include "Cost.h"
#include "Statements.h"

namespace overlap {

/// Splits the loops of `F` that waits of `Sites` stand before. `Analyse` gives fresh analyses after
/// each. A loop that cannot be split is named in the sites' `LoopRefused`. True if one was split.
bool splitLoops(llvm::Function &F, llvm::ArrayRef<Site *> Sites, llvm::FunctionAnalysisManager &FAM,
                Cost &Weights, const Options &O, llvm::function_ref<void(Effects &)> Remember);

} // namespace overlap
#endif

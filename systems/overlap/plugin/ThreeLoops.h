/// \file
/// A loop as three, of which the middle of its passes comes first:
///
///   at;                                    for (k = first; k < rest; k++) body(k);   // interior
///   for (k = 0; k < n; k++)                at;
///     body(k);             --->            for (k = 0; k < first; k++) body(k);
///                                          for (k = rest; k < n; k++) body(k);
///
/// The numbers are values, so how often each runs is decided when the program gets here; a loop
/// that has no pass is not entered. (LLVM's `LoopConstrainer` makes three loops as well, but in the
/// order of their passes and from bounds of the counter; here the interior comes before the first
/// passes, and any number of counters goes along.)
///
/// Needs:    one exit, from the latch, and a preheader; who calls knows that passes may run in this
///           order, or gives `first` = n, which leaves them in theirs.
/// Keeps:    what passes from one pass to the next, in the new order, and what is used behind.
#ifndef OVERLAP_THREELOOPS_H
#define OVERLAP_THREELOOPS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

namespace overlap {

/// A loop, and what passes through it.
struct LoopParts {
  llvm::Function &F;
  llvm::Loop &L;
  llvm::BasicBlock *Exit;
  llvm::ArrayRef<llvm::PHINode *> Counters;    ///< Move by the same step in each pass.
  llvm::ArrayRef<llvm::PHINode *> Carried;     ///< Other values that pass to the next pass.
  llvm::ArrayRef<llvm::Instruction *> Results; ///< Values that are used behind the loop.
};

/// Where the interior begins, where it ends, and how many passes there are, as 64-bit values.
struct Bounds {
  llvm::Value *First, *Rest, *Trips;
};

/// Makes three loops of one. What stands from `At` on, before the loop, comes behind the interior.
/// `Steps` are those of the counters. Analyses of the function are stale behind it.
void splitInThree(const LoopParts &Parts, llvm::Instruction *At, Bounds Numbers,
                  const llvm::DenseMap<llvm::PHINode *, llvm::Value *> &Steps);

} // namespace overlap
#endif

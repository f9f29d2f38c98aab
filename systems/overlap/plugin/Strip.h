/// \file
/// Cuts a loop into strips, so that something can be done between two strips and passes need not be
/// counted for it:
///
///   for (k = s; k < n; k++)       for (from = s; from != n; from = to) {
///     body(k);                      to = from + min(length, n - from);
///                         --->      for (k = from; k != to; k++)
///                                     body(k);
///                                 }
///
/// Needs:    one exit, at the end of a pass, and a number of passes that is known before the first.
/// Keeps:    the passes and their order; dominators, loops and ScalarEvolution as they are then.
/// Costs:    some ten instructions a strip.
#ifndef OVERLAP_STRIP_H
#define OVERLAP_STRIP_H

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// The loop around the strips; null blocks if the loop cannot be cut.
struct Strips {
  llvm::BasicBlock *Header = nullptr, *Latch = nullptr;
  llvm::Value *Length = nullptr; ///< What was asked for.
  llvm::Value *Step = nullptr;   ///< The passes of this strip: less in the last one.
};

/// `LengthOf` makes the number of passes that a strip may have, at least 1, of the given type.
Strips strip(llvm::Loop &L, llvm::FunctionAnalysisManager &FAM,
             llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &, llvm::Type *)> LengthOf);

} // namespace overlap
#endif

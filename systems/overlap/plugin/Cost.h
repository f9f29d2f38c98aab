/// \file
/// How much work lies in a window, in weighted instructions: each instruction counts one, a
/// division ten, a call what its callee counts, and a loop as often as it runs, or ten times
/// where that is not known. A window below a threshold hides nothing.
#ifndef OVERLAP_COST_H
#define OVERLAP_COST_H

#include "Classify.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

class Cost {
public:
  explicit Cost(llvm::FunctionAnalysisManager &FAM) : FAM(FAM) {}

  /// One execution of `I`.
  uint64_t weight(const llvm::Instruction &I);

  /// `I` with the loops around it, up to but without `Outside`.
  uint64_t weightInLoops(llvm::Instruction &I, const llvm::Loop *Outside);

  /// All passes of `L`.
  uint64_t loop(llvm::Loop &L);

  /// Everything between the start of `S` and its waits.
  uint64_t window(const Site &S);

  /// How often the body of `L` runs for each time it is entered.
  uint64_t trips(llvm::Loop &L);

private:
  uint64_t function(llvm::Function &F);

  llvm::FunctionAnalysisManager &FAM;
  llvm::DenseMap<const llvm::Function *, uint64_t> Functions;
};

/// Every instruction between the start of `S` and its waits.
void forEachInWindow(const PendingMessage &S, llvm::function_ref<void(llvm::Instruction &)> Visit);

} // namespace overlap
#endif

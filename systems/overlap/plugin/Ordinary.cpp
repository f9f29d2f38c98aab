#include "Ordinary.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"

using namespace llvm;

namespace overlap {

bool hasSeveralEntries(Function &F, FunctionAnalysisManager &FAM) {
  ReversePostOrderTraversal<const Function *> Order(&F);
  return containsIrreducibleCFG<const BasicBlock *>(Order, FAM.getResult<LoopAnalysis>(F));
}

bool isOptimised(const Function &F) {
  return !F.isDeclaration() && !F.hasOptNone() && !F.callsFunctionThatReturnsTwice() &&
         !F.isPresplitCoroutine() && !F.hasFnAttribute(Attribute::Naked);
}

bool isOrdinary(Function &F, FunctionAnalysisManager &FAM) {
  return isOptimised(F) && !hasSeveralEntries(F, FAM);
}

} // namespace overlap

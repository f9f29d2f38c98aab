#include "Inline.h"
#include "ErrorHandler.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace overlap {

/// Larger functions are not inlined, in instructions.
static constexpr unsigned InlinedMax = 2000;

Function *calleeOf(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call ? Call->getCalledFunction() : nullptr;
}

bool canBeInlined(Function &F, const Function &Caller, FunctionAnalysisManager &FAM) {
  return AttributeFuncs::areInlineCompatible(Caller, F) &&
         FAM.getResult<TargetIRAnalysis>(F).areInlineCompatible(&Caller, &F) &&
         !F.isInterposable() && F.getInstructionCount() <= InlinedMax && !F.hasOptNone() &&
         !F.isVarArg() && !F.callsFunctionThatReturnsTwice() && !F.isPresplitCoroutine() &&
         !F.getName().starts_with("overlap.") && !F.getName().starts_with("__overlap") &&
         isInlineViable(F).isSuccess() &&
         none_of(instructions(F), [&](Instruction &I) { return calleeOf(I) == &F; });
}

bool inlineCall(CallBase &Call, FunctionAnalysisManager &FAM, const Options &O) {
  Function &F = *Call.getFunction();
  InlineFunctionInfo Info;
  bool Done = InlineFunction(Call, Info).isSuccess();
  // A call became an invoke if its caller catches.
  if (O.NoThrow)
    callMpi(F);
  FAM.clear(F, F.getName());
  return Done;
}

} // namespace overlap

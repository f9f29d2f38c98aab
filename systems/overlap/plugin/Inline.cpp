#include "Inline.h"
#include "ErrorHandler.h"
#include "Ordinary.h"
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
         !F.isInterposable() && F.getInstructionCount() <= InlinedMax && isOrdinary(F, FAM) &&
         !F.isVarArg() && !F.getName().starts_with("overlap.") &&
         !F.getName().starts_with("__overlap") && isInlineViable(F).isSuccess() &&
         none_of(instructions(F), [&](Instruction &I) { return calleeOf(I) == &F; });
}

Function *copyWithPointers(Function &F, unsigned NumPointers, const Twine &Name,
                           ValueToValueMapTy &Map) {
  SmallVector<Type *, 8> Types(F.getFunctionType()->params());
  Types.append(NumPointers, PointerType::getUnqual(F.getContext()));
  auto *Type = FunctionType::get(F.getReturnType(), Types, false);
  Function *Copy = Function::Create(Type, GlobalValue::InternalLinkage, Name, F.getParent());
  for (Argument &A : F.args()) {
    Copy->getArg(A.getArgNo())->setName(A.getName());
    Map[&A] = Copy->getArg(A.getArgNo());
  }
  SmallVector<ReturnInst *, 4> Returns;
  CloneFunctionInto(Copy, &F, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
  Copy->setLinkage(GlobalValue::InternalLinkage);
  Copy->setVisibility(GlobalValue::DefaultVisibility);
  Copy->setDSOLocal(true);
  Copy->setComdat(nullptr);
  for (auto Kind : {Attribute::Memory, Attribute::NoSync, Attribute::NoFree, Attribute::NoRecurse,
                    Attribute::WillReturn, Attribute::Speculatable, Attribute::NoCallback})
    Copy->removeFnAttr(Kind);
  return Copy;
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

#include "Wrapper.h"
#include "Helpers.h"
#include "Inline.h"
#include "Runtime.h"
#include "Split.h"
#include "Versions.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace overlap {

/// True if nothing but other waits stands between `Wait` and the function's end.
static bool endsFunction(const CallInst &Wait) {
  const BasicBlock *Block = Wait.getParent();
  auto From = std::next(Wait.getIterator());
  for (unsigned Blocks = 0; Blocks < 4; ++Blocks) {
    for (auto It = From; It != Block->end(); ++It) {
      auto *Call = dyn_cast<CallInst>(&*It);
      bool IsWait = Call && Call->getCalledFunction() &&
                    Call->getCalledFunction()->getName().starts_with("overlap.wait");
      if (isa<ReturnInst>(*It))
        return true;
      if (!IsWait && !isa<DbgInfoIntrinsic>(*It) && !It->isLifetimeStartOrEnd() &&
          !isa<PHINode>(*It) && !isa<BranchInst>(*It))
        return false;
    }
    Block = Block->getUniqueSuccessor();
    if (!Block)
      return false;
    From = Block->begin();
  }
  return false;
}

/// True if the memory of `S` outlives the function and its callers can name it.
static bool isNamedOutside(const MessageCall &S) {
  return all_of(S.Accesses, [](const Access &A) {
    const Value *Object = getUnderlyingObject(A.Ptr);
    // A struct that is passed by value is the function's own copy.
    auto *Passed = dyn_cast<Argument>(Object);
    return A.AtStart || isa<GlobalVariable>(Object) ||
           (Passed && !Passed->hasPassPointeeByValueCopyAttr());
  });
}

bool canBeCopied(const Function &F) {
  if (!F.hasExactDefinition() || F.isVarArg() || F.hasFnAttribute(Attribute::OptimizeNone) ||
      F.isPresplitCoroutine() || F.hasPersonalityFn() || F.callsFunctionThatReturnsTwice() ||
      F.getName() == "main" || F.getName() == "_QQmain")
    return false;
  // A table of labels leads back into the original; a musttail call wants the same arguments.
  return none_of(
      F, [](const BasicBlock &B) { return B.hasAddressTaken() || B.getTerminatingMustTailCall(); });
}

static bool isCalledByName(const Function &F) {
  return any_of(F.users(), [&](const User *U) {
    auto *Call = dyn_cast<CallInst>(U);
    return Call && Call->getCalledFunction() == &F && Call->getFunction() != &F;
  });
}

void openAtReturn(Function &F, ArrayRef<Site *> Sites, OpenTwins &Twins) {
  SmallVector<Site *, 2> Open;
  for (Site *S : Sites)
    if (!S->Existing && S->Init && !S->Waits.empty() && isNamedOutside(*S) &&
        any_of(S->Waits, [](CallInst *Wait) { return endsFunction(*Wait); }))
      Open.push_back(S);
  if (Open.empty() || !canBeCopied(F) || !isCalledByName(F))
    return;
  ValueToValueMapTy Map;
  Function *Twin = copyWithPointers(F, Open.size(), F.getName() + ".open", Map);
  OpenTwin &T = Twins[&F];
  T.Open = Twin;
  for (unsigned Idx = 0; Idx < Open.size(); ++Idx) {
    Site &S = *Open[Idx];
    Argument *State = Twin->getArg(F.arg_size() + Idx);
    State->setName("overlap.state");
    auto *Old = cast<AllocaInst>(&*Map[S.State]);
    // The caller says at its entry that nothing is pending.
    for (User *U : make_early_inc_range(Old->users()))
      if (auto *Store = dyn_cast<StoreInst>(U); Store && Store->getPointerOperand() == Old)
        Store->eraseFromParent();
    // A wait on another path, such as one that reports an error, stays, and leaves nothing pending.
    for (CallInst *Wait : S.Waits)
      if (endsFunction(*Wait))
        cast<Instruction>(&*Map[Wait])->eraseFromParent();
    Old->replaceAllUsesWith(State);
    Old->eraseFromParent();
    for (unsigned At = 0; At < F.arg_size(); ++At)
      Twin->removeParamAttrs(At, ofPointers());
    Site Outside;
    Outside.Info = S.Info;
    Outside.Bind = S.Bind;
    Outside.Loc = S.Loc;
    Outside.Comm = S.Comm;
    Outside.Derived = S.Derived;
    Outside.AsksType = S.AsksType;
    for (const Access &A : S.Accesses)
      if (!A.AtStart)
        Outside.Accesses.push_back({const_cast<Value *>(getUnderlyingObject(A.Ptr)),
                                    LocationSize::beforeOrAfterPointer(), A.Write});
    T.Pending.push_back(std::move(Outside));
  }
}

std::vector<OpenCall> callOpen(Function &F, const OpenTwins &Twins) {
  std::vector<OpenCall> Made;
  SmallVector<CallInst *, 8> Calls;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I);
        Call && Call->getCalledFunction() && Twins.contains(Call->getCalledFunction()) &&
        !Call->isMustTailCall() && !Call->hasOperandBundles() &&
        Call->getFunctionType() == Call->getCalledFunction()->getFunctionType())
      Calls.push_back(Call);
  for (CallInst *Call : Calls) {
    const OpenTwin &T = Twins.find(Call->getCalledFunction())->second;
    OpenCall Open{nullptr, Call->getCalledFunction(), Call->getAttributes(), {}};
    BasicBlock &Entry = F.getEntryBlock();
    SmallVector<Value *, 8> Args(Call->args());
    for (const Site &Pending : T.Pending) {
      Site S = Pending;
      S.Caller = &F;
      S.InCallee = true;
      S.Through = Call->getCalledFunction()->getName();
      IRBuilder<> Top(&Entry, Entry.getFirstInsertionPt());
      S.State = Top.CreateAlloca(stateType(S.Bind, F.getContext()), nullptr, "overlap.state");
      IRBuilder<> AfterAllocas(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
      AfterAllocas.CreateStore(AfterAllocas.getInt32(0), S.State);
      Args.push_back(S.State);
      auto Outside = [&](Value *V) -> Value * {
        auto *A = dyn_cast_or_null<Argument>(V);
        return A ? Call->getArgOperand(A->getArgNo()) : V;
      };
      for (Access &A : S.Accesses)
        A.Ptr = Outside(A.Ptr);
      // A communicator that the caller does not name is like no other.
      S.Comm = isa_and_nonnull<Constant>(S.Comm) || isa_and_nonnull<Argument>(S.Comm)
                   ? Outside(S.Comm)
                   : nullptr;
      Open.Pending.push_back(std::move(S));
    }
    IRBuilder<> B(Call);
    Open.Call = B.CreateCall(T.Open, Args);
    AttributeList Old = Call->getAttributes();
    SmallVector<AttributeSet, 8> OfArgs;
    AttributeMask Denied = ofPointers();
    for (unsigned At = 0; At < Call->arg_size(); ++At)
      OfArgs.push_back(Old.getParamAttrs(At).removeAttributes(F.getContext(), Denied));
    Open.Call->setAttributes(
        AttributeList::get(F.getContext(), AttributeSet(), Old.getRetAttrs(), OfArgs));
    Open.Call->setCallingConv(Call->getCallingConv());
    Open.Call->takeName(Call);
    for (Site &S : Open.Pending) {
      S.Init = Open.Call;
      S.Waits.push_back(B.CreateCall(message(*F.getParent(), S.Bind, "wait"), {S.State}));
    }
    Call->replaceAllUsesWith(Open.Call);
    Call->eraseFromParent();
    Made.push_back(std::move(Open));
  }
  return Made;
}

void closeCall(OpenCall &C) {
  SmallVector<Value *, 8> Args;
  for (unsigned At = 0; At < C.Closed->arg_size(); ++At)
    Args.push_back(C.Call->getArgOperand(At));
  IRBuilder<> B(C.Call);
  CallInst *Call = B.CreateCall(C.Closed, Args);
  Call->setAttributes(C.Attributes);
  Call->setCallingConv(C.Call->getCallingConv());
  Call->takeName(C.Call);
  C.Call->replaceAllUsesWith(Call);
  C.Call->eraseFromParent();
  for (Site &S : C.Pending) {
    for (CallInst *Wait : S.Waits)
      Wait->eraseFromParent();
    eraseState(S);
    S.Waits.clear();
    S.Init = nullptr;
  }
}

void eraseUnused(OpenTwins &Twins, FunctionAnalysisManager &FAM) {
  // A twin may be called by another one only.
  for (bool Again = true; Again;) {
    Again = false;
    for (auto &Entry : Twins)
      if (Function *&Twin = Entry.second.Open; Twin && Twin->use_empty()) {
        FAM.clear(*Twin, Twin->getName());
        Twin->eraseFromParent();
        Twin = nullptr;
        Again = true;
      }
  }
}

} // namespace overlap

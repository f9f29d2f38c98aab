#include "Scopes.h"
#include "WholeProgram.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace overlap {

/// What argument `At` of `Call` points to lives on, if it is a variable.
static void outlive(const CallBase &Call, int At) {
  auto *Slot = At < 0 ? nullptr : dyn_cast<AllocaInst>(getUnderlyingObject(Call.getArgOperand(At)));
  if (!Slot)
    return;
  for (const User *U : make_early_inc_range(Slot->users()))
    if (auto *Mark = dyn_cast<IntrinsicInst>(U); Mark && Mark->isLifetimeStartOrEnd())
      const_cast<IntrinsicInst *>(Mark)->eraseFromParent();
}

/// True for a call that frees and does nothing else that the program can see: of C++'s functions,
/// which a program may replace, where no other file can have its own.
static bool onlyFrees(const CallInst &Call) {
  const Function *F = Call.getCalledFunction();
  return F &&
         (F->getName() == "free" || (F->isDeclaration() && deletesOnlyFree(*Call.getModule())));
}

/// Where what `Wait` and its messages use is freed behind it, with nothing between that uses it or
/// that no wait may pass.
static CallInst *freeBehind(CallInst &Wait, const Value *Object, Effects &Fx,
                            const TargetLibraryInfo &TLI) {
  const Access All{const_cast<Value *>(Object), LocationSize::beforeOrAfterPointer(), true};
  Instruction *At = &Wait;
  while (true) {
    BasicBlock *Block = At->getParent(), *Next = Block->getUniqueSuccessor();
    if (!At->isTerminator())
      At = At->getNextNode();
    else if (Next && isa<BranchInst>(At) && Next->getSinglePredecessor() && Next != Block)
      At = &Next->front();
    else
      return nullptr;
    auto *Call = dyn_cast<CallInst>(At);
    if (Call && Call->use_empty() && getFreedOperand(Call, &TLI) == Object && onlyFrees(*Call))
      return Call;
    if (!At->isTerminator() && (Fx.stops(*At) || Fx.mayUse(*At, All)))
      return nullptr;
  }
}

void freeBehindWaits(MutableArrayRef<ExistingWait> Own, Effects &Fx, const TargetLibraryInfo &TLI) {
  for (ExistingWait &E : Own) {
    if (E.Whole.Waits.size() != 1)
      continue;
    SmallSetVector<const Value *, 8> Objects;
    for (const Access &A : E.Whole.Accesses)
      if (const Value *Object = getUnderlyingObject(A.Ptr); isAllocationFn(Object, &TLI))
        Objects.insert(Object);
    // What is freed first is in the way of the next.
    for (size_t Before = Objects.size() + 1; Objects.size() < Before;) {
      Before = Objects.size();
      Objects.remove_if([&](const Value *Object) {
        CallInst *Free = freeBehind(*E.Whole.Waits.front(), Object, Fx, TLI);
        if (!Free)
          return false;
        Free->removeFromParent();
        E.Frees.push_back(Free);
        // No other wait that needs it comes behind this one.
        E.Whole.Accesses.push_back(
            {const_cast<Value *>(Object), LocationSize::beforeOrAfterPointer(), true});
        return true;
      });
    }
  }
}

void putFreesBack(ExistingWait &E) {
  for (CallInst *Free : reverse(E.Frees)) {
    for (CallInst *Wait : E.Whole.Waits)
      IRBuilder<>(Wait->getNextNode()).Insert(Free->clone());
    Free->deleteValue();
  }
  E.Frees.clear();
}

void outliveScopes(ArrayRef<Site *> Blocking, ArrayRef<ExistingWait> Own) {
  for (const Site *S : Blocking)
    outlive(*S->Call, S->Info->Status);
  // In Fortran a wait has its number of requests and its code in variables, too.
  for (const ExistingWait &E : Own)
    for (const CallInst *Wait : E.Whole.Waits)
      for (unsigned At = 0; At < Wait->arg_size(); ++At)
        outlive(*Wait, static_cast<int>(At));
}

} // namespace overlap

#include "WholeProgram.h"
#include "System.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace overlap {

static bool mayHoldPointers(Type *T) {
  return T->isPointerTy() || !T->isSized() || any_of(T->subtypes(), mayHoldPointers);
}

/// True if code outside of this module may have put a pointer to a function into `G`, or into what
/// it leads to.
static bool isSetElsewhere(const GlobalVariable &G) {
  return G.isDeclaration() && !G.use_empty() && !isSystem(G) && mayHoldPointers(G.getValueType());
}

/// True if `Call` calls what a variable holds that a constructor of another file may write.
static bool callsVariable(const CallBase &Call) {
  auto *Load = dyn_cast<LoadInst>(Call.getCalledOperand());
  auto *G =
      Load ? dyn_cast<GlobalVariable>(getUnderlyingObject(Load->getPointerOperand())) : nullptr;
  return G && !G->isConstant() && !G->hasLocalLinkage();
}

static bool hasMain(const Module &M) {
  // flang's `main` calls the program unit, which is all that this module has.
  return any_of(ArrayRef<StringRef>{"main", "_QQmain"}, [&](StringRef Name) {
    const Function *F = M.getFunction(Name);
    return F && !F->isDeclaration();
  });
}

static bool isOpaque(const Module &M) {
  TargetLibraryInfoImpl Impl{Triple(M.getTargetTriple())};
  TargetLibraryInfo TLI(Impl);
  // Another file may define an interposable function, too.
  for (const Function &F : M)
    if ((F.isDeclaration() || F.isInterposable()) && !F.use_empty() && !isSystem(F, TLI))
      return true;
  for (const GlobalAlias &A : M.aliases())
    if (A.isInterposable() && !A.use_empty())
      return true;
  // So may a call by address lead out of the module.
  bool Foreign = any_of(M.globals(), isSetElsewhere);
  for (const Function &F : M)
    for (const Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I);
          Call && Call->isIndirectCall() && (Foreign || callsVariable(*Call)))
        return true;
  return false;
}

bool isWholeProgram(const Module &M) { return hasMain(M) && !isOpaque(M); }

bool deletesOnlyFree(const Module &M) {
  return isWholeProgram(M) && none_of(M.globals(), [](const GlobalVariable &G) {
           return !G.hasLocalLinkage() && !G.isConstant() && !G.use_empty() && !isSystem(G);
         });
}

} // namespace overlap

#include "Fortran08.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace overlap {

/// The argument `ierror`: the last one but the lengths of texts.
static Use *errorOf(CallBase &Call) {
  for (Use &Argument : reverse(Call.args()))
    if (Argument->getType()->isPointerTy())
      return &Argument;
  return nullptr;
}

/// Stores the error where nobody looks if the caller wants none.
static void giveError(CallBase &Call) {
  Use *Error = errorOf(Call);
  if (!Error || isa<AllocaInst>(Error->get()->stripInBoundsOffsets()) ||
      isa<GlobalVariable>(Error->get()->stripInBoundsOffsets()))
    return;
  Function &F = *Call.getFunction();
  IRBuilder<> AtEntry(&F.getEntryBlock(), F.getEntryBlock().getFirstInsertionPt());
  Value *Unused = AtEntry.CreateAlloca(AtEntry.getInt32Ty(), nullptr, "overlap.ierror");
  if (!isa<ConstantPointerNull>(Error->get())) {
    IRBuilder<> B(&Call);
    Unused = B.CreateSelect(B.CreateIsNull(Error->get()), Unused, Error->get());
  }
  Error->set(Unused);
}

/// Replaces the comparison of two handles.
static void compare(CallBase &Call, bool Equal) {
  IRBuilder<> B(&Call);
  Value *A = B.CreateLoad(B.getInt32Ty(), Call.getArgOperand(0));
  Value *Other = B.CreateLoad(B.getInt32Ty(), Call.getArgOperand(1));
  Value *Is = Equal ? B.CreateICmpEQ(A, Other) : B.CreateICmpNE(A, Other);
  Call.replaceAllUsesWith(B.CreateZExt(Is, Call.getType()));
  Call.eraseFromParent();
}

bool callLibrary(Module &M) {
  bool Changed = false;
  for (Function &F : make_early_inc_range(M)) {
    StringRef Name = F.getName();
    if (!F.isDeclaration() || !Name.consume_front("overlap_") || !Name.starts_with("mpi_") ||
        !Name.ends_with("_") || Name.starts_with("mpi_sizeof_") || Name.starts_with("mpi_status_f"))
      continue;
    bool Equal = Name.ends_with("_equal_"), Compares = Equal || Name.ends_with("_differ_");
    for (Use &U : make_early_inc_range(F.uses())) {
      auto *Call = dyn_cast<CallInst>(U.getUser());
      if (!Call || !Call->isCallee(&U))
        continue;
      Changed = true;
      if (Compares) {
        compare(*Call, Equal);
      } else {
        giveError(*Call);
        Call->setCalledFunction(M.getOrInsertFunction(Name, F.getFunctionType()));
      }
    }
    if (F.use_empty())
      F.eraseFromParent();
  }
  return Changed;
}

} // namespace overlap

#include "CleanUp.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace overlap {

void undo(Site &S) {
  Module &M = *S.Caller->getParent();
  // The site follows what takes its place, so the start has a name of its own while it is replaced.
  CallInst *Start = S.Init;
  IRBuilder<> B(Start);
  SmallVector<Value *, 16> Args(Start->args());
  auto *SiteName = cast<GlobalVariable>(Args[Args.size() - 4]);
  Args.truncate(Args.size() - 5); // The state, the site's name, the sizes of elements.
  SmallVector<Type *, 16> Types;
  for (Value *Arg : Args)
    Types.push_back(Arg->getType());
  std::string Symbol =
      S.Bind.Fortran ? "mpi_" + StringRef(S.Info->Name).lower() + "_" : S.mpiName();
  Type *Result = S.Bind.Fortran ? B.getVoidTy() : static_cast<Type *>(B.getInt32Ty());
  S.Call =
      B.CreateCall(M.getOrInsertFunction(Symbol, FunctionType::get(Result, Types, false)), Args);
  Start->replaceAllUsesWith(S.Call);
  for (CallInst *Wait : S.Waits)
    Wait->eraseFromParent();
  S.Waits.clear();
  Start->eraseFromParent();
  S.Init = nullptr;
  // A twin of the function may still name it.
  if (SiteName->use_empty())
    SiteName->eraseFromParent();
  for (User *U : make_early_inc_range(S.State->users())) {
    // The answer to whether something is pending is no.
    if (U->getType()->isIntegerTy(1))
      U->replaceAllUsesWith(B.getFalse());
    cast<Instruction>(U)->eraseFromParent();
  }
  S.State->eraseFromParent();
  S.State = nullptr;
}

} // namespace overlap

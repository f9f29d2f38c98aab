#include "CleanUp.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace overlap {

void undo(Site &S) {
  Module &M = *S.Caller->getParent();
  IRBuilder<> B(S.Init);
  SmallVector<Value *, 16> Args(S.Init->args());
  auto *SiteName = cast<GlobalVariable>(Args[Args.size() - 2]);
  Args.truncate(Args.size() - 3); // The state, the site's name, the size of an element.
  SmallVector<Type *, 16> Types;
  for (Value *Arg : Args)
    Types.push_back(Arg->getType());
  std::string Symbol = S.Bind.Fortran ? "mpi_" + StringRef(S.Info->Name).lower() + "_" : S.mpiName();
  Type *Result = S.Bind.Fortran ? B.getVoidTy() : static_cast<Type *>(B.getInt32Ty());
  B.CreateCall(M.getOrInsertFunction(Symbol, FunctionType::get(Result, Types, false)), Args);
  for (CallInst *Wait : S.Waits)
    Wait->eraseFromParent();
  S.Waits.clear();
  S.Init->eraseFromParent();
  S.Init = nullptr;
  SiteName->eraseFromParent();
  for (User *U : make_early_inc_range(S.State->users()))
    cast<Instruction>(U)->eraseFromParent();
  S.State->eraseFromParent();
  S.State = nullptr;
}

} // namespace overlap

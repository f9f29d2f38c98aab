#include "CleanUp.h"
#include "Split.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace overlap {

/// The blocking call in the place of its start.
static CallBase *blocking(const Site &S, CallInst *Start) {
  Module &M = *S.Caller->getParent();
  IRBuilder<> B(Start);
  SmallVector<Value *, 16> Args(Start->args());
  Args.truncate(Args.size() - 5); // The state, the site's name, the sizes of elements.
  SmallVector<Type *, 16> Types;
  for (Value *Arg : Args)
    Types.push_back(Arg->getType());
  std::string Symbol =
      S.Bind.Fortran ? "mpi_" + StringRef(S.Info->Name).lower() + "_" : S.mpiName();
  Type *Result = S.Bind.Fortran ? B.getVoidTy() : static_cast<Type *>(B.getInt32Ty());
  auto *Call =
      B.CreateCall(M.getOrInsertFunction(Symbol, FunctionType::get(Result, Types, false)), Args);
  Start->replaceAllUsesWith(Call);
  return Call;
}

/// The call as the program has it, which is still there and is always made now.
static CallBase *asWritten(const Site &S, CallInst *Start) {
  SmallVector<BasicBlock *, 2> Asking;
  for (User *Asks : make_early_inc_range(Start->users())) {
    for (User *U : Asks->users())
      Asking.push_back(cast<BranchInst>(U)->getParent());
    Asks->replaceAllUsesWith(ConstantInt::getFalse(Start->getContext()));
    cast<Instruction>(Asks)->eraseFromParent();
  }
  for (BasicBlock *Block : Asking)
    ConstantFoldTerminator(Block);
  return cast<CallBase>(static_cast<Value *>(S.Written));
}

void undo(Site &S) {
  // The site follows what takes its place, so the start has a name of its own while it is replaced.
  CallInst *Start = S.Init;
  auto *SiteName = cast<GlobalVariable>(Start->getArgOperand(Start->arg_size() - 4));
  S.Call = S.Written ? asWritten(S, Start) : blocking(S, Start);
  for (CallInst *Wait : S.Waits)
    Wait->eraseFromParent();
  S.Waits.clear();
  Start->eraseFromParent();
  S.Init = nullptr;
  // A twin of the function may still name it.
  if (SiteName->use_empty())
    SiteName->eraseFromParent();
  eraseState(S);
}

} // namespace overlap

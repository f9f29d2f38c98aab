#include "ErrorHandler.h"
#include "Calls.h"
#include "Classify.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace overlap {

/// MPI_ERRORS_ARE_FATAL.
static bool isDefault(const CallBase &Call, bool Fortran) {
  // In Fortran either library may be meant, and no handler of the one is this number of the other.
  Value *Handler = byReference(Binding{Library::OpenMpi, Fortran}, Call.getArgOperand(1));
  if (!Handler)
    return false;
  if (auto *G = dyn_cast<GlobalVariable>(Handler->stripPointerCasts()))
    return !Fortran && G->getName() == "ompi_mpi_errors_are_fatal";
  auto *C = dyn_cast<ConstantInt>(Handler);
  return C && (C->equalsInt(MPICH_ERRORS_ARE_FATAL) ||
               (Fortran && C->equalsInt(OPENMPI_ERRORS_ARE_FATAL)));
}

bool setsDefaultOnly(const Function &F) {
  std::string Lower = F.getName().lower();
  StringRef Name = Lower;
  Name.consume_front("p");
  if (!F.isDeclaration() || !Name.consume_front("mpi_"))
    return false;
  bool Fortran = Name.consume_back("_");
  if (Name != "comm_set_errhandler" && Name != "errhandler_set")
    return false;
  return all_of(F.uses(), [&](const Use &U) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    return Call && Call->isCallee(&U) && Call->arg_size() == (Fortran ? 3 : 2) &&
           isDefault(*Call, Fortran);
  });
}

bool hideDefaultHandlers(Module &M) {
  SmallVector<CallInst *, 4> Calls;
  for (Function &F : M)
    if (!F.use_empty() && setsDefaultOnly(F))
      for (User *U : F.users())
        if (auto *Call = dyn_cast<CallInst>(U))
          Calls.push_back(Call);
  for (CallInst *Call : Calls) {
    IRBuilder<> B(Call);
    Function *Was = Call->getCalledFunction();
    auto Find = M.getOrInsertFunction(
        "dlsym", FunctionType::get(B.getPtrTy(), {B.getPtrTy(), B.getPtrTy()}, false));
    Value *Found = B.CreateCall(
        Find, {ConstantPointerNull::get(B.getPtrTy()), B.CreateGlobalString(Was->getName())});
    // In a program that is linked statically it is not found, and the handler is the default
    // already.
    Instruction *Then = SplitBlockAndInsertIfThen(B.CreateIsNotNull(Found), Call, false);
    SmallVector<Value *, 3> Args(Call->args());
    B.SetInsertPoint(Then);
    CallInst *Made = B.CreateCall(Call->getFunctionType(), Found, Args);
    if (!Call->use_empty()) {
      B.SetInsertPoint(Call);
      PHINode *Code = B.CreatePHI(Call->getType(), 2);
      Code->addIncoming(Constant::getNullValue(Call->getType()),
                        cast<BranchInst>(Then->getParent()->getSinglePredecessor()->getTerminator())
                            ->getParent());
      Code->addIncoming(Made, Then->getParent());
      Call->replaceAllUsesWith(Code);
    }
    Call->eraseFromParent();
    if (Was->use_empty())
      Was->eraseFromParent();
  }
  return !Calls.empty();
}

bool callMpi(Function &F) {
  SmallVector<InvokeInst *, 8> Invokes;
  for (Instruction &I : instructions(F)) {
    auto *Invoke = dyn_cast<InvokeInst>(&I);
    const Function *Callee = Invoke ? Invoke->getCalledFunction() : nullptr;
    if (Callee && Callee->isDeclaration() && isMpiName(Callee->getName()))
      Invokes.push_back(Invoke);
  }
  // What catches is left to later passes: calls in it may be known already.
  for (InvokeInst *Invoke : Invokes)
    changeToCall(Invoke);
  return !Invokes.empty();
}

} // namespace overlap

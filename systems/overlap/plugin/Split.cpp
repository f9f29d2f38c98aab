#include "Split.h"
#include "Helpers.h"
#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace overlap {

/// Leaves the call where it is for when its start has not made it. The place where both ways meet.
static Instruction *keepWritten(Site &S) {
  CallBase *Call = S.Call;
  LLVMContext &C = Call->getContext();
  Function *F = Call->getFunction();
  S.Written = Call;
  BasicBlock *Head = Call->getParent();
  BasicBlock *Written = Head->splitBasicBlock(Call, "overlap.written"), *Done = nullptr,
             *Both = nullptr;
  if (auto *Invoke = dyn_cast<InvokeInst>(Call)) {
    // What caught it still catches it, from a block of another name.
    BasicBlock *Normal = Invoke->getNormalDest();
    Done = BasicBlock::Create(C, "overlap.done", F, Normal);
    Both = BasicBlock::Create(C, "overlap.both", F, Normal);
    Invoke->setNormalDest(Done);
    BranchInst::Create(Both, Done);
    BranchInst::Create(Normal, Both);
    Normal->replacePhiUsesWith(Written, Both);
  } else {
    Done = Written;
    Both = Written->splitBasicBlock(Call->getNextNode(), "overlap.both");
  }
  IRBuilder<> B(Done->getTerminator());
  B.CreateCall(message(*F->getParent(), S.Bind, "done"), {S.State});
  IRBuilder<> Ask(Head->getTerminator());
  Ask.CreateCondBr(Ask.CreateIsNotNull(S.Init), Both, Written);
  Head->getTerminator()->eraseFromParent();
  if (!Call->use_empty()) {
    auto *Code = PHINode::Create(Call->getType(), 2, "overlap.code", Both->begin());
    Call->replaceAllUsesWith(Code);
    Code->addIncoming(ConstantInt::get(Call->getType(), 0), Head);
    Code->addIncoming(Call, Done);
  }
  return &*Both->getFirstInsertionPt();
}

void split(Site &S, const Options &O) {
  Module &M = *S.Caller->getParent();
  BasicBlock &Entry = S.Caller->getEntryBlock();
  IRBuilder<> Top(&Entry, Entry.getFirstInsertionPt());
  StructType *Type = stateType(S.Bind, M.getContext());
  S.State = Top.CreateAlloca(Type, nullptr, "overlap.state");
  // Nothing is open on paths that do not come through the start.
  IRBuilder<> AfterAllocas(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
  AfterAllocas.CreateStore(AfterAllocas.getInt32(0), S.State);

  IRBuilder<> B(S.Call);
  for (Access &A : S.Accesses)
    if (A.Count && A.Count->getType()->isPointerTy())
      A.Count = B.CreateLoad(B.getInt32Ty(), A.Count);
  SmallVector<Value *, 16> Args(S.Call->args());
  Args.push_back(S.State);
  Args.push_back(siteName(M, S));
  uint64_t Size = 0;
  if (S.Info->SizeType >= 0)
    Size = datatypeSize(S.Bind, S.Call->getArgOperand(S.Info->SizeType)).value_or(0);
  Args.push_back(B.getInt64(Size));
  // Bytes of an element that is sent and of one that is received.
  for (bool Received : {false, true}) {
    auto It = find_if(S.Accesses, [&](const Access &A) { return A.Count && A.Write == Received; });
    Args.push_back(B.getInt64(It == S.Accesses.end() ? 0 : It->ElementBytes));
  }
  S.Init = B.CreateCall(startHelper(M, S, S.Call->getFunctionType(), O), Args);
  if (S.MayThrow) {
    B.SetInsertPoint(keepWritten(S));
    B.SetCurrentDebugLocation(S.Loc);
  }
  S.Waits.push_back(B.CreateCall(message(M, S.Bind, "wait"), {S.State}));
  if (!S.MayThrow) {
    S.Call->replaceAllUsesWith(S.Init);
    S.Call->eraseFromParent();
  }
  S.Call = nullptr;
}

void eraseState(Site &S) {
  for (User *U : make_early_inc_range(S.State->users())) {
    // The answer to whether something is pending is no.
    if (!U->use_empty())
      U->replaceAllUsesWith(Constant::getNullValue(U->getType()));
    cast<Instruction>(U)->eraseFromParent();
  }
  S.State->eraseFromParent();
  S.State = nullptr;
}

} // namespace overlap

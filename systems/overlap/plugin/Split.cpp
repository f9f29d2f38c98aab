#include "Split.h"
#include "Helpers.h"
#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace overlap {

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
  S.Waits.push_back(B.CreateCall(message(M, S.Bind, "wait"), {S.State}));
  S.Call->replaceAllUsesWith(S.Init);
  S.Call->eraseFromParent();
  S.Call = nullptr;
}

} // namespace overlap

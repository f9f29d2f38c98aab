#include "CountPending.h"
#include "Classify.h"
#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace overlap {

/// What `Call` calls, also where it is declared with other arguments: without a prototype, or for
/// handles of another type. An end that is not seen would leave its request pending for good.
static const Function *callee(const CallBase &Call) {
  return dyn_cast<Function>(Call.getCalledOperand()->stripPointerCasts());
}

/// The call, if it is one of MPI behind which something can stand.
static CallBase *ofMpi(Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  const Function *Callee = Call ? callee(*Call) : nullptr;
  if (!Callee || !Callee->isDeclaration() || !isMpiSymbol(Callee->getName()) ||
      isQuery(Callee->getName()))
    return nullptr;
  auto *Plain = dyn_cast<CallInst>(Call);
  return (Plain && !Plain->isMustTailCall() && !Plain->doesNotReturn()) || isa<InvokeInst>(Call)
             ? Call
             : nullptr;
}

/// Where something behind `Call` stands.
static Instruction *behind(CallBase &Call) {
  auto *Invoke = dyn_cast<InvokeInst>(&Call);
  if (!Invoke)
    return Call.getNextNode();
  BasicBlock *Next = Invoke->getNormalDest();
  if (!Next->getSinglePredecessor())
    Next = SplitEdge(Invoke->getParent(), Next);
  return &*Next->getFirstInsertionPt();
}

/// Below 0 by more requests than there are, but not so much that some levels of functions that MPI
/// calls, and that call MPI, were too many. It is added and taken away, since a function of another
/// file may only be called as those of MPI are: what it starts counts on.
static constexpr int Inside = 1 << 24;

static void count(CallBase &Call) {
  Module &M = *Call.getModule();
  bool Fortran = false;
  StringRef Name = callee(Call)->getName();
  const CallInfo *Start = findStart(Name, Fortran, /*AnyName=*/true);
  const CallInfo *End = Start ? nullptr : findEnd(Name, Fortran, /*AnyName=*/true);
  // A function of that name with other arguments is not MPI's.
  if ((End && Call.arg_size() < End->NumArgs) ||
      (Start && static_cast<int>(Call.arg_size()) <= Start->Many))
    return;
  IRBuilder<> B(&Call);
  Type *Int = B.getInt32Ty();
  auto Number = [&](int At) -> Value * {
    if (At < 0)
      return B.getInt32(1);
    Value *Arg = Call.getArgOperand(At);
    return Arg->getType()->isPointerTy() ? static_cast<Value *>(B.CreateLoad(Int, Arg))
                                         : B.CreateIntCast(Arg, Int, true);
  };
  Value *Many = Start ? Number(Start->Many) : nullptr, *Open = nullptr;
  if (End && Call.getArgOperand(End->Requests)->getType()->isPointerTy())
    Open =
        B.CreateCall(runtime(M, "__overlap_open"),
                     {Number(End->Many), Call.getArgOperand(End->Requests), B.getInt32(Fortran)});
  Value *Count = B.CreateThreadLocalAddress(pendingCount(M));
  auto Add = [&](int By) {
    B.CreateStore(B.CreateAdd(B.CreateLoad(Int, Count), B.getInt32(By)), Count);
  };
  Add(-Inside);
  B.SetInsertPoint(behind(Call));
  Add(Inside);
  if (Start)
    B.CreateCall(runtime(M, "__overlap_started"), {Many});
  if (!Open)
    return;
  auto Answer = [&](int At) -> Value * {
    bool IsPlace = At >= 0 && Call.getArgOperand(At)->getType()->isPointerTy();
    return IsPlace ? Call.getArgOperand(At) : ConstantPointerNull::get(B.getPtrTy());
  };
  B.CreateCall(runtime(M, "__overlap_ended"),
               {Open, Answer(End->Flag), Answer(End->Index), Answer(End->Done)});
}

bool countPending(Function &F) {
  SmallVector<CallBase *, 16> Calls;
  for (Instruction &I : instructions(F))
    if (CallBase *Call = ofMpi(I))
      Calls.push_back(Call);
  for (CallBase *Call : Calls)
    count(*Call);
  return !Calls.empty();
}

} // namespace overlap

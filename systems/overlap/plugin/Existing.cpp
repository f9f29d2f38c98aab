#include "Existing.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace overlap {

/// What the mixed kinds of a group come to: whoever receives must not pass a send.
static const CallInfo WaitForSends = {"Wait", CallKind::Send, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, {-1, -1, -1, -1}};
static const CallInfo WaitForAny = {"Wait", CallKind::Recv, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, {-1, -1, -1, -1}};
static const CallInfo WaitallForSends = {"Waitall", CallKind::Send, 3, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, {-1, -1, -1, -1}};
static const CallInfo WaitallForAny = {"Waitall", CallKind::Recv, 3, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, {-1, -1, -1, -1}};

static StringRef calleeName(const CallInst &Call) {
  const Function *F = Call.getCalledFunction();
  return F && F->isDeclaration() ? F->getName() : "";
}

/// Collects starts and waits on the requests in `Slot`; false if anything else uses them.
static bool collectUses(AllocaInst *Slot, SmallVectorImpl<CallInst *> &Starts, SmallVectorImpl<CallInst *> &Waits) {
  SmallVector<Value *, 8> Work{Slot};
  while (!Work.empty()) {
    Value *V = Work.pop_back_val();
    for (Use &U : V->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (isa<GetElementPtrInst>(I) || I->isLifetimeStartOrEnd()) {
        if (isa<GetElementPtrInst>(I))
          Work.push_back(I);
        continue;
      }
      auto *Call = dyn_cast<CallInst>(I);
      if (!Call || !Call->isArgOperand(&U))
        return false;
      unsigned At = Call->getArgOperandNo(&U);
      StringRef Name = calleeName(*Call);
      if ((Name == "MPI_Isend" || Name == "MPI_Irecv") && At == 6 && Call->arg_size() == 7)
        Starts.push_back(Call);
      else if ((Name == "MPI_Wait" && At == 0 && Call->arg_size() == 2) ||
               (Name == "MPI_Waitall" && At == 1 && Call->arg_size() == 3))
        Waits.push_back(Call);
      else
        return false;
    }
  }
  return !Starts.empty() && Waits.size() == 1;
}

static bool addStart(Site &S, CallInst &Start) {
  Type *Comm = Start.getArgOperand(5)->getType();
  Binding B{Comm->isPointerTy() ? Library::OpenMpi : Library::Mpich, false};
  std::optional<uint64_t> Size = datatypeSize(B, Start.getArgOperand(2));
  if (!Size || isa<ConstantPointerNull>(Start.getArgOperand(0)->stripPointerCasts()) || !Start.use_empty())
    return false;
  LocationSize Extent = LocationSize::afterPointer();
  if (auto *Count = dyn_cast<ConstantInt>(Start.getArgOperand(1)); Count && !Count->isNegative())
    Extent = LocationSize::precise(Count->getZExtValue() * *Size);
  S.Accesses.push_back({Start.getArgOperand(0), Extent, calleeName(Start) == "MPI_Irecv"});
  S.Bind = B;
  return true;
}

std::vector<ExistingWait> findExisting(Function &F, LoopInfo &LI) {
  std::vector<ExistingWait> Found;
  for (Instruction &I : instructions(F)) {
    auto *Slot = dyn_cast<AllocaInst>(&I);
    SmallVector<CallInst *, 4> Starts, Waits;
    if (!Slot || !collectUses(Slot, Starts, Waits))
      continue;
    CallInst *Wait = Waits.front();
    ExistingWait E;
    Site &S = E.Whole;
    bool Known = Wait->use_empty();
    bool Receives = false;
    for (CallInst *Start : Starts) {
      // In another loop, a start stands for many messages with other buffers.
      Known = Known && LI.getLoopFor(Start->getParent()) == LI.getLoopFor(Wait->getParent()) && addStart(S, *Start);
      Receives |= calleeName(*Start) == "MPI_Irecv";
      S.AlsoSends |= calleeName(*Start) == "MPI_Isend";
    }
    if (!Known)
      continue;
    bool All = Wait->arg_size() == 3;
    S.Info = All ? (Receives ? &WaitallForAny : &WaitallForSends) : (Receives ? &WaitForAny : &WaitForSends);
    S.Caller = &F;
    S.Loc = Wait->getDebugLoc();
    S.Existing = true;
    S.Init = Starts.front();
    for (CallInst *Start : Starts)
      if (Start->getParent() == Wait->getParent() && S.Init->getParent() == Start->getParent() && S.Init->comesBefore(Start))
        S.Init = Start;
    S.Waits.push_back(Wait);
    S.Accesses.push_back({Slot, LocationSize::beforeOrAfterPointer(), true});
    Value *Status = Wait->getArgOperand(All ? 2 : 1);
    if (!isa<Constant>(Status))
      S.Accesses.push_back({Status, LocationSize::beforeOrAfterPointer(), true});
    E.Starts = Starts;
    Found.push_back(std::move(E));
  }
  return Found;
}

} // namespace overlap

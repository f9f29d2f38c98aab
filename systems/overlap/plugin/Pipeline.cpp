#include "Pipeline.h"
#include "Versions.h"
#include "Widen.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace overlap {

namespace {
struct Ahead {
  Ahead(Site &S, Loop &L, Analyses &A)
      : S(S), L(L), A(A), Before(L.getLoopPreheader()), Header(L.getHeader()),
        Latch(L.getLoopLatch()) {}

  Site &S;
  Loop &L;
  Analyses &A;
  BasicBlock *Before, *Header, *Latch;
  SetVector<Instruction *> Slice; ///< What the header computes for the start, in order.
  SmallVector<Instruction *, 8>
      Next; ///< The same for the next pass, for a moment at the end of this one.
  SetVector<Instruction *> Early; ///< Values of this pass that must be there before the work.
  Chain Work;
  unsigned From = 0; ///< The first statement of `Work` that the next start may pass.

  std::optional<Refusal> findSlice();
  Value *ofNext(Value *V, ValueToValueMapTy &Map);
  Site next();
  void need(Value *V, const DenseMap<const Instruction *, unsigned> &Owner, unsigned &Known);
  uint64_t weight(Cost &Weights, unsigned Idx);
  void move(Site &NextS);
};
} // namespace

/// True if `Slot` never holds anything but `C`, so that it does not matter when that is stored.
static bool alwaysHolds(const AllocaInst &Slot, const Constant *C, const Effects &Fx) {
  return all_of(Slot.uses(), [&](const Use &U) {
    auto *I = cast<Instruction>(U.getUser());
    if (auto *Store = dyn_cast<StoreInst>(I))
      return Store->getPointerOperand() == &Slot && Store->getValueOperand() == C;
    auto *Call = dyn_cast<CallBase>(I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (const Site *S = Fx.own(*I) == Own::Init ? Fx.siteOf(*I) : nullptr)
      return none_of(S->Accesses, [&](const Access &A) {
        return A.Write && getUnderlyingObject(A.Ptr) == &Slot;
      });
    return isa<LoadInst>(I) ||
           (Callee && Call->isArgOperand(&U) &&
            onlyReads(Callee->getName(), Call->getArgOperandNo(&U), Call->arg_size()));
  });
}

/// The instructions of the header that the start uses; the rest of the header before the start must
/// not mind if the start comes first.
std::optional<Refusal> Ahead::findSlice() {
  SmallVector<Instruction *, 16> Prefix;
  for (Instruction *I = firstOf(*Header); I != S.Init; I = nextOf(I))
    Prefix.push_back(I);
  SmallPtrSet<const Value *, 16> Wanted(S.Init->arg_begin(), S.Init->arg_end());
  for (Instruction *I : reverse(Prefix)) {
    if (A.Fx.own(*I) != Own::None || A.Fx.stops(*I))
      return Refusal::PassPrepares;
    // Fortran puts numbers into variables before it calls.
    auto *Store = dyn_cast<StoreInst>(I);
    auto *Slot = Store ? dyn_cast<AllocaInst>(Store->getPointerOperand()) : nullptr;
    auto *Value = Store ? dyn_cast<Constant>(Store->getValueOperand()) : nullptr;
    bool Number =
        Slot && Value && alwaysHolds(*Slot, Value, A.Fx) &&
        all_of(S.Accesses, [&](const Access &Of) { return Of.AtStart || !A.Fx.mayUse(*I, Of); });
    if (!Number && A.Fx.touches(*I, S, false))
      return Refusal::PassPrepares;
    if (!Wanted.contains(I) && !(Number && A.Fx.touches(*I, S, false)))
      continue;
    auto *Load = dyn_cast<LoadInst>(I);
    // The next start comes only if there is a next pass, so no division is made in vain.
    if (!Number && !Load && (I->mayReadOrWriteMemory() || I->mayHaveSideEffects()))
      return Refusal::PassPrepares;
    if (Load)
      for (Instruction *Earlier : Prefix) {
        if (Earlier == Load)
          break;
        if (A.Fx.conflict(*Earlier, *Load))
          return Refusal::PassPrepares;
      }
    Slice.insert(I);
    Wanted.insert(I->op_begin(), I->op_end());
  }
  Slice = SetVector<Instruction *>(Slice.getArrayRef().rbegin(), Slice.getArrayRef().rend());
  return std::nullopt;
}

/// What `V`, used by the start, is in the next pass.
Value *Ahead::ofNext(Value *V, ValueToValueMapTy &Map) {
  if (Value *Known = Map.lookup(V))
    return Known;
  auto *Phi = dyn_cast<PHINode>(V);
  return Phi && Phi->getParent() == Header ? Phi->getIncomingValueForBlock(Latch) : V;
}

/// The site as the next pass has it, computed at the end of this one.
Site Ahead::next() {
  ValueToValueMapTy Map;
  for (Instruction *I : Slice) {
    Instruction *Twin = I->clone();
    for (Use &U : Twin->operands())
      U.set(ofNext(U.get(), Map));
    Twin->insertBefore(Latch->getTerminator());
    Map[I] = Twin;
    Next.push_back(Twin);
  }
  Site Twin = S;
  Twin.Init = cast<CallInst>(S.Init->clone());
  for (Use &U : Twin.Init->args())
    U.set(ofNext(U.get(), Map));
  Twin.Init->insertBefore(Latch->getTerminator());
  Next.push_back(Twin.Init);
  for (Access &Of : Twin.Accesses) {
    Of.Ptr = ofNext(Of.Ptr, Map);
    Of.Count = Of.Count ? ofNext(Of.Count, Map) : nullptr;
  }
  return Twin;
}

/// `V` must be known before the work: plain arithmetic comes along, what else is in `Work` stays
/// before the start. `Known` is the first statement behind these.
void Ahead::need(Value *V, const DenseMap<const Instruction *, unsigned> &Owner, unsigned &Known) {
  auto *I = dyn_cast<Instruction>(V);
  auto It = I ? Owner.find(I) : Owner.end();
  if (It == Owner.end() || Early.contains(I))
    return;
  if (Work.Statements[It->second].Region || I->mayReadOrWriteMemory() || isa<PHINode>(I) ||
      !isSafeToSpeculativelyExecute(I)) {
    Known = std::max(Known, It->second + 1);
    return;
  }
  for (Value *Operand : I->operands())
    need(Operand, Owner, Known);
  Early.insert(I);
}

uint64_t Ahead::weight(Cost &Weights, unsigned Idx) {
  uint64_t Sum = 0;
  for (; Idx < Work.Statements.size(); ++Idx)
    for (Instruction *I : Work.Statements[Idx].All)
      Sum += Early.contains(I) ? 0 : Weights.weightInLoops(*I, &L);
  return Sum;
}

void Ahead::move(Site &NextS) {
  auto *End = cast<BranchInst>(Latch->getTerminator());
  // STEP 1: the start of the first pass.
  ValueToValueMapTy Map;
  auto OfFirst = [&](Value *V) -> Value * {
    if (Value *Known = Map.lookup(V))
      return Known;
    auto *Phi = dyn_cast<PHINode>(V);
    return Phi && Phi->getParent() == Header ? Phi->getIncomingValueForBlock(Before) : V;
  };
  SmallVector<Instruction *, 8> First(Slice.begin(), Slice.end());
  First.push_back(S.Init);
  for (Instruction *I : First) {
    Instruction *Twin = I->clone();
    for (Use &U : Twin->operands())
      U.set(OfFirst(U.get()));
    Twin->insertBefore(Before->getTerminator());
    Map[I] = Twin;
  }
  // STEP 2: the start of the next pass, if there is one, before the work.
  Instruction *At = Work.Statements[From].First;
  while (Early.contains(At))
    At = Work.Statements[++From].First;
  for (Instruction *I : Early)
    if (!A.DT.dominates(I, At))
      I->moveBefore(At);
  Instruction *Place = At;
  BasicBlock *Behind = nullptr;
  if (End->isConditional()) {
    IRBuilder<> B(At);
    bool Back = End->getSuccessor(0) == Header;
    Value *Again = Back ? End->getCondition() : B.CreateNot(End->getCondition());
    Behind = End->getSuccessor(Back ? 1 : 0);
    Place = SplitBlockAndInsertIfThen(Again, At->getIterator(), false);
  }
  for (Instruction *I : Next)
    I->moveBefore(Place);
  // STEP 3: behind the loop nothing is pending, and the window ends.
  if (Behind) {
    auto *Wait = cast<CallInst>(S.Waits.front()->clone());
    Wait->insertBefore(&*Behind->getFirstInsertionPt());
    S.Waits.push_back(Wait);
  }
  // From one pass to the next, the buffers of either may be pending.
  for (unsigned Idx = 0, N = S.Accesses.size(); Idx < N; ++Idx) {
    Access &OfNext = NextS.Accesses[Idx];
    OfNext.OtherCount = OfNext.Ptr == S.Accesses[Idx].Ptr;
    if (!OfNext.OtherCount || OfNext.Count != S.Accesses[Idx].Count)
      S.Accesses.push_back(OfNext);
  }
  A.Fx.forget(S.Init);
  S.Init->eraseFromParent();
  S.Init = NextS.Init;
  S.StartsAhead = true;
}

bool startAhead(Site &S, ArrayRef<Site *> Sites, Analyses &A, Cost &Weights, const Options &O) {
  Loop *L = A.LI.getLoopFor(S.Init->getParent());
  // The wait is on every path from the start to the end of the pass.
  if (!L || S.Waits.size() != 1 || !L->contains(S.Waits.front()) ||
      L->getHeader() != S.Init->getParent() || !L->getLoopPreheader() || !L->getLoopLatch() ||
      !L->hasDedicatedExits() || !isa<BranchInst>(L->getLoopLatch()->getTerminator()))
    return false;
  Ahead Move(S, *L, A);
  Move.Work = backwardChain(Move.Latch->getTerminator(), A);
  // Where there is no work there is no place before it, whatever the user wants.
  uint64_t Least = std::max<uint64_t>(O.MinWeight, 1);
  if (Move.weight(Weights, 0) < Least)
    return false;
  auto Refuse = [&](Refusal Why) {
    if (!S.LoopRefused) {
      S.LoopRefused = Why;
      S.LoopLine = L->getStartLoc() ? L->getStartLoc().getLine() : 0;
    }
    return false;
  };
  if (!S.Init->use_empty())
    return Refuse(Refusal::PassUnknown);
  if (auto Why = Move.findSlice())
    return Refuse(*Why);
  // STEP 1: what must be known early, and what comes too late for it.
  DenseMap<const Instruction *, unsigned> Owner;
  for (unsigned Idx = 0; Idx < Move.Work.Statements.size(); ++Idx)
    for (const Instruction *I : Move.Work.Statements[Idx].All)
      Owner[I] = Idx;
  unsigned Known = 0, Free = 0;
  auto *End = cast<BranchInst>(Move.Latch->getTerminator());
  if (End->isConditional())
    Move.need(End->getCondition(), Owner, Known);
  SmallVector<Instruction *, 8> Users(Move.Slice.begin(), Move.Slice.end());
  Users.push_back(S.Init);
  for (Instruction *I : Users)
    for (Value *Operand : I->operands())
      if (auto *Phi = dyn_cast<PHINode>(Operand); Phi && Phi->getParent() == Move.Header)
        Move.need(Phi->getIncomingValueForBlock(Move.Latch), Owner, Known);
  // STEP 2: the statements that the next start may pass.
  Site NextS = Move.next();
  for (unsigned Idx = 0; Idx < Move.Work.Statements.size(); ++Idx)
    for (Instruction *I : Move.Work.Statements[Idx].Memory) {
      bool Meets = A.Fx.touches(*I, NextS, false);
      for (Instruction *Read : Move.Next)
        Meets |= isa<LoadInst>(Read) && A.Fx.conflict(*I, *Read);
      if (Meets)
        Free = Idx + 1;
    }
  bool Alone = none_of(Sites, [&](Site *Other) {
    bool Open = false;
    if (Other != &S && Other->Init && !Other->Waits.empty())
      forEachInWindow(*Other, [&](Instruction &I) { Open |= &I == S.Init; });
    return Open && (A.Fx.meets(*Other, S) || A.Fx.meets(*Other, NextS));
  });
  Move.From = std::max(Known, Free);
  if (!Alone || Move.weight(Weights, Move.From) < Least) {
    for (Instruction *I : reverse(Move.Next))
      I->eraseFromParent();
    return Refuse(!Alone || Free >= Known ? Refusal::PassUses : Refusal::PassUnknown);
  }
  Move.move(NextS);
  return true;
}

} // namespace overlap

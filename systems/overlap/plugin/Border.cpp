#include "Border.h"
#include "Runtime.h"
#include "ThreeLoops.h"
#include "Versions.h"
#include "Widen.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

// A stencil's loop over rows needs the neighbour's row in its first pass, or in its last, and the
// rows between need no message. So the rows between are computed while it is on its way:
//
//   wait; for (k = 0; k < n; k++) body(k);   --->   interior; wait; first passes; last passes
//
// Which passes those are is seldom known to the compiler: n, the buffer and the array are values.
// But where each access of the loop moves by the same stride in each pass, a few comparisons before
// the loop tell. In pass k an access reaches [Low + Step * k, Low + Step * k + Span), and it meets
// the buffer [B, B + Bytes) if
//
//   Low1 < Step * k < High1   with   Low1 = B - Span - Low   and   High1 = B + Bytes - Low.
//
// For a positive step these are the passes from Low1 / Step + 1 to (High1 - 1) / Step; a negative
// one is turned around first, and of a step of 0 either all passes meet the buffer or none. If the
// passes that meet it are nearer to the start they are counted there (`First`), else at the end
// (`Last`), so that [First, n - Last) is a range in which nothing is used; if it is empty the loop
// stays whole.
//
// The last passes run in their order anyway. The first ones come after the interior now, which is
// right only if no pass of one uses what a pass of the other writes. `mayReorder` compares each
// pair of accesses of which one writes: either all that they reach in all passes is apart, or both
// move by one stride and stay, in each pass, within one window of that stride, so that two
// different passes have two different windows. Values that pass from one pass to the next (a sum,
// say) forbid it too.
//
// Where anything of this is not so, the answer is computed all the same, as First = n: no interior,
// the wait, then all passes in their order. All numbers are checked to be small enough that the
// arithmetic above cannot overflow (`Fine`).

namespace overlap {

/// Larger loops are not copied, in instructions.
static constexpr unsigned SizeMax = 1000;
/// More comparisons of addresses than this are not worth their time.
static constexpr unsigned ChecksMax = 48;
/// Counts and strides up to here cannot overflow when they are multiplied.
static constexpr uint64_t NumberMax = uint64_t(1) << 31;
/// No buffer is larger, and sums of a few of these cannot overflow.
static constexpr uint64_t ReachMax = uint64_t(1) << 48;

namespace {

/// Where one access lies in pass k: `[Low + Step * k, Low + Step * k + Span)`.
struct Range {
  Instruction *I;
  const SCEV *Low;
  const SCEV *Step;
  SmallVector<std::pair<const SCEV *, const SCEV *>, 3>
      Inner; ///< Step and passes - 1 of loops inside.
  const SCEV *Size;
};

/// An access of the loop to memory.
struct Touch {
  Instruction *I;
  int RangeIdx; ///< -1: unknown.
  bool Writes;
  const Value *Ptr;
};

/// A range as values in front of the loop.
struct Place {
  Value *Low, *Step, *Span;
};

/// What is computed before the loop is entered, and where.
struct Comparisons {
  Comparisons(Instruction *At, SCEVExpander &Expander) : B(At), Expander(Expander) {}

  IRBuilder<> B;
  SCEVExpander &Expander;
  Value *Trips = nullptr, *Final = nullptr; ///< Passes, and the number of the last.
  Value *Fine = nullptr;                    ///< False if a number is too large to count with.
  DenseMap<unsigned, Place> Places;         ///< Of ranges that were asked for.
};

/// An access of a pending message that the loop may use.
struct Use {
  Site *S;
  Access What;
  unsigned RangeIdx;
};

struct Splitter {
  Splitter(Function &F, Loop &L, FunctionAnalysisManager &FAM, Effects &Fx)
      : F(F), L(L), SE(FAM.getResult<ScalarEvolutionAnalysis>(F)),
        DT(FAM.getResult<DominatorTreeAnalysis>(F)), LI(FAM.getResult<LoopAnalysis>(F)), Fx(Fx),
        Before(L.getLoopPreheader()), Header(L.getHeader()), Latch(L.getLoopLatch()) {}

  Function &F;
  Loop &L;
  ScalarEvolution &SE;
  DominatorTree &DT;
  LoopInfo &LI;
  Effects &Fx;
  BasicBlock *Before, *Header, *Latch, *Exit = nullptr;
  SmallVector<std::pair<Site *, CallInst *>, 4> Waits;
  SmallVector<Range, 8> Ranges;
  SmallVector<Use, 8> Uses;
  SmallVector<std::pair<unsigned, unsigned>, 16>
      Pairs;            ///< Ranges that must keep their order, by address.
  bool Ordered = false; ///< Passes must keep their order whatever the addresses.
  SmallVector<PHINode *, 4> Counters, Carried;
  SmallVector<Instruction *, 4> Results; ///< Values that are used behind the loop.

  std::optional<Refusal> check();
  void split();

private:
  bool rangeOf(Instruction &I, const Value *Ptr, const SCEV *Size, Range &R);
  bool isOfPending(const Site &S, const Access &A, const CallInst &Wait) const;
  bool isKnown(Value *V, const CallInst &Wait);
  SmallVector<Touch, 16> findRanges();
  std::optional<Refusal> findUses(ArrayRef<Touch> All);
  void findPairs(ArrayRef<Touch> All);
  bool usedByAll(const Use &U);
  bool findValues();
  bool expandable(const Range &R, const SCEVExpander &Expander) const;
  Place placeOf(Comparisons &At, unsigned RangeIdx);
  std::pair<Value *, Value *> countBorder(Comparisons &At);
  Value *mayReorder(Comparisons &At);
};

} // namespace

/// The range of an access through `Ptr`; false if it does not follow from the counter of the loop.
bool Splitter::rangeOf(Instruction &I, const Value *Ptr, const SCEV *Size, Range &R) {
  R.I = &I;
  R.Size = Size;
  const SCEV *At = SE.getSCEV(const_cast<Value *>(Ptr));
  const SCEV *Zero = SE.getZero(SE.getEffectiveSCEVType(At->getType()));
  R.Step = Zero;
  while (auto *Moving = dyn_cast<SCEVAddRecExpr>(At)) {
    const Loop *Of = Moving->getLoop();
    const SCEV *Step = Moving->isAffine() ? Moving->getStepRecurrence(SE) : nullptr;
    if (!Step || !L.contains(Of) || !SE.isLoopInvariant(Step, &L))
      break;
    At = Moving->getStart();
    if (Of == &L) {
      R.Step = Step;
      break;
    }
    const SCEV *Taken = SE.getBackedgeTakenCount(Of);
    if (isa<SCEVCouldNotCompute>(Taken) || !SE.isLoopInvariant(Taken, &L) ||
        SE.getTypeSizeInBits(Taken->getType()) > 64)
      return false;
    R.Inner.push_back({Step, Taken});
  }
  R.Low = At;
  return SE.isLoopInvariant(At, &L) && SE.isLoopInvariant(Size, &L);
}

/// True if the count of `A` is that of the message that `Wait` ends, and not of another pass.
bool Splitter::isOfPending(const Site &S, const Access &A, const CallInst &Wait) const {
  auto *I = dyn_cast<Instruction>(A.Count);
  if (!I || !LI.getLoopFor(I->getParent()))
    return true;
  return S.Existing ? S.WithinPass : S.StartsAhead || DT.dominates(S.Init, &Wait);
}

/// True if `V` is there at `Wait`, or can be computed: a start that not every way comes through may
/// have an address of its own.
bool Splitter::isKnown(Value *V, const CallInst &Wait) {
  return DT.dominates(V, &Wait) ||
         expander(SE, F.getDataLayout()).isSafeToExpandAt(SE.getSCEV(V), Before->getTerminator());
}

/// The accesses of the loop to memory, with the ranges of those that have one.
SmallVector<Touch, 16> Splitter::findRanges() {
  const DataLayout &DL = F.getDataLayout();
  Type *Int = Type::getInt64Ty(F.getContext());
  SmallVector<Touch, 16> All;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block) {
      if (!I.mayReadOrWriteMemory() || isa<DbgInfoIntrinsic>(I) || isa<NoAliasScopeDeclInst>(I) ||
          isa<AssumeInst>(I))
        continue;
      auto Add = [&](const Value *Ptr, const SCEV *Size, bool Write) {
        Range R;
        bool Known = Ptr && rangeOf(I, Ptr, Size, R);
        All.push_back({&I, Known ? static_cast<int>(Ranges.size()) : -1, Write, Ptr});
        if (Known)
          Ranges.push_back(R);
      };
      auto Bytes = [&](Type *T) {
        return SE.getConstant(Int, DL.getTypeStoreSize(T).getFixedValue());
      };
      auto *Load = dyn_cast<LoadInst>(&I);
      auto *Store = dyn_cast<StoreInst>(&I);
      auto *Mem = dyn_cast<MemIntrinsic>(&I);
      if (Load && !DL.getTypeStoreSize(Load->getType()).isScalable())
        Add(Load->getPointerOperand(), Bytes(Load->getType()), false);
      else if (Store && !DL.getTypeStoreSize(Store->getValueOperand()->getType()).isScalable())
        Add(Store->getPointerOperand(), Bytes(Store->getValueOperand()->getType()), true);
      else if (Mem && Mem->getLength()->getType()->isIntegerTy(64)) {
        Add(Mem->getRawDest(), SE.getSCEV(Mem->getLength()), true);
        if (auto *Transfer = dyn_cast<MemTransferInst>(Mem))
          Add(Transfer->getRawSource(), SE.getSCEV(Mem->getLength()), false);
      } else if (!Fx.isMathCall(I))
        Add(nullptr, nullptr, I.mayWriteToMemory());
    }
  return All;
}

/// Which accesses use the pending buffers.
std::optional<Refusal> Splitter::findUses(ArrayRef<Touch> All) {
  for (auto &[S, Wait] : Waits)
    for (const Access &A : S->Accesses)
      for (const Touch &T : All) {
        // At the wait of a pass, what is pending has the count of that pass.
        if (A.AtStart || A.OtherCount || !Fx.mayUse(*T.I, A))
          continue;
        // Only one side of a copy may be the one that is meant; the other is compared in vain.
        bool Length = A.Count && isOfPending(*S, A, *Wait) && isKnown(A.Count, *Wait) &&
                      isKnown(A.Ptr, *Wait);
        if (T.RangeIdx < 0 || !Length)
          return Refusal::LoopAccess;
        Uses.push_back({S, A, static_cast<unsigned>(T.RangeIdx)});
      }
  if (Uses.empty())
    return Refusal::LoopAccess;
  if (Uses.size() > ChecksMax)
    return Refusal::LoopTooLarge;
  return std::nullopt;
}

/// Which pairs of accesses could depend on each other. Passes change their order: each that writes
/// is compared with all others. What two pointers may share in one pass says nothing about two
/// passes, so only different objects are left out.
void Splitter::findPairs(ArrayRef<Touch> All) {
  for (unsigned A = 0; A < All.size(); ++A) {
    if (!All[A].Writes)
      continue;
    for (unsigned B = 0; B < All.size(); ++B) {
      if (B < A && All[B].Writes)
        continue;
      if (All[A].Ptr && All[B].Ptr && A != B && Effects::differentObjects(All[A].Ptr, All[B].Ptr))
        continue;
      if (All[A].RangeIdx < 0 || All[B].RangeIdx < 0) {
        Ordered = true;
        continue;
      }
      Pairs.push_back({All[A].RangeIdx, All[B].RangeIdx});
    }
  }
  if (Pairs.size() > ChecksMax) {
    Pairs.clear();
    Ordered = true;
  }
}

/// True if every pass uses the buffer, as a loop does that unpacks a message, so that there is no
/// interior.
bool Splitter::usedByAll(const Use &U) {
  const Range &R = Ranges[U.RangeIdx];
  Type *Int = Type::getInt64Ty(F.getContext());
  auto Number = [&](const SCEV *S) { return SE.getTruncateOrZeroExtend(S, Int); };
  const SCEV *First = SE.getMinusSCEV(R.Low, SE.getSCEV(U.What.Ptr));
  if (isa<SCEVCouldNotCompute>(First) || !SE.isKnownNonNegative(First) ||
      !SE.isKnownNonNegative(R.Step))
    return false;
  const SCEV *Last = SE.getAddExpr(First, SE.getMulExpr(SE.getTruncateOrSignExtend(R.Step, Int),
                                                        Number(SE.getBackedgeTakenCount(&L))));
  const SCEV *Bytes =
      SE.getMulExpr(Number(SE.getSCEV(U.What.Count)), SE.getConstant(Int, U.What.ElementBytes));
  return SE.isKnownPositive(SE.getMinusSCEV(Bytes, Last));
}

/// Values that pass from one pass to the next, or out of the loop.
bool Splitter::findValues() {
  for (PHINode &Phi : Header->phis()) {
    auto *Moving =
        SE.isSCEVable(Phi.getType()) ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
    if (Moving && Moving->getLoop() == &L && Moving->isAffine() &&
        SE.isLoopInvariant(Moving->getStepRecurrence(SE), &L) &&
        SE.getTypeSizeInBits(Phi.getType()) <= 64)
      Counters.push_back(&Phi);
    else
      Carried.push_back(&Phi);
  }
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (any_of(I.users(), [&](User *U) { return !L.contains(cast<Instruction>(U)); })) {
        if (I.getType()->isTokenTy() || isa<AllocaInst>(I))
          return false;
        Results.push_back(&I);
      }
  Ordered |= !Carried.empty() || !Results.empty();
  return true;
}

bool Splitter::expandable(const Range &R, const SCEVExpander &Expander) const {
  auto Safe = [&](const SCEV *S) { return Expander.isSafeToExpandAt(S, Before->getTerminator()); };
  return Safe(R.Low) && Safe(R.Step) && Safe(R.Size) &&
         all_of(R.Inner, [&](auto &It) { return Safe(It.first) && Safe(It.second); });
}

std::optional<Refusal> Splitter::check() {
  Exit = L.getUniqueExitBlock();
  const SCEV *Taken = SE.getBackedgeTakenCount(&L);
  if (!Latch || !Exit || L.getExitingBlock() != Latch || !isa<BranchInst>(Latch->getTerminator()) ||
      Exit->isEHPad() || !L.hasDedicatedExits() || isa<SCEVCouldNotCompute>(Taken) ||
      SE.getTypeSizeInBits(Taken->getType()) > 64)
    return Refusal::LoopExits;
  unsigned Size = 0;
  for (BasicBlock *Block : L.blocks()) {
    Size += Block->size();
    if (Block->hasAddressTaken() ||
        !(isa<BranchInst>(Block->getTerminator()) || isa<SwitchInst>(Block->getTerminator())))
      return Refusal::LoopExits;
    for (Instruction &I : *Block) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (Fx.stops(I) || Fx.own(I) != Own::None || isa<AllocaInst>(I) ||
          (Call && Call->cannotDuplicate()))
        return Refusal::LoopAccess;
    }
  }
  if (Size > SizeMax)
    return Refusal::LoopTooLarge;
  SmallVector<Touch, 16> All = findRanges();
  if (auto Why = findUses(All))
    return Why;
  findPairs(All);
  if (any_of(Uses, [&](const Use &U) { return usedByAll(U); }))
    return Refusal::LoopUsesAll;
  if (!findValues())
    return Refusal::LoopExits;
  SCEVExpander Expander = expander(SE, F.getDataLayout());
  if (!Expander.isSafeToExpandAt(Taken, Before->getTerminator()))
    return Refusal::LoopExits;
  for (const Use &U : Uses)
    if (!expandable(Ranges[U.RangeIdx], Expander))
      return Refusal::LoopAccess;
  for (auto [A, B] : Pairs)
    if (!expandable(Ranges[A], Expander) || !expandable(Ranges[B], Expander)) {
      Ordered = true;
      break;
    }
  if (Ordered)
    Pairs.clear();
  for (PHINode *Phi : Counters)
    if (!Expander.isSafeToExpandAt(cast<SCEVAddRecExpr>(SE.getSCEV(Phi))->getStepRecurrence(SE),
                                   Before->getTerminator()))
      return Refusal::LoopExits;
  return std::nullopt;
}

static Value *smaller(IRBuilder<> &B, Value *X, Value *Y) {
  return B.CreateSelect(B.CreateICmpSLT(X, Y), X, Y);
}
static Value *larger(IRBuilder<> &B, Value *X, Value *Y) {
  return B.CreateSelect(B.CreateICmpSGT(X, Y), X, Y);
}

/// `Low`, `Step` and `Span` of a range as 64-bit values.
Place Splitter::placeOf(Comparisons &At, unsigned RangeIdx) {
  if (auto It = At.Places.find(RangeIdx); It != At.Places.end())
    return It->second;
  IRBuilder<> &B = At.B;
  SCEVExpander &Expander = At.Expander;
  const Range &R = Ranges[RangeIdx];
  Type *Int = B.getInt64Ty();
  auto Number = [&](const SCEV *S) {
    Value *V = Expander.expandCodeFor(S, S->getType(), B.GetInsertPoint());
    return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, Int) : B.CreateSExtOrTrunc(V, Int);
  };
  auto Limit = [&](Value *V, uint64_t Below, uint64_t Above) {
    At.Fine = B.CreateAnd(
        At.Fine, B.CreateICmpULT(B.CreateAdd(V, B.getInt64(Below)), B.getInt64(Below + Above)));
  };
  Place P;
  P.Low = Number(R.Low);
  P.Step = Number(R.Step);
  P.Span = Number(R.Size);
  Limit(P.Step, NumberMax, NumberMax);
  Limit(P.Span, 0, NumberMax);
  for (auto &[Step, Taken] : R.Inner) {
    Value *Stride = Number(Step);
    Value *Passes = B.CreateZExtOrTrunc(
        Expander.expandCodeFor(Taken, Taken->getType(), B.GetInsertPoint()), Int);
    Limit(Stride, NumberMax, NumberMax);
    Limit(Passes, 0, NumberMax);
    Value *Far = B.CreateMul(Stride, Passes), *Down = smaller(B, Far, B.getInt64(0));
    Limit(Far, ReachMax, ReachMax);
    P.Low = B.CreateAdd(P.Low, Down);
    P.Span = B.CreateAdd(P.Span, B.CreateSub(larger(B, Far, B.getInt64(0)), Down));
  }
  return At.Places[RangeIdx] = P;
}

/// True if a message is under way that this site began, as far as the code shows if it is the
/// program's own.
static Value *isPending(IRBuilder<> &B, Module &M, const Site &S) {
  return S.Existing ? static_cast<Value *>(B.getTrue())
                    : B.CreateIsNotNull(B.CreateCall(message(M, S.Bind, "pending"), {S.State}));
}

/// How many passes at the start and at the end use a pending buffer. Pass k does if Step * k lies
/// between Low1 and High1, both excluded.
std::pair<Value *, Value *> Splitter::countBorder(Comparisons &At) {
  IRBuilder<> &B = At.B;
  Value *Zero = B.getInt64(0), *One = B.getInt64(1), *First = Zero, *Last = Zero;
  Type *Int = B.getInt64Ty();
  // Where nothing was started the value may be none, and is compared in vain.
  auto Known = [&](Value *V) {
    bool IsThere = DT.dominates(V, &*B.GetInsertPoint());
    return B.CreateFreeze(
        IsThere ? V : At.Expander.expandCodeFor(SE.getSCEV(V), V->getType(), B.GetInsertPoint()));
  };
  for (const Use &U : Uses) {
    Place P = placeOf(At, U.RangeIdx);
    Value *Buffer = B.CreatePtrToInt(Known(U.What.Ptr), Int);
    Value *Bytes =
        B.CreateMul(B.CreateSExt(Known(U.What.Count), Int), B.getInt64(U.What.ElementBytes));
    Value *Low = B.CreateSub(B.CreateSub(Buffer, P.Span), P.Low),
          *High = B.CreateSub(B.CreateAdd(Buffer, Bytes), P.Low);
    Value *Down = B.CreateICmpSLT(P.Step, Zero), *Still = B.CreateICmpEQ(P.Step, Zero);
    Value *Low1 = B.CreateSelect(Down, B.CreateNeg(High), Low),
          *High1 = B.CreateSelect(Down, B.CreateNeg(Low), High);
    Value *Stride = B.CreateSelect(Still, One, B.CreateSelect(Down, B.CreateNeg(P.Step), P.Step));
    Value *From = B.CreateSelect(B.CreateICmpSLT(Low1, Zero), Zero,
                                 B.CreateAdd(B.CreateSDiv(Low1, Stride), One));
    Value *To = smaller(B, B.CreateSDiv(B.CreateSub(High1, One), Stride), At.Final);
    From = B.CreateSelect(Still, Zero, From);
    To = B.CreateSelect(Still, At.Final, To);
    Value *Hit = B.CreateAnd(B.CreateICmpSGT(High1, Zero), B.CreateICmpSLE(From, To));
    Hit = B.CreateAnd(Hit, B.CreateOr(B.CreateNot(Still), B.CreateICmpSLT(Low1, Zero)));
    Hit = B.CreateAnd(Hit, B.CreateICmpSGT(Bytes, Zero));
    Value *AtStart = B.CreateICmpSLE(From, B.CreateSub(At.Final, To));
    First =
        B.CreateSelect(B.CreateAnd(Hit, AtStart), larger(B, First, B.CreateAdd(To, One)), First);
    Last = B.CreateSelect(B.CreateAnd(Hit, B.CreateNot(AtStart)),
                          larger(B, Last, B.CreateSub(At.Trips, From)), Last);
  }
  return {First, Last};
}

/// True if the first passes may come after the interior: two accesses never meet in different
/// passes if all that they reach is apart, or if they stay together in one window of a stride.
Value *Splitter::mayReorder(Comparisons &At) {
  IRBuilder<> &B = At.B;
  Value *Zero = B.getInt64(0), *Free = B.getInt1(!Ordered);
  auto Reach = [&](const Place &P) {
    Value *Far = B.CreateMul(P.Step, At.Final), *Down = smaller(B, Far, Zero);
    Value *Begin = B.CreateAdd(P.Low, Down);
    return std::pair(
        Begin, B.CreateAdd(Begin, B.CreateAdd(P.Span, B.CreateSub(larger(B, Far, Zero), Down))));
  };
  for (auto [IdxA, IdxB] : Pairs) {
    Place X = placeOf(At, IdxA), Y = placeOf(At, IdxB);
    auto [BeginX, EndX] = Reach(X);
    auto [BeginY, EndY] = Reach(Y);
    Value *Apart = B.CreateOr(B.CreateICmpSLE(EndX, BeginY), B.CreateICmpSLE(EndY, BeginX));
    Value *Both = B.CreateSub(larger(B, B.CreateAdd(X.Low, X.Span), B.CreateAdd(Y.Low, Y.Span)),
                              smaller(B, X.Low, Y.Low));
    Value *Stride = B.CreateSelect(B.CreateICmpSLT(X.Step, Zero), B.CreateNeg(X.Step), X.Step);
    Value *Window = B.CreateAnd(B.CreateICmpEQ(X.Step, Y.Step), B.CreateICmpSLE(Both, Stride));
    Free = B.CreateAnd(Free, B.CreateOr(Apart, Window));
  }
  return Free;
}

void Splitter::split() {
  Module &M = *F.getParent();
  const SCEV *Taken = SE.getBackedgeTakenCount(&L);
  // STEP 1: the waits come last before the loop, and the comparisons before them.
  for (auto &[S, Wait] : Waits)
    Wait->moveBefore(Before->getTerminator());
  Instruction *Wait = Waits.front().second;
  SCEVExpander Expander = expander(SE, F.getDataLayout());
  Comparisons At(Wait, Expander);
  IRBuilder<> &B = At.B;
  At.Trips = B.CreateAdd(
      B.CreateZExt(At.Expander.expandCodeFor(Taken, Taken->getType(), Wait->getIterator()),
                   B.getInt64Ty()),
      B.getInt64(1));
  At.Fine = B.CreateICmpULE(At.Trips, B.getInt64(NumberMax));
  At.Final = B.CreateSub(At.Trips, B.getInt64(1));
  // STEP 2: how many passes at the start and at the end use a pending buffer.
  auto [First, Last] = countBorder(At);
  // STEP 3: may the first passes come after the interior?
  Value *Free = mayReorder(At), *Zero = B.getInt64(0);
  // STEP 4: the wait comes first where nothing is won or something is not known.
  Value *Pending = B.getInt1(false);
  for (auto &[S, Wait] : Waits)
    Pending = B.CreateOr(Pending, isPending(B, M, *S));
  Value *Good =
      B.CreateAnd(B.CreateAnd(At.Fine, Pending), B.CreateOr(Free, B.CreateICmpEQ(First, Zero)));
  Good = B.CreateAnd(Good, B.CreateICmpSLT(B.CreateAdd(First, Last), At.Trips));
  First = B.CreateSelect(Good, First, At.Trips, "overlap.first");
  Last = B.CreateSelect(Good, Last, Zero, "overlap.last");
  Value *RestAt = B.CreateSub(At.Trips, Last, "overlap.rest");
  // STEP 5: three loops instead of one.
  DenseMap<PHINode *, Value *> Steps;
  for (PHINode *Phi : Counters) {
    const SCEV *Step = cast<SCEVAddRecExpr>(SE.getSCEV(Phi))->getStepRecurrence(SE);
    Steps[Phi] = At.Expander.expandCodeFor(Step, Step->getType(), Wait->getIterator());
  }
  splitInThree({F, L, Exit, Counters, Carried, Results}, Wait, {First, RestAt, At.Trips}, Steps);
}

/// The loop that `Wait` stands right before, if there is one.
static Loop *loopBehind(CallInst &Wait, const Site &S, LoopInfo &LI, Effects &Fx) {
  BasicBlock *Block = Wait.getParent(), *Next = Block->getUniqueSuccessor();
  Loop *L = Next ? LI.getLoopFor(Next) : nullptr;
  if (!L || L->getHeader() != Next || L->getLoopPreheader() != Block)
    return nullptr;
  for (Instruction *I = Wait.getNextNode(); I && !I->isTerminator(); I = I->getNextNode())
    if (Fx.own(*I) != Own::Wait && (blocksWait(*I, S, Fx) || Fx.touches(*I, S)))
      return nullptr;
  return L;
}

/// A wait of the program before `if (guard) loop`: one on each side instead.
static bool enterGuard(Site &S, LoopInfo &LI, DominatorTree &DT, Effects &Fx) {
  CallInst *Wait = S.Waits.front();
  BasicBlock *Block = Wait->getParent();
  auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
  if (S.Waits.size() != 1 || !Branch || !Branch->isConditional())
    return false;
  for (Instruction *I = Wait->getNextNode(); I != Branch; I = I->getNextNode())
    if (Fx.own(*I) != Own::Wait && (blocksWait(*I, S, Fx) || Fx.touches(*I, S)))
      return false;
  for (unsigned Idx : {0u, 1u}) {
    BasicBlock *Pre = Branch->getSuccessor(Idx), *Other = Branch->getSuccessor(1 - Idx);
    BasicBlock *Next = Pre->getUniqueSuccessor();
    Loop *L = Next ? LI.getLoopFor(Next) : nullptr;
    if (!L || L->getHeader() != Next || L->getLoopPreheader() != Pre ||
        Pre->getSinglePredecessor() != Block || Other == Pre || Other->isEHPad() ||
        any_of(*Pre, [&](Instruction &I) { return blocksWait(I, S, Fx) || Fx.touches(I, S); }))
      continue;
    auto *Twin = cast<CallInst>(Wait->clone());
    if (Other->getSinglePredecessor())
      Twin->insertBefore(&*Other->getFirstInsertionPt());
    else
      Twin->insertBefore(SplitEdge(Block, Other, &DT, &LI)->getTerminator());
    Wait->moveBefore(Pre->getTerminator());
    S.Waits.push_back(Twin);
    return true;
  }
  return false;
}

bool splitLoops(Function &F, ArrayRef<Site *> Sites, FunctionAnalysisManager &FAM, Cost &Weights,
                const Options &O, function_ref<void(Effects &)> Remember) {
  bool Changed = false;
  for (Site *S : Sites) {
    if (!S->Existing)
      continue;
    Effects Fx(FAM.getResult<AAManager>(F), O);
    Remember(Fx);
    if (enterGuard(*S, FAM.getResult<LoopAnalysis>(F), FAM.getResult<DominatorTreeAnalysis>(F),
                   Fx)) {
      FAM.clear(F, F.getName());
      Changed = true;
    }
  }
  // Headers that were looked at; the loop of a header stays a loop when it is split.
  SmallPtrSet<BasicBlock *, 8> Done;
  for (bool Again = true; Again;) {
    Again = false;
    Effects Fx(FAM.getResult<AAManager>(F), O);
    Remember(Fx);
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    MapVector<Loop *, SmallVector<std::pair<Site *, CallInst *>, 4>> Behind;
    for (Site *S : Sites)
      for (CallInst *Wait : S->Waits)
        if (Loop *L = loopBehind(*Wait, *S, LI, Fx); L && !Done.contains(L->getHeader()))
          Behind[L].push_back({S, Wait});
    for (auto &[L, Waits] : Behind) {
      Done.insert(L->getHeader());
      if (Weights.loop(*L) < O.MinWeight)
        continue;
      Splitter Loop(F, *L, FAM, Fx);
      Loop.Waits = Waits;
      if (auto Why = Loop.check()) {
        for (auto &[S, Wait] : Waits) {
          S->LoopRefused = Why;
          S->LoopLine = L->getStartLoc() ? L->getStartLoc().getLine() : 0;
        }
        continue;
      }
      Loop.split();
      for (auto &[S, Wait] : Waits)
        ++S->LoopsSplit;
      FAM.clear(F, F.getName());
      Changed = Again = true;
      break;
    }
  }
  return Changed;
}

} // namespace overlap

#include "Widen.h"
#include "Frontier.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace overlap {

bool blocksWait(const Instruction &I, const Site &S, const Effects &Fx) {
  if (Fx.stops(I))
    return true;
  return Fx.own(I) == Own::Init && (Fx.siteOf(I) == &S || !Fx.mayPass(S, *Fx.siteOf(I)));
}

static uint64_t weightOf(const Statement &S, Cost &C, const Loop *Around) {
  uint64_t Sum = 0;
  for (Instruction *I : S.All)
    Sum += C.weightInLoops(*I, Around);
  return Sum;
}

/// True if a value of `From` is an operand in `To`.
static bool feeds(const Statement &From, const Statement &To,
                  const DenseMap<const Instruction *, unsigned> &Owner, unsigned FromIdx) {
  for (const Instruction *I : To.All)
    for (const Value *Operand : I->operands())
      if (auto *Def = dyn_cast<Instruction>(Operand)) {
        auto It = Owner.find(Def);
        if (It != Owner.end() && It->second == FromIdx)
          return true;
      }
  return false;
}

static bool conflict(const Statement &A, const Statement &B, Effects &Fx) {
  for (const Instruction *IA : A.Memory)
    for (const Instruction *IB : B.Memory)
      if (Fx.conflict(*IA, *IB))
        return true;
  return false;
}

static DenseMap<const Instruction *, unsigned> owners(const Chain &C) {
  DenseMap<const Instruction *, unsigned> Owner;
  for (unsigned Idx = 0; Idx < C.Statements.size(); ++Idx)
    for (const Instruction *I : C.Statements[Idx].All)
      Owner[I] = Idx;
  return Owner;
}

static bool touchesSite(const Statement &S, const Site &Site, Effects &Fx, bool Started) {
  return any_of(S.Memory, [&](Instruction *I) { return Fx.touches(*I, Site, Started); });
}

/// True if a start must not hop over `S` in either direction.
static bool isStart(const Statement &S, Effects &Fx) {
  return any_of(S.All, [&](Instruction *I) { return Fx.own(*I) == Own::Init; });
}

/// A call that waited longer in the profiled run, whose wait would pass `Work` but may not pass the
/// start of `S`: only one of the two can have it.
static const Site *longerWait(const Site &S, ArrayRef<Site *> Others, ArrayRef<Instruction *> Work,
                              Analyses &A, Cost &Weights, const Options &O) {
  for (Site *Other : Others)
    if (S.Us > 0 && Other->Us > S.Us && !A.Fx.mayPass(*Other, S) &&
        passed(*Other, Work, A, Weights) >= O.MinWeight)
      return Other;
  return nullptr;
}

bool hoist(Site &S, ArrayRef<Site *> Others, Analyses &A, Cost &Weights, const Options &O) {
  Chain C = backwardChain(S.Init, A);
  unsigned N = C.Statements.size();
  if (N == 0)
    return false;
  auto Owner = owners(C);
  // STEP 1: the backward slice: what the start uses, what writes its buffers, and what these need.
  std::vector<bool> InSlice(N, false);
  unsigned Nearest = 0; // First statement behind the last dependent one.
  auto Uses = [&](const Statement &St, unsigned Idx) {
    for (const Value *Arg : S.Init->args())
      if (auto *Def = dyn_cast<Instruction>(Arg)) {
        auto It = Owner.find(Def);
        if (It != Owner.end() && It->second == Idx)
          return true;
      }
    return false;
  };
  SmallVector<unsigned, 16> Slice;
  for (unsigned Idx = N; Idx-- > 0;) {
    const Statement &St = C.Statements[Idx];
    bool In = Uses(St, Idx) || touchesSite(St, S, A.Fx, false);
    for (unsigned Later : Slice)
      In = In || feeds(St, C.Statements[Later], Owner, Idx) ||
           conflict(St, C.Statements[Later], A.Fx);
    if (!In)
      continue;
    InSlice[Idx] = true;
    Slice.push_back(Idx);
    Nearest = std::max(Nearest, Idx + 1);
    // `basic` stops at the nearest dependent statement.
    if (O.Widen == Strength::Basic)
      break;
  }
  if (O.Widen == Strength::Basic)
    std::fill(InSlice.begin(), InSlice.begin() + Nearest, true);
  // STEP 2: the others move behind the start, if they are worth it.
  Loop *Around = A.LI.getLoopFor(S.Init->getParent());
  uint64_t Gain = 0;
  SmallVector<Instruction *, 32> Work;
  for (unsigned Idx = 0; Idx < N; ++Idx)
    if (!InSlice[Idx]) {
      Gain += weightOf(C.Statements[Idx], Weights, Around);
      Work.append(C.Statements[Idx].All);
    }
  if (Gain < O.MinWeight)
    return false;
  if (const Site *Longer = longerWait(S, Others, Work, A, Weights, O)) {
    raw_string_ostream(S.Detail) << "the work before it hides " << Longer->mpiName() << " on line "
                                 << Longer->Loc.getLine() << ", which waits longer";
    return false;
  }
  std::vector<bool> Later(N);
  for (unsigned Idx = 0; Idx < N; ++Idx)
    Later[Idx] = !InSlice[Idx];
  bool ChangedCfg = false;
  Instruction *First = reorder(C, Later, S.Init, ChangedCfg);
  S.Init->moveBefore(*First->getParent(), First->getIterator());
  return ChangedCfg;
}

bool sink(Site &S, Analyses &A, Cost &Weights, const Options &O) {
  CallInst *Wait = S.Waits.front();
  Chain C = forwardChain(Wait, A);
  // STEP 1: the chain ends at what no wait may pass.
  unsigned N = 0;
  std::vector<bool> Dependent;
  SmallVector<unsigned, 16> Slice;
  auto Owner = owners(C);
  for (; N < C.Statements.size(); ++N) {
    const Statement &St = C.Statements[N];
    if (any_of(St.All, [&](Instruction *I) { return blocksWait(*I, S, A.Fx); }))
      break;
    // STEP 2: the forward slice: what uses the buffers, and what depends on that.
    bool In = touchesSite(St, S, A.Fx, true);
    for (unsigned Earlier : Slice)
      In = In || feeds(C.Statements[Earlier], St, Owner, Earlier) ||
           conflict(C.Statements[Earlier], St, A.Fx);
    // A start never moves down: it would come after later ones.
    if (In && (O.Widen == Strength::Basic || isStart(St, A.Fx)))
      break;
    Dependent.push_back(In);
    if (In)
      Slice.push_back(N);
  }
  if (N < C.Statements.size())
    C.Stop = C.Statements[N].First;
  C.Statements.resize(N);
  if (N == 0)
    return false;
  // STEP 3: nothing hops over the slice unless it is worth it.
  if (!Slice.empty()) {
    Loop *Around = A.LI.getLoopFor(Wait->getParent());
    uint64_t Gain = 0;
    for (unsigned Idx = Slice.front(); Idx < N; ++Idx)
      if (!Dependent[Idx])
        Gain += weightOf(C.Statements[Idx], Weights, Around);
    if (Gain < O.MinWeight) {
      Instruction *First = C.Statements[Slice.front()].First;
      Wait->moveBefore(*First->getParent(), First->getIterator());
      return false;
    }
  }
  bool ChangedCfg = false;
  Instruction *First = Slice.empty() ? C.Stop : reorder(C, Dependent, C.Stop, ChangedCfg);
  Wait->moveBefore(*First->getParent(), First->getIterator());
  return ChangedCfg;
}

} // namespace overlap

#include "Cost.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace overlap {

static constexpr uint64_t UnknownTrips = 10;
static constexpr uint64_t WeightMax = uint64_t(1) << 40;

uint64_t Cost::trips(Loop &L) {
  Function &F = *L.getHeader()->getParent();
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  unsigned Known = SE.getSmallConstantTripCount(&L);
  return Known ? Known : UnknownTrips;
}

uint64_t Cost::function(Function &F) {
  if (F.isDeclaration())
    return 10;
  auto [It, New] = Functions.try_emplace(&F, 10);
  // A function that is being counted calls itself; one level is enough.
  if (!New)
    return It->second;
  uint64_t Sum = 0;
  for (BasicBlock &Block : F)
    for (Instruction &I : Block)
      Sum = SaturatingAdd(Sum, weightInLoops(I, nullptr));
  Sum = std::min(Sum, WeightMax);
  Functions[&F] = Sum;
  return Sum;
}

uint64_t Cost::weight(const Instruction &I) {
  if (isa<PHINode>(I) || isa<DbgInfoIntrinsic>(I) || I.isLifetimeStartOrEnd() || isa<AllocaInst>(I))
    return 0;
  if (auto *Call = dyn_cast<CallBase>(&I)) {
    if (isa<IntrinsicInst>(I))
      return 1;
    Function *Callee = Call->getCalledFunction();
    if (Callee && Callee->getName().starts_with("overlap."))
      return 0;
    return Callee ? function(*Callee) : 10;
  }
  switch (I.getOpcode()) {
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
  case Instruction::FDiv:
    return 10;
  default:
    return 1;
  }
}

uint64_t Cost::weightInLoops(Instruction &I, const Loop *Outside) {
  uint64_t Weight = weight(I);
  auto &LI = FAM.getResult<LoopAnalysis>(*I.getFunction());
  for (Loop *L = LI.getLoopFor(I.getParent());
       L && L != Outside && !(Outside && L->contains(Outside)); L = L->getParentLoop())
    Weight = std::min(SaturatingMultiply(Weight, trips(*L)), WeightMax);
  return Weight;
}

uint64_t Cost::loop(Loop &L) {
  uint64_t Sum = 0;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      Sum = SaturatingAdd(Sum, weightInLoops(I, L.getParentLoop()));
  return std::min(Sum, WeightMax);
}

void forEachInWindow(const PendingMessage &S, function_ref<void(Instruction &)> Visit) {
  SmallPtrSet<const Instruction *, 4> Ends(S.Waits.begin(), S.Waits.end());
  SmallPtrSet<BasicBlock *, 16> Seen;
  SmallVector<std::pair<BasicBlock *, BasicBlock::iterator>, 16> Work;
  Work.push_back({S.Init->getParent(), std::next(S.Init->getIterator())});
  while (!Work.empty()) {
    auto [Block, From] = Work.pop_back_val();
    bool Ended = false;
    for (auto It = From; It != Block->end() && !Ended; ++It) {
      Ended = Ends.contains(&*It) || &*It == S.Init;
      if (!Ended)
        Visit(*It);
    }
    if (Ended)
      continue;
    for (BasicBlock *Next : successors(Block))
      if (Seen.insert(Next).second)
        Work.push_back({Next, Next->begin()});
  }
}

uint64_t Cost::window(const Site &S) {
  auto &LI = FAM.getResult<LoopAnalysis>(*S.Caller);
  Loop *Around = LI.getLoopFor(S.Init->getParent());
  uint64_t Sum = 0;
  forEachInWindow(S, [&](Instruction &I) { Sum = SaturatingAdd(Sum, weightInLoops(I, Around)); });
  return std::min(Sum, WeightMax);
}

} // namespace overlap

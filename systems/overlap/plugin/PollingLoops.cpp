#include "PollingLoops.h"
#include "llvm/Analysis/ScalarEvolution.h"

using namespace llvm;

namespace overlap {

/// A loop of unknown length that is worth hiding something behind is long.
static constexpr uint64_t UnknownTrips = 100;

uint64_t passWeight(Loop &L, FunctionAnalysisManager &FAM, Cost &Weights) {
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(*L.getHeader()->getParent());
  auto &LI = FAM.getResult<LoopAnalysis>(*L.getHeader()->getParent());
  uint64_t Sum = 0;
  for (BasicBlock *Block : L.blocks())
    if (LI.getLoopFor(Block) == &L)
      for (Instruction &I : *Block)
        Sum += Weights.weight(I);
  for (Loop *Inner : L) {
    unsigned Known = SE.getSmallConstantTripCount(Inner);
    Sum += passWeight(*Inner, FAM, Weights) * (Known ? Known : UnknownTrips);
    Sum = std::min(Sum, uint64_t(1) << 40);
  }
  return Sum;
}

bool mayBeLong(Loop &L, FunctionAnalysisManager &FAM, Cost &Weights) {
  unsigned Known = FAM.getResult<ScalarEvolutionAnalysis>(*L.getHeader()->getParent())
                       .getSmallConstantTripCount(&L);
  return !Known || Known * passWeight(L, FAM, Weights) > StripWeight;
}

void chooseLoops(Loop &L, FunctionAnalysisManager &FAM, Cost &Weights,
                 SmallVectorImpl<Loop *> &Chosen) {
  if (L.isInnermost() && passWeight(L, FAM, Weights) < PassMin)
    return;
  unsigned Before = Chosen.size();
  for (Loop *Inner : L)
    chooseLoops(*Inner, FAM, Weights, Chosen);
  // Nothing inside was long enough for a poll, so it stands here if this is.
  if (Chosen.size() == Before && passWeight(L, FAM, Weights) >= PassMin)
    Chosen.push_back(&L);
}

} // namespace overlap

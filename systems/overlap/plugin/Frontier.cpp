#include "Frontier.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace overlap {

static constexpr unsigned BlocksMax = 300;

namespace {
struct Search {
  Site &S;
  Analyses &A;
  SmallPtrSet<BasicBlock *, 16> Seen;
  SmallVector<std::pair<BasicBlock *, BasicBlock::iterator>, 16> Work;
  SetVector<Instruction *> Before;
  SetVector<std::pair<BasicBlock *, BasicBlock *>> Edges;

  bool ends(Instruction &I) { return blocksWait(I, S, A.Fx) || A.Fx.touches(I, S); }
  void follow(BasicBlock *From, BasicBlock *To);
  void run();
  bool passes(const Instruction &I) const;
};
} // namespace

static bool sameInEveryIteration(const Site &S, const Loop &L) {
  return all_of(S.Accesses, [&](const Access &A) { return L.isLoopInvariant(A.Ptr); });
}

void Search::follow(BasicBlock *From, BasicBlock *To) {
  if (Seen.contains(To))
    return;
  Loop *L = A.LI.getLoopFor(To);
  bool IsHeader = L && L->getHeader() == To;
  bool AroundStart = IsHeader && L->contains(S.Init->getParent());
  if (Seen.size() > BlocksMax || To->isEHPad() || (AroundStart && !sameInEveryIteration(S, *L))) {
    Edges.insert({From, To});
    return;
  }
  Seen.insert(To);
  if (!IsHeader || AroundStart) {
    Work.push_back({To, To->getFirstNonPHIIt()});
    return;
  }
  // A loop behind the start: passed as a whole or not at all, so no wait stands inside.
  for (BasicBlock *Block : L->blocks())
    for (Instruction &I : *Block)
      if (ends(I)) {
        Seen.erase(To);
        Edges.insert({From, To});
        return;
      }
  Seen.insert(L->block_begin(), L->block_end());
  SmallVector<Loop::Edge, 4> Exits;
  L->getExitEdges(Exits);
  for (auto &[Inside, Outside] : Exits)
    follow(Inside, Outside);
}

void Search::run() {
  while (!Work.empty()) {
    auto [Block, From] = Work.pop_back_val();
    Instruction *End = nullptr;
    for (auto It = From; It != Block->end() && !End; ++It)
      if (ends(*It))
        End = &*It;
    if (End) {
      Before.insert(End);
      continue;
    }
    for (BasicBlock *Next : successors(Block))
      follow(Block, Next);
  }
}

static Search placesOfWait(Site &S, Analyses &A) {
  CallInst *Wait = S.Waits.front();
  Search Walk{S, A, {}, {}, {}, {}};
  Walk.Work.push_back({Wait->getParent(), std::next(Wait->getIterator())});
  Walk.run();
  return Walk;
}

bool Search::passes(const Instruction &I) const {
  const BasicBlock *Block = I.getParent();
  const CallInst *Wait = S.Waits.front();
  if (!Seen.contains(Block) && !(Wait->getParent() == Block && Wait->comesBefore(&I)))
    return false;
  return none_of(Before, [&](const Instruction *End) {
    return End->getParent() == Block && (End == &I || End->comesBefore(&I));
  });
}

uint64_t passed(Site &S, ArrayRef<Instruction *> Work, Analyses &A, Cost &Weights) {
  Search Walk = placesOfWait(S, A);
  const Loop *Around = A.LI.getLoopFor(S.Waits.front()->getParent());
  uint64_t Sum = 0;
  for (Instruction *I : Work)
    if (Walk.passes(*I))
      Sum += Weights.weightInLoops(*I, Around);
  return Sum;
}

bool frontier(Site &S, Analyses &A) {
  CallInst *Old = S.Waits.front();
  Search Walk = placesOfWait(S, A);
  bool Same =
      Walk.Edges.empty() && Walk.Before.size() == 1 && Walk.Before.front() == Old->getNextNode();
  if (Same || (Walk.Edges.empty() && Walk.Before.empty()))
    return false;
  S.Waits.clear();
  auto Place = [&](Instruction *At) {
    auto *Wait = cast<CallInst>(Old->clone());
    Wait->insertBefore(At);
    A.Fx.remember(Wait, Own::Wait, &S);
    S.Waits.push_back(Wait);
  };
  for (Instruction *I : Walk.Before)
    Place(I);
  bool ChangedCfg = false;
  for (auto [From, To] : Walk.Edges) {
    if (From->getUniqueSuccessor() == To) {
      Place(From->getTerminator());
    } else if (To->getSinglePredecessor()) {
      Place(&*To->getFirstInsertionPt());
    } else {
      // All edges at once: several labels of a switch may lead there.
      BasicBlock *Between = SplitBlockPredecessors(To, {From}, ".overlap", &A.DT, &A.LI);
      Place(Between->getTerminator());
      ChangedCfg = true;
    }
  }
  A.Fx.forget(Old);
  Old->eraseFromParent();
  return ChangedCfg;
}

} // namespace overlap

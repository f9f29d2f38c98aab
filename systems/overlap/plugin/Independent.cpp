#include "Independent.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace overlap {

/// No more instructions than this are looked at; with more accesses that depend on the message, all
/// others are taken to.
static constexpr unsigned LookedAtMax = 4000, DependentMax = 64;

/// What runs behind the waits of `S`, in an order in which what is computed comes before its uses,
/// but for those of later passes.
static SmallVector<Instruction *, 64> behind(const Site &S, const Effects &Fx) {
  SmallVector<Instruction *, 64> Found;
  SmallPtrSet<BasicBlock *, 16> Seen;
  SmallVector<std::pair<BasicBlock *, BasicBlock::iterator>, 16> Work;
  for (CallInst *Wait : S.Waits)
    Work.push_back({Wait->getParent(), std::next(Wait->getIterator())});
  while (!Work.empty() && Found.size() < LookedAtMax) {
    auto [Block, From] = Work.pop_back_val();
    bool Ended = false;
    for (auto It = From; It != Block->end() && !Ended; ++It) {
      Ended = Fx.stops(*It) || Fx.own(*It) != Own::None;
      if (!Ended)
        Found.push_back(&*It);
    }
    if (!Ended)
      for (BasicBlock *Next : successors(Block))
        if (Seen.insert(Next).second)
          Work.push_back({Next, Next->begin()});
  }
  return Found;
}

uint64_t independentBehind(const Site &S, Effects &Fx, Cost &Weights, LoopInfo &LI,
                           PostDominatorTree &PDT) {
  SmallVector<Instruction *, 64> All = behind(S, Fx);
  SmallPtrSet<const Instruction *, 32> Dependent;
  SmallPtrSet<const BasicBlock *, 8> Decided; ///< Blocks that run or not, as the message says.
  SmallVector<const Instruction *, 32> InMemory;
  auto Depends = [&](const Instruction &I) {
    if (Decided.contains(I.getParent()) || Fx.touches(I, S))
      return true;
    if (any_of(I.operand_values(), [&](const Value *V) {
          return isa<Instruction>(V) && Dependent.contains(cast<Instruction>(V));
        }))
      return true;
    return I.mayReadOrWriteMemory() &&
           (InMemory.size() > DependentMax ||
            any_of(InMemory, [&](const Instruction *Other) { return Fx.conflict(*Other, I); }));
  };
  // What a pass of a loop leaves to the next is found in a later round.
  for (bool Again = true; Again;) {
    Again = false;
    for (Instruction *I : All) {
      if (Dependent.contains(I) || !Depends(*I))
        continue;
      Again = true;
      Dependent.insert(I);
      if (I->mayReadOrWriteMemory())
        InMemory.push_back(I);
      if (!I->isTerminator() || I->getNumSuccessors() < 2)
        continue;
      const DomTreeNode *Node = PDT.getNode(I->getParent()),
                        *Meets = Node ? Node->getIDom() : nullptr;
      SmallVector<const BasicBlock *, 8> Work(successors(I->getParent()));
      while (!Work.empty()) {
        const BasicBlock *Block = Work.pop_back_val();
        if ((!Meets || Block != Meets->getBlock()) && Decided.insert(Block).second)
          Work.append(succ_begin(Block), succ_end(Block));
      }
    }
  }
  // A loop moves whole, or not at all.
  const Loop *Around = LI.getLoopFor(S.Waits.front()->getParent());
  auto Outermost = [&](const Instruction *I) {
    const Loop *L = LI.getLoopFor(I->getParent());
    while (L && L->getParentLoop() && L->getParentLoop() != Around)
      L = L->getParentLoop();
    return L == Around ? nullptr : L;
  };
  SmallPtrSet<const Loop *, 8> Stay;
  for (const Instruction *I : Dependent)
    if (const Loop *L = Outermost(I))
      Stay.insert(L);
  uint64_t Sum = 0;
  for (Instruction *I : All)
    if (const Loop *L = Outermost(I); !Dependent.contains(I) && !(L && Stay.contains(L)))
      Sum = SaturatingAdd(Sum, Weights.weightInLoops(*I, Around));
  return Sum;
}

} // namespace overlap

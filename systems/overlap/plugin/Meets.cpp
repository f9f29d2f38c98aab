#include "Meets.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace overlap {

const DenseSet<const BasicBlock *> &Meets::behind(const BasicBlock *B) {
  if (auto It = Known.find(B); It != Known.end())
    return It->second;
  const Function &F = *B->getParent();
  SmallVector<const BasicBlock *, 32> Order;
  DenseMap<const BasicBlock *, unsigned> Index;
  for (const BasicBlock &Block : F) {
    Index[&Block] = Order.size();
    Order.push_back(&Block);
  }
  unsigned N = Order.size();
  std::vector<BitVector> Sets(N, BitVector(N, true));
  BitVector Live(N);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned Idx = N; Idx-- > 0;) {
      bool Now = isa<ReturnInst>(Order[Idx]->getTerminator());
      for (const BasicBlock *Next : successors(Order[Idx]))
        Now |= Live[Index[Next]];
      if (Now && !Live[Idx]) {
        Live[Idx] = true;
        Changed = true;
      }
    }
  }
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned Idx = N; Idx-- > 0;) {
      if (!Live[Idx])
        continue;
      BitVector Now(N, true);
      bool Any = false;
      for (const BasicBlock *Next : successors(Order[Idx]))
        if (Live[Index[Next]]) {
          Now &= Sets[Index[Next]];
          Any = true;
        }
      if (!Any)
        Now.reset();
      Now.set(Idx);
      if (Now != Sets[Idx]) {
        Sets[Idx] = Now;
        Changed = true;
      }
    }
  }
  for (unsigned Idx = 0; Idx < N; ++Idx) {
    auto &Set = Known[Order[Idx]];
    if (Live[Idx])
      for (unsigned Other : Sets[Idx].set_bits())
        if (Other != Idx)
          Set.insert(Order[Other]);
  }
  return Known[B];
}

} // namespace overlap

#include "Statements.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace overlap {

/// Longer searches cost more compile time than a window can be worth.
static constexpr unsigned StatementsMax = 1500;
static constexpr unsigned BlocksMax = 200;
static constexpr unsigned RegionMemoryMax = 400;

static void addInstruction(Statement &S, Instruction &I) {
  S.All.push_back(&I);
  if (I.mayReadOrWriteMemory())
    S.Memory.push_back(&I);
}

/// The blocks reachable from `Start` up to `Exit`, if they form a region entered only from
/// `Before` and left only to `Exit`.
static bool collectRegion(BasicBlock *Before, ArrayRef<BasicBlock *> Starts, BasicBlock *Exit,
                          SmallVectorImpl<BasicBlock *> &Blocks) {
  SmallPtrSet<BasicBlock *, 16> Seen;
  for (BasicBlock *Start : Starts)
    if (Start != Exit && Seen.insert(Start).second)
      Blocks.push_back(Start);
  for (unsigned Idx = 0; Idx < Blocks.size(); ++Idx) {
    if (Blocks[Idx] == Before || Blocks.size() > BlocksMax)
      return false;
    Instruction *End = Blocks[Idx]->getTerminator();
    if (!isa<BranchInst>(End) && !isa<SwitchInst>(End))
      return false;
    for (BasicBlock *Next : successors(Blocks[Idx]))
      if (Next != Exit && Seen.insert(Next).second)
        Blocks.push_back(Next);
  }
  auto Inside = [&](BasicBlock *Pred) { return Pred == Before || Seen.contains(Pred); };
  for (BasicBlock *Block : Blocks)
    if (!all_of(predecessors(Block), Inside) || Block->hasAddressTaken())
      return false;
  return all_of(predecessors(Exit), Inside) && !Exit->hasAddressTaken();
}

/// The region that begins with the terminator of `Before`. `Exit` receives the block behind it,
/// whose phis belong to the region.
static bool regionAfter(BasicBlock *Before, Analyses &A, Statement &S, BasicBlock *&Exit) {
  Instruction *End = Before->getTerminator();
  if ((!isa<BranchInst>(End) && !isa<SwitchInst>(End)) || !A.PDT.getNode(Before))
    return false;
  SmallVector<BasicBlock *, 8> Starts(successors(Before));
  BasicBlock *Inner = Starts.front();
  auto *Node = A.PDT.getNode(Before)->getIDom();
  // A loop that is entered here: its exit is the first postdominator outside of it.
  if (Starts.size() == 1) {
    Loop *L = A.LI.getLoopFor(Inner);
    if (!L || L->getHeader() != Inner || L->contains(Before))
      return false;
    while (Node && Node->getBlock() && L->contains(Node->getBlock()))
      Node = Node->getIDom();
  }
  if (!Node || !Node->getBlock())
    return false;
  Exit = Node->getBlock();
  SmallVector<BasicBlock *, 16> Blocks;
  if (Exit->isEHPad() || !collectRegion(Before, Starts, Exit, Blocks))
    return false;
  S.Region = true;
  S.First = End;
  addInstruction(S, *End);
  for (BasicBlock *Block : Blocks)
    for (Instruction &I : *Block) {
      if (A.Fx.stops(I) || A.Fx.own(I) != Own::None)
        return false;
      addInstruction(S, I);
    }
  for (PHINode &Phi : Exit->phis())
    addInstruction(S, Phi);
  return S.Memory.size() <= RegionMemoryMax;
}

Chain forwardChain(Instruction *From, Analyses &A) {
  Chain C;
  Instruction *At = From->getNextNode();
  while (C.Statements.size() < StatementsMax) {
    C.Stop = At;
    if (!At->isTerminator()) {
      if (A.Fx.stops(*At) || isa<PHINode>(At) || isa<AllocaInst>(At))
        return C;
      if (!isa<DbgInfoIntrinsic>(At)) {
        Statement S;
        S.First = At;
        addInstruction(S, *At);
        C.Statements.push_back(std::move(S));
      }
      At = At->getNextNode();
      continue;
    }
    BasicBlock *Block = At->getParent();
    BasicBlock *Next = isa<BranchInst>(At) ? Block->getUniqueSuccessor() : nullptr;
    if (Next && Next->getSinglePredecessor() == Block && Next != Block) {
      FoldSingleEntryPHINodes(Next);
      At = &Next->front();
      continue;
    }
    Statement S;
    BasicBlock *Exit = nullptr;
    if (!regionAfter(Block, A, S, Exit))
      return C;
    C.Statements.push_back(std::move(S));
    At = Exit->getFirstNonPHI();
  }
  C.Stop = At;
  return C;
}

/// The block whose terminator begins the region that ends at the start of `Block`, or null.
static BasicBlock *regionBefore(BasicBlock *Block, Analyses &A) {
  if (pred_empty(Block))
    return nullptr;
  // The exit of a loop: the region begins before the outermost loop that is left here.
  BasicBlock *Pred = *pred_begin(Block);
  if (Block->getSinglePredecessor()) {
    Loop *Left = nullptr;
    for (Loop *L = A.LI.getLoopFor(Pred); L && !L->contains(Block); L = L->getParentLoop())
      Left = L;
    return Left ? Left->getLoopPredecessor() : nullptr;
  }
  auto *Node = A.DT.getNode(Block);
  BasicBlock *Before = Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
  Loop *Left = nullptr;
  for (Loop *L = Before ? A.LI.getLoopFor(Before) : nullptr; L && !L->contains(Block);
       L = L->getParentLoop())
    Left = L;
  return Left ? Left->getLoopPredecessor() : Before;
}

Chain backwardChain(Instruction *From, Analyses &A) {
  Chain C;
  BasicBlock *Block = From->getParent();
  Instruction *At = From->getPrevNode();
  while (C.Statements.size() < StatementsMax) {
    if (At && !isa<PHINode>(At)) {
      if (A.Fx.stops(*At) || A.Fx.own(*At) != Own::None || isa<AllocaInst>(At))
        break;
      auto *Call = dyn_cast<CallBase>(At);
      if (Call && Call->getCalledFunction() && isMpiName(Call->getCalledFunction()->getName()))
        break;
      if (!isa<DbgInfoIntrinsic>(At)) {
        Statement S;
        S.First = At;
        addInstruction(S, *At);
        C.Statements.push_back(std::move(S));
      }
      At = At->getPrevNode();
      continue;
    }
    BasicBlock *Pred = Block->getSinglePredecessor();
    if (Pred && Pred->getUniqueSuccessor() == Block && isa<BranchInst>(Pred->getTerminator()) &&
        Pred != Block) {
      FoldSingleEntryPHINodes(Block);
      Block = Pred;
      At = Pred->getTerminator()->getPrevNode();
      continue;
    }
    BasicBlock *Before = regionBefore(Block, A);
    Statement S;
    BasicBlock *Exit = nullptr;
    if (!Before || !regionAfter(Before, A, S, Exit) || Exit != Block)
      break;
    C.Statements.push_back(std::move(S));
    Block = Before;
    At = Before->getTerminator()->getPrevNode();
  }
  std::reverse(C.Statements.begin(), C.Statements.end());
  C.Stop = From;
  return C;
}

/// All statements are single instructions of one block: plain motion.
static bool inOneBlock(const Chain &C, const Instruction *Behind) {
  return all_of(C.Statements, [&](const Statement &S) {
    return !S.Region && S.First->getParent() == Behind->getParent();
  });
}

Instruction *reorder(Chain &C, const std::vector<bool> &Later, Instruction *Behind,
                     bool &ChangedCfg) {
  Instruction *FirstLater = nullptr;
  if (inOneBlock(C, Behind)) {
    for (unsigned Idx = 0; Idx < C.Statements.size(); ++Idx)
      if (Later[Idx]) {
        C.Statements[Idx].First->moveBefore(Behind);
        if (!FirstLater)
          FirstLater = C.Statements[Idx].First;
      }
    return FirstLater ? FirstLater : Behind;
  }
  ChangedCfg = true;
  // Cut before every statement that begins a run of one class, and behind the last.
  struct Run {
    BasicBlock *Entry;
    BasicBlock *Exit;
    bool Later;
  };
  std::vector<Run> Runs;
  BasicBlock *Head = nullptr;
  for (unsigned Idx = 0; Idx < C.Statements.size(); ++Idx) {
    if (Idx > 0 && Later[Idx] == Later[Idx - 1])
      continue;
    Instruction *First = C.Statements[Idx].First;
    BasicBlock *Old = First->getParent();
    BasicBlock *New = Old->splitBasicBlock(First, Old->getName() + ".run");
    if (Runs.empty())
      Head = Old;
    else
      Runs.back().Exit = Old;
    Runs.push_back({New, nullptr, Later[Idx]});
  }
  BasicBlock *Old = Behind->getParent();
  BasicBlock *Tail = Old->splitBasicBlock(Behind, Old->getName() + ".rest");
  Runs.back().Exit = Old;
  BasicBlock *Prev = Head;
  for (bool Class : {false, true})
    for (Run &R : Runs) {
      if (R.Later != Class)
        continue;
      Prev->getTerminator()->setSuccessor(0, R.Entry);
      Prev = R.Exit;
      if (R.Later && !FirstLater)
        FirstLater = &R.Entry->front();
    }
  Prev->getTerminator()->setSuccessor(0, Tail);
  return FirstLater ? FirstLater : &Tail->front();
}

} // namespace overlap

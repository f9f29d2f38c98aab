#include "OwnWindows.h"
#include "Calls.h"
#include "Existing.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace overlap {

/// True for what the conversion has made: it polls for itself.
static bool isOurs(const Function &F) {
  return F.getName().starts_with("overlap.") || F.getName().starts_with("__overlap") ||
         F.getName().ends_with(".overlap");
}

static Function *calleeOf(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call ? Call->getCalledFunction() : nullptr;
}

/// A block of fewer instructions only asks whether there is something to wait for.
static constexpr unsigned AsksMax = 12;

namespace {
class Search {
public:
  Search(Module &M, FunctionAnalysisManager &FAM);
  OwnWindows run();

private:
  /// What a call does to the requests that are pending.
  enum class Does { Nothing, Opens, Closes, Runs };
  Does does(const Instruction &I) const;
  /// True if `End` ends what is pending: MPI_Waitany and MPI_Waitsome do in a loop.
  bool ends(const CallInfo &End, const Instruction &I) const {
    bool One = End.Index >= 0 || End.Done >= 0;
    return !End.Tests &&
           (!One || FAM.getResult<LoopAnalysis>(const_cast<Function &>(*I.getFunction()))
                        .getLoopFor(I.getParent()));
  }
  bool leavesOpen(Function &F) const;
  /// Blocks at whose end a window ends although they end no request: a loop over all of them, or a
  /// question if there are any, stands behind.
  SmallPtrSet<const BasicBlock *, 8> lastBlocks(Function &F) const;
  /// Visits what runs behind `Open`, up to the calls that end requests. True if that is the end of
  /// the function, too.
  bool follow(Instruction &Open, const SmallPtrSetImpl<const BasicBlock *> &Last,
              function_ref<void(BasicBlock &)> Whole, function_ref<void(Function &)> Called) const;

  Module &M;
  FunctionAnalysisManager &FAM;
  SmallSetVector<Function *, 16> Opening, Closing;
};
} // namespace

Search::Search(Module &M, FunctionAnalysisManager &FAM) : M(M), FAM(FAM) {
  SmallVector<Function *, 16> Work;
  auto Closes = [&](Function &F) {
    if (!isOurs(F) && Closing.insert(&F))
      Work.push_back(&F);
  };
  bool Fortran = false;
  for (Function &F : M)
    if (const CallInfo *End =
            F.isDeclaration() ? findEnd(F.getName(), Fortran, /*AnyName=*/true) : nullptr)
      for (User *U : F.users())
        if (auto *Call = dyn_cast<CallBase>(U); Call && ends(*End, *Call))
          Closes(*Call->getFunction());
  while (!Work.empty())
    for (User *U : Work.pop_back_val()->users())
      if (auto *Call = dyn_cast<CallBase>(U))
        Closes(*Call->getFunction());
}

Search::Does Search::does(const Instruction &I) const {
  Function *Callee = calleeOf(I);
  if (!Callee || isOurs(*Callee))
    return Does::Nothing;
  if (!Callee->isDeclaration())
    return Opening.contains(Callee)   ? Does::Opens
           : Closing.contains(Callee) ? Does::Closes
                                      : Does::Runs;
  bool Fortran = false;
  if (const CallInfo *End = findEnd(Callee->getName(), Fortran, /*AnyName=*/true))
    return ends(*End, I) ? Does::Closes : Does::Nothing;
  bool Starts = findStart(Callee->getName(), Fortran, /*AnyName=*/true);
  return Starts && !endsWhereItStarts(cast<CallBase>(I)) ? Does::Opens : Does::Nothing;
}

/// True if `Block` only asks whether `Way` is to be taken: the other way leads straight to where
/// both meet again.
static bool onlyAsks(const BasicBlock *Block, const BasicBlock *Way, const PostDominatorTree &PDT) {
  const DomTreeNode *Node = PDT.getNode(Block), *Meets = Node ? Node->getIDom() : nullptr;
  return Meets && Meets->getBlock() && any_of(successors(Block), [&](const BasicBlock *Next) {
           bool IsShort = Next->getSingleSuccessor() == Meets->getBlock() && Next->size() < AsksMax;
           return Next != Way && (Next == Meets->getBlock() || IsShort);
         });
}

SmallPtrSet<const BasicBlock *, 8> Search::lastBlocks(Function &F) const {
  SmallPtrSet<const BasicBlock *, 8> Last;
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &PDT = FAM.getResult<PostDominatorTreeAnalysis>(F);
  auto Opens = [&](const BasicBlock *Block) {
    return any_of(*Block, [&](const Instruction &I) { return does(I) == Does::Opens; });
  };
  for (Instruction &I : instructions(F)) {
    if (does(I) != Does::Closes)
      continue;
    for (const BasicBlock *Block = I.getParent(); Block && !Opens(Block);) {
      const Loop *L = LI.getLoopFor(Block);
      bool IsOfLoop = L && none_of(L->blocks(), Opens);
      const BasicBlock *Before = IsOfLoop ? L->getLoopPredecessor() : Block->getSinglePredecessor();
      if (!Before || Opens(Before) || (!IsOfLoop && !onlyAsks(Before, Block, PDT)))
        break;
      Block = Last.insert(Before).second && Before->size() < AsksMax ? Before : nullptr;
    }
  }
  return Last;
}

bool Search::follow(Instruction &Open, const SmallPtrSetImpl<const BasicBlock *> &Last,
                    function_ref<void(BasicBlock &)> Whole,
                    function_ref<void(Function &)> Called) const {
  bool Leaves = false;
  SmallPtrSet<BasicBlock *, 16> Seen;
  SmallVector<std::pair<BasicBlock *, BasicBlock::iterator>, 16> Work{
      {Open.getParent(), std::next(Open.getIterator())}};
  while (!Work.empty()) {
    auto [Block, From] = Work.pop_back_val();
    bool Ended = false;
    for (auto It = From; It != Block->end() && !Ended; ++It) {
      Does What = does(*It);
      Ended = What == Does::Closes;
      if (What == Does::Runs)
        Called(*calleeOf(*It));
    }
    if (Ended)
      continue;
    Leaves |= isa<ReturnInst>(Block->getTerminator());
    if (From == Block->begin())
      Whole(*Block);
    if (Last.contains(Block))
      continue;
    for (BasicBlock *Next : successors(Block))
      if (Seen.insert(Next).second)
        Work.push_back({Next, Next->begin()});
  }
  return Leaves;
}

bool Search::leavesOpen(Function &F) const {
  auto Last = lastBlocks(F);
  return any_of(instructions(F), [&](Instruction &I) {
    return does(I) == Does::Opens && follow(I, Last, [](BasicBlock &) {}, [](Function &) {});
  });
}

OwnWindows Search::run() {
  // STEP 1: functions that return with requests pending, with their callers.
  SmallSetVector<Function *, 16> Work;
  bool Fortran = false;
  auto AddCallers = [&](Function &F) {
    for (User *U : F.users())
      if (auto *Call = dyn_cast<CallBase>(U); Call && !isOurs(*Call->getFunction()))
        Work.insert(Call->getFunction());
  };
  for (Function &F : M)
    if (F.isDeclaration() && findStart(F.getName(), Fortran, /*AnyName=*/true))
      AddCallers(F);
  SmallSetVector<Function *, 16> Holding;
  while (!Work.empty()) {
    Function *F = Work.pop_back_val();
    Holding.insert(F);
    if (!Opening.contains(F) && leavesOpen(*F)) {
      Opening.insert(F);
      AddCallers(*F);
    }
  }
  // STEP 2: what lies between, and what is called there.
  OwnWindows Found;
  SmallSetVector<Function *, 16> Called;
  for (Function *F : Holding) {
    SmallPtrSet<BasicBlock *, 16> Blocks;
    auto Last = lastBlocks(*F);
    for (Instruction &I : instructions(*F))
      if (does(I) == Does::Opens)
        follow(
            I, Last, [&](BasicBlock &Block) { Blocks.insert(&Block); },
            [&](Function &Callee) { Called.insert(&Callee); });
    if (!Blocks.empty())
      Found[F] = std::move(Blocks);
  }
  for (unsigned Idx = 0; Idx < Called.size(); ++Idx) {
    for (BasicBlock &Block : *Called[Idx])
      Found[Called[Idx]].insert(&Block);
    for (Instruction &I : instructions(*Called[Idx]))
      if (does(I) == Does::Runs)
        Called.insert(calleeOf(I));
  }
  return Found;
}

OwnWindows findOwnWindows(Module &M, FunctionAnalysisManager &FAM) { return Search(M, FAM).run(); }

} // namespace overlap

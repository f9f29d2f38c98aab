#include "Progress.h"
#include "Helpers.h"
#include "Inline.h"
#include "PollingLoops.h"
#include "Runtime.h"
#include "Strip.h"
#include "Versions.h"
#include "Wrapper.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace overlap {

/// With `auto`, smaller windows have no polls.
static constexpr uint64_t WindowMin = 1000;

/// A function that takes a smaller part of a window is not copied: 1 in this many.
static constexpr uint64_t PartMin = 8;
/// The copies of a module have no more instructions than this, or than a fortieth of the module: a
/// copy costs a compilation about twice what its function does.
static constexpr uint64_t CopiesMin = 1000;

PollingCopies::PollingCopies(const Module &M) {
  uint64_t Size = 0;
  for (const Function &F : M)
    Size += F.getInstructionCount();
  Left = std::max(Size / 40, CopiesMin);
}

/// A place for what the rate of polls in `F` goes by, and for how many passes are left until the
/// next. A window that starts at `Start` does not go by what was found in the one before.
std::pair<AllocaInst *, AllocaInst *> Polls::rate(Function &F, Instruction *Start) {
  BasicBlock &Entry = F.getEntryBlock();
  IRBuilder<> Top(&Entry, Entry.getFirstInsertionPt());
  auto *RateType = StructType::get(F.getContext(), {Top.getInt64Ty(), Top.getInt32Ty()});
  AllocaInst *Rate = Top.CreateAlloca(RateType, nullptr, "overlap.rate");
  AllocaInst *Passes = Top.CreateAlloca(Top.getInt32Ty(), nullptr, "overlap.passes");
  IRBuilder<> AfterAllocas(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
  AfterAllocas.CreateStore(AfterAllocas.getInt64(0),
                           AfterAllocas.CreateStructGEP(RateType, Rate, 0));
  AfterAllocas.CreateStore(AfterAllocas.getInt32(1),
                           AfterAllocas.CreateStructGEP(RateType, Rate, 1));
  AfterAllocas.CreateStore(AfterAllocas.getInt32(1), Passes);
  if (Start) {
    IRBuilder<> B(Start->getNextNode());
    B.CreateStore(B.getInt32(1), Passes);
  }
  return {Rate, Passes};
}

/// The loops that poll, among those that lie in the window as a whole. Loops are cut into strips
/// for it, so that they do not count their passes; one that cannot be cut counts them, and polls
/// nowhere if it is innermost.
SmallVector<Polls::Place, 4> Polls::places(Function &F, Instruction *Start,
                                           function_ref<bool(Loop &)> Inside) {
  SmallVector<Loop *, 4> Chosen, Alone;
  for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    if (!Inside(*L) || (L->getParentLoop() && Inside(*L->getParentLoop())))
      continue;
    unsigned Before = Chosen.size();
    chooseLoops(*L, FAM, Weights, Chosen);
    if (Chosen.size() == Before && L->isInnermost() && mayBeLong(*L, FAM, Weights))
      Alone.push_back(L);
  }
  SmallVector<Place, 4> Found;
  for (Loop *L : Chosen) {
    auto [Rate, Passes] = rate(F, Start);
    Strips Made = strip(*L, FAM, [Left = Passes](IRBuilder<> &B, Type *Int) {
      return B.CreateZExt(B.CreateLoad(B.getInt32Ty(), Left), Int);
    });
    if (!Made.Header) {
      Found.push_back({L, Rate, Passes, nullptr});
      continue;
    }
    IRBuilder<> B(Made.Latch->getTerminator());
    Found.push_back({L->getParentLoop(), Rate, Passes,
                     B.CreateTrunc(B.CreateSub(Made.Length, Made.Step), B.getInt32Ty())});
  }
  for (Loop *L : Alone) {
    uint64_t Length = std::clamp<uint64_t>(
        StripWeight / std::max<uint64_t>(passWeight(*L, FAM, Weights), 1), 64, 1 << 16);
    if (strip(*L, FAM, [&](IRBuilder<> &, Type *Int) {
          return ConstantInt::get(Int, Length);
        }).Header) {
      auto [Rate, Passes] = rate(F, Start);
      Found.push_back({L->getParentLoop(), Rate, Passes, nullptr});
    }
  }
  return Found;
}

/// A poll at the end of a pass, if none are left until the next poll.
void Polls::insertAt(const Place &At, Value *State, const Binding &Bind, unsigned &Count) {
  BasicBlock *Latch = At.L->getLoopLatch();
  Function &F = *At.L->getHeader()->getParent();
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  if (Latch && isa<BranchInst>(Latch->getTerminator())) {
    IRBuilder<> B(Latch->getTerminator());
    Value *Left =
        At.Left ? At.Left : B.CreateSub(B.CreateLoad(B.getInt32Ty(), At.Passes), B.getInt32(1));
    B.CreateStore(Left, At.Passes);
    MDNode *Rarely = MDBuilder(F.getContext()).createBranchWeights(1, 10000);
    DomTreeUpdater Updater(DT, DomTreeUpdater::UpdateStrategy::Eager);
    Instruction *Then = SplitBlockAndInsertIfThen(
        B.CreateICmpSLE(Left, B.getInt32(0)), Latch->getTerminator(), false, Rarely, &Updater, &LI);
    B.SetInsertPoint(Then);
    B.CreateStore(B.CreateCall(message(*F.getParent(), Bind, "poll"),
                               {State, At.Rate, everyNs(F.getContext(), O)}),
                  At.Passes);
    ++Count;
  }
  PromoteMemToReg({At.Passes}, DT);
}

/// True if `F` has a loop that may be long.
bool Polls::hasLongLoop(Function &F) {
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  return any_of(FAM.getResult<LoopAnalysis>(F), [&](Loop *L) {
    return !L->isInnermost() || !SE.getSmallConstantTripCount(L) ||
           passWeight(*L, FAM, Weights) >= PassMin;
  });
}

/// A copy of `F` that polls in its loops; null if it has none that is long enough, or if no more
/// copies are to be made.
Function *Polls::copyOf(Function &F, const Binding &Bind, unsigned &Count) {
  auto It = Copies.Made.find({&F, Bind.Fortran});
  if (It == Copies.Made.end()) {
    if (!hasLongLoop(F) || !canBeCopied(F) || F.getInstructionCount() > Copies.Left)
      return nullptr;
    Copies.Left -= F.getInstructionCount();
    // The copy has one more argument: whose state to ask about.
    It = Copies.Made.insert({{&F, Bind.Fortran}, {}}).first;
    // A poll synchronises and writes what MPI writes.
    ValueToValueMapTy Map;
    Function *Copy = copyWithPointers(F, 1, F.getName() + ".overlap", Map);
    unsigned Inside = 0;
    for (const Place &At : places(*Copy, nullptr, [](Loop &L) { return true; }))
      insertAt(At, Copy->getArg(F.arg_size()), Bind, Inside);
    FAM.clear(*Copy, Copy->getName());
    It->second = {Copy, Inside};
  }
  Count += It->second.Polls;
  return It->second.F;
}

void Polls::insert(Site &S) {
  if (O.Poll == Progress::Off || (O.Poll == Progress::Auto && S.Weight < WindowMin))
    return;
  Function &F = *S.Caller;
  // STEP 1: the blocks and calls of the window.
  SmallPtrSet<const Instruction *, 4> Ends(S.Waits.begin(), S.Waits.end());
  SmallPtrSet<BasicBlock *, 16> Inside, Seen;
  SmallVector<CallInst *, 8> Calls;
  SmallVector<std::pair<BasicBlock *, BasicBlock::iterator>, 16> Work;
  Work.push_back({S.Init->getParent(), std::next(S.Init->getIterator())});
  while (!Work.empty()) {
    auto [Block, From] = Work.pop_back_val();
    bool Ended = false;
    for (auto It = From; It != Block->end() && !Ended; ++It) {
      Ended = Ends.contains(&*It) || &*It == S.Init;
      if (auto *Call = dyn_cast<CallInst>(&*It); Call && !Ended)
        Calls.push_back(Call);
    }
    if (Ended)
      continue;
    if (From == Block->begin())
      Inside.insert(Block);
    for (BasicBlock *Next : successors(Block))
      if (Seen.insert(Next).second)
        Work.push_back({Next, Next->begin()});
  }
  // STEP 2: the outermost loops that lie in it as a whole.
  SmallVector<Place, 4> Places = places(F, S.Init, [&](Loop &L) {
    return all_of(L.blocks(), [&](BasicBlock *B) { return Inside.contains(B); });
  });
  for (const Place &At : Places)
    insertAt(At, S.State, S.Bind, S.Polls);
  // STEP 3: functions called outside of the loops that poll now.
  erase_if(Calls, [&](CallInst *Call) {
    Function *Callee = Call->getCalledFunction();
    return !Callee || Callee->isDeclaration() || Callee->getName().starts_with("overlap.") ||
           Call->isMustTailCall() || Call->hasOperandBundles() ||
           Callee->getFunctionType() != Call->getFunctionType() ||
           Callee->getName().ends_with(".overlap") ||
           any_of(Places, [&](const Place &At) { return At.L->contains(Call); });
  });
  if (!Calls.empty())
    insertAround(Calls, S);
}

/// Polls inside of the functions that `Calls` call in the window of `S`, or behind them.
void Polls::insertAround(ArrayRef<CallInst *> Calls, Site &S) {
  Function &F = *S.Caller;
  uint64_t Whole = 0;
  for (const CallInst *Call : Calls)
    Whole = SaturatingAdd(Whole, Weights.weight(*Call));
  std::pair<AllocaInst *, AllocaInst *> Rate;
  for (CallInst *Call : Calls) {
    Function &Callee = *Call->getCalledFunction();
    Function *Copy =
        Weights.weight(*Call) >= Whole / PartMin ? copyOf(Callee, S.Bind, S.Polls) : nullptr;
    if (!Copy) {
      if (!hasLongLoop(Callee) || is_contained(S.Waits, nextOf(Call)))
        continue;
      if (!Rate.first)
        Rate = rate(F, S.Init);
      IRBuilder<> B(Call->getNextNode());
      B.CreateCall(message(*F.getParent(), S.Bind, "tick"),
                   {S.State, Rate.first, Rate.second, everyNs(F.getContext(), O)});
      ++S.Polls;
      continue;
    }
    SmallVector<Value *, 8> Args(Call->args());
    Args.push_back(S.State);
    IRBuilder<> B(Call);
    CallInst *New = B.CreateCall(Copy, Args);
    AttributeList Old = Call->getAttributes();
    SmallVector<AttributeSet, 8> OfArgs;
    for (unsigned At = 0; At < Call->arg_size(); ++At)
      OfArgs.push_back(Old.getParamAttrs(At));
    New->setAttributes(
        AttributeList::get(F.getContext(), AttributeSet(), Old.getRetAttrs(), OfArgs));
    New->setCallingConv(Call->getCallingConv());
    New->takeName(Call);
    Call->replaceAllUsesWith(New);
    Call->eraseFromParent();
  }
}

void Polls::insert(ExistingWait &E, Effects &Fx) {
  if (O.Poll == Progress::Off || E.Heads.empty() || E.Whole.Refused == Refusal::CompletedByTest)
    return;
  // STEP 1: the window from the start with the most work behind it.
  const SmallVector<CallInst *, 2> Ends = E.Whole.Waits.empty() ? E.Ends : E.Whole.Waits;
  Site Window;
  for (Site &Head : E.Heads) {
    Site Of = Head;
    Of.Waits = Ends;
    Of.Weight = Weights.window(Of);
    if (!Window.Init || Of.Weight > Window.Weight)
      Window = Of;
  }
  bool Alone = true;
  forEachInWindow(Window, [&](Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    bool OfMpi =
        Callee && (isMpiName(Callee->getName()) || Callee->getName().starts_with("overlap."));
    Alone &= OfMpi ? !Callee->getName().ends_with_insensitive("mpi_finalize") &&
                         !Callee->getName().ends_with_insensitive("mpi_finalize_")
                   : !(Call || I.isAtomic()) || !Fx.stops(I);
  });
  if (!Alone)
    return;
  // STEP 2: a state that says when the messages are pending, if there is a place to ask.
  Function &F = *Window.Caller;
  LLVMContext &C = F.getContext();
  BasicBlock &Entry = F.getEntryBlock();
  IRBuilder<> Top(&Entry, Entry.getFirstInsertionPt());
  Window.State = Top.CreateAlloca(stateType(Window.Bind, C), nullptr, "overlap.state");
  insert(Window);
  E.Whole.Polls = Window.Polls;
  if (Window.State->use_empty()) {
    Window.State->eraseFromParent();
    return;
  }
  auto Say = [&](IRBuilder<> B, Pending What) { B.CreateStore(B.getInt32(What), Window.State); };
  Say(IRBuilder<>(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca()), Closed);
  for (Site &Head : E.Heads)
    Say(IRBuilder<>(Head.Init->getNextNode()), Theirs);
  for (CallInst *End : Ends)
    Say(IRBuilder<>(End), Closed);
}

} // namespace overlap

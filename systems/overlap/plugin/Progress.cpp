#include "Progress.h"
#include "Helpers.h"
#include "Wrapper.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace overlap {

/// A pass through a loop with less work would feel the counter, in weighted instructions.
static constexpr uint64_t PassMin = 500;
/// A loop of unknown length that is worth hiding something behind is long.
static constexpr uint64_t UnknownTrips = 100;
/// A strip of an innermost loop, in weighted instructions: long enough to vectorise and not to feel
/// its ends, short against the time between two polls.
static constexpr uint64_t StripWeight = 40000;
/// With `auto`, smaller windows have no polls.
static constexpr uint64_t WindowMin = 1000;

/// A function that takes a smaller part of a window is not copied: 1 in this many.
static constexpr uint64_t PartMin = 8;
/// The copies of a module have no more instructions than this, or than a fortieth of the module: a copy costs a
/// compilation about twice what its function does.
static constexpr uint64_t CopiesMin = 1000;

PollingCopies::PollingCopies(const Module &M) {
  uint64_t Size = 0;
  for (const Function &F : M)
    Size += F.getInstructionCount();
  Left = std::max(Size / 40, CopiesMin);
}

/// One pass through `L`, in weighted instructions.
uint64_t Polls::pass(Loop &L) {
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(*L.getHeader()->getParent());
  auto &LI = FAM.getResult<LoopAnalysis>(*L.getHeader()->getParent());
  uint64_t Sum = 0;
  for (BasicBlock *Block : L.blocks())
    if (LI.getLoopFor(Block) == &L)
      for (Instruction &I : *Block)
        Sum += Weights.weight(I);
  for (Loop *Inner : L) {
    unsigned Known = SE.getSmallConstantTripCount(Inner);
    Sum += pass(*Inner) * (Known ? Known : UnknownTrips);
    Sum = std::min(Sum, uint64_t(1) << 40);
  }
  return Sum;
}

void Polls::choose(Loop &L, SmallVectorImpl<Loop *> &Chosen) {
  if (L.isInnermost() && pass(L) < PassMin)
    return;
  unsigned Before = Chosen.size();
  for (Loop *Inner : L)
    choose(*Inner, Chosen);
  // Nothing inside was long enough for the counter, so it stands here if this is.
  if (Chosen.size() == Before && pass(L) >= PassMin)
    Chosen.push_back(&L);
}

/// The loop's own counter, of at least `Bits` bits, which goes up by one each pass: that which ends the loop, if there is one.
static PHINode *counter(Loop &L, ScalarEvolution &SE, unsigned Bits) {
  PHINode *Found = nullptr;
  const ICmpInst *Ends = L.getLatchCmpInst();
  for (PHINode &Phi : L.getHeader()->phis()) {
    auto *Type = dyn_cast<IntegerType>(Phi.getType());
    if (!Type || Type->getBitWidth() < std::max(Bits, 32U) || Type->getBitWidth() > 64)
      continue;
    auto *Sum = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi));
    if (!Sum || Sum->getLoop() != &L || !Sum->isAffine() || !Sum->getStepRecurrence(SE)->isOne())
      continue;
    Value *More = Phi.getIncomingValueForBlock(L.getLoopLatch());
    if (!Found || (Ends && (Ends->getOperand(0) == More || Ends->getOperand(1) == More)))
      Found = &Phi;
  }
  return Found;
}

/// Cuts `L` into strips of `Passes` or, without, of StripWeight:
///
///   for (k = s; k < n; k++)       for (from = s; from != n; from = to) {
///     body(k);                      to = from + min(strip, n - from);
///                         --->      for (k = from; k != to; k++)
///                                     body(k);
///                                 }
///
/// Returns the header of the loop around it, and what is left of `Passes` behind a strip; null if it cannot be cut.
std::pair<BasicBlock *, Value *> Polls::strip(Loop &L, AllocaInst *Passes) {
  BasicBlock *Before = L.getLoopPreheader(), *Header = L.getHeader(), *Latch = L.getLoopLatch(), *Exit = L.getUniqueExitBlock();
  Function &F = *Header->getParent();
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  const SCEV *Taken = SE.getBackedgeTakenCount(&L);
  if (!Before || !Latch || !Exit || L.getExitingBlock() != Latch || !isa<BranchInst>(Latch->getTerminator()) || Exit->isEHPad() ||
      isa<SCEVCouldNotCompute>(Taken) || SE.getTypeSizeInBits(Taken->getType()) > 64)
    return {};
  SCEVExpander Expander(SE, F.getDataLayout(), "overlap");
  if (!Expander.isSafeToExpandAt(Taken, Before->getTerminator()))
    return {};
  LLVMContext &C = F.getContext();
  // Before the loop changes.
  uint64_t Weight = Passes ? 0 : pass(L);
  PHINode *Pass = counter(L, SE, SE.getTypeSizeInBits(Taken->getType()));
  IRBuilder<> B(Before->getTerminator());
  Type *Int = Pass ? Pass->getType() : B.getInt64Ty();
  Value *First = Pass ? Pass->getIncomingValueForBlock(Before) : ConstantInt::get(Int, 0);
  // With as many passes as the type has numbers, it is the first number again, which is right in what follows.
  Value *Trips =
      B.CreateAdd(B.CreateZExt(Expander.expandCodeFor(Taken, Taken->getType(), Before->getTerminator()->getIterator()), Int), ConstantInt::get(Int, 1));
  Value *Last = B.CreateAdd(First, Trips, "overlap.last");
  BasicBlock *Outer = BasicBlock::Create(C, "overlap.strip", &F, Header), *Next = BasicBlock::Create(C, "overlap.strip.next", &F, Exit);
  Before->getTerminator()->replaceSuccessorWith(Header, Outer);
  B.SetInsertPoint(Outer);
  PHINode *From = B.CreatePHI(Int, 2, "overlap.from");
  for (PHINode &Phi : Header->phis()) {
    if (&Phi == Pass) {
      Phi.setIncomingValueForBlock(Before, From);
      continue;
    }
    PHINode *Around = B.CreatePHI(Phi.getType(), 2);
    Around->addIncoming(Phi.getIncomingValueForBlock(Before), Before);
    Around->addIncoming(Phi.getIncomingValueForBlock(Latch), Next);
    Phi.setIncomingValueForBlock(Before, Around);
  }
  Header->replacePhiUsesWith(Before, Outer);
  Value *Length = Passes ? B.CreateZExt(B.CreateLoad(B.getInt32Ty(), Passes), Int)
                         : ConstantInt::get(Int, std::clamp<uint64_t>(StripWeight / std::max<uint64_t>(Weight, 1), 64, 1 << 16));
  Value *Rest = B.CreateSub(Last, From);
  Value *Step = B.CreateSelect(B.CreateICmpULT(Length, Rest), Length, Rest);
  Value *To = B.CreateAdd(From, Step, "overlap.to");
  B.CreateBr(Header);
  From->addIncoming(First, Before);
  From->addIncoming(To, Next);
  auto *Old = cast<BranchInst>(Latch->getTerminator());
  Value *More = Pass ? Pass->getIncomingValueForBlock(Latch) : nullptr;
  if (!Pass) {
    B.SetInsertPoint(Header, Header->begin());
    Pass = B.CreatePHI(Int, 2, "overlap.pass");
    B.SetInsertPoint(Old);
    More = B.CreateAdd(Pass, ConstantInt::get(Int, 1), "overlap.next", true, true);
    Pass->addIncoming(From, Outer);
    Pass->addIncoming(More, Latch);
  }
  B.SetInsertPoint(Old);
  BranchInst *New = B.CreateCondBr(B.CreateICmpNE(More, To), Header, Next);
  New->copyMetadata(*Old, {LLVMContext::MD_loop, LLVMContext::MD_dbg});
  B.SetInsertPoint(Next);
  B.SetCurrentDebugLocation(Old->getDebugLoc());
  Exit->replacePhiUsesWith(Latch, Next);
  Value *Left = Passes ? B.CreateTrunc(B.CreateSub(Length, Step), B.getInt32Ty()) : nullptr;
  B.CreateCondBr(B.CreateICmpNE(To, Last), Outer, Exit);
  Old->eraseFromParent();
  return {Outer, Left};
}

/// A place for what the rate of polls in `F` goes by, and for how many passes are left until the next. A window that
/// starts at `Start` does not go by what was found in the one before.
std::pair<AllocaInst *, AllocaInst *> Polls::rate(Function &F, Instruction *Start) {
  BasicBlock &Entry = F.getEntryBlock();
  IRBuilder<> Top(&Entry, Entry.getFirstInsertionPt());
  auto *RateType = StructType::get(F.getContext(), {Top.getInt64Ty(), Top.getInt32Ty()});
  AllocaInst *Rate = Top.CreateAlloca(RateType, nullptr, "overlap.rate");
  AllocaInst *Passes = Top.CreateAlloca(Top.getInt32Ty(), nullptr, "overlap.passes");
  IRBuilder<> AfterAllocas(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
  AfterAllocas.CreateStore(AfterAllocas.getInt64(0), AfterAllocas.CreateStructGEP(RateType, Rate, 0));
  AfterAllocas.CreateStore(AfterAllocas.getInt32(1), AfterAllocas.CreateStructGEP(RateType, Rate, 1));
  AfterAllocas.CreateStore(AfterAllocas.getInt32(1), Passes);
  if (Start) {
    IRBuilder<> B(Start->getNextNode());
    B.CreateStore(B.getInt32(1), Passes);
  }
  return {Rate, Passes};
}

/// The loops that poll, among those that lie in the window as a whole. Loops are cut into strips for it, so that they do not
/// count their passes; one that cannot be cut counts them, and polls nowhere if it is innermost.
SmallVector<Polls::Place, 4> Polls::places(Function &F, Instruction *Start, function_ref<bool(Loop &)> Inside) {
  SmallVector<Loop *, 4> Chosen, Alone;
  for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    if (!Inside(*L) || (L->getParentLoop() && Inside(*L->getParentLoop())))
      continue;
    unsigned Before = Chosen.size();
    choose(*L, Chosen);
    if (Chosen.size() != Before || !L->isInnermost())
      continue;
    // A loop of known length may be short.
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    unsigned Known = SE.getSmallConstantTripCount(L);
    if (!Known || Known * pass(*L) > StripWeight)
      Alone.push_back(L);
  }
  // Each strip changes the loops, so a loop is known by its header, which stays.
  auto HeadersOf = [](ArrayRef<Loop *> Loops) {
    SmallVector<BasicBlock *, 4> Of;
    for (Loop *L : Loops)
      Of.push_back(L->getHeader());
    return Of;
  };
  const auto ChosenAt = HeadersOf(Chosen), AloneAt = HeadersOf(Alone);
  auto Strip = [&](BasicBlock *Header, AllocaInst *Passes) {
    auto Made = strip(*FAM.getResult<LoopAnalysis>(F).getLoopFor(Header), Passes);
    if (Made.first)
      FAM.clear(F, F.getName());
    return Made;
  };
  SmallVector<std::pair<BasicBlock *, Place>, 4> Headers;
  for (BasicBlock *Header : ChosenAt) {
    auto [Rate, Passes] = rate(F, Start);
    auto [Around, Left] = Strip(Header, Passes);
    Headers.push_back({Around ? Around : Header, {nullptr, Rate, Passes, Left}});
  }
  for (BasicBlock *Header : AloneAt)
    if (BasicBlock *Around = Strip(Header, nullptr).first) {
      auto [Rate, Passes] = rate(F, Start);
      Headers.push_back({Around, {nullptr, Rate, Passes, nullptr}});
    }
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  SmallVector<Place, 4> Found;
  for (auto &[Header, At] : Headers) {
    At.L = LI.getLoopFor(Header);
    Found.push_back(At);
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
    Value *Left = At.Left ? At.Left : B.CreateSub(B.CreateLoad(B.getInt32Ty(), At.Passes), B.getInt32(1));
    B.CreateStore(Left, At.Passes);
    MDNode *Rarely = MDBuilder(F.getContext()).createBranchWeights(1, 10000);
    DomTreeUpdater Updater(DT, DomTreeUpdater::UpdateStrategy::Eager);
    Instruction *Then = SplitBlockAndInsertIfThen(B.CreateICmpSLE(Left, B.getInt32(0)), Latch->getTerminator(), false, Rarely,
                                                  &Updater, &LI);
    B.SetInsertPoint(Then);
    B.CreateStore(B.CreateCall(pollHelper(*F.getParent(), Bind, O), {State, At.Rate}), At.Passes);
    ++Count;
  }
  PromoteMemToReg({At.Passes}, DT);
}

/// True if `F` has a loop that may be long.
bool Polls::mayBeLong(Function &F) {
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  return any_of(FAM.getResult<LoopAnalysis>(F), [&](Loop *L) { return !L->isInnermost() || !SE.getSmallConstantTripCount(L) || pass(*L) >= PassMin; });
}

/// A copy of `F` that polls in its loops; null if it has none that is long enough, or if no more copies are to be made.
Function *Polls::copyOf(Function &F, const Binding &Bind, unsigned &Count) {
  auto It = Copies.Made.find({&F, Bind.Fortran});
  if (It == Copies.Made.end()) {
    if (!mayBeLong(F) || !canBeCopied(F) || F.getInstructionCount() > Copies.Left)
      return nullptr;
    Copies.Left -= F.getInstructionCount();
    // The copy has one more argument: whose state to ask about.
    It = Copies.Made.insert({{&F, Bind.Fortran}, {}}).first;
    SmallVector<Type *, 8> Types(F.getFunctionType()->params());
    Types.push_back(PointerType::getUnqual(F.getContext()));
    auto *Type = FunctionType::get(F.getReturnType(), Types, false);
    auto *Copy = Function::Create(Type, GlobalValue::InternalLinkage, F.getName() + ".overlap", F.getParent());
    ValueToValueMapTy Map;
    for (Argument &A : F.args()) {
      Copy->getArg(A.getArgNo())->setName(A.getName());
      Map[&A] = Copy->getArg(A.getArgNo());
    }
    SmallVector<ReturnInst *, 4> Returns;
    CloneFunctionInto(Copy, &F, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setVisibility(GlobalValue::DefaultVisibility);
    Copy->setDSOLocal(true);
    Copy->setComdat(nullptr);
    // A poll synchronises and writes what MPI writes.
    for (auto Kind : {Attribute::Memory, Attribute::NoSync, Attribute::NoFree, Attribute::NoRecurse, Attribute::WillReturn,
                      Attribute::Speculatable, Attribute::NoCallback})
      Copy->removeFnAttr(Kind);
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
  SmallVector<Place, 4> Places =
      places(F, S.Init, [&](Loop &L) { return all_of(L.blocks(), [&](BasicBlock *B) { return Inside.contains(B); }); });
  for (const Place &At : Places)
    insertAt(At, S.State, S.Bind, S.Polls);
  // STEP 3: functions called outside of the loops that poll now.
  erase_if(Calls, [&](CallInst *Call) {
    Function *Callee = Call->getCalledFunction();
    return !Callee || Callee->isDeclaration() || Callee->getName().starts_with("overlap.") || Call->isMustTailCall() || Call->hasOperandBundles() ||
           Callee->getFunctionType() != Call->getFunctionType() || Callee->getName().ends_with(".overlap") ||
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
    Function *Copy = Weights.weight(*Call) >= Whole / PartMin ? copyOf(Callee, S.Bind, S.Polls) : nullptr;
    if (!Copy) {
      if (!mayBeLong(Callee) || is_contained(S.Waits, Call->getNextNonDebugInstruction()))
        continue;
      if (!Rate.first)
        Rate = rate(F, S.Init);
      IRBuilder<> B(Call->getNextNode());
      B.CreateCall(tickHelper(*F.getParent(), S.Bind, O), {S.State, Rate.first, Rate.second});
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
    New->setAttributes(AttributeList::get(F.getContext(), AttributeSet(), Old.getRetAttrs(), OfArgs));
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
    bool OfMpi = Callee && (isMpiName(Callee->getName()) || Callee->getName().starts_with("overlap."));
    Alone &= OfMpi ? !Callee->getName().ends_with_insensitive("mpi_finalize") && !Callee->getName().ends_with_insensitive("mpi_finalize_")
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

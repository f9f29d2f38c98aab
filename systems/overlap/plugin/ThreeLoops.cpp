#include "ThreeLoops.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace overlap {

namespace {

/// One of the three loops.
struct Copy {
  BasicBlock *Header, *Latch;
  ValueToValueMapTy Map;

  Value *of(Value *V) {
    Value *New = Map.lookup(V);
    return New ? New : V;
  }
};

class Splitting {
public:
  Splitting(const LoopParts &P, Bounds Numbers, const DenseMap<PHINode *, Value *> &Steps)
      : P(P), Numbers(Numbers), Steps(Steps), Before(P.L.getLoopPreheader()),
        Header(P.L.getHeader()), Latch(P.L.getLoopLatch()), Blocks(P.L.blocks()),
        C(P.F.getContext()) {}

  void run(Instruction *At);

private:
  void makeSlots(Instruction *At);
  void clone(const Twine &Suffix, Copy &Into);
  void readResults();
  BasicBlock *wire(Copy &In, Value *From, Value *To, BasicBlock *Next, const Twine &Name);
  BasicBlock *block(const Twine &Name) { return BasicBlock::Create(C, Name, &P.F, P.Exit); }
  void choose(BasicBlock *From, Value *Low, Value *High, BasicBlock *Yes, BasicBlock *No);

  const LoopParts &P;
  const Bounds Numbers;
  const DenseMap<PHINode *, Value *> &Steps;
  BasicBlock *Before, *Header, *Latch, *Join = nullptr, *Between = nullptr, *End = nullptr;
  SmallVector<BasicBlock *, 16> Blocks;
  SmallVector<MDNode *, 4> Scopes;
  LLVMContext &C;
  DenseMap<Instruction *, AllocaInst *> Slots, ResultSlots;
  SmallVector<AllocaInst *, 8> AllSlots;
};

} // namespace

/// Values that pass from loop to loop lie in slots for a moment.
void Splitting::makeSlots(Instruction *At) {
  BasicBlock &Entry = P.F.getEntryBlock();
  IRBuilder<> Top(&Entry, Entry.getFirstInsertionPt()), B(At);
  auto Slot = [&](Instruction *I) { return AllSlots.emplace_back(Top.CreateAlloca(I->getType())); };
  for (PHINode *Phi : P.Carried) {
    Slots[Phi] = Slot(Phi);
    B.CreateStore(Phi->getIncomingValueForBlock(Before), Slots[Phi]);
  }
  for (Instruction *I : P.Results)
    ResultSlots[I] = Slot(I);
}

/// A copy of the loop's blocks, in front of `Between`.
void Splitting::clone(const Twine &Suffix, Copy &Into) {
  SmallVector<BasicBlock *, 16> New;
  for (BasicBlock *Old : Blocks) {
    New.push_back(CloneBasicBlock(Old, Into.Map, Suffix, &P.F));
    New.back()->moveBefore(Between);
    Into.Map[Old] = New.back();
  }
  remapInstructionsInBlocks(New, Into.Map);
  cloneAndAdaptNoAliasScopes(Scopes, New, C, Suffix.str());
  Into.Header = cast<BasicBlock>(Into.Map[Header]);
  Into.Latch = cast<BasicBlock>(Into.Map[Latch]);
}

/// Users outside read slots, in `End`. Comes before the copies are wired, while users are still the
/// old ones.
void Splitting::readResults() {
  IRBuilder<> AtEnd(End);
  for (Instruction *I : P.Results) {
    Value *Read = AtEnd.CreateLoad(I->getType(), ResultSlots[I]);
    SmallPtrSet<BasicBlock *, 16> Inside(Blocks.begin(), Blocks.end());
    I->replaceUsesWithIf(Read, [&](Use &U) {
      return !Inside.contains(cast<Instruction>(U.getUser())->getParent());
    });
  }
  P.Exit->replacePhiUsesWith(Latch, End);
  AtEnd.CreateBr(P.Exit);
}

/// Lets a copy run the passes from `From` to `To` and go on to `Next`. Its preheader.
BasicBlock *Splitting::wire(Copy &In, Value *From, Value *To, BasicBlock *Next, const Twine &Name) {
  BasicBlock *Pre = block("overlap." + Name), *Out = block("overlap." + Name + ".out");
  Pre->moveBefore(In.Header);
  IRBuilder<> B(Pre);
  for (PHINode *Phi : P.Counters) {
    auto *Mine = cast<PHINode>(In.of(Phi));
    Value *Start = Mine->getIncomingValueForBlock(Join), *Step = Steps.lookup(Phi);
    Value *Far = B.CreateMul(Step, B.CreateZExtOrTrunc(From, Step->getType()));
    Value *Begin =
        Phi->getType()->isPointerTy() ? B.CreatePtrAdd(Start, Far) : B.CreateAdd(Start, Far);
    Mine->setIncomingValueForBlock(Join, Begin);
  }
  for (PHINode *Phi : P.Carried)
    cast<PHINode>(In.of(Phi))
        ->setIncomingValueForBlock(Join, B.CreateLoad(Phi->getType(), Slots[Phi]));
  B.CreateBr(In.Header);
  In.Header->replacePhiUsesWith(Join, Pre);
  auto *Old = cast<BranchInst>(In.Latch->getTerminator());
  IRBuilder<> H(In.Header, In.Header->begin());
  PHINode *Pass = H.CreatePHI(H.getInt64Ty(), 2, "overlap.pass");
  IRBuilder<> E(Old);
  Value *Next1 = E.CreateAdd(Pass, E.getInt64(1), "overlap.next", true, true);
  Pass->addIncoming(From, Pre);
  Pass->addIncoming(Next1, In.Latch);
  BranchInst *New = E.CreateCondBr(E.CreateICmpULT(Next1, To), In.Header, Out);
  New->copyMetadata(*Old, {LLVMContext::MD_loop, LLVMContext::MD_dbg});
  Old->eraseFromParent();
  IRBuilder<> X(Out);
  for (PHINode *Phi : P.Carried)
    X.CreateStore(In.of(Phi->getIncomingValueForBlock(Latch)), Slots[Phi]);
  for (Instruction *I : P.Results)
    X.CreateStore(In.of(I), ResultSlots[I]);
  X.CreateBr(Next);
  return Pre;
}

/// Leaves `From` for `Yes` if there is a pass between these two numbers.
void Splitting::choose(BasicBlock *From, Value *Low, Value *High, BasicBlock *Yes, BasicBlock *No) {
  if (Instruction *Old = From->getTerminator())
    Old->eraseFromParent();
  IRBuilder<> B(From);
  B.CreateCondBr(B.CreateICmpSLT(Low, High), Yes, No);
}

void Splitting::run(Instruction *At) {
  // STEP 1: slots for values, and the blocks between the loops.
  makeSlots(At);
  Join = Before->splitBasicBlock(At, "overlap.border");
  Between = block("overlap.last");
  End = block("overlap.end");
  // STEP 2: two copies. The loop itself becomes the first passes.
  identifyNoAliasScopesToClone(Blocks, Scopes);
  Copy Interior, Border, Rest;
  Border.Header = Header;
  Border.Latch = Latch;
  clone(".interior", Interior);
  clone(".rest", Rest);
  readResults();
  // STEP 3: each runs its passes, and is entered if it has one.
  Value *Zero = ConstantInt::get(Type::getInt64Ty(C), 0);
  BasicBlock *InteriorAt = wire(Interior, Numbers.First, Numbers.Rest, Join, "interior");
  BasicBlock *RestPre = wire(Rest, Numbers.Rest, Numbers.Trips, End, "rest");
  BasicBlock *FirstPre = wire(Border, Zero, Numbers.First, Between, "first");
  choose(Before, Numbers.First, Numbers.Rest, InteriorAt, Join);
  choose(Join, Zero, Numbers.First, FirstPre, Between);
  choose(Between, Numbers.Rest, Numbers.Trips, RestPre, End);
  // STEP 4: the slots go.
  DominatorTree Now(P.F);
  PromoteMemToReg(AllSlots, Now);
}

void splitInThree(const LoopParts &Parts, Instruction *At, Bounds Numbers,
                  const DenseMap<PHINode *, Value *> &Steps) {
  Splitting(Parts, Numbers, Steps).run(At);
}

} // namespace overlap

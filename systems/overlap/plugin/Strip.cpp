#include "Strip.h"
#include "Versions.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace overlap {

/// The loop's own counter, of at least `Bits` bits, which goes up by one each pass: that which ends
/// the loop, if there is one.
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

/// Tells the analyses of the loop that now lies around `L`.
static void tell(Loop &L, const Strips &Made, BasicBlock *Before, BasicBlock *Latch,
                 BasicBlock *Exit, DominatorTree &DT, LoopInfo &LI) {
  BasicBlock *Header = L.getHeader();
  DT.addNewBlock(Made.Header, Before);
  DT.changeImmediateDominator(Header, Made.Header);
  DT.addNewBlock(Made.Latch, Latch);
  if (DT.getNode(Exit)->getIDom() == DT.getNode(Latch))
    DT.changeImmediateDominator(Exit, Made.Latch);
  Loop *Outer = LI.AllocateLoop();
  if (Loop *Parent = L.getParentLoop())
    Parent->replaceChildLoopWith(&L, Outer);
  else
    LI.changeTopLevelLoop(&L, Outer);
  Outer->addChildLoop(&L);
  Outer->addBasicBlockToLoop(Made.Header, LI);
  for (BasicBlock *Block : L.blocks())
    Outer->addBlockEntry(Block);
  Outer->addBasicBlockToLoop(Made.Latch, LI);
  // A strip is long: copies of it are compiled for nothing.
  Outer->setLoopAlreadyUnrolled();
}

/// `V`, of which the compiler knows nothing from here on. Nothing better comes of a number of
/// passes that is a minimum of two, but each analysis of the loop writes it out and simplifies it
/// again.
static Value *hidden(IRBuilder<> &B, Value *V) {
  auto *Type = FunctionType::get(V->getType(), {V->getType()}, false);
  CallInst *Same = B.CreateCall(Type, InlineAsm::get(Type, "", "=r,0", false), {V});
  Same->setDoesNotAccessMemory();
  Same->setDoesNotThrow();
  return Same;
}

Strips strip(Loop &L, FunctionAnalysisManager &FAM,
             function_ref<Value *(IRBuilder<> &, Type *)> LengthOf) {
  BasicBlock *Before = L.getLoopPreheader(), *Header = L.getHeader(), *Latch = L.getLoopLatch(),
             *Exit = L.getUniqueExitBlock();
  Function &F = *Header->getParent();
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  const SCEV *Taken = SE.getBackedgeTakenCount(&L);
  if (!Before || !Latch || !Exit || L.getExitingBlock() != Latch ||
      !isa<BranchInst>(Latch->getTerminator()) || Exit->isEHPad() ||
      isa<SCEVCouldNotCompute>(Taken) || SE.getTypeSizeInBits(Taken->getType()) > 64)
    return {};
  SCEVExpander Expander = expander(SE, F.getDataLayout());
  if (!Expander.isSafeToExpandAt(Taken, Before->getTerminator()))
    return {};
  LLVMContext &C = F.getContext();
  PHINode *Pass = counter(L, SE, SE.getTypeSizeInBits(Taken->getType()));
  IRBuilder<> B(Before->getTerminator());
  Type *Int = Pass ? Pass->getType() : B.getInt64Ty();
  Value *First = Pass ? Pass->getIncomingValueForBlock(Before) : ConstantInt::get(Int, 0);
  // With as many passes as the type has numbers, it is the first number again, which is right in
  // what follows.
  Value *Trips =
      B.CreateAdd(B.CreateZExt(Expander.expandCodeFor(Taken, Taken->getType(),
                                                      Before->getTerminator()->getIterator()),
                               Int),
                  ConstantInt::get(Int, 1));
  Value *Last = B.CreateAdd(First, Trips, "overlap.last");
  Strips Made;
  Made.Header = BasicBlock::Create(C, "overlap.strip", &F, Header);
  Made.Latch = BasicBlock::Create(C, "overlap.strip.next", &F, Exit);
  Before->getTerminator()->replaceSuccessorWith(Header, Made.Header);
  B.SetInsertPoint(Made.Header);
  PHINode *From = B.CreatePHI(Int, 2, "overlap.from");
  for (PHINode &Phi : Header->phis()) {
    if (&Phi == Pass) {
      Phi.setIncomingValueForBlock(Before, From);
      continue;
    }
    PHINode *Around = B.CreatePHI(Phi.getType(), 2);
    Around->addIncoming(Phi.getIncomingValueForBlock(Before), Before);
    Around->addIncoming(Phi.getIncomingValueForBlock(Latch), Made.Latch);
    Phi.setIncomingValueForBlock(Before, Around);
  }
  Header->replacePhiUsesWith(Before, Made.Header);
  Made.Length = LengthOf(B, Int);
  Value *Rest = B.CreateSub(Last, From);
  Made.Step = hidden(B, B.CreateSelect(B.CreateICmpULT(Made.Length, Rest), Made.Length, Rest));
  Value *To = B.CreateAdd(From, Made.Step, "overlap.to");
  B.CreateBr(Header);
  From->addIncoming(First, Before);
  From->addIncoming(To, Made.Latch);
  auto *Old = cast<BranchInst>(Latch->getTerminator());
  Value *More = Pass ? Pass->getIncomingValueForBlock(Latch) : nullptr;
  if (!Pass) {
    B.SetInsertPoint(Header, Header->begin());
    Pass = B.CreatePHI(Int, 2, "overlap.pass");
    B.SetInsertPoint(Old);
    More = B.CreateAdd(Pass, ConstantInt::get(Int, 1), "overlap.next", true, true);
    Pass->addIncoming(From, Made.Header);
    Pass->addIncoming(More, Latch);
  }
  B.SetInsertPoint(Old);
  BranchInst *New = B.CreateCondBr(B.CreateICmpNE(More, To), Header, Made.Latch);
  New->copyMetadata(*Old, {LLVMContext::MD_loop, LLVMContext::MD_dbg});
  B.SetInsertPoint(Made.Latch);
  B.SetCurrentDebugLocation(Old->getDebugLoc());
  Exit->replacePhiUsesWith(Latch, Made.Latch);
  B.CreateCondBr(B.CreateICmpNE(To, Last), Made.Header, Exit);
  Old->eraseFromParent();
  SE.forgetTopmostLoop(&L);
  tell(L, Made, Before, Latch, Exit, FAM.getResult<DominatorTreeAnalysis>(F),
       FAM.getResult<LoopAnalysis>(F));
  return Made;
}

} // namespace overlap

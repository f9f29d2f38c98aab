#include "Reload.h"
#include "PassLoop.h"
#include "Versions.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace overlap {

/// True if pass 0 begins with what lies one step before what it loads itself, and nothing in the
/// loop or between writes that.
static bool isLoadedBefore(PassLoop &P, const Carried &Of) {
  auto *First = dyn_cast<LoadInst>(Of.Phi->getIncomingValueForBlock(P.Before));
  ScalarEvolution &SE = P.SE;
  Type *Distance = SE.getEffectiveSCEVType(Of.Load->getPointerOperandType());
  const SCEV *Step = SE.getConstant(Distance, Of.Step, /*isSigned=*/true);
  if (!First || !First->isSimple() || First->getParent() != P.Before ||
      First->getType() != Of.Load->getType() ||
      SE.getSCEV(First->getPointerOperand()) != SE.getMinusSCEV(Of.Start, Step))
    return false;
  for (Instruction *I = First->getNextNode(); I; I = I->getNextNode())
    if (I->mayWriteToMemory())
      return false;
  auto &AA = P.FAM.getResult<AAManager>(P.F);
  auto *Read = find_if(P.Touches, [&](const Touch &T) { return T.I == Of.Load; });
  return all_of(P.Touches, [&](const Touch &T) {
    return !T.Writes || AA.isNoAlias(T.around(), Read->around());
  });
}

static bool reloadCarried(Loop &L, FunctionAnalysisManager &FAM) {
  PassLoop P(L, FAM);
  if (!P.check() || P.CarriedLoads.empty() ||
      !all_of(P.CarriedLoads, [&](const Carried &Of) { return isLoadedBefore(P, Of); }))
    return false;
  ScalarEvolution &SE = P.SE;
  for (const Carried &Of : P.CarriedLoads) {
    Type *Distance = SE.getEffectiveSCEVType(Of.Load->getPointerOperandType());
    const SCEV *Step = SE.getConstant(Distance, Of.Step, /*isSigned=*/true);
    const SCEV *Place =
        SE.getAddRecExpr(SE.getMinusSCEV(Of.Start, Step), Step, &L, SCEV::FlagAnyWrap);
    SCEVExpander Expander = expander(SE, P.F.getDataLayout());
    Instruction *At = &*P.Header->getFirstInsertionPt();
    Value *Ptr = Expander.expandCodeFor(Place, Of.Load->getPointerOperandType(), At->getIterator());
    IRBuilder<> B(At);
    LoadInst *Again = B.CreateAlignedLoad(Of.Load->getType(), Ptr, Of.Load->getAlign());
    Again->setAAMetadata(Of.Load->getAAMetadata());
    Again->setDebugLoc(Of.Load->getDebugLoc());
    Of.Phi->replaceAllUsesWith(Again);
    Of.Phi->eraseFromParent();
  }
  FAM.clear(P.F, P.F.getName());
  return true;
}

bool reloadCarried(Function &F, FunctionAnalysisManager &FAM) {
  SmallVector<BasicBlock *, 16> Headers;
  for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    Headers.push_back(L->getHeader());
  bool Changed = false;
  for (BasicBlock *Header : Headers)
    if (Loop *L = FAM.getResult<LoopAnalysis>(F).getLoopFor(Header); L && L->getHeader() == Header)
      Changed |= reloadCarried(*L, FAM);
  return Changed;
}

} // namespace overlap

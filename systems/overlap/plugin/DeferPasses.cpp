#include "DeferPasses.h"
#include "Look.h"
#include "PassLoop.h"
#include "Runtime.h"
#include "Versions.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"

using namespace llvm;

namespace overlap {

/// More passes than this may not fit in the arithmetic of addresses.
static constexpr int64_t NumberMax = int64_t(1) << 31;

bool canDefer(Loop &L, FunctionAnalysisManager &FAM) { return PassLoop(L, FAM).check(); }

void defer(Loop &Around, Value *Later, Constant *Site, FunctionAnalysisManager &FAM, const Options &O) {
  PassLoop P(Around, FAM);
  [[maybe_unused]] bool Can = P.check();
  assert(Can && "a loop that could not be deferred");
  Loop &L = P.L;
  Function &F = P.F;
  Module &M = P.M;
  ScalarEvolution &SE = P.SE;
  BasicBlock *Before = P.Before, *Exit = P.Exit;
  LLVMContext &C = M.getContext();
  const DataLayout &DL = F.getDataLayout();
  Type *Int = Type::getInt64Ty(C), *Ptr = PointerType::getUnqual(C);
  const SCEV *Taken = SE.getBackedgeTakenCount(&L);
  SCEVExpander Expander = expander(SE, DL);
  Instruction *At = Before->getTerminator();
  IRBuilder<> B(At);
  // STEP 1: how many passes, and what they write.
  Value *Trips = B.CreateAdd(B.CreateZExt(Expander.expandCodeFor(Taken, Taken->getType(), At->getIterator()), Int), B.getInt64(1));
  // None is a number that does not fit.
  Value *Fine = B.CreateAnd(B.CreateIsNotNull(Trips), B.CreateICmpULE(Trips, B.getInt64(NumberMax)));
  Value *Last = B.CreateSub(Trips, B.getInt64(1));
  SmallVector<std::pair<Value *, Value *>, 4> WrittenAt;
  for (const Written &W : P.Writes) {
    Value *Low = B.CreatePtrToInt(Expander.expandCodeFor(W.Low, W.Low->getType(), At->getIterator()), Int);
    Value *Far = B.CreateMul(Last, B.getInt64(W.Step));
    Value *From = B.CreateAdd(Low, B.getInt64(W.From)), *To = B.CreateAdd(Low, B.getInt64(W.To));
    Value *&Moves = W.Step < 0 ? From : To;
    Moves = B.CreateAdd(Moves, Far);
    // Arrays that share memory are written in their order.
    for (auto [OtherFrom, OtherTo] : WrittenAt)
      Fine = B.CreateAnd(Fine, B.CreateOr(B.CreateICmpULE(To, OtherFrom), B.CreateICmpULE(OtherTo, From)));
    WrittenAt.push_back({From, To});
  }
  // STEP 2: the two functions. What loops inside reach is computed in the loop, copied with it, and goes again.
  Look Looking(P, Expander);
  Looking.prepare(WrittenAt);
  SetVector<Value *> Values;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      for (Value *V : I.operand_values())
        if (isa<Argument>(V) || (isa<Instruction>(V) && !L.contains(cast<Instruction>(V))))
          Values.insert(V);
  for (auto [From, To] : WrittenAt)
    for (Value *V : {From, To})
      if (!isa<Constant>(V))
        Values.insert(V);
  for (Value *V : Looking.wanted())
    if (!isa<Constant>(V))
      Values.insert(V);
  SmallVector<Type *, 16> Types;
  for (Value *V : Values)
    Types.push_back(V->getType());
  auto *Env = StructType::get(C, Types);
  auto *LookType = FunctionType::get(Type::getInt32Ty(C), {Ptr, Ptr, Int, Int}, false);
  Outlined Looks, Runs;
  P.outline(Looks, ".look", LookType, Values.getArrayRef(), Env);
  Looking.finish(Looks);
  P.outline(Runs, ".passes", FunctionType::get(Type::getVoidTy(C), {Ptr, Int, Int}, false), Values.getArrayRef(), Env);
  // STEP 3: the loop itself stays for when nothing is pending.
  IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Place = Entry.CreateAlloca(Env, nullptr, "overlap.values");
  B.SetInsertPoint(At);
  Value *Worth = B.CreateCall(runtime(M, "__overlap_later_is_worth"), {Later, B.getInt64(O.MinBytes)});
  Value *Defers = B.CreateAnd(B.CreateICmpNE(Worth, B.getInt32(0)), Fine);
  BasicBlock *Plain = SplitBlock(Before, At), *Deferred = BasicBlock::Create(C, "overlap.defer", &F, Plain);
  Before->getTerminator()->eraseFromParent();
  IRBuilder<>(Before).CreateCondBr(Defers, Deferred, Plain);
  IRBuilder<>(Plain->getTerminator()).CreateCall(runtime(M, "__overlap_later_end"), {Later});
  IRBuilder<> D(Deferred);
  for (unsigned Idx = 0; Idx < Values.size(); ++Idx)
    D.CreateStore(Values[Idx], D.CreateStructGEP(Env, Place, Idx));
  int64_t EveryNs = O.Poll == Progress::Off ? INT64_MAX : int64_t(O.PollUs) * 1000;
  D.CreateCall(runtime(M, "__overlap_later_passes"), {Later, Trips, Looks.F, Runs.F, Place, D.getInt64(EveryNs), Site});
  D.CreateBr(Exit);
  for (PHINode &Phi : Exit->phis())
    Phi.addIncoming(Phi.getIncomingValueForBlock(P.Latch), Deferred);
  // Only the copies need what was computed for them, and all of `Values` has a use by now.
  Expander.clear();
  for (const WeakTrackingVH &V : reverse(Looking.made()))
    if (auto *I = dyn_cast_or_null<Instruction>(static_cast<Value *>(V)); I && L.contains(I))
      RecursivelyDeleteTriviallyDeadInstructions(I);
  FAM.clear(F, F.getName());
  FunctionPassManager Clean;
  Clean.addPass(PromotePass());
  Clean.addPass(ADCEPass());
  Clean.addPass(SimplifyCFGPass());
  Clean.addPass(EarlyCSEPass());
  Clean.addPass(ADCEPass());
  // Loops that looked at each index are empty now.
  LoopPassManager Loops;
  Loops.addPass(IndVarSimplifyPass());
  Loops.addPass(LoopDeletionPass());
  Clean.addPass(createFunctionToLoopPassAdaptor(std::move(Loops)));
  Clean.addPass(SimplifyCFGPass());
  Clean.addPass(ADCEPass());
  for (Function *New : {Looks.F, Runs.F})
    FAM.invalidate(*New, Clean.run(*New, FAM));
}

} // namespace overlap

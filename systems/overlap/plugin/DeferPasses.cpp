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

// A sparse matrix times a vector whose ends are other ranks' is the loop that this is for:
//
//   for (k = 0; k < n; k++) { s = 0; for (j...) s += v[k][j] * x[i[k][j]]; y[k] = s; }
//
// Most rows read only entries of x that are here. A few read what is on its way, and which do
// stands in the index array, so neither the compiler nor a rule about addresses such as Border's
// can say which. The program can: while the messages are under way it has nothing better to do than
// to look.
//
// The loop becomes two functions. `look(from, to)` is what is left of passes `from` to `to` if all
// that only computes is taken away: which addresses do they reach? It keeps the least and the
// largest of each access and compares these ranges with what is pending and with what the loop
// writes. `run(from, to)` is the loop itself over some of its passes. The runtime
// (runtime/later.c) looks at many passes at once, and at those of a group that meets something in
// smaller groups. Groups that meet nothing run at once, the smaller ones that meet something are
// kept; then the messages are waited for, and what was kept runs, in its order.
//
// Why no result changes: a pass runs as a whole, with the values that it had, and passes may run in
// any order only if none reads or writes what another one writes. That is `PassLoop`'s question
// where the code answers it, and `look`'s where it does not: a pass that reads what the loop writes
// stops the game, the messages come first and the rest of the loop keeps its order. An address that
// is itself loaded, such as i[k][j], is compared before it is loaded: it may be pending too.
//
// Why it is cheap enough: a look is a fraction of a pass, since it loads indices and does no
// arithmetic but on addresses; and if nothing is pending, or too little, the loop as it was is run.

namespace overlap {

bool canDefer(Loop &L, FunctionAnalysisManager &FAM) {
  PassLoop P(L, FAM);
  return P.check() && P.Leaves.empty() && P.CarriedLoads.empty();
}

/// Takes away from a copy of a loop what it does not need.
static void clean(Function &Copy, FunctionAnalysisManager &FAM) {
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
  FAM.invalidate(Copy, Clean.run(Copy, FAM));
}

void defer(Loop &Around, Value *Later, Constant *Site, bool Asked, FunctionAnalysisManager &FAM,
           const Options &O) {
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
  SCEVExpander Expander = expander(SE, DL);
  Instruction *At = Before->getTerminator();
  IRBuilder<> B(At);
  // STEP 1: how many passes, and what they write.
  auto [Trips, Fine, Lows, WrittenAt] = P.count(Expander, At);
  // STEP 2: the two functions. What loops inside reach is computed in the loop, copied with it, and
  // goes again.
  Look Looking(P, Expander);
  Looking.prepare(WrittenAt);
  SetVector<Value *> Values = P.values();
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
  P.outline(Runs, ".passes", FunctionType::get(Type::getVoidTy(C), {Ptr, Int, Int}, false),
            Values.getArrayRef(), Env);
  // STEP 3: the loop itself stays for when nothing is pending.
  IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Place = Entry.CreateAlloca(Env, nullptr, "overlap.values");
  B.SetInsertPoint(At);
  Value *Defers = Fine;
  if (!Asked)
    Defers = B.CreateAnd(B.CreateIsNotNull(B.CreateCall(runtime(M, "__overlap_later_is_worth"),
                                                        {Later, B.getInt64(O.MinBytes)})),
                         Fine);
  BasicBlock *Plain = SplitBlock(Before, At),
             *Deferred = BasicBlock::Create(C, "overlap.defer", &F, Plain);
  Before->getTerminator()->eraseFromParent();
  IRBuilder<>(Before).CreateCondBr(Defers, Deferred, Plain);
  IRBuilder<>(Plain->getTerminator()).CreateCall(runtime(M, "__overlap_later_end"), {Later});
  IRBuilder<> D(Deferred);
  for (unsigned Idx = 0; Idx < Values.size(); ++Idx)
    D.CreateStore(Values[Idx], D.CreateStructGEP(Env, Place, Idx));
  int64_t EveryNs = O.Poll == Progress::Off ? INT64_MAX : int64_t(O.PollUs) * 1000;
  D.CreateCall(runtime(M, "__overlap_later_passes"),
               {Later, Trips, Looks.F, Runs.F, Place, D.getInt64(EveryNs), Site});
  D.CreateBr(Exit);
  for (PHINode &Phi : Exit->phis())
    Phi.addIncoming(Phi.getIncomingValueForBlock(P.Latch), Deferred);
  // Only the copies need what was computed for them, and all of `Values` has a use by now.
  Expander.clear();
  for (const WeakTrackingVH &V : reverse(Looking.made()))
    if (auto *I = dyn_cast_or_null<Instruction>(static_cast<Value *>(V)); I && L.contains(I))
      RecursivelyDeleteTriviallyDeadInstructions(I);
  FAM.clear(F, F.getName());
  clean(*Looks.F, FAM);
  clean(*Runs.F, FAM);
}

} // namespace overlap

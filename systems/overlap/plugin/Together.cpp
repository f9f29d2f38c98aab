#include "Together.h"
#include "Calls.h"
#include "Inline.h"
#include "Ordinary.h"
#include "Runtime.h"
#include "Stages.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace overlap {

/// Larger functions take no other in, in instructions.
static constexpr unsigned CallerMax = 20000;
/// A caller of more exchanges gains little from each.
static constexpr unsigned CallsMax = 64;
/// Work is looked for behind so many calls of wrappers.
static constexpr unsigned RoundsMax = 4;

/// True if `I` calls a function of MPI that sends, receives or ends messages between two ranks.
static bool isOfExchange(const Instruction &I) {
  const Function *Callee = calleeOf(I);
  bool Fortran = false;
  const CallInfo *Row =
      Callee && Callee->isDeclaration() ? findRow(Callee->getName(), Fortran) : nullptr;
  if (!Row)
    return false;
  switch (Row->Kind) {
  case CallKind::Send:
  case CallKind::Recv:
  case CallKind::Sendrecv:
  case CallKind::Start:
  case CallKind::End:
    return true;
  default:
    return false;
  }
}

namespace {
class Together {
public:
  Together(Module &M, FunctionAnalysisManager &FAM, const Options &O) : M(M), FAM(FAM), O(O) {}
  bool run();

private:
  bool exchanges(Function &F);
  bool hasLoop(Function &F) { return !FAM.getResult<LoopAnalysis>(F).empty(); }
  bool computes(Function &F);
  SmallSetVector<CallBase *, 8> exchangesOf(Function &F);
  SmallSetVector<CallBase *, 8> workOf(Function &F);
  bool inlineAll(ArrayRef<CallBase *> Calls, SmallVectorImpl<Function *> &Callees);
  bool join(Function &F, SmallVectorImpl<Function *> &Callees);
  unsigned windows(Function &F);
  unsigned windowsAlone(Function &F);

  Module &M;
  FunctionAnalysisManager &FAM;
  const Options &O;
  DenseMap<Function *, bool> Exchanges; ///< Itself, or what it calls.
  DenseMap<Function *, unsigned> Alone; ///< The windows of a function as it is.
};
} // namespace

bool Together::exchanges(Function &F) {
  // A function that calls itself is not inlined.
  auto [It, New] = Exchanges.try_emplace(&F, false);
  if (!New || F.isDeclaration())
    return It->second;
  bool Found = any_of(instructions(F), [&](Instruction &I) {
    Function *Callee = calleeOf(I);
    return isOfExchange(I) || (Callee && !Callee->isDeclaration() && exchanges(*Callee));
  });
  return Exchanges[&F] = Found;
}

/// True if `F` computes in a loop, and does nothing that a wait may not pass.
bool Together::computes(Function &F) {
  if (F.isDeclaration() || !hasLoop(F))
    return false;
  Effects Fx(FAM.getResult<AAManager>(F), O);
  return none_of(instructions(F),
                 [&](const Instruction &I) { return !isa<ReturnInst>(I) && Fx.stops(I); });
}

SmallSetVector<CallBase *, 8> Together::exchangesOf(Function &F) {
  SmallSetVector<CallBase *, 8> Calls;
  for (Instruction &I : instructions(F))
    if (Function *Callee = calleeOf(I);
        Callee && !Callee->isDeclaration() && exchanges(*Callee) && canBeInlined(*Callee, F, FAM))
      Calls.insert(cast<CallBase>(&I));
  return Calls;
}

/// The calls of functions that compute, on the ways from messages to what no wait may pass.
SmallSetVector<CallBase *, 8> Together::workOf(Function &F) {
  Effects Fx(FAM.getResult<AAManager>(F), O);
  SmallSetVector<CallBase *, 8> Calls;
  SmallPtrSet<BasicBlock *, 32> Seen;
  SmallVector<std::pair<BasicBlock *, BasicBlock::iterator>, 16> Work;
  for (Instruction &I : instructions(F))
    if (isOfExchange(I) && isa<CallInst>(I))
      Work.push_back({I.getParent(), std::next(I.getIterator())});
  while (!Work.empty()) {
    auto [Block, From] = Work.pop_back_val();
    auto Ends = [&](Instruction &I) {
      Function *Callee = calleeOf(I);
      if (!Callee || Callee->isDeclaration() || !canBeInlined(*Callee, F, FAM) ||
          !computes(*Callee))
        return Fx.stops(I) && !I.isTerminator() && !isOfExchange(I);
      Calls.insert(cast<CallBase>(&I));
      return false;
    };
    if (std::any_of(From, Block->end(), Ends))
      continue;
    for (BasicBlock *Next : successors(Block))
      if (Seen.insert(Next).second)
        Work.push_back({Next, Next->begin()});
  }
  return Calls;
}

bool Together::inlineAll(ArrayRef<CallBase *> Calls, SmallVectorImpl<Function *> &Callees) {
  bool Any = false;
  for (CallBase *Call : Calls) {
    Function &F = *Call->getFunction(), *Callee = Call->getCalledFunction();
    if (F.getInstructionCount() > CallerMax || !inlineCall(*Call, FAM, O))
      continue;
    Callees.push_back(Callee);
    Any = true;
  }
  return Any;
}

/// Makes exchanges and the work behind them parts of `F`; tells which functions those were.
bool Together::join(Function &F, SmallVectorImpl<Function *> &Callees) {
  FunctionPassManager Simplify;
  Simplify.addPass(SROAPass(SROAOptions::ModifyCFG));
  Simplify.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Simplify.addPass(InstCombinePass());
  Simplify.addPass(SimplifyCFGPass());
  bool Any = false;
  for (unsigned Round = 0; Round < RoundsMax; ++Round) {
    auto Calls = exchangesOf(F);
    bool Again = Calls.size() <= CallsMax && inlineAll(Calls.getArrayRef(), Callees);
    Calls = workOf(F);
    Again |= Calls.size() <= CallsMax && inlineAll(Calls.getArrayRef(), Callees);
    if (!Again)
      break;
    Any = true;
    Simplify.run(F, FAM);
    FAM.clear(F, F.getName());
  }
  return Any;
}

/// The windows of the program's own requests in `F` that get wider, and the loops that are split
/// for messages. `F` is a copy and of no use behind it.
unsigned Together::windows(Function &F) {
  Options Trial = O;
  Trial.Stages = "hoist+sink+frontier+border";
  std::vector<Site> Sites = classify(F, Trial), Widened;
  SmallVector<Site *, 8> Good;
  for (Site &S : Sites)
    if (!S.Refused && S.Info->Kind != CallKind::Collective)
      Good.push_back(&S);
  OpenTwins None;
  PollingCopies Copies(M);
  FunctionState State(F, Good, FAM, Trial, None, Copies, Widened);
  runStages(State);
  unsigned Found = 0;
  for (const Site &S : Sites)
    Found += S.converted() ? S.LoopsSplit : 0;
  for (const Site &S : Widened)
    Found += S.Refused ? 0 : 1 + S.LoopsSplit;
  return Found;
}

/// Calls `Use` with a copy of `F`, which goes again.
static unsigned withCopy(Function &F, FunctionAnalysisManager &FAM,
                         function_ref<unsigned(Function &)> Use) {
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&F, Map);
  Copy->setLinkage(GlobalValue::InternalLinkage);
  Copy->setComdat(nullptr);
  unsigned Result = Use(*Copy);
  FAM.clear(*Copy, Copy->getName());
  Copy->eraseFromParent();
  return Result;
}

unsigned Together::windowsAlone(Function &F) {
  auto [It, New] = Alone.try_emplace(&F, 0);
  if (!New)
    return It->second;
  unsigned Found =
      exchanges(F) ? withCopy(F, FAM, [&](Function &Copy) { return windows(Copy); }) : 0;
  return Alone[&F] = Found;
}

bool Together::run() {
  // Functions before their callers, so that a wrapper has what it can have by itself.
  SmallVector<Function *, 16> Order;
  {
    CallGraph Graph(M);
    for (auto It = scc_begin(&Graph); !It.isAtEnd(); ++It)
      for (CallGraphNode *Node : *It)
        if (Function *F = Node->getFunction();
            F && !F->isDeclaration() && exchanges(*F) && isOrdinary(*F, FAM) &&
            none_of(*F, [](BasicBlock &Block) {
              return Block.hasAddressTaken() || Block.getTerminatingMustTailCall();
            }))
          Order.push_back(F);
  }
  SmallSetVector<Function *, 8> Emptied;
  for (Function *F : Order) {
    SmallVector<Function *, 8> Callees;
    unsigned Joined =
        withCopy(*F, FAM, [&](Function &Copy) { return join(Copy, Callees) ? windows(Copy) : 0; });
    unsigned Apart = Joined ? windowsAlone(*F) : 0;
    for (Function *Callee : Callees)
      Apart += Joined ? windowsAlone(*Callee) : 0;
    if (Joined <= Apart)
      continue;
    Callees.clear();
    join(*F, Callees);
    Alone.erase(F);
    Emptied.insert(Callees.begin(), Callees.end());
  }
  for (Function *Callee : Emptied)
    if (Callee->isDefTriviallyDead()) {
      FAM.clear(*Callee, Callee->getName());
      Callee->eraseFromParent();
    }
  forgetUnused(M);
  return !Order.empty();
}

bool bringTogether(Module &M, FunctionAnalysisManager &FAM, const Options &O) {
  return Together(M, FAM, O).run();
}

} // namespace overlap

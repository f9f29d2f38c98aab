#include "PollEverywhere.h"
#include "Classify.h"
#include "CountPending.h"
#include "OwnWindows.h"
#include "PollingLoops.h"
#include "Runtime.h"
#include "Strip.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace overlap {

/// True for a module of a program that runs on a processor with an operating system.
static bool isOfProgram(const Module &M) {
  Triple T(M.getTargetTriple());
  return T.isOSLinux() && !T.isAMDGPU() && !T.isNVPTX() && !T.isBPF();
}

/// MPI allocates; a poll inside an allocator would find itself there again.
static bool isAllocator(const Module &M) {
  return any_of(M, [](const Function &F) {
    return !F.isDeclaration() &&
           StringSwitch<bool>(F.getName())
               .Cases("malloc", "calloc", "realloc", "free", "_Znwm", "_Znam", "_ZdlPv", true)
               .Default(false);
  });
}

/// True if `F` may be called in the middle of anything: by MPI, or as a handler of signals.
static bool mayInterrupt(const Function &F) {
  const FunctionType *Type = F.getFunctionType();
  bool IsHandler = Type->getReturnType()->isVoidTy() && !Type->isVarArg() &&
                   (Type->getNumParams() == 1 ||
                    (Type->getNumParams() == 3 && Type->getParamType(1)->isPointerTy() &&
                     Type->getParamType(2)->isPointerTy())) &&
                   Type->getParamType(0)->isIntegerTy(32);
  return any_of(F.uses(), [&](const Use &U) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    if (Call && Call->isCallee(&U))
      return false;
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return IsHandler || (Callee && isMpiName(Callee->getName()));
  });
}

static bool mayPoll(const Function &F) {
  return !F.isDeclaration() && !F.hasAvailableExternallyLinkage() && !F.hasOptNone() &&
         !F.hasFnAttribute(Attribute::Naked) && !F.isPresplitCoroutine() &&
         !F.callsFunctionThatReturnsTwice() && !F.getName().starts_with("__overlap_") &&
         !mayInterrupt(F);
}

/// True if `L` sums up in an order that is left to the compiler.
static bool isReordered(const Loop &L) {
  // The sum of a loop inside comes through phis.
  SmallPtrSet<const Value *, 8> Seen;
  SmallVector<const Value *, 8> Work;
  for (const PHINode &Phi : L.getHeader()->phis())
    if (Phi.getType()->isFPOrFPVectorTy() && L.getLoopLatch())
      Work.push_back(Phi.getIncomingValueForBlock(L.getLoopLatch()));
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val();
    if (!Seen.insert(V).second)
      continue;
    if (auto *Phi = dyn_cast<PHINode>(V); Phi && L.contains(Phi))
      Work.append(Phi->op_begin(), Phi->op_end());
    else if (auto *Next = dyn_cast<FPMathOperator>(V); Next && Next->hasAllowReassoc())
      return true;
  }
  return false;
}

namespace {
/// A loop that polls: at the end of each pass, or each strip of passes.
struct Place {
  BasicBlock *Latch;
  DebugLoc Loc;
  GlobalVariable *State; ///< `struct place` of the run-time part.
  Value *Pending; ///< The requests that are pending in the strip; null if that is to be asked at
                  ///< the end of each.
  Value *Step;    ///< The passes of the strip; null for one.
};
} // namespace

static Value *pending(IRBuilder<> &B) {
  return B.CreateLoad(B.getInt32Ty(),
                      B.CreateThreadLocalAddress(pendingCount(*B.GetInsertBlock()->getModule())),
                      "overlap.pending");
}

/// True if a pass of `L` may start or end a request.
static bool mayStart(const Loop &L) {
  return any_of(L.blocks(), [](const BasicBlock *Block) {
    return any_of(*Block, [](const Instruction &I) {
      auto *Call = dyn_cast<CallBase>(&I);
      return Call && !isa<IntrinsicInst>(Call) && !Call->onlyReadsMemory();
    });
  });
}

/// What a place that polls goes by, in the module of `F`.
static GlobalVariable *stateFor(Function &F) {
  Type *Int = Type::getInt32Ty(F.getContext());
  auto *Of = StructType::get(F.getContext(), {Int, Int, Type::getInt64Ty(F.getContext())});
  return new GlobalVariable(*F.getParent(), Of, false, GlobalValue::InternalLinkage,
                            ConstantAggregateZero::get(Of), "overlap.place");
}

/// Where the loop `L` polls. Between strips, if its passes would feel a comparison; a loop around
/// others whose passes are long and one that calls need none, and less code is compiled faster.
static std::optional<Place> placeIn(Loop &L, FunctionAnalysisManager &FAM, Cost &Weights) {
  uint64_t Weight = passWeight(L, FAM, Weights);
  DebugLoc Loc = L.getStartLoc();
  if (L.isInnermost() && isReordered(L))
    return std::nullopt;
  Function &F = *L.getHeader()->getParent();
  bool Calls = mayStart(L), IsLong = !L.isInnermost() && Weight > StripWeight / 2;
  // What is inside may be unrolled, and then this one is the innermost.
  if (!Calls && !IsLong && !isReordered(L)) {
    // While nothing is pending the loop is one strip; else a strip goes on to the next poll.
    GlobalVariable *State = nullptr;
    Value *Pending = nullptr;
    auto LengthOf = [&](IRBuilder<> &B, Type *Int) -> Value * {
      State = stateFor(F);
      Pending = pending(B);
      Value *Left = B.CreateLoad(B.getInt32Ty(), State, "overlap.left");
      Left = B.CreateBinaryIntrinsic(Intrinsic::smax, Left, B.getInt32(1));
      return B.CreateSelect(B.CreateICmpSGT(Pending, B.getInt32(0)), B.CreateZExt(Left, Int),
                            Constant::getAllOnesValue(Int));
    };
    if (Strips Made = strip(L, FAM, LengthOf); Made.Header)
      return Place{Made.Latch, Loc, State, Pending, Made.Step};
  }
  BasicBlock *Latch = L.getLoopLatch();
  if ((!Calls && Weight < PassMin) || !Latch || !isa<BranchInst>(Latch->getTerminator()))
    return std::nullopt;
  return Place{Latch, Loc, stateFor(F), nullptr, nullptr};
}

static void pollAt(const Place &At, FunctionAnalysisManager &FAM, const Options &O) {
  Function &F = *At.Latch->getParent();
  Module &M = *F.getParent();
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  Instruction *End = At.Latch->getTerminator();
  IRBuilder<> B(End);
  Value *Pending = At.Pending ? At.Pending : pending(B);
  MDNode *Rarely = MDBuilder(F.getContext()).createBranchWeights(1, 10000);
  DomTreeUpdater Updater(DT, DomTreeUpdater::UpdateStrategy::Eager);
  B.SetInsertPoint(SplitBlockAndInsertIfThen(B.CreateICmpSGT(Pending, B.getInt32(0)), End, false,
                                             Rarely, &Updater, &LI));
  Function *Poll = runtime(M, "__overlap_poll_after");
  Value *Passes = At.Step ? B.CreateTrunc(At.Step, B.getInt32Ty()) : B.getInt32(1);
  B.CreateCall(Poll, {At.State, Passes, B.getInt64(uint64_t(O.PollUs) * 1000)})
      ->setCallingConv(Poll->getCallingConv());
}

/// True if `L` polls, or asks MPI for something else.
static bool asksAlready(const Loop &L) {
  return any_of(L.blocks(), [](const BasicBlock *Block) {
    return any_of(*Block, [](const Instruction &I) {
      auto *Call = dyn_cast<CallBase>(&I);
      const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      return Callee && (isMpiName(Callee->getName()) || Callee->getName().starts_with("overlap."));
    });
  });
}

/// The loops of `F` that poll from now on, of those that lie in `Only` if that is there.
static unsigned pollIn(Function &F, FunctionAnalysisManager &FAM, Cost &Weights, const Options &O,
                       const SmallPtrSetImpl<BasicBlock *> *Only = nullptr) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  if (LI.empty())
    return 0;
  auto IsInside = [&](const Loop &L) {
    return !Only || (all_of(L.blocks(), [&](BasicBlock *Block) { return Only->contains(Block); }) &&
                     !asksAlready(L));
  };
  SmallPtrSet<BasicBlock *, 8> Headers;
  for (Loop *L : LI.getLoopsInPreorder())
    if (IsInside(*L))
      Headers.insert(L->getHeader());
  if (Headers.empty())
    return 0;
  // Loops with a block before and exits of their own.
  bool Changed = false;
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  for (Loop *L : LI)
    Changed |= simplifyLoop(L, &DT, &LI, nullptr, nullptr, nullptr, false);
  if (Changed)
    FAM.clear(F, F.getName());
  SmallVector<Loop *, 8> Chosen;
  for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    if (!Headers.contains(L->getHeader()) ||
        (L->getParentLoop() && Headers.contains(L->getParentLoop()->getHeader())))
      continue;
    unsigned Before = Chosen.size();
    chooseLoops(*L, FAM, Weights, Chosen);
    if (Chosen.size() == Before && mayBeLong(*L, FAM, Weights))
      Chosen.push_back(L);
  }
  SmallVector<Place, 8> Places;
  for (Loop *L : Chosen)
    if (std::optional<Place> At = placeIn(*L, FAM, Weights))
      Places.push_back(*At);
  OptimizationRemarkEmitter ORE(&F);
  for (const Place &At : Places) {
    pollAt(At, FAM, O);
    ORE.emit([&] {
      OptimizationRemark R("overlap", "Polls", At.Loc, At.Latch);
      R << ore::NV("Call", "loop") << " polls while requests are pending, ";
      if (!At.Step)
        return R << "at the end of each pass";
      return R << "between strips of about " << ore::NV("Us", O.PollUs) << " us";
    });
  }
  if (Changed || !Places.empty())
    FAM.invalidate(F, PreservedAnalyses::none());
  return Places.size();
}

/// What was known of functions that do not poll does not hold for those that do, nor for their
/// callers.
static void forgetEffects(ArrayRef<Function *> Polling) {
  AttributeMask NoMore;
  for (auto Kind : {Attribute::Memory, Attribute::NoSync, Attribute::NoFree, Attribute::NoRecurse,
                    Attribute::WillReturn, Attribute::Speculatable, Attribute::NoCallback})
    NoMore.addAttribute(Kind);
  SetVector<Function *> Work(Polling.begin(), Polling.end());
  for (unsigned Idx = 0; Idx < Work.size(); ++Idx) {
    Work[Idx]->removeFnAttrs(NoMore);
    for (const Use &U : Work[Idx]->uses())
      if (auto *Call = dyn_cast<CallBase>(U.getUser()); Call && Call->isCallee(&U)) {
        Call->setAttributes(Call->getAttributes().removeFnAttributes(Call->getContext(), NoMore));
        Work.insert(Call->getFunction());
      }
  }
}

/// Polls in all functions of `M`, or in the blocks of `Only`, and counts around all calls of MPI if
/// there is such a loop or if other files may have some.
static bool pollIn(Module &M, FunctionAnalysisManager &FAM, const Options &O,
                   const OwnWindows *Only) {
  // A module that was compiled before it was linked is done already.
  if (O.Poll == Progress::Off || hasRuntime(M) || !isOfProgram(M) || isAllocator(M))
    return false;
  SmallVector<Function *, 16> Functions, Polling;
  for (Function &F : M)
    Functions.push_back(&F);
  Cost Weights(FAM);
  for (Function *F : Functions) {
    auto *Inside = Only ? Only->find(F) : nullptr;
    if (mayPoll(*F) && (!Only || Inside != Only->end()) &&
        pollIn(*F, FAM, Weights, O, Only ? &Inside->second : nullptr))
      Polling.push_back(F);
  }
  forgetEffects(Polling);
  if (Only && Polling.empty())
    return false;
  bool Changed = !Polling.empty();
  for (Function *F : Functions)
    if (!F->isDeclaration() && !F->isPresplitCoroutine() && countPending(*F)) {
      FAM.invalidate(*F, PreservedAnalyses::none());
      Changed = true;
    }
  return Changed;
}

bool pollEverywhere(Module &M, FunctionAnalysisManager &FAM, const Options &O) {
  return pollIn(M, FAM, O, nullptr);
}

bool pollInOwnWindows(Module &M, FunctionAnalysisManager &FAM, const Options &O) {
  OwnWindows Windows = findOwnWindows(M, FAM);
  return !Windows.empty() && pollIn(M, FAM, O, &Windows);
}

} // namespace overlap

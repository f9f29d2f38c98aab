/// \file
/// The pipeline, and where it hangs in LLVM's: `putOff`, `classify`, `split`, `hoist` and `sink`,
/// `startAhead`, `frontier`, `splitLoops`, `guardStarts`, `poll`, `undo`, one remark a call.
#include "Border.h"
#include "CleanUp.h"
#include "Cost.h"
#include "ErrorHandler.h"
#include "Existing.h"
#include "FillFirst.h"
#include "Frontier.h"
#include "Guard.h"
#include "Later.h"
#include "Lines.h"
#include "Options.h"
#include "PassLoop.h"
#include "Pipeline.h"
#include "PollEverywhere.h"
#include "Progress.h"
#include "Remarks.h"
#include "Split.h"
#include "Uniform.h"
#include "Versions.h"
#include "Widen.h"
#include "Wildcards.h"
#include "Wrapper.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include <cstdlib>

using namespace llvm;
using namespace overlap;

namespace {

/// Analyses of `F` as they are now.
Analyses analyses(Function &F, FunctionAnalysisManager &FAM, Effects &Fx) {
  return {FAM.getResult<DominatorTreeAnalysis>(F), FAM.getResult<PostDominatorTreeAnalysis>(F), FAM.getResult<LoopAnalysis>(F), Fx};
}

class OverlapPass : public PassInfoMixin<OverlapPass> {
public:
  explicit OverlapPass(const Options &Given) : Given(Given), O(Given) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM);

private:
  PreservedAnalyses convert(Module &M, ModuleAnalysisManager &MAM);
  void widen(Function &F, ArrayRef<Site *> Sites, FunctionAnalysisManager &FAM, OpenTwins &Twins, PollingCopies &Copies,
             std::vector<Site> &Widened);
  const Options Given;
  Options O; ///< As given, and what the module adds.
};

void OverlapPass::widen(Function &F, ArrayRef<Site *> Sites, FunctionAnalysisManager &FAM, OpenTwins &Twins, PollingCopies &Copies,
                        std::vector<Site> &Widened) {
  Cost Weights(FAM);
  // Loops with a block before and exits of their own are regions.
  simplifyLoops(F, FAM);
  std::vector<ExistingWait> Existing = findExisting(F, FAM.getResult<LoopAnalysis>(F));
  SmallVector<uint64_t, 4> Before;
  for (ExistingWait &E : Existing)
    Before.push_back(E.Whole.Waits.empty() ? 0 : Weights.window(E.Whole));
  for (Site *S : Sites)
    split(*S, O);
  std::vector<OpenCall> Opened = callOpen(F, Twins);
  SmallVector<Site *, 8> Pending(Sites);
  for (OpenCall &C : Opened)
    for (Site &S : C.Pending)
      Pending.push_back(&S);
  auto Remember = [&](Effects &Fx) {
    for (ExistingWait &Known : Existing) {
      for (Site &Head : Known.Heads)
        Fx.remember(Head.Init, Own::Init, &Known.Whole);
      for (CallInst *Wait : Known.Whole.Waits)
        Fx.remember(Wait, Own::Wait, &Known.Whole);
    }
    for (Site *Known : Pending) {
      // The callee may do more than start a message, so its call is no start.
      if (!Known->InCallee)
        Fx.remember(Known->Init, Own::Init, Known);
      for (CallInst *Wait : Known->Waits)
        Fx.remember(Wait, Own::Wait, Known);
    }
  };
  auto Each = [&](Site *S, auto Move) {
    Effects Fx(FAM.getResult<AAManager>(F), O);
    Remember(Fx);
    Analyses A = analyses(F, FAM, Fx);
    if (Move(*S, A))
      FAM.clear(F, F.getName());
  };
  FAM.clear(F, F.getName());
  for (Site *S : Sites)
    Each(S, [&](Site &S, Analyses &A) { return hoist(S, A, Weights, O); });
  for (ExistingWait &E : Existing)
    for (Site &Head : E.Heads)
      Each(&Head, [&](Site &S, Analyses &A) { return hoist(S, A, Weights, O); });
  for (ExistingWait &E : reverse(Existing))
    if (!E.Whole.Waits.empty())
      Each(&E.Whole, [&](Site &S, Analyses &A) { return sink(S, A, Weights, O); });
  // The last first: a wait that has sunk makes way for the one before.
  for (Site *S : reverse(Pending))
    Each(S, [&](Site &S, Analyses &A) { return sink(S, A, Weights, O); });
  if (O.Widen == Strength::Frontier) {
    SmallVector<Site *, 8> All(Pending);
    for (ExistingWait &E : Existing)
      if (!E.Whole.Waits.empty())
        All.push_back(&E.Whole);
    for (Site *S : Sites)
      Each(S, [&](Site &S, Analyses &A) { return startAhead(S, All, A, Weights, O); });
    for (Site *S : reverse(Pending))
      if (!S->StartsAhead)
        Each(S, [&](Site &S, Analyses &A) { return frontier(S, A); });
    splitLoops(F, All, FAM, Weights, O, Remember);
  }
  const size_t FirstExisting = Widened.size();
  for (unsigned Idx = 0; Idx < Existing.size(); ++Idx) {
    Site &S = Existing[Idx].Whole;
    if (S.Refused) {
      Widened.push_back(S);
      continue;
    }
    S.Weight = Weights.window(S);
    if (S.Weight < O.MinWeight || S.Weight <= Before[Idx])
      S.Refused = S.LoopRefused.value_or(S.Weight < O.MinWeight ? Refusal::SmallWindow : Refusal::AlreadyWide);
    Widened.push_back(S);
  }
  for (Site *S : Sites)
    Each(S, [&](Site &S, Analyses &A) { return S.Detail = stoppedBy(S, A.Fx), false; });
  {
    Effects Fx(FAM.getResult<AAManager>(F), O);
    Remember(Fx);
    guardStarts(Pending, Fx);
  }
  if (O.Widen != Strength::Basic)
    openAtReturn(F, Pending, Twins);
  for (Site *S : Sites) {
    S->Weight = Weights.window(*S);
    if (S->Weight < O.MinWeight && !S->StartsAhead) {
      undo(*S);
      S->Refused = S->LoopRefused.value_or(Refusal::SmallWindow);
    }
  }
  for (OpenCall &C : Opened) {
    uint64_t Weight = 0;
    for (Site &S : C.Pending) {
      S.Weight = Weights.window(S);
      Weight = std::max(Weight, S.Weight);
    }
    if (Weight < O.MinWeight)
      closeCall(C);
    else
      for (Site &S : C.Pending)
        Widened.push_back(S);
  }
  // Calls were replaced since the last look.
  FAM.clear(F, F.getName());
  // What nothing else hides. Loops that poll would be in strips.
  if (O.Widen == Strength::Frontier)
    fillFirst(F, FAM, Sites, MutableArrayRef(Widened).drop_front(FirstExisting), O);
  Polls Keeping(FAM, Weights, O, Copies);
  for (Site *S : Pending)
    if (S->converted()) {
      Keeping.insert(*S);
      FAM.clear(F, F.getName());
    }
  for (unsigned Idx = 0; Idx < Existing.size(); ++Idx) {
    Effects Fx(FAM.getResult<AAManager>(F), O);
    Keeping.insert(Existing[Idx], Fx);
    Widened[FirstExisting + Idx].Polls = Existing[Idx].Whole.Polls;
    FAM.clear(F, F.getName());
  }
}

PreservedAnalyses OverlapPass::run(Module &M, ModuleAnalysisManager &MAM) {
  if (Given.Calls == Conversion::None) {
    auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    return pollEverywhere(M, FAM, Given) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  PreservedAnalyses Kept = convert(M, MAM);
  return hideDefaultHandlers(M) ? PreservedAnalyses::none() : Kept;
}

PreservedAnalyses OverlapPass::convert(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  // A hazard in one file holds for the whole program: a start looks for this symbol.
  bool Hazard = moduleHazard(M).has_value();
  if (Hazard && !M.getNamedGlobal("__overlap_off"))
    new GlobalVariable(M, Type::getInt8Ty(M.getContext()), true, GlobalValue::WeakAnyLinkage,
                       ConstantInt::get(Type::getInt8Ty(M.getContext()), 1), "__overlap_off");
  // Some files were converted before they were linked, as with -funified-lto; what was made for them is not converted again.
  if (any_of(M, [](const Function &F) {
        return F.getName().starts_with("overlap.start.") || F.getName().starts_with("overlap.poll") ||
               F.getName().starts_with("overlap.later.");
      }))
    return Hazard ? PreservedAnalyses::none() : PreservedAnalyses::all();
  O = Given;
  bool PutOff = !Hazard && O.Widen == Strength::Frontier && putOff(M, FAM, O);
  std::vector<Site> Sites = classify(M, O);
  bool Fortran = false;
  SmallVector<Function *, 4> Ends;
  for (Function &F : M)
    if (findEnd(F.getName(), Fortran))
      Ends.push_back(&F);
  bool HasWaits = !Ends.empty();
  if (Sites.empty() && !HasWaits)
    return Hazard || PutOff ? PreservedAnalyses::none() : PreservedAnalyses::all();
  const Uniform Same(M);
  O = Given;
  O.NoWildcards = O.Sources == Wildcards::None || (O.Sources == Wildcards::Auto && Same.wholeProgram() && hasNoWildcards(M));
  for (Site &S : Sites) {
    if (S.Refused || S.Info->Kind != CallKind::Collective)
      continue;
    if (O.Convert == Collectives::Uniform) {
      S.Refused = Same.refuseUniform(S);
      continue;
    }
    S.Refused = Same.refuse(S);
    if (S.Refused == Refusal::OpaqueProgram)
      S.Detail = "one of them is " + Same.opaque().str();
  }
  MapVector<Function *, SmallVector<Site *, 8>> OfFunction;
  // Functions with nonblocking calls of their own, unless a hazard is in the program.
  for (Function *Wait : Ends)
    if (!Hazard)
      for (User *U : Wait->users())
        if (auto *Call = dyn_cast<CallInst>(U); Call && !Call->getFunction()->hasOptNone() &&
                                                !Call->getFunction()->callsFunctionThatReturnsTwice() &&
                                                !Call->getFunction()->isPresplitCoroutine())
          OfFunction[Call->getFunction()];
  for (Site &S : Sites)
    if (!S.Refused)
      OfFunction[S.Caller].push_back(&S);
  std::vector<Site> Widened;
  // Functions before those who call them, so that a wait can climb.
  OpenTwins Twins;
  PollingCopies Copies(M);
  CallGraph Graph(M);
  for (auto It = scc_begin(&Graph); !It.isAtEnd(); ++It)
    for (CallGraphNode *Node : *It) {
      Function *F = Node->getFunction();
      if (!F || F->isDeclaration())
        continue;
      bool CallsOpen = !Hazard && !F->hasOptNone() && !F->callsFunctionThatReturnsTwice() && !F->isPresplitCoroutine() &&
                       any_of(*Node, [&](auto &Edge) { return Edge.second->getFunction() && Twins.contains(Edge.second->getFunction()); });
      if (OfFunction.contains(F) || CallsOpen)
        widen(*F, OfFunction.contains(F) ? ArrayRef<Site *>(OfFunction[F]) : ArrayRef<Site *>(), FAM, Twins, Copies, Widened);
    }
  for (const Site &S : Sites) {
    // What a caller finishes is told there.
    bool Elsewhere = S.Refused && Twins.contains(S.Caller) &&
                     any_of(Widened, [&](const Site &W) { return W.InCallee && W.Loc == S.Loc && W.Info == S.Info; });
    if (!Elsewhere && !S.FilledFirst)
      remark(S, O);
  }
  for (const Site &S : Widened)
    if (!S.FilledFirst)
      remark(S, O);
  eraseUnused(Twins, FAM);
  return OfFunction.empty() && !Hazard && !PutOff ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

/// Options of the environment; what is wrong with them is said once and ignored.
Options fromEnvironment() {
  std::string Error;
  const char *Text = std::getenv("MEANWHILE_OVERLAP");
  Options O = Options::parse(Text ? Text : "", Error);
  static bool Said = false;
  if (!Error.empty() && !Said) {
    errs() << "warning: overlap: MEANWHILE_OVERLAP has unknown settings: " << Error << "\n";
    Said = true;
  }
  return O;
}

/// The first half of a full LTO build; the work is done when the whole program is there.
bool beforeLink(const Module &M) { return M.getModuleFlag("ThinLTO") != nullptr; }

class BeforeVectorisation : public PassInfoMixin<BeforeVectorisation> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    Options O = fromEnvironment();
    // Polls need nothing of the rest of the program.
    bool Now = !beforeLink(M) || O.Calls == Conversion::None;
    return Now ? OverlapPass(O).run(M, MAM) : PreservedAnalyses::all();
  }
};

/// What later stages ask for and cannot see any more.
class Note : public PassInfoMixin<Note> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    noteWildcards(M);
    noteLines(M, fromEnvironment());
    return PreservedAnalyses::all();
  }
};

/// Behind all remarks. No analysis looks at line numbers.
class DropLines : public PassInfoMixin<DropLines> {
public:
  explicit DropLines(bool AtLink) : AtLink(AtLink) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    if (AtLink || !beforeLink(M))
      dropLines(M);
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  bool AtLink;
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "overlap", "1", [](PassBuilder &PB) {
            PB.registerPipelineStartEPCallback([](ModulePassManager &MPM, OptimizationLevel) { MPM.addPass(Note()); });
            PB.registerOptimizerEarlyEPCallback([](ModulePassManager &MPM, OptimizationLevel Level, auto...) {
              if (Level != OptimizationLevel::O0)
                MPM.addPass(BeforeVectorisation());
              MPM.addPass(DropLines(/*AtLink=*/false));
            });
            PB.registerFullLinkTimeOptimizationLastEPCallback([](ModulePassManager &MPM, OptimizationLevel Level) {
              Options O = fromEnvironment();
              if (Level != OptimizationLevel::O0 && O.Calls != Conversion::None)
                MPM.addPass(OverlapPass(O));
              MPM.addPass(DropLines(/*AtLink=*/true));
              // Functions that only twins or copies call in their place; no pass behind this one removes them.
              MPM.addPass(GlobalDCEPass());
            });
            PB.registerPipelineParsingCallback([](StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
              if (!Name.consume_front("overlap"))
                return false;
              Options O = fromEnvironment();
              if (Name.consume_front("<") && Name.consume_back(">")) {
                std::string Error;
                O = Options::parse(Name, Error);
                if (!Error.empty()) {
                  errs() << "error: overlap: unknown settings: " << Error << "\n";
                  return false;
                }
              } else if (!Name.empty()) {
                return false;
              }
              MPM.addPass(OverlapPass(O));
              return true;
            });
          }};
}

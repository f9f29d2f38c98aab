/// \file
/// The pipeline, and where it hangs in LLVM's: `classify`, `split`, `hoist` and `sink`,
/// `frontier`, `poll`, `undo`, one remark a call.
#include "CleanUp.h"
#include "Cost.h"
#include "Existing.h"
#include "Frontier.h"
#include "Options.h"
#include "Progress.h"
#include "Remarks.h"
#include "Split.h"
#include "Uniform.h"
#include "Widen.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include <cstdlib>

using namespace llvm;
using namespace overlap;

namespace {

/// Analyses of `F` as they are now.
Analyses analyses(Function &F, FunctionAnalysisManager &FAM, Effects &Fx) {
  return {FAM.getResult<DominatorTreeAnalysis>(F), FAM.getResult<PostDominatorTreeAnalysis>(F),
          FAM.getResult<LoopAnalysis>(F), Fx};
}

class OverlapPass : public PassInfoMixin<OverlapPass> {
public:
  explicit OverlapPass(const Options &Given) : Given(Given), O(Given) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM);

private:
  void widen(Function &F, ArrayRef<Site *> Sites, FunctionAnalysisManager &FAM, std::vector<Site> &Widened);
  const Options Given;
  Options O; ///< As given, and what the module adds.
};

void OverlapPass::widen(Function &F, ArrayRef<Site *> Sites, FunctionAnalysisManager &FAM, std::vector<Site> &Widened) {
  Cost Weights(FAM);
  // Loops with a block before and exits of their own are regions.
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  for (Loop *L : LI)
    simplifyLoop(L, &DT, &LI, nullptr, nullptr, nullptr, false);
  std::vector<ExistingWait> Existing = findExisting(F, LI);
  SmallVector<uint64_t, 4> Before;
  for (ExistingWait &E : Existing)
    Before.push_back(Weights.window(E.Whole));
  for (Site *S : Sites)
    split(*S, O);
  auto Each = [&](Site *S, auto Move) {
    Effects Fx(FAM.getResult<AAManager>(F), O);
    for (ExistingWait &Known : Existing) {
      for (CallInst *Start : Known.Starts)
        Fx.remember(Start, Own::Init, &Known.Whole);
      Fx.remember(Known.Whole.Waits.front(), Own::Wait, &Known.Whole);
    }
    for (Site *Known : Sites) {
      Fx.remember(Known->Init, Own::Init, Known);
      for (CallInst *Wait : Known->Waits)
        Fx.remember(Wait, Own::Wait, Known);
    }
    Analyses A = analyses(F, FAM, Fx);
    if (Move(*S, A))
      FAM.clear(F, F.getName());
  };
  FAM.clear(F, F.getName());
  for (Site *S : Sites)
    Each(S, [&](Site &S, Analyses &A) { return hoist(S, A, Weights, O); });
  for (ExistingWait &E : Existing)
    if (E.Starts.size() == 1)
      Each(&E.Whole, [&](Site &S, Analyses &A) { return hoist(S, A, Weights, O); });
  for (ExistingWait &E : reverse(Existing))
    Each(&E.Whole, [&](Site &S, Analyses &A) { return sink(S, A, Weights, O); });
  // The last first: a wait that has sunk makes way for the one before.
  for (Site *S : reverse(Sites))
    Each(S, [&](Site &S, Analyses &A) { return sink(S, A, Weights, O); });
  if (O.Widen == Strength::Frontier)
    for (Site *S : reverse(Sites))
      Each(S, [&](Site &S, Analyses &A) { return frontier(S, A); });
  for (unsigned Idx = 0; Idx < Existing.size(); ++Idx) {
    Site &S = Existing[Idx].Whole;
    S.Weight = Weights.window(S);
    if (S.Weight <= Before[Idx] || S.Weight < O.MinWeight)
      S.Refused = Refusal::SmallWindow;
    Widened.push_back(S);
  }
  for (Site *S : Sites)
    Each(S, [&](Site &S, Analyses &A) { return S.Detail = stoppedBy(S, A.Fx), false; });
  for (Site *S : Sites) {
    S->Weight = Weights.window(*S);
    if (S->Weight < O.MinWeight) {
      undo(*S);
      S->Refused = Refusal::SmallWindow;
    }
  }
  Polls Keeping(FAM, Weights, O);
  for (Site *S : Sites)
    if (S->converted()) {
      Keeping.insert(*S);
      FAM.clear(F, F.getName());
    }
}

PreservedAnalyses OverlapPass::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  // A hazard in one file holds for the whole program: a start looks for this symbol.
  bool Hazard = moduleHazard(M).has_value();
  if (Hazard && !M.getNamedGlobal("__overlap_off"))
    new GlobalVariable(M, Type::getInt8Ty(M.getContext()), true, GlobalValue::WeakAnyLinkage,
                       ConstantInt::get(Type::getInt8Ty(M.getContext()), 1), "__overlap_off");
  std::vector<Site> Sites = classify(M, O);
  if (Sites.empty() && !M.getFunction("MPI_Wait") && !M.getFunction("MPI_Waitall"))
    return Hazard ? PreservedAnalyses::none() : PreservedAnalyses::all();
  const Uniform Same(M);
  O = Given;
  O.NoWildcards |= Same.noWildcards();
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
  for (const char *Name : {"MPI_Wait", "MPI_Waitall"})
    if (Function *Wait = M.getFunction(Name); Wait && !Hazard)
      for (User *U : Wait->users())
        if (auto *Call = dyn_cast<CallInst>(U); Call && !Call->getFunction()->hasOptNone() &&
                                                !Call->getFunction()->callsFunctionThatReturnsTwice() &&
                                                !Call->getFunction()->isPresplitCoroutine())
          OfFunction[Call->getFunction()];
  for (Site &S : Sites)
    if (!S.Refused)
      OfFunction[S.Caller].push_back(&S);
  std::vector<Site> Widened;
  for (auto &[F, OfThis] : OfFunction)
    widen(*F, OfThis, FAM, Widened);
  for (const Site &S : Sites)
    remark(S, O);
  for (const Site &S : Widened)
    remark(S, O);
  return OfFunction.empty() && !Hazard ? PreservedAnalyses::all() : PreservedAnalyses::none();
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
    return beforeLink(M) ? PreservedAnalyses::all() : OverlapPass(fromEnvironment()).run(M, MAM);
  }
};

class NoteWildcards : public PassInfoMixin<NoteWildcards> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    noteWildcards(M);
    return PreservedAnalyses::all();
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "overlap", "1", [](PassBuilder &PB) {
            PB.registerPipelineStartEPCallback(
                [](ModulePassManager &MPM, OptimizationLevel) { MPM.addPass(NoteWildcards()); });
            PB.registerOptimizerEarlyEPCallback([](ModulePassManager &MPM, OptimizationLevel Level) {
              if (Level != OptimizationLevel::O0)
                MPM.addPass(BeforeVectorisation());
            });
            PB.registerFullLinkTimeOptimizationLastEPCallback([](ModulePassManager &MPM, OptimizationLevel Level) {
              if (Level != OptimizationLevel::O0)
                MPM.addPass(OverlapPass(fromEnvironment()));
            });
            PB.registerPipelineParsingCallback(
                [](StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
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

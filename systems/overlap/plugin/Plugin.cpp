/// \file
/// What is done to a module, and where it hangs in LLVM's pipeline: `putOff`, `classify`, the
/// stages of each function, one remark a call.
#include "Across.h"
#include "CleanUp.h"
#include "ErrorHandler.h"
#include "Fortran08.h"
#include "HoldLoops.h"
#include "Later.h"
#include "Lines.h"
#include "Options.h"
#include "Ordinary.h"
#include "PollEverywhere.h"
#include "Remarks.h"
#include "Runtime.h"
#include "Stages.h"
#include "Together.h"
#include "Versions.h"
#include "WholeProgram.h"
#include "Wildcards.h"
#include "Wrapper.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include <cstdlib>

using namespace llvm;
using namespace overlap;

namespace {

class OverlapPass : public PassInfoMixin<OverlapPass> {
public:
  explicit OverlapPass(const Options &Given) : Given(Given), O(Given) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM);

private:
  PreservedAnalyses convert(Module &M, ModuleAnalysisManager &MAM);
  const Options Given;
  Options O; ///< As given, and what the module adds.
};

PreservedAnalyses OverlapPass::run(Module &M, ModuleAnalysisManager &MAM) {
  if (Given.Calls == Conversion::None) {
    auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    return pollEverywhere(M, FAM, Given) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  return convert(M, MAM);
}

/// Invokes of MPI become calls in all functions; true if there were any.
static bool callMpiIn(Module &M, FunctionAnalysisManager &FAM) {
  bool Changed = false;
  for (Function &F : M)
    if (callMpi(F)) {
      FAM.clear(F, F.getName());
      Changed = true;
    }
  return Changed;
}

/// A hazard in one file holds for the whole program: a start looks for this symbol. True if there
/// is one.
static bool switchOff(Module &M) {
  bool Hazard = moduleHazard(M).has_value();
  if (Hazard && !M.getNamedGlobal("__overlap_off"))
    new GlobalVariable(M, Type::getInt8Ty(M.getContext()), true, GlobalValue::WeakAnyLinkage,
                       ConstantInt::get(Type::getInt8Ty(M.getContext()), 1), "__overlap_off");
  return Hazard;
}

/// Some files were converted before they were linked, as with -funified-lto; what was made for them
/// is not converted again.
static bool wasConverted(const Module &M) {
  return any_of(M, [](const Function &F) {
    StringRef Name = F.getName();
    return Name.starts_with("overlap.start.") || Name.starts_with("overlap.poll") ||
           Name.starts_with("overlap.later.");
  });
}

PreservedAnalyses OverlapPass::convert(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Hazard = switchOff(M);
  if (wasConverted(M))
    return Hazard ? PreservedAnalyses::none() : PreservedAnalyses::all();
  O = Given;
  // A start asks about these, what moves without asking cannot.
  const bool SetsHandler = setsHandler(M);
  const bool MayMove = !Hazard && !SetsHandler && !isLevelUnknown(M);
  O.MovesOwn = MayMove;
  O.NoThrow = !Hazard && (O.NeverThrow || (!SetsHandler && isWholeProgram(M)));
  bool Changed = Hazard || (O.NoThrow && callMpiIn(M, FAM));
  O.NoWildcards = O.Sources == Wildcards::None ||
                  (O.Sources == Wildcards::Auto && isWholeProgram(M) && hasNoWildcards(M));
  if (MayMove && O.Widen == Strength::Frontier) {
    // With the whole program there is no other file.
    Changed |= !O.AtLink && offerTwins(M, FAM, O);
    Changed |= putOff(M, FAM, O);
    Changed |= bringTogether(M, FAM, O);
    Changed |= !O.AtLink && callTwins(M, FAM, O);
  }
  std::vector<Site> Sites = classify(M, O);
  erase_if(Sites, [](const Site &S) { return isOurs(*S.Caller); });
  for (Site &S : Sites)
    if (!S.Refused && hasSeveralEntries(*S.Caller, FAM))
      S.Refused = Refusal::SeveralEntries;
  bool Fortran = false;
  SmallVector<Function *, 4> Ends;
  for (Function &F : M)
    if (findEnd(F.getName(), Fortran))
      Ends.push_back(&F);
  if (Sites.empty() && Ends.empty())
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  MapVector<Function *, SmallVector<Site *, 8>> OfFunction;
  // Functions with nonblocking calls of their own, unless a hazard is in the program.
  for (Function *Wait : Ends)
    for (User *U : Wait->users())
      if (auto *Call = dyn_cast<CallBase>(U);
          Call && MayMove && isOptimised(*Call->getFunction()) && !isOurs(*Call->getFunction()))
        OfFunction[Call->getFunction()];
  for (Site &S : Sites)
    if (!S.Refused)
      OfFunction[S.Caller].push_back(&S);
  std::vector<Site> Widened;
  // Functions before their callers, so that a wait can climb.
  OpenTwins Twins;
  PollingCopies Copies(M);
  CallGraph Graph(M);
  for (auto It = scc_begin(&Graph); !It.isAtEnd(); ++It)
    for (CallGraphNode *Node : *It) {
      Function *F = Node->getFunction();
      if (!F || F->isDeclaration())
        continue;
      bool CallsOpen = !Hazard && any_of(*Node, [&](auto &Edge) {
        return Edge.second->getFunction() && Twins.contains(Edge.second->getFunction());
      });
      if (!OfFunction.contains(F) && !(CallsOpen && isOrdinary(*F, FAM)))
        continue;
      ArrayRef<Site *> Own =
          OfFunction.contains(F) ? ArrayRef<Site *>(OfFunction[F]) : ArrayRef<Site *>();
      FunctionState State(*F, Own, FAM, O, Twins, Copies, Widened);
      runStages(State);
    }
  for (const Site &S : Sites) {
    // What a caller finishes is told there.
    bool Elsewhere = S.Refused && Twins.contains(S.Caller) && any_of(Widened, [&](const Site &W) {
                       return W.InCallee && W.Loc == S.Loc && W.Info == S.Info;
                     });
    if (!Elsewhere && !S.FilledFirst)
      remark(S, O);
  }
  for (const Site &S : Widened)
    if (!S.FilledFirst)
      remark(S, O);
  eraseUnused(Twins, FAM);
  Changed |= !OfFunction.empty();
  Changed |= !Hazard && pollInOwnWindows(M, FAM, O);
  forgetUnused(M);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
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
    if (!beforeLink(M) || O.Calls == Conversion::None)
      return OverlapPass(O).run(M, MAM);
    auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    if (!O.KeepLoops)
      holdLoops(M, FAM);
    return PreservedAnalyses::all();
  }
};

/// Behind the linker's, loops are like any other.
class Release : public PassInfoMixin<Release> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    releaseLoops(M);
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

/// Before anything else: calls of MPI get their names, and what later stages ask for and cannot see
/// any more is noted.
class Note : public PassInfoMixin<Note> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    bool Changed = callLibrary(M);
    noteWildcards(M);
    noteLines(M, fromEnvironment());
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
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

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "overlap", "1", [](PassBuilder &PB) {
            PB.registerPipelineStartEPCallback(
                [](ModulePassManager &MPM, OptimizationLevel) { MPM.addPass(Note()); });
            PB.registerOptimizerEarlyEPCallback(
                [](ModulePassManager &MPM, OptimizationLevel Level, auto...) {
                  if (Level != OptimizationLevel::O0)
                    MPM.addPass(BeforeVectorisation());
                  MPM.addPass(DropLines(/*AtLink=*/false));
                });
            PB.registerFullLinkTimeOptimizationEarlyEPCallback([&PB](ModulePassManager &MPM,
                                                                     OptimizationLevel Level) {
              Options O = fromEnvironment();
              O.AtLink = true;
              if (Level != OptimizationLevel::O0 && O.Calls != Conversion::None) {
                // What only other files called is gone, and functions of other files are
                // inlined; loops are not vectorised yet.
                MPM.addPass(GlobalDCEPass());
                MPM.addPass(PB.buildInlinerPipeline(Level, ThinOrFullLTOPhase::FullLTOPostLink));
                MPM.addPass(GlobalDCEPass());
                MPM.addPass(OverlapPass(O));
              }
              MPM.addPass(Release());
              MPM.addPass(DropLines(/*AtLink=*/true));
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

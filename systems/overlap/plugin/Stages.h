/// \file
/// What is done to a function with calls to convert, as a list of stages over one state.
///
/// `opt -passes='overlap<stages=hoist+sink>'` runs those named and those that the result needs to
/// be right. With assertions, the function is verified behind each; `-debug-only=overlap` prints it
/// there.
#ifndef OVERLAP_STAGES_H
#define OVERLAP_STAGES_H

#include "Cost.h"
#include "Effects.h"
#include "Existing.h"
#include "Options.h"
#include "Progress.h"
#include "Widen.h"
#include "Wrapper.h"

namespace overlap {

/// What the stages know of a function.
struct FunctionState {
  llvm::Function &F;
  llvm::ArrayRef<Site *> Sites; ///< Blocking calls to convert.
  llvm::FunctionAnalysisManager &FAM;
  const Options &O;
  OpenTwins &Twins;
  PollingCopies &Copies;
  std::vector<Site> &Widened; ///< What is told of the program's own requests and of callees.

  FunctionState(llvm::Function &F, llvm::ArrayRef<Site *> Sites, llvm::FunctionAnalysisManager &FAM,
                const Options &O, OpenTwins &Twins, PollingCopies &Copies,
                std::vector<Site> &Widened)
      : F(F), Sites(Sites), FAM(FAM), O(O), Twins(Twins), Copies(Copies), Widened(Widened) {}

  Cost Weights{FAM};
  std::vector<ExistingWait> Existing;    ///< Requests of the program's own.
  llvm::SmallVector<uint64_t, 4> Before; ///< The weights of their windows as they were.
  std::vector<OpenCall> Opened;          ///< Calls that leave messages pending.
  llvm::SmallVector<Site *, 8> Pending;  ///< `Sites`, and what those calls leave.
  size_t FirstExisting = 0;              ///< Of `Widened`.

  /// Tells `Fx` which calls are those of the sites.
  void remember(Effects &Fx);

  /// Moves calls of one site, with analyses of the function as it is now.
  void each(Site &S, llvm::function_ref<bool(Site &, Analyses &)> Move);

  /// The windows that may be widened: `Pending`, and the program's own that have a wait.
  llvm::SmallVector<Site *, 8> all();
};

/// Runs all stages that `State.O` asks for.
void runStages(FunctionState &State);

/// True if there is a stage of this name that may be left out.
bool isStage(llvm::StringRef Name);

} // namespace overlap
#endif

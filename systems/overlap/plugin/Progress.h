/// \file
/// Keeps a message moving: loops inside a window ask MPI_Test at a bounded rate.
///
///   start(d);                        start(d);
///   for (i...)                       for (i in strips of `passes`) {
///     for (j...) work();    --->       for (i in the strip)
///   wait(d);                             for (j...) work();
///                                      passes = overlap.poll(state, rate);
///                                    }
///                                    wait(d);
///
/// The loop that polls is the innermost one around an innermost loop whose one pass is long enough;
/// innermost loops stay as they are, so that they vectorise. A strip is as many passes as may go by
/// until the next poll, so that the passes are not counted; a loop whose length is not known when
/// it begins counts them. An innermost loop that stands alone is cut into strips of a fixed length.
/// A function that takes much of a window is copied, and the copy polls, as long as the copies of a
/// module stay small; behind other long calls stands a call of `overlap.tick`, which counts and
/// polls.
///
/// Needs:    windows at their final size.
/// Keeps:    what the program computes; MPI_Test starts nothing.
/// Costs:    a clock call and a test about every poll-us microseconds, a counter where there are no
/// strips.
#ifndef OVERLAP_PROGRESS_H
#define OVERLAP_PROGRESS_H

#include "Cost.h"
#include "Effects.h"
#include "Existing.h"
#include "llvm/IR/Module.h"
#include <map>

namespace overlap {

/// Functions of a module that poll, and how many more may be made.
class PollingCopies {
public:
  explicit PollingCopies(const llvm::Module &M);

private:
  friend class Polls;
  struct Copy {
    llvm::Function *F = nullptr;
    unsigned Polls = 0;
  };
  /// By function and language of the binding.
  std::map<std::pair<llvm::Function *, bool>, Copy> Made;
  uint64_t Left; ///< In instructions.
};

class Polls {
public:
  Polls(llvm::FunctionAnalysisManager &FAM, Cost &Weights, const Options &O, PollingCopies &Copies)
      : FAM(FAM), Weights(Weights), O(O), Copies(Copies) {}

  /// Puts polls into the window of `S`.
  void insert(Site &S);

  /// Puts polls into the largest window of the program's own calls. None if the window holds a call
  /// that could give MPI to another thread.
  void insert(ExistingWait &E, Effects &Fx);

private:
  /// Where a window polls.
  struct Place {
    llvm::Loop *L;            ///< At the end of each of its passes.
    llvm::AllocaInst *Rate;   ///< What the rate of the polls goes by.
    llvm::AllocaInst *Passes; ///< Until the next poll.
    llvm::Value *Left; ///< Passes at the end of a pass, which is a strip of them then; null: they
                       ///< are counted one by one.
  };

  std::pair<llvm::AllocaInst *, llvm::AllocaInst *> rate(llvm::Function &F,
                                                         llvm::Instruction *Start);
  llvm::SmallVector<Place, 4> places(llvm::Function &F, llvm::Instruction *Start,
                                     llvm::function_ref<bool(llvm::Loop &)> Inside);
  void insertAt(const Place &At, llvm::Value *State, const Binding &B, unsigned &Count);
  void insertAround(llvm::ArrayRef<llvm::CallInst *> Calls, Site &S);
  bool hasLongLoop(llvm::Function &F);
  llvm::Function *copyOf(llvm::Function &F, const Binding &B, unsigned &Count);

  llvm::FunctionAnalysisManager &FAM;
  Cost &Weights;
  const Options &O;
  PollingCopies &Copies;
};

} // namespace overlap
#endif

/// \file
/// Keeps a message moving: loops inside a window ask MPI_Test at a bounded rate.
///
///   start(d);                        start(d);
///   for (i...)                       for (i...) {
///     for (j...) work();    --->       for (j...) work();
///   wait(d);                           if (--passes <= 0) passes = overlap.poll(state, rate);
///                                    }
///                                    wait(d);
///
/// A poll stands in the innermost loop around an innermost loop whose one pass is long enough for
/// the counter not to matter; innermost loops stay as they are, so that they vectorise. An innermost
/// loop that stands alone is cut into strips, and the poll stands between two strips. A function
/// that takes much of a window is copied, and the copy polls, as long as the copies of a module stay
/// small; behind other long calls stands a call of `overlap.tick`, which counts and polls.
///
/// Needs:    windows at their final size.
/// Keeps:    what the program computes; MPI_Test starts nothing.
/// Costs:    a counter a pass, a clock call and a test about every poll-us microseconds.
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

  /// Puts polls into the largest window of the program's own calls. None if the window holds a call that could give
  /// MPI to another thread.
  void insert(ExistingWait &E, Effects &Fx);

private:
  std::pair<llvm::AllocaInst *, llvm::AllocaInst *> rate(llvm::Function &F, llvm::Instruction *Start);
  void insertInto(llvm::Loop &L, llvm::Instruction *Start, llvm::Value *State, const Binding &B, unsigned &Count);
  void insertAround(llvm::ArrayRef<llvm::CallInst *> Calls, Site &S);
  void choose(llvm::Loop &L, llvm::SmallVectorImpl<llvm::Loop *> &Chosen);
  llvm::SmallVector<llvm::Loop *, 4> chooseOrStrip(llvm::Function &F, llvm::function_ref<bool(llvm::Loop &)> Inside);
  llvm::BasicBlock *strip(llvm::Loop &L);
  uint64_t pass(llvm::Loop &L);
  bool mayBeLong(llvm::Function &F);
  llvm::Function *copyOf(llvm::Function &F, const Binding &B, unsigned &Count);

  llvm::FunctionAnalysisManager &FAM;
  Cost &Weights;
  const Options &O;
  PollingCopies &Copies;
};

} // namespace overlap
#endif

/// \file
/// What follows a loop, as far as passes of it may be left: where they have to run at the latest,
/// and the messages that may be under way meanwhile.
///
/// Needs:    a loop that `PassLoop` has checked.
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_BEHIND_H
#define OVERLAP_BEHIND_H

#include "Classify.h"
#include "PassLoop.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"

namespace overlap {

/// An address that is compared when the program runs.
struct Guarded {
  llvm::Instruction *Before;
  llvm::Value *Ptr;
  uint64_t Bytes;
};

/// What follows a loop, as far as passes of it may be left.
class Behind {
public:
  Behind(PassLoop &P, llvm::AAResults &AA,
         const llvm::MapVector<llvm::CallInst *, Site *> &Blocking)
      : P(P), AA(AA), Blocking(Blocking) {}

  /// True if a message is found that the loop fills.
  bool find();

  llvm::SmallSetVector<llvm::CallInst *, 4>
      Fills; ///< Blocking calls whose message is under way while the others run.
  llvm::SmallSetVector<llvm::CallInst *, 4>
      Starts; ///< Of the program's own messages that are sent.
  llvm::SmallSetVector<llvm::CallInst *, 4>
      Waits; ///< Of the program: in front of them all that is left runs, with polls.
  llvm::SmallSetVector<llvm::Instruction *, 8> Ends; ///< In front of which all that is left runs.
  llvm::SmallVector<Guarded, 8> Guards;
  /// Datatypes in variables of what is received: only one of MPI's own stays in its buffer.
  llvm::SmallVector<std::pair<llvm::CallInst *, llvm::Value *>, 2> Received;
  std::optional<Binding> Bind; ///< Of all these calls.

private:
  enum class Verdict { Passes, Guards, Ends };

  Verdict verdict(llvm::Instruction &I);
  Verdict verdictOfCall(llvm::CallInst &Call);
  Verdict verdictOfStart(llvm::CallInst &Call, llvm::StringRef Name);
  Verdict reads(llvm::Instruction &I, const llvm::MemoryLocation &Loc);
  Verdict writes(const llvm::MemoryLocation &Loc) {
    return isApart(Loc, /*FromWritten=*/false) ? Verdict::Passes : Verdict::Ends;
  }
  /// What an MPI call does to the memory of its arguments, but for what it sends from `Sent`.
  Verdict verdictOfArguments(llvm::CallInst &Call, const CallInfo &Info, const Binding &Bind,
                             bool Starts);
  bool isApart(const llvm::MemoryLocation &Loc, bool FromWritten);
  llvm::MemoryLocation message(llvm::Value *Buffer);
  bool isFilled(llvm::Value *Buffer) { return !isApart(message(Buffer), /*FromWritten=*/true); }
  /// True if each pass writes to the message that `Call` sends, so that none could be left when it
  /// starts.
  bool isFilledByEach(const llvm::CallInst &Call, const CallInfo &Info, const Binding &Bind) const;
  void walk(llvm::BasicBlock *Block);
  void follow(llvm::BasicBlock *From, llvm::BasicBlock *To);

  PassLoop &P;
  llvm::AAResults &AA;
  const llvm::MapVector<llvm::CallInst *, Site *> &Blocking;
  llvm::SmallPtrSet<llvm::BasicBlock *, 16> Reached;
  llvm::SmallVector<llvm::BasicBlock *, 16> Work;
  llvm::SmallVector<Guarded, 2> Asked; ///< Of the instruction that is looked at.
};

} // namespace overlap
#endif

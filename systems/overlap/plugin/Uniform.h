/// \file
/// What is the same on every rank: a forward analysis over the whole program that tells which
/// blocks every rank reaches equally often and in the same order.
///
///   MPI_Comm_rank(comm, &rank);       rank differs
///   if (rank == 0) f();               the block differs, and f, and whatever f stores
///   MPI_Allreduce(&x, &y, ...);       y is the same again
///   while (y > eps) MPI_Bcast(...);   this site is passed by all alike
///
/// A collective is converted only where it is passed by all ranks alike, and with it every other
/// call of its kind: then the calls of this kind form the same sequence on each rank, so that a
/// converted call meets the same converted call.
///
/// Needs:    the whole program: `main`, and no function defined elsewhere that could call MPI.
///           All ranks run one executable with the same arguments and environment.
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_UNIFORM_H
#define OVERLAP_UNIFORM_H

#include "Classify.h"
#include "Meets.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace overlap {

class Uniform {
public:
  explicit Uniform(llvm::Module &M);

  /// Why the collective `S` may not be converted, if so.
  std::optional<Refusal> refuse(const MessageCall &S) const;

  /// Where ranks part on the way to `S`, which is `RankDependent`; empty if no line is known.
  std::string condition(const MessageCall &S) const;

  /// Why `S` may not be converted even if the shim makes every other collective nonblocking.
  std::optional<Refusal> refuseUniform(const MessageCall &S) const;

  /// True if the module is the whole program.
  bool wholeProgram() const { return Main && Opaque.empty(); }

  /// A function defined elsewhere that could call MPI, if there is one.
  llvm::StringRef opaque() const { return Opaque; }

private:
  void analyse();
  bool visit(const llvm::Instruction &I);
  bool visitFunction(const llvm::Function &F);
  bool differs(const llvm::Value *V) const { return Differing.contains(V); }
  bool mark(const llvm::Value *V) { return Differing.insert(V).second; }
  bool markBlock(const llvm::BasicBlock *B, const llvm::Instruction *Because) {
    return DifferingBlocks.try_emplace(B, Because).second;
  }
  bool callDiffers(const llvm::CallBase &Call) const;
  bool loadDiffers(const llvm::Value *Ptr) const;
  bool writes(const llvm::Value *Ptr, bool ValueDiffers, const llvm::BasicBlock *Where);
  bool visitCall(const llvm::CallBase &Call);
  bool untrack(const llvm::Value *V);
  bool influence(const llvm::BasicBlock *Branching);
  bool knownCommunicator(const Binding &B, const llvm::Value *Comm, unsigned Depth) const;

  llvm::Module &M;
  const llvm::Function *Main = nullptr;
  std::string Opaque;
  llvm::DenseSet<const llvm::Value *> Differing; ///< Values, and objects by their contents.
  /// Blocks that not every rank comes through, each with the end of the block where they part.
  llvm::DenseMap<const llvm::BasicBlock *, const llvm::Instruction *> DifferingBlocks;
  llvm::DenseSet<const llvm::Value *> Untracked; ///< Objects that something unknown may write.
  Meets Meeting;
};

} // namespace overlap
#endif

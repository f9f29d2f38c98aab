/// \file
/// `look(values, list, from, to)`: what the passes [from, to) of a loop may not do yet, as bits. It
/// is a copy of the loop without what it computes: it finds what these passes reach, and compares
/// it at the end with what is pending, and with what the loop writes.
///
///   for (k = from; k < to; k++)               least = min(least, i[k][...]), most = max(...)
///     for (j...) s += v[k][j] * x[i[k][j]];   reach of v and i: from their counters
///
/// Loads that only say where others go are made before they are compared; those that decide about
/// branches, or where such a load goes, not.
///
/// Needs:    a loop that `PassLoop` has checked.
/// Keeps:    the loop: what was computed in it for the copy goes again.
#ifndef OVERLAP_LOOK_H
#define OVERLAP_LOOK_H

#include "PassLoop.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace overlap {

class Look {
public:
  Look(PassLoop &Of, llvm::SCEVExpander &Expander) : Of(Of), Expander(Expander) {}

  /// Computes in the loop itself, for it to be copied, what loops inside of a pass reach;
  /// `WrittenAt` are the bounds of what is written.
  void prepare(llvm::ArrayRef<std::pair<llvm::Value *, llvm::Value *>> WrittenAt);
  /// Turns the copy of the loop into `look`.
  void finish(Outlined &Copy);
  /// Values from in front of the loop that only the copy needs.
  llvm::SmallVector<llvm::Value *, 4> wanted() const {
    return llvm::SmallVector<llvm::Value *, 4>(llvm::make_second_range(Ahead));
  }
  /// Values of the loop that only the copy needs.
  llvm::ArrayRef<llvm::WeakTrackingVH> made() const { return Made; }

private:
  /// What a loop inside of a pass reaches, as values in front of it.
  struct Range {
    llvm::Instruction *At;
    llvm::Value *From, *To;
    Touch Like;
    const llvm::SCEV *Base;
  };
  /// Addresses `Base + Element * index` of one pass; only the least and the largest index counts.
  struct Hull {
    llvm::Value *Base; ///< Null: the index is the address.
    uint64_t Element;
    bool Signed;
    Touch Like;
    llvm::SmallVector<std::pair<llvm::Instruction *, llvm::Value *>, 4> Indices;
    const llvm::SCEV
        *List; ///< The array that all indices are read from, one after the other; null: elsewhere.
  };

  /// The least and the largest number so far: one by one, and several at a time.
  struct Slots {
    llvm::AllocaInst *Least, *Most, *LeastWide, *MostWide;
  };

  bool addRange(const Touch &T, const llvm::Loop &Inner);
  void addToBlock(const Touch &T);
  bool join(const Touch &T, const llvm::Loop *Inner, const llvm::SCEV *Start,
            const llvm::SCEV *Step);
  const llvm::SCEV *listOf(const Hull &H);
  void scan(llvm::Instruction *At, const Slots &Of, bool Signed, llvm::Value *From,
            llvm::Value *To);
  void addIndex(const Touch &T);
  void expandRanges();
  /// What `V` is in the copy.
  llvm::Value *mine(llvm::Value *V) {
    llvm::Value *Now = In->Map.lookup(V);
    return Now ? Now : V;
  }
  llvm::Value *kindOf(llvm::IRBuilder<> &B, llvm::Value *From, llvm::Value *To, const Touch &Like);
  void test(llvm::Instruction *At, llvm::Value *From, llvm::Value *To, const Touch &Like);
  void addKind(llvm::IRBuilder<> &B, llvm::Value *Of) {
    B.CreateStore(B.CreateOr(B.CreateLoad(B.getInt32Ty(), Kind), Of), Kind);
  }

  PassLoop &Of;
  llvm::SCEVExpander &Expander;
  llvm::SmallVector<std::pair<llvm::Value *, llvm::Value *>, 4> WrittenAt;
  llvm::SmallVector<Range, 8> Ranges;
  llvm::SmallVector<Touch *, 8> AtOnce; ///< Looked at where they stand.
  /// Looked at for all passes that `look` is asked about: where the first pass of all loads from.
  llvm::SmallVector<std::pair<Touch *, llvm::Value *>, 4> Ahead;
  llvm::SmallVector<Hull, 4> Hulls;
  llvm::SmallVector<llvm::WeakTrackingVH, 32> Made;

  /// Accesses to one array in one loop inside, or in one block, that are looked at as one: offsets
  /// from the first address.
  struct Joined {
    const llvm::Loop *Inner; ///< Null: a block.
    const llvm::SCEV *Start, *Step, *Taken;
    int64_t From, To;
    Touch Like;
    llvm::SmallVector<llvm::Instruction *, 8> Members;

    /// True if nothing between is left out.
    bool isDense() const {
      int64_t Bytes = To - From, Of = static_cast<int64_t>(Members.size() * Like.Bytes);
      return Bytes == Of &&
             (!Inner ||
              std::abs(llvm::cast<llvm::SCEVConstant>(Step)->getAPInt().getSExtValue()) == Bytes);
    }
  };
  llvm::SmallVector<Joined, 8> All;

  /// What is reached of one array.
  struct Reach {
    const llvm::SCEV *Base;
    Touch Like;
    llvm::AllocaInst *From, *To;   ///< By all passes.
    llvm::AllocaInst *Begin, *End; ///< By one pass.
  };

  void open();
  void noteIndices();
  void noteReaches();
  void scanLists();
  void compare();
  void lookAhead();
  void dropComputed();

  // While the copy is made.
  Outlined *In = nullptr;
  llvm::Instruction *Enter = nullptr; ///< The end of its entry.
  llvm::SmallVector<Slots, 4> OfHulls;
  llvm::SmallVector<Reach, 4> Reaches;
  llvm::AllocaInst *Kind = nullptr;
  llvm::BasicBlock *Ordered = nullptr;
  llvm::Value *ReceivedFrom = nullptr, *ReceivedTo = nullptr, *SentFrom = nullptr,
              *SentTo = nullptr;
};

} // namespace overlap
#endif

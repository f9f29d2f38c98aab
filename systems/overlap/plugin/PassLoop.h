/// \file
/// A loop whose passes may run in any order: what it touches, and copies of it in functions of
/// their own.
///
/// Needs:    one exit, at the end of a pass; a number of passes that is known before; nothing that
/// one pass leaves to the
///           next, but in memory, or as it is in memory; stores that no two passes make to one
// place; no calls but of the mathematical /           library.
/// Keeps:    the loop; copies are new functions.
#ifndef OVERLAP_PASSLOOP_H
#define OVERLAP_PASSLOOP_H

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace overlap {

/// One load or store of the loop.
struct Touch {
  llvm::Instruction *I;
  llvm::Value *Ptr;
  uint64_t Bytes;
  bool Writes;
  bool Decides; ///< Loads what an address or a branch depends on, so that `look` loads it too.
  bool Strong;  ///< It decides which way `look` goes or what it loads: not to be made while it is
                ///< pending.
  bool Apart;   ///< Loads nothing that another pass stores.

  /// Whatever accesses of this type reach from there, in any pass.
  llvm::MemoryLocation around() const;
};

/// What the stores of one array write: in pass k `[Low + Step * k + From, ... + To)`.
struct Written {
  const llvm::SCEV *Low;
  int64_t Step, From, To;
};

/// True if both are looked at in the same way.
inline bool sameKind(const Touch &A, const Touch &B) {
  return A.Writes == B.Writes && A.Decides == B.Decides && A.Strong == B.Strong &&
         A.Apart == B.Apart;
}

/// What a pass has loaded for the next one, as where `at[k]` and `at[k + 1]` are the bounds of a
/// row: as pass k ends, from `Start + Step * k`.
struct Carried {
  llvm::PHINode *Phi;
  llvm::LoadInst *Load;
  const llvm::SCEV *Start;
  int64_t Step;
  llvm::Value *At; ///< `Start`, when it is counted.
};

/// What is known of a loop just before it runs, as values.
struct Counted {
  llvm::Value *Trips; ///< Its passes, 64 bits.
  llvm::Value
      *Fine; ///< True if their number fits, and no two arrays that are written share memory.
  llvm::SmallVector<llvm::Value *, 4> Lows;                                ///< Of `Writes`.
  llvm::SmallVector<std::pair<llvm::Value *, llvm::Value *>, 4> WrittenAt; ///< From where to where.
};

/// A loop in a function of its own.
struct Outlined {
  llvm::Function *F = nullptr;
  llvm::ValueToValueMapTy Map;
  llvm::BasicBlock *Header = nullptr;
  llvm::BranchInst *End = nullptr; ///< Of a pass.
  llvm::BasicBlock *Out = nullptr; ///< Behind the last.
  llvm::PHINode *Pass = nullptr;
};

/// Gives each loop of `F` a block before it, one end of a pass and exits of its own. All analyses
/// of `F` are stale behind it.
void simplifyLoops(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

class PassLoop {
public:
  PassLoop(llvm::Loop &L, llvm::FunctionAnalysisManager &FAM)
      : L(L), F(*L.getHeader()->getParent()), M(*F.getParent()), FAM(FAM),
        SE(FAM.getResult<llvm::ScalarEvolutionAnalysis>(F)),
        LI(FAM.getResult<llvm::LoopAnalysis>(F)), Before(L.getLoopPreheader()),
        Header(L.getHeader()), Latch(L.getLoopLatch()), Exit(L.getUniqueExitBlock()) {}

  /// True if the passes may run in any order, as far as the code shows: that none reads what
  /// another writes is found when it runs.
  bool check();

  /// How far `Ptr` moves from one pass to the next, if it does so always.
  std::optional<int64_t> stepOf(llvm::Value *Ptr) {
    auto *Moving = llvm::dyn_cast<llvm::SCEVAddRecExpr>(SE.getSCEV(Ptr));
    auto *Step = Moving && Moving->getLoop() == &L && Moving->isAffine()
                     ? llvm::dyn_cast<llvm::SCEVConstant>(Moving->getStepRecurrence(SE))
                     : nullptr;
    bool Small = Step && Step->getAPInt().getSignificantBits() <= 31;
    return Small ? std::optional(Step->getAPInt().getSExtValue()) : std::nullopt;
  }

  /// Computes in front of `At` what is known of the loop by then.
  Counted count(llvm::SCEVExpander &Expander, llvm::Instruction *At);
  /// What the passes use that is computed in front of the loop.
  llvm::SetVector<llvm::Value *> values() const;

  /// Makes `New` a function with the passes of the loop, whose values from outside lie in a struct:
  /// `(values, ..., from, to)`. It has its entry and the loop, and returns 0 or nothing where no
  /// pass is left.
  void outline(Outlined &New, const llvm::Twine &Suffix, llvm::FunctionType *Type,
               llvm::ArrayRef<llvm::Value *> Values, llvm::StructType *Env);

  llvm::Loop &L;
  llvm::Function &F;
  llvm::Module &M;
  llvm::FunctionAnalysisManager &FAM;
  llvm::ScalarEvolution &SE;
  llvm::LoopInfo &LI;
  llvm::BasicBlock *Before, *Header, *Latch, *Exit;
  llvm::SmallVector<std::pair<llvm::PHINode *, int64_t>, 4> Counters; ///< With their steps.
  llvm::SmallVector<Carried, 2> CarriedLoads;
  llvm::SmallVector<Touch, 16> Touches;
  llvm::SmallVector<llvm::CallBase *, 8>
      Calls; ///< And assumptions: all that may go with what is computed.
  llvm::SmallPtrSet<llvm::Instruction *, 32> Deciding; ///< What addresses and branches depend on.
  llvm::SmallVector<Written, 4> Writes;
  llvm::SmallVector<llvm::Instruction *, 2>
      Leaves; ///< What the last pass leaves to the code behind, besides memory.

private:
  bool hasShape();
  bool findCounters();
  bool findTouches();
  void findDeciding();
  void findApart();
  bool findWritten();
};

} // namespace overlap
#endif

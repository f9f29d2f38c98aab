/// \file
/// What an instruction may do to a pending message, and what two instructions may do to each
/// other. Facts about MPI calls are used here and leave no attribute in the program: an
/// attribute on a declaration would let other passes move stores over synchronisation.
#ifndef OVERLAP_EFFECTS_H
#define OVERLAP_EFFECTS_H

#include "Classify.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include <map>

namespace overlap {

/// What the calls that this plugin made stand for.
enum class Own { None, Init, Wait };

class Effects {
public:
  Effects(llvm::AAResults &AA, const Options &O) : AA(AA), O(O) {}

  /// True if the wait of `Pending` may sink past the start of `Other`. A rank that has received
  /// something may tell it to others by sending; a rank that waits for a message from anyone
  /// could then see the two in another order. So a receive passes receives only, and a
  /// collective receives and collectives of its own communicator.
  bool mayPass(const MessageCall &Pending, const MessageCall &Other) const;

  /// Tells that `Call` starts or ends the message of `S`.
  void remember(llvm::CallBase *Call, Own What, Site *S) { Ours[Call] = {What, S}; }
  void forget(const llvm::Instruction *Call) { Ours.erase(Call); }
  Own own(const llvm::Instruction &I) const;
  Site *siteOf(const llvm::Instruction &I) const;

  /// True if no wait and no slice may pass `I`: opaque calls (they may call MPI), calls that
  /// may throw or not return, atomics, volatile accesses, timers, free, return.
  bool stops(const llvm::Instruction &I) const;

  /// True if `I` may use memory that the message of `S` needs: for its start, or from then on.
  bool touches(const llvm::Instruction &I, const Site &S, bool Started = true);

  /// True if a message of `S` and one of `T` may use the same memory.
  bool meets(const MessageCall &S, const MessageCall &T);

  /// True if `I` may use `A` in a way that a pending message does not allow.
  bool mayUse(const llvm::Instruction &I, const Access &A);

  /// True if what the two reach is never the same.
  bool apart(const Access &A, const Access &B) { return disjoint(A.location(), B.location()); }

  /// True if `A` of `S` and `B` of `T` may share memory, and a comparison while the program runs
  /// can tell.
  bool askWhenRunning(const Site &S, const Access &A, const Site &T, const Access &B);

  /// True if `I` calls a function of the mathematical library, which writes nothing but errno.
  static bool isMathCall(const llvm::Instruction &I);

  /// True if the two pointers come from different objects, so that they differ at any time.
  static bool differentObjects(const llvm::Value *A, const llvm::Value *B);

  /// True if `A` and `B` must keep their order because of memory.
  bool conflict(const llvm::Instruction &A, const llvm::Instruction &B);

private:
  llvm::ModRefInfo modRef(const llvm::Instruction &I, const llvm::MemoryLocation &Loc);
  bool disjoint(const llvm::MemoryLocation &A, const llvm::MemoryLocation &B);
  bool overlap(const Access &A, const Access &B);
  bool reachableByCalls(const llvm::Value *Object);
  bool isOnlyHere(const llvm::Value *Object);

  /// The variables of the module that a function and those it calls use, if besides them they use
  /// only what their arguments name, and their own memory.
  struct Named {
    bool All = false;
    llvm::SmallPtrSet<const llvm::GlobalVariable *, 8> Globals;
  };
  const Named &named(const llvm::Function &F);

  bool callStops(const llvm::CallBase &Call) const;
  /// True if nothing in `F`, or in what it calls, stops.
  bool isQuiet(const llvm::Function &F) const;

  llvm::AAResults &AA;
  const Options &O;
  llvm::DenseMap<const llvm::Instruction *, std::pair<Own, Site *>> Ours;
  llvm::DenseMap<const llvm::Value *, bool> Reachable, OnlyHere;
  std::map<const llvm::Function *, Named> NamedBy;
  mutable llvm::DenseMap<const llvm::Function *, bool> Quiet;
};

} // namespace overlap
#endif

/// \file
/// What LLVM 19 and 22 name differently.
#ifndef OVERLAP_VERSIONS_H
#define OVERLAP_VERSIONS_H

#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

namespace overlap {

#if LLVM_VERSION_MAJOR >= 22

constexpr llvm::Attribute::AttrKind OnlyHere[] = {
    llvm::Attribute::Captures, llvm::Attribute::Initializes, llvm::Attribute::DeadOnReturn};

inline llvm::SCEVExpander expander(llvm::ScalarEvolution &SE, const llvm::DataLayout &) {
  return llvm::SCEVExpander(SE, "overlap");
}

/// The instruction behind `I` that is none of the debugger's.
inline const llvm::Instruction *nextOf(const llvm::Instruction *I) { return I->getNextNode(); }
inline llvm::Instruction *nextOf(llvm::Instruction *I) { return I->getNextNode(); }
inline llvm::Instruction *firstOf(llvm::BasicBlock &Block) { return &*Block.getFirstNonPHIOrDbg(); }

/// Asks `captured(use)` whether a use that keeps a pointer matters.
struct Captures : llvm::CaptureTracker {
  virtual bool captured(const llvm::Use *U) = 0;
  Action captured(const llvm::Use *U, llvm::UseCaptureInfo How) final {
    // No memory is reached by an address that is only compared.
    if (!capturesAnyProvenance(How.UseCC))
      return Continue;
    return captured(U) ? Stop : ContinueIgnoringReturn;
  }
};

/// True if other code may know the address `V`.
inline bool mayBeCaptured(const llvm::Value *V, bool Returned) {
  return llvm::PointerMayBeCaptured(V, Returned);
}

#else

constexpr llvm::Attribute::AttrKind OnlyHere[] = {llvm::Attribute::NoCapture};

inline llvm::SCEVExpander expander(llvm::ScalarEvolution &SE, const llvm::DataLayout &DL) {
  return llvm::SCEVExpander(SE, DL, "overlap");
}

inline const llvm::Instruction *nextOf(const llvm::Instruction *I) {
  return I->getNextNonDebugInstruction();
}
inline llvm::Instruction *nextOf(llvm::Instruction *I) { return I->getNextNonDebugInstruction(); }
inline llvm::Instruction *firstOf(llvm::BasicBlock &Block) { return Block.getFirstNonPHIOrDbg(); }

using Captures = llvm::CaptureTracker;

inline bool mayBeCaptured(const llvm::Value *V, bool Returned) {
  return llvm::PointerMayBeCaptured(V, Returned, true);
}

#endif

/// What a function promises about the memory of an argument, and one that leaves a message pending
/// there does not keep.
inline llvm::AttributeMask ofPointers() {
  llvm::AttributeMask Mask;
  for (auto Kind : {llvm::Attribute::ReadOnly, llvm::Attribute::WriteOnly,
                    llvm::Attribute::ReadNone, llvm::Attribute::NoFree})
    Mask.addAttribute(Kind);
  for (auto Kind : OnlyHere)
    Mask.addAttribute(Kind);
  return Mask;
}

} // namespace overlap
#endif

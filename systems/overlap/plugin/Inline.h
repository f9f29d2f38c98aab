/// \file
/// Makes a function a part of one that calls it, whatever the compiler thought of it; and copies
/// of functions that are told of pending messages.
#ifndef OVERLAP_INLINE_H
#define OVERLAP_INLINE_H

#include "Options.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace overlap {

/// The function that `I` calls by its name, or null.
llvm::Function *calleeOf(const llvm::Instruction &I);

/// True if `F` may become a part of `Caller`.
bool canBeInlined(llvm::Function &F, const llvm::Function &Caller,
                  llvm::FunctionAnalysisManager &FAM);

/// A copy of `F` within this module, with so many pointers as further arguments. Messages may be
/// pending in it, which no attribute of the original may deny. `Map` has what became of what.
llvm::Function *copyWithPointers(llvm::Function &F, unsigned NumPointers, const llvm::Twine &Name,
                                 llvm::ValueToValueMapTy &Map);

/// Makes what `Call` calls a part of its caller, whose analyses are stale then. False if it stays.
bool inlineCall(llvm::CallBase &Call, llvm::FunctionAnalysisManager &FAM, const Options &O);

} // namespace overlap
#endif

/// \file
/// Makes a function a part of one that calls it, whatever the compiler thought of it.
#ifndef OVERLAP_INLINE_H
#define OVERLAP_INLINE_H

#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// The function that `I` calls by its name, or null.
llvm::Function *calleeOf(const llvm::Instruction &I);

/// True if `F` may become a part of `Caller`.
bool canBeInlined(llvm::Function &F, const llvm::Function &Caller,
                  llvm::FunctionAnalysisManager &FAM);

/// Makes what `Call` calls a part of its caller, whose analyses are stale then. False if it stays.
bool inlineCall(llvm::CallBase &Call, llvm::FunctionAnalysisManager &FAM, const Options &O);

} // namespace overlap
#endif

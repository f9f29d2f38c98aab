/// \file
/// The part of this plugin that programs carry, written in C: `runtime`, whose bitcode is part of
/// the plugin.
///
/// Keeps:    one copy of each variable a process, and of each function a program or library; the
/// target of the module.
#ifndef OVERLAP_RUNTIME_H
#define OVERLAP_RUNTIME_H

#include "Classify.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

namespace overlap {

/// True if calls of `M` were counted, or loops poll there.
bool hasRuntime(const llvm::Module &M);

/// The function `Name` of the run-time part, whose file is linked into `M` if it is not there.
llvm::Function *runtime(llvm::Module &M, llvm::StringRef Name);

/// The function `overlap.NAME` of `message.c`, for this library and language; `forgetUnused`
/// removes those without callers.
llvm::Function *message(llvm::Module &M, const Binding &B, llvm::StringRef Name);
void forgetUnused(llvm::Module &M);

/// The count of pending requests: an `i32` of each thread.
llvm::GlobalVariable *pendingCount(llvm::Module &M);

} // namespace overlap
#endif

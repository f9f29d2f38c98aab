/// \file
/// Whether a module is the whole program: it has the main function, and calls nothing of other
/// files that could call MPI.
///
/// Needs:    a module.
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_WHOLE_PROGRAM_H
#define OVERLAP_WHOLE_PROGRAM_H

#include "llvm/IR/Module.h"
#include <string>

namespace overlap {

/// The function that the program begins with, or null.
const llvm::Function *mainOf(const llvm::Module &M);

/// A function that is called here and defined, or may be replaced, elsewhere, and none of the
/// system's; empty if there is none.
std::string opaqueIn(const llvm::Module &M);

/// True if `M` has the main function and nothing is opaque in it.
bool isWholeProgram(const llvm::Module &M);

} // namespace overlap
#endif

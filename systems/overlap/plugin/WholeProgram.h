/// \file
/// Whether a module is the whole program: it has the main function, and calls nothing of other
/// files that could call MPI.
///
/// Needs:    a module.
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_WHOLE_PROGRAM_H
#define OVERLAP_WHOLE_PROGRAM_H

#include "llvm/IR/Module.h"

namespace overlap {

/// True if `M` has the main function, and nothing is called there that is defined, or may be
/// replaced, elsewhere, and none of the system's.
bool isWholeProgram(const llvm::Module &M);

/// True if an `operator delete` that a program has in another file, in place of the library's, can
/// do nothing that `M` sees: `M` calls nothing there, and no variable is known to both.
bool deletesOnlyFree(const llvm::Module &M);

} // namespace overlap
#endif

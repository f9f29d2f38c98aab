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

} // namespace overlap
#endif

/// \file
/// Whether the order in which messages arrive can change what a rank does: a receive from any
/// source, a probe, a test.
///
/// Needs:    the whole program, each file noted before any optimisation.
/// Keeps:    everything but a flag of the module.
#ifndef OVERLAP_WILDCARDS_H
#define OVERLAP_WILDCARDS_H

#include "llvm/IR/Module.h"

namespace overlap {

/// Notes in the module that the constant MPI_ANY_SOURCE is used nowhere as a value. Runs before any
/// optimisation, while a constant of the source is still a constant.
void noteWildcards(llvm::Module &M);

/// True if the whole program in `M` receives from no unknown source, and neither probes nor tests.
bool hasNoWildcards(const llvm::Module &M);

} // namespace overlap
#endif

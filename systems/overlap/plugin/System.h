/// \file
/// Functions and variables that are known by name: of the system's libraries, of LLVM's own and of
/// MPI. None of them calls anything but what it is given, and only MPI's call MPI.
///
/// Needs:    names that programs may not define: those of ISO C (C11, 7.1.3), those with two
/// underscores that a library of
///           this system defines, those that LLVM takes for the library's in any program; and a few
// of POSIX.
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_SYSTEM_H
#define OVERLAP_SYSTEM_H

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"

namespace overlap {

/// True for functions that call back nothing but what is in the module, and no MPI.
bool isSystem(const llvm::Function &F, const llvm::TargetLibraryInfo &TLI);

/// True for variables through which no function of the user's is called.
bool isSystem(const llvm::GlobalVariable &G);

} // namespace overlap
#endif

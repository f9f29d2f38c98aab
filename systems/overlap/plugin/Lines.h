/// \file
/// Forgets line numbers that are in the program for our remarks only:
///
///   call @MPI_Send(...), !dbg !7   --->   call @MPI_Send(...)
///
/// Remarks of `-fsave-optimization-record` make clang write line tables without -g; the
/// back end takes 5 % of a compilation for them, and objects grow by a quarter.
///
/// Needs:    `lines=drop`, which the driver says if the user's arguments ask for no debug
/// information. Keeps:    the code; debug information that was asked for.
#ifndef OVERLAP_LINES_H
#define OVERLAP_LINES_H

#include "Options.h"
#include "llvm/IR/Module.h"

namespace overlap {

/// Marks a module whose line numbers are ours, before any other is linked to it.
void noteLines(llvm::Module &M, const Options &O);

/// Removes them, behind the remarks; true if it did. A program keeps them if one of its modules
/// does.
bool dropLines(llvm::Module &M);

} // namespace overlap
#endif

/// \file
/// The program's own waits that may throw, as far as the compiler knows, ask whether they can:
///
///   invoke MPI_Waitall(n, q, ...)    --->    if (an error ends the program) later = true;
///     unwinds to where q is freed            else { invoke MPI_Waitall(n, q, ...); later = false;
///     }
///                                            overlap.end.MPI_Waitall(n, q, ..., later)
///
/// A wait names no communicator to ask about, but the starts of its messages do (and an error may
/// be one of MPI_COMM_WORLD or MPI_COMM_SELF). The call behind throws nothing, and moves like any
/// other wait; where an error would throw, it does nothing.
///
/// Needs:    every start of the messages is known, with a communicator that is known at the wait.
/// Keeps:    what is thrown, where, and with which messages pending.
/// Costs:    a question for each communicator, and two for what belongs to none, 5 to 7 ns each.
#ifndef OVERLAP_ASKEDWAITS_H
#define OVERLAP_ASKEDWAITS_H

#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// True if a wait of `F` asks now.
bool askBeforeWaits(llvm::Function &F, llvm::FunctionAnalysisManager &FAM, const Options &O);

} // namespace overlap
#endif

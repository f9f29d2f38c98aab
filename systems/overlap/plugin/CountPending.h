/// \file
/// Counts the requests that are pending, wherever they are kept: in variables, arrays, objects,
/// behind wrappers.
///
///   MPI_Irecv(b, ..., &r[0]);        pending -= inside;
///                                    MPI_Irecv(b, ..., &r[0]);
///                                    pending += inside; started(1);
///   MPI_Waitall(n, r, s);     --->   open = open(n, r);
///                                    pending -= inside;
///                                    MPI_Waitall(n, r, s);
///                                    pending += inside; ended(open);
///
/// Inside MPI the count is below 0: a function of the program that MPI calls there must not ask it
/// for messages.
///
/// Keeps:    every call as it is.
/// Costs:    some instructions a call of MPI.
#ifndef OVERLAP_COUNTPENDING_H
#define OVERLAP_COUNTPENDING_H

#include "llvm/IR/Module.h"

namespace overlap {

/// Counts around the calls of `F`; true if there is one.
bool countPending(llvm::Function &F);

} // namespace overlap
#endif

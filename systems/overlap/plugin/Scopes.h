/// \file
/// Requests and statuses live as long as their function:
///
///   { MPI_Request q[2];                 MPI_Request q[2];
///     start(q); wait(q); }     --->     start(q); wait(q);
///   work(x);                            work(x);
///
/// The end of a scope would be a use of what the wait touches, so that nothing could come before
/// it. Buffers keep their scopes: they may be large, and share the stack with others. What lies on
/// the heap, as a `std::vector` does, is freed behind the wait, wherever that is.
///
/// Keeps:    everything; what is in a variable outside of its scope is nobody's business.
/// Costs:    a few bytes of stack.
#ifndef OVERLAP_SCOPES_H
#define OVERLAP_SCOPES_H

#include "Existing.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

namespace overlap {

/// Takes the marks of scopes from the requests and statuses of these calls.
void outliveScopes(llvm::ArrayRef<Site *> Blocking, llvm::ArrayRef<ExistingWait> Own);

/// Takes out what frees memory of `Own` behind a wait, if nothing between needs it there.
void freeBehindWaits(llvm::MutableArrayRef<ExistingWait> Own, Effects &Fx,
                     const llvm::TargetLibraryInfo &TLI);

/// Frees it behind each wait of `E`, of which one is made.
void putFreesBack(ExistingWait &E);

} // namespace overlap
#endif

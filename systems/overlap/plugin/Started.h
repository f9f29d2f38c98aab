/// \file
/// Which messages a wait ends, wherever their requests lie: on every way to it, each of its
/// requests was started, or is null, and nothing between may have written it.
///
///   MPI_Irecv(h->in, ..., &h->q[0]);     MPI_Waitall ends these two, whoever else has `h`
///   MPI_Isend(h->out, ..., &h->q[1]);
///   MPI_Waitall(2, h->q, ...);
///
/// Between stand only what computes, other starts, and MPI's calls whose results go elsewhere: no
/// call that could wait by another pointer. A request is not received: a handle means something
/// only where MPI made it. Nor is it written as a floating-point number.
///
/// Needs:    a constant number of requests, at constant places behind one pointer.
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_STARTED_H
#define OVERLAP_STARTED_H

#include "Effects.h"

namespace overlap {

/// The blocking twin of a nonblocking call, such as `Bcast` for `MPI_Ibcast`; null if there is
/// none.
const CallInfo *twin(const llvm::CallBase &Start);

/// True for the Fortran binding, which has one more argument, the code.
bool isFortran(const llvm::CallBase &Call);

/// Where the request stands among the arguments of a start.
unsigned requestOf(const llvm::CallBase &Start);

/// Bytes of a handle: OpenMPI's in C are pointers, all others numbers of 32 bits.
unsigned handleBytes(const llvm::CallBase &Start);

/// How a wait is called that asks whether it throws, see `AskedWaits`: the name of MPI behind it.
inline constexpr llvm::StringRef EndPrefix = "overlap.end.";

/// The row of a call that ends requests, or asks whether they have ended; null for another.
const CallInfo *endOf(const llvm::CallBase &Call);

/// How many requests `End` ends, if the code says so.
std::optional<int64_t> numberOf(const llvm::CallBase &End, const CallInfo &Row);

/// The starts of the messages that a wait may end, and the memory that all requests lie in.
struct Started {
  llvm::SmallVector<llvm::CallBase *, 4> Starts;
  Access Lies;
};

/// What `End` ends; none if not all of it is known.
std::optional<Started> startsOf(llvm::CallBase &End, Effects &Fx);

} // namespace overlap
#endif

/// \file
/// Datatypes that the program makes: whether a message of such a type stays inside the object that
/// its buffer points into. Types that count elements (contiguous, vector, indexed, subarray) do,
/// and those that count bytes (struct, hindexed, hvector, resized) if the bytes are constants; else
/// they are addresses, and may name any memory.
///
/// Needs:    the handle in a variable that only MPI's functions for datatypes write.
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_DERIVED_H
#define OVERLAP_DERIVED_H

#include "Classify.h"

namespace overlap {

/// True if `Type` is a constant of MPI, or made of such by counting elements or constant bytes.
bool staysInBuffer(const Binding &B, llvm::Value *Type, unsigned Depth = 0);

/// False if the program made `Type`, so that it is none of MPI's own.
bool mayBeNamed(const Binding &B, llvm::Value *Type);

} // namespace overlap
#endif

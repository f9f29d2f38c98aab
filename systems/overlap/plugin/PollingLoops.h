/// \file
/// Which loops are to poll: the innermost ones around an innermost loop whose one pass is long
/// enough to carry a poll, so that innermost loops stay as they are and vectorise.
///
///   for (k...)             not this one: the one inside polls
///     for (j...)           this one
///       for (i...)         not this one: a pass is a few instructions
///         a[k][j][i] *= s;
///
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_POLLINGLOOPS_H
#define OVERLAP_POLLINGLOOPS_H

#include "Cost.h"

namespace overlap {

/// A pass through a loop with less work would feel a poll, in weighted instructions.
constexpr uint64_t PassMin = 500;
/// A strip of a loop whose passes are short, in weighted instructions: long enough to vectorise and
/// not to feel its ends, short against the time between two polls.
constexpr uint64_t StripWeight = 40000;

/// One pass through `L`, in weighted instructions; a loop inside whose length is not known is long.
uint64_t passWeight(llvm::Loop &L, llvm::FunctionAnalysisManager &FAM, Cost &Weights);

/// True if `L` may run for longer than a strip.
bool mayBeLong(llvm::Loop &L, llvm::FunctionAnalysisManager &FAM, Cost &Weights);

/// Adds the loops in `L`, itself among them, that can carry a poll in each pass. None lies in
/// another.
void chooseLoops(llvm::Loop &L, llvm::FunctionAnalysisManager &FAM, Cost &Weights,
                 llvm::SmallVectorImpl<llvm::Loop *> &Chosen);

} // namespace overlap
#endif

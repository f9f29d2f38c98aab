/// \file
/// A start inside the window of another message, whose buffers may lie in that message's, asks
/// first:
///
///   start(u, row 1, ghost m);            start(u, row 1, ghost m);
///   wait;                                if (ghost m meets row m or ghost 0) wait;
///   start(u, row m, ghost 0);   --->     start(u, row m, ghost 0);
///
/// Needs:    messages whose lengths are counts of elements; windows at their final size.
/// Keeps:    everything: a message that is met ends before the start, as in the blocking program.
#ifndef OVERLAP_GUARD_H
#define OVERLAP_GUARD_H

#include "Effects.h"

namespace overlap {

/// Puts questions before the starts of `Sites`.
void guardStarts(llvm::ArrayRef<Site *> Sites, Effects &Fx);

} // namespace overlap
#endif

/// \file
/// Keeps the program's own messages moving and changes no call: every loop that may be long asks
/// MPI for messages, at a bounded rate, while requests of its thread are pending.
///
///   for (i = 0; i < n; i++)          for (i = 0; i < n; i++) {
///     for (j...) work();      --->     for (j...) work();
///                                      if (pending > 0)
///                                        poll(place, 1, poll-us);
///                                    }
///
/// A loop whose passes are counted runs in strips and asks between two, so that an innermost one
/// vectorises as before. A strip is as long as it is until the next poll; while nothing is pending,
/// a loop that starts nothing runs in one.
///
/// Which requests are pending is counted when the program runs (`CountPending`), so a window may
/// begin in one file and end in another, and the loop may be in a third.
///
/// Needs:    nothing of the program around a loop.
/// Keeps:    what the program computes, to the bit: a loop whose sums may be reordered is left as
/// it is, since strips would
///           reorder them in another way. MPI_Iprobe starts and ends nothing.
/// Costs:    a comparison a pass or a strip, or a loop of one strip; while something is pending a
/// clock call about every
///           poll-us, and an MPI_Iprobe there unless nothing has moved for long.
#ifndef OVERLAP_POLLEVERYWHERE_H
#define OVERLAP_POLLEVERYWHERE_H

#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// Counts and polls in all functions of `M`; false if it has nothing to count and no loop to poll
/// in.
bool pollEverywhere(llvm::Module &M, llvm::FunctionAnalysisManager &FAM, const Options &O);

/// The same in the loops that may run while requests are pending that nothing else keeps moving
/// (`OwnWindows`).
bool pollInOwnWindows(llvm::Module &M, llvm::FunctionAnalysisManager &FAM, const Options &O);

} // namespace overlap
#endif

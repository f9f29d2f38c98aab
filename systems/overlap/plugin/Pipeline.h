/// \file
/// Starts the message of the next pass of a loop before the work at the end of this pass:
///
///   for (k...) {                  start(d);
///     start(d); wait(d);          for (k...) {
///     use(d, x);                    wait(d);
///     work(x);            --->      use(d, x);
///   }                               if (there is a next pass) start(d);   // the next pass's
///                                   work(x);
///                                 }
///
/// The next start gets the arguments that the next pass would give it: they follow from the counter
/// of the loop, or are read from memory that the work does not write.
///
/// Needs:    a loop that begins with the start and waits for this pass's message before the work;
/// work that
///           touches no buffer of the next start and calls nothing that could call MPI.
/// Keeps:    the order and the number of starts.
/// Costs:    a comparison a pass.
#ifndef OVERLAP_PIPELINE_H
#define OVERLAP_PIPELINE_H

#include "Cost.h"
#include "Statements.h"

namespace overlap {

/// Moves the start of `S` one pass ahead; the other `Sites` tell what else may be pending. If there
/// is work to win and it cannot be, `S.LoopRefused` says why. True if the program changed.
bool startAhead(Site &S, llvm::ArrayRef<Site *> Sites, Analyses &A, Cost &Weights,
                const Options &O);

} // namespace overlap
#endif

/// \file
/// Moves the start of a message up and its wait down (Algorithm 1 of Nguyen et al. 2020).
///
///   x = f(a);                      start(d);  // backward slice first, then the start
///   start(d); wait(d);             x = f(a);
///   work(b);              --->     work(b);
///   use(d);                        more(c);
///   more(c);                       wait(d);
///                                  use(d);    // the forward slice behind the wait
///
/// `basic` stops at the nearest dependent statement; `extended` moves dependent statements along.
///
/// Needs:    sites that are split.
/// Keeps:    the order of initiations, and of all statements that depend on each other.
/// Costs:    pairs of statements with memory are compared, so a chain has a limit.
/// Source:   section 4, with three changes: dependences through memory count as well as use-def
///           chains; regions count as statements; a wait may pass the start of another call
///           where no rank can tell (mayPass).
#ifndef OVERLAP_WIDEN_H
#define OVERLAP_WIDEN_H

#include "Cost.h"
#include "Statements.h"

namespace overlap {

/// True if the wait of `S` must stay before `I`, whatever else moves.
bool blocksWait(const llvm::Instruction &I, const Site &S, const Effects &Fx);

/// Hoists the start of `S`, unless it would take work from one of `Others` that waited longer when
/// it was measured. True if the control flow graph changed.
bool hoist(Site &S, llvm::ArrayRef<Site *> Others, Analyses &A, Cost &C, const Options &O);

/// Sinks the one wait of `S`. True if the control flow graph changed.
bool sink(Site &S, Analyses &A, Cost &C, const Options &O);

} // namespace overlap
#endif

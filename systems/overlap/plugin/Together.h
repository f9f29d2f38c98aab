/// \file
/// Makes an exchange and the work behind it parts of the function that calls both, where only
/// that gives the messages a window:
///
///   exchange(in);         start(in); wait(in);             start(in);
///   step(out, in);  --->  for (...) out[i] = in[i];  --->  interior; wait(in); border;
///
/// It is tried on a copy of the caller, and done if more windows get wider there, or more loops are
/// split, than in the functions apart. Functions that nobody calls any more are removed.
///
/// Needs:    functions that are defined in the module, and called by name.
/// Keeps:    everything; what moves then moves by the rules of `Widen` and `Border`.
/// Costs:    copies of these functions in their callers.
#ifndef OVERLAP_TOGETHER_H
#define OVERLAP_TOGETHER_H

#include "Options.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// Does so in all functions of `M`. True if something changed.
bool bringTogether(llvm::Module &M, llvm::FunctionAnalysisManager &FAM, const Options &O);

} // namespace overlap
#endif

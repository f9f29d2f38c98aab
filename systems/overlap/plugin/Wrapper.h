/// \file
/// Moves a wait out of a function that ends with it, into its callers:
///
///   void exchange(double *b) {           void exchange.open(double *b, state *s) {
///     start(b, &s);                        start(b, s);
///     wait(&s);                          }
///   }                             --->
///   exchange(b);                         exchange.open(b, &s);
///   work(x);                             work(x);
///                                        wait(&s);
///
/// The function stays as it is for callers that gain nothing. Callers come after the functions that
/// they call, so a wait can climb through several.
///
/// Needs:    buffers that are arguments or globals of the function; calls by name.
/// Keeps:    everything but the place of the waits.
#ifndef OVERLAP_WRAPPER_H
#define OVERLAP_WRAPPER_H

#include "Classify.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// The twin of a function that leaves messages pending.
struct OpenTwin {
  llvm::Function *Open = nullptr;     ///< With one more argument for each of `Pending`, its state.
  llvm::SmallVector<Site, 2> Pending; ///< Accesses in terms of the function's arguments.
};

using OpenTwins = llvm::DenseMap<llvm::Function *, OpenTwin>;

/// Makes the twin of `F` if some of its `Sites` end right before it returns.
void openAtReturn(llvm::Function &F, llvm::ArrayRef<Site *> Sites, OpenTwins &Twins);

/// A call of a twin in place of the call of the function, with its waits behind it.
struct OpenCall {
  llvm::CallInst *Call;
  llvm::Function *Closed;         ///< What was called before,
  llvm::AttributeList Attributes; ///< and how.
  std::vector<Site> Pending;
};

/// Replaces the calls in `F` of functions that have twins.
std::vector<OpenCall> callOpen(llvm::Function &F, const OpenTwins &Twins);

/// Takes a replacement back.
void closeCall(OpenCall &C);

/// Removes twins without callers, before later passes optimise them in vain.
void eraseUnused(OpenTwins &Twins, llvm::FunctionAnalysisManager &FAM);

/// True if a copy of `F` does what `F` does.
bool canBeCopied(const llvm::Function &F);

} // namespace overlap
#endif

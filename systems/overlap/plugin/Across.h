/// \file
/// An exchange and the work behind it in two files, or three: no file knows what the other holds,
/// so each offers its part, and who calls both asks the linker whether they are there.
///
///   exchange(a, p);          if (&exchange.pending && &product.pending) {
///   t = now();         --->    exchange.relay(a, p, list); t = now.relay(list);
///   product(a, p, q);          product.relay(a, p, q, list); end(list);
///                            } else { exchange(a, p); t = now(); product(a, p, q); }
///
///   product.relay(a, p, q, list): product.pending(a, p, q, list) if that is product's, else
///                                 end(list), product(a, p, q)
///
/// An exchange that ends its messages itself gets a twin that returns with them pending, in a list;
/// a function with a loop one that is called so and defers the passes that need them
/// (`DeferPasses`); a small function that asks for the time one that leaves them alone. They are
/// hidden symbols beside the functions, whose names they have; a caller refers to them weakly. A
/// relay, one for all calls of a file, compares a hidden second name of the function with what it
/// would call. With too little pending, a twin with a loop goes by the function itself.
///
/// Needs:    calls by name, one behind the other, that have a pointer in common, with nothing but
///           arithmetic and questions about time between; functions that no other can replace; no
///           copies of structs as arguments; messages apart from variables of the exchange.
/// Keeps:    everything, as `Later` does.
/// Costs:    a copy of each exchange and of each loop that reads through an index.
#ifndef OVERLAP_ACROSS_H
#define OVERLAP_ACROSS_H

#include "Options.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// Makes twins of the functions of `M` for other files. True if there is one.
bool offerTwins(llvm::Module &M, llvm::FunctionAnalysisManager &FAM, const Options &O);

/// Calls the twins of other files where they are. True if something changed.
bool callTwins(llvm::Module &M, llvm::FunctionAnalysisManager &FAM, const Options &O);

/// True for a twin and for a helper: they are what they are going to be.
bool isOurs(const llvm::Function &F);

} // namespace overlap
#endif

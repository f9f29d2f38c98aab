/// \file
/// Puts off the ends of messages to where they are needed, and lets loops go on without them (see
/// `DeferPasses`): the program's own receives, which it starts, sends blocking and waits for, one
/// neighbour after the other.
///
///   for (n...) MPI_Irecv(x + at[n], ..., &q[n]);
///   for (n...) MPI_Send(s + at[n], ...);
///   for (n...) MPI_Wait(&q[n], &status);
///   for (k...) y[k] = sum(x[i[k]]);
///         |
///         v
///   for (n...) { MPI_Irecv(...); note(list, &q[n], x + at[n]); }
///   for (n...) MPI_Isend(..., send(list, s + at[n]));
///   for (n...) take(list, &q[n]);
///   passes(list, n, look, run);
///
/// Nothing is guessed about addresses: which request is waited for, what is pending, and whether an
/// access between meets it is looked up when the program runs. Functions that exchange messages,
/// and those that hold such loops, are inlined where one is called behind the other; all of it
/// happens in a copy of the function, which takes its place if a loop was found.
///
/// Needs:    C or C++; datatypes that are constants; waits whose statuses are not read.
/// Keeps:    the order of starts; no call of MPI but waits of these messages moves, and nothing but
/// a question about rank,
///           size or time is asked while they are pending.
/// Costs:    a few dozen instructions a message.
#ifndef OVERLAP_LATER_H
#define OVERLAP_LATER_H

#include "Options.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace overlap {

/// Puts off the ends of messages in all functions of `M`. True if something changed.
bool putOff(llvm::Module &M, llvm::FunctionAnalysisManager &FAM, const Options &O);

/// What a function is of an exchange and the loop behind it: both; the exchange, which returns with
/// messages pending; what comes behind and is called with messages pending. The list of these is
/// the last argument of the latter two. Whoever makes the last one asks if enough is pending.
enum class Part { Whole, Leaves, Takes };

/// Puts off the ends of messages in `F`. False if nothing is gained; `F` may have changed then.
bool putOff(llvm::Function &F, llvm::FunctionAnalysisManager &FAM, const Options &O, Part Is);

/// True if `F` starts messages and waits for them.
bool hasExchange(llvm::Function &F);

/// True if `F` holds a loop that reads through an index.
bool hasIndexedLoop(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace overlap
#endif

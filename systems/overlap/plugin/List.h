/// \file
/// The list of messages whose end is put off, which the run-time part keeps (`runtime/later.c`),
/// and what takes the place of calls that have to do with it.
///
///   MPI_Irecv(x, ..., &q);    --->    guard(list, x); MPI_Irecv(x, ..., &q); note(list, &q, x);
///   MPI_Wait(&q, &status);    --->    overlap.later.MPI_Wait(list, &q, &status);
///
/// Needs:    calls that `Later` has looked at.
/// Keeps:    everything: what was not noted is waited for.
#ifndef OVERLAP_LIST_H
#define OVERLAP_LIST_H

#include "Classify.h"
#include "llvm/IR/IRBuilder.h"

namespace overlap {

/// A call that starts a message.
struct Start {
  llvm::CallInst *Call;
  int Buffer, Count, Request, Comm;
  uint64_t ElementBytes;
  bool Received;
};

/// The row of what `I` calls, if that is a function of MPI in C and no invoke.
const CallInfo *rowOf(const llvm::Instruction &I);

/// The type of a list, as `struct later` has it: four addresses, three numbers, a pointer.
llvm::ArrayType *listType(llvm::LLVMContext &C);
void emptyList(llvm::IRBuilderBase &B, llvm::Value *List);

/// `overlap.later.MPI_Send(list, ...)`, which need not block, or
/// `overlap.later.MPI_Wait(list, ...)`, which takes the request over.
llvm::Function *relay(llvm::Module &M, const llvm::CallInst &Call, const Options &O,
                      uint64_t ElementBytes);

/// Tells the list of a message that the program starts itself.
void note(const Start &S, llvm::Value *List);

/// Ends in front of `I` what is pending where it touches that.
void guard(llvm::Instruction *I, llvm::Value *List);

} // namespace overlap
#endif

/// \file
/// The functions that start a message, and what they and the code around them need: the rest is in
/// `runtime/message.c`.
///
/// - `overlap.start.MPI_Send(args..., state, site, size, sent, received)`: nonblocking if count *
///   size is large enough, else the blocking call itself; the code of what it called.
/// - `overlap.start.MPI_Send.asks(...)`: the same where an error handler could throw, if none can;
///   true then. Else nothing, and the caller makes the call as it is written.
/// - `overlap.wait(state)`: waits once; nothing if nothing is open.
/// - `overlap.poll(state, rate, every_ns)`: MPI_Test at a bounded rate; MPI_Iprobe, which leaves
///   requests alone, for the program's own.
///
/// The state of a site is one alloca in the entry block, so a wait can stand on paths that the
/// start does not dominate.
#ifndef OVERLAP_HELPERS_H
#define OVERLAP_HELPERS_H

#include "Classify.h"
#include "llvm/IR/IRBuilder.h"

namespace overlap {

/// As `struct state` of `message.c` has it.
llvm::StructType *stateType(const Binding &B, llvm::LLVMContext &C);

/// What the open field of a state holds, its first: nothing is pending, a message of ours, messages
/// of the program's own.
enum Pending : uint32_t { Closed, Ours, Theirs };

/// The start helper of this call; its body is made on first use. One
/// that asks, if the call may throw.
llvm::Function *startHelper(llvm::Module &M, const MessageCall &S,
                            const llvm::FunctionType *Blocking, const Options &O);

/// The time between two polls, as `overlap.poll` wants it.
llvm::ConstantInt *everyNs(llvm::LLVMContext &C, const Options &O);

/// `MPI_Send|file.c|28` as a constant of the module.
llvm::Constant *siteName(llvm::Module &M, const MessageCall &S);
llvm::Constant *siteName(llvm::Module &M, llvm::StringRef Call, const llvm::DebugLoc &At);

} // namespace overlap
#endif

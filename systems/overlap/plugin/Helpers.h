/// \file
/// The functions that the plugin puts into a module: start, wait and poll.
///
///   overlap.start.MPI_Send(args..., state, site, size)   nonblocking if count * size is large
///                                                        enough, else the blocking call itself;
///                                                        returns the code of what it called
///   overlap.wait(state)                            waits once; nothing if nothing is open
///   overlap.poll(state, rate)                      MPI_Test at a bounded rate; MPI_Iprobe, which leaves
///                                                  requests alone, for the program's own
///
/// The state of a site is { open, status, site, requests, buffers and their bytes }, one alloca in the entry block, so a
/// wait can stand on paths that the start does not dominate.
#ifndef OVERLAP_HELPERS_H
#define OVERLAP_HELPERS_H

#include "Classify.h"
#include "llvm/IR/IRBuilder.h"

namespace overlap {

llvm::StructType *stateType(const Binding &B, llvm::LLVMContext &C);

/// The start helper of this call; its body is made on first use.
llvm::Function *startHelper(llvm::Module &M, const Site &S, const llvm::FunctionType *Blocking, const Options &O);
llvm::Function *waitHelper(llvm::Module &M, const Binding &B);
llvm::Function *pollHelper(llvm::Module &M, const Binding &B, const Options &O);
llvm::Function *tickHelper(llvm::Module &M, const Binding &B, const Options &O);

/// What the open field of a state holds: nothing is pending, a message of ours, messages of the program's own.
enum Pending : uint32_t { Closed, Ours, Theirs };

/// overlap.guard(state, received, buffer, bytes): waits if these bytes lie in the buffer that this state
/// receives into, or in the one that it sends.
llvm::Function *guardHelper(llvm::Module &M, const Binding &B);

/// True if the start of this state began something; not for a payload that was sent at once.
llvm::Function *pendingHelper(llvm::Module &M, const Binding &B);

/// A function of MPI, declared as the binding has it. Where the program has one of that name for itself, whose arguments
/// may have been taken away, the library's own name.
llvm::FunctionCallee mpi(llvm::Module &M, const Binding &B, llvm::StringRef Name, llvm::ArrayRef<llvm::Type *> Args);

/// A place for the code of a Fortran call that nobody reads.
llvm::Value *noCode(llvm::IRBuilder<> &B, llvm::Module &M);

/// Whether `Type` is one of MPI's own, so that a message of it lies where its buffer begins and not before; asked only if `Go`.
llvm::Value *emitIsNamed(llvm::IRBuilder<> &B, llvm::Module &M, const Binding &Bind, llvm::Value *Go, llvm::Value *Type);

/// `MPI_Send|file.c|28` as a constant of the module.
llvm::Constant *siteName(llvm::Module &M, const Site &S);
llvm::Constant *siteName(llvm::Module &M, llvm::StringRef Call, const llvm::DebugLoc &At);

} // namespace overlap
#endif

/// \file
/// What error handlers mean for the calls of MPI: whether they may throw, and which settings of a
/// handler are no hazard.
///
///   MPI_Comm_set_errhandler(c, MPI_ERRORS_ARE_FATAL);   --->   (dlsym(0,
//"MPI_Comm_set_errhandler"))(c, ...);
///
/// A linked program is searched for the names of calls that forbid conversion, because some objects
/// may have been compiled without the plugin. So this call loses its name, and still does what it
/// did.
///
/// Without a handler of the program's own no call throws, so an invoke is a call:
///
///   invoke @MPI_Wait(...) to label %next unwind label %catch   --->   call @MPI_Wait(...)
///
/// Needs:    the handler as a constant; for the second the whole program.
/// Keeps:    the order of all MPI calls.
#ifndef OVERLAP_ERRORHANDLER_H
#define OVERLAP_ERRORHANDLER_H

#include "llvm/IR/Module.h"

namespace overlap {

/// True if all uses of `F` are calls that set an error handler, and it is the default.
bool setsDefaultOnly(const llvm::Function &F);

/// Takes the names from such calls; true if there were any. The last thing that is done: no
/// analysis knows what they became.
bool hideDefaultHandlers(llvm::Module &M);

/// Invokes of MPI in `F` become calls; true if there were any. For whole programs that set no error
/// handler.
bool callMpi(llvm::Function &F);

} // namespace overlap
#endif

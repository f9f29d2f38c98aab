/// \file
/// Calls by way of our module `mpi_f08` become calls of the library.
#ifndef OVERLAP_FORTRAN08_H
#define OVERLAP_FORTRAN08_H

namespace llvm {
class Module;
}

namespace overlap {

/// `overlap_mpi_send_(.., null)` becomes `mpi_send_(.., &unused)`: a handle of that module is a
/// struct of one integer, its status is the library's, and `ierror` may be absent. What is not a
/// direct call, and all of it without this pass, is code of the archive that programs are linked
/// with. True if there was one.
bool callLibrary(llvm::Module &M);

} // namespace overlap

#endif

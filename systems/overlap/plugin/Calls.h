/// \file
/// The names of MPI's functions, and what MpiCalls.def says of them: the one parser of names, the
/// one table.
///
/// Needs:    nothing.
/// Keeps:    everything; these are questions.
#ifndef OVERLAP_CALLS_H
#define OVERLAP_CALLS_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace overlap {

/// What the conversion makes of a function. The first ones block.
enum class CallKind {
  Send,
  Recv,
  Sendrecv,
  Collective,
  Stays,
  Start,
  End,
  Test,
  Query,
  Type,
  Clock,
  Value,
  Other
};

/// One row of MpiCalls.def. Places of arguments are those of the C binding, -1 for none.
struct CallInfo {
  std::string Name; ///< Without `MPI_`; of the nonblocking twin of a row, with `I` before it.
  CallKind Kind = CallKind::Other;
  unsigned NumArgs = 0;
  std::string Roles; ///< A letter for each argument.
  int SendBuf = -1, SendCount = -1, SendType = -1, RecvBuf = -1, RecvCount = -1, RecvType = -1;
  int Op = -1, Root = -1, Comm = -1, Status = -1, SizeCount = -1, SizeType = -1;
  int Arrays[6] = {-1, -1, -1, -1,
                   -1, -1}; ///< Of counts, displacements and datatypes, which must not change while
                            ///< it is pending.
  int Many = -1, Requests = -1, Flag = -1, Index = -1, Done = -1;
  bool Tests = false; ///< It may end no request.

  CallInfo() = default;
  CallInfo(llvm::StringRef Name, CallKind Kind, llvm::StringRef Arguments);

  /// Where the argument with this role stands, the first or a later one; -1 if there is none.
  int at(char Role, unsigned Nth = 0) const;

  /// The role of an argument; 0 if there is no such one.
  char role(unsigned At) const { return At < Roles.size() ? Roles[At] : 0; }
};

/// The row of this function, or null. `Fortran` is set if it is the Fortran symbol. With `AnyName`
/// also by its name in `mpi_f08`, in the profiling interface and with large counts.
const CallInfo *findRow(llvm::StringRef Symbol, bool &Fortran, bool AnyName = false);

/// The same if it is a blocking call; one that leaves requests pending; one that ends requests, or
/// may.
const CallInfo *findCall(llvm::StringRef Symbol, bool &Fortran);
const CallInfo *findStart(llvm::StringRef Symbol, bool &Fortran, bool AnyName = false);
const CallInfo *findEnd(llvm::StringRef Symbol, bool &Fortran, bool AnyName = false);

/// True for a call that asks for a number and can do nothing else.
bool isQuery(llvm::StringRef Symbol);

/// True for a call whose answer differs from rank to rank.
bool isClock(llvm::StringRef Symbol);

/// The procedure that a symbol calls, in lower case and without `mpi_`, the same for all of its
/// names: `allreduce` for `MPI_Allreduce`, `PMPI_Allreduce_c`, `mpi_allreduce_` and
/// `mpi_allreduce_f08ts_large_`. Empty for what is none of MPI's.
std::string procedure(llvm::StringRef Symbol);

/// True for the symbol of a procedure of MPI of which MpiCalls.def says nothing.
bool isUnknown(llvm::StringRef Symbol);

/// What `runtime/handles.h` calls a collective whose ranks agree when they run how it starts: its
/// length is the same on all of them.
std::optional<int> agreedKind(const CallInfo &Info);

/// The bytes of a rank's buffer below which ranks that agree keep such a call blocking, unless the
/// user has set a number of their own.
int64_t leastBytes(int AgreedKind, bool OpenMpi);

/// The row of a blocking call by its name for large counts, `MPI_Send_c`; null for another
/// function.
const CallInfo *findLarge(llvm::StringRef Symbol);

/// True for every function of MPI, by name, and for others whose names begin so: where less is
/// known of a function than that it is none of MPI's, it is believed to be one.
bool isMpiName(llvm::StringRef Symbol);

/// True if the name is formed as those of MPI are: `MPI_Xyz` in C, `mpi_xyz_` in Fortran, with `P`
/// or `p` before them too; not `mpi_xyz` in C, which is the program's own.
bool isMpiSymbol(llvm::StringRef Symbol);

/// True if the MPI function `Symbol`, C or Fortran, only reads what its argument `At` of `NumArgs`
/// points to.
bool onlyReads(llvm::StringRef Symbol, unsigned At, unsigned NumArgs);

} // namespace overlap
#endif

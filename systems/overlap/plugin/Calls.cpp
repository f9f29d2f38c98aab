#include "Calls.h"
#include "runtime/handles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace overlap {

CallInfo::CallInfo(StringRef Name, CallKind Kind, StringRef Arguments)
    : Name(Name), Kind(Kind), Tests(Kind == CallKind::Test) {
  SmallVector<StringRef, 12> Words;
  SplitString(Arguments, Words);
  NumArgs = Words.size();
  for (StringRef Word : Words)
    Roles += Word[0];
  // The count and the type of a buffer are the first ones behind it; a count that is an array is
  // looked at as one.
  auto Behind = [&](int Buf, StringRef Wanted) -> int {
    size_t At = Buf < 0 ? std::string::npos : Roles.find_first_of(Wanted.str(), Buf);
    return At == std::string::npos || Roles[At] == 'a' ? -1 : static_cast<int>(At);
  };
  SendBuf = at('s'), RecvBuf = at('r');
  SendCount = Behind(SendBuf, "nNa"), SendType = Behind(SendBuf, "tT");
  RecvCount = Behind(RecvBuf, "nNa"), RecvType = Behind(RecvBuf, "tT");
  SizeCount = at('N'), SizeType = at('T');
  Op = at('o'), Root = at('R'), Comm = at('c'), Status = at('S');
  Many = at('m'), Requests = at('q'), Flag = at('f'), Index = at('i'), Done = at('d');
  unsigned Next = 0;
  for (auto [At, Role] : enumerate(Roles))
    if ((Role == 'a' || Role == 'A') && Kind == CallKind::Collective && Next < std::size(Arrays))
      Arrays[Next++] = At;
}

int CallInfo::at(char Role, unsigned Nth) const {
  size_t At = Roles.find(Role);
  while (At != std::string::npos && Nth-- > 0)
    At = Roles.find(Role, At + 1);
  return At == std::string::npos ? -1 : static_cast<int>(At);
}

/// The nonblocking twin of a blocking call: the request stands where the status does, or last.
static CallInfo twin(const CallInfo &Blocking) {
  SmallVector<std::string, 12> Words;
  for (char Role : Blocking.Roles)
    if (Role != 'S')
      Words.push_back(std::string(1, Role));
  Words.push_back("Q");
  return CallInfo("I" + Blocking.Name, CallKind::Start, join(Words, " "));
}

/// All rows by their names in lower case.
static const StringMap<CallInfo> &table() {
  static const StringMap<CallInfo> Table = [] {
    StringMap<CallInfo> T;
    auto Add = [&](const CallInfo &Row) { T.try_emplace(StringRef(Row.Name).lower(), Row); };
#define MPI(Name, Kind, Arguments) Add(CallInfo(#Name, CallKind::Kind, Arguments));
#include "MpiCalls.def"
    SmallVector<CallInfo, 0> Twins;
    for (const auto &Entry : T)
      if (Entry.second.Kind < CallKind::Stays)
        Twins.push_back(twin(Entry.second));
    for (const CallInfo &Row : Twins)
      Add(Row);
    return T;
  }();
  return Table;
}

/// Procedures that have no row but are known, in lower case.
static const StringSet<> &known() {
  static const StringSet<> Known = [] {
    StringSet<> K;
    SmallVector<StringRef, 0> Words;
#define KNOWN(Names) SplitString(Names, Words);
#include "MpiCalls.def"
    for (StringRef Word : Words)
      K.insert(Word.lower());
    return K;
  }();
  return Known;
}

namespace {
/// The parts of a symbol of MPI.
struct SymbolParts {
  std::string Name; ///< In lower case, without `mpi_`.
  bool Fortran = false, Profiling = false, F08 = false, Large = false;

  /// As it was called, without what is behind the name of the procedure.
  void take(StringRef Symbol) {
    Large = Symbol.consume_back("_large");
    F08 = Symbol.consume_back("_f08") || Symbol.consume_back("_f08ts") || Symbol.consume_back("_f");
    F08 |= Symbol.consume_back("_cptr");
    Large |= Symbol.consume_back("_c");
    // One for each type and shape of Fortran.
    Name = Symbol.starts_with("sizeof_") ? "sizeof" : Symbol.lower();
  }
};
} // namespace

/// `MPI_Send`, `PMPI_Send`, `MPI_Send_c`, `mpi_send_`, `pmpi_send_`, and what `mpi_f08` of the two
/// libraries calls.
static std::optional<SymbolParts> partsOf(StringRef Symbol) {
  SymbolParts Parts;
  if (Symbol.consume_front("MPI_") || (Parts.Profiling = Symbol.consume_front("PMPI_"))) {
    // Some Fortran compilers write all in capitals.
    if (Symbol.empty() || !isUpper(Symbol[0]) ||
        Symbol.drop_front() != StringRef(Symbol.lower()).drop_front())
      return std::nullopt;
    Parts.take(Symbol);
    return Parts;
  }
  Parts.Profiling = Symbol.starts_with("p");
  if (!Symbol.consume_front(Parts.Profiling ? "pmpi_" : "mpi_") || !Symbol.consume_back("_"))
    return std::nullopt;
  Parts.Fortran = true;
  Parts.take(Symbol);
  return Parts;
}

/// The same for symbols that are called as MPI's own bindings of C and Fortran are.
static std::optional<SymbolParts> plainPartsOf(StringRef Symbol) {
  std::optional<SymbolParts> Parts = partsOf(Symbol);
  return Parts && !Parts->Profiling && !Parts->F08 && !Parts->Large ? Parts : std::nullopt;
}

const CallInfo *findRow(StringRef Symbol, bool &Fortran, bool AnyName) {
  std::optional<SymbolParts> Parts = AnyName ? partsOf(Symbol) : plainPartsOf(Symbol);
  Fortran = Parts && Parts->Fortran;
  auto It = Parts ? table().find(Parts->Name) : table().end();
  return It == table().end() ? nullptr : &It->second;
}

const CallInfo *findCall(StringRef Symbol, bool &Fortran) {
  const CallInfo *Row = findRow(Symbol, Fortran);
  return Row && Row->Kind <= CallKind::Stays ? Row : nullptr;
}

const CallInfo *findStart(StringRef Symbol, bool &Fortran, bool AnyName) {
  const CallInfo *Row = findRow(Symbol, Fortran, AnyName);
  return Row && Row->Kind == CallKind::Start ? Row : nullptr;
}

const CallInfo *findEnd(StringRef Symbol, bool &Fortran, bool AnyName) {
  const CallInfo *Row = findRow(Symbol, Fortran, AnyName);
  return Row && (Row->Kind == CallKind::End || Row->Kind == CallKind::Test) ? Row : nullptr;
}

static bool hasKind(StringRef Symbol, CallKind Kind, bool AnyName) {
  bool Fortran = false;
  const CallInfo *Row = findRow(Symbol, Fortran, AnyName);
  return Row && Row->Kind == Kind;
}

bool isQuery(StringRef Symbol) { return hasKind(Symbol, CallKind::Query, false); }
bool isClock(StringRef Symbol) { return hasKind(Symbol, CallKind::Clock, true); }

bool isMpiName(StringRef Symbol) {
  return Symbol.starts_with("MPI_") || Symbol.starts_with("PMPI_") || Symbol.starts_with("MPIX_") ||
         Symbol.starts_with("mpi_") || Symbol.starts_with("pmpi_");
}

static bool isExtension(StringRef Symbol) {
  return Symbol.starts_with("MPIX_") || Symbol.starts_with("PMPIX_") ||
         (Symbol.ends_with("_") && (Symbol.starts_with("mpix_") || Symbol.starts_with("pmpix_")));
}

bool isMpiSymbol(StringRef Symbol) { return isExtension(Symbol) || partsOf(Symbol); }

std::string procedure(StringRef Symbol) {
  std::string Lower = Symbol.lower();
  StringRef Name = Lower;
  Name.consume_front("p");
  if (!Name.consume_front("mpi_"))
    return "";
  SymbolParts Parts;
  Parts.take(Name.rtrim('_'));
  return Parts.Name;
}

bool isUnknown(StringRef Symbol) {
  std::string Name = procedure(Symbol);
  return isMpiSymbol(Symbol) && !table().contains(Name) && !known().contains(Name);
}

std::optional<int> agreedKind(const CallInfo &Info) {
  return StringSwitch<std::optional<int>>(Info.Name)
      .Case("Bcast", AGREED_BCAST)
      .Case("Reduce", AGREED_REDUCE)
      .Case("Allreduce", AGREED_ALLREDUCE)
      .Case("Allgather", AGREED_ALLGATHER)
      .Case("Alltoall", AGREED_ALLTOALL)
      .Case("Reduce_scatter_block", AGREED_REDUCE_SCATTER_BLOCK)
      .Case("Scan", AGREED_SCAN)
      .Case("Exscan", AGREED_EXSCAN)
      .Default(std::nullopt);
}

int64_t leastBytes(int AgreedKind, bool OpenMpi) {
#define LEAST(Kind, InOpenMpi, InMpich)                                                            \
  if (AgreedKind == AGREED_##Kind)                                                                 \
    return OpenMpi ? (InOpenMpi) : (InMpich);
  AGREED_LEAST(LEAST)
#undef LEAST
  return 0;
}

const CallInfo *findLarge(StringRef Symbol) {
  std::optional<SymbolParts> Parts = partsOf(Symbol);
  auto It = Parts && Parts->Large ? table().find(Parts->Name) : table().end();
  return It == table().end() || It->second.Kind > CallKind::Stays ? nullptr : &It->second;
}

bool onlyReads(StringRef Symbol, unsigned At, unsigned NumArgs) {
  bool Fortran = false;
  const CallInfo *Row = findRow(Symbol, Fortran);
  if (!Row)
    return false;
  // Fortran has no arguments of the program to give, and asks for the level of threads first.
  if (Row->Name == "Init_thread" && Fortran)
    return At == 0;
  return NumArgs == Row->NumArgs + Fortran && At < Row->NumArgs &&
         !StringRef("rwCukqQfidS").contains(Row->role(At));
}

} // namespace overlap

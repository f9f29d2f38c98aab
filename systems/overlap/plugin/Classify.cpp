#include "Classify.h"
#include "Derived.h"
#include "Profile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace overlap {

StringRef name(Refusal Why) {
  switch (Why) {
#define REFUSAL(Name, Sentence)                                                                    \
  case Refusal::Name:                                                                              \
    return #Name;
#include "Refusals.def"
  }
  llvm_unreachable("all refusals are named");
}

StringRef describe(Refusal Why) {
  switch (Why) {
#define REFUSAL(Name, Sentence)                                                                    \
  case Refusal::Name:                                                                              \
    return Sentence;
#include "Refusals.def"
  }
  llvm_unreachable("all refusals are described");
}

Type *Binding::handleType(LLVMContext &C) const {
  return pointerHandles() ? static_cast<Type *>(PointerType::getUnqual(C)) : Type::getInt32Ty(C);
}

static Constant *external(Module &M, StringRef Name) {
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  return new GlobalVariable(M, Type::getInt8Ty(M.getContext()), false, GlobalValue::ExternalLinkage,
                            nullptr, Name);
}

Constant *Binding::nullRequest(Module &M) const {
  if (pointerHandles())
    return external(M, "ompi_request_null");
  return ConstantInt::get(Type::getInt32Ty(M.getContext()),
                          Mpi == Library::Mpich ? MPICH_REQUEST_NULL : OPENMPI_REQUEST_NULL);
}

Constant *Binding::probed(Module &M) const {
  if (pointerHandles())
    return external(M, "ompi_mpi_comm_self");
  return ConstantInt::get(Type::getInt32Ty(M.getContext()),
                          Mpi == Library::Mpich ? MPICH_COMM_WORLD : OPENMPI_COMM_SELF);
}

Constant *Binding::ignoreStatus(Module &M) const {
  Type *Int = Type::getInt64Ty(M.getContext());
  return ConstantExpr::getIntToPtr(ConstantInt::get(Int, Mpi == Library::Mpich ? 1 : 0),
                                   PointerType::getUnqual(M.getContext()));
}

Value *byReference(const Binding &B, Value *Arg) {
  if (!B.Fortran)
    return Arg;
  Value *Base = Arg->stripPointerCasts();
  if (auto *G = dyn_cast<GlobalVariable>(Base))
    return G->isConstant() && G->hasInitializer() ? G->getInitializer() : nullptr;
  auto *Slot = dyn_cast<AllocaInst>(Base);
  if (!Slot)
    return nullptr;
  Value *Stored = nullptr;
  for (Use &U : Slot->uses()) {
    auto *I = cast<Instruction>(U.getUser());
    if (auto *Store = dyn_cast<StoreInst>(I)) {
      if (Stored || Store->getPointerOperand() != Slot)
        return nullptr;
      Stored = Store->getValueOperand();
    } else if (auto *Call = dyn_cast<CallBase>(I); Call && !I->isLifetimeStartOrEnd()) {
      // MPI may write the variable itself: what is received, a size, a new handle.
      Function *Callee = Call->getCalledFunction();
      if (!Callee || !Call->isArgOperand(&U) ||
          !onlyReads(Callee->getName(), Call->getArgOperandNo(&U), Call->arg_size()))
        return nullptr;
    } else if (!isa<LoadInst>(I) && !Call) {
      return nullptr;
    }
  }
  return isa_and_nonnull<Constant>(Stored) ? Stored : nullptr;
}

static std::optional<uint64_t> openMpiSize(StringRef Global) {
  if (!Global.consume_front("ompi_mpi_"))
    return std::nullopt;
  uint64_t Size =
      StringSwitch<uint64_t>(Global)
          .Cases("byte", "packed", "char", "unsigned_char", "signed_char", "character", "int8_t",
                 "uint8_t", "c_bool", "cxx_bool", 1)
          .Cases("integer1", "logical1", 1)
          .Cases("short", "unsigned_short", "int16_t", "uint16_t", "integer2", "logical2", 2)
          .Cases("int", "unsigned", "float", "int32_t", "uint32_t", "integer", "integer4", "real",
                 "real4", "logical", 4)
          .Cases("logical4", "wchar", 4)
          .Cases("long", "unsigned_long", "double", "long_long_int", "unsigned_long_long",
                 "int64_t", "uint64_t", "aint", "offset", "count", 8)
          .Cases("integer8", "real8", "dblprec", "cplex", "complex8", "logical8", "c_float_complex",
                 "cxx_cplex", "2int", "2integer", 8)
          .Cases("float_int", "short_int", "2real", 8)
          .Cases("long_double", "double_int", "long_int", "dblcplex", "complex16",
                 "c_double_complex", "cxx_dblcplex", "2dblprec", "real16", "integer16", 16)
          .Cases("longdbl_int", "c_long_double_complex", "cxx_ldblcplex", "complex32", 32)
          .Default(0);
  return Size ? std::optional<uint64_t>(Size) : std::nullopt;
}

static std::optional<uint64_t> openMpiFortranSize(int64_t Handle) {
  switch (Handle) {
  case 1:
  case 2:
  case 5:
  case 8:
  case 29:
    return 1;
  case 9:
  case 30:
    return 2;
  case 6:
  case 7:
  case 10:
  case 13:
  case 14:
  case 31:
    return 4;
  case 11:
  case 15:
  case 17:
  case 18:
  case 19:
  case 32:
    return 8;
  case 20:
  case 22:
    return 16;
  default:
    return std::nullopt;
  }
}

std::optional<uint64_t> datatypeSize(const Binding &B, Value *Type) {
  Value *V = byReference(B, Type);
  if (!V)
    return std::nullopt;
  if (B.pointerHandles()) {
    auto *G = dyn_cast<GlobalVariable>(V->stripPointerCasts());
    return G ? openMpiSize(G->getName()) : std::nullopt;
  }
  auto *C = dyn_cast<ConstantInt>(V);
  if (!C)
    return std::nullopt;
  uint64_t Handle = C->getZExtValue() & 0xffffffff;
  if (B.Mpi == Library::OpenMpi)
    return openMpiFortranSize(static_cast<int64_t>(Handle));
  if (Handle >> 16 == 0x4c00 && (Handle >> 8 & 0xff) != 0)
    return Handle >> 8 & 0xff;
  static const uint64_t Pairs[] = {8, 16, 16, 8, 32};
  if (Handle >= 0x8c000000 && Handle <= 0x8c000004)
    return Pairs[Handle - 0x8c000000];
  return std::nullopt;
}

bool isBuiltInOperation(const Binding &B, Value *Op) {
  Value *V = byReference(B, Op);
  if (!V)
    return false;
  if (B.pointerHandles()) {
    auto *G = dyn_cast<GlobalVariable>(V->stripPointerCasts());
    return G && G->getName().starts_with("ompi_mpi_op_") && G->getName() != "ompi_mpi_op_null";
  }
  auto *C = dyn_cast<ConstantInt>(V);
  if (!C)
    return false;
  uint64_t Handle = C->getZExtValue() & 0xffffffff;
  return B.Mpi == Library::Mpich ? Handle >= 0x58000001 && Handle <= 0x5800000e
                                 : Handle >= 1 && Handle <= 14;
}

std::optional<Library> fortranLibrary(const Module &M) {
  for (const GlobalVariable &G : M.globals()) {
    if (G.getName().starts_with("mpi_fortran_"))
      return Library::OpenMpi;
    if (G.getName().starts_with("mpipriv"))
      return Library::Mpich;
  }
  // Handles of MPICH are large numbers, those of OpenMPI small ones.
  for (const Function &F : M) {
    bool Fortran = false;
    const CallInfo *Info = findCall(F.getName(), Fortran);
    if (!Info || !Fortran || Info->Comm < 0)
      continue;
    for (const User *U : F.users()) {
      auto *Call = dyn_cast<CallBase>(U);
      if (!Call || Call->getCalledFunction() != &F || Call->arg_size() != Info->NumArgs + 1)
        continue;
      int TypeAt = Info->SendType >= 0 ? Info->SendType : Info->RecvType;
      Value *V = byReference(Binding{Library::Mpich, true}, Call->getArgOperand(TypeAt));
      if (auto *C = dyn_cast_or_null<ConstantInt>(V))
        return C->getZExtValue() > 0x1000000 ? Library::Mpich : Library::OpenMpi;
    }
  }
  return std::nullopt;
}

/// The binding of one call, from its name and types.
static std::optional<Binding> bindingOf(const CallBase &Call, const CallInfo &Info, bool Fortran,
                                        std::optional<Library> OfFortran) {
  unsigned Want = Info.NumArgs + (Fortran ? 1 : 0);
  if (Call.arg_size() != Want || Call.getFunctionType()->isVarArg() || Call.hasOperandBundles())
    return std::nullopt;
  if (Fortran) {
    for (const Use &Arg : Call.args())
      if (!Arg->getType()->isPointerTy())
        return std::nullopt;
    if (!OfFortran || !Call.getType()->isVoidTy())
      return std::nullopt;
    return Binding{*OfFortran, true};
  }
  if (!Call.getType()->isIntegerTy(32))
    return std::nullopt;
  Type *Comm = Call.getArgOperand(Info.Comm)->getType();
  if (!Comm->isPointerTy() && !Comm->isIntegerTy(32))
    return std::nullopt;
  for (int At : {Info.SendType, Info.RecvType, Info.Op})
    if (At >= 0 && Call.getArgOperand(At)->getType() != Comm)
      return std::nullopt;
  for (int At : {Info.SendBuf, Info.RecvBuf, Info.Status})
    if (At >= 0 && !Call.getArgOperand(At)->getType()->isPointerTy())
      return std::nullopt;
  for (int At : {Info.SendCount, Info.RecvCount, Info.Root})
    if (At >= 0 && !Call.getArgOperand(At)->getType()->isIntegerTy(32))
      return std::nullopt;
  return Binding{Comm->isPointerTy() ? Library::OpenMpi : Library::Mpich, false};
}

/// What an address stands for, if it is one that MPI gave a meaning.
enum class Sentinel { None, Bottom, InPlace, StatusIgnore, Other };

/// In Fortran they are places in common blocks. Source: `mpif-sentinels.h` of OpenMPI 4.1, `mpif.h`
/// of MPICH 4.0; `mpi_f08` of either library calls other symbols, which stay as they are.
static const struct {
  const char *Block;
  int64_t Offset;
  Sentinel Is;
} FortranSentinels[] = {
    {"mpi_fortran_bottom", 0, Sentinel::Bottom},
    {"mpi_fortran_in_place", 0, Sentinel::InPlace},
    {"mpi_fortran_status_ignore", 0, Sentinel::StatusIgnore},
    {"mpi_fortran_statuses_ignore", 0, Sentinel::Other},
    {"mpi_fortran_errcodes_ignore", 0, Sentinel::Other},
    {"mpi_fortran_unweighted", 0, Sentinel::Other},
    {"mpi_fortran_weights_empty", 0, Sentinel::Other},
    {"mpi_fortran_argv_null", 0, Sentinel::Other},
    {"mpi_fortran_argvs_null", 0, Sentinel::Other},
    {"mpipriv1", 0, Sentinel::Bottom},
    {"mpipriv1", 4, Sentinel::InPlace},
    {"mpipriv1", 8, Sentinel::StatusIgnore},
    {"mpipriv2", 0, Sentinel::Other},
    {"mpiprivc", 0, Sentinel::Other},
    {"mpifcmb5", 0, Sentinel::Other},
    {"mpifcmb9", 0, Sentinel::Other},
};

/// In C they are numbers; MPICH's MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are variables. Source:
/// `mpi.h` of the same.
static const struct {
  Library Mpi;
  int64_t Address;
  Sentinel Is;
} CSentinels[] = {
    {Library::OpenMpi, 0, Sentinel::Bottom},     {Library::OpenMpi, 1, Sentinel::InPlace},
    {Library::OpenMpi, 2, Sentinel::Other},      {Library::OpenMpi, 3, Sentinel::Other},
    {Library::Mpich, 0, Sentinel::Bottom},       {Library::Mpich, -1, Sentinel::InPlace},
    {Library::Mpich, 1, Sentinel::StatusIgnore},
};

static Sentinel sentinel(const Binding &B, const Value *V, const DataLayout &DL) {
  if (B.Fortran) {
    auto *G = dyn_cast<GlobalVariable>(getUnderlyingObject(V));
    if (!G)
      return isa<ConstantPointerNull>(V->stripPointerCasts()) ? Sentinel::Bottom : Sentinel::None;
    // Compilers differ in the underlines that they add.
    StringRef Block = G->getName().rtrim('_');
    APInt Offset(DL.getIndexTypeSizeInBits(V->getType()), 0);
    bool Known = V->stripAndAccumulateConstantOffsets(DL, Offset, true) == G;
    bool OfMpi = false;
    for (const auto &Row : FortranSentinels) {
      OfMpi |= Block == Row.Block;
      if (Known && Block == Row.Block && Offset.getSExtValue() == Row.Offset)
        return Row.Is;
    }
    return OfMpi ? Sentinel::Other : Sentinel::None;
  }
  V = V->stripPointerCasts();
  int64_t Address = 0;
  if (auto *Cast = dyn_cast<ConstantExpr>(V)) {
    auto *C = Cast->getOpcode() == Instruction::IntToPtr
                  ? dyn_cast<ConstantInt>(Cast->getOperand(0))
                  : nullptr;
    if (!C)
      return Sentinel::None;
    Address = C->getSExtValue();
  } else if (!isa<ConstantPointerNull>(V)) {
    return Sentinel::None;
  }
  for (const auto &Row : CSentinels)
    if (Row.Mpi == B.Mpi && Row.Address == Address)
      return Row.Is;
  return Sentinel::Other;
}

bool isSentinel(const Binding &B, const Value *V, const DataLayout &DL) {
  return sentinel(B, V, DL) != Sentinel::None;
}

/// A number that is never written. One in a variable of the function is written before the call.
static bool isConstantPlace(Value *Arg) {
  auto *G = dyn_cast<GlobalVariable>(Arg->stripPointerCasts());
  return G && G->isConstant();
}

SmallVector<int, 2> askedTypes(const CallInfo &Info) {
  SmallVector<int, 2> At;
  if (Info.Kind == CallKind::Collective)
    At.push_back(Info.SizeType);
  else
    At.append({Info.SendType, Info.RecvType});
  erase(At, -1);
  return At;
}

/// True if the start can ask about argument `TypeAt` of the call of `S`: about it, or about another
/// that holds the same.
static bool canAsk(const MessageCall &S, int TypeAt) {
  Value *Type = S.Call->getArgOperand(TypeAt);
  return mayBeNamed(S.Bind, Type) &&
         any_of(askedTypes(*S.Info), [&](int At) { return S.Call->getArgOperand(At) == Type; });
}

std::optional<Refusal> findAccesses(MessageCall &S, bool MayAsk) {
  const CallInfo &Info = *S.Info;
  CallBase &Call = *S.Call;
  const DataLayout &DL = Call.getModule()->getDataLayout();
  auto Add = [&](int BufAt, int CountAt, int TypeAt, bool Write) -> std::optional<Refusal> {
    if (BufAt < 0)
      return std::nullopt;
    Value *Buf = Call.getArgOperand(BufAt);
    Sentinel Is = sentinel(S.Bind, Buf, DL);
    if (Is == Sentinel::InPlace)
      return std::nullopt;
    if (Is != Sentinel::None)
      return Refusal::MpiBottom;
    // With an array of datatypes, the array is looked at as a whole.
    std::optional<uint64_t> Size =
        TypeAt >= 0 ? datatypeSize(S.Bind, Call.getArgOperand(TypeAt)) : std::nullopt;
    bool Asked = false;
    if (TypeAt >= 0 && !Size) {
      Asked = !staysInBuffer(S.Bind, Call.getArgOperand(TypeAt));
      if (Asked && !(MayAsk && canAsk(S, TypeAt)))
        return Refusal::DerivedDatatype;
      S.AsksType |= Asked;
      S.Derived = true;
    }
    // Counts and displacements in an array may be negative or reach anywhere in the buffer. The
    // types of MPI reach forward.
    LocationSize Extent = Asked && Info.Arrays[0] < 0 ? LocationSize::afterPointer()
                                                      : LocationSize::beforeOrAfterPointer();
    Value *Elements = nullptr;
    if (Info.Arrays[0] < 0 && Size) {
      Extent = LocationSize::afterPointer();
      Value *Count = CountAt >= 0 ? byReference(S.Bind, Call.getArgOperand(CountAt)) : nullptr;
      auto *Known = dyn_cast_or_null<ConstantInt>(Count);
      bool OneBlock = Info.Kind != CallKind::Collective || Info.SizeType == Info.RecvType;
      bool PerRank =
          StringRef(Info.Name).starts_with("All") && !StringRef(Info.Name).starts_with("Allreduce");
      bool Counted = OneBlock && !PerRank && StringRef(Info.Name) != "Reduce_scatter_block";
      if (Counted && CountAt >= 0)
        Elements = Known ? Known : Call.getArgOperand(CountAt);
      if (Known && !Known->isNegative() && Counted)
        Extent = LocationSize::precise(Known->getZExtValue() * *Size);
    }
    S.Accesses.push_back({Buf, Extent, Write, Elements, Size.value_or(0)});
    return std::nullopt;
  };
  if (auto Why = Add(Info.SendBuf, Info.SendCount, Info.SendType, false))
    return Why;
  if (auto Why = Add(Info.RecvBuf, Info.RecvCount, Info.RecvType, true))
    return Why;
  for (int At : Info.Arrays)
    if (At >= 0)
      S.Accesses.push_back({Call.getArgOperand(At), LocationSize::afterPointer(), false});
  // Fortran passes counts and handles by reference; they are read when the call starts.
  if (S.Bind.Fortran)
    for (unsigned At = 0; At < Info.NumArgs; ++At)
      if (static_cast<int>(At) != Info.SendBuf && static_cast<int>(At) != Info.RecvBuf &&
          static_cast<int>(At) != Info.Status && !isConstantPlace(Call.getArgOperand(At)))
        S.Accesses.push_back(
            {Call.getArgOperand(At), LocationSize::precise(4), false, nullptr, 0, true});
  // The code of the start is the code of the call: an error ends the program, or the program has an
  // error handler and makes its blocking calls.
  if (S.Bind.Fortran)
    S.Accesses.push_back({Call.getArgOperand(Call.arg_size() - 1), LocationSize::precise(4), true,
                          nullptr, 0, true});
  // MPI_STATUS_IGNORE is never written. In C it may be null, as MPI_BOTTOM is.
  if (Info.Status >= 0 && sentinel(S.Bind, Call.getArgOperand(Info.Status), DL) == Sentinel::None)
    S.Accesses.push_back({Call.getArgOperand(Info.Status), LocationSize::afterPointer(), true});
  return std::nullopt;
}

/// The bytes of a rank's buffer below which its ranks keep a collective blocking when they run.
static uint64_t leastOf(const Site &S, const Options &O) {
  std::optional<int> Kind = agreedKind(*S.Info);
  return Kind && !O.OwnMinBytes ? leastBytes(*Kind, S.Bind.Mpi == Library::OpenMpi) : 0;
}

static std::optional<Refusal> refuseAlone(Site &S, const Options &O) {
  StringRef Name = S.Info->Name;
  if (S.Caller->hasOptNone() || S.Caller->isPresplitCoroutine() ||
      S.Caller->hasFnAttribute(Attribute::Naked))
    return Refusal::NotOptimised;
  if (S.Info->Kind == CallKind::Stays)
    return Refusal::StaysBlocking;
  if (S.Info->Kind == CallKind::Collective && !agreedKind(*S.Info))
    return Refusal::NoAgreement;
  if (S.Caller->callsFunctionThatReturnsTwice())
    return Refusal::ReturnsTwice;
  if (auto *Call = dyn_cast<CallInst>(S.Call); Call && Call->isMustTailCall())
    return Refusal::ReturnCodeUsed;
  if (S.Info->Op >= 0 && !isBuiltInOperation(S.Bind, S.Call->getArgOperand(S.Info->Op)))
    return Refusal::UserOperation;
  if (auto Why = findAccesses(S, /*MayAsk=*/true))
    return Why;
  // The copy of what is sent has the length of what is received.
  if (Name == "Sendrecv_replace" && S.Derived)
    return Refusal::ReplacesBuffer;
  if (S.Info->Kind == CallKind::Collective && O.Convert == Collectives::Off)
    return Refusal::CollectivesOff;
  if (const Profile *Ran = O.Profile.empty() ? nullptr : Profile::read(O.Profile))
    if (auto Why = Ran->decide(S))
      return Why;
  if (S.Info->SizeCount >= 0) {
    Value *Count = byReference(S.Bind, S.Call->getArgOperand(S.Info->SizeCount));
    auto Size = datatypeSize(S.Bind, S.Call->getArgOperand(S.Info->SizeType));
    auto *Known = dyn_cast_or_null<ConstantInt>(Count);
    // What the ranks never start has no least length; the buffers of these hold as many as there
    // are ranks.
    const uint64_t Never = INT64_MAX, Rule = leastOf(S, O);
    bool ByRank = Name == "Allgather" || Name == "Alltoall" || Name == "Reduce_scatter_block";
    uint64_t Least = std::max(S.Pays ? 0 : O.MinBytes, ByRank || Rule == Never ? 0 : Rule);
    if (Known && Size && Known->getZExtValue() * *Size < Least)
      return Refusal::SmallMessage;
    if (Rule == Never)
      return Refusal::BlockingIsFaster;
  }
  return std::nullopt;
}

/// The level of threads that a use of `F`, MPI_Init_thread by any of its names, asks for; none if
/// only the running program knows it.
static std::optional<int64_t> levelOf(const Function &F, const Use &U) {
  auto *Call = dyn_cast<CallBase>(U.getUser());
  bool Fortran = F.getName().starts_with("mpi_") || F.getName().starts_with("pmpi_");
  unsigned At = Fortran ? 0 : 2;
  Value *Level = Call && Call->isCallee(&U) && Call->arg_size() > At
                     ? byReference(Binding{Library::Mpich, Fortran}, Call->getArgOperand(At))
                     : nullptr;
  auto *Known = dyn_cast_or_null<ConstantInt>(Level);
  return Known ? std::optional(Known->getSExtValue()) : std::nullopt;
}

bool isLevelUnknown(const Module &M) {
  return any_of(M, [](const Function &F) {
    return isMpiName(F.getName()) && procedure(F.getName()) == "init_thread" &&
           any_of(F.uses(), [&](const Use &U) { return !levelOf(F, U); });
  });
}

std::optional<Hazard> moduleHazard(const Module &M) {
  std::optional<Hazard> Found;
  for (const Function &F : M) {
    if (!isMpiName(F.getName()) || F.use_empty())
      continue;
    StringRef Symbol = F.getName();
    std::string Procedure = procedure(Symbol);
    StringRef Name = Procedure;
#define HAZARD(Beginning, Why, Words)                                                              \
  if (Name.starts_with(Beginning))                                                                 \
    return Hazard{Refusal::Why, &F};
#include "MpiCalls.def"
    auto IsMultiple = [&](const Use &U) { return levelOf(F, U).value_or(0) >= LEVEL_MULTIPLE; };
    if (Name == "init_thread" && any_of(F.uses(), IsMultiple))
      return Hazard{Refusal::ThreadMultiple, &F};
    // What is defined here is not MPI's. Another hazard says more.
    if (!Found && F.isDeclaration() && isUnknown(Symbol))
      Found = Hazard{Refusal::UnknownFunction, &F};
  }
  return Found;
}

/// The calls in `F`, of a module that calls this library's Fortran.
static std::vector<Site> classify(Function &F, const Options &O, std::optional<Library> OfFortran) {
  std::vector<Site> Sites;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    bool Fortran = false;
    // A function of this name that is defined here is not MPI's.
    const CallInfo *Info =
        Callee && Callee->isDeclaration() ? findCall(Callee->getName(), Fortran) : nullptr;
    const CallInfo *Large =
        Callee && Callee->isDeclaration() ? findLarge(Callee->getName()) : nullptr;
    if (!Info && !Large)
      continue;
    Site S;
    S.Call = Call;
    S.Info = Info ? Info : Large;
    S.Caller = &F;
    S.Loc = Call->getDebugLoc();
    if (Large) {
      S.Refused = Refusal::LargeCount;
    } else if (Info->Kind == CallKind::Stays) {
      S.Refused = refuseAlone(S, O);
    } else if (auto Bind = bindingOf(*Call, *Info, Fortran, OfFortran)) {
      S.Bind = *Bind;
      S.Comm = Call->getArgOperand(Info->Comm);
      S.MayThrow = isa<InvokeInst>(Call) ||
                   (!Fortran && !O.NoThrow && !Call->doesNotThrow() && !F.doesNotThrow());
      S.Refused = refuseAlone(S, O);
    } else {
      S.Refused = Refusal::UnknownBinding;
    }
    Sites.push_back(std::move(S));
  }
  return Sites;
}

std::vector<Site> classify(Function &F, const Options &O) {
  return classify(F, O, fortranLibrary(*F.getParent()));
}

std::vector<Site> classify(Module &M, const Options &O) {
  std::vector<Site> Sites;
  const std::optional<Library> OfFortran = fortranLibrary(M);
  for (Function &F : M)
    for (Site &S : classify(F, O, OfFortran))
      Sites.push_back(std::move(S));
  if (std::optional<Hazard> Unsafe = moduleHazard(M))
    for (Site &S : Sites)
      if (!S.Refused) {
        S.Refused = Unsafe->Why;
        S.Detail = "it calls " + Unsafe->By->getName().str();
      }
  return Sites;
}

} // namespace overlap

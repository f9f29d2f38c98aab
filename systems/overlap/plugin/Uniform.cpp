#include "Uniform.h"
#include "Versions.h"
#include "WholeProgram.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace overlap {

/// Functions whose result depends on nothing but their arguments and on what all ranks share.
static bool isPure(StringRef Name) {
  static const StringSet<> Names = {
      "atoi",          "atof",    "atol",   "atoll",  "strtol",    "strtod", "strtoul",
      "strcmp",        "strncmp", "strlen", "strchr", "strstr",    "malloc", "calloc",
      "abs",           "labs",    "sqrt",   "sqrtf",  "fabs",      "pow",    "exp",
      "log",           "ceil",    "floor",  "fmax",   "fmin",      "_Znwm",  "_Znam",
      "aligned_alloc", "log2",    "log10",  "cbrt",   "strcasecmp"};
  return Names.contains(Name);
}

static const Function *calleeOf(const CallBase &Call) {
  return dyn_cast<Function>(Call.getCalledOperand()->stripPointerCasts());
}

/// The row of what `Call` calls, if it has as many arguments as MPI's function: others of that name
/// are not MPI's.
static const CallInfo *rowOf(const CallBase &Call, bool &Fortran) {
  const Function *Callee = calleeOf(Call);
  const CallInfo *Row = Callee ? findRow(Callee->getName(), Fortran) : nullptr;
  return Row && Call.arg_size() == Row->NumArgs + Fortran ? Row : nullptr;
}

Uniform::Uniform(Module &M) : M(M), Main(mainOf(M)), Opaque(opaqueIn(M)) {
  if (wholeProgram())
    analyse();
}

void Uniform::analyse() {
  // A function called from an unknown place may be called by one rank only.
  for (const Function &F : M) {
    if (F.isDeclaration() || &F == Main || !F.hasAddressTaken())
      continue;
    for (const BasicBlock &B : F)
      markBlock(&B, nullptr);
    for (const Argument &A : F.args())
      Differing.insert(&A);
  }
  bool Changed = true;
  while (Changed) {
    Changed = false;
    for (const Function &F : M)
      if (!F.isDeclaration())
        Changed |= visitFunction(F);
  }
}

bool Uniform::visitFunction(const Function &F) {
  bool Changed = false;
  for (const BasicBlock &B : F)
    for (const Instruction &I : B)
      Changed |= visit(I);
  return Changed;
}

bool Uniform::visit(const Instruction &I) {
  const BasicBlock *Block = I.getParent();
  bool Changed = false;
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    Changed |= writes(Store->getPointerOperand(), differs(Store->getValueOperand()), Block);
    // A pointer that is stored may be written through from anywhere.
    return untrack(Store->getValueOperand()) || Changed;
  }
  if (auto *Call = dyn_cast<CallBase>(&I)) {
    Changed |= visitCall(*Call);
    if (!differs(&I) && !I.getType()->isVoidTy() && callDiffers(*Call))
      Changed |= mark(&I);
    // A rank that catches an exception goes another way than the others. Functions of the system
    // throw always, or when there is no memory left, which ends a parallel program.
    const Function *Callee = calleeOf(*Call);
    if (isa<InvokeInst>(I) && !Call->doesNotThrow() && !(Callee && Callee->isDeclaration()))
      Changed |= influence(Block);
    return Changed;
  }
  if (auto *Return = dyn_cast<ReturnInst>(&I); Return && Return->getReturnValue())
    return untrack(Return->getReturnValue());
  if (I.isTerminator()) {
    if (I.getNumSuccessors() > 1 && I.getNumOperands() > 0 && differs(I.getOperand(0)))
      Changed |= influence(Block);
    return Changed;
  }
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    if (!differs(&I) && loadDiffers(Load->getPointerOperand()))
      Changed |= mark(&I);
    return Changed;
  }
  if (I.isAtomic() || isa<LandingPadInst>(I) || isa<VAArgInst>(I))
    return mark(&I) || Changed;
  if (!differs(&I) && any_of(I.operands(), [&](const Use &U) { return differs(U); }))
    Changed |= mark(&I);
  return Changed;
}

/// What `V` points to may be written through a name that is not followed.
bool Uniform::untrack(const Value *V) {
  if (!V->getType()->isPointerTy())
    return false;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(V, Objects, nullptr, 0);
  bool Changed = false;
  for (const Value *Object : Objects)
    Changed |= Untracked.insert(Object).second;
  return Changed;
}

/// Ranks go different ways at the end of `Branching`: the blocks up to where all meet again differ,
/// and phis there.
bool Uniform::influence(const BasicBlock *Branching) {
  const auto &Meet = Meeting.behind(Branching);
  bool Changed = false;
  SmallVector<const BasicBlock *, 16> Work(successors(Branching));
  DenseSet<const BasicBlock *> Seen;
  while (!Work.empty()) {
    const BasicBlock *Block = Work.pop_back_val();
    if (!Seen.insert(Block).second)
      continue;
    if (!Block->getSinglePredecessor())
      for (const PHINode &Phi : Block->phis())
        Changed |= mark(&Phi);
    if (Meet.contains(Block))
      continue;
    Changed |= markBlock(Block, Branching->getTerminator());
    Work.append(succ_begin(Block), succ_end(Block));
  }
  return Changed;
}

/// Objects whose every use is followed: others may be written unseen.
static bool isTrackable(const Value *Object) {
  if (auto *G = dyn_cast<GlobalVariable>(Object))
    return !G->isDeclaration();
  auto *Call = dyn_cast<CallBase>(Object);
  const Function *Callee = Call ? calleeOf(*Call) : nullptr;
  return isa<AllocaInst>(Object) || (isNoAliasCall(Object) && Callee && Callee->isDeclaration());
}

/// The arguments of the program, and what they point to; `MPI_Init(&argc, &argv)` puts them into
/// variables.
static bool isProgramArgument(const Value *V, const Function *Main, unsigned Depth) {
  if (auto *Arg = dyn_cast<Argument>(V))
    return Arg->getParent() == Main;
  auto *Load = dyn_cast<LoadInst>(V);
  if (!Load || Depth > 3)
    return false;
  const Value *From = getUnderlyingObject(Load->getPointerOperand());
  if (!isa<AllocaInst>(From))
    return isProgramArgument(From, Main, Depth + 1);
  bool Stored = false;
  for (const User *U : From->users()) {
    auto *Store = dyn_cast<StoreInst>(U);
    if (Store && (Store->getPointerOperand() != From ||
                  !isProgramArgument(Store->getValueOperand(), Main, Depth + 1)))
      return false;
    Stored |= Store != nullptr;
    auto *Call = dyn_cast<CallBase>(U);
    const Function *Callee = Call ? calleeOf(*Call) : nullptr;
    bool Fortran = false;
    const CallInfo *Row = Callee ? findRow(Callee->getName(), Fortran) : nullptr;
    bool Begins = Row && Row->Kind == CallKind::Other && Row->isSame(0) && Row->isSame(1);
    if (!Store && !isa<LoadInst>(U) && !(Callee && (Callee->isIntrinsic() || Begins)))
      return false;
  }
  return Stored;
}

bool Uniform::loadDiffers(const Value *Ptr) const {
  if (differs(Ptr))
    return true;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Ptr, Objects, nullptr, 0);
  for (const Value *Object : Objects) {
    if (auto *G = dyn_cast<GlobalVariable>(Object); G && G->isConstant())
      continue;
    if (isProgramArgument(Object, Main, 0))
      continue;
    if (!isTrackable(Object) || Untracked.contains(Object) || differs(Object))
      return true;
    // Contents of a global whose address is taken by something other than loads and stores.
    if (auto *G = dyn_cast<GlobalVariable>(Object); G && mayBeCaptured(G, /*Returned=*/false))
      return true;
  }
  return false;
}

bool Uniform::writes(const Value *Ptr, bool ValueDiffers, const BasicBlock *Where) {
  bool Differs = ValueDiffers || DifferingBlocks.contains(Where) || differs(Ptr);
  if (!Differs)
    return false;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Ptr, Objects, nullptr, 0);
  bool Changed = false;
  for (const Value *Object : Objects)
    if (!isa<Constant>(Object) || isa<GlobalVariable>(Object))
      Changed |= mark(Object);
  return Changed;
}

/// What a call writes through its arguments, and what it passes to a function of the module.
bool Uniform::visitCall(const CallBase &Call) {
  const Function *Callee = calleeOf(Call);
  const BasicBlock *Block = Call.getParent();
  bool Changed = false;
  if (Callee && !Callee->isDeclaration()) {
    bool BlockDiffers = DifferingBlocks.contains(Block);
    if (BlockDiffers && !DifferingBlocks.contains(&Callee->getEntryBlock()))
      for (const BasicBlock &B : *Callee)
        Changed |= markBlock(&B, DifferingBlocks.lookup(Block));
    for (const Argument &A : Callee->args())
      if (A.getArgNo() < Call.arg_size() && !differs(&A) &&
          differs(Call.getArgOperand(A.getArgNo())))
        Changed |= mark(&A);
  }
  bool Pure = Call.onlyReadsMemory() ||
              (Callee && (Callee->getName() == "printf" || Callee->getName() == "fprintf"));
  StringRef Name = Callee ? Callee->getName() : "";
  bool Fortran = false;
  const CallInfo *Row = rowOf(Call, Fortran);
  for (const Use &Arg : Call.args()) {
    if (!Arg->getType()->isPointerTy() || Pure || Call.isBundleOperand(&Arg))
      continue;
    unsigned At = Call.getArgOperandNo(&Arg);
    if (Call.onlyReadsMemory(At) || (Callee && Callee->isIntrinsic() && !isa<MemIntrinsic>(Call)))
      continue;
    if (auto *Mem = dyn_cast<MemIntrinsic>(&Call)) {
      if (At != 0)
        continue;
      bool Differs = isa<MemSetInst>(Mem) ? differs(Call.getArgOperand(1))
                                          : loadDiffers(Call.getArgOperand(1));
      Changed |= writes(Arg, Differs, Block);
      continue;
    }
    bool Differs = true;
    if (isMpiSymbol(Name)) {
      if (onlyReads(Name, At, Call.arg_size()))
        continue;
      bool Same = Row && Row->isSame(At);
      // What is made of, or asked about, what is the same is the same.
      if (Row &&
          (Row->Kind == CallKind::Type || (Row->Kind == CallKind::Query && Row->at('t') >= 0)))
        Same = all_of(Call.args(), [&](const Use &Other) {
          bool Place =
              Other->getType()->isPointerTy() && !Other->getName().starts_with("ompi_mpi_");
          return &Other == &Arg || !(Place ? loadDiffers(Other) : differs(Other));
        });
      // On a part of the world the parts differ.
      if (Same && (Row->Kind == CallKind::Collective || Row->Kind == CallKind::Query) &&
          Row->Comm >= 0) {
        const Value *Comm = Call.getArgOperand(Row->Comm);
        Library Mpi =
            Comm->getType()->isPointerTy() && !Fortran ? Library::OpenMpi : Library::Mpich;
        if (Fortran)
          Mpi = fortranLibrary(M).value_or(Library::Mpich);
        Same = knownCommunicator(Binding{Mpi, Fortran}, Comm, 100);
      }
      // A code, like a returned one.
      bool Code = Fortran && At == Call.arg_size() - 1;
      Differs = !(Same || Code);
    } else if (Callee && !Callee->isDeclaration()) {
      // Followed through the argument: what the callee writes there is unknown here.
      SmallVector<const Value *, 4> Objects;
      getUnderlyingObjects(Arg, Objects, nullptr, 0);
      for (const Value *Object : Objects)
        if (isTrackable(Object) && !isa<GlobalVariable>(Object) && Untracked.insert(Object).second)
          Changed = true;
    } else if (isPure(Name)) {
      // strtol and its like say where they stopped.
      if (!Name.starts_with("strto") || At != 1)
        continue;
      Differs = false;
    }
    // One rank alone may come here: `writes` looks at the block as well.
    Changed |= writes(Arg, Differs, Block);
  }
  return Changed;
}

bool Uniform::callDiffers(const CallBase &Call) const {
  const Function *Callee = calleeOf(Call);
  if (!Callee)
    return true;
  auto ArgDiffers = [&](const Use &U) { return differs(U); };
  if (!Callee->isDeclaration()) {
    for (const BasicBlock &B : *Callee)
      if (auto *Return = dyn_cast<ReturnInst>(B.getTerminator()))
        if (Return->getReturnValue() &&
            (differs(Return->getReturnValue()) || DifferingBlocks.contains(&B)))
          return true;
    return false;
  }
  StringRef Name = Callee->getName();
  if (isClock(Name))
    return true;
  if (isValue(Name))
    return any_of(Call.args(), ArgDiffers);
  // Codes of MPI: an error on one rank only ends the program, or the program has an error handler
  // and is refused as a whole.
  if (isMpiName(Name))
    return false;
  if (Callee->isIntrinsic() && Call.doesNotAccessMemory())
    return any_of(Call.args(), ArgDiffers);
  if (isPure(Name))
    return any_of(Call.args(), ArgDiffers);
  return true;
}

bool Uniform::knownCommunicator(const Binding &B, const Value *Comm, unsigned Depth) const {
  Value *V = byReference(B, const_cast<Value *>(Comm));
  if (V && B.pointerHandles()) {
    if (auto *G = dyn_cast<GlobalVariable>(V->stripPointerCasts()))
      return G->getName() == "ompi_mpi_comm_world";
  } else if (auto *C = dyn_cast_or_null<ConstantInt>(V)) {
    return (C->getZExtValue() & 0xffffffff) ==
           (B.Mpi == Library::Mpich ? MPICH_COMM_WORLD : OPENMPI_COMM_WORLD);
  }
  // Depth 100 asks for the world itself.
  if (Depth >= 4)
    return false;
  const Value *Slot = Comm;
  if (!B.Fortran) {
    auto *Load = dyn_cast<LoadInst>(Comm);
    if (!Load)
      return false;
    Slot = Load->getPointerOperand();
  }
  if (!isa<AllocaInst>(Slot) &&
      !(isa<GlobalVariable>(Slot) && cast<GlobalVariable>(Slot)->hasLocalLinkage()))
    return false;
  bool Made = false, IsFortran = false;
  for (const User *U : Slot->users()) {
    if (isa<LoadInst>(U))
      continue;
    auto *Call = dyn_cast<CallBase>(U);
    const Function *Callee = Call ? calleeOf(*Call) : nullptr;
    if (!Callee)
      return false;
    if (Callee->isIntrinsic())
      continue;
    const CallInfo *Row = rowOf(*Call, IsFortran);
    if (!Row)
      return false;
    for (const Use &A : Call->args()) {
      if (A.get() != Slot)
        continue;
      char Role = Row->role(Call->getArgOperandNo(&A));
      if (Role == 'C') {
        if (DifferingBlocks.contains(Call->getParent()) ||
            !knownCommunicator(B, Call->getArgOperand(Row->Comm), Depth + 1))
          return false;
        Made = true;
      } else if (Role != 'u' && !(B.Fortran && Role == 'c')) {
        return false;
      }
    }
  }
  return Made;
}

std::optional<Refusal> Uniform::refuse(const MessageCall &S) const {
  if (!Main)
    return Refusal::NoMain;
  if (!Opaque.empty())
    return Refusal::OpaqueProgram;
  if (S.Caller->hasAddressTaken() && S.Caller != Main)
    return Refusal::UnknownCallers;
  if (DifferingBlocks.contains(S.Call->getParent()))
    return Refusal::RankDependent;
  if (!knownCommunicator(S.Bind, S.Comm, 0))
    return Refusal::UnknownCommunicator;
  // What one rank finds to be a type of MPI all must.
  if (S.AsksType) {
    const Value *Type = S.Call->getArgOperand(S.Info->SizeType);
    if (S.Bind.Fortran ? loadDiffers(Type) : differs(Type))
      return Refusal::DerivedDatatype;
  }
  // Every call of the same procedure may match this one, whatever it is called: with large counts,
  // in the other language, past a shim.
  const Function *Callee = S.Call->getCalledFunction();
  std::string Procedure = procedure(Callee->getName());
  for (const Function &F : M)
    if (&F != Callee && !F.use_empty() && procedure(F.getName()) == Procedure)
      return StringRef(F.getName().lower()).starts_with("p") ? Refusal::ProfilingCall
                                                             : Refusal::OtherSite;
  for (const User *U : Callee->users()) {
    auto *Call = dyn_cast<CallBase>(U);
    if (!Call || Call->getCalledFunction() != Callee || DifferingBlocks.contains(Call->getParent()))
      return Refusal::OtherSite;
  }
  return std::nullopt;
}

std::string Uniform::condition(const MessageCall &S) const {
  const Instruction *Parting = DifferingBlocks.lookup(S.Call->getParent());
  DILocation *Loc = Parting ? Parting->getDebugLoc().get() : nullptr;
  if (!Loc)
    return "";
  std::string At = "ranks part at the condition on line " + std::to_string(Loc->getLine());
  // A call in a function that only some ranks call may lie in another file.
  DILocation *Mine = S.Loc.get();
  return Mine && Loc->getFilename() == Mine->getFilename() ? At
                                                           : At + " of " + Loc->getFilename().str();
}

std::optional<Refusal> Uniform::refuseUniform(const MessageCall &S) const {
  // The Fortran names of a library call past the C names that the shim replaces.
  if (S.Bind.Fortran)
    return Refusal::ProfilingCall;
  for (const Function &F : M)
    if ((F.getName().starts_with("PMPI_") || F.getName().starts_with("pmpi_")) && !F.use_empty())
      return Refusal::ProfilingCall;
  return std::nullopt;
}

} // namespace overlap

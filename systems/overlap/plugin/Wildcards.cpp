#include "Wildcards.h"
#include "Classify.h"
#include "System.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace overlap {

static const char *const FlagName = "overlap.nowildcards";

/// False if a number that is no int is no rank, such as `std::string::npos`. A function of another
/// file may receive from it.
static bool takesRanks(const CallBase &Call, const TargetLibraryInfo &TLI) {
  const auto *Callee = dyn_cast<Function>(Call.getCalledOperand()->stripPointerCasts());
  return !Callee || !isSystem(*Callee, TLI);
}

void noteWildcards(Module &M) {
  // MPI_ANY_SOURCE is -1 in OpenMPI and -2 in MPICH; a module that uses neither as a value has
  // none.
  bool Seen = false;
  std::optional<Library> OfFortran = fortranLibrary(M);
  // With OpenMPI, -2 is MPI_PROC_NULL; with MPICH, -1 is.
  const bool OpenMpi =
      M.getNamedGlobal("ompi_mpi_comm_world") != nullptr || OfFortran == Library::OpenMpi;
  const bool Mpich = !OpenMpi && (M.getFunction("MPI_Init") || OfFortran == Library::Mpich);
  TargetLibraryInfoImpl Impl{Triple(M.getTargetTriple())};
  TargetLibraryInfo TLI(Impl);
  auto IsWildcard = [&](const Value *V) {
    auto *C = dyn_cast<ConstantInt>(V);
    if (!C || C->getBitWidth() == 1)
      return false;
    return (C->getSExtValue() == OPENMPI_ANY_SOURCE && !Mpich) ||
           (C->getSExtValue() == MPICH_ANY_SOURCE && !OpenMpi);
  };
  for (const Function &F : M)
    for (const Instruction &I : instructions(F)) {
      if (auto *Call = dyn_cast<CallBase>(&I)) {
        // An array of many becomes a memset; the numbers of other intrinsics are sizes.
        if (isa<MemSetInst>(Call))
          Seen |= IsWildcard(cast<MemSetInst>(Call)->getValue());
        else if (!isa<IntrinsicInst>(Call))
          for (const Use &Arg : Call->args())
            Seen |= IsWildcard(Arg) && (Arg->getType()->isIntegerTy(32) || takesRanks(*Call, TLI));
      } else if (isa<StoreInst>(I) || isa<PHINode>(I) || isa<SelectInst>(I) || isa<ReturnInst>(I)) {
        for (const Use &Operand : I.operands())
          Seen |= IsWildcard(Operand);
      }
    }
  // Tables of neighbours may hold it.
  for (const GlobalVariable &G : M.globals()) {
    // Fortran's header leaves every constant of MPI here, most of them unused.
    if (!G.hasInitializer() || (G.use_empty() && G.hasLocalLinkage()))
      continue;
    SmallVector<const Constant *, 8> Work{G.getInitializer()};
    while (!Work.empty()) {
      const Constant *C = Work.pop_back_val();
      Seen |= IsWildcard(C);
      if (auto *Data = dyn_cast<ConstantDataSequential>(C)) {
        if (Data->getElementType()->isIntegerTy()) // No text holds these bytes.
          for (unsigned Idx = 0; Idx < Data->getNumElements(); ++Idx)
            Seen |= IsWildcard(Data->getElementAsConstant(Idx));
      } else {
        for (const Use &Operand : C->operands())
          if (auto *Inner = dyn_cast<Constant>(Operand); Inner && !isa<GlobalValue>(Inner))
            Work.push_back(Inner);
      }
    }
  }
  if (!Seen && !M.getModuleFlag(FlagName))
    M.addModuleFlag(Module::Min, FlagName, 1);
}

bool hasNoWildcards(const Module &M) {
  auto *Flag = mdconst::extract_or_null<ConstantInt>(M.getModuleFlag(FlagName));
  if (!Flag || !Flag->isOne())
    return false;
  for (const Function &F : M) {
    std::string Lower = F.getName().lower();
    StringRef Name = Lower;
    Name.consume_front("p");
    if (!Name.consume_front("mpi_") || F.use_empty())
      continue;
    if (Name.contains("probe") || Name.starts_with("test") || Name.starts_with("waitany") ||
        Name.starts_with("waitsome") || Name.starts_with("request_get_status") ||
        Name.starts_with("cancel"))
      return false;
  }
  return true;
}

} // namespace overlap

#include "ErrorHandler.h"
#include "Calls.h"
#include "Classify.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace overlap {

/// MPI_ERRORS_ARE_FATAL.
static bool isDefault(const CallBase &Call, bool Fortran) {
  // In Fortran either library may be meant, and no handler of the one is this number of the other.
  Value *Handler = byReference(Binding{Library::OpenMpi, Fortran}, Call.getArgOperand(1));
  if (!Handler)
    return false;
  if (auto *G = dyn_cast<GlobalVariable>(Handler->stripPointerCasts()))
    return !Fortran && G->getName() == "ompi_mpi_errors_are_fatal";
  auto *C = dyn_cast<ConstantInt>(Handler);
  return C && (C->equalsInt(MPICH_ERRORS_ARE_FATAL) ||
               (Fortran && C->equalsInt(OPENMPI_ERRORS_ARE_FATAL)));
}

/// True if all uses of `F` are calls that set the handler that is there anyway.
static bool setsDefaultOnly(const Function &F, StringRef Procedure) {
  bool Fortran = F.getName().ends_with("_");
  return (Procedure == "comm_set_errhandler" || Procedure == "errhandler_set") &&
         all_of(F.uses(), [&](const Use &U) {
           auto *Call = dyn_cast<CallBase>(U.getUser());
           return Call && Call->isCallee(&U) && Call->arg_size() == (Fortran ? 3 : 2) &&
                  isDefault(*Call, Fortran);
         });
}

bool setsHandler(const Module &M) {
  return any_of(M, [](const Function &F) {
    if (F.use_empty() || !isMpiName(F.getName()))
      return false;
    std::string Procedure = procedure(F.getName());
    return is_contained({"comm_set_errhandler", "file_set_errhandler", "errhandler_set",
                         "comm_create_errhandler", "file_create_errhandler", "errhandler_create"},
                        Procedure) &&
           !setsDefaultOnly(F, Procedure);
  });
}

bool callMpi(Function &F) {
  SmallVector<InvokeInst *, 8> Invokes;
  for (Instruction &I : instructions(F)) {
    auto *Invoke = dyn_cast<InvokeInst>(&I);
    const Function *Callee = Invoke ? Invoke->getCalledFunction() : nullptr;
    if (Callee && Callee->isDeclaration() && isMpiName(Callee->getName()))
      Invokes.push_back(Invoke);
  }
  // What catches is left to later passes: calls in it may be known already.
  for (InvokeInst *Invoke : Invokes)
    changeToCall(Invoke);
  return !Invokes.empty();
}

} // namespace overlap

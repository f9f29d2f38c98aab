#include "Runtime.h"
#include "Calls.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Constants.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace overlap {

static const unsigned char PendingBitcode[] = {
#include "pending.inc"
};
static const unsigned char FirstBitcode[] = {
#include "first.inc"
};
static const unsigned char LaterBitcode[] = {
#include "later.inc"
};
static const unsigned char MessageOpenMpi[] = {
#include "message-openmpi.inc"
};
static const unsigned char MessageMpich[] = {
#include "message-mpich.inc"
};
static const unsigned char MessageOpenMpiFortran[] = {
#include "message-openmpi-fortran.inc"
};
static const unsigned char MessageMpichFortran[] = {
#include "message-mpich-fortran.inc"
};

namespace {
/// One file of the run-time part.
struct RuntimeFile {
  StringRef Key; ///< What a module has that it was linked into.
  ArrayRef<unsigned char> Bitcode;
  bool Own = false; ///< Each module has its functions for itself.
};
} // namespace

/// Instructions from which on a function of the run-time part is not compiled with care.
static constexpr unsigned LongFunction = 16;
static constexpr StringRef PendingName = "__overlap_pending";
static const RuntimeFile Pending = {PendingName, PendingBitcode};
static const RuntimeFile First = {"__overlap_first_end", FirstBitcode};
static const RuntimeFile Later = {"__overlap_later_end", LaterBitcode};

/// Links `File` into `M`, as of the same target and with nothing of how it was compiled itself.
static void link(Module &M, const RuntimeFile &File) {
  if (M.getNamedValue(File.Key))
    return;
  StringRef Bytes(reinterpret_cast<const char *>(File.Bitcode.data()), File.Bitcode.size());
  Expected<std::unique_ptr<Module>> Read =
      parseBitcodeFile(MemoryBufferRef(Bytes, File.Key), M.getContext());
  if (!Read)
    report_fatal_error(Read.takeError());
  Module &Part = **Read;
  Part.setTargetTriple(M.getTargetTriple());
  Part.setDataLayout(M.getDataLayout());
  for (const char *Name : {"llvm.module.flags", "llvm.ident"})
    if (NamedMDNode *Flags = Part.getNamedMetadata(Name))
      Flags->eraseFromParent();
  for (Function &F : Part) {
    AttributeMask OfCompiler;
    for (const Attribute &A : F.getAttributes().getFnAttrs())
      if (A.isStringAttribute())
        OfCompiler.addAttribute(A.getKindAsString());
    OfCompiler.addAttribute(Attribute::UWTable);
    F.removeFnAttrs(OfCompiler);
  }
  // Where the program has a function of MPI for itself, whose arguments may have been taken away,
  // the library's own name.
  for (Function &F : Part)
    if (const Function *Known = M.getFunction(F.getName());
        Known && Known->hasLocalLinkage() && isMpiSymbol(F.getName()))
      F.setName((F.getName().starts_with("mpi_") ? "p" : "P") + F.getName());
  SmallVector<std::string, 16> Shared;
  for (GlobalObject &G : Part.global_objects())
    if (File.Own && isa<Function>(G) && !G.isDeclaration()) {
      Shared.push_back(G.getName().str());
    } else if (G.hasWeakLinkage()) {
      G.setComdat(Part.getOrInsertComdat(G.getName()));
      Shared.push_back(G.getName().str());
      // Programs and their libraries share the count; each has the functions for itself.
      if (isa<Function>(G)) {
        G.setVisibility(GlobalValue::HiddenVisibility);
        G.setDSOLocal(true);
      }
    }
  // A loop keeps its registers over the one call that it hardly ever makes, where the target has
  // such a convention. The dynamic linker does not know it, so no such call may go by way of it:
  // hence hidden.
  Triple Target(M.getTargetTriple());
  Function *Poll = Part.getFunction("__overlap_poll_after");
  if (Poll && (Target.getArch() == Triple::x86_64 || Target.getArch() == Triple::aarch64))
    Poll->setCallingConv(CallingConv::PreserveMost);
  // Each file compiles them again, the bitcode is optimised, and they run once a message or less: a
  // program is not faster if they are compiled with care.
  for (Function &F : Part)
    if (!F.isDeclaration()) {
      // Its bitcode was made small; what becomes a part of the program is to be fast.
      F.removeFnAttr(Attribute::MinSize);
      F.removeFnAttr(Attribute::OptimizeForSize);
      if (&F != Poll && F.getInstructionCount() >= LongFunction &&
          !F.hasFnAttribute(Attribute::AlwaysInline)) {
        F.addFnAttr(Attribute::NoInline);
        F.addFnAttr(Attribute::OptimizeNone);
      }
    }
  if (Linker::linkModules(M, std::move(*Read)))
    report_fatal_error("the run-time part of overlap fits no module");
  for (const std::string &Name : Shared)
    cast<GlobalObject>(M.getNamedValue(Name))
        ->setLinkage(File.Own ? GlobalValue::InternalLinkage : GlobalValue::LinkOnceODRLinkage);
}

bool hasRuntime(const Module &M) { return M.getNamedGlobal(PendingName) != nullptr; }

Function *runtime(Module &M, StringRef Name) {
  link(M, Name.starts_with("__overlap_later")   ? Later
          : Name.starts_with("__overlap_first") ? First
                                                : Pending);
  return M.getFunction(Name);
}

Function *message(Module &M, const Binding &B, StringRef Name) {
  bool Mpich = B.Mpi == Library::Mpich;
  std::string Suffix = B.Fortran ? ".f" : "";
  ArrayRef<unsigned char> Bitcode =
      B.Fortran ? (Mpich ? ArrayRef(MessageMpichFortran) : ArrayRef(MessageOpenMpiFortran))
                : (Mpich ? ArrayRef(MessageMpich) : ArrayRef(MessageOpenMpi));
  std::string Key = "overlap.wait" + Suffix;
  link(M, {Key, Bitcode, /*Own=*/true});
  return M.getFunction(("overlap." + Name + Suffix).str());
}

void forgetUnused(Module &M) {
  bool Again = true;
  while (Again) {
    Again = false;
    for (Function &F : make_early_inc_range(M))
      if (F.getName().starts_with("overlap.") && F.hasLocalLinkage() && F.use_empty()) {
        F.eraseFromParent();
        Again = true;
      }
  }
}

GlobalVariable *pendingCount(Module &M) {
  link(M, Pending);
  return M.getNamedGlobal(PendingName);
}

} // namespace overlap

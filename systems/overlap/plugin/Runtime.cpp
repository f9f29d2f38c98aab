#include "Runtime.h"
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

namespace {
/// One file of the run-time part.
struct RuntimeFile {
  StringRef Key; ///< What a module has that it was linked into.
  ArrayRef<unsigned char> Bitcode;
};
} // namespace

static constexpr StringRef PendingName = "__overlap_pending";
static const RuntimeFile Pending = {PendingName, PendingBitcode};
static const RuntimeFile First = {"__overlap_first_end", FirstBitcode};
static const RuntimeFile Later = {"__overlap_later_end", LaterBitcode};

/// Links `File` into `M`, as of the same target and with nothing of how it was compiled itself.
static void link(Module &M, const RuntimeFile &File) {
  if (M.getNamedValue(File.Key))
    return;
  StringRef Bytes(reinterpret_cast<const char *>(File.Bitcode.data()), File.Bitcode.size());
  Expected<std::unique_ptr<Module>> Read = parseBitcodeFile(MemoryBufferRef(Bytes, File.Key), M.getContext());
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
  SmallVector<std::string, 8> Shared;
  for (GlobalObject &G : Part.global_objects())
    if (G.hasWeakLinkage()) {
      G.setComdat(Part.getOrInsertComdat(G.getName()));
      Shared.push_back(G.getName().str());
      // Programs and their libraries share the count; each has the functions for itself.
      if (isa<Function>(G)) {
        G.setVisibility(GlobalValue::HiddenVisibility);
        G.setDSOLocal(true);
      }
    }
  // A loop keeps its registers over the one call that it hardly ever makes, where the target has such a convention. The
  // dynamic linker does not know it, so no such call may go by way of it: hence hidden.
  Triple Target(M.getTargetTriple());
  Function *Poll = Part.getFunction("__overlap_poll");
  if (Poll && (Target.getArch() == Triple::x86_64 || Target.getArch() == Triple::aarch64))
    Poll->setCallingConv(CallingConv::PreserveMost);
  if (Linker::linkModules(M, std::move(*Read)))
    report_fatal_error("the run-time part of overlap fits no module");
  for (const std::string &Name : Shared)
    cast<GlobalObject>(M.getNamedValue(Name))->setLinkage(GlobalValue::LinkOnceODRLinkage);
}

bool hasRuntime(const Module &M) { return M.getNamedGlobal(PendingName) != nullptr; }

Function *runtime(Module &M, StringRef Name) {
  link(M, Name.starts_with("__overlap_later") ? Later : Name.starts_with("__overlap_first") ? First : Pending);
  return M.getFunction(Name);
}

GlobalVariable *pendingCount(Module &M) {
  link(M, Pending);
  return M.getNamedGlobal(PendingName);
}

} // namespace overlap

#include "Lines.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"

using namespace llvm;

namespace overlap {

static constexpr const char *FlagName = "overlap-lines";

void noteLines(Module &M, const Options &O) {
  // Where debug information is asked for, by a configuration file too, clang names its version.
  bool Ours = O.DropLines && M.getDwarfVersion() == 0 &&
              all_of(M.debug_compile_units(), [](const DICompileUnit *Unit) {
                return Unit->getEmissionKind() == DICompileUnit::LineTablesOnly;
              });
  if (Ours && !M.getModuleFlag(FlagName))
    M.addModuleFlag(Module::Min, FlagName, 1);
}

bool dropLines(Module &M) {
  auto *Flag = mdconst::extract_or_null<ConstantInt>(M.getModuleFlag(FlagName));
  return Flag && Flag->isOne() && StripDebugInfo(M);
}

} // namespace overlap

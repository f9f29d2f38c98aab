#include "Scopes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace overlap {

/// What argument `At` of `Call` points to lives on, if it is a variable.
static void outlive(const CallBase &Call, int At) {
  auto *Slot = At < 0 ? nullptr : dyn_cast<AllocaInst>(getUnderlyingObject(Call.getArgOperand(At)));
  if (!Slot)
    return;
  for (const User *U : make_early_inc_range(Slot->users()))
    if (auto *Mark = dyn_cast<IntrinsicInst>(U); Mark && Mark->isLifetimeStartOrEnd())
      const_cast<IntrinsicInst *>(Mark)->eraseFromParent();
}

void outliveScopes(ArrayRef<Site *> Blocking, ArrayRef<ExistingWait> Own) {
  for (const Site *S : Blocking)
    outlive(*S->Call, S->Info->Status);
  // In Fortran a wait has its number of requests and its code in variables, too.
  for (const ExistingWait &E : Own)
    for (const CallInst *Wait : E.Whole.Waits)
      for (unsigned At = 0; At < Wait->arg_size(); ++At)
        outlive(*Wait, static_cast<int>(At));
}

} // namespace overlap

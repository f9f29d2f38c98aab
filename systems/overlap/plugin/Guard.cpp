#include "Guard.h"
#include "Cost.h"
#include "Runtime.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace overlap {

void guardStarts(ArrayRef<Site *> Sites, Effects &Fx) {
  for (Site *S : Sites) {
    SetVector<Site *> Inside;
    forEachInWindow(*S, [&](Instruction &I) {
      if (Fx.own(I) == Own::Init && Fx.siteOf(I) != S && !Fx.siteOf(I)->Existing)
        Inside.insert(Fx.siteOf(I));
    });
    for (Site *Begun : Inside)
      for (const Access &A : S->Accesses)
        for (const Access &B : Begun->Accesses) {
          if (!Fx.askWhenRunning(*S, A, *Begun, B))
            continue;
          IRBuilder<> At(Begun->Init);
          // In Fortran the count is read where the start reads it.
          Value *Count = B.Count;
          if (auto *Load = dyn_cast_or_null<LoadInst>(Count); Load && Begun->Bind.Fortran)
            Count = At.CreateLoad(At.getInt32Ty(), Load->getPointerOperand());
          Value *Bytes = Count ? At.CreateMul(At.CreateSExt(Count, At.getInt64Ty()),
                                              At.getInt64(B.ElementBytes))
                               : At.getInt64(sizeof(int32_t));
          At.CreateCall(message(*S->Caller->getParent(), S->Bind, "guard"),
                        {S->State, At.getInt32(A.Write), B.Ptr, Bytes});
        }
  }
}

} // namespace overlap

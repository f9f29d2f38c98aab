#include "Derived.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace overlap {

static constexpr unsigned DepthMax = 4;

/// A variable whose every user is in this module.
static bool isOwn(const Value *Slot) {
  auto *G = dyn_cast<GlobalVariable>(Slot);
  return isa<AllocaInst>(Slot) || (G && G->hasLocalLinkage());
}

/// Where the old type stands among the arguments of a function that counts elements; -1 for others.
static int oldTypeOf(StringRef Name) {
  return StringSwitch<int>(Name)
      .Case("type_contiguous", 1)
      .Case("type_vector", 3)
      .Cases("type_indexed", "type_create_indexed_block", 3)
      .Case("type_create_subarray", 5)
      .Default(-1);
}

/// True if `Call` gives the handle in `Slot` a type that stays in its buffer, or only uses it.
static bool isHarmless(const Binding &B, const CallBase &Call, const Use &U, unsigned Depth) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Call.isArgOperand(&U))
    return false;
  if (Callee->isIntrinsic())
    return isa<IntrinsicInst>(Call) && !isa<MemIntrinsic>(Call);
  std::string Lower = Callee->getName().lower();
  StringRef Name = Lower;
  if (!Name.consume_front("mpi_") || !Callee->isDeclaration())
    return false;
  Name.consume_back("_");
  if (Name == "type_commit" || Name == "type_free")
    return true;
  unsigned At = Call.getArgOperandNo(&U);
  int Old = Name == "type_dup" ? 0 : oldTypeOf(Name);
  if (Old < 0)
    // Fortran passes every handle by reference; only functions for datatypes write one.
    return B.Fortran && !Name.starts_with("type_");
  if (static_cast<int>(At) == Old)
    return true;
  unsigned Out = Call.arg_size() - (B.Fortran ? 2 : 1);
  return At == Out && staysInBuffer(B, Call.getArgOperand(Old), Depth + 1);
}

bool staysInBuffer(const Binding &B, Value *Type, unsigned Depth) {
  if (datatypeSize(B, Type))
    return true;
  if (Depth > DepthMax)
    return false;
  Value *Slot = Type->stripPointerCasts();
  if (!B.Fortran) {
    auto *Load = dyn_cast<LoadInst>(Type);
    if (!Load)
      return false;
    Slot = Load->getPointerOperand()->stripPointerCasts();
  }
  if (!isOwn(Slot))
    return false;
  bool Made = false;
  for (const Use &U : Slot->uses()) {
    if (auto *Load = dyn_cast<LoadInst>(U.getUser()); Load && !Load->isVolatile())
      continue;
    auto *Call = dyn_cast<CallBase>(U.getUser());
    if (!Call || !isHarmless(B, *Call, U, Depth))
      return false;
    Made |= !isa<IntrinsicInst>(Call);
  }
  return Made;
}

/// True if the first value of `G` is an array of constant datatypes.
static bool startsWithTypes(const Binding &B, const GlobalVariable &G) {
  if (!G.hasInitializer())
    return false;
  // Zero is no type, but may stand where nothing is read.
  const Constant *Init = G.getInitializer();
  if (Init->isNullValue())
    return true;
  auto *T = dyn_cast<ArrayType>(Init->getType());
  for (uint64_t Idx = 0; T && Idx < T->getNumElements(); ++Idx)
    if (!datatypeSize(B, Init->getAggregateElement(Idx)))
      return false;
  return T != nullptr;
}

bool allStayInBuffer(const Binding &B, Value *Array) {
  Value *Slot = getUnderlyingObject(Array);
  if (B.Fortran || !isOwn(Slot))
    return false;
  if (auto *G = dyn_cast<GlobalVariable>(Slot); G && !startsWithTypes(B, *G))
    return false;
  SmallVector<Value *, 8> Work{Slot};
  while (!Work.empty()) {
    Value *V = Work.pop_back_val();
    for (const Use &U : V->uses()) {
      User *By = U.getUser();
      if (isa<GetElementPtrInst>(By) || isa<GEPOperator>(By)) {
        Work.push_back(By);
      } else if (auto *Store = dyn_cast<StoreInst>(By)) {
        if (Store->getPointerOperand() != V || !staysInBuffer(B, Store->getValueOperand()))
          return false;
      } else if (auto *Call = dyn_cast<CallBase>(By)) {
        const Function *Callee = Call->getCalledFunction();
        bool Fortran = false;
        auto *Copy = dyn_cast<MemTransferInst>(Call);
        auto *From = Copy && U.getOperandNo() == 0 ? dyn_cast<GlobalVariable>(Copy->getRawSource()->stripPointerCasts()) : nullptr;
        if (From && From->isConstant() && startsWithTypes(B, *From))
          continue;
        if (!Callee || (!Callee->isIntrinsic() && !findCall(Callee->getName(), Fortran)) || isa<MemIntrinsic>(Call))
          return false;
      } else if (!isa<LoadInst>(By)) {
        return false;
      }
    }
  }
  return true;
}

} // namespace overlap

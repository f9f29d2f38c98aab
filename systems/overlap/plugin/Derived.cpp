#include "Derived.h"
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

namespace {
/// A function that makes a datatype: where its arguments stand, -1 for none.
struct Maker {
  int Old = -1;      ///< The type that it is made of.
  int OldArray = -1; ///< Several of them.
  int Bytes = -1;    ///< A number of bytes, and another one behind it.
  int Bytes2 = -1;
  int Places = -1; ///< An array of bytes.
};
} // namespace

/// What the row of `Call`, if it has one, says of that.
static Maker maker(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  bool Fortran = false;
  const CallInfo *Row =
      Callee && Callee->isDeclaration() ? findRow(Callee->getName(), Fortran) : nullptr;
  if (!Row || Row->Kind != CallKind::Type)
    return {};
  return {Row->at('t'), Row->at('A'), Row->at('b'), Row->at('b', 1), Row->at('P')};
}

/// True if `C` is a number, or an array or vector of numbers.
static bool isNumbers(const Constant *C) {
  return isa<ConstantInt>(C) || isa<ConstantAggregateZero>(C) || isa<ConstantDataSequential>(C) ||
         (isa<ConstantAggregate>(C) &&
          all_of(C->operands(), [](const llvm::Use &U) { return isNumbers(cast<Constant>(U)); }));
}

/// True if `C` is a constant datatype, or an array or vector of such. Zero is no type, but may
/// stand where nothing is read.
static bool isTypes(const Binding &B, Constant *C) {
  if (C->isNullValue() || datatypeSize(B, C))
    return true;
  unsigned N = isa<ArrayType>(C->getType()) ? C->getType()->getArrayNumElements()
               : isa<FixedVectorType>(C->getType())
                   ? cast<FixedVectorType>(C->getType())->getNumElements()
                   : 0;
  for (unsigned Idx = 0; Idx < N; ++Idx)
    if (Constant *Element = C->getAggregateElement(Idx); !Element || !isTypes(B, Element))
      return false;
  return N > 0;
}

/// True if all that is ever in the array at `Ptr` passes `Good`: a constant or variable of this
/// module that is written by stores and from constants, and read by MPI.
static bool holdsOnly(Value *Ptr, function_ref<bool(Value *)> Good) {
  Value *Slot = getUnderlyingObject(Ptr);
  if (auto *G = dyn_cast<GlobalVariable>(Slot)) {
    if (!G->hasInitializer() || !Good(G->getInitializer()))
      return false;
    if (G->isConstant())
      return true;
  }
  if (!isOwn(Slot))
    return false;
  SmallVector<Value *, 8> Work{Slot};
  while (!Work.empty()) {
    Value *V = Work.pop_back_val();
    for (const Use &U : V->uses()) {
      User *By = U.getUser();
      if (isa<GetElementPtrInst>(By) || isa<GEPOperator>(By)) {
        Work.push_back(By);
      } else if (auto *Store = dyn_cast<StoreInst>(By)) {
        if (Store->getPointerOperand() != V || !Good(Store->getValueOperand()))
          return false;
      } else if (auto *Set = dyn_cast<MemSetInst>(By)) {
        if (!Good(ConstantInt::get(Type::getInt32Ty(Set->getContext()), 0)) ||
            !isa<ConstantInt>(Set->getValue()) || !cast<ConstantInt>(Set->getValue())->isZero())
          return false;
      } else if (auto *Copy = dyn_cast<MemTransferInst>(By)) {
        auto *From = dyn_cast<GlobalVariable>(Copy->getRawSource()->stripPointerCasts());
        if (U.getOperandNo() != 0 || !From || !From->isConstant() || !From->hasInitializer() ||
            !Good(From->getInitializer()))
          return false;
      } else if (auto *Call = dyn_cast<CallBase>(By)) {
        const Function *Callee = Call->getCalledFunction();
        bool Fortran = false;
        Maker Of = maker(*Call);
        bool Makes = (Of.Old >= 0 || Of.OldArray >= 0) && Call->isArgOperand(&U) &&
                     Call->getArgOperandNo(&U) + 1 < Call->arg_size();
        const CallInfo *Info = Callee ? findCall(Callee->getName(), Fortran) : nullptr;
        bool Reads = Info && Call->isArgOperand(&U) &&
                     is_contained(Info->Arrays, static_cast<int>(Call->getArgOperandNo(&U)));
        if (!Makes && !Reads && !Call->isLifetimeStartOrEnd())
          return false;
      } else if (!isa<LoadInst>(By)) {
        return false;
      }
    }
  }
  return true;
}

static bool allStayInBuffer(const Binding &B, Value *Array, unsigned Depth);

/// True if what `Call` makes stays in its buffer.
static bool makesHarmless(const Binding &B, const CallBase &Call, const Maker &Of, unsigned Depth) {
  auto IsNumber = [&](int At) {
    return At < 0 || isa_and_nonnull<ConstantInt>(byReference(B, Call.getArgOperand(At)));
  };
  auto Numbers = [](Value *V) { return isa<Constant>(V) && isNumbers(cast<Constant>(V)); };
  return IsNumber(Of.Bytes) && IsNumber(Of.Bytes2) &&
         (Of.Places < 0 || holdsOnly(Call.getArgOperand(Of.Places), Numbers)) &&
         (Of.Old < 0 || staysInBuffer(B, Call.getArgOperand(Of.Old), Depth + 1)) &&
         (Of.OldArray < 0 || allStayInBuffer(B, Call.getArgOperand(Of.OldArray), Depth + 1));
}

/// True if `Call` gives the handle in `Slot` a type that stays in its buffer, or only uses it.
static bool isHarmless(const Binding &B, const CallBase &Call, const Use &U, unsigned Depth) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Call.isArgOperand(&U))
    return false;
  if (Callee->isIntrinsic())
    return isa<IntrinsicInst>(Call) && !isa<MemIntrinsic>(Call);
  if (!Callee->isDeclaration() || !isMpiSymbol(Callee->getName()))
    return false;
  unsigned At = Call.getArgOperandNo(&U);
  bool Fortran = false;
  const CallInfo *Row = findRow(Callee->getName(), Fortran);
  if (Row && Row->role(At) == 'u')
    return true;
  Maker Of = maker(Call);
  if (Of.Old < 0 && Of.OldArray < 0)
    // Fortran passes every handle by reference; only functions for datatypes write one.
    return B.Fortran && !Callee->getName().starts_with("mpi_type_");
  if (static_cast<int>(At) == Of.Old)
    return true;
  unsigned Out = Call.arg_size() - (B.Fortran ? 2 : 1);
  return At == Out && makesHarmless(B, Call, Of, Depth);
}

bool mayBeNamed(const Binding &B, Value *Type) {
  Value *Slot = Type->stripPointerCasts();
  if (!B.Fortran) {
    auto *Load = dyn_cast<LoadInst>(Type);
    if (!Load)
      return true;
    Slot = Load->getPointerOperand()->stripPointerCasts();
  }
  bool Made = false;
  for (const Use &U : Slot->uses()) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    const Function *Callee = Call && Call->isArgOperand(&U) ? Call->getCalledFunction() : nullptr;
    if (isa<LoadInst>(U.getUser()) || (Callee && Callee->isIntrinsic() && !isa<MemIntrinsic>(Call)))
      continue;
    // What a store or an unknown function gives it may be anything.
    if (!Callee || !isMpiSymbol(Callee->getName()))
      return true;
    Maker Of = maker(*Call);
    Made |= (Of.Old >= 0 || Of.OldArray >= 0) &&
            Call->getArgOperandNo(&U) == Call->arg_size() - (B.Fortran ? 2 : 1);
  }
  return !Made || !isOwn(Slot);
}

bool staysInBuffer(const Binding &B, Value *Type, unsigned Depth) {
  if (datatypeSize(B, Type))
    return true;
  if (Depth > DepthMax)
    return false;
  Value *Slot = Type->stripPointerCasts();
  if (!B.Fortran) {
    if (auto *Either = dyn_cast<SelectInst>(Type))
      return staysInBuffer(B, Either->getTrueValue(), Depth + 1) &&
             staysInBuffer(B, Either->getFalseValue(), Depth + 1);
    if (auto *Phi = dyn_cast<PHINode>(Type))
      return all_of(Phi->incoming_values(),
                    [&](Value *V) { return staysInBuffer(B, V, Depth + 1); });
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

/// True if `staysInBuffer` holds for every element of an array of datatypes.
static bool allStayInBuffer(const Binding &B, Value *Array, unsigned Depth) {
  if (B.Fortran || Depth > DepthMax)
    return false;
  return holdsOnly(Array, [&](Value *V) {
    auto *C = dyn_cast<Constant>(V);
    return C ? isTypes(B, C) : staysInBuffer(B, V, Depth);
  });
}

} // namespace overlap

#include "Effects.h"
#include "Versions.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace overlap {

/// Functions with more instructions are not looked into.
static constexpr unsigned CalleeMax = 5000;

/// Functions of the mathematical library: they write nothing but errno, which no message holds.
/// (lgamma also says the sign of its result, in a global.)
static bool isMath(StringRef Name) {
  static const StringSet<> Names = {
      "acos",     "acosh", "asin",      "asinh",  "atan",      "atan2", "atanh", "cbrt",  "ceil",
      "copysign", "cos",   "cosh",      "erf",    "erfc",      "exp",   "exp2",  "expm1", "fabs",
      "floor",    "fma",   "fmax",      "fmin",   "fmod",      "hypot", "ldexp", "log",   "log10",
      "log1p",    "log2",  "nearbyint", "pow",    "remainder", "rint",  "round", "sin",   "sinh",
      "sqrt",     "tan",   "tanh",      "tgamma", "trunc",     "abs",   "labs"};
  if (Names.contains(Name))
    return true;
  return (Name.consume_back("f") || Name.consume_back("l")) && Names.contains(Name);
}

static const Function *calleeOf(const CallBase &Call) {
  return dyn_cast<Function>(Call.getCalledOperand()->stripPointerCasts());
}

Own Effects::own(const Instruction &I) const {
  auto It = Ours.find(&I);
  return It == Ours.end() ? Own::None : It->second.first;
}

Site *Effects::siteOf(const Instruction &I) const {
  auto It = Ours.find(&I);
  return It == Ours.end() ? nullptr : It->second.second;
}

static bool intrinsicStops(const IntrinsicInst &I) {
  switch (I.getIntrinsicID()) {
  case Intrinsic::readcyclecounter:
  case Intrinsic::readsteadycounter:
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
  case Intrinsic::trap:
  case Intrinsic::debugtrap:
  case Intrinsic::ubsantrap:
  case Intrinsic::vastart:
  case Intrinsic::vaend:
  case Intrinsic::vacopy:
  case Intrinsic::localescape:
  case Intrinsic::eh_typeid_for:
  case Intrinsic::experimental_deoptimize:
  case Intrinsic::experimental_guard:
    return true;
  default:
    break;
  }
  if (auto *Mem = dyn_cast<MemIntrinsic>(&I))
    return Mem->isVolatile();
  // The others are atomic.
  if (isa<AnyMemIntrinsic>(I))
    return true;
  return !I.doesNotThrow() || I.isConvergent() ||
         !(I.onlyAccessesArgMemory() || I.onlyAccessesInaccessibleMemOrArgMem());
}

bool Effects::callStops(const CallBase &Call) const {
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call))
    return intrinsicStops(*Intrinsic);
  if (Call.isInlineAsm() || Call.isConvergent() || Call.hasFnAttr(Attribute::ReturnsTwice) ||
      Call.cannotDuplicate() || Call.doesNotReturn())
    return true;
  const Function *Callee = calleeOf(Call);
  if (Callee && isQuery(Callee->getName()))
    return false;
  if (!Callee || isMpiName(Callee->getName()))
    return true;
  if (Callee->isDeclaration() && isMath(Callee->getName()))
    return false;
  if (!Call.doesNotThrow())
    return true;
  if (Callee->isDeclaration() && (Callee->getName() == "malloc" || Callee->getName() == "calloc"))
    return false;
  // A function that calls MPI, frees or synchronises has not both of these.
  if (Call.hasFnAttr(Attribute::NoSync) && Call.hasFnAttr(Attribute::NoFree))
    return false;
  return !(Call.onlyReadsMemory() && Call.hasFnAttr(Attribute::WillReturn)) && !isQuiet(*Callee);
}

bool Effects::isQuiet(const Function &F) const {
  // A function that calls itself finds itself loud.
  auto [It, New] = Quiet.try_emplace(&F, false);
  if (!New || !F.hasExactDefinition() || F.getName().starts_with("overlap.") ||
      F.getInstructionCount() > CalleeMax)
    return It->second;
  bool Known = none_of(instructions(F),
                       [&](const Instruction &I) { return !isa<ReturnInst>(I) && stops(I); });
  return Quiet[&F] = Known;
}

bool Effects::stops(const Instruction &I) const {
  if (own(I) != Own::None)
    return false;
  if (auto *Call = dyn_cast<CallInst>(&I))
    return callStops(*Call);
  if (I.isTerminator())
    return !isa<BranchInst>(I) && !isa<SwitchInst>(I);
  if (isa<FenceInst>(I) || isa<VAArgInst>(I) || I.isEHPad())
    return true;
  return I.isAtomic() || I.isVolatile();
}

namespace {
/// Sees captures, but for those by MPI calls that give the pointer back when they end, also inside
/// of functions that are given the pointer, as wrappers are. An address given to MPI_Get_address, a
/// window or a buffer stays known to MPI.
struct CapturedBesidesMpi : Captures {
  static constexpr unsigned DepthMax = 4;
  unsigned Depth = 0;
  bool WhilePending; ///< A call that keeps the pointer until its message ends counts as well.
  bool Found = false;
  CapturedBesidesMpi(unsigned Depth, bool WhilePending)
      : Depth(Depth), WhilePending(WhilePending) {}
  void tooManyUses() override { Found = true; }
  bool captured(const Use *U) override {
    auto *Call = dyn_cast<CallBase>(U->getUser());
    const Function *Callee = Call ? calleeOf(*Call) : nullptr;
    if (Callee) {
      StringRef Name = Callee->getName();
      bool Fortran = false;
      if (findCall(Name, Fortran) || Name.starts_with("overlap.") || isQuery(Name) ||
          (!WhilePending && (findStart(Name, Fortran) || findEnd(Name, Fortran))))
        return false;
      if (Depth < DepthMax && Call->isArgOperand(U) && Callee->hasExactDefinition() &&
          Call->getArgOperandNo(U) < Callee->arg_size()) {
        CapturedBesidesMpi Inside(Depth + 1, WhilePending);
        PointerMayBeCaptured(Callee->getArg(Call->getArgOperandNo(U)), &Inside);
        if (!Inside.Found)
          return false;
      }
    }
    Found = true;
    return true;
  }
};
} // namespace

/// False if calls that are not given `Object` cannot reach it.
bool Effects::reachableByCalls(const Value *Object) {
  // Of what is remembered nothing goes away while statements are gathered, as a phi may.
  if (!isa<AllocaInst>(Object) && !isNoAliasCall(Object))
    return true;
  auto [It, New] = Reachable.try_emplace(Object, true);
  if (New) {
    CapturedBesidesMpi Tracker(0, /*WhilePending=*/true);
    PointerMayBeCaptured(Object, &Tracker);
    It->second = Tracker.Found;
  }
  return It->second;
}

const Effects::Named &Effects::named(const Function &F) {
  auto [It, New] = NamedBy.try_emplace(&F);
  Named &Of = It->second;
  // A function that calls itself finds itself unknown.
  if (!New || !F.hasExactDefinition() || F.getInstructionCount() > CalleeMax)
    return Of;
  auto Add = [&](const Value *Ptr) {
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(Ptr, Objects, nullptr, 0);
    return all_of(Objects, [&](const Value *Object) {
      if (auto *G = dyn_cast<GlobalVariable>(Object))
        return Of.Globals.insert(G), true;
      return isa<AllocaInst>(Object) || isa<Argument>(Object);
    });
  };
  auto AddCall = [&](const CallBase &Call) {
    const Function *Callee = calleeOf(Call);
    if (Call.doesNotAccessMemory() ||
        (Callee && Callee->isDeclaration() && isMath(Callee->getName())))
      return true;
    if (!Call.onlyAccessesArgMemory()) {
      if (!Callee || Callee->isDeclaration())
        return false;
      const Named &Inside = named(*Callee);
      if (!Inside.All)
        return false;
      Of.Globals.insert(Inside.Globals.begin(), Inside.Globals.end());
    }
    return all_of(Call.args(),
                  [&](const Use &Arg) { return !Arg->getType()->isPointerTy() || Add(Arg); });
  };
  Of.All = all_of(instructions(F), [&](const Instruction &I) {
    if (!I.mayReadOrWriteMemory() || isa<AssumeInst>(I) || isa<NoAliasScopeDeclInst>(I))
      return true;
    if (auto *Call = dyn_cast<CallBase>(&I))
      return AddCall(*Call);
    auto Loc = MemoryLocation::getOrNone(&I);
    return Loc && Add(Loc->Ptr);
  });
  return Of;
}

/// True if the two pointers come from different objects, through whatever phis and selects: LLVM's
/// analysis gives up where two pointers are swapped in a loop.
bool Effects::differentObjects(const Value *A, const Value *B) {
  SmallVector<const Value *, 4> OfA, OfB;
  getUnderlyingObjects(A, OfA, nullptr, 0);
  getUnderlyingObjects(B, OfB, nullptr, 0);
  for (const Value *ObjectA : OfA)
    for (const Value *ObjectB : OfB)
      if (ObjectA == ObjectB || !isIdentifiedObject(ObjectA) || !isIdentifiedObject(ObjectB))
        return false;
  return true;
}

/// True if the address of the variable `G` is known to nobody: it is only loaded and stored, by its
/// name.
static bool isOnlyNamed(const Value *G) {
  return all_of(G->users(), [&](const User *U) {
    if (auto *Store = dyn_cast<StoreInst>(U))
      return Store->getValueOperand() != G;
    auto *Member = dyn_cast<ConstantExpr>(U);
    return isa<LoadInst>(U) ||
           (Member && Member->getOpcode() == Instruction::GetElementPtr && isOnlyNamed(Member));
  });
}

/// True if no pointer leads to `Object` that is not made of it: nobody but MPI has its address, and
/// MPI tells it to nobody.
bool Effects::isOnlyHere(const Value *Object) {
  auto *G = dyn_cast<GlobalVariable>(Object);
  if (!isa<AllocaInst>(Object) && !isNoAliasCall(Object) && !(G && G->hasLocalLinkage()))
    return false;
  auto [It, New] = OnlyHere.try_emplace(Object, false);
  if (New && G) {
    It->second = isOnlyNamed(G);
  } else if (New) {
    CapturedBesidesMpi Tracker(0, /*WhilePending=*/false);
    PointerMayBeCaptured(Object, &Tracker);
    It->second = !Tracker.Found;
  }
  return It->second;
}

bool Effects::disjoint(const MemoryLocation &A, const MemoryLocation &B) {
  if (AA.isNoAlias(A, B) || differentObjects(A.Ptr, B.Ptr))
    return true;
  SmallVector<const Value *, 4> OfA, OfB;
  getUnderlyingObjects(A.Ptr, OfA, nullptr, 0);
  getUnderlyingObjects(B.Ptr, OfB, nullptr, 0);
  auto Apart = [&](const Value *Object, ArrayRef<const Value *> Others) {
    return isOnlyHere(Object) && !is_contained(Others, Object);
  };
  return all_of(OfA, [&](const Value *Object) { return Apart(Object, OfB); }) ||
         all_of(OfB, [&](const Value *Object) { return Apart(Object, OfA); });
}

/// What a call may do to memory that argument `At` points to.
static ModRefInfo throughArgument(const CallBase &Call, unsigned At) {
  // What is passed by value is copied, whatever the callee does to the copy.
  if (Call.isByValArgument(At))
    return ModRefInfo::Ref;
  if (Call.doesNotAccessMemory(At))
    return ModRefInfo::NoModRef;
  if (Call.onlyReadsMemory(At))
    return ModRefInfo::Ref;
  return Call.onlyWritesMemory(At) ? ModRefInfo::Mod : ModRefInfo::ModRef;
}

ModRefInfo Effects::modRef(const Instruction &I, const MemoryLocation &Loc) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (auto Own = MemoryLocation::getOrNone(&I); Own && disjoint(*Own, Loc))
    return ModRefInfo::NoModRef;
  if (!Call)
    return AA.getModRefInfo(&I, Loc);
  const Function *Callee = calleeOf(*Call);
  if (Callee && Callee->isDeclaration() && isMath(Callee->getName()))
    return ModRefInfo::NoModRef;
  if (isa<AssumeInst>(I) || isa<NoAliasScopeDeclInst>(I))
    return ModRefInfo::NoModRef;
  ModRefInfo Known = AA.getModRefInfo(&I, Loc);
  if (isNoModRef(Known))
    return Known;
  bool Query = Callee && isQuery(Callee->getName());
  auto NotNamed = [&] {
    const Named *Of = Callee ? &named(*Callee) : nullptr;
    return Of && Of->All && all_of(Of->Globals, [&](const GlobalVariable *G) {
             return disjoint(MemoryLocation::getBeforeOrAfter(G),
                             MemoryLocation::getBeforeOrAfter(Loc.Ptr));
           });
  };
  if (!Query && !Call->onlyAccessesArgMemory() && reachableByCalls(getUnderlyingObject(Loc.Ptr)) &&
      !NotNamed())
    return Known;
  // It is used through arguments only, so what each of them is for tells.
  ModRefInfo Through = ModRefInfo::NoModRef;
  for (unsigned At = 0; At < Call->arg_size(); ++At) {
    Value *Arg = Call->getArgOperand(At);
    if (Arg->getType()->isPointerTy() &&
        !disjoint(MemoryLocation::getBeforeOrAfter(Arg), MemoryLocation::getBeforeOrAfter(Loc.Ptr)))
      Through |= throughArgument(*Call, At);
  }
  return Known & Through;
}

bool Effects::mayPass(const MessageCall &Pending, const MessageCall &Other) const {
  if (Pending.Info->Kind == CallKind::Send || O.NoWildcards)
    return true;
  if (Other.Info->Kind == CallKind::Recv && !Other.AlsoSends)
    return true;
  return Pending.Info->Kind == CallKind::Collective && Other.Info->Kind == CallKind::Collective &&
         Pending.Comm == Other.Comm;
}

bool Effects::overlap(const Access &A, const Access &B) {
  return (A.Write || B.Write) && !disjoint(A.location(), B.location());
}

bool Effects::askWhenRunning(const Site &S, const Access &A, const Site &T, const Access &B) {
  return !S.InCallee && !S.Existing && !T.Existing && A.Count && (B.Count || B.AtStart) &&
         overlap(A, B);
}

bool Effects::touches(const Instruction &I, const Site &S, bool Started) {
  if (Site *Other = siteOf(I)) {
    bool Begins = own(I) == Own::Init;
    for (const Access &A : S.Accesses)
      for (const Access &B : Other->Accesses)
        if (!(Started && A.AtStart) && (Begins || !B.AtStart) && overlap(A, B) &&
            !askWhenRunning(S, A, *Other, B) && !askWhenRunning(*Other, B, S, A))
          return true;
    return false;
  }
  if (!I.mayReadOrWriteMemory())
    return false;
  // Nothing is open before this store, and the start comes after it.
  if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->getPointerOperand() == S.State)
    return true;
  return any_of(S.Accesses,
                [&](const Access &A) { return !(Started && A.AtStart) && mayUse(I, A); });
}

bool Effects::meets(const MessageCall &S, const MessageCall &T) {
  return any_of(S.Accesses, [&](const Access &A) {
    return any_of(T.Accesses,
                  [&](const Access &B) { return !(A.AtStart && B.AtStart) && overlap(A, B); });
  });
}

bool Effects::mayUse(const Instruction &I, const Access &A) {
  ModRefInfo Known = modRef(I, A.location());
  return A.Write ? isModOrRefSet(Known) : isModSet(Known);
}

bool Effects::isMathCall(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  const Function *Callee = Call ? calleeOf(*Call) : nullptr;
  return Callee && Callee->isDeclaration() && isMath(Callee->getName());
}

static bool isErrno(const Value *Ptr) {
  auto *Call = dyn_cast<CallBase>(getUnderlyingObject(Ptr));
  const Function *Callee = Call ? calleeOf(*Call) : nullptr;
  return Callee && Callee->getName() == "__errno_location";
}

bool Effects::conflict(const Instruction &A, const Instruction &B) {
  Own OfA = own(A), OfB = own(B);
  if (OfA != Own::None && OfB != Own::None) {
    // The order of initiations never changes, and a message ends after it starts.
    if ((OfA == Own::Init && OfB == Own::Init) || siteOf(A) == siteOf(B))
      return true;
    const Site &Ended = OfA == Own::Wait ? *siteOf(A) : *siteOf(B);
    const Site &Begun = OfA == Own::Wait ? *siteOf(B) : *siteOf(A);
    if (OfA != OfB && !mayPass(Ended, Begun))
      return true;
    return touches(A, *siteOf(B), OfB == Own::Wait);
  }
  if (OfA != Own::None)
    return touches(B, *siteOf(A), OfA == Own::Wait);
  if (OfB != Own::None)
    return touches(A, *siteOf(B), OfB == Own::Wait);
  if (!A.mayReadOrWriteMemory() || !B.mayReadOrWriteMemory())
    return false;
  if (!A.mayWriteToMemory() && !B.mayWriteToMemory())
    return false;
  auto *CallA = dyn_cast<CallBase>(&A);
  auto *CallB = dyn_cast<CallBase>(&B);
  if (!CallB) {
    auto Loc = MemoryLocation::getOrNone(&B);
    // A function that is called may call one of the mathematical library.
    if (!Loc || (isa<CallBase>(A) && isErrno(Loc->Ptr)))
      return true;
    ModRefInfo Known = modRef(A, *Loc);
    return B.mayWriteToMemory() ? isModOrRefSet(Known) : isModSet(Known);
  }
  if (!CallA)
    return conflict(B, A);
  // Two of the mathematical library; or one and a call that cannot ask for errno.
  for (auto [One, Other] : {std::pair(CallA, CallB), std::pair(CallB, CallA)})
    if (isMathCall(*One) && (isMathCall(*Other) || Other->onlyAccessesArgMemory() ||
                             Other->onlyAccessesInaccessibleMemOrArgMem()))
      return false;
  if (isa<AssumeInst>(A) || isa<AssumeInst>(B) || isa<NoAliasScopeDeclInst>(A) ||
      isa<NoAliasScopeDeclInst>(B))
    return false;
  return isModOrRefSet(AA.getModRefInfo(CallA, CallB)) ||
         isModOrRefSet(AA.getModRefInfo(CallB, CallA));
}

} // namespace overlap

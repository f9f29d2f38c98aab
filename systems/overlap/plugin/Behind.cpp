#include "Behind.h"
#include "Effects.h"
#include "Versions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace overlap {

/// More places between a loop and its messages are not looked at when they run.
static constexpr unsigned GuardsMax = 64;

bool Behind::isApart(const MemoryLocation &Loc, bool FromWritten) {
  return all_of(P.Touches, [&](const Touch &T) {
    return (FromWritten && !T.Writes) || AA.isNoAlias(Loc, T.around()) ||
           Effects::differentObjects(Loc.Ptr, T.Ptr);
  });
}

/// The memory of a message. In Fortran, what is written through one dummy argument is read through
/// no other, and flang's tags name the argument: the tag of a load or store through the same
/// argument, in the function that it is an argument of, is that of the message too.
MemoryLocation Behind::message(Value *Buffer) {
  auto *Dummy = dyn_cast<Argument>(getUnderlyingObject(Buffer, 0));
  AAMDNodes Tags;
  if (!Dummy)
    return MemoryLocation::getBeforeOrAfter(Buffer);
  auto NameOf = [](const MDNode *Node) {
    auto *Name = Node && Node->getNumOperands() ? dyn_cast<MDString>(Node->getOperand(0)) : nullptr;
    return Name ? Name->getString() : "";
  };
  StringRef Symbol = P.F.getName();
  std::string Root = ("Flang function root " +
                      (Symbol.starts_with("_Q") ? Symbol.str() : "_QP" + Symbol.rtrim('_').str()));
  for (Instruction &I : instructions(P.F)) {
    const Value *Ptr = getLoadStorePointerOperand(&I);
    MDNode *Tag = Ptr ? I.getMetadata(LLVMContext::MD_tbaa) : nullptr;
    auto *Type = Tag && Tag->getNumOperands() ? dyn_cast<MDNode>(Tag->getOperand(0)) : nullptr;
    if (!Type || !NameOf(Type).starts_with("dummy arg data/") ||
        getUnderlyingObject(Ptr, 0) != Dummy)
      continue;
    const MDNode *Up = Type;
    while (Up->getNumOperands() > 1 && isa<MDNode>(Up->getOperand(1)))
      Up = cast<MDNode>(Up->getOperand(1));
    if (NameOf(Up) == Root) {
      Tags.TBAA = Tag;
      break;
    }
  }
  return MemoryLocation::getBeforeOrAfter(Buffer, Tags);
}

/// A load of what the passes that are left do not write, or that is compared with it.
Behind::Verdict Behind::reads(Instruction &I, const MemoryLocation &Loc) {
  if (isApart(Loc, /*FromWritten=*/true))
    return Verdict::Passes;
  if (!Loc.Size.isPrecise() || Loc.Size.getValue().isScalable())
    return Verdict::Ends;
  Asked.push_back({&I, const_cast<Value *>(Loc.Ptr), Loc.Size.getValue().getFixedValue()});
  return Verdict::Guards;
}

Behind::Verdict Behind::verdictOfArguments(CallInst &Call, const CallInfo &Info,
                                           const Binding &Bind, bool Starts) {
  Verdict Worst = Verdict::Passes;
  for (unsigned At = 0; At < Call.arg_size(); ++At) {
    Value *Arg = Call.getArgOperand(At);
    int Is = static_cast<int>(At);
    bool Handle = !Bind.Fortran && (Is == Info.SendType || Is == Info.RecvType || Is == Info.Comm);
    if (!Arg->getType()->isPointerTy() || Handle || Is == Info.SendBuf ||
        isSentinel(Bind, Arg, Call.getDataLayout()))
      continue;
    bool Code = Bind.Fortran && At + 1 == Call.arg_size();
    bool Request = Starts && Is == static_cast<int>(Call.arg_size()) - (Bind.Fortran ? 2 : 1);
    bool Written = Is == Info.RecvBuf || Code || Request || (!Starts && Is == Info.Status);
    Verdict Of = Is == Info.RecvBuf ? writes(message(Arg))
                 : Written          ? writes(MemoryLocation::getAfter(Arg))
                                    : reads(Call, MemoryLocation(Arg, LocationSize::precise(4)));
    Worst = std::max(Worst, Of);
  }
  return Worst;
}

bool Behind::isFilledByEach(const CallInst &Call, const CallInfo &Info, const Binding &Bind) const {
  ScalarEvolution &SE = P.SE;
  auto Size = datatypeSize(Bind, Call.getArgOperand(Info.SendType));
  Value *Count = byReference(Bind, Call.getArgOperand(Info.SendCount));
  const SCEV *LastPass = SE.getBackedgeTakenCount(&P.L);
  if (!Size || !Count || isa<SCEVCouldNotCompute>(LastPass) ||
      SE.getTypeSizeInBits(LastPass->getType()) > 64)
    return false;
  Type *Int = Type::getInt64Ty(Call.getContext());
  const SCEV *Last = SE.getNoopOrZeroExtend(LastPass, Int),
             *N = SE.getNoopOrZeroExtend(SE.getSCEV(Count), Int);
  auto IsBelow = [&](const SCEV *A, const SCEV *B) {
    return SE.isKnownPredicate(ICmpInst::ICMP_SLT, A, B) ||
           SE.isLoopEntryGuardedByCond(&P.L, ICmpInst::ICMP_SLT, A, B);
  };
  return any_of(P.Writes, [&](const Written &W) {
    // The message begins `At` bytes behind where the writing does. The first pass comes below its
    // end and the last above its beginning.
    auto *At = dyn_cast<SCEVConstant>(
        SE.getMinusSCEV(SE.getSCEV(Call.getArgOperand(Info.SendBuf)), W.Low));
    if (!At || W.Step <= 0 || At->getAPInt().getSExtValue() >= W.To)
      return false;
    const SCEV *From = SE.getAddExpr(SE.getMulExpr(Last, SE.getConstant(Int, W.Step)),
                                     SE.getConstant(Int, W.From, true));
    const SCEV *To = SE.getAddExpr(SE.getMulExpr(N, SE.getConstant(Int, *Size)),
                                   SE.getConstant(Int, At->getAPInt().getSExtValue(), true));
    // A pass for each element, as often as there are elements, or what is known of the bytes.
    bool Elements = W.Step == static_cast<int64_t>(*Size) &&
                    W.From <= At->getAPInt().getSExtValue() && IsBelow(Last, N);
    return Elements || IsBelow(From, To);
  });
}

/// The program's own messages: what is sent is compared when it starts.
Behind::Verdict Behind::verdictOfStart(CallInst &Call, StringRef Name) {
  bool Fortran = false, Sends = Name == "ISend";
  const CallInfo *Twin = findCall(Sends ? "MPI_Send" : "MPI_Recv", Fortran);
  bool OfC = Call.getCalledFunction()->getName().starts_with("MPI_");
  std::optional<Library> OfFortran = OfC ? std::nullopt : fortranLibrary(P.M);
  if ((!Sends && Name != "IRecv") ||
      Call.arg_size() != Twin->NumArgs + (Sends ? 1 : 0) + (OfC ? 0 : 1) || !(OfC || OfFortran))
    return Verdict::Ends;
  Library OfHandle =
      Call.getArgOperand(Twin->Comm)->getType()->isPointerTy() ? Library::OpenMpi : Library::Mpich;
  Binding Now{OfFortran.value_or(OfHandle), !OfC};
  if (isSentinel(Now, Call.getArgOperand(Sends ? Twin->SendBuf : Twin->RecvBuf),
                 Call.getDataLayout()))
    return Verdict::Ends;
  Verdict Of = verdictOfArguments(Call, *Twin, Now, /*Starts=*/true);
  if (Of == Verdict::Ends)
    return Of;
  Value *Datatype = Call.getArgOperand(Sends ? Twin->SendType : Twin->RecvType);
  if (Sends && isFilledByEach(Call, *Twin, Now))
    return Verdict::Ends;
  if (Sends) {
    Starts.insert(&Call);
    Bind = Now;
  } else if (!datatypeSize(Now, Datatype)) {
    Received.push_back({&Call, Datatype});
  }
  return Of;
}

Behind::Verdict Behind::verdictOfCall(CallInst &Call) {
  // Nothing may stand between it and the return.
  if (Call.isMustTailCall())
    return Verdict::Ends;
  if (isa<DbgInfoIntrinsic>(Call) || isa<AssumeInst>(Call) || isa<NoAliasScopeDeclInst>(Call) ||
      Effects::isMathCall(Call))
    return Verdict::Passes;
  if (Call.isLifetimeStartOrEnd())
    return writes(MemoryLocation::getBeforeOrAfter(Call.getArgOperand(Call.arg_size() - 1)));
  if (isa<IntrinsicInst>(Call) && Call.doesNotAccessMemory() && Call.doesNotThrow() &&
      !Call.isConvergent())
    return Verdict::Passes;
  if (auto *Memory = dyn_cast<MemIntrinsic>(&Call); Memory && !Memory->isVolatile()) {
    Verdict Of = writes(MemoryLocation::getForDest(Memory));
    auto *Transfer = dyn_cast<MemTransferInst>(Memory);
    return Transfer ? std::max(Of, reads(Call, MemoryLocation::getForSource(Transfer))) : Of;
  }
  Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isDeclaration())
    return Verdict::Ends;
  bool Fortran = false;
  StringRef Name = Callee->getName();
  if (const CallInfo *End = findEnd(Name, Fortran); End && !End->Tests) {
    Waits.insert(&Call);
    return Verdict::Ends;
  }
  if (const CallInfo *Start = findStart(Name, Fortran))
    return verdictOfStart(Call, Start->Name);
  auto It = Blocking.find(&Call);
  if (It == Blocking.end() || !isFilled(Call.getArgOperand(It->second->Info->SendBuf)) ||
      isFilledByEach(Call, *It->second->Info, It->second->Bind) ||
      verdictOfArguments(Call, *It->second->Info, It->second->Bind, /*Starts=*/false) ==
          Verdict::Ends)
    return Verdict::Ends;
  Fills.insert(&Call);
  if (const CallInfo &Info = *It->second->Info;
      Info.RecvType >= 0 && !datatypeSize(It->second->Bind, Call.getArgOperand(Info.RecvType)))
    Received.push_back({&Call, Call.getArgOperand(Info.RecvType)});
  Bind = It->second->Bind;
  return Verdict::Guards;
}

/// What `I` may do to passes that are left. Nothing is left behind a call of `Fills` or `Ends`.
Behind::Verdict Behind::verdict(Instruction &I) {
  if (auto *Call = dyn_cast<CallInst>(&I))
    return verdictOfCall(*Call);
  if (isa<BranchInst>(I) || isa<SwitchInst>(I) || isa<UnreachableInst>(I))
    return Verdict::Passes;
  if (I.isTerminator() || I.isEHPad() || isa<FenceInst>(I) || isa<VAArgInst>(I) || I.isAtomic() ||
      I.isVolatile())
    return Verdict::Ends;
  if (!I.mayReadOrWriteMemory())
    return Verdict::Passes;
  if (isa<LoadInst>(I))
    return reads(I, MemoryLocation::get(&I));
  return isa<StoreInst>(I) ? writes(MemoryLocation::get(&I)) : Verdict::Ends;
}

void Behind::walk(BasicBlock *Block) {
  for (Instruction &I : *Block) {
    Asked.clear();
    Verdict Of = verdict(I);
    if (Of == Verdict::Ends && !Waits.contains(dyn_cast<CallInst>(&I)))
      Ends.insert(&I);
    if (Of == Verdict::Ends)
      return;
    Guards.append(Asked);
    if (auto *Call = dyn_cast<CallInst>(&I); Call && Fills.contains(Call))
      return;
  }
  for (BasicBlock *Next : successors(Block))
    follow(Block, Next);
}

/// Enters `To`; a loop without messages is passed as a whole, or not at all.
void Behind::follow(BasicBlock *From, BasicBlock *To) {
  // All that is left has run where the loop begins again.
  if (To == P.Header)
    return;
  Loop *L = P.LI.getLoopFor(To);
  if (L && L->getHeader() == To && !L->contains(From)) {
    bool Sends = false, Passes = true;
    for (BasicBlock *Block : L->blocks())
      for (Instruction &I : *Block) {
        Function *Callee = isa<CallInst>(I) ? cast<CallInst>(I).getCalledFunction() : nullptr;
        bool Fortran = false;
        bool OfMpi = Callee &&
                     (findStart(Callee->getName(), Fortran) || findEnd(Callee->getName(), Fortran));
        bool IsBlocking = isa<CallInst>(I) && Blocking.contains(cast<CallInst>(&I));
        Sends |= IsBlocking;
        Passes = Passes && !OfMpi && !IsBlocking && verdict(I) == Verdict::Passes;
      }
    Passes |= Sends;
    if (!Passes) {
      Ends.insert(From->getTerminator());
      return;
    }
  }
  if (Reached.insert(To).second)
    Work.push_back(To);
}

bool Behind::find() {
  follow(P.Latch, P.Exit);
  while (!Work.empty())
    walk(Work.pop_back_val());
  return (!Fills.empty() || (!Starts.empty() && !Waits.empty())) &&
         Guards.size() + Ends.size() <= GuardsMax;
}

} // namespace overlap

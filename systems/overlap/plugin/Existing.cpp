#include "Existing.h"
#include "Ordinary.h"
#include "Started.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace overlap {

/// The calls that end requests as if they were of one kind.
static StringMap<CallInfo> endsAs(CallKind As) {
  StringMap<CallInfo> Rows;
#define MPI(Name, Kind, Arguments)                                                                 \
  if (CallKind::Kind == CallKind::End || CallKind::Kind == CallKind::Test)                         \
    Rows.try_emplace(#Name, #Name, As, "");
#include "MpiCalls.def"
  return Rows;
}

/// What the mixed kinds of a group come to: a receive must not pass a send.
static const CallInfo *endAs(const CallInfo &End, bool Receives) {
  static const StringMap<CallInfo> Sends = endsAs(CallKind::Send),
                                   Receivers = endsAs(CallKind::Recv);
  return &(Receives ? Receivers : Sends).find(End.Name)->second;
}

namespace {
/// An offset in a local variable, if that is known, with a value.
using Place = std::pair<std::optional<int64_t>, Value *>;

/// Bytes of a local variable; up to its end if how many is not known.
struct Bytes {
  int64_t From = 0, To = INT64_MAX;
  bool meet(const Bytes &Other) const { return From < Other.To && Other.From < To; }
};

/// What uses the requests of a local variable, which may be a member of a struct.
struct Uses {
  SmallVector<CallInst *, 4> Starts, Ends;
  SmallVector<Place, 4>
      Handles; ///< Of each of them: where the first request is, and how many there are, if not one.
  SmallVector<Bytes, 4> Requests,
      Others;        ///< Where the requests lie, and other members that are read or written.
  bool Known = true; ///< False if there are other uses.

  void add(Value *V, std::optional<int64_t> At, Use &U, SmallVectorImpl<Place> &Work);
};
} // namespace

/// The bytes of `Count` handles at `At`, if the call has a number of them.
static Bytes handles(std::optional<int64_t> At, const Value *Count, unsigned BytesOfOne) {
  auto *Constant = dyn_cast_or_null<ConstantInt>(Count);
  if (!At)
    return {};
  int64_t Number = !Count ? 1 : Constant ? Constant->getSExtValue() : -1;
  return {*At, Number < 0 ? INT64_MAX : *At + Number * BytesOfOne};
}

void Uses::add(Value *V, std::optional<int64_t> At, Use &U, SmallVectorImpl<Place> &Work) {
  auto *I = cast<Instruction>(U.getUser());
  const DataLayout &DL = I->getDataLayout();
  auto *Call = dyn_cast<CallInst>(I);
  const CallInfo *End = Call ? endOf(*Call) : nullptr;
  if (auto *Member = dyn_cast<GetElementPtrInst>(I)) {
    APInt Offset(DL.getIndexTypeSizeInBits(Member->getType()), 0);
    bool Constant = At && Member->accumulateConstantOffset(DL, Offset);
    Work.push_back({Constant ? std::optional(*At + Offset.getSExtValue()) : std::nullopt, Member});
  } else if (I->isLifetimeStartOrEnd()) {
    return;
  } else if (Call && Call->isArgOperand(&U) && twin(*Call) &&
             Call->getArgOperandNo(&U) == requestOf(*Call)) {
    Starts.push_back(Call);
    Handles.push_back({At, nullptr});
  } else if (End && Call->isArgOperand(&U) &&
             static_cast<int>(Call->getArgOperandNo(&U)) == End->Requests &&
             Call->arg_size() == End->NumArgs + (isFortran(*Call) ? 1 : 0)) {
    Ends.push_back(Call);
    Handles.push_back({At, End->Many < 0 ? nullptr : Call->getArgOperand(End->Many)});
  } else if (auto *Store = dyn_cast<StoreInst>(I);
             Store && Store->getPointerOperand() == V && isa<Constant>(Store->getValueOperand())) {
    return; // MPI_REQUEST_NULL at first.
  } else if (auto *Set = dyn_cast<MemSetInst>(I);
             Set && Set->getRawDest() == V && isa<Constant>(Set->getValue())) {
    return;
  } else if (const Value *Used = getLoadStorePointerOperand(I);
             Used == V && At && U.getOperandNo() == (isa<LoadInst>(I) ? 0u : 1u)) {
    TypeSize Size = DL.getTypeStoreSize(getLoadStoreType(I));
    Known &= !Size.isScalable();
    Others.push_back({*At, *At + static_cast<int64_t>(Size.getKnownMinValue())});
  } else {
    Known = false;
  }
}

/// Starts and ends of the requests in `Slot`; why not, if anything else may use them.
static std::optional<Refusal> collectUses(AllocaInst *Slot, Uses &Of) {
  SmallVector<Place, 8> Work{{0, Slot}};
  while (!Work.empty()) {
    auto [At, V] = Work.pop_back_val();
    for (Use &U : V->uses())
      Of.add(V, At, U, Work);
  }
  for (auto [At, Count] : Of.Handles)
    Of.Requests.push_back(
        handles(At, Count, Of.Starts.empty() ? 8 : handleBytes(*Of.Starts.front())));
  bool Apart = none_of(Of.Requests, [&](const Bytes &R) {
    return any_of(Of.Others, [&](const Bytes &It) { return R.meet(It); });
  });
  return Of.Known && Apart ? std::nullopt : std::optional(Refusal::RequestEscapes);
}

/// On a start that is matched with its wait, wherever its request lies.
static constexpr const char *EndedMark = "overlap.ended";

bool endsWhereItStarts(const CallBase &Start) {
  if (Start.getMetadata(EndedMark))
    return true;
  auto *Call = dyn_cast<CallInst>(&Start);
  if (!Call || !twin(*Call))
    return false;
  auto *Slot = dyn_cast<AllocaInst>(getUnderlyingObject(Call->getArgOperand(requestOf(*Call))));
  Uses Of;
  return Slot && !collectUses(const_cast<AllocaInst *>(Slot), Of) && !Of.Ends.empty();
}

/// What stands for a start where it may throw: a call behind it that does nothing.
static CallInst *standIn(InvokeInst &Start) {
  IRBuilder<> B(&*Start.getNormalDest()->getFirstInsertionPt());
  return B.CreateIntrinsic(B.getVoidTy(), Intrinsic::donothing, {});
}

/// What a start touches and of which kind it is; false if that is not known.
static bool describeStart(Site &S, CallBase &Start) {
  const CallInfo *Info = twin(Start);
  Type *Comm = Start.getArgOperand(Info->Comm)->getType();
  bool Fortran = isFortran(Start);
  std::optional<Library> OfFortran = Fortran ? fortranLibrary(*Start.getModule()) : std::nullopt;
  if (Fortran && !OfFortran)
    return false;
  S.Bind = Fortran ? Binding{*OfFortran, true}
                   : Binding{Comm->isPointerTy() ? Library::OpenMpi : Library::Mpich, false};
  S.Call = &Start;
  S.Info = Info;
  S.Comm = Start.getArgOperand(Info->Comm);
  // The status of the blocking twin has no place here.
  CallInfo WithoutStatus = *Info;
  WithoutStatus.Status = -1;
  S.Info = &WithoutStatus;
  bool Operation = Info->Op < 0 || isBuiltInOperation(S.Bind, Start.getArgOperand(Info->Op));
  bool Known = Operation && !findAccesses(S);
  // Fortran's counts are read where the start reads them.
  for (Access &A : S.Accesses)
    if (A.Count && A.Count->getType()->isPointerTy())
      A.Count = IRBuilder<>(&Start).CreateLoad(Type::getInt32Ty(Start.getContext()), A.Count);
  S.Info = Info;
  S.Call = nullptr;
  auto *Invoke = dyn_cast<InvokeInst>(&Start);
  S.Written = Invoke;
  S.Init = Invoke ? standIn(*Invoke) : cast<CallInst>(&Start);
  S.Existing = true;
  S.Caller = Start.getFunction();
  return Known;
}

/// True if the message of `Start` may still be pending when its loop begins another pass.
static bool outlivesPass(CallBase *Start, CallInst *End, Loop *L) {
  BasicBlock *Of = Start->getParent();
  if (End->getParent() == Of && Start->comesBefore(End))
    return false;
  SmallPtrSet<BasicBlock *, 16> Seen;
  SmallVector<BasicBlock *, 16> Work(successors(Of));
  while (!Work.empty()) {
    BasicBlock *Block = Work.pop_back_val();
    if (Block == Of || (L && Block == L->getHeader()))
      return true;
    if (Block != End->getParent() && Seen.insert(Block).second)
      Work.append(succ_begin(Block), succ_end(Block));
  }
  return false;
}

/// True if `V` is the same in every pass of every loop.
static bool isSameAlways(const Value *V, LoopInfo &LI) {
  auto *I = dyn_cast<Instruction>(V);
  return !I || !LI.getLoopFor(I->getParent());
}

/// Bytes of a status, in C and in Fortran.
static uint64_t statusBytes(const Binding &B) { return B.Mpi == Library::OpenMpi ? 24 : 20; }

/// Fills in `E` from the starts and ends of `Slot`; says why an end stays where it is.
static std::optional<Refusal> match(ExistingWait &E, const Access &Slot,
                                    ArrayRef<CallBase *> Starts, ArrayRef<CallInst *> Ends,
                                    LoopInfo &LI) {
  Site &S = E.Whole;
  bool Receives = false;
  for (CallBase *Start : Starts) {
    Site Head;
    if (!describeStart(Head, *Start))
      return Refusal::UnknownStart;
    S.AlsoSends |= Head.Info->Kind != CallKind::Recv;
    Receives |= Head.Info->Kind != CallKind::Send;
    S.Bind = Head.Bind;
    S.Accesses.append(Head.Accesses.begin(), Head.Accesses.end());
    Head.Accesses.push_back(Slot);
    E.Heads.push_back(std::move(Head));
  }
  S.Accesses.push_back(Slot);
  CallInst *End = Ends.front();
  const CallInfo &Info = *endOf(*End);
  S.Info = endAs(Info, Receives);
  S.Init = E.Heads.front().Init;
  for (const Site &Head : E.Heads)
    if (CallInst *Start = Head.Init; Start->getParent() == End->getParent() &&
                                     S.Init->getParent() == Start->getParent() &&
                                     S.Init->comesBefore(Start))
      S.Init = Start;
  if (any_of(Ends, [](CallInst *I) { return endOf(*I)->Tests; }))
    return Refusal::CompletedByTest;
  if (Ends.size() > 1)
    return Refusal::SeveralWaits;
  // In another loop, a start stands for many messages with other buffers.
  if (any_of(Starts, [&](CallBase *I) {
        return LI.getLoopFor(I->getParent()) != LI.getLoopFor(End->getParent());
      }))
    return Refusal::WaitInOtherLoop;
  if (!End->use_empty())
    return Refusal::ReturnCodeUsed;
  std::optional<int64_t> Number = numberOf(*End, Info);
  for (unsigned At = 0; At < End->arg_size(); ++At)
    if (Value *Place = End->getArgOperand(At); static_cast<int>(At) != Info.Requests &&
                                               Place->getType()->isPointerTy() &&
                                               !isSentinel(S.Bind, Place, End->getDataLayout())) {
      Access Written{Place, LocationSize::beforeOrAfterPointer(), true};
      if (static_cast<int>(At) == Info.Status && Number && *Number > 0) {
        // One that ends any of them has one status.
        int64_t Statuses = StringRef(Info.Name) == "Waitany" ? 1 : *Number;
        Written.ElementBytes = statusBytes(S.Bind);
        Written.Size = LocationSize::precise(Statuses * Written.ElementBytes);
        Written.Count = ConstantInt::get(Type::getInt32Ty(End->getContext()), Statuses);
      }
      S.Accesses.push_back(Written);
    }
  S.WithinPass = none_of(
      Starts, [&](CallBase *I) { return outlivesPass(I, End, LI.getLoopFor(End->getParent())); });
  // In a later pass the same names may stand for other buffers.
  if (!S.WithinPass &&
      !all_of(S.Accesses, [&](const Access &A) { return isSameAlways(A.Ptr, LI); }))
    return Refusal::WaitInLaterPass;
  S.Waits.push_back(End);
  return std::nullopt;
}

namespace {
/// Requests that start and end together, and the memory that they lie in.
struct Group {
  SmallVector<CallBase *, 4> Starts;
  SmallVector<CallInst *, 4> Ends;
  Access Lies;
};
} // namespace

/// Bytes at `Ptr` that a loop can be compared with when it runs.
static Access written(Value *Ptr, LocationSize Size, uint64_t Number) {
  Access Lies{Ptr, Size, true};
  Lies.Count = ConstantInt::get(Type::getInt32Ty(Ptr->getContext()), 1);
  Lies.ElementBytes = Number;
  return Lies;
}

/// The memory of all requests; the whole variable, if it is not known that the one end names their
/// first.
static Access whereAllLie(AllocaInst *Slot, const Uses &Of) {
  const DataLayout &DL = Slot->getDataLayout();
  Bytes All{INT64_MAX, 0};
  for (const Bytes &It : Of.Requests)
    All = {std::min(All.From, It.From), std::max(All.To, It.To)};
  CallInst *End = Of.Ends.front();
  Value *Place = End->getArgOperand(endOf(*End)->Requests);
  APInt Offset(DL.getIndexTypeSizeInBits(Place->getType()), 0);
  bool First = Place->stripAndAccumulateConstantOffsets(DL, Offset, true) == Slot &&
               Offset.getSExtValue() == All.From;
  std::optional<TypeSize> Whole = Slot->getAllocationSize(DL);
  if (First && All.To != INT64_MAX)
    return written(Place, LocationSize::upperBound(All.To - All.From), All.To - All.From);
  if (!Whole || Whole->isScalable())
    return {Slot, LocationSize::beforeOrAfterPointer(), true};
  return written(Slot, LocationSize::precise(*Whole), *Whole);
}

/// The requests of an array one by one, if each use names one of them by a constant; else all.
static MapVector<int64_t, Group> groups(AllocaInst *Slot, const Uses &Of) {
  const DataLayout &DL = Slot->getDataLayout();
  MapVector<int64_t, Group> One, Each;
  One[0] = {{Of.Starts.begin(), Of.Starts.end()},
            {Of.Ends.begin(), Of.Ends.end()},
            whereAllLie(Slot, Of)};
  auto Add = [&](CallInst *Call, unsigned At, bool Start) {
    Value *Place = Call->getArgOperand(At);
    APInt Offset(DL.getIndexTypeSizeInBits(Place->getType()), 0);
    if (Place->stripAndAccumulateConstantOffsets(DL, Offset, true) != Slot)
      return false;
    Group &G = Each[Offset.getSExtValue()];
    if (Start)
      G.Starts.push_back(Call);
    else
      G.Ends.push_back(Call);
    // A handle has 4 bytes or 8; neighbours of 4 never share the first 4.
    G.Lies = {Place, LocationSize::precise(4), true};
    return true;
  };
  for (CallInst *Start : Of.Starts)
    if (!Add(Start, requestOf(*Start), true))
      return One;
  for (CallInst *End : Of.Ends)
    if (const CallInfo *Info = endOf(*End); Info->Requests != 0 || !Add(End, 0, false))
      return One;
  return Each;
}

/// Neither end moves.
static void forget(ExistingWait &E) {
  E.Heads.clear();
  E.Whole.Init = nullptr;
  E.Whole.Waits.clear();
}

/// A wait that stays where it is: not all uses of its requests are seen, or it may throw.
static ExistingWait unknownWait(CallBase &Wait, const CallInfo &Info) {
  ExistingWait E;
  if (auto *Call = dyn_cast<CallInst>(&Wait))
    E.Ends.push_back(Call);
  E.Whole.Existing = true;
  E.Whole.Caller = Wait.getFunction();
  E.Whole.Loc = Wait.getDebugLoc();
  E.Whole.Info = endAs(Info, true);
  bool Local = isa<AllocaInst>(getUnderlyingObject(Wait.getArgOperand(Info.Requests)));
  E.Whole.Refused = isa<InvokeInst>(Wait) ? Refusal::MayThrow
                    : Local               ? Refusal::RequestEscapes
                                          : Refusal::RequestInMemory;
  return E;
}

/// A wait whose requests lie where others may reach them; why it stays, if not all that it ends is
/// known.
static ExistingWait waitInMemory(CallBase &Wait, const CallInfo &Info, LoopInfo &LI, Effects &Fx) {
  ExistingWait E = unknownWait(Wait, Info);
  std::optional<Started> Of = startsOf(Wait, Fx);
  if (!Of || E.Ends.empty())
    return E;
  std::optional<Refusal> Why = match(E, Of->Lies, Of->Starts, E.Ends, LI);
  // Of memory that lives on, only what is known in this pass is known.
  if (!Why && !E.Whole.WithinPass)
    Why = Refusal::WaitInLaterPass;
  if (Why)
    forget(E);
  E.Whole.Refused = Why;
  return E;
}

static CallBase *startOf(const Site &Head) {
  return Head.Written ? cast<CallBase>(Head.Written) : Head.Init;
}

/// Where several waits end the message of one start, as on a way of errors, all stay.
static void refuseShared(std::vector<ExistingWait> &Found) {
  DenseMap<const Value *, unsigned> Waits;
  for (ExistingWait &E : Found)
    for (Site &Head : E.Heads)
      ++Waits[startOf(Head)];
  for (ExistingWait &E : Found)
    if (any_of(E.Heads, [&](Site &Head) { return Waits[startOf(Head)] > 1; })) {
      forget(E);
      E.Whole.Refused = Refusal::SeveralWaits;
    }
}

/// True for a wait as the program has it, behind which the one that asks stands.
static bool isAsked(const CallBase &Wait) {
  auto *Invoke = dyn_cast<InvokeInst>(&Wait);
  auto *Behind = Invoke ? dyn_cast<CallBase>(Invoke->getNormalDest()->getFirstNonPHI()) : nullptr;
  return Behind && Behind->getCalledFunction() &&
         Behind->getCalledFunction()->getName().starts_with(EndPrefix);
}

std::vector<ExistingWait> findExisting(Function &F, FunctionAnalysisManager &FAM, Effects &Fx) {
  LoopInfo &LI = FAM.getResult<LoopAnalysis>(F);
  std::vector<ExistingWait> Found;
  SmallPtrSet<const CallBase *, 8> Known;
  for (Instruction &I : instructions(F)) {
    auto *Slot = dyn_cast<AllocaInst>(&I);
    if (!Slot)
      continue;
    Uses Of;
    if (collectUses(Slot, Of) || Of.Starts.empty() || Of.Ends.empty())
      continue;
    for (auto &[Place, Group] : groups(Slot, Of)) {
      if (Group.Starts.empty() || Group.Ends.empty())
        continue;
      ExistingWait E;
      E.Ends.assign(Group.Ends.begin(), Group.Ends.end());
      Known.insert(E.Ends.begin(), E.Ends.end());
      E.Whole.Existing = true;
      E.Whole.Caller = &F;
      E.Whole.Loc = Group.Ends.front()->getDebugLoc();
      E.Whole.Info = endAs(*endOf(*Group.Ends.front()), true);
      E.Whole.Refused = match(E, Group.Lies, Group.Starts, Group.Ends, LI);
      if (E.Whole.Refused == Refusal::UnknownStart)
        forget(E);
      Found.push_back(std::move(E));
    }
  }
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    const CallInfo *End = Call ? endOf(*Call) : nullptr;
    if (End && !End->Tests && End->Requests >= 0 && !Known.contains(Call) && !isAsked(*Call))
      Found.push_back(waitInMemory(*Call, *End, LI, Fx));
  }
  refuseShared(Found);
  if (hasSeveralEntries(F, FAM))
    for (ExistingWait &E : Found) {
      forget(E);
      E.Whole.Refused = Refusal::SeveralEntries;
    }
  for (ExistingWait &E : Found)
    for (Site &Head : E.Heads)
      startOf(Head)->setMetadata(EndedMark, MDNode::get(F.getContext(), {}));
  return Found;
}

} // namespace overlap

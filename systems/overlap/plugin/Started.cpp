#include "Started.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include <set>

using namespace llvm;

namespace overlap {

/// More requests, or blocks on the ways to a wait, are not looked at.
static constexpr unsigned RequestsMax = 64;
static constexpr unsigned VisitsMax = 500;

static StringRef nameOf(const CallBase &Call) {
  const Function *F = Call.getCalledFunction();
  return F && F->isDeclaration() ? F->getName() : "";
}

bool isFortran(const CallBase &Call) { return nameOf(Call).starts_with("mpi_"); }

const CallInfo *twin(const CallBase &Start) {
  StringRef Name = nameOf(Start);
  bool Fortran = isFortran(Start);
  if (!Name.consume_front(Fortran ? "mpi_i" : "MPI_I") || Name.empty())
    return nullptr;
  std::string Blocking =
      Fortran ? "mpi_" + Name.str()
              : "MPI_" + std::string(1, llvm::toUpper(Name[0])) + Name.drop_front().str();
  const CallInfo *Info = findCall(Blocking, Fortran);
  if (!Info || Info->Kind == CallKind::Stays || Info->Kind == CallKind::Sendrecv ||
      StringRef(Info->Name) == "Alltoallw")
    return nullptr;
  // The status of a receive makes place for the request.
  return Start.arg_size() == Info->NumArgs + (Info->Status >= 0 ? 0 : 1) + (Fortran ? 1 : 0)
             ? Info
             : nullptr;
}

unsigned requestOf(const CallBase &Start) { return Start.arg_size() - (isFortran(Start) ? 2 : 1); }

unsigned handleBytes(const CallBase &Start) {
  return Start.getArgOperand(twin(Start)->Comm)->getType()->isPointerTy() && !isFortran(Start) ? 8
                                                                                               : 4;
}

const CallInfo *endOf(const CallBase &Call) {
  bool Fortran = false;
  StringRef Name = Call.getCalledFunction() ? Call.getCalledFunction()->getName() : "";
  return findEnd(Name.consume_front(EndPrefix) ? Name : nameOf(Call), Fortran);
}

std::optional<int64_t> numberOf(const CallBase &End, const CallInfo &Row) {
  if (Row.Many < 0)
    return 1;
  Value *Many = byReference(Binding{Library::OpenMpi, isFortran(End)}, End.getArgOperand(Row.Many));
  auto *Constant = dyn_cast_or_null<ConstantInt>(Many);
  return Constant ? std::optional(Constant->getSExtValue()) : std::nullopt;
}

/// The same wait as the program has it, where `End` asks whether it throws.
static const CallBase *asWritten(const CallBase &End) {
  auto *Later = dyn_cast<PHINode>(End.getArgOperand(End.arg_size() - 1));
  if (!Later || !End.getCalledFunction()->getName().starts_with(EndPrefix))
    return nullptr;
  auto *No = find_if(Later->incoming_values(),
                     [](const Use &U) { return match(U.get(), PatternMatch::m_Zero()); });
  return No == Later->op_end() ? nullptr
                               : dyn_cast<CallBase>(Later->getIncomingBlock(*No)->getTerminator());
}

namespace {
/// Bytes behind a pointer that is one value.
struct Place {
  const Value *Base;
  int64_t At;
};

/// Goes from a wait against the flow, until each of its requests is known on every way.
class Search {
public:
  Search(CallBase &End, Effects &Fx) : End(End), Fx(Fx), DL(End.getModule()->getDataLayout()) {}
  std::optional<Started> run();

private:
  using Requests = uint64_t; ///< A bit for each that is not known yet.
  /// On one way to the wait.
  struct State {
    Requests Left;
    /// Before the load that the wait has its pointer from: the same place may be loaded again for
    /// each start, since as far as LLVM knows MPI writes it.
    bool BeforeLoad = false;
  };
  Place placeOf(const Value *V) const {
    APInt Offset(DL.getIndexTypeSizeInBits(V->getType()), 0);
    const Value *Base = V->stripAndAccumulateConstantOffsets(DL, Offset, true);
    return {Base, Offset.getSExtValue()};
  }
  bool isSame(const Value *Base, const Instruction &User, const State &S) const;
  std::optional<Requests> requestsAt(const Value *V, int64_t Length, bool Whole,
                                     const Instruction &User, const State &S) const;
  bool isElsewhere(Value *V) const {
    return Fx.apart({V, LocationSize::beforeOrAfterPointer(), true}, All);
  }
  bool passCall(const CallBase &Call, const CallInfo &Row, const State &S);
  bool pass(Instruction &I, State &S, bool Unwinds);

  CallBase &End;
  Effects &Fx;
  const DataLayout &DL;
  Place First{nullptr, 0};
  int64_t Number = 1, Bytes = 0;
  Access All, Pointer; ///< The requests, and where the pointer to them is loaded from.
  const CallBase *Written = nullptr;
  SmallVector<CallBase *, 4> Starts;
};
} // namespace

/// A load of a pointer that the language keeps apart from handles.
static const LoadInst *pointerLoad(const Value *V) {
  auto *Load = dyn_cast<LoadInst>(V);
  return Load && Load->isSimple() && Load->getMetadata(LLVMContext::MD_tbaa) ? Load : nullptr;
}

/// True if `Base`, as `User` has it, is the pointer that the wait has.
bool Search::isSame(const Value *Base, const Instruction &User, const State &S) const {
  if (!S.BeforeLoad)
    return Base == First.Base;
  const LoadInst *Load = pointerLoad(Base), *OfWait = cast<LoadInst>(First.Base);
  if (!Load || Load->getParent() != User.getParent() || !Load->comesBefore(&User))
    return false;
  Place At = placeOf(Load->getPointerOperand()), Of = placeOf(OfWait->getPointerOperand());
  for (const Instruction *I = Load; I != &User; I = I->getNextNode())
    if (auto *Call = dyn_cast<CallBase>(I); !(Call && twin(*Call)) && Fx.mayUse(*I, Pointer))
      return false;
  return At.Base == Of.Base && At.At == Of.At;
}

/// The requests in `[V, V + Length)`; none if it is not known whether there are any, or, where they
/// have to be whole, if one is not.
std::optional<Search::Requests> Search::requestsAt(const Value *V, int64_t Length, bool Whole,
                                                   const Instruction &User, const State &S) const {
  Place At = placeOf(V);
  if (!isSame(At.Base, User, S))
    return std::nullopt;
  Requests Found = 0;
  for (int64_t Idx = 0; Idx < Number; ++Idx) {
    int64_t From = First.At + Idx * Bytes - At.At;
    if (From < Length && 0 < From + Bytes) {
      if (Whole && (From < 0 || From + Bytes > Length))
        return std::nullopt;
      Found |= Requests(1) << Idx;
    }
  }
  return Found;
}

/// An address such as MPI_STATUS_IGNORE of C.
static bool isNumber(const Value *Ptr) {
  return isa<ConstantPointerNull>(Ptr) || Operator::getOpcode(Ptr) == Instruction::IntToPtr;
}

/// True if `Call` of MPI writes none of the requests.
bool Search::passCall(const CallBase &Call, const CallInfo &Row, const State &S) {
  for (unsigned At = 0; At < Call.arg_size(); ++At) {
    Value *Arg = Call.getArgOperand(At);
    if (!Arg->getType()->isPointerTy() || isNumber(Arg) ||
        onlyReads(nameOf(Call), At, Call.arg_size()))
      continue;
    auto Ended = static_cast<int>(At) == Row.Requests ? numberOf(Call, Row) : std::nullopt;
    if (auto Met = Ended ? requestsAt(Arg, *Ended * Bytes, false, Call, S) : std::nullopt;
        Met && !*Met)
      continue;
    if (!isElsewhere(Arg))
      return false;
  }
  return true;
}

/// True for a store of floating-point numbers, as the language has it.
static bool isOfNumber(const Instruction &I) {
  bool Stores = isa<StoreInst>(I) || isa<MemIntrinsic>(I);
  const MDNode *Tag = Stores ? I.getMetadata(LLVMContext::MD_tbaa) : nullptr;
  auto *Type = Tag && Tag->getNumOperands() > 1 ? dyn_cast<MDNode>(Tag->getOperand(1)) : nullptr;
  auto *Name = Type && Type->getNumOperands() ? dyn_cast<MDString>(Type->getOperand(0)) : nullptr;
  return Name && (Name->getString() == "double" || Name->getString() == "float");
}

/// A constant that is stored, MPI_REQUEST_NULL if it is a request: where, and of how many bytes.
static std::pair<const Value *, int64_t> constantAt(const Instruction &I) {
  if (auto *Store = dyn_cast<StoreInst>(&I); Store && isa<Constant>(Store->getValueOperand())) {
    TypeSize Size = I.getDataLayout().getTypeStoreSize(Store->getValueOperand()->getType());
    if (!Store->isVolatile() && !Size.isScalable())
      return {Store->getPointerOperand(), static_cast<int64_t>(Size.getFixedValue())};
  }
  if (auto *Set = dyn_cast<MemSetInst>(&I);
      Set && isa<Constant>(Set->getValue()) && isa<ConstantInt>(Set->getLength()))
    if (!Set->isVolatile())
      return {Set->getRawDest(), cast<ConstantInt>(Set->getLength())->getSExtValue()};
  return {nullptr, 0};
}

/// True for a function of `AskedWaits`, which does nothing else.
static bool isQuestion(const Function &F) {
  return F.getName().starts_with("overlap.") && F.getName().ends_with("ends_on_error");
}

/// Takes from `S` what `I` says of its requests; false if it may have written one.
bool Search::pass(Instruction &I, State &S, bool Unwinds) {
  if (&I == First.Base) {
    S.BeforeLoad = Pointer.Ptr;
    return Pointer.Ptr;
  }
  auto *Call = dyn_cast<CallBase>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (Call && (Call == Written || (Callee && isQuestion(*Callee))))
    return true;
  if (Call && twin(*Call)) {
    Value *Request = Call->getArgOperand(requestOf(*Call));
    auto Met = requestsAt(Request, handleBytes(*Call), true, I, S);
    if (Unwinds || (isFortran(*Call) && !isElsewhere(Call->getArgOperand(Call->arg_size() - 1))))
      return false;
    if (!Met)
      return Fx.apart({Request, LocationSize::precise(handleBytes(*Call)), true}, All);
    if (*Met & S.Left)
      Starts.push_back(Call);
    S.Left &= ~*Met;
    return true;
  }
  bool IsNumber = isOfNumber(I) && !I.isVolatile();
  if (S.BeforeLoad && (&I == placeOf(Pointer.Ptr).Base || (!IsNumber && Fx.mayUse(I, Pointer))))
    return false;
  bool Fortran = false;
  const CallInfo *Row = Call ? endOf(*Call) : nullptr;
  if (const CallInfo *Blocks = Call && !Row ? findCall(nameOf(*Call), Fortran) : nullptr;
      Blocks && (Blocks->Kind == CallKind::Send || Blocks->Kind == CallKind::Recv ||
                 Blocks->Kind == CallKind::Sendrecv))
    Row = Blocks;
  if (Row)
    return !Unwinds && passCall(*Call, *Row, S);
  auto [Ptr, Length] = constantAt(I);
  if (auto Met = Ptr ? requestsAt(Ptr, Length, true, I, S) : std::nullopt) {
    S.Left &= ~*Met;
    return true;
  }
  return !Fx.stops(I) && (IsNumber || !Fx.mayUse(I, {All.Ptr, All.Size, false}));
}

std::optional<Started> Search::run() {
  const CallInfo &Info = *endOf(End);
  Function &F = *End.getFunction();
  std::optional<int64_t> Count = numberOf(End, Info);
  if (Info.Tests || Info.Requests < 0 || !Count)
    return std::nullopt;
  // Of a start of the other language, inlined beside it, handles have another size.
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I);
        Call && twin(*Call) && isFortran(*Call) == isFortran(End))
      Bytes = handleBytes(*Call);
  Number = *Count;
  if (Bytes == 0 || Number < 1 || Number > RequestsMax)
    return std::nullopt;
  Value *Place = End.getArgOperand(Info.Requests);
  First = placeOf(Place);
  Written = asWritten(End);
  if (const LoadInst *Load = pointerLoad(First.Base))
    Pointer = {const_cast<Value *>(Load->getPointerOperand()),
               LocationSize::precise(DL.getTypeStoreSize(Load->getType())), false};
  All = {Place, LocationSize::precise(Number * Bytes), true};
  All.Count = ConstantInt::get(Type::getInt32Ty(F.getContext()), Number);
  All.ElementBytes = Bytes;
  Requests Each = Number == RequestsMax ? ~Requests(0) : (Requests(1) << Number) - 1;
  // Against the flow: where it goes on from, which way it came, what is not known yet.
  struct Way {
    BasicBlock *Block, *To;
    State S;
  };
  SmallVector<Way, 16> Work{{End.getParent(), nullptr, {Each}}};
  std::set<std::tuple<BasicBlock *, BasicBlock *, Requests, bool>> Seen;
  while (!Work.empty()) {
    auto [Block, To, S] = Work.pop_back_val();
    auto From = To ? Block->rbegin() : std::next(End.getReverseIterator());
    for (auto It = From; It != Block->rend() && S.Left; ++It) {
      auto *Invoke = dyn_cast<InvokeInst>(&*It);
      if (!pass(*It, S, Invoke && Invoke->getNormalDest() != To))
        return std::nullopt;
    }
    if (!S.Left)
      continue;
    if (pred_empty(Block) || Seen.size() > VisitsMax)
      return std::nullopt;
    for (BasicBlock *Before : predecessors(Block))
      if (Seen.insert({Before, Block, S.Left, S.BeforeLoad}).second)
        Work.push_back({Before, Block, S});
  }
  SmallVector<CallBase *, 4> Unique;
  for (CallBase *Start : Starts)
    if (!is_contained(Unique, Start))
      Unique.push_back(Start);
  if (Unique.empty())
    return std::nullopt;
  // In the order of the program, as far as it has one.
  std::reverse(Unique.begin(), Unique.end());
  return Started{Unique, All};
}

std::optional<Started> startsOf(CallBase &End, Effects &Fx) { return Search(End, Fx).run(); }

} // namespace overlap

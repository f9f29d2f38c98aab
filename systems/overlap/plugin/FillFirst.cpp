#include "FillFirst.h"
#include "Behind.h"
#include "Cost.h"
#include "Helpers.h"
#include "Runtime.h"
#include "Split.h"
#include "Versions.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace overlap {

/// As `struct first` and `struct sent` of the run-time part have it, in numbers of 64 bits.
static constexpr unsigned FirstWords = 19, SentWords = 9;

namespace {

/// Makes the passes of a loop that fill messages run first.
class Filler {
public:
  Filler(PassLoop &P, const Behind &Of, const Options &O)
      : P(P), Of(Of), O(O), M(P.M), C(M.getContext()),
        Top(&P.F.getEntryBlock(), P.F.getEntryBlock().getFirstInsertionPt()),
        List(Top.CreateAlloca(ArrayType::get(Top.getInt64Ty(), FirstWords), nullptr,
                              "overlap.first")),
        AfterAllocas(&P.F.getEntryBlock(), P.F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca()) {
    AfterAllocas.CreateMemSet(List, AfterAllocas.getInt8(0), 8 * FirstWords, MaybeAlign(8));
  }

  void loop();
  void ends();
  void waits();
  void fill(CallInst *Call, Site Filled);

private:
  /// Stores what the loop writes for the run-time part, and asks whether some of its passes are to
  /// run first.
  Value *look(const Counted &Passes, IRBuilder<> &B);
  void call(Instruction *Before, StringRef Name) {
    IRBuilder<>(Before).CreateCall(runtime(M, Name), {List});
  }
  /// True if anybody wants to know of messages: the list begins with what is null then.
  Value *looks(IRBuilder<> &B) {
    return B.CreateZExt(B.CreateIsNotNull(B.CreateLoad(B.getPtrTy(), List)), B.getInt32Ty());
  }
  /// True if the message of `Count` elements that `Call` sends starts while passes are left.
  Value *sends(IRBuilder<> &B, const CallInst &Call, const Binding &Bind, int Buffer, int Count,
               int Datatype, uint64_t MinBytes);
  /// Runs what is left, with polls by `State`.
  void rest(Instruction *Before, Value *State) {
    Value *Poll = O.Poll == Progress::Off
                      ? static_cast<Value *>(ConstantPointerNull::get(Top.getPtrTy()))
                      : message(M, *Of.Bind, "poll");
    IRBuilder<>(Before).CreateCall(runtime(M, "__overlap_first_rest"),
                                   {List, Poll, State, everyNs(C, O)});
  }

  PassLoop &P;
  const Behind &Of;
  const Options &O;
  Module &M;
  LLVMContext &C;
  IRBuilder<> Top;
  AllocaInst *List;
  IRBuilder<> AfterAllocas;
};

} // namespace

Value *Filler::look(const Counted &Passes, IRBuilder<> &B) {
  Type *Int = B.getInt64Ty();
  auto *WrittenType = ArrayType::get(Int, 4 * P.Writes.size()),
       *SentType = ArrayType::get(Int, SentWords);
  auto *Sent = new GlobalVariable(M, SentType, false, GlobalValue::InternalLinkage,
                                  ConstantAggregateZero::get(SentType), "overlap.sent");
  AllocaInst *WrittenAt = Top.CreateAlloca(WrittenType, nullptr, "overlap.written");
  for (unsigned Idx = 0; Idx < P.Writes.size(); ++Idx) {
    const Written &W = P.Writes[Idx];
    Value *Words[] = {Passes.Lows[Idx], B.getInt64(W.Step), B.getInt64(W.From), B.getInt64(W.To)};
    for (unsigned Word = 0; Word < 4; ++Word)
      B.CreateStore(Words[Word],
                    B.CreateConstInBoundsGEP2_64(WrittenType, WrittenAt, 0, 4 * Idx + Word));
  }
  // Where the number is none that fits, as if there were no pass.
  Value *Trips = B.CreateSelect(Passes.Fine, Passes.Trips, B.getInt64(0));
  Value *Worth = B.CreateCall(runtime(M, "__overlap_first_look"),
                              {List, Sent, Trips, B.getInt64(P.Writes.size()), WrittenAt,
                               B.getInt64(O.MinBytes), B.getInt32(!P.Leaves.empty())});
  return B.CreateIsNotNull(Worth);
}

Value *Filler::sends(IRBuilder<> &B, const CallInst &Call, const Binding &Bind, int Buffer,
                     int Count, int Datatype, uint64_t MinBytes) {
  Type *Int = B.getInt64Ty();
  AllocaInst *Extents = Top.CreateAlloca(ArrayType::get(Int, 3), nullptr, "overlap.extents");
  B.CreateCall(message(M, Bind, "extents"), {looks(B), Call.getArgOperand(Datatype), Extents});
  Value *N = Call.getArgOperand(Count);
  if (Bind.Fortran)
    N = B.CreateLoad(B.getInt32Ty(), N);
  SmallVector<Value *, 7> Args{List, Call.getArgOperand(Buffer), B.CreateSExt(N, Int)};
  for (unsigned Idx = 0; Idx < 3; ++Idx)
    Args.push_back(B.CreateLoad(Int, B.CreateConstInBoundsGEP1_64(Int, Extents, Idx)));
  Args.push_back(B.getInt64(MinBytes));
  return B.CreateCall(runtime(M, "__overlap_first_sends"), Args);
}

/// The loop in a function of its own, called where something is known of its messages; else it
/// stays as it is.
void Filler::loop() {
  Type *Int = Top.getInt64Ty(), *Ptr = Top.getPtrTy();
  SCEVExpander Expander = expander(P.SE, P.F.getDataLayout());
  Instruction *At = P.Before->getTerminator();
  Counted Passes = P.count(Expander, At);
  SetVector<Value *> Values = P.values();
  SmallVector<Type *, 16> Types;
  for (Value *V : Values)
    Types.push_back(V->getType());
  for (Instruction *Left : P.Leaves)
    Types.push_back(Left->getType());
  auto *Env = StructType::get(C, Types);
  AllocaInst *Place = Top.CreateAlloca(Env, nullptr, "overlap.values");
  Outlined Runs;
  P.outline(Runs, ".passes", FunctionType::get(Top.getVoidTy(), {Ptr, Int, Int}, false),
            Values.getArrayRef(), Env);
  IRBuilder<> B(At);
  call(At, "__overlap_first_end");
  Value *Worth = look(Passes, B);
  BasicBlock *Plain = SplitBlock(P.Before, At),
             *First = BasicBlock::Create(C, "overlap.first", &P.F, Plain);
  P.Before->getTerminator()->eraseFromParent();
  IRBuilder<>(P.Before).CreateCondBr(Worth, First, Plain);
  IRBuilder<> D(First);
  for (unsigned Idx = 0; Idx < Values.size(); ++Idx)
    D.CreateStore(Values[Idx], D.CreateStructGEP(Env, Place, Idx));
  D.CreateCall(runtime(M, "__overlap_first_run"), {List, Runs.F, Place});
  // What the last pass leaves behind comes out of the same place.
  DenseMap<Value *, Value *> Left;
  for (unsigned Idx = 0; Idx < P.Leaves.size(); ++Idx) {
    Instruction *I = P.Leaves[Idx];
    unsigned Slot = Values.size() + Idx;
    IRBuilder<> R(Runs.End);
    R.CreateStore(Runs.Map[I], R.CreateStructGEP(Env, Runs.F->getArg(0), Slot));
    Left[I] = D.CreateLoad(I->getType(), D.CreateStructGEP(Env, Place, Slot));
  }
  D.CreateBr(P.Exit);
  for (PHINode &Phi : P.Exit->phis()) {
    Value *Last = Phi.getIncomingValueForBlock(P.Latch);
    Phi.addIncoming(Left.contains(Last) ? Left[Last] : Last, First);
  }
  for (Instruction *I : P.Leaves) {
    auto *Phi = PHINode::Create(I->getType(), 2, I->getName() + ".left");
    Phi->insertBefore(P.Exit->begin());
    I->replaceUsesWithIf(Phi, [&](Use &U) {
      auto *User = cast<Instruction>(U.getUser());
      return !P.L.contains(User) && !(isa<PHINode>(User) && User->getParent() == P.Exit);
    });
    Phi->addIncoming(I, P.Latch);
    Phi->addIncoming(Left[I], First);
  }
}

void Filler::ends() {
  for (Instruction *I : Of.Ends)
    call(I, "__overlap_first_end");
  for (const Guarded &G : Of.Guards)
    IRBuilder<>(G.Before).CreateCall(runtime(M, "__overlap_first_guard"),
                                     {List, G.Ptr, Top.getInt64(G.Bytes)});
  for (auto [Call, Datatype] : Of.Received) {
    IRBuilder<> B(Call);
    Value *Named = B.CreateCall(message(M, *Of.Bind, "is_named"), {looks(B), Datatype});
    B.CreateCall(runtime(M, "__overlap_first_receives"), {List, Named});
  }
}

/// The program's own messages: what is left runs in front of their end, with polls that leave
/// requests alone.
void Filler::waits() {
  for (CallInst *Start : Of.Starts) {
    IRBuilder<> B(Start);
    bool Fortran = false;
    const CallInfo &Row = *findStart(Start->getCalledFunction()->getName(), Fortran);
    sends(B, *Start, *Of.Bind, Row.SendBuf, Row.SendCount, Row.SendType, 0);
  }
  for (CallInst *Wait : Of.Waits) {
    AllocaInst *State = Top.CreateAlloca(stateType(*Of.Bind, C), nullptr, "overlap.state");
    AfterAllocas.CreateStore(AfterAllocas.getInt32(Theirs), State);
    rest(Wait, State);
    call(Wait, "__overlap_first_end");
  }
}

/// A blocking call: it stays for where nothing is left, and else starts, lets the rest run, and
/// waits.
void Filler::fill(CallInst *Call, Site Filled) {
  const CallInfo &Info = *Filled.Info;
  IRBuilder<> B(Call);
  Value *Fills =
      sends(B, *Call, Filled.Bind, Info.SendBuf, Info.SendCount, Info.SendType, O.MinBytes);
  Instruction *Then = nullptr, *Else = nullptr;
  SplitBlockAndInsertIfThenElse(B.CreateIsNotNull(Fills), Call->getIterator(), &Then, &Else);
  auto *Twin = cast<CallInst>(Call->clone());
  Twin->insertBefore(Then);
  if (!Call->use_empty()) {
    auto *Phi = PHINode::Create(Call->getType(), 2, "overlap.code");
    Phi->insertBefore(Call->getParent()->begin());
    Call->replaceAllUsesWith(Phi);
    Phi->addIncoming(Twin, Then->getParent());
    Phi->addIncoming(Call, Else->getParent());
  }
  Call->moveBefore(Else);
  Filled.Call = Twin;
  split(Filled, O);
  rest(Filled.Waits.front(), Filled.State);
  if (auto *Written = dyn_cast_or_null<CallInst>(static_cast<Value *>(Filled.Written)))
    call(Written, "__overlap_first_end");
  call(Then, "__overlap_first_end");
  call(Else, "__overlap_first_end");
}

/// Tells which calls have more to wait for.
static void say(const PassLoop &P, const Behind &Of, const MapVector<CallInst *, Site *> &Blocking,
                FunctionAnalysisManager &FAM, const Options &O) {
  uint64_t Weight = Cost(FAM).loop(P.L);
  OptimizationRemarkEmitter ORE(&P.F);
  auto Say = [&](const CallInst &Call, StringRef Row, StringRef What, StringRef How) {
    ORE.emit([&] {
      return OptimizationRemark("overlap", "FilledFirst", Call.getDebugLoc(), Call.getParent())
             << ore::NV("Call", Row) << How << ore::NV("Strength", name(O.Widen))
             << ": the passes that fill " << What
             << " run first, the others while it is under way, of a loop of "
             << ore::NV("Weight", Weight) << " weighted instructions";
    });
  };
  for (CallInst *Call : Of.Fills)
    Say(*Call, Blocking.find(Call)->second->mpiName(), "its message", " made nonblocking with ");
  bool Fortran = false;
  for (const CallInst *Wait : Of.Waits)
    Say(*Wait,
        ("MPI_" + StringRef(findEnd(Wait->getCalledFunction()->getName(), Fortran)->Name)).str(),
        "a message", " has more to wait for with ");
}

/// True if the passes of `P` compute the same in any order, as the code shows.
static bool mayLeave(PassLoop &P) {
  return P.check() && all_of(P.Touches, [](const Touch &T) { return T.Writes || T.Apart; });
}

void fillFirst(Function &F, FunctionAnalysisManager &FAM, ArrayRef<Site *> Sites,
               MutableArrayRef<Site> Waits, const Options &O) {
  MapVector<CallInst *, Site *> Blocking;
  for (Site *S : Sites)
    if (S->Refused && isa_and_nonnull<CallInst>(S->Call) &&
        (S->Info->Kind == CallKind::Send || StringRef(S->Info->Name) == "Sendrecv"))
      Blocking[cast<CallInst>(S->Call)] = S;
  bool Sends = !Blocking.empty() || any_of(instructions(F), [](const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    bool Fortran = false;
    const CallInfo *Start = Call && Call->getCalledFunction()
                                ? findStart(Call->getCalledFunction()->getName(), Fortran)
                                : nullptr;
    return Start && StringRef(Start->Name) == "ISend";
  });
  if (!Sends || F.getDataLayout().getPointerSize() != 8)
    return;
  simplifyLoops(F, FAM);
  // The last loop first: it is the nearest to its message. Each is found again when the one before
  // it has changed the function.
  SmallVector<BasicBlock *, 16> Headers;
  for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    Headers.push_back(L->getHeader());
  for (BasicBlock *Header : reverse(Headers)) {
    Loop *L = FAM.getResult<LoopAnalysis>(F).getLoopFor(Header);
    if (!L || L->getHeader() != Header)
      continue;
    PassLoop P(*L, FAM);
    if (!mayLeave(P))
      continue;
    // A loop around it may do the same with more in each pass.
    if (Loop *Parent = L->getParentLoop()) {
      PassLoop Whole(*Parent, FAM);
      if (mayLeave(Whole))
        continue;
    }
    Behind Of(P, FAM.getResult<AAManager>(F), Blocking);
    if (!Of.find())
      continue;
    say(P, Of, Blocking, FAM, O);
    Filler Fill(P, Of, O);
    Fill.loop();
    Fill.ends();
    Fill.waits();
    for (CallInst *Call : Of.Fills)
      Fill.fill(Call, *Blocking.find(Call)->second);
    for (CallInst *Call : Of.Fills) {
      Blocking.find(Call)->second->FilledFirst = true;
      Blocking.erase(Call);
    }
    for (Site &S : Waits)
      S.FilledFirst |= S.Refused && !S.Waits.empty() && is_contained(Of.Waits, S.Waits.front());
    FAM.clear(F, F.getName());
  }
}

} // namespace overlap

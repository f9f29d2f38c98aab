#include "Later.h"
#include "Classify.h"
#include "Cost.h"
#include "DeferPasses.h"
#include "Effects.h"
#include "Helpers.h"
#include "Inline.h"
#include "List.h"
#include "Ordinary.h"
#include "PassLoop.h"
#include "Reload.h"
#include "Runtime.h"
#include "Versions.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

// Codes that exchange halos with many neighbours write it in three loops: start all receives, send
// to each, wait for each; and the loop that needs what came reads through an index (HPCCG, miniFE).
// No wait can be moved here by what the compiler knows: which request the third loop waits for, how
// many there are and where they lie are values. So the program keeps a list of what is pending, and
// moving becomes a matter of when the list is looked at:
//
//   MPI_Irecv(p, ..., &q)   and note on the list: q is pending, it is of [p, p + bytes)
//   MPI_Send(s, ...)        becomes MPI_Isend, on the list: [s, s + bytes) must not change
//   MPI_Wait(&q)            is taken from the program; the list knows that it was asked for
//   loop                    runs the passes that meet nothing on the list (DeferPasses)
//   end of the list         waits for all that is on it
//
// What is left to decide, by a walk from each start forwards through the function (`Window`), is
// what may happen while something is on the list. Each instruction has a verdict:
//
//   Passes   it cannot meet a message: arithmetic, variables of which only this function
//            knows, a question about rank or time
//   Guards   it may: an access through a pointer. Its address is compared with the list when
//            it runs, and what it meets is waited for
//   Stops    nothing is known, or MPI is called: the list ends in front of it
//
// Three levels say what is under way where it stands: nothing; receives that were noted, for which
// the program has not waited yet, so that it is the program's own affair what it touches; and
// messages that the program believes to be over (`Pending`), which are ours. A loop inside which
// something is guarded is not entered with messages pending: it is deferred, or the list ends in
// front of it.
//
// Exchange and loop are often functions of their own. They are inlined into one, in a copy that
// takes the function's place if a loop was found; where they cannot be, twins pass the list on
// (`Part`).

namespace overlap {

/// Larger functions are not copied, in instructions.
static constexpr unsigned FunctionMax = 50000;
/// More accesses between an exchange and a loop are not looked at when they run.
static constexpr unsigned GuardsMax = 64;

/// True for MPI_Wait and MPI_Waitall.
static bool endsAll(const CallInfo &Row) {
  return Row.Kind == CallKind::End && Row.Index < 0 && Row.Done < 0;
}
/// True for MPI_Irecv and MPI_Isend, as rows that are made of blocking ones are named.
static bool startsReceive(const CallInfo &Row) {
  return Row.Kind == CallKind::Start && Row.Name == "IRecv";
}
static bool startsSend(const CallInfo &Row) {
  return Row.Kind == CallKind::Start && Row.Name == "ISend";
}

/// Calls that ask for a number or for the time.
static bool asks(const Function &F) {
  StringRef Name = F.getName();
  return isQuery(Name) || isClock(Name) || Name == "clock_gettime" || Name == "gettimeofday" ||
         Name == "clock" || Name == "time";
}

static bool frees(const Instruction &I) {
  Function *Callee = calleeOf(I);
  return Callee && Callee->isDeclaration() &&
         (Callee->getName() == "free" || Callee->getName().starts_with("_ZdaPv") ||
          Callee->getName().starts_with("_ZdlPv"));
}

/// True if `Good` holds for each use of the memory `Object`, besides its lifetime and its end.
static bool eachUse(const Value *Object, function_ref<bool(const Use &)> Good) {
  SmallPtrSet<const Value *, 8> Seen{Object};
  SmallVector<const Value *, 8> Work{Object};
  while (!Work.empty())
    for (const Use &U : Work.pop_back_val()->uses()) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      if (!I)
        return false;
      if (isa<GetElementPtrInst>(I) || isa<PHINode>(I)) {
        if (Seen.insert(I).second)
          Work.push_back(I);
      } else if (!I->isLifetimeStartOrEnd() && !frees(*I) && !isa<ICmpInst>(I) && !Good(U)) {
        return false;
      }
    }
  return true;
}

/// True if nothing but waits uses what `V`, a status or an array of them, points to.
static bool isDeadStatus(const Binding &B, Value *V, const DataLayout &DL) {
  Value *Object = getUnderlyingObject(V);
  return isSentinel(B, V, DL) ||
         ((isa<AllocaInst>(Object) || isNoAliasCall(Object)) && eachUse(Object, [](const Use &U) {
            const CallInfo *Row = rowOf(*cast<Instruction>(U.getUser()));
            return Row && endsAll(*Row) && static_cast<int>(U.getOperandNo()) == Row->Status;
          }));
}

namespace {

/// What of a function has to do with messages whose end may be put off.
struct Exchange {
  SmallVector<Start, 4> Starts; ///< Of the program's own messages.
  SmallVector<Start, 4> Sends;  ///< Blocking ones; without a request.
  SmallVector<CallInst *, 4> Waits;
  std::optional<Binding> Bind;

  explicit Exchange(Function &F);
  bool empty() const { return Starts.empty() || Waits.empty(); }
  /// Forgets the calls that are not `Good`. True if there were some.
  bool keep(function_ref<bool(const CallInst &)> Good);
};

/// Where the messages of a function are pending.
class Window {
public:
  Window(Function &F, FunctionAnalysisManager &FAM, const Exchange &Of, Part Is);

  /// Calls of functions that hold a loop to be deferred, to be inlined.
  SmallSetVector<CallBase *, 4> Inlined;
  SmallSetVector<Loop *, 4> Deferred;
  SmallSetVector<Instruction *, 8> Guarded; ///< Accesses to compare with what is pending.
  SmallSetVector<Instruction *, 8> Ends;    ///< In front of which nothing may be pending any more.

  DebugLoc startOfLoop() const {
    return Deferred.empty() ? DebugLoc() : Deferred.front()->getStartLoc();
  }

  /// True if what is pending behind `I` may still be so at a loop to be deferred.
  bool leads(const Instruction &I) const {
    return Leading.contains(I.getParent()) && none_of(Ends, [&](const Instruction *End) {
             return End->getParent() == I.getParent() && I.comesBefore(End);
           });
  }

private:
  enum Level { Nothing, Noted, Pending };
  enum class Verdict { Passes, Guards, Stops };

  Verdict verdict(Instruction &I, Level Now);
  Verdict verdictOfCall(CallBase &Call, Level Now);
  void walk(BasicBlock *Block, BasicBlock::iterator From, Level Now);
  void follow(BasicBlock *From, BasicBlock *To, Level Now);
  bool isOfRequests(const Value *Ptr);
  bool isOfExchange(const Use &U) const;
  bool mayHoldMessage(const Value *Object);

  FunctionAnalysisManager &FAM;
  LoopInfo &LI;
  const Part Is;
  SmallPtrSet<const Instruction *, 16> Starts,
      Putting; ///< Calls of the exchange; those behind which something of ours is pending.
  SmallPtrSet<const Value *, 8> Messages;           ///< Objects that messages lie in.
  SmallPtrSet<const Value *, 4> Requests, Statuses; ///< Objects that only the exchange uses.
  DenseMap<const Value *, bool> OfRequests;
  DenseMap<BasicBlock *, Level> Reached;
  SmallPtrSet<const BasicBlock *, 16>
      Leading; ///< Blocks behind whose end is a loop to be deferred, and no end of messages before.
  SmallVector<std::pair<BasicBlock *, Level>, 16> Work;
};

} // namespace

Exchange::Exchange(Function &F) {
  for (Instruction &I : instructions(F)) {
    const CallInfo *Row = rowOf(I);
    if (!Row || !(startsReceive(*Row) || startsSend(*Row) || Row->Kind == CallKind::Send))
      continue;
    auto *Call = cast<CallInst>(&I);
    bool Received = startsReceive(*Row);
    int Buffer = Received ? Row->RecvBuf : Row->SendBuf,
        Count = Received ? Row->RecvCount : Row->SendCount;
    if (!Call->getArgOperand(Count)->getType()->isIntegerTy(32))
      continue;
    Binding B{Call->getArgOperand(Row->Comm)->getType()->isPointerTy() ? Library::OpenMpi
                                                                       : Library::Mpich,
              false};
    auto Bytes = datatypeSize(B, Call->getArgOperand(Received ? Row->RecvType : Row->SendType));
    if (!Bytes || isSentinel(B, Call->getArgOperand(Buffer), I.getDataLayout()))
      continue;
    Bind = B;
    (Row->Kind == CallKind::Send ? Sends : Starts)
        .push_back({Call, Buffer, Count, Row->at('Q'), Row->Comm, *Bytes, Received});
  }
  if (!Bind)
    return;
  for (Instruction &I : instructions(F))
    if (const CallInfo *Row = rowOf(I);
        Row && endsAll(*Row) &&
        isDeadStatus(*Bind, cast<CallInst>(I).getArgOperand(Row->Status), I.getDataLayout()))
      Waits.push_back(cast<CallInst>(&I));
}

bool Exchange::keep(function_ref<bool(const CallInst &)> Good) {
  size_t Before = Starts.size() + Sends.size() + Waits.size();
  erase_if(Starts, [&](const Start &S) { return !Good(*S.Call); });
  erase_if(Sends, [&](const Start &S) { return !Good(*S.Call); });
  erase_if(Waits, [&](const CallInst *Wait) { return !Good(*Wait); });
  return Starts.size() + Sends.size() + Waits.size() < Before;
}

Window::Window(Function &F, FunctionAnalysisManager &FAM, const Exchange &Of, Part Is)
    : FAM(FAM), LI(FAM.getResult<LoopAnalysis>(F)), Is(Is) {
  auto AddObjects = [](const Value *Ptr, SmallPtrSetImpl<const Value *> &To) {
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(Ptr, Objects, nullptr, 0);
    To.insert(Objects.begin(), Objects.end());
  };
  for (ArrayRef<Start> Calls : {ArrayRef(Of.Starts), ArrayRef(Of.Sends)})
    for (const Start &S : Calls) {
      (S.Request >= 0 ? Starts : Putting).insert(S.Call);
      AddObjects(S.Call->getArgOperand(S.Buffer), Messages);
      if (S.Request >= 0)
        AddObjects(S.Call->getArgOperand(S.Request), Requests);
    }
  for (CallInst *Wait : Of.Waits) {
    Putting.insert(Wait);
    AddObjects(Wait->getArgOperand(rowOf(*Wait)->Status), Statuses);
  }
  for (const Start &S : Of.Starts)
    walk(S.Call->getParent(), std::next(S.Call->getIterator()), Noted);
  for (const Start &S : Of.Sends)
    walk(S.Call->getParent(), std::next(S.Call->getIterator()), Pending);
  for (CallInst *Wait : Of.Waits)
    walk(Wait->getParent(), std::next(Wait->getIterator()), Pending);
  if (Is == Part::Takes)
    walk(&F.getEntryBlock(), F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca(), Pending);
  while (!Work.empty()) {
    auto [Block, Now] = Work.pop_back_val();
    walk(Block, Block->begin(), Now);
  }
  SmallPtrSet<const BasicBlock *, 8> Closed;
  for (const Instruction *End : Ends)
    Closed.insert(End->getParent());
  SmallVector<const BasicBlock *, 16> Back;
  for (const Loop *L : Deferred)
    Back.push_back(L->getLoopPreheader());
  if (Is == Part::Leaves)
    for (const BasicBlock &Block : F)
      if (isa<ReturnInst>(Block.getTerminator()))
        Back.push_back(&Block);
  while (!Back.empty()) {
    const BasicBlock *Block = Back.pop_back_val();
    if (Leading.insert(Block).second && !Closed.contains(Block))
      Back.append(pred_begin(Block), pred_end(Block));
  }
}

/// True if the exchange itself uses memory there, or its address stays here.
bool Window::isOfExchange(const Use &U) const {
  auto *I = cast<Instruction>(U.getUser());
  auto *Store = dyn_cast<StoreInst>(I);
  return isa<LoadInst>(I) ||
         (Store && Store->getPointerOperand() == U.get() && Store->getValueOperand() != U.get()) ||
         Starts.contains(I) || Putting.contains(I);
}

/// True if `Ptr` points into memory of this function that holds requests or statuses, and whose
/// address is known nowhere else: no message lies there.
bool Window::isOfRequests(const Value *Ptr) {
  const Value *Object = getUnderlyingObject(Ptr);
  auto [It, New] = OfRequests.try_emplace(Object, false);
  if (New && (isa<AllocaInst>(Object) || isNoAliasCall(Object)) &&
      (Requests.contains(Object) || Statuses.contains(Object)) && !Messages.contains(Object))
    OfRequests[Object] = eachUse(Object, [&](const Use &U) { return isOfExchange(U); });
  return OfRequests[Object];
}

/// True if a message may lie in the variable `Object`, maybe by a pointer that was loaded.
bool Window::mayHoldMessage(const Value *Object) {
  return Messages.contains(Object) || !eachUse(Object, [&](const Use &U) {
           auto *Call = dyn_cast<CallBase>(U.getUser());
           const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
           return isOfExchange(U) || (Callee && Callee->isDeclaration() && asks(*Callee)) ||
                  (Call && Call->isArgOperand(&U) &&
                   Call->doesNotCapture(Call->getArgOperandNo(&U)));
         });
}

Window::Verdict Window::verdictOfCall(CallBase &Call, Level Now) {
  Function *Callee = Call.getCalledFunction();
  if (Starts.contains(&Call) || Putting.contains(&Call))
    return Verdict::Passes;
  if (Call.isLifetimeStartOrEnd())
    return Now == Pending &&
                   mayHoldMessage(getUnderlyingObject(Call.getArgOperand(Call.arg_size() - 1)))
               ? Verdict::Stops
               : Verdict::Passes;
  if (isa<DbgInfoIntrinsic>(Call) || isa<AssumeInst>(Call) || isa<NoAliasScopeDeclInst>(Call) ||
      Effects::isMathCall(Call))
    return Verdict::Passes;
  if (!Callee || !isa<CallInst>(Call) || Call.isConvergent())
    return Verdict::Stops;
  StringRef Name = Callee->getName();
  if (Callee->isDeclaration()) {
    // They write a few bytes where they are told to.
    if (asks(*Callee)) {
      // It names a communicator, whose handler may leave the function.
      if (isQuery(Name) && !Call.doesNotThrow() && Now == Pending)
        return Verdict::Stops;
      bool Tells =
          any_of(Call.args(), [](const Use &Arg) { return Arg->getType()->isPointerTy(); });
      return Tells && Now == Pending ? Verdict::Guards : Verdict::Passes;
    }
    if (frees(Call))
      return isOfRequests(Call.getArgOperand(0)) ? Verdict::Passes : Verdict::Stops;
    // Fresh memory holds no message.
    if (Name == "malloc" || Name == "calloc")
      return Verdict::Passes;
  }
  if (auto *Memory = dyn_cast<MemIntrinsic>(&Call))
    return Memory->isVolatile() ? Verdict::Stops
           : Now < Pending      ? Verdict::Passes
                                : Verdict::Guards;
  if (isa<IntrinsicInst>(Call) && Call.doesNotAccessMemory())
    return Verdict::Passes;
  bool Quiet = Call.doesNotThrow() && Call.hasFnAttr(Attribute::WillReturn);
  if (Quiet && (Call.doesNotAccessMemory() || (Now < Pending && Call.hasFnAttr(Attribute::NoSync) &&
                                               Call.hasFnAttr(Attribute::NoFree))))
    return Verdict::Passes;
  return Verdict::Stops;
}

/// True if `L` reads through an index.
static bool isIndexed(const Loop &L) {
  auto Indexed = [](const Instruction &I) {
    auto *Load = dyn_cast<LoadInst>(&I);
    auto *Address = Load ? dyn_cast<GetElementPtrInst>(Load->getPointerOperand()) : nullptr;
    return Address && any_of(Address->indices(), [](const Value *Index) {
             if (auto *Cast = dyn_cast<CastInst>(Index))
               Index = Cast->getOperand(0);
             return isa<LoadInst>(Index);
           });
  };
  return any_of(L.blocks(), [&](const BasicBlock *Block) { return any_of(*Block, Indexed); });
}

/// True if a pass of `L` is more than a look at it, as none that unpacks one number is.
static bool isHeavy(const Loop &L) { return isIndexed(L) || !L.getSubLoops().empty(); }

/// What may happen to the messages at `I`.
Window::Verdict Window::verdict(Instruction &I, Level Now) {
  if (auto *Call = dyn_cast<CallBase>(&I))
    return verdictOfCall(*Call, Now);
  // Variables are gone behind it.
  if (isa<ReturnInst>(I)) {
    bool Lies = Now == Pending && any_of(instructions(I.getFunction()), [&](const Instruction &A) {
                  return isa<AllocaInst>(A) && mayHoldMessage(&A);
                });
    return Is == Part::Whole || Lies ? Verdict::Stops : Verdict::Passes;
  }
  if (I.isEHPad() || isa<FenceInst>(I) || isa<VAArgInst>(I) || I.isAtomic() || I.isVolatile() ||
      isa<ResumeInst>(I) || isa<IndirectBrInst>(I))
    return Verdict::Stops;
  if (!I.mayReadOrWriteMemory() || Now < Pending)
    return Verdict::Passes;
  if (!isa<LoadInst>(I) && !isa<StoreInst>(I))
    return Verdict::Stops;
  // What only this function knows, and no message lies in.
  const Value *Object = getUnderlyingObject(getLoadStorePointerOperand(&I));
  if (isOfRequests(Object) || (isa<AllocaInst>(Object) && !Messages.contains(Object) &&
                               !mayBeCaptured(Object, /*Returned=*/true)))
    return Verdict::Passes;
  return Verdict::Guards;
}

/// Passes the instructions of `Block` from `From` on.
void Window::walk(BasicBlock *Block, BasicBlock::iterator From, Level Now) {
  for (auto It = From; It != Block->end(); ++It) {
    Instruction &I = *It;
    if (Putting.contains(&I))
      Now = Pending;
    switch (verdict(I, Now)) {
    case Verdict::Passes:
      break;
    case Verdict::Guards:
      Guarded.insert(&I);
      break;
    case Verdict::Stops:
      Ends.insert(&I);
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Now == Pending)
        Inlined.insert(Call);
      return;
    }
  }
  for (BasicBlock *Next : successors(Block))
    follow(Block, Next, Now);
}

/// Enters `To`; a loop without messages is passed as a whole, or not at all.
void Window::follow(BasicBlock *From, BasicBlock *To, Level Now) {
  Loop *L = LI.getLoopFor(To);
  auto HasExchange = [&](const Loop &In) {
    return any_of(In.blocks(), [&](BasicBlock *Block) {
      return any_of(*Block,
                    [&](Instruction &I) { return Starts.contains(&I) || Putting.contains(&I); });
    });
  };
  if (L && L->getHeader() == To && !L->contains(From) && !HasExchange(*L)) {
    bool Stops = false;
    for (BasicBlock *In : L->blocks())
      Stops |= any_of(*In, [&](Instruction &I) { return verdict(I, Now) != Verdict::Passes; });
    if (Stops) {
      bool Defers = Now == Pending && L->getLoopPreheader() == From && canDefer(*L, FAM) &&
                    (Is == Part::Whole || isHeavy(*L));
      if (Defers)
        Deferred.insert(L);
      else
        Ends.insert(From->getTerminator());
      return;
    }
  }
  Level &Known = Reached[To];
  if (Known >= Now)
    return;
  Known = Now;
  Work.push_back({To, Now});
}

bool hasIndexedLoop(Function &F, FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  return any_of(LI, [](const Loop *L) { return isIndexed(*L); });
}

bool hasExchange(Function &F) {
  bool Starts = false, Waits = false;
  for (Instruction &I : instructions(F))
    if (const CallInfo *Row = rowOf(I)) {
      Starts |= startsReceive(*Row);
      Waits |= endsAll(*Row);
    }
  return Starts && Waits;
}

/// The list of what is pending in `F`: its last argument, or a variable of its own.
static Value *listOf(Function &F, Part Is) {
  if (Is != Part::Whole)
    return F.getArg(F.arg_size() - 1);
  BasicBlock &Entry = F.getEntryBlock();
  IRBuilder<> Top(&Entry, Entry.getFirstInsertionPt());
  AllocaInst *List = Top.CreateAlloca(listType(F.getContext()), nullptr, "overlap.later");
  IRBuilder<> AfterAllocas(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
  emptyList(AfterAllocas, List);
  return List;
}

/// Functions that exchange messages become a part of this one.
static void inlineExchanges(Function &F, FunctionAnalysisManager &FAM, const Options &O) {
  SmallVector<CallBase *, 4> Exchanges;
  for (Instruction &I : instructions(F))
    if (Function *Callee = calleeOf(I);
        Callee && !Callee->isDeclaration() && canBeInlined(*Callee, F, FAM) && hasExchange(*Callee))
      Exchanges.push_back(cast<CallBase>(&I));
  for (CallBase *Call : Exchanges)
    inlineCall(*Call, FAM, O);
}

/// So does the first function with a loop that is called where messages are pending. True if there
/// was one.
static bool inlineLoop(Window &W, Function &F, FunctionAnalysisManager &FAM, const Options &O) {
  for (CallBase *Call : W.Inlined) {
    Function *Callee = Call->getCalledFunction();
    if (Callee && !Callee->isDeclaration() && canBeInlined(*Callee, F, FAM) &&
        (Callee->getInstructionCount() < 50 || hasIndexedLoop(*Callee, FAM)) &&
        inlineCall(*Call, FAM, O))
      return true;
  }
  return false;
}

/// Lets calls, guards and ends go by the list. What was put there, for the report.
static SmallVector<std::pair<std::string, DebugLoc>, 8>
useList(Function &F, const Exchange &Of, const Window &W, Value *List, const Options &O, Part Is) {
  Module &M = *F.getParent();
  // Who is called with messages pending that starts others begins with none.
  if (Is == Part::Leaves)
    IRBuilder<>(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca())
        .CreateCall(runtime(M, "__overlap_later_end"), {List});
  for (Instruction *I : W.Ends)
    IRBuilder<>(I).CreateCall(runtime(M, "__overlap_later_end"), {List});
  for (Instruction *I : W.Guarded)
    guard(I, List);
  SmallVector<std::pair<std::string, DebugLoc>, 8> Put;
  auto Replace = [&](CallInst *Call, uint64_t ElementBytes) {
    SmallVector<Value *, 8> Args{List};
    Args.append(Call->arg_begin(), Call->arg_end());
    Put.push_back({Call->getCalledFunction()->getName().str(), Call->getDebugLoc()});
    CallInst *New = CallInst::Create(relay(M, *Call, O, ElementBytes), Args);
    New->setDebugLoc(Call->getDebugLoc());
    ReplaceInstWithInst(Call, New);
  };
  for (const Start &S : Of.Starts)
    note(S, List);
  for (const Start &S : Of.Sends)
    Replace(S.Call, S.ElementBytes);
  for (CallInst *Wait : Of.Waits)
    Replace(Wait, 0);
  return Put;
}

/// Defers the passes of these loops, each found again by its header when the one before it has
/// changed the function.
static void deferLoops(Function &F, ArrayRef<BasicBlock *> Headers, Value *List, Constant *Site,
                       Part Is, FunctionAnalysisManager &FAM, const Options &O) {
  for (BasicBlock *Header : Headers) {
    FAM.clear(F, F.getName());
    Loop &L = *FAM.getResult<LoopAnalysis>(F).getLoopFor(Header);
    // The one before may have taken what this one needs.
    if (canDefer(L, FAM))
      defer(L, List, Site, /*Asked=*/Is == Part::Takes, FAM, O);
    else
      IRBuilder<>(L.getLoopPreheader()->getTerminator())
          .CreateCall(runtime(*F.getParent(), "__overlap_later_end"), {List});
  }
  FAM.clear(F, F.getName());
}

bool putOff(Function &F, FunctionAnalysisManager &FAM, const Options &O, Part Is) {
  // STEP 1: exchanges that are called become a part of this function, then loops, until no more
  // is called that could be one.
  inlineExchanges(F, FAM, O);
  std::optional<Exchange> Found;
  std::optional<Window> Between;
  for (unsigned Round = 0; !Between && Round < 16; ++Round) {
    simplifyLoops(F, FAM);
    reloadCarried(F, FAM);
    Found.emplace(F);
    if (Found->empty() && Is != Part::Takes)
      return false;
    Between.emplace(F, FAM, *Found, Is);
    if (inlineLoop(*Between, F, FAM, O))
      Between.reset();
  }
  if (!Between)
    return false;
  // STEP 2: what no loop gains from stays as it is.
  Exchange &Of = *Found;
  while (Of.keep([&](const CallInst &Call) { return Between->leads(Call); }))
    Between.emplace(F, FAM, Of, Is);
  Window &W = *Between;
  if ((Of.empty() && Is != Part::Takes) || (W.Deferred.empty() && Is == Part::Whole) ||
      W.Guarded.size() > GuardsMax)
    return false;
  // Nothing but a question about time takes what is pending without a loop.
  if (Is == Part::Takes && W.Deferred.empty() && !(W.Ends.empty() && W.Guarded.empty()))
    return false;
  // STEP 3: calls, guards and ends go by the list. Of what another function started no call is
  // known.
  CallInst *Waited = Of.Waits.empty() ? nullptr : Of.Waits.front();
  DebugLoc At = Waited ? Waited->getDebugLoc() : W.startOfLoop();
  std::string Name = Waited ? Waited->getCalledFunction()->getName().str() : "MPI_Wait";
  Value *List = listOf(F, Is);
  auto Put = useList(F, Of, W, List, O, Is);
  Constant *Site = siteName(*F.getParent(), Name, At);
  // STEP 4: the loops.
  SmallVector<BasicBlock *, 4> Headers;
  uint64_t Weight = 0;
  Cost Weights(FAM);
  for (Loop *L : W.Deferred) {
    Headers.push_back(L->getHeader());
    Weight += Weights.loop(*L);
  }
  deferLoops(F, Headers, List, Site, Is, FAM, O);
  OptimizationRemarkEmitter ORE(&F);
  // What becomes of what a twin leaves, only the linker knows.
  for (auto &Call : Put)
    if (Is == Part::Whole)
      ORE.emit([&] {
        auto R = OptimizationRemark("overlap", "PutOff", Call.second, &F.getEntryBlock())
                 << ore::NV("Call", Call.first);
        R << " is ended later with " << ore::NV("Strength", name(O.Widen)) << ": ";
        R << ore::NV("Loops", static_cast<unsigned>(Headers.size())) << " loops of "
          << ore::NV("Weight", Weight) << " weighted instructions defer the passes that need it";
        return R;
      });
  return true;
}

/// Takes the body of `From` in place of that of `F`, whose copy it is, and removes it.
static void takeOver(Function &F, Function &From) {
  F.dropAllReferences();
  F.splice(F.begin(), &From);
  for (auto [Mine, Its] : zip(F.args(), From.args()))
    Its.replaceAllUsesWith(&Mine);
  if (From.hasPersonalityFn())
    F.setPersonalityFn(From.getPersonalityFn());
  F.setSubprogram(From.getSubprogram());
}

bool putOff(Module &M, FunctionAnalysisManager &FAM, const Options &O) {
  SmallVector<Function *, 32> Functions;
  SmallPtrSet<Function *, 8> Exchanging;
  for (Function &F : M)
    if (isOrdinary(F, FAM) && !F.getName().starts_with("__overlap") &&
        F.getInstructionCount() <= FunctionMax && none_of(F, [](BasicBlock &Block) {
          return Block.hasAddressTaken() || Block.getTerminatingMustTailCall();
        })) {
      Functions.push_back(&F);
      if (hasExchange(F))
        Exchanging.insert(&F);
    }
  bool Changed = false;
  for (Function *F : Functions) {
    SmallPtrSet<Function *, 16> Called;
    for (Instruction &I : instructions(*F))
      if (Function *Callee = calleeOf(I); Callee && !Callee->isDeclaration())
        Called.insert(Callee);
    bool Exchanges = Exchanging.contains(F) ||
                     any_of(Called, [&](Function *Callee) { return Exchanging.contains(Callee); });
    if (!Exchanges || !(hasIndexedLoop(*F, FAM) || any_of(Called, [&](Function *Callee) {
                          return hasIndexedLoop(*Callee, FAM);
                        })))
      continue;
    ValueToValueMapTy Map;
    Function *Trial = CloneFunction(F, Map);
    Trial->setName(F->getName() + ".later");
    if (putOff(*Trial, FAM, O, Part::Whole)) {
      FAM.clear(*F, F->getName());
      FAM.clear(*Trial, Trial->getName());
      takeOver(*F, *Trial);
      Changed = true;
    } else {
      FAM.clear(*Trial, Trial->getName());
    }
    Trial->eraseFromParent();
  }
  return Changed;
}

} // namespace overlap

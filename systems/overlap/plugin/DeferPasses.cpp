#include "DeferPasses.h"
#include "Effects.h"
#include "Runtime.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace overlap {

/// Larger loops are not copied, in instructions.
static constexpr unsigned SizeMax = 2000;
/// More places that a loop writes are not compared with all that it reads.
static constexpr unsigned WrittenMax = 4;
/// Counts and strides up to here cannot overflow when they are multiplied.
static constexpr int64_t NumberMax = int64_t(1) << 31;

/// What `look` finds, as bits; the same numbers are in `runtime/later.c`.
enum { Free, Meets, KeepsOrder };

namespace {

/// One load or store of the loop.
struct Touch {
  Instruction *I;
  Value *Ptr;
  uint64_t Bytes;
  bool Writes;
  bool Decides; ///< Loads what an address or a branch depends on, so that `look` loads it too.
  bool Strong;  ///< It decides which way `look` goes or what it loads: not to be made while it is pending.
  bool Apart;   ///< Loads nothing that another pass stores.
};

/// What the stores of one array write: in pass k `[Low + Step * k + From, ... + To)`.
struct Written {
  const SCEV *Low;
  int64_t Step, From, To;
};

/// True if both are looked at in the same way.
bool sameKind(const Touch &A, const Touch &B) {
  return A.Writes == B.Writes && A.Decides == B.Decides && A.Strong == B.Strong && A.Apart == B.Apart;
}

/// A loop in a function of its own.
struct Outlined {
  Function *F = nullptr;
  ValueToValueMapTy Map;
  BasicBlock *Header = nullptr;
  BranchInst *End = nullptr; ///< Of a pass.
  BasicBlock *Out = nullptr; ///< Behind the last.
  PHINode *Pass = nullptr;
};

class PassLoop {
public:
  PassLoop(Loop &L, FunctionAnalysisManager &FAM)
      : L(L), F(*L.getHeader()->getParent()), M(*F.getParent()), FAM(FAM), SE(FAM.getResult<ScalarEvolutionAnalysis>(F)),
        LI(FAM.getResult<LoopAnalysis>(F)), Before(L.getLoopPreheader()), Header(L.getHeader()), Latch(L.getLoopLatch()),
        Exit(L.getUniqueExitBlock()) {}

  bool check();
  void defer(Value *Later, const Options &O);

private:
  bool hasShape();
  bool findCounters();
  bool findTouches();
  void findDeciding();
  bool findWritten();
  /// How far `Ptr` moves from one pass to the next, if it does so always.
  std::optional<int64_t> stepOf(Value *Ptr) {
    auto *Moving = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Ptr));
    auto *Step = Moving && Moving->getLoop() == &L && Moving->isAffine() ? dyn_cast<SCEVConstant>(Moving->getStepRecurrence(SE)) : nullptr;
    bool Small = Step && Step->getAPInt().getSignificantBits() <= 31;
    return Small ? std::optional(Step->getAPInt().getSExtValue()) : std::nullopt;
  }
  void findApart();
  void outline(Outlined &New, const Twine &Suffix, FunctionType *Type, ArrayRef<Value *> Values, StructType *Env);

  Loop &L;
  Function &F;
  Module &M;
  FunctionAnalysisManager &FAM;
  ScalarEvolution &SE;
  LoopInfo &LI;
  BasicBlock *Before, *Header, *Latch, *Exit;
  SmallVector<std::pair<PHINode *, int64_t>, 4> Counters; ///< With their steps.
  SmallVector<Touch, 16> Touches;
  SmallVector<CallBase *, 8> Calls;
  SmallPtrSet<Instruction *, 32> Deciding;
  SmallVector<Written, 4> Writes;

  friend class Look;
};

/// Makes `look` from a copy of the loop.
class Look {
public:
  Look(PassLoop &Of, SCEVExpander &Expander) : Of(Of), Expander(Expander) {}

  /// Computes in the loop itself, for it to be copied, what loops inside of a pass reach; `WrittenAt` are the bounds of what is written.
  void prepare(ArrayRef<std::pair<Value *, Value *>> WrittenAt);
  /// Turns the copy of the loop into `look`.
  void finish(Outlined &Copy);
  /// Values from in front of the loop that only the copy needs.
  SmallVector<Value *, 4> wanted() const { return SmallVector<Value *, 4>(make_second_range(Ahead)); }
  /// Values of the loop that only the copy needs.
  ArrayRef<WeakTrackingVH> made() const { return Made; }

private:
  /// What a loop inside of a pass reaches, as values in front of it.
  struct Range {
    Instruction *At;
    Value *From, *To;
    Touch Like;
    const SCEV *Base;
  };
  /// Addresses `Base + Element * index` of one pass; only the least and the largest index counts.
  struct Hull {
    Value *Base; ///< Null: the index is the address.
    uint64_t Element;
    bool Signed;
    Touch Like;
    SmallVector<std::pair<Instruction *, Value *>, 4> Indices;
    const SCEV *List; ///< The array that all indices are read from, one after the other; null: elsewhere.
  };

  /// The least and the largest number so far: one by one, and several at a time.
  struct Slots {
    AllocaInst *Least, *Most, *LeastWide, *MostWide;
  };

  bool addRange(const Touch &T, const Loop &Inner);
  void addToBlock(const Touch &T);
  bool join(const Touch &T, const Loop *Inner, const SCEV *Start, const SCEV *Step);
  const SCEV *listOf(const Hull &H);
  void scan(Instruction *At, const Slots &Of, bool Signed, Value *From, Value *To);
  void addIndex(const Touch &T);
  void expandRanges();
  /// What `V` is in the copy.
  Value *mine(Value *V) {
    Value *Now = In->Map.lookup(V);
    return Now ? Now : V;
  }
  Value *kindOf(IRBuilder<> &B, Value *From, Value *To, const Touch &Like);
  void test(Instruction *At, Value *From, Value *To, const Touch &Like);
  void addKind(IRBuilder<> &B, Value *Of) { B.CreateStore(B.CreateOr(B.CreateLoad(B.getInt32Ty(), Kind), Of), Kind); }

  PassLoop &Of;
  SCEVExpander &Expander;
  SmallVector<std::pair<Value *, Value *>, 4> WrittenAt;
  SmallVector<Range, 8> Ranges;
  SmallVector<Touch *, 8> AtOnce; ///< Looked at where they stand.
  /// Looked at for all passes that `look` is asked about: where the first pass of all loads from.
  SmallVector<std::pair<Touch *, Value *>, 4> Ahead;
  SmallVector<Hull, 4> Hulls;
  SmallVector<WeakTrackingVH, 32> Made;

  /// Accesses to one array in one loop inside, or in one block, that are looked at as one: offsets from the first address.
  struct Joined {
    const Loop *Inner;       ///< Null: a block.
    const SCEV *Start, *Step, *Taken;
    int64_t From, To;
    Touch Like;
    SmallVector<Instruction *, 8> Members;

    /// True if nothing between is left out.
    bool isDense() const {
      int64_t Bytes = To - From, Of = static_cast<int64_t>(Members.size() * Like.Bytes);
      return Bytes == Of && (!Inner || std::abs(cast<SCEVConstant>(Step)->getAPInt().getSExtValue()) == Bytes);
    }
  };
  SmallVector<Joined, 8> All;

  Outlined *In = nullptr;
  AllocaInst *Kind = nullptr;
  BasicBlock *Ordered = nullptr;
  Value *ReceivedFrom = nullptr, *ReceivedTo = nullptr, *SentFrom = nullptr, *SentTo = nullptr;
};

} // namespace

bool PassLoop::hasShape() {
  const SCEV *Taken = SE.getBackedgeTakenCount(&L);
  if (!Before || !Latch || !Exit || L.getExitingBlock() != Latch || !isa<BranchInst>(Latch->getTerminator()) || Exit->isEHPad() ||
      !L.hasDedicatedExits() || isa<SCEVCouldNotCompute>(Taken) || SE.getTypeSizeInBits(Taken->getType()) > 64)
    return false;
  unsigned Size = 0;
  for (BasicBlock *Block : L.blocks()) {
    Size += Block->size();
    if (Block->hasAddressTaken() || !(isa<BranchInst>(Block->getTerminator()) || isa<SwitchInst>(Block->getTerminator())))
      return false;
    for (Instruction &I : *Block)
      for (const User *U : I.users())
        if (!L.contains(cast<Instruction>(U)))
          return false;
  }
  for (Loop *Inner : LI.getLoopsInPreorder())
    if (L.contains(Inner) && !Inner->getLoopPreheader())
      return false;
  return Size <= SizeMax && SCEVExpander(SE, F.getDataLayout(), "overlap").isSafeToExpandAt(Taken, Before->getTerminator());
}

bool PassLoop::findCounters() {
  for (PHINode &Phi : Header->phis()) {
    auto *Moving = SE.isSCEVable(Phi.getType()) ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
    auto *Step = Moving && Moving->getLoop() == &L && Moving->isAffine() ? dyn_cast<SCEVConstant>(Moving->getStepRecurrence(SE)) : nullptr;
    if (!Step || SE.getTypeSizeInBits(Phi.getType()) > 64)
      return false;
    Counters.push_back({&Phi, Step->getAPInt().getSExtValue()});
  }
  return true;
}

bool PassLoop::findTouches() {
  const DataLayout &DL = F.getDataLayout();
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block) {
      if (isa<DbgInfoIntrinsic>(I) || isa<NoAliasScopeDeclInst>(I))
        continue;
      // Of what is not computed nothing is known.
      if (isa<AssumeInst>(I)) {
        Calls.push_back(cast<CallBase>(&I));
        continue;
      }
      auto *Load = dyn_cast<LoadInst>(&I);
      auto *Store = dyn_cast<StoreInst>(&I);
      if (Load || Store) {
        TypeSize Size = DL.getTypeStoreSize(Load ? Load->getType() : Store->getValueOperand()->getType());
        if (I.isVolatile() || I.isAtomic() || Size.isScalable())
          return false;
        Touches.push_back({&I, getLoadStorePointerOperand(&I), Size.getFixedValue(), Store != nullptr, false, false, false});
        continue;
      }
      if (isa<AllocaInst>(I) || I.isEHPad() || isa<FenceInst>(I))
        return false;
      auto *Call = dyn_cast<CallBase>(&I);
      bool Computes = Call && isa<IntrinsicInst>(Call) && Call->doesNotAccessMemory() && Call->doesNotThrow() && !Call->isConvergent();
      if (Call && !Computes && !Effects::isMathCall(I))
        return false;
      if (!Call && I.mayReadOrWriteMemory())
        return false;
      if (Call)
        Calls.push_back(Call);
    }
  return any_of(Touches, [](const Touch &T) { return T.Writes; });
}

/// What in the loop `Work` depends on.
static SmallPtrSet<Instruction *, 32> sliceOf(const Loop &L, SmallVector<Value *, 32> Work) {
  SmallPtrSet<Instruction *, 32> Slice;
  while (!Work.empty()) {
    auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (I && L.contains(I) && Slice.insert(I).second)
      Work.append(I->value_op_begin(), I->value_op_end());
  }
  return Slice;
}

void PassLoop::findDeciding() {
  SmallVector<Value *, 32> Branches, Addresses;
  for (BasicBlock *Block : L.blocks())
    Branches.append(Block->getTerminator()->value_op_begin(), Block->getTerminator()->value_op_end());
  for (const Touch &T : Touches)
    Addresses.push_back(T.Ptr);
  Addresses.append(Branches);
  Deciding = sliceOf(L, Addresses);
  for (Touch &T : Touches)
    if ((T.Decides = Deciding.contains(T.I)))
      Branches.push_back(T.Ptr);
  auto Strong = sliceOf(L, Branches);
  for (Touch &T : Touches)
    T.Strong = Strong.contains(T.I);
}

/// True if no two passes write to one place: each array that is written advances by what a pass writes, at least.
bool PassLoop::findWritten() {
  for (const Touch &T : Touches) {
    if (!T.Writes)
      continue;
    Written W{SE.getSCEV(T.Ptr), 0, 0, static_cast<int64_t>(T.Bytes)};
    while (auto *Moving = dyn_cast<SCEVAddRecExpr>(W.Low)) {
      auto *Step = Moving->isAffine() ? dyn_cast<SCEVConstant>(Moving->getStepRecurrence(SE)) : nullptr;
      if (!Step || Step->getAPInt().getSignificantBits() > 32 || !L.contains(Moving->getLoop()))
        return false;
      int64_t Stride = Step->getAPInt().getSExtValue();
      W.Low = Moving->getStart();
      if (Moving->getLoop() == &L) {
        W.Step = Stride;
        break;
      }
      auto *Taken = dyn_cast<SCEVConstant>(SE.getBackedgeTakenCount(Moving->getLoop()));
      if (!Taken || Taken->getAPInt().getActiveBits() > 31)
        return false;
      int64_t Far = Stride * Taken->getAPInt().getSExtValue();
      W.From += std::min<int64_t>(Far, 0);
      W.To += std::max<int64_t>(Far, 0);
    }
    SCEVExpander Expander(SE, F.getDataLayout(), "overlap");
    if (!SE.isLoopInvariant(W.Low, &L) || !Expander.isSafeToExpandAt(W.Low, Before->getTerminator()))
      return false;
    Written *Same = find_if(Writes, [&](const Written &Other) {
      return Other.Step == W.Step && isa<SCEVConstant>(SE.getMinusSCEV(W.Low, Other.Low));
    });
    if (Same == Writes.end()) {
      Writes.push_back(W);
      continue;
    }
    int64_t Apart = cast<SCEVConstant>(SE.getMinusSCEV(W.Low, Same->Low))->getAPInt().getSExtValue();
    Same->From = std::min(Same->From, W.From + Apart);
    Same->To = std::max(Same->To, W.To + Apart);
  }
  return Writes.size() <= WrittenMax &&
         all_of(Writes, [](const Written &W) { return W.Step != 0 && std::abs(W.Step) >= W.To - W.From && std::abs(W.Step) < NumberMax; });
}

/// Which loads are of nothing that another pass stores: of other objects, or of the address that their own pass stores to.
void PassLoop::findApart() {
  auto &AA = FAM.getResult<AAManager>(F);
  // What a phi or a select chooses between, another pass may choose the other way round.
  auto Chosen = [&](const Value *Ptr) {
    const Value *Object = getUnderlyingObject(Ptr);
    return (isa<PHINode>(Object) || isa<SelectInst>(Object)) && L.contains(cast<Instruction>(Object));
  };
  auto OtherObjects = [&](const Value *A, const Value *B) {
    return Effects::differentObjects(A, B) ||
           (!Chosen(A) && !Chosen(B) && AA.isNoAlias(MemoryLocation::getBeforeOrAfter(A), MemoryLocation::getBeforeOrAfter(B)));
  };
  for (Touch &T : Touches)
    T.Apart = !T.Writes && all_of(Touches, [&](const Touch &Other) {
      bool Own = Other.Bytes >= T.Bytes && SE.getSCEV(Other.Ptr) == SE.getSCEV(T.Ptr);
      return !Other.Writes || Own || OtherObjects(T.Ptr, Other.Ptr);
    });
}

bool PassLoop::check() {
  if (!hasShape() || !findCounters() || !findTouches())
    return false;
  findDeciding();
  findApart();
  // Nothing of a call that touches memory, as errno, may decide.
  return none_of(Deciding, [](Instruction *I) { return isa<CallBase>(I) && I->mayReadOrWriteMemory(); }) && findWritten();
}

/// Makes `New` a function with the passes of the loop, whose values from outside lie in a struct: `(values, ..., from, to, ...)`. It has
/// its entry and the loop, and returns where no pass is left.
void PassLoop::outline(Outlined &New, const Twine &Suffix, FunctionType *Type, ArrayRef<Value *> Values, StructType *Env) {
  LLVMContext &C = M.getContext();
  New.F = Function::Create(Type, GlobalValue::InternalLinkage, F.getName() + Suffix, M);
  AttrBuilder Attributes(C, F.getAttributes().getFnAttrs());
  for (auto Kind : {Attribute::Memory, Attribute::NoSync, Attribute::NoFree, Attribute::NoRecurse, Attribute::WillReturn, Attribute::Speculatable,
                    Attribute::NoCallback, Attribute::AlwaysInline, Attribute::InlineHint, Attribute::NoReturn, Attribute::Cold, Attribute::AllocSize})
    Attributes.removeAttribute(Kind);
  New.F->setAttributes(AttributeList::get(C, AttributeList::FunctionIndex, Attributes));
  New.F->addFnAttr(Attribute::NoInline);
  auto *Entry = BasicBlock::Create(C, "entry", New.F);
  IRBuilder<> B(Entry);
  for (unsigned Idx = 0; Idx < Values.size(); ++Idx)
    New.Map[Values[Idx]] = B.CreateLoad(Values[Idx]->getType(), B.CreateStructGEP(Env, New.F->getArg(0), Idx));
  SmallVector<BasicBlock *, 16> Old(L.blocks()), Blocks;
  SmallVector<MDNode *, 4> Scopes;
  identifyNoAliasScopesToClone(Old, Scopes);
  for (BasicBlock *Block : Old) {
    Blocks.push_back(CloneBasicBlock(Block, New.Map, "", New.F));
    New.Map[Block] = Blocks.back();
    for (Instruction &I : make_early_inc_range(*Blocks.back())) {
      I.dropDbgRecords();
      if (isa<DbgInfoIntrinsic>(I))
        I.eraseFromParent();
    }
  }
  New.Map[Before] = Entry;
  remapInstructionsInBlocks(Blocks, New.Map);
  cloneAndAdaptNoAliasScopes(Scopes, Blocks, C, Suffix.str());
  New.Header = cast<BasicBlock>(New.Map[Header]);
  auto *NewLatch = cast<BasicBlock>(New.Map[Latch]);
  // `from` and `to` are the last two numbers of 64 bits.
  SmallVector<Argument *, 4> Numbers;
  for (Argument &A : New.F->args())
    if (A.getType()->isIntegerTy(64))
      Numbers.push_back(&A);
  Value *From = Numbers[0], *To = Numbers[1];
  for (auto [Phi, Step] : Counters) {
    auto *Mine = cast<PHINode>(New.Map[Phi]);
    Value *Start = Mine->getIncomingValueForBlock(Entry);
    llvm::Type *Int = Phi->getType()->isPointerTy() ? B.getInt64Ty() : Phi->getType();
    Value *Far = B.CreateMul(B.CreateZExtOrTrunc(From, Int), ConstantInt::getSigned(Int, Step));
    Mine->setIncomingValueForBlock(Entry, Phi->getType()->isPointerTy() ? B.CreatePtrAdd(Start, Far) : B.CreateAdd(Start, Far));
  }
  B.CreateBr(New.Header);
  IRBuilder<> H(New.Header, New.Header->begin());
  New.Pass = H.CreatePHI(B.getInt64Ty(), 2, "overlap.pass");
  New.Out = BasicBlock::Create(C, "out", New.F);
  auto *Last = cast<BranchInst>(NewLatch->getTerminator());
  IRBuilder<> E(Last);
  Value *Next = E.CreateAdd(New.Pass, E.getInt64(1), "overlap.next", true, true);
  New.Pass->addIncoming(From, Entry);
  New.Pass->addIncoming(Next, NewLatch);
  New.End = E.CreateCondBr(E.CreateICmpULT(Next, To), New.Header, New.Out);
  New.End->copyMetadata(*Last, {LLVMContext::MD_loop});
  Last->eraseFromParent();
  IRBuilder<> R(New.Out);
  if (Type->getReturnType()->isVoidTy())
    R.CreateRetVoid();
  else
    R.CreateRet(Constant::getNullValue(Type->getReturnType()));
  stripDebugInfo(*New.F);
}

/// True if all that `T` reaches while `Inner` runs follows from its counter.
bool Look::addRange(const Touch &T, const Loop &Inner) {
  auto *Moving = dyn_cast<SCEVAddRecExpr>(Of.SE.getSCEV(T.Ptr));
  const SCEV *Taken = Of.SE.getBackedgeTakenCount(&Inner);
  Instruction *At = Inner.getLoopPreheader()->getTerminator();
  if (!Moving || Moving->getLoop() != &Inner || !Moving->isAffine() || isa<SCEVCouldNotCompute>(Taken) || Of.SE.getTypeSizeInBits(Taken->getType()) > 64)
    return false;
  const SCEV *Start = Moving->getStart(), *Step = Moving->getStepRecurrence(Of.SE);
  if (!Of.SE.isLoopInvariant(Start, &Inner) || !isa<SCEVConstant>(Step) || !Expander.isSafeToExpandAt(Start, At) ||
      !Expander.isSafeToExpandAt(Taken, At))
    return false;
  if (!join(T, &Inner, Start, Step))
    All.push_back({&Inner, Start, Step, Taken, 0, static_cast<int64_t>(T.Bytes), T, {T.I}});
  return true;
}

/// The same for an access that stands in no loop inside.
void Look::addToBlock(const Touch &T) {
  const SCEV *At = Of.SE.getSCEV(T.Ptr);
  if (!join(T, nullptr, At, nullptr))
    All.push_back({nullptr, At, nullptr, nullptr, 0, static_cast<int64_t>(T.Bytes), T, {T.I}});
}

/// Adds `T` to what is looked at together with it, if there is something.
bool Look::join(const Touch &T, const Loop *Inner, const SCEV *Start, const SCEV *Step) {
  for (Joined &R : All) {
    if (R.Inner != Inner || R.Step != Step || !sameKind(R.Like, T) || R.Like.Bytes != T.Bytes ||
        (!Inner && R.Like.I->getParent() != T.I->getParent()))
      continue;
    auto *Apart = dyn_cast<SCEVConstant>(Of.SE.getMinusSCEV(Start, R.Start));
    if (!Apart || Apart->getAPInt().getSignificantBits() > 31)
      continue;
    int64_t Offset = Apart->getAPInt().getSExtValue();
    R.From = std::min(R.From, Offset);
    R.To = std::max(R.To, Offset + static_cast<int64_t>(T.Bytes));
    R.Members.push_back(T.I);
    return true;
  }
  return false;
}

/// Notes the index or the address of `T` where it stands.
void Look::addIndex(const Touch &T) {
  auto *Address = dyn_cast<GetElementPtrInst>(T.Ptr);
  const DataLayout &DL = Of.F.getDataLayout();
  Value *Base = nullptr, *Index = T.Ptr;
  uint64_t Element = 1;
  bool Signed = false;
  if (Address && Address->getNumIndices() == 1 && Of.L.isLoopInvariant(Address->getPointerOperand()) && Address->getType()->isPointerTy() &&
      !DL.getTypeAllocSize(Address->getSourceElementType()).isScalable()) {
    Base = Address->getPointerOperand();
    Element = DL.getTypeAllocSize(Address->getSourceElementType()).getFixedValue();
    Index = Address->getOperand(1);
    Signed = true;
    if (isa<SExtInst>(Index) || isa<ZExtInst>(Index)) {
      Signed = isa<SExtInst>(Index);
      Index = cast<CastInst>(Index)->getOperand(0);
    }
  }
  Hull *Same = find_if(Hulls, [&](const Hull &H) {
    return H.Base == Base && H.Element == Element && H.Signed == Signed && H.Like.Bytes == T.Bytes && sameKind(H.Like, T) &&
           H.Indices.front().second->getType() == Index->getType();
  });
  if (Same == Hulls.end()) {
    Hulls.push_back({Base, Element, Signed, T, {}, nullptr});
    Same = &Hulls.back();
  }
  Same->Indices.push_back({T.I, Index});
}

void Look::expandRanges() {
  Type *Int = Type::getInt64Ty(Of.M.getContext());
  for (const Joined &R : All) {
    Instruction *At = R.Inner ? R.Inner->getLoopPreheader()->getTerminator() : R.Like.I;
    IRBuilder<> B(At);
    auto Note = [&](Value *V) {
      if (isa<Instruction>(V))
        Made.push_back(V);
      return V;
    };
    if (!R.Inner) {
      Value *Start = Note(B.CreatePtrToInt(R.Like.Ptr, Int));
      Value *From = Note(B.CreateAdd(Start, B.getInt64(R.From))), *To = Note(B.CreateAdd(Start, B.getInt64(R.To)));
      Ranges.push_back({At, From, To, R.Like, Of.SE.getPointerBase(R.Start)});
      continue;
    }
    Value *Start = Note(B.CreatePtrToInt(Note(Expander.expandCodeFor(R.Start, R.Start->getType(), At->getIterator())), Int));
    Value *Passes = Note(B.CreateZExtOrTrunc(Note(Expander.expandCodeFor(R.Taken, R.Taken->getType(), At->getIterator())), Int));
    Value *Far = Note(B.CreateMul(Passes, B.getInt64(cast<SCEVConstant>(R.Step)->getAPInt().getSExtValue())));
    bool Down = cast<SCEVConstant>(R.Step)->getAPInt().isNegative();
    Value *From = Note(B.CreateAdd(Start, B.getInt64(R.From))), *To = Note(B.CreateAdd(Start, B.getInt64(R.To)));
    Value *&Moves = Down ? From : To;
    Moves = Note(B.CreateAdd(Moves, Far));
    Ranges.push_back({At, From, To, R.Like, Of.SE.getPointerBase(R.Start)});
  }
}

void Look::prepare(ArrayRef<std::pair<Value *, Value *>> Bounds) {
  WrittenAt.assign(Bounds.begin(), Bounds.end());
  for (Touch &T : Of.Touches) {
    const Loop *Inner = Of.LI.getLoopFor(T.I->getParent());
    if (Inner == &Of.L && T.Decides && Of.stepOf(T.Ptr)) {
      const SCEV *Start = cast<SCEVAddRecExpr>(Of.SE.getSCEV(T.Ptr))->getStart();
      Instruction *At = Of.Before->getTerminator();
      if (Expander.isSafeToExpandAt(Start, At)) {
        Value *First = Expander.expandCodeFor(Start, Start->getType(), At->getIterator());
        Ahead.push_back({&T, IRBuilder<>(At).CreatePtrToInt(First, Type::getInt64Ty(Of.M.getContext()))});
        continue;
      }
    }
    if (Inner != &Of.L && addRange(T, *Inner))
      continue;
    // An index that is loaded is looked at as a number.
    auto *Address = dyn_cast<GetElementPtrInst>(T.Ptr);
    Value *Index = Address && Address->getNumIndices() == 1 ? Address->getOperand(1) : nullptr;
    if (auto *Cast = dyn_cast_or_null<CastInst>(Index))
      Index = Cast->getOperand(0);
    if (T.Strong || (T.Writes && Inner != &Of.L))
      AtOnce.push_back(&T);
    else if (!T.Writes && (Inner != &Of.L || isa_and_nonnull<LoadInst>(Index)))
      addIndex(T);
    else
      addToBlock(T);
  }
  for (Hull &H : Hulls)
    H.List = listOf(H);
  expandRanges();
}

/// The array that holds all indices of `H` and nothing between them, if there is one.
const SCEV *Look::listOf(const Hull &H) {
  const SCEV *List = nullptr;
  for (auto [At, Index] : H.Indices) {
    Joined *Group = find_if(All, [&, Index = Index](const Joined &R) { return is_contained(R.Members, Index); });
    if (Group == All.end() || Group->Like.Strong || !Group->isDense() || Group->Like.Bytes * 8 != Index->getType()->getScalarSizeInBits())
      return nullptr;
    const SCEV *Base = Of.SE.getPointerBase(Group->Start);
    if (List && List != Base)
      return nullptr;
    List = Base;
  }
  // Another group of the same array would widen what is read.
  return all_of(All, [&](const Joined &R) { return R.Like.Strong || R.isDense() || Of.SE.getPointerBase(R.Start) != List; }) ? List : nullptr;
}

/// Numbers that are compared at a time: eight, or what a register holds.
static unsigned lanesOf(const TargetTransformInfo &TTI, Type *T) {
  return std::clamp<unsigned>(TTI.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue() / T->getIntegerBitWidth(), 2, 8);
}

/// Adds the numbers in [From, To), at least one, to `Of`, several at a time. The last ones may be read twice.
void Look::scan(Instruction *At, const Slots &Of, bool Signed, Value *From, Value *To) {
  LLVMContext &C = At->getContext();
  Function *F = At->getFunction();
  Type *Int = Type::getInt64Ty(C), *Ptr = PointerType::getUnqual(C), *T = Of.Least->getAllocatedType(), *Many = Of.LeastWide->getAllocatedType();
  unsigned Bytes = T->getIntegerBitWidth() / 8, Width = Bytes * cast<FixedVectorType>(Many)->getNumElements();
  BasicBlock *Before = At->getParent(), *Behind = Before->splitBasicBlock(At);
  auto Block = [&] { return BasicBlock::Create(C, "", F, Behind); };
  BasicBlock *Wide = Block(), *Last = Block(), *One = Block();
  Before->getTerminator()->eraseFromParent();
  IRBuilder<> B(Before);
  auto Add = [&](Value *Address, AllocaInst *Least, AllocaInst *Most) {
    Type *What = Least->getAllocatedType();
    Value *Here = B.CreateAlignedLoad(What, B.CreateIntToPtr(Address, Ptr), MaybeAlign(Bytes));
    B.CreateStore(B.CreateBinaryIntrinsic(Signed ? Intrinsic::smin : Intrinsic::umin, B.CreateLoad(What, Least), Here), Least);
    B.CreateStore(B.CreateBinaryIntrinsic(Signed ? Intrinsic::smax : Intrinsic::umax, B.CreateLoad(What, Most), Here), Most);
  };
  auto Each = [&](BasicBlock *In, unsigned Step, Value *End, BasicBlock *Next, AllocaInst *Least, AllocaInst *Most) {
    B.SetInsertPoint(In);
    PHINode *Place = B.CreatePHI(Int, 2);
    Add(Place, Least, Most);
    Value *Further = B.CreateAdd(Place, B.getInt64(Step));
    B.CreateCondBr(B.CreateICmpULT(Further, End), In, Next);
    Place->addIncoming(From, Before);
    Place->addIncoming(Further, In);
  };
  Value *Stop = B.CreateSub(To, B.getInt64(Width));
  B.CreateCondBr(B.CreateICmpUGE(B.CreateSub(To, From), B.getInt64(Width)), Wide, One);
  Each(Wide, Width, Stop, Last, Of.LeastWide, Of.MostWide);
  B.SetInsertPoint(Last);
  Add(Stop, Of.LeastWide, Of.MostWide);
  B.CreateBr(Behind);
  Each(One, Bytes, To, Behind, Of.Least, Of.Most);
}

/// What an access like `Like` to `[From, To)` makes of its pass.
Value *Look::kindOf(IRBuilder<> &B, Value *From, Value *To, const Touch &Like) {
  auto Shares = [&](Value *OtherFrom, Value *OtherTo) {
    return B.CreateAnd(B.CreateICmpULT(From, OtherTo), B.CreateICmpULT(OtherFrom, To));
  };
  Value *Met = Shares(ReceivedFrom, ReceivedTo);
  if (Like.Writes)
    Met = B.CreateOr(Met, Shares(SentFrom, SentTo));
  Value *Kind = B.CreateSelect(Met, B.getInt32(Like.Decides ? KeepsOrder : Meets), B.getInt32(Free));
  if (!Like.Writes && !Like.Apart)
    for (auto [Lo, Hi] : WrittenAt)
      Kind = B.CreateOr(Kind, B.CreateSelect(Shares(mine(Lo), mine(Hi)), B.getInt32(KeepsOrder), B.getInt32(Free)));
  return Kind;
}

/// Tests `[From, To)` in front of `At`. A load that decides is not made if it must not be.
void Look::test(Instruction *At, Value *From, Value *To, const Touch &Like) {
  IRBuilder<> B(At);
  Value *Now = kindOf(B, From, To, Like);
  addKind(B, Now);
  if (!Like.Strong)
    return;
  Value *Stops = B.CreateICmpUGE(Now, B.getInt32(KeepsOrder));
  BasicBlock *Block = At->getParent();
  BasicBlock *Next = Block->splitBasicBlock(At);
  Block->getTerminator()->eraseFromParent();
  IRBuilder<>(Block).CreateCondBr(Stops, Ordered, Next);
}

void Look::finish(Outlined &Copy) {
  In = &Copy;
  LLVMContext &C = Of.M.getContext();
  Type *Int = Type::getInt64Ty(C), *Word = Type::getInt32Ty(C);
  Value *Later = Copy.F->getArg(1);
  Instruction *Enter = Copy.F->getEntryBlock().getTerminator();
  IRBuilder<> Top(Enter);
  auto Field = [&](unsigned Idx) { return Top.CreateLoad(Int, Top.CreateConstInBoundsGEP1_64(Int, Later, Idx)); };
  ReceivedFrom = Field(0);
  ReceivedTo = Field(1);
  SentFrom = Field(2);
  SentTo = Field(3);
  Kind = Top.CreateAlloca(Word);
  Ordered = BasicBlock::Create(C, "ordered", Copy.F);
  ReturnInst::Create(C, ConstantInt::get(Word, KeepsOrder), Ordered);

  // STEP 1: what is noted while the passes are looked at.
  IRBuilder<> Begin(Enter);
  Begin.CreateStore(Begin.getInt32(Free), Kind);
  auto &TTI = Of.FAM.getResult<TargetIRAnalysis>(Of.F);
  SmallVector<Slots, 4> OfHulls;
  for (const Hull &H : Hulls) {
    Type *T = H.Indices.front().second->getType();
    if (T->isPointerTy())
      T = Int;
    unsigned Bits = T->getIntegerBitWidth();
    auto Slot = [&](Type *Of, const APInt &First) {
      AllocaInst *New = Top.CreateAlloca(Of);
      Begin.CreateStore(ConstantInt::get(Of, First), New);
      return New;
    };
    APInt Largest = H.Signed ? APInt::getSignedMaxValue(Bits) : APInt::getMaxValue(Bits);
    APInt Smallest = H.Signed ? APInt::getSignedMinValue(Bits) : APInt::getMinValue(Bits);
    auto *Many = FixedVectorType::get(T, lanesOf(TTI, T));
    OfHulls.push_back({Slot(T, Largest), Slot(T, Smallest), H.List ? Slot(Many, Largest) : nullptr, H.List ? Slot(Many, Smallest) : nullptr});
    for (auto [At, Index] : H.Indices) {
      if (H.List)
        break;
      IRBuilder<> B(cast<Instruction>(mine(At)));
      Value *V = mine(Index);
      if (V->getType()->isPointerTy())
        V = B.CreatePtrToInt(V, Int);
      auto Keep = [&](AllocaInst *In, Intrinsic::ID Which) { B.CreateStore(B.CreateBinaryIntrinsic(Which, B.CreateLoad(T, In), V), In); };
      Keep(OfHulls.back().Least, H.Signed ? Intrinsic::smin : Intrinsic::umin);
      Keep(OfHulls.back().Most, H.Signed ? Intrinsic::smax : Intrinsic::umax);
    }
  }
  // What is reached of one array is looked at as a whole, but for what decides.
  struct Reach {
    const SCEV *Base;
    Touch Like;
    AllocaInst *From, *To;   ///< Of all passes.
    AllocaInst *Begin, *End; ///< Of one pass.
  };
  SmallVector<Reach, 4> Reaches;
  IRBuilder<> PassBegin(&*Copy.Header->getFirstInsertionPt());
  for (const Range &R : Ranges) {
    auto *At = cast<Instruction>(mine(R.At));
    if (R.Like.Strong) {
      test(At, mine(R.From), mine(R.To), R.Like);
      continue;
    }
    Reach *Same = find_if(Reaches, [&](const Reach &Other) { return Other.Base == R.Base && sameKind(Other.Like, R.Like); });
    if (Same == Reaches.end()) {
      auto Slot = [&](IRBuilder<> &In, int64_t First) {
        AllocaInst *New = Top.CreateAlloca(Int);
        In.CreateStore(In.getInt64(First), New);
        return New;
      };
      Reaches.push_back({R.Base, R.Like, Slot(Begin, -1), Slot(Begin, 0), Slot(PassBegin, -1), Slot(PassBegin, 0)});
      Same = &Reaches.back();
    }
    IRBuilder<> B(At);
    for (auto [Slot, Which, V] : {std::tuple(Same->From, Intrinsic::umin, R.From), std::tuple(Same->To, Intrinsic::umax, R.To),
                                  std::tuple(Same->Begin, Intrinsic::umin, R.From), std::tuple(Same->End, Intrinsic::umax, R.To)})
      B.CreateStore(B.CreateBinaryIntrinsic(Which, B.CreateLoad(Int, Slot), mine(V)), Slot);
  }
  for (const Touch *T : AtOnce) {
    auto *At = cast<Instruction>(mine(T->I));
    IRBuilder<> B(At);
    Value *From = B.CreatePtrToInt(mine(T->Ptr), Int);
    test(At, From, B.CreateAdd(From, B.getInt64(T->Bytes)), *T);
  }
  for (auto [H, Slots] : zip(Hulls, OfHulls)) {
    const SCEV *List = H.List;
    if (!List)
      continue;
    const Reach &R = *find_if(Reaches, [&](const Reach &R) { return R.Base == List && R.Like.Decides; });
    IRBuilder<> B(Copy.End);
    Value *From = B.CreateLoad(Int, R.Begin), *To = B.CreateLoad(Int, R.End);
    // A pass without an index has nothing to look at.
    Value *Any = B.CreateICmpULT(From, To);
    BasicBlock *Here = Copy.End->getParent(), *Behind = Here->splitBasicBlock(Copy.End), *Scans = BasicBlock::Create(C, "", Copy.F, Behind);
    Here->getTerminator()->eraseFromParent();
    IRBuilder<>(Here).CreateCondBr(Any, Scans, Behind);
    scan(IRBuilder<>(Scans).CreateBr(Behind), Slots, H.Signed, From, To);
  }

  // STEP 2: at the end what was noted is compared.
  Instruction *End = Copy.Out->getTerminator();
  IRBuilder<> B(End);
  for (const Reach &R : Reaches)
    addKind(B, kindOf(B, B.CreateLoad(Int, R.From), B.CreateLoad(Int, R.To), R.Like));
  for (auto [H, Slots] : zip(Hulls, OfHulls)) {
    auto Read = [&](AllocaInst *Slot) { return B.CreateLoad(Slot->getAllocatedType(), Slot); };
    Value *Least = Read(Slots.Least), *Most = Read(Slots.Most);
    if (H.List) {
      Least = B.CreateBinaryIntrinsic(H.Signed ? Intrinsic::smin : Intrinsic::umin, Least, B.CreateIntMinReduce(Read(Slots.LeastWide), H.Signed));
      Most = B.CreateBinaryIntrinsic(H.Signed ? Intrinsic::smax : Intrinsic::umax, Most, B.CreateIntMaxReduce(Read(Slots.MostWide), H.Signed));
    }
    Value *Any = H.Signed ? B.CreateICmpSLE(Least, Most) : B.CreateICmpULE(Least, Most);
    Value *Base = H.Base ? B.CreatePtrToInt(mine(H.Base), Int) : static_cast<Value *>(B.getInt64(0));
    uint64_t Element = H.Element;
    bool Signed = H.Signed;
    auto Place = [&](Value *At) {
      At = Signed ? B.CreateSExt(At, Int) : B.CreateZExt(At, Int);
      return B.CreateAdd(Base, B.CreateMul(At, B.getInt64(Element)));
    };
    Value *From = Place(Least), *To = B.CreateAdd(Place(Most), B.getInt64(H.Like.Bytes));
    addKind(B, B.CreateSelect(Any, kindOf(B, From, To, H.Like), B.getInt32(Free)));
  }
  End->setOperand(0, B.CreateLoad(Word, Kind));

  // Before the first pass.
  BasicBlock *Entry = &Copy.F->getEntryBlock();
  IRBuilder<> A(Enter);
  Value *Never = A.getInt32(Free);
  for (auto &[T, Start] : Ahead) {
    int64_t Step = *Of.stepOf(T->Ptr);
    Value *Zeroth = mine(Start);
    auto AtPass = [&](Value *Pass) { return A.CreateAdd(Zeroth, A.CreateMul(Pass, A.getInt64(Step))); };
    Value *First = AtPass(Copy.F->getArg(2)), *Last = AtPass(A.CreateSub(Copy.F->getArg(3), A.getInt64(1)));
    Value *From = Step < 0 ? Last : First, *To = A.CreateAdd(Step < 0 ? First : Last, A.getInt64(T->Bytes));
    Never = A.CreateOr(Never, kindOf(A, From, To, *T));
  }
  if (!Ahead.empty()) {
    Value *Goes = A.CreateICmpEQ(Never, A.getInt32(Free));
    BasicBlock *Loop = Entry->splitBasicBlock(Enter);
    Entry->getTerminator()->eraseFromParent();
    IRBuilder<>(Entry).CreateCondBr(Goes, Loop, Ordered);
  }

  // What is computed goes, and with it the loads that nothing depends on.
  SmallVector<Instruction *, 32> Computes(Of.Calls.begin(), Of.Calls.end());
  for (const Touch &T : Of.Touches)
    Computes.push_back(T.I);
  for (Instruction *I : Computes) {
    if (Of.Deciding.contains(I))
      continue;
    auto *New = cast<Instruction>(mine(I));
    if (!New->getType()->isVoidTy())
      New->replaceAllUsesWith(PoisonValue::get(New->getType()));
    New->eraseFromParent();
  }
}

void PassLoop::defer(Value *Later, const Options &O) {
  LLVMContext &C = M.getContext();
  const DataLayout &DL = F.getDataLayout();
  Type *Int = Type::getInt64Ty(C), *Ptr = PointerType::getUnqual(C);
  const SCEV *Taken = SE.getBackedgeTakenCount(&L);
  SCEVExpander Expander(SE, DL, "overlap");
  Instruction *At = Before->getTerminator();
  IRBuilder<> B(At);
  // STEP 1: how many passes, and what they write.
  Value *Trips = B.CreateAdd(B.CreateZExt(Expander.expandCodeFor(Taken, Taken->getType(), At->getIterator()), Int), B.getInt64(1));
  // None is a number that does not fit.
  Value *Fine = B.CreateAnd(B.CreateIsNotNull(Trips), B.CreateICmpULE(Trips, B.getInt64(NumberMax)));
  Value *Last = B.CreateSub(Trips, B.getInt64(1));
  SmallVector<std::pair<Value *, Value *>, 4> WrittenAt;
  for (const Written &W : Writes) {
    Value *Low = B.CreatePtrToInt(Expander.expandCodeFor(W.Low, W.Low->getType(), At->getIterator()), Int);
    Value *Far = B.CreateMul(Last, B.getInt64(W.Step));
    Value *From = B.CreateAdd(Low, B.getInt64(W.From)), *To = B.CreateAdd(Low, B.getInt64(W.To));
    Value *&Moves = W.Step < 0 ? From : To;
    Moves = B.CreateAdd(Moves, Far);
    // Arrays that share memory are written in their order.
    for (auto [OtherFrom, OtherTo] : WrittenAt)
      Fine = B.CreateAnd(Fine, B.CreateOr(B.CreateICmpULE(To, OtherFrom), B.CreateICmpULE(OtherTo, From)));
    WrittenAt.push_back({From, To});
  }
  // STEP 2: the two functions. What loops inside reach is computed in the loop, copied with it, and goes again.
  Look Looking(*this, Expander);
  Looking.prepare(WrittenAt);
  SetVector<Value *> Values;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      for (Value *V : I.operand_values())
        if (isa<Argument>(V) || (isa<Instruction>(V) && !L.contains(cast<Instruction>(V))))
          Values.insert(V);
  for (auto [From, To] : WrittenAt)
    for (Value *V : {From, To})
      if (!isa<Constant>(V))
        Values.insert(V);
  for (Value *V : Looking.wanted())
    if (!isa<Constant>(V))
      Values.insert(V);
  SmallVector<Type *, 16> Types;
  for (Value *V : Values)
    Types.push_back(V->getType());
  auto *Env = StructType::get(C, Types);
  auto *LookType = FunctionType::get(Type::getInt32Ty(C), {Ptr, Ptr, Int, Int}, false);
  Outlined Looks, Runs;
  outline(Looks, ".look", LookType, Values.getArrayRef(), Env);
  Looking.finish(Looks);
  Expander.clear();
  for (const WeakTrackingVH &V : reverse(Looking.made()))
    if (auto *I = dyn_cast_or_null<Instruction>(static_cast<Value *>(V)); I && L.contains(I))
      RecursivelyDeleteTriviallyDeadInstructions(I);
  outline(Runs, ".passes", FunctionType::get(Type::getVoidTy(C), {Ptr, Int, Int}, false), Values.getArrayRef(), Env);
  // STEP 3: the loop itself stays for when nothing is pending.
  IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Place = Entry.CreateAlloca(Env, nullptr, "overlap.values");
  B.SetInsertPoint(At);
  Value *Worth = B.CreateCall(runtime(M, "__overlap_later_is_worth"), {Later, B.getInt64(O.MinBytes)});
  Value *Defers = B.CreateAnd(B.CreateICmpNE(Worth, B.getInt32(0)), Fine);
  BasicBlock *Plain = SplitBlock(Before, At), *Deferred = BasicBlock::Create(C, "overlap.defer", &F, Plain);
  Before->getTerminator()->eraseFromParent();
  IRBuilder<>(Before).CreateCondBr(Defers, Deferred, Plain);
  IRBuilder<>(Plain->getTerminator()).CreateCall(runtime(M, "__overlap_later_end"), {Later});
  IRBuilder<> D(Deferred);
  for (unsigned Idx = 0; Idx < Values.size(); ++Idx)
    D.CreateStore(Values[Idx], D.CreateStructGEP(Env, Place, Idx));
  D.CreateCall(runtime(M, "__overlap_later_passes"), {Later, Trips, Looks.F, Runs.F, Place, D.getInt64(uint64_t(O.PollUs) * 1000)});
  D.CreateBr(Exit);
  for (PHINode &Phi : Exit->phis())
    Phi.addIncoming(Phi.getIncomingValueForBlock(Latch), Deferred);
  FAM.clear(F, F.getName());
  FunctionPassManager Clean;
  Clean.addPass(PromotePass());
  Clean.addPass(ADCEPass());
  Clean.addPass(SimplifyCFGPass());
  Clean.addPass(EarlyCSEPass());
  Clean.addPass(ADCEPass());
  // Loops that looked at each index are empty now.
  LoopPassManager Loops;
  Loops.addPass(IndVarSimplifyPass());
  Loops.addPass(LoopDeletionPass());
  Clean.addPass(createFunctionToLoopPassAdaptor(std::move(Loops)));
  Clean.addPass(SimplifyCFGPass());
  Clean.addPass(ADCEPass());
  for (Function *New : {Looks.F, Runs.F})
    FAM.invalidate(*New, Clean.run(*New, FAM));
}

bool canDefer(Loop &L, FunctionAnalysisManager &FAM) { return PassLoop(L, FAM).check(); }

void defer(Loop &L, Value *Later, FunctionAnalysisManager &FAM, const Options &O) {
  PassLoop Passes(L, FAM);
  bool Can = Passes.check();
  assert(Can && "a loop that could not be deferred");
  (void)Can;
  Passes.defer(Later, O);
}

} // namespace overlap

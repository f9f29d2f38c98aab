#include "Look.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace overlap {

/// What `look` finds, as bits; the same numbers are in `runtime/later.c`.
enum { Free, Meets, KeepsOrder };

/// True if all that `T` reaches while `Inner` runs follows from its counter.
bool Look::addRange(const Touch &T, const Loop &Inner) {
  auto *Moving = dyn_cast<SCEVAddRecExpr>(Of.SE.getSCEV(T.Ptr));
  const SCEV *Taken = Of.SE.getBackedgeTakenCount(&Inner);
  Instruction *At = Inner.getLoopPreheader()->getTerminator();
  if (!Moving || Moving->getLoop() != &Inner || !Moving->isAffine() ||
      isa<SCEVCouldNotCompute>(Taken) || Of.SE.getTypeSizeInBits(Taken->getType()) > 64)
    return false;
  const SCEV *Start = Moving->getStart(), *Step = Moving->getStepRecurrence(Of.SE);
  if (!Of.SE.isLoopInvariant(Start, &Inner) || !isa<SCEVConstant>(Step) ||
      !Expander.isSafeToExpandAt(Start, At) || !Expander.isSafeToExpandAt(Taken, At))
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
  if (Address && Address->getNumIndices() == 1 &&
      Of.L.isLoopInvariant(Address->getPointerOperand()) && Address->getType()->isPointerTy() &&
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
    return H.Base == Base && H.Element == Element && H.Signed == Signed &&
           H.Like.Bytes == T.Bytes && sameKind(H.Like, T) &&
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
      Value *From = Note(B.CreateAdd(Start, B.getInt64(R.From))),
            *To = Note(B.CreateAdd(Start, B.getInt64(R.To)));
      Ranges.push_back({At, From, To, R.Like, Of.SE.getPointerBase(R.Start)});
      continue;
    }
    Value *Start = Note(B.CreatePtrToInt(
        Note(Expander.expandCodeFor(R.Start, R.Start->getType(), At->getIterator())), Int));
    Value *Passes = Note(B.CreateZExtOrTrunc(
        Note(Expander.expandCodeFor(R.Taken, R.Taken->getType(), At->getIterator())), Int));
    Value *Far = Note(
        B.CreateMul(Passes, B.getInt64(cast<SCEVConstant>(R.Step)->getAPInt().getSExtValue())));
    bool Down = cast<SCEVConstant>(R.Step)->getAPInt().isNegative();
    Value *From = Note(B.CreateAdd(Start, B.getInt64(R.From))),
          *To = Note(B.CreateAdd(Start, B.getInt64(R.To)));
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
        Ahead.push_back(
            {&T, IRBuilder<>(At).CreatePtrToInt(First, Type::getInt64Ty(Of.M.getContext()))});
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
    Joined *Group = find_if(
        All, [&, Index = Index](const Joined &R) { return is_contained(R.Members, Index); });
    if (Group == All.end() || Group->Like.Strong || !Group->isDense() ||
        Group->Like.Bytes * 8 != Index->getType()->getScalarSizeInBits())
      return nullptr;
    const SCEV *Base = Of.SE.getPointerBase(Group->Start);
    if (List && List != Base)
      return nullptr;
    List = Base;
  }
  // Another group of the same array would widen what is read.
  return all_of(All,
                [&](const Joined &R) {
                  return R.Like.Strong || R.isDense() || Of.SE.getPointerBase(R.Start) != List;
                })
             ? List
             : nullptr;
}

/// Numbers that are compared at a time: eight, or what a register holds.
static unsigned lanesOf(const TargetTransformInfo &TTI, Type *T) {
  return std::clamp<unsigned>(
      TTI.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue() /
          T->getIntegerBitWidth(),
      2, 8);
}

/// Adds the numbers in [From, To), at least one, to `Of`, several at a time. The last ones may be
/// read twice.
void Look::scan(Instruction *At, const Slots &Of, bool Signed, Value *From, Value *To) {
  LLVMContext &C = At->getContext();
  Function *F = At->getFunction();
  Type *Int = Type::getInt64Ty(C), *Ptr = PointerType::getUnqual(C),
       *T = Of.Least->getAllocatedType(), *Many = Of.LeastWide->getAllocatedType();
  unsigned Bytes = T->getIntegerBitWidth() / 8,
           Width = Bytes * cast<FixedVectorType>(Many)->getNumElements();
  BasicBlock *Before = At->getParent(), *Behind = Before->splitBasicBlock(At);
  auto Block = [&] { return BasicBlock::Create(C, "", F, Behind); };
  BasicBlock *Wide = Block(), *Last = Block(), *One = Block();
  Before->getTerminator()->eraseFromParent();
  IRBuilder<> B(Before);
  auto Add = [&](Value *Address, AllocaInst *Least, AllocaInst *Most) {
    Type *What = Least->getAllocatedType();
    Value *Here = B.CreateAlignedLoad(What, B.CreateIntToPtr(Address, Ptr), MaybeAlign(Bytes));
    B.CreateStore(B.CreateBinaryIntrinsic(Signed ? Intrinsic::smin : Intrinsic::umin,
                                          B.CreateLoad(What, Least), Here),
                  Least);
    B.CreateStore(B.CreateBinaryIntrinsic(Signed ? Intrinsic::smax : Intrinsic::umax,
                                          B.CreateLoad(What, Most), Here),
                  Most);
  };
  auto Each = [&](BasicBlock *In, unsigned Step, Value *End, BasicBlock *Next, AllocaInst *Least,
                  AllocaInst *Most) {
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
  Value *Kind =
      B.CreateSelect(Met, B.getInt32(Like.Decides ? KeepsOrder : Meets), B.getInt32(Free));
  if (!Like.Writes && !Like.Apart)
    for (auto [Lo, Hi] : WrittenAt)
      Kind = B.CreateOr(Kind, B.CreateSelect(Shares(mine(Lo), mine(Hi)), B.getInt32(KeepsOrder),
                                             B.getInt32(Free)));
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

/// The list's memory, and where `look` goes if the order counts.
void Look::open() {
  LLVMContext &C = In->F->getContext();
  IRBuilder<> Top(Enter);
  Type *Int = Top.getInt64Ty();
  auto Field = [&](unsigned Idx) {
    return Top.CreateLoad(Int, Top.CreateConstInBoundsGEP1_64(Int, In->F->getArg(1), Idx));
  };
  ReceivedFrom = Field(0);
  ReceivedTo = Field(1);
  SentFrom = Field(2);
  SentTo = Field(3);
  Kind = Top.CreateAlloca(Top.getInt32Ty());
  Top.CreateStore(Top.getInt32(Free), Kind);
  Ordered = BasicBlock::Create(C, "ordered", In->F);
  ReturnInst::Create(C, Top.getInt32(KeepsOrder), Ordered);
}

/// Keeps the least and the largest index of each array.
void Look::noteIndices() {
  IRBuilder<> Top(Enter);
  auto &TTI = Of.FAM.getResult<TargetIRAnalysis>(Of.F);
  for (const Hull &H : Hulls) {
    Type *T = H.Indices.front().second->getType();
    if (T->isPointerTy())
      T = Top.getInt64Ty();
    unsigned Bits = T->getIntegerBitWidth();
    auto Slot = [&](Type *Of, const APInt &First) {
      AllocaInst *New = Top.CreateAlloca(Of);
      Top.CreateStore(ConstantInt::get(Of, First), New);
      return New;
    };
    APInt Largest = H.Signed ? APInt::getSignedMaxValue(Bits) : APInt::getMaxValue(Bits);
    APInt Smallest = H.Signed ? APInt::getSignedMinValue(Bits) : APInt::getMinValue(Bits);
    auto *Many = FixedVectorType::get(T, lanesOf(TTI, T));
    OfHulls.push_back({Slot(T, Largest), Slot(T, Smallest), H.List ? Slot(Many, Largest) : nullptr,
                       H.List ? Slot(Many, Smallest) : nullptr});
    for (auto [At, Index] : H.Indices) {
      if (H.List)
        break;
      IRBuilder<> B(cast<Instruction>(mine(At)));
      Value *V = mine(Index);
      if (V->getType()->isPointerTy())
        V = B.CreatePtrToInt(V, T);
      auto Keep = [&](AllocaInst *In, Intrinsic::ID Which) {
        B.CreateStore(B.CreateBinaryIntrinsic(Which, B.CreateLoad(T, In), V), In);
      };
      Keep(OfHulls.back().Least, H.Signed ? Intrinsic::smin : Intrinsic::umin);
      Keep(OfHulls.back().Most, H.Signed ? Intrinsic::smax : Intrinsic::umax);
    }
  }
}

/// Keeps from where to where each array is reached; what decides is compared at once.
void Look::noteReaches() {
  IRBuilder<> Top(Enter), Pass(&*In->Header->getFirstInsertionPt());
  Type *Int = Top.getInt64Ty();
  for (const Range &R : Ranges) {
    auto *At = cast<Instruction>(mine(R.At));
    if (R.Like.Strong) {
      test(At, mine(R.From), mine(R.To), R.Like);
      continue;
    }
    Reach *Same = find_if(Reaches, [&](const Reach &Other) {
      return Other.Base == R.Base && sameKind(Other.Like, R.Like);
    });
    if (Same == Reaches.end()) {
      auto Slot = [&](IRBuilder<> &In, int64_t First) {
        AllocaInst *New = Top.CreateAlloca(Int);
        In.CreateStore(In.getInt64(First), New);
        return New;
      };
      Reaches.push_back(
          {R.Base, R.Like, Slot(Top, -1), Slot(Top, 0), Slot(Pass, -1), Slot(Pass, 0)});
      Same = &Reaches.back();
    }
    IRBuilder<> B(At);
    for (auto [Slot, Which, V] : {std::tuple(Same->From, Intrinsic::umin, R.From),
                                  std::tuple(Same->To, Intrinsic::umax, R.To),
                                  std::tuple(Same->Begin, Intrinsic::umin, R.From),
                                  std::tuple(Same->End, Intrinsic::umax, R.To)})
      B.CreateStore(B.CreateBinaryIntrinsic(Which, B.CreateLoad(Int, Slot), mine(V)), Slot);
  }
  for (const Touch *T : AtOnce) {
    auto *At = cast<Instruction>(mine(T->I));
    IRBuilder<> B(At);
    Value *From = B.CreatePtrToInt(mine(T->Ptr), Int);
    test(At, From, B.CreateAdd(From, B.getInt64(T->Bytes)), *T);
  }
}

/// At the end of a pass, the indices that it reads one after the other are read at once.
void Look::scanLists() {
  for (auto [H, Of] : zip(Hulls, OfHulls)) {
    const SCEV *List = H.List;
    if (!List)
      continue;
    const Reach &R =
        *find_if(Reaches, [&](const Reach &R) { return R.Base == List && R.Like.Decides; });
    IRBuilder<> B(In->End);
    Value *From = B.CreateLoad(B.getInt64Ty(), R.Begin), *To = B.CreateLoad(B.getInt64Ty(), R.End);
    // A pass without an index has nothing to look at.
    Value *Any = B.CreateICmpULT(From, To);
    BasicBlock *Here = In->End->getParent(), *Behind = Here->splitBasicBlock(In->End);
    auto *Scans = BasicBlock::Create(B.getContext(), "", In->F, Behind);
    Here->getTerminator()->eraseFromParent();
    IRBuilder<>(Here).CreateCondBr(Any, Scans, Behind);
    scan(IRBuilder<>(Scans).CreateBr(Behind), Of, H.Signed, From, To);
  }
}

/// Behind the last pass, what was kept is compared.
void Look::compare() {
  Instruction *End = In->Out->getTerminator();
  IRBuilder<> B(End);
  Type *Int = B.getInt64Ty();
  for (const Reach &R : Reaches)
    addKind(B, kindOf(B, B.CreateLoad(Int, R.From), B.CreateLoad(Int, R.To), R.Like));
  for (auto [H, Of] : zip(Hulls, OfHulls)) {
    auto Read = [&](AllocaInst *Slot) { return B.CreateLoad(Slot->getAllocatedType(), Slot); };
    Value *Least = Read(Of.Least), *Most = Read(Of.Most);
    if (H.List) {
      Least = B.CreateBinaryIntrinsic(H.Signed ? Intrinsic::smin : Intrinsic::umin, Least,
                                      B.CreateIntMinReduce(Read(Of.LeastWide), H.Signed));
      Most = B.CreateBinaryIntrinsic(H.Signed ? Intrinsic::smax : Intrinsic::umax, Most,
                                     B.CreateIntMaxReduce(Read(Of.MostWide), H.Signed));
    }
    Value *Any = H.Signed ? B.CreateICmpSLE(Least, Most) : B.CreateICmpULE(Least, Most);
    Value *Base =
        H.Base ? B.CreatePtrToInt(mine(H.Base), Int) : static_cast<Value *>(B.getInt64(0));
    uint64_t Element = H.Element;
    bool Signed = H.Signed;
    auto Place = [&](Value *At) {
      At = Signed ? B.CreateSExt(At, Int) : B.CreateZExt(At, Int);
      return B.CreateAdd(Base, B.CreateMul(At, B.getInt64(Element)));
    };
    Value *From = Place(Least), *To = B.CreateAdd(Place(Most), B.getInt64(H.Like.Bytes));
    addKind(B, B.CreateSelect(Any, kindOf(B, From, To, H.Like), B.getInt32(Free)));
  }
  End->setOperand(0, B.CreateLoad(B.getInt32Ty(), Kind));
}

/// Before the first pass, what follows from the counter of the loop alone is compared.
void Look::lookAhead() {
  if (Ahead.empty())
    return;
  BasicBlock *Entry = &In->F->getEntryBlock();
  IRBuilder<> B(Enter);
  Value *Never = B.getInt32(Free);
  for (auto &[T, Start] : Ahead) {
    int64_t Step = *Of.stepOf(T->Ptr);
    Value *Zeroth = mine(Start);
    auto AtPass = [&](Value *Pass) {
      return B.CreateAdd(Zeroth, B.CreateMul(Pass, B.getInt64(Step)));
    };
    Value *First = AtPass(In->F->getArg(2)),
          *Last = AtPass(B.CreateSub(In->F->getArg(3), B.getInt64(1)));
    Value *From = Step < 0 ? Last : First,
          *To = B.CreateAdd(Step < 0 ? First : Last, B.getInt64(T->Bytes));
    Never = B.CreateOr(Never, kindOf(B, From, To, *T));
  }
  Value *Goes = B.CreateICmpEQ(Never, B.getInt32(Free));
  BasicBlock *Loop = Entry->splitBasicBlock(Enter);
  Entry->getTerminator()->eraseFromParent();
  IRBuilder<>(Entry).CreateCondBr(Goes, Loop, Ordered);
}

/// What is computed goes, and with it the loads that nothing depends on.
void Look::dropComputed() {
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

void Look::finish(Outlined &Copy) {
  In = &Copy;
  Enter = Copy.F->getEntryBlock().getTerminator();
  open();
  noteIndices();
  noteReaches();
  scanLists();
  compare();
  lookAhead();
  dropComputed();
}

} // namespace overlap

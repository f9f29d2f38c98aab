#include "PassLoop.h"
#include "Effects.h"
#include "Versions.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace overlap {

void simplifyLoops(Function &F, FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  for (Loop *L : LI)
    simplifyLoop(L, &DT, &LI, nullptr, nullptr, nullptr, false);
  FAM.clear(F, F.getName());
}

/// Larger loops are not copied, in instructions.
static constexpr unsigned SizeMax = 2000;
/// More places that a loop writes are not compared with all that it reads.
static constexpr unsigned WrittenMax = 4;
/// Strides up to here cannot overflow when they are multiplied.
static constexpr int64_t StrideMax = int64_t(1) << 31;

/// More passes than this may not fit in the arithmetic of addresses.
static constexpr int64_t NumberMax = int64_t(1) << 31;

MemoryLocation Touch::around() const {
  // Scopes of aliases hold for one pass.
  AAMDNodes OfType;
  OfType.TBAA = I->getMetadata(LLVMContext::MD_tbaa);
  return MemoryLocation::getBeforeOrAfter(Ptr, OfType);
}

bool PassLoop::hasShape() {
  const SCEV *Taken = SE.getBackedgeTakenCount(&L);
  if (!Before || !Latch || !Exit || L.getExitingBlock() != Latch ||
      !isa<BranchInst>(Latch->getTerminator()) || Exit->isEHPad() || !L.hasDedicatedExits() ||
      isa<SCEVCouldNotCompute>(Taken) || SE.getTypeSizeInBits(Taken->getType()) > 64)
    return false;
  unsigned Size = 0;
  for (BasicBlock *Block : L.blocks()) {
    Size += Block->size();
    if (Block->hasAddressTaken() ||
        !(isa<BranchInst>(Block->getTerminator()) || isa<SwitchInst>(Block->getTerminator())))
      return false;
    for (Instruction &I : *Block)
      if (any_of(I.users(), [&](const User *U) { return !L.contains(cast<Instruction>(U)); })) {
        if (!I.getType()->isSized())
          return false;
        Leaves.push_back(&I);
      }
  }
  for (Loop *Inner : LI.getLoopsInPreorder())
    if (L.contains(Inner) && !Inner->getLoopPreheader())
      return false;
  return Size <= SizeMax &&
         expander(SE, F.getDataLayout()).isSafeToExpandAt(Taken, Before->getTerminator());
}

bool PassLoop::findCounters() {
  for (PHINode &Phi : Header->phis()) {
    auto *Moving =
        SE.isSCEVable(Phi.getType()) ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
    auto *Step = Moving && Moving->getLoop() == &L && Moving->isAffine()
                     ? dyn_cast<SCEVConstant>(Moving->getStepRecurrence(SE))
                     : nullptr;
    if (!Step) {
      auto *Load = dyn_cast<LoadInst>(Phi.getIncomingValueForBlock(Latch));
      std::optional<int64_t> Far = Load && L.contains(Load) && Load->isSimple()
                                       ? stepOf(Load->getPointerOperand())
                                       : std::nullopt;
      const SCEV *From =
          Far ? cast<SCEVAddRecExpr>(SE.getSCEV(Load->getPointerOperand()))->getStart() : nullptr;
      if (!Far || !expander(SE, F.getDataLayout()).isSafeToExpandAt(From, Before->getTerminator()))
        return false;
      CarriedLoads.push_back({&Phi, Load, From, *Far, nullptr});
      continue;
    }
    if (SE.getTypeSizeInBits(Phi.getType()) > 64)
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
        TypeSize Size =
            DL.getTypeStoreSize(Load ? Load->getType() : Store->getValueOperand()->getType());
        if (I.isVolatile() || I.isAtomic() || Size.isScalable())
          return false;
        Touches.push_back({&I, getLoadStorePointerOperand(&I), Size.getFixedValue(),
                           Store != nullptr, false, false, false});
        continue;
      }
      if (isa<AllocaInst>(I) || I.isEHPad() || isa<FenceInst>(I))
        return false;
      auto *Call = dyn_cast<CallBase>(&I);
      bool Computes = Call && isa<IntrinsicInst>(Call) && Call->doesNotAccessMemory() &&
                      Call->doesNotThrow() && !Call->isConvergent();
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
    Branches.append(Block->getTerminator()->value_op_begin(),
                    Block->getTerminator()->value_op_end());
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

/// True if no two passes write to one place: each array that is written advances by what a pass
/// writes, at least.
bool PassLoop::findWritten() {
  for (const Touch &T : Touches) {
    if (!T.Writes)
      continue;
    Written W{SE.getSCEV(T.Ptr), 0, 0, static_cast<int64_t>(T.Bytes)};
    while (auto *Moving = dyn_cast<SCEVAddRecExpr>(W.Low)) {
      auto *Step =
          Moving->isAffine() ? dyn_cast<SCEVConstant>(Moving->getStepRecurrence(SE)) : nullptr;
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
    SCEVExpander Expander = expander(SE, F.getDataLayout());
    if (!SE.isLoopInvariant(W.Low, &L) ||
        !Expander.isSafeToExpandAt(W.Low, Before->getTerminator()))
      return false;
    Written *Same = find_if(Writes, [&](const Written &Other) {
      return Other.Step == W.Step && isa<SCEVConstant>(SE.getMinusSCEV(W.Low, Other.Low));
    });
    if (Same == Writes.end()) {
      Writes.push_back(W);
      continue;
    }
    int64_t Apart =
        cast<SCEVConstant>(SE.getMinusSCEV(W.Low, Same->Low))->getAPInt().getSExtValue();
    Same->From = std::min(Same->From, W.From + Apart);
    Same->To = std::max(Same->To, W.To + Apart);
  }
  return Writes.size() <= WrittenMax && all_of(Writes, [](const Written &W) {
           return W.Step != 0 && std::abs(W.Step) >= W.To - W.From && std::abs(W.Step) < StrideMax;
         });
}

/// Which loads are of nothing that another pass stores: of other objects, or of the address that
/// their own pass stores to.
void PassLoop::findApart() {
  auto &AA = FAM.getResult<AAManager>(F);
  // What a phi or a select chooses between, another pass may choose the other way round.
  auto Chosen = [&](const Value *Ptr) {
    const Value *Object = getUnderlyingObject(Ptr);
    return (isa<PHINode>(Object) || isa<SelectInst>(Object)) &&
           L.contains(cast<Instruction>(Object));
  };
  auto OtherObjects = [&](const Touch &OfA, const Touch &OfB) {
    const Value *A = OfA.Ptr, *B = OfB.Ptr;
    return Effects::differentObjects(A, B) ||
           (!Chosen(A) && !Chosen(B) && AA.isNoAlias(OfA.around(), OfB.around()));
  };
  for (Touch &T : Touches)
    T.Apart = !T.Writes && all_of(Touches, [&](const Touch &Other) {
      bool Own = Other.Bytes >= T.Bytes && SE.getSCEV(Other.Ptr) == SE.getSCEV(T.Ptr);
      return !Other.Writes || Own || OtherObjects(T, Other);
    });
}

bool PassLoop::check() {
  if (!hasShape() || !findCounters() || !findTouches())
    return false;
  findDeciding();
  findApart();
  // Nothing of a call that touches memory, as errno, may decide.
  return none_of(Deciding,
                 [](Instruction *I) { return isa<CallBase>(I) && I->mayReadOrWriteMemory(); }) &&
         findWritten();
}

Counted PassLoop::count(SCEVExpander &Expander, Instruction *At) {
  IRBuilder<> B(At);
  Type *Int = B.getInt64Ty();
  const SCEV *Taken = SE.getBackedgeTakenCount(&L);
  Counted C;
  C.Trips = B.CreateAdd(
      B.CreateZExt(Expander.expandCodeFor(Taken, Taken->getType(), At->getIterator()), Int),
      B.getInt64(1));
  // None is a number that does not fit.
  C.Fine = B.CreateAnd(B.CreateIsNotNull(C.Trips), B.CreateICmpULE(C.Trips, B.getInt64(NumberMax)));
  Value *Last = B.CreateSub(C.Trips, B.getInt64(1));
  for (const Written &W : Writes) {
    Value *Low =
        B.CreatePtrToInt(Expander.expandCodeFor(W.Low, W.Low->getType(), At->getIterator()), Int);
    Value *Far = B.CreateMul(Last, B.getInt64(W.Step));
    Value *From = B.CreateAdd(Low, B.getInt64(W.From)), *To = B.CreateAdd(Low, B.getInt64(W.To));
    Value *&Moves = W.Step < 0 ? From : To;
    Moves = B.CreateAdd(Moves, Far);
    // Arrays that share memory are written in their order.
    for (auto [OtherFrom, OtherTo] : C.WrittenAt)
      C.Fine = B.CreateAnd(
          C.Fine, B.CreateOr(B.CreateICmpULE(To, OtherFrom), B.CreateICmpULE(OtherTo, From)));
    C.Lows.push_back(Low);
    C.WrittenAt.push_back({From, To});
  }
  for (Carried &Of : CarriedLoads)
    Of.At = Expander.expandCodeFor(Of.Start, Of.Start->getType(), At->getIterator());
  return C;
}

SetVector<Value *> PassLoop::values() const {
  SetVector<Value *> Values;
  for (const Carried &Of : CarriedLoads)
    if (!isa<Constant>(Of.At))
      Values.insert(Of.At);
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      for (Value *V : I.operand_values())
        if (isa<Argument>(V) || (isa<Instruction>(V) && !L.contains(cast<Instruction>(V))))
          Values.insert(V);
  return Values;
}

void PassLoop::outline(Outlined &New, const Twine &Suffix, FunctionType *Type,
                       ArrayRef<Value *> Values, StructType *Env) {
  LLVMContext &C = M.getContext();
  New.F = Function::Create(Type, GlobalValue::InternalLinkage, F.getName() + Suffix, M);
  AttrBuilder Attributes(C, F.getAttributes().getFnAttrs());
  for (auto Kind : {Attribute::Memory, Attribute::NoSync, Attribute::NoFree, Attribute::NoRecurse,
                    Attribute::WillReturn, Attribute::Speculatable, Attribute::NoCallback,
                    Attribute::AlwaysInline, Attribute::InlineHint, Attribute::NoReturn,
                    Attribute::Cold, Attribute::AllocSize})
    Attributes.removeAttribute(Kind);
  New.F->setAttributes(AttributeList::get(C, AttributeList::FunctionIndex, Attributes));
  New.F->addFnAttr(Attribute::NoInline);
  auto *Entry = BasicBlock::Create(C, "entry", New.F);
  IRBuilder<> B(Entry);
  for (unsigned Idx = 0; Idx < Values.size(); ++Idx)
    New.Map[Values[Idx]] =
        B.CreateLoad(Values[Idx]->getType(), B.CreateStructGEP(Env, New.F->getArg(0), Idx));
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
    Mine->setIncomingValueForBlock(Entry, Phi->getType()->isPointerTy() ? B.CreatePtrAdd(Start, Far)
                                                                        : B.CreateAdd(Start, Far));
  }
  for (const Carried &Of : CarriedLoads) {
    // Before the first pass it is what the loop began with; elsewhere what the pass before has
    // loaded.
    auto *Mine = cast<PHINode>(New.Map[Of.Phi]);
    Value *Began = B.CreateAlloca(Of.Phi->getType());
    B.CreateStore(Mine->getIncomingValueForBlock(Entry), Began);
    Value *Moved = New.Map.lookup(Of.At);
    Value *Before = B.CreatePtrAdd(Moved ? Moved : Of.At,
                                   B.CreateMul(B.CreateSub(From, B.getInt64(1)),
                                               ConstantInt::getSigned(B.getInt64Ty(), Of.Step)));
    Value *Ptr = B.CreateSelect(B.CreateIsNull(From), Began, Before);
    Mine->setIncomingValueForBlock(
        Entry, B.CreateAlignedLoad(Of.Phi->getType(), Ptr, Of.Load->getAlign()));
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

} // namespace overlap

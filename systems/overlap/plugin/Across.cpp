#include "Across.h"
#include "Calls.h"
#include "Inline.h"
#include "Later.h"
#include "List.h"
#include "Ordinary.h"
#include "Runtime.h"
#include "System.h"
#include "Versions.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace overlap {

/// The names of twins begin so. The list has the layout of this number.
static constexpr StringRef Leaving = "__overlap_leaves_1.", Taking = "__overlap_takes_1.";
/// Another name of a function that has a twin: where it is not what the linker has found for a
/// caller, the twin is of another function.
static constexpr StringRef Being = "__overlap_is_1.";
/// Larger functions are not copied, in instructions.
static constexpr unsigned FunctionMax = 5000;
/// A function that asks for the time has no more.
static constexpr unsigned AsksMax = 50;
/// More runs of a module, and more calls of a run, are not looked at.
static constexpr unsigned RunsMax = 16, CallsMax = 8;
/// A function of a file without MPI that calls an exchange has no more, in instructions.
static constexpr unsigned WrapperMax = 60;

bool isOurs(const Function &F) {
  return F.getName().starts_with("overlap.") || F.getName().starts_with("__overlap");
}

/// The name of the twin of `F`. It has the types of the arguments, since in C a caller may have
/// declared the function otherwise, and would then pass the list as another one.
static std::string twinName(StringRef Prefix, const Function &F) {
  std::string Name;
  raw_string_ostream To(Name);
  To << Prefix << F.getName() << '.';
  for (const Argument &A : F.args())
    if (A.getType()->isPointerTy())
      To << 'p';
    else
      To << *A.getType();
  std::replace_if(Name.begin(), Name.end(), [](char C) { return C == ' ' || C == ','; }, '_');
  return Name;
}

/// The type of the twin of a function of type `T`.
static FunctionType *withList(FunctionType *T) {
  SmallVector<Type *, 8> Types(T->params());
  Types.push_back(PointerType::getUnqual(T->getContext()));
  return FunctionType::get(T->getReturnType(), Types, false);
}

/// What is said of pointers that messages which others started may not keep to.
static AttributeMask denied() {
  AttributeMask Mask = ofPointers();
  Mask.addAttribute(Attribute::NoAlias);
  return Mask;
}

/// A copy of `F` with one more argument, which is thrown away or becomes `F`'s twin.
static Function *copyWithList(Function &F, StringRef Prefix) {
  ValueToValueMapTy Map;
  Function *Twin = copyWithPointers(F, 1, twinName(Prefix, F), Map);
  for (unsigned At = 0; At < F.arg_size(); ++At)
    Twin->removeParamAttrs(At, denied());
  Twin->removeRetAttrs(denied());
  return Twin;
}

namespace {
/// The twins of a function: null if it has none.
struct Twins {
  Function *Leaves = nullptr, *Takes = nullptr;
};

class Across {
public:
  Across(Module &M, FunctionAnalysisManager &FAM, const Options &O) : M(M), FAM(FAM), O(O) {}
  bool offer();
  bool call();

private:
  /// Instructions of a block, from a call that may be an exchange to one that may be its work.
  using Run = SmallVector<Instruction *, 32>;

  bool mayBeCopied(Function &F) const;
  bool isPartner(CallInst &Call);
  bool passes(Instruction &I);
  Function *twin(Function &F, Part Is);
  bool offer(Function &F);
  Run runFrom(CallInst &First);
  Twins twinsOf(Function &F);
  Function *relay(Function &F, const Twins &Of);
  Value *callRelay(IRBuilder<> &B, CallInst &Call, Value *List, ValueToValueMapTy &Map);
  Value *listOf(Function &F);
  bool call(const Run &Of);

  Module &M;
  FunctionAnalysisManager &FAM;
  const Options &O;
  DenseMap<Function *, Twins> Known;       ///< Of functions that are called in a run.
  DenseMap<Function *, Function *> Relays; ///< Of these.
  DenseMap<Function *, Value *> Lists;     ///< Of functions with runs.
};
} // namespace

bool Across::mayBeCopied(Function &F) const {
  return isOrdinary(F, FAM) && !F.isInterposable() && !F.isVarArg() && !isOurs(F) &&
         F.getInstructionCount() <= FunctionMax && F.getName() != "main" &&
         none_of(F.args(), [](const Argument &A) { return A.hasPassPointeeByValueCopyAttr(); }) &&
         none_of(F, [](const BasicBlock &Block) {
           return Block.hasAddressTaken() || Block.getTerminatingMustTailCall();
         });
}

/// Where too little is pending for its loops, `Twin` goes by `F` as it is written.
static void askAtEntry(Function &Twin, Function &F, const Options &O) {
  Module &M = *F.getParent();
  BasicBlock *Entry = &Twin.getEntryBlock();
  BasicBlock *Rest = Entry->splitBasicBlock(Entry->getFirstNonPHIOrDbgOrAlloca());
  auto *Written = BasicBlock::Create(M.getContext(), "overlap.written", &Twin);
  Entry->getTerminator()->eraseFromParent();
  IRBuilder<> B(Entry);
  Value *List = Twin.getArg(F.arg_size());
  Value *Worth =
      B.CreateCall(runtime(M, "__overlap_later_is_worth"), {List, B.getInt64(O.MinBytes)});
  B.CreateCondBr(B.CreateIsNotNull(Worth), Rest, Written);
  B.SetInsertPoint(Written);
  SmallVector<Value *, 8> Args(make_pointer_range(drop_end(Twin.args())));
  CallInst *Call = B.CreateCall(&F, Args);
  Call->setAttributes(F.getAttributes().removeFnAttributes(M.getContext()));
  Call->setCallingConv(F.getCallingConv());
  B.Insert(ReturnInst::Create(M.getContext(), F.getReturnType()->isVoidTy() ? nullptr : Call));
}

/// The twin of `F`; null if it would gain nothing.
Function *Across::twin(Function &F, Part Is) {
  Function *Twin = copyWithList(F, Is == Part::Leaves ? Leaving : Taking);
  if (putOff(*Twin, FAM, O, Is)) {
    if (Is == Part::Takes && !FAM.getResult<LoopAnalysis>(F).empty())
      askAtEntry(*Twin, F, O);
    return Twin;
  }
  FAM.clear(*Twin, Twin->getName());
  Twin->eraseFromParent();
  return nullptr;
}

static bool asksForTime(Function &F) {
  return F.getInstructionCount() <= AsksMax && any_of(instructions(F), [](const Instruction &I) {
           const Function *Callee = calleeOf(I);
           return Callee && isClock(Callee->getName());
         });
}

/// Tells of an exchange that may be left pending; only the linker knows if it is.
static void say(Function &F, const Options &O) {
  bool Fortran = false;
  auto Wait = find_if(instructions(F), [&](const Instruction &I) {
    const Function *Callee = calleeOf(I);
    return Callee && findEnd(Callee->getName(), Fortran);
  });
  OptimizationRemarkEmitter ORE(&F);
  ORE.emit([&] {
    return OptimizationRemark("overlap", "Left", Wait->getDebugLoc(), &F.getEntryBlock())
           << ore::NV("Call", "exchange") << " of " << ore::NV("Of", F.getName())
           << " may stay pending with " << ore::NV("Strength", name(O.Widen))
           << " while a caller in another file goes on";
  });
}

/// Makes the twin of `F` for other files, if there is something to be had.
bool Across::offer(Function &F) {
  if (!F.hasExternalLinkage() || !F.isDSOLocal() || !mayBeCopied(F))
    return false;
  bool Leaves = hasExchange(F);
  if (!Leaves && !asksForTime(F) && !(F.arg_size() > 0 && hasIndexedLoop(F, FAM)))
    return false;
  Function *Twin = twin(F, Leaves ? Part::Leaves : Part::Takes);
  if (!Twin)
    return false;
  Twin->setLinkage(GlobalValue::ExternalLinkage);
  Twin->setVisibility(GlobalValue::HiddenVisibility);
  auto *Is = GlobalAlias::create(GlobalValue::ExternalLinkage, twinName(Being, F), &F);
  Is->setVisibility(GlobalValue::HiddenVisibility);
  Is->setDSOLocal(true);
  if (Leaves)
    say(F, O);
  return true;
}

/// True for a call of a function that may have a twin. One that hands over a copy of what is
/// pending would read it.
bool Across::isPartner(CallInst &Call) {
  Function *Callee = Call.getCalledFunction();
  return Callee && !Callee->isIntrinsic() && !isOurs(*Callee) && !isMpiName(Callee->getName()) &&
         !Callee->isVarArg() && Call.getFunctionType() == Callee->getFunctionType() &&
         !Call.isMustTailCall() && !Call.hasOperandBundles() && !Call.isConvergent() &&
         !Call.hasByValArgument() && !Call.hasFnAttr(Attribute::ReturnsTwice) &&
         !Call.doesNotReturn() && !Call.onlyReadsMemory() &&
         !isSystem(*Callee, FAM.getResult<TargetLibraryAnalysis>(*Call.getFunction()));
}

static bool hasPointer(const CallInst &Call) {
  return any_of(Call.args(), [](const Use &Arg) { return Arg->getType()->isPointerTy(); });
}

/// True if a run goes on behind `I`, which is no call of a partner.
bool Across::passes(Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  if (!Call)
    return !I.mayReadOrWriteMemory()
               ? !isa<AllocaInst>(I) && !I.isTerminator()
               : (isa<LoadInst>(I) || isa<StoreInst>(I)) && !I.isAtomic() && !I.isVolatile();
  Function *Callee = Call->getCalledFunction();
  return isa<DbgInfoIntrinsic>(I) || (Callee && isClock(Callee->getName())) ||
         (isa<IntrinsicInst>(I) && Call->doesNotAccessMemory() && Call->doesNotThrow());
}

/// What `First` begins, up to the last call that has a pointer in common with one before it; empty
/// if there is none.
Across::Run Across::runFrom(CallInst &First) {
  Run All;
  SmallPtrSet<const Value *, 16> Pointers;
  size_t End = 0;
  unsigned Calls = 0;
  for (Instruction *I = &First; I; I = I->getNextNode()) {
    auto *Call = dyn_cast<CallInst>(I);
    if (!passes(*I) && !(Call && isPartner(*Call) && ++Calls <= CallsMax))
      break;
    All.push_back(I);
    if (!Call || passes(*I))
      continue;
    for (const Use &Arg : Call->args())
      if (Arg->getType()->isPointerTy() && Pointers.contains(Arg))
        End = All.size();
    for (const Use &Arg : Call->args())
      if (Arg->getType()->isPointerTy())
        Pointers.insert(Arg);
  }
  All.truncate(End);
  return All;
}

/// Those of a function of this module are made, those of another file are asked for.
Twins Across::twinsOf(Function &F) {
  auto [It, New] = Known.try_emplace(&F);
  if (!New)
    return It->second;
  Twins Of;
  auto Find = [&](StringRef Prefix, Part Is, bool Wanted) -> Function * {
    std::string Name = twinName(Prefix, F);
    if (Function *Offered = M.getFunction(Name))
      return Offered;
    if (F.isDeclaration())
      return Function::Create(withList(F.getFunctionType()), GlobalValue::ExternalWeakLinkage, Name,
                              M);
    return Wanted && mayBeCopied(F) ? twin(F, Is) : nullptr;
  };
  bool Exchanges = !F.isDeclaration() && hasExchange(F);
  if (F.arg_size() > 0)
    Of.Leaves = Find(Leaving, Part::Leaves, Exchanges);
  Of.Takes = Find(Taking, Part::Takes, !Exchanges);
  return Known[&F] = Of;
}

/// Asks if `Twin` is there, and is that of `F` as the linker has found it: not with `--wrap`, or
/// where a library has the function in its place.
static Value *isThere(IRBuilder<> &B, Function &F, Function &Twin) {
  Value *There = B.CreateIsNotNull(&Twin);
  if (!F.isDeclaration())
    return There;
  std::string Name = twinName(Being, F);
  Function *Is = F.getParent()->getFunction(Name);
  if (!Is)
    Is = Function::Create(F.getFunctionType(), GlobalValue::ExternalWeakLinkage, Name,
                          F.getParent());
  return B.CreateAnd(There, B.CreateICmpEQ(Is, &F));
}

/// Asks if one of `Twins` is there; whether it is that of its function, who calls it asks.
static Value *isAnyThere(IRBuilder<> &B, const SmallSetVector<Function *, 8> &Twins) {
  Value *There = B.getFalse();
  for (Function *Twin : Twins)
    There = B.CreateOr(There, B.CreateIsNotNull(Twin));
  return There;
}

/// A function that calls the twin of `F` that is there; if there is none, nothing stays pending. It
/// is one for all calls, and not compiled with care: it runs once an exchange.
Function *Across::relay(Function &F, const Twins &Of) {
  Function *&Relay = Relays[&F];
  if (Relay)
    return Relay;
  LLVMContext &C = M.getContext();
  FunctionType *Type = withList(F.getFunctionType());
  Relay = Function::Create(Type, GlobalValue::InternalLinkage, F.getName() + ".relay", M);
  // Whatever hangs on the processor, as where vectors are passed.
  for (StringRef Key : {"target-cpu", "target-features", "tune-cpu"})
    if (F.hasFnAttribute(Key))
      Relay->addFnAttr(F.getFnAttribute(Key));
  SmallVector<AttributeSet, 8> OfArgs;
  for (unsigned At = 0; At < F.arg_size(); ++At)
    OfArgs.push_back(F.getAttributes().getParamAttrs(At).removeAttributes(C, denied()));
  AttributeSet OfResult = F.getAttributes().getRetAttrs().removeAttributes(C, denied());
  AttributeList Attributes = AttributeList::get(C, AttributeSet(), OfResult, OfArgs);
  Relay->setAttributes(
      AttributeList::get(C, Relay->getAttributes().getFnAttrs(), OfResult, OfArgs));
  Relay->addFnAttr(Attribute::NoInline);
  Relay->addFnAttr(Attribute::OptimizeNone);
  Relay->setCallingConv(F.getCallingConv());
  Relay->setDSOLocal(true);
  SmallVector<Value *, 8> Args(make_pointer_range(Relay->args()));
  IRBuilder<> B(BasicBlock::Create(C, "entry", Relay));
  auto Leave = [&](Function &To) {
    CallInst *Call = B.CreateCall(&To, ArrayRef(Args).take_front(To.arg_size()));
    Call->setAttributes(Attributes);
    Call->setCallingConv(F.getCallingConv());
    B.Insert(ReturnInst::Create(C, F.getReturnType()->isVoidTy() ? nullptr : Call));
  };
  for (Function *Twin : {Of.Leaves, Of.Takes}) {
    if (!Twin)
      continue;
    auto *By = BasicBlock::Create(C, "twin", Relay), *Else = BasicBlock::Create(C, "else", Relay);
    B.CreateCondBr(isThere(B, F, *Twin), By, Else);
    B.SetInsertPoint(By);
    Leave(*Twin);
    B.SetInsertPoint(Else);
  }
  B.CreateCall(runtime(M, "__overlap_later_end"), {Args.back()});
  Leave(F);
  return Relay;
}

/// Calls what `Call` calls, or its twin.
Value *Across::callRelay(IRBuilder<> &B, CallInst &Call, Value *List, ValueToValueMapTy &Map) {
  LLVMContext &C = M.getContext();
  auto *Copy = cast<CallInst>(Call.clone());
  RemapInstruction(Copy, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  Function &F = *Call.getCalledFunction();
  const Twins Of = twinsOf(F);
  if (!Of.Leaves && !Of.Takes) {
    B.CreateCall(runtime(M, "__overlap_later_end"), {List});
    return B.Insert(Copy);
  }
  SmallVector<Value *, 8> Args(Copy->args());
  Args.push_back(List);
  CallInst *New = B.CreateCall(relay(F, Of), Args);
  AttributeList Old = Call.getAttributes();
  SmallVector<AttributeSet, 8> OfArgs;
  for (unsigned At = 0; At < Call.arg_size(); ++At)
    OfArgs.push_back(Old.getParamAttrs(At).removeAttributes(C, denied()));
  AttributeSet OfResult = Old.getRetAttrs().removeAttributes(C, denied());
  New->setAttributes(AttributeList::get(C, AttributeSet(), OfResult, OfArgs));
  New->setCallingConv(Call.getCallingConv());
  New->setDebugLoc(Call.getDebugLoc());
  Copy->deleteValue();
  return New;
}

/// The list for the runs of `F`, which is empty between them.
Value *Across::listOf(Function &F) {
  Value *&List = Lists[&F];
  if (!List)
    List = IRBuilder<>(&F.getEntryBlock(), F.getEntryBlock().getFirstInsertionPt())
               .CreateAlloca(listType(F.getContext()), nullptr, "overlap.later");
  return List;
}

/// Two ways through a run: by twins, if there is an exchange and something behind it, and as it is
/// written.
bool Across::call(const Run &Of) {
  Function &F = *Of.front()->getFunction();
  LLVMContext &C = F.getContext();
  SmallSetVector<Function *, 8> Leave, Take;
  for (Instruction *I : Of)
    if (!passes(*I)) {
      Function &Callee = *cast<CallInst>(I)->getCalledFunction();
      const Twins Is = twinsOf(Callee);
      if (Is.Leaves && I != Of.back())
        Leave.insert(Is.Leaves);
      // Without an argument it only asks for the time.
      if (Is.Takes && I != Of.front() && Callee.arg_size() > 0)
        Take.insert(Is.Takes);
    }
  if (Leave.empty() || Take.empty())
    return false;
  Value *List = listOf(F);
  BasicBlock *Head = Of.front()->getParent();
  BasicBlock *Written = Head->splitBasicBlock(Of.front(), "overlap.written");
  BasicBlock *Both = Written->splitBasicBlock(Of.back()->getNextNode(), "overlap.both");
  auto *Fast = BasicBlock::Create(C, "overlap.across", &F, Both);
  IRBuilder<> B(Fast);
  emptyList(B, List);
  ValueToValueMapTy Map;
  for (Instruction *I : Of) {
    if (!passes(*I)) {
      Map[I] = callRelay(B, *cast<CallInst>(I), List, Map);
      continue;
    }
    Instruction *Copy = I->clone();
    B.Insert(Copy, I->getName());
    RemapInstruction(Copy, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    Map[I] = Copy;
    if (isa<LoadInst>(Copy) || isa<StoreInst>(Copy))
      guard(Copy, List);
  }
  B.CreateCall(runtime(M, "__overlap_later_end"), {List});
  B.CreateBr(Both);
  // Both ways lead on with the same values.
  for (Instruction *I : Of) {
    PHINode *Phi = nullptr;
    for (Use &U : make_early_inc_range(I->uses())) {
      auto *User = cast<Instruction>(U.getUser());
      if (User->getParent() == Written || User == Phi)
        continue;
      if (!Phi) {
        Phi = PHINode::Create(I->getType(), 2, "", Both->begin());
        Phi->addIncoming(I, Written);
        Phi->addIncoming(Map[I], B.GetInsertBlock());
      }
      U.set(Phi);
    }
  }
  IRBuilder<> Ask(Head->getTerminator());
  Ask.CreateCondBr(Ask.CreateAnd(isAnyThere(Ask, Leave), isAnyThere(Ask, Take)), Fast, Written);
  Head->getTerminator()->eraseFromParent();
  FAM.clear(F, F.getName());
  return true;
}

static SmallVector<Function *, 32> functionsOf(Module &M, FunctionAnalysisManager &FAM) {
  SmallVector<Function *, 32> All;
  for (Function &F : M)
    if (isOrdinary(F, FAM) && !isOurs(F))
      All.push_back(&F);
  return All;
}

bool Across::offer() {
  bool Changed = false;
  for (Function *F : functionsOf(M, FAM))
    Changed |= offer(*F);
  return Changed;
}

/// True if `F` may call an exchange: its file knows MPI, or it is a wrapper.
static bool mayCallExchange(const Function &F, bool OfMpi) {
  return OfMpi || F.getInstructionCount() <= WrapperMax;
}

bool Across::call() {
  const bool OfMpi = any_of(M, [](const Function &F) { return isMpiSymbol(F.getName()); });
  SmallVector<Run, 8> Runs;
  for (Function *F : functionsOf(M, FAM)) {
    if (!mayCallExchange(*F, OfMpi))
      continue;
    for (BasicBlock &Block : *F)
      for (auto It = Block.begin(); It != Block.end() && Runs.size() < RunsMax; ++It) {
        auto *Call = dyn_cast<CallInst>(&*It);
        // Without an argument it is no exchange.
        Run Found = Call && Call->arg_size() > 0 && isPartner(*Call) ? runFrom(*Call) : Run();
        if (Found.empty())
          continue;
        It = Found.back()->getIterator();
        if (any_of(Found, [&](Instruction *I) {
              auto *Call = passes(*I) ? nullptr : cast<CallInst>(I);
              return Call && Call->getCalledFunction()->isDeclaration() && hasPointer(*Call);
            }))
          Runs.push_back(std::move(Found));
      }
  }
  bool Changed = false;
  for (const Run &Of : Runs)
    Changed |= call(Of);
  return Changed;
}

/// True for what flang makes, whose exchanges are not known to `Later`.
static bool isFortran(const Module &M) {
  return any_of(M, [](const Function &F) { return F.getName().starts_with("_Q"); });
}

bool offerTwins(Module &M, FunctionAnalysisManager &FAM, const Options &O) {
  return !isFortran(M) && Across(M, FAM, O).offer();
}

bool callTwins(Module &M, FunctionAnalysisManager &FAM, const Options &O) {
  return !isFortran(M) && Across(M, FAM, O).call();
}

} // namespace overlap

#include "List.h"
#include "Inline.h"
#include "Runtime.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace overlap {

/// The bytes that a question about rank, size or time writes through a pointer at most.
static constexpr unsigned AskedBytes = 16;

const CallInfo *rowOf(const Instruction &I) {
  Function *Callee = isa<CallInst>(I) ? calleeOf(I) : nullptr;
  bool Fortran = false;
  const CallInfo *Row =
      Callee && Callee->isDeclaration() ? findRow(Callee->getName(), Fortran) : nullptr;
  return Row && !Fortran && cast<CallInst>(I).arg_size() == Row->NumArgs ? Row : nullptr;
}

/// A communicator, which is a number with MPICH, for what is the same for both libraries.
static Value *asPointer(IRBuilder<> &B, Value *Comm) {
  return Comm->getType()->isPointerTy() ? Comm : B.CreateIntToPtr(Comm, B.getPtrTy());
}

ArrayType *listType(LLVMContext &C) { return ArrayType::get(Type::getInt64Ty(C), 7); }

void emptyList(IRBuilderBase &B, Value *List) {
  B.CreateMemSet(List, B.getInt8(0), 56, MaybeAlign(8));
}

Function *relay(Module &M, const CallInst &Call, const Options &O, uint64_t ElementBytes) {
  StringRef Callee = Call.getCalledFunction()->getName();
  const CallInfo &Row = *rowOf(Call);
  std::string Name =
      ("overlap.later." + Callee).str() + (ElementBytes ? "." + std::to_string(ElementBytes) : "");
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &C = M.getContext();
  SmallVector<Type *, 8> Types{PointerType::getUnqual(C)};
  FunctionType *Old = Call.getFunctionType();
  Types.append(Old->param_begin(), Old->param_end());
  Function *F = Function::Create(FunctionType::get(Old->getReturnType(), Types, false),
                                 GlobalValue::InternalLinkage, Name, M);
  // Like the run-time part: it runs once a message.
  F->addFnAttr(Attribute::NoInline);
  F->addFnAttr(Attribute::OptimizeNone);
  IRBuilder<> B(BasicBlock::Create(C, "entry", F));
  auto *Ours = BasicBlock::Create(C, "ours", F), *Theirs = BasicBlock::Create(C, "theirs", F);
  SmallVector<Value *, 8> Args;
  for (unsigned At = 1; At < F->arg_size(); ++At)
    Args.push_back(F->getArg(At));
  Value *List = F->getArg(0);
  if (Row.Kind == CallKind::Send) {
    Value *Bytes =
        B.CreateMul(B.CreateSExt(Args[Row.SendCount], B.getInt64Ty()), B.getInt64(ElementBytes));
    Value *Request = B.CreateCall(
        runtime(M, "__overlap_later_send"),
        {List, asPointer(B, Args[Row.Comm]), Args[Row.SendBuf], Bytes, B.getInt64(O.MinBytes)});
    B.CreateCondBr(B.CreateIsNotNull(Request), Ours, Theirs);
    B.SetInsertPoint(Ours);
    bool Fortran = false;
    int RequestAt = findRow("MPI_Isend", Fortran)->at('Q');
    SmallVector<Type *, 8> StartTypes(Old->params());
    StartTypes.insert(StartTypes.begin() + RequestAt, B.getPtrTy());
    SmallVector<Value *, 8> StartArgs(Args);
    StartArgs.insert(StartArgs.begin() + RequestAt, Request);
    B.CreateRet(
        B.CreateCall(M.getOrInsertFunction(
                         "MPI_Isend", FunctionType::get(Old->getReturnType(), StartTypes, false)),
                     StartArgs));
  } else if (Row.Many < 0) {
    Value *Taken = B.CreateCall(runtime(M, "__overlap_later_take"), {List, Args[Row.Requests]});
    B.CreateCondBr(B.CreateIsNotNull(Taken), Ours, Theirs);
    B.SetInsertPoint(Ours);
    B.CreateRet(ConstantInt::get(Old->getReturnType(), 0));
  } else {
    B.CreateCall(runtime(M, "__overlap_later_take_all"),
                 {List, Args[Row.Many], Args[Row.Requests]});
    B.CreateBr(Theirs);
    Ours->eraseFromParent();
  }
  B.SetInsertPoint(Theirs);
  B.CreateRet(B.CreateCall(Call.getCalledFunction(), Args));
  return F;
}

void note(const Start &S, Value *List) {
  Module &M = *S.Call->getModule();
  IRBuilder<> B(S.Call);
  Value *Bytes = B.CreateMul(B.CreateSExt(S.Call->getArgOperand(S.Count), B.getInt64Ty()),
                             B.getInt64(S.ElementBytes));
  // Two messages would be received into one place, or into one that is still sent.
  if (S.Received)
    B.CreateCall(runtime(M, "__overlap_later_guard"),
                 {List, S.Call->getArgOperand(S.Buffer), Bytes, B.getInt32(1)});
  else
    B.CreateCall(runtime(M, "__overlap_later_sends"), {List});
  if (!S.Call->doesNotThrow())
    B.CreateCall(runtime(M, "__overlap_later_may_throw"),
                 {List, asPointer(B, S.Call->getArgOperand(S.Comm))});
  B.SetInsertPoint(S.Call->getNextNode());
  B.CreateCall(runtime(M, "__overlap_later_note"),
               {List, asPointer(B, S.Call->getArgOperand(S.Comm)), S.Call->getArgOperand(S.Request),
                S.Call->getArgOperand(S.Buffer), Bytes, B.getInt32(S.Received)});
}

void guard(Instruction *I, Value *List) {
  Module &M = *I->getModule();
  IRBuilder<> B(I);
  auto Guard = [&](Value *Ptr, Value *Bytes, bool Writes) {
    B.CreateCall(runtime(M, "__overlap_later_guard"), {List, Ptr, Bytes, B.getInt32(Writes)});
  };
  if (auto *Memory = dyn_cast<MemIntrinsic>(I)) {
    Value *Bytes = B.CreateZExtOrTrunc(Memory->getLength(), B.getInt64Ty());
    Guard(Memory->getRawDest(), Bytes, true);
    if (auto *Transfer = dyn_cast<MemTransferInst>(I))
      Guard(Transfer->getRawSource(), Bytes, false);
    return;
  }
  if (auto *Call = dyn_cast<CallInst>(I)) {
    for (const Use &Arg : Call->args())
      if (Arg->getType()->isPointerTy())
        Guard(Arg, B.getInt64(AskedBytes), true);
    return;
  }
  Type *T = getLoadStoreType(I);
  Guard(getLoadStorePointerOperand(I),
        B.getInt64(I->getDataLayout().getTypeStoreSize(T).getKnownMinValue()), isa<StoreInst>(I));
}

} // namespace overlap

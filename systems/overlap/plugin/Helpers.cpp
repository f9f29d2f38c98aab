#include "Helpers.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace overlap {

/// The largest tag that every MPI has.
static constexpr int TagOfNobody = 32767;

enum Field { Open, Status, SiteName, Requests, SendAt, SendBytes, RecvAt, RecvBytes, Sent };

StructType *stateType(const Binding &B, LLVMContext &C) {
  Type *Ptr = PointerType::getUnqual(C);
  Type *Int = Type::getInt64Ty(C);
  return StructType::get(C, {Type::getInt32Ty(C), Ptr, Ptr, ArrayType::get(B.handleType(C), 2), Ptr, Int, Ptr, Int, Ptr});
}

static std::string suffix(const Binding &B) { return B.Fortran ? ".f" : ""; }

FunctionCallee mpi(Module &M, const Binding &B, StringRef Name, ArrayRef<Type *> Args) {
  LLVMContext &C = M.getContext();
  SmallVector<Type *, 16> All(Args);
  if (B.Fortran)
    All.push_back(PointerType::getUnqual(C));
  std::string Symbol = B.Fortran ? "mpi_" + Name.lower() + "_" : ("MPI_" + Name).str();
  if (const Function *Known = M.getFunction(Symbol); Known && Known->hasLocalLinkage())
    Symbol = (B.Fortran ? "p" : "P") + Symbol;
  Type *Result = B.Fortran ? Type::getVoidTy(C) : static_cast<Type *>(Type::getInt32Ty(C));
  return M.getOrInsertFunction(Symbol, FunctionType::get(Result, All, false));
}

/// A place for what Fortran returns by reference and nobody reads.
static GlobalVariable *scratch(Module &M, StringRef Name, unsigned Words) {
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  auto *Type = ArrayType::get(Type::getInt32Ty(M.getContext()), Words);
  return new GlobalVariable(M, Type, false, GlobalValue::InternalLinkage, ConstantAggregateZero::get(Type), Name, nullptr,
                            GlobalValue::GeneralDynamicTLSModel);
}

Value *noCode(IRBuilder<> &B, Module &M) { return B.CreateThreadLocalAddress(scratch(M, "overlap.code", 1)); }

static GlobalVariable *weakMark(Module &M, StringRef Name) {
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  return new GlobalVariable(M, Type::getInt8Ty(M.getContext()), false, GlobalValue::ExternalWeakLinkage, nullptr, Name);
}

static Function *newHelper(Module &M, FunctionType *Type, const Twine &Name) {
  Function *F = Function::Create(Type, GlobalValue::InternalLinkage, Name, M);
  F->addFnAttr(Attribute::NoInline);
  F->addFnAttr(Attribute::NoUnwind);
  BasicBlock::Create(M.getContext(), "entry", F);
  return F;
}

/// What the trace library hears; the same numbers are in its source.
enum { StartBegins, WaitBegins, IsDone, StaysBlocking };

/// Calls `__overlap_trace(event, site, bytes)` if the program runs under the trace library.
static void emitTrace(IRBuilder<> &B, Module &M, int Event, Value *Site, Value *Bytes) {
  LLVMContext &C = M.getContext();
  Function *F = M.getFunction("__overlap_trace");
  if (!F) {
    auto *Type = FunctionType::get(Type::getVoidTy(C), {B.getInt32Ty(), B.getPtrTy(), B.getInt64Ty()}, false);
    F = Function::Create(Type, GlobalValue::ExternalWeakLinkage, "__overlap_trace", M);
  }
  Function *Here = B.GetInsertBlock()->getParent();
  auto *Call = BasicBlock::Create(C, "trace", Here), *Next = BasicBlock::Create(C, "traced", Here);
  B.CreateCondBr(B.CreateIsNotNull(F), Call, Next);
  B.SetInsertPoint(Call);
  B.CreateCall(F, {B.getInt32(Event), Site, Bytes});
  B.CreateBr(Next);
  B.SetInsertPoint(Next);
}

static Value *field(IRBuilder<> &B, StructType *T, Value *State, unsigned Idx) { return B.CreateStructGEP(T, State, Idx); }

static Value *request(IRBuilder<> &B, StructType *T, Value *State, unsigned Idx) {
  return B.CreateInBoundsGEP(T, State, {B.getInt32(0), B.getInt32(Requests), B.getInt32(Idx)});
}

Constant *siteName(Module &M, const Site &S) { return siteName(M, S.mpiName(), S.Loc); }

Constant *siteName(Module &M, StringRef Call, const DebugLoc &At) {
  std::string Text = Call.str() + "|";
  if (DILocation *Loc = At.get())
    Text += Loc->getFilename().str() + "|" + std::to_string(Loc->getLine());
  else
    Text += M.getSourceFileName() + "|0";
  IRBuilder<> B(M.getContext());
  auto *Init = ConstantDataArray::getString(M.getContext(), Text);
  auto *G = new GlobalVariable(M, Init->getType(), true, GlobalValue::PrivateLinkage, Init, "overlap.site");
  // The tracing tool counts the sites of a program by this section.
  if (Triple(M.getTargetTriple()).isOSBinFormatELF())
    G->setSection("overlap_sites");
  return G;
}

Value *emitIsNamed(IRBuilder<> &B, Module &M, const Binding &Bind, Value *Go, Value *Type) {
  LLVMContext &C = M.getContext();
  Function *F = B.GetInsertBlock()->getParent();
  BasicBlock *Before = B.GetInsertBlock();
  auto *Ask = BasicBlock::Create(C, "ask", F), *Asked = BasicBlock::Create(C, "asked", F);
  IRBuilder<> Top(&F->getEntryBlock(), F->getEntryBlock().begin());
  SmallVector<Value *, 6> Args{Type};
  for (unsigned Idx = 0; Idx < 4; ++Idx)
    Args.push_back(Top.CreateAlloca(B.getInt32Ty()));
  SmallVector<llvm::Type *, 6> Types{Type->getType()};
  Types.append(4, B.getPtrTy());
  B.CreateCondBr(Go, Ask, Asked);
  B.SetInsertPoint(Ask);
  Value *Combiner = Args.back();
  if (Bind.Fortran)
    Args.push_back(noCode(B, M));
  B.CreateCall(mpi(M, Bind, "Type_get_envelope", Types), Args);
  // Source: MPI_COMBINER_NAMED in mpi.h and mpif.h of OpenMPI 4.1 and MPICH 4.0.
  Value *Is = B.CreateICmpEQ(B.CreateLoad(B.getInt32Ty(), Combiner), B.getInt32(Bind.Mpi == Library::Mpich ? 1 : 0));
  BasicBlock *Behind = B.GetInsertBlock();
  B.CreateBr(Asked);
  B.SetInsertPoint(Asked);
  PHINode *Named = B.CreatePHI(B.getInt1Ty(), 2);
  Named->addIncoming(B.getFalse(), Before);
  Named->addIncoming(Is, Behind);
  return Named;
}

Function *startHelper(Module &M, const Site &S, const FunctionType *Blocking, const Options &O) {
  const Binding &Bind = S.Bind;
  const CallInfo &Info = *S.Info;
  std::string Name = "overlap.start." + S.mpiName() +
                     (S.AsksType  ? ".asked"
                      : S.Derived ? ".derived"
                                  : "") +
                     (S.Pays ? ".pays" : "") + suffix(Bind);
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &C = M.getContext();
  Type *Ptr = PointerType::getUnqual(C);
  SmallVector<Type *, 16> Types(Blocking->params());
  Type *Long = Type::getInt64Ty(C);
  Types.append({Ptr, Ptr, Long, Long, Long});
  Function *F = newHelper(M, FunctionType::get(Blocking->getReturnType(), Types, false), Name);
  IRBuilder<> B(&F->getEntryBlock());
  StructType *T = stateType(Bind, C);
  auto Arg = [&](int At) -> Value * { return F->getArg(At); };
  auto Int = [&](int At) -> Value * {
    Value *V = Bind.Fortran ? B.CreateLoad(B.getInt32Ty(), Arg(At)) : Arg(At);
    return B.CreateSExt(V, B.getInt64Ty());
  };
  Value *State = F->getArg(Blocking->getNumParams()), *Site = F->getArg(Blocking->getNumParams() + 1);
  Value *Status = Info.Status >= 0 ? Arg(Info.Status)
                  : Bind.Fortran   ? static_cast<Value *>(B.CreateThreadLocalAddress(scratch(M, "overlap.status", 8)))
                                   : Bind.ignoreStatus(M);
  B.CreateStore(B.getInt32(Ours), field(B, T, State, Open));
  B.CreateStore(Status, field(B, T, State, overlap::Status));
  B.CreateStore(Site, field(B, T, State, SiteName));
  B.CreateStore(ConstantPointerNull::get(B.getPtrTy()), field(B, T, State, Sent));
  for (unsigned Idx : {0u, 1u})
    B.CreateStore(Bind.nullRequest(M), request(B, T, State, Idx));

  // Where a message lies, if its length is a count of elements.
  auto Lies = [&](int Buf, int Count, unsigned ElementAt, Field At, Field Bytes) {
    if (Buf < 0 || Count < 0 || Info.Arrays[0] >= 0)
      return;
    B.CreateStore(Arg(Buf), field(B, T, State, At));
    B.CreateStore(B.CreateMul(Int(Count), F->getArg(Blocking->getNumParams() + ElementAt)), field(B, T, State, Bytes));
  };
  Lies(Info.SendBuf, Info.SendCount, 3, SendAt, SendBytes);
  Lies(Info.RecvBuf, Info.RecvCount, 4, RecvAt, RecvBytes);

  Value *Go = B.CreateIsNull(weakMark(M, "__overlap_off"));
  if (S.AsksType)
    for (int At : askedTypes(Info))
      Go = emitIsNamed(B, M, Bind, Go, Arg(At));
  // A count times a size is the payload; MPI knows the size of a type that the program made.
  Value *Bytes = B.getInt64(0);
  if (Info.SizeCount >= 0) {
    Value *Size = F->getArg(Blocking->getNumParams() + 2);
    if (S.Derived) {
      IRBuilder<> Top(&F->getEntryBlock(), F->getEntryBlock().begin());
      Value *Place = Top.CreateAlloca(B.getInt32Ty());
      Top.CreateStore(B.getInt32(0), Place);
      auto *Ask = BasicBlock::Create(C, "size", F), *Sized = BasicBlock::Create(C, "sized", F);
      B.CreateCondBr(Go, Ask, Sized);
      B.SetInsertPoint(Ask);
      SmallVector<Value *, 3> Args{Arg(Info.SizeType), Place};
      if (Bind.Fortran)
        Args.push_back(Arg(Info.NumArgs));
      B.CreateCall(mpi(M, Bind, "Type_size", {Blocking->getParamType(Info.SizeType), Ptr}), Args);
      B.CreateBr(Sized);
      B.SetInsertPoint(Sized);
      Size = B.CreateSExt(B.CreateLoad(B.getInt32Ty(), Place), B.getInt64Ty());
    }
    Bytes = B.CreateMul(Int(Info.SizeCount), Size);
  }
  // Of a call that sends and receives, what it sends.
  Value *Told = Bytes;
  if (Info.SizeCount < 0 && Info.SendCount >= 0 && Info.Arrays[0] < 0)
    Told = B.CreateMul(Int(Info.SendCount), F->getArg(Blocking->getNumParams() + 3));
  emitTrace(B, M, StartBegins, Site, Told);

  auto *Start = BasicBlock::Create(C, "start", F), *Block = BasicBlock::Create(C, "block", F);
  if (Info.SizeCount >= 0 && !S.Pays)
    Go = B.CreateAnd(Go, B.CreateICmpSGE(Bytes, B.getInt64(O.MinBytes)));
  if (Info.Kind == CallKind::Collective && O.Convert == Collectives::Uniform)
    Go = B.CreateAnd(Go, B.CreateIsNotNull(weakMark(M, "__overlap_uniform")));
  // MPICH's MPI_Irecv from MPI_PROC_NULL leaves a source and a tag of 0 in the status, its MPI_Recv the right ones.
  int From = Info.Kind == CallKind::Recv ? 3 : StringRef(Info.Name) == "Sendrecv_replace" ? 5 : Info.Kind == CallKind::Sendrecv ? 8 : -1;
  if (From >= 0 && Info.Status >= 0 && Bind.Mpi == Library::Mpich) {
    Value *Nobody = B.CreateICmpEQ(Int(From), B.getInt64(-1));
    Value *Asked = Bind.Fortran ? static_cast<Value *>(B.getTrue()) : B.CreateICmpNE(Status, Bind.ignoreStatus(M));
    Go = B.CreateAnd(Go, B.CreateNot(B.CreateAnd(Nobody, Asked)));
  }
  B.CreateCondBr(Go, Start, Block);

  B.SetInsertPoint(Start);
  Value *Copy = nullptr; // Stands for the buffer where it is sent and received into.
  if (StringRef(Info.Name) == "Sendrecv_replace") {
    auto Malloc = M.getOrInsertFunction("malloc", FunctionType::get(Ptr, {B.getInt64Ty()}, false));
    Copy = B.CreateCall(Malloc, {Bytes});
    auto *Copied = BasicBlock::Create(C, "copied", F);
    B.CreateCondBr(B.CreateIsNull(Copy), Block, Copied);
    B.SetInsertPoint(Copied);
    B.CreateMemCpy(Copy, MaybeAlign(1), Arg(Info.RecvBuf), MaybeAlign(1), Bytes);
    B.CreateStore(Copy, field(B, T, State, Sent));
  }
  Value *Code = nullptr; // The first that is no success; in Fortran a place receives it.
  auto Begin = [&](StringRef Twin, ArrayRef<int> From, unsigned Idx) {
    SmallVector<Type *, 16> ArgTypes;
    SmallVector<Value *, 16> Args;
    for (int At : From) {
      ArgTypes.push_back(Blocking->getParamType(At));
      Args.push_back(At == Info.RecvBuf && Copy && Twin == "Isend" ? Copy : Arg(At));
    }
    ArgTypes.push_back(Ptr);
    Args.push_back(request(B, T, State, Idx));
    if (Bind.Fortran)
      Args.push_back(Arg(Info.NumArgs));
    Value *Mine = B.CreateCall(mpi(M, Bind, Twin, ArgTypes), Args);
    Code = Code && !Bind.Fortran ? B.CreateSelect(B.CreateIsNull(Code), Mine, Code) : Mine;
  };
  auto Return = [&](Value *V) {
    emitTrace(B, M, IsDone, Site, B.getInt64(0));
    Bind.Fortran ? B.CreateRetVoid() : B.CreateRet(V);
  };
  if (Copy) {
    Begin("Irecv", {0, 1, 2, 5, 6, 7}, 0);
    Begin("Isend", {0, 1, 2, 3, 4, 7}, 1);
  } else if (Info.Kind == CallKind::Sendrecv) {
    Begin("Irecv", {5, 6, 7, 8, 9, 10}, 0);
    Begin("Isend", {0, 1, 2, 3, 4, 10}, 1);
  } else {
    SmallVector<int, 12> From;
    for (unsigned At = 0; At < Info.NumArgs; ++At)
      if (static_cast<int>(At) != Info.Status)
        From.push_back(At);
    Begin("I" + StringRef(Info.Name).lower(), From, 0);
  }
  Return(Code);

  B.SetInsertPoint(Block);
  emitTrace(B, M, StaysBlocking, Site, B.getInt64(0));
  SmallVector<Value *, 16> Same;
  for (unsigned At = 0; At < Blocking->getNumParams(); ++At)
    Same.push_back(Arg(At));
  std::string Symbol = Bind.Fortran ? "mpi_" + StringRef(Info.Name).lower() + "_" : S.mpiName();
  Return(B.CreateCall(M.getOrInsertFunction(Symbol, const_cast<FunctionType *>(Blocking)), Same));
  return F;
}

/// Waits for one request if it is pending.
static void emitWait(IRBuilder<> &B, Module &M, const Binding &Bind, Value *Request, Value *Status) {
  LLVMContext &C = M.getContext();
  Function *F = B.GetInsertBlock()->getParent();
  Type *Ptr = B.getPtrTy();
  auto *Pending = BasicBlock::Create(C, "pending", F), *Done = BasicBlock::Create(C, "done", F);
  Value *Handle = B.CreateLoad(Bind.handleType(C), Request);
  B.CreateCondBr(B.CreateICmpNE(Handle, Bind.nullRequest(M)), Pending, Done);
  B.SetInsertPoint(Pending);
  SmallVector<Value *, 3> Args{Request, Status};
  if (Bind.Fortran)
    Args.push_back(noCode(B, M));
  B.CreateCall(mpi(M, Bind, "Wait", {Ptr, Ptr}), Args);
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
}

static Value *noStatus(IRBuilder<> &B, Module &M, const Binding &Bind) {
  if (Bind.Fortran)
    return B.CreateThreadLocalAddress(scratch(M, "overlap.status", 8));
  return Bind.ignoreStatus(M);
}

Function *waitHelper(Module &M, const Binding &Bind) {
  std::string Name = "overlap.wait" + suffix(Bind);
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &C = M.getContext();
  Function *F = newHelper(M, FunctionType::get(Type::getVoidTy(C), {PointerType::getUnqual(C)}, false), Name);
  IRBuilder<> B(&F->getEntryBlock());
  StructType *T = stateType(Bind, C);
  Value *State = F->getArg(0), *IsOpen = field(B, T, State, Open);
  auto *Close = BasicBlock::Create(C, "close", F), *Nothing = BasicBlock::Create(C, "nothing", F);
  B.CreateCondBr(B.CreateIsNotNull(B.CreateLoad(B.getInt32Ty(), IsOpen)), Close, Nothing);
  B.SetInsertPoint(Close);
  B.CreateStore(B.getInt32(0), IsOpen);
  Value *Begun = B.CreateLoad(B.getPtrTy(), field(B, T, State, SiteName));
  emitTrace(B, M, WaitBegins, Begun, B.getInt64(0));
  emitWait(B, M, Bind, request(B, T, State, 1), noStatus(B, M, Bind));
  emitWait(B, M, Bind, request(B, T, State, 0), B.CreateLoad(B.getPtrTy(), field(B, T, State, Status)));
  if (M.getFunction(Bind.Fortran ? "mpi_sendrecv_replace_" : "MPI_Sendrecv_replace")) {
    auto Free = M.getOrInsertFunction("free", FunctionType::get(B.getVoidTy(), {B.getPtrTy()}, false));
    B.CreateCall(Free, {B.CreateLoad(B.getPtrTy(), field(B, T, State, Sent))});
  }
  emitTrace(B, M, IsDone, Begun, B.getInt64(0));
  B.CreateBr(Nothing);
  B.SetInsertPoint(Nothing);
  B.CreateRetVoid();
  return F;
}

Function *guardHelper(Module &M, const Binding &Bind) {
  std::string Name = "overlap.guard" + suffix(Bind);
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &C = M.getContext();
  Type *Ptr = PointerType::getUnqual(C), *Long = Type::getInt64Ty(C);
  Function *F = newHelper(M, FunctionType::get(Type::getVoidTy(C), {Ptr, Type::getInt1Ty(C), Ptr, Long}, false), Name);
  IRBuilder<> B(&F->getEntryBlock());
  StructType *T = stateType(Bind, C);
  Value *State = F->getArg(0), *Received = F->getArg(1);
  auto *IsOpen = BasicBlock::Create(C, "open", F), *Met = BasicBlock::Create(C, "met", F), *Apart = BasicBlock::Create(C, "apart", F);
  B.CreateCondBr(B.CreateIsNotNull(B.CreateLoad(B.getInt32Ty(), field(B, T, State, Open))), IsOpen, Apart);
  B.SetInsertPoint(IsOpen);
  Value *At = B.CreateLoad(Ptr, B.CreateSelect(Received, field(B, T, State, RecvAt), field(B, T, State, SendAt)));
  Value *Bytes = B.CreateLoad(Long, B.CreateSelect(Received, field(B, T, State, RecvBytes), field(B, T, State, SendBytes)));
  Value *Begin = B.CreatePtrToInt(At, Long), *OtherBegin = B.CreatePtrToInt(F->getArg(2), Long);
  Value *End = B.CreateAdd(Begin, Bytes), *OtherEnd = B.CreateAdd(OtherBegin, F->getArg(3));
  B.CreateCondBr(B.CreateAnd(B.CreateICmpULT(Begin, OtherEnd), B.CreateICmpULT(OtherBegin, End)), Met, Apart);
  B.SetInsertPoint(Met);
  B.CreateCall(waitHelper(M, Bind), {State});
  B.CreateBr(Apart);
  B.SetInsertPoint(Apart);
  B.CreateRetVoid();
  return F;
}

Function *pendingHelper(Module &M, const Binding &Bind) {
  std::string Name = "overlap.pending" + suffix(Bind);
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &C = M.getContext();
  Function *F = newHelper(M, FunctionType::get(Type::getInt1Ty(C), {PointerType::getUnqual(C)}, false), Name);
  IRBuilder<> B(&F->getEntryBlock());
  StructType *T = stateType(Bind, C);
  Value *State = F->getArg(0);
  auto *IsOpen = BasicBlock::Create(C, "open", F), *Nothing = BasicBlock::Create(C, "nothing", F);
  B.CreateCondBr(B.CreateIsNotNull(B.CreateLoad(B.getInt32Ty(), field(B, T, State, Open))), IsOpen, Nothing);
  B.SetInsertPoint(IsOpen);
  Value *Any = B.getFalse();
  for (unsigned Idx : {0u, 1u})
    Any = B.CreateOr(Any, B.CreateICmpNE(B.CreateLoad(Bind.handleType(C), request(B, T, State, Idx)), Bind.nullRequest(M)));
  B.CreateRet(Any);
  B.SetInsertPoint(Nothing);
  B.CreateRet(B.getFalse());
  return F;
}

static void emitTest(IRBuilder<> &B, Module &M, const Binding &Bind, Value *Request, Value *Status, Value *Flag) {
  LLVMContext &C = M.getContext();
  Function *F = B.GetInsertBlock()->getParent();
  Type *Ptr = B.getPtrTy();
  auto *Pending = BasicBlock::Create(C, "pending", F), *Done = BasicBlock::Create(C, "done", F);
  Value *Handle = B.CreateLoad(Bind.handleType(C), Request);
  B.CreateCondBr(B.CreateICmpNE(Handle, Bind.nullRequest(M)), Pending, Done);
  B.SetInsertPoint(Pending);
  SmallVector<Value *, 4> Args{Request, Flag, Status};
  if (Bind.Fortran)
    Args.push_back(noCode(B, M));
  B.CreateCall(mpi(M, Bind, "Test", {Ptr, Ptr, Ptr}), Args);
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
}

/// Asks for a message that hardly anybody sends: the library moves all others meanwhile.
static void emitProbe(IRBuilder<> &B, Module &M, const Binding &Bind, Value *Flag) {
  Type *Ptr = B.getPtrTy(), *Int = B.getInt32Ty();
  Constant *Source = B.getInt32(Bind.anySource()), *Tag = B.getInt32(TagOfNobody);
  if (!Bind.Fortran) {
    B.CreateCall(mpi(M, Bind, "Iprobe", {Int, Int, Bind.handleType(M.getContext()), Ptr, Ptr}),
                 {Source, Tag, Bind.probed(M), Flag, Bind.ignoreStatus(M)});
    return;
  }
  auto Place = [&](Constant *Value) { return new GlobalVariable(M, Int, true, GlobalValue::PrivateLinkage, Value, "overlap.constant"); };
  B.CreateCall(mpi(M, Bind, "Iprobe", {Ptr, Ptr, Ptr, Ptr, Ptr}), {Place(cast<ConstantInt>(Source)), Place(cast<ConstantInt>(Tag)),
                                                                   Place(Bind.probed(M)), Flag, noStatus(B, M, Bind), noCode(B, M)});
}

/// i32 overlap.poll(state, rate): rate is { i64 last_ns, i32 stride }. Tests, and returns after
/// how many passes to ask again, so that the time between two tests comes near to poll-us.
Function *pollHelper(Module &M, const Binding &Bind, const Options &O) {
  std::string Name = "overlap.poll" + suffix(Bind);
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &C = M.getContext();
  Type *Ptr = PointerType::getUnqual(C), *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C);
  Function *F = newHelper(M, FunctionType::get(I32, {Ptr, Ptr}, false), Name);
  F->addFnAttr(Attribute::Cold);
  IRBuilder<> B(&F->getEntryBlock());
  StructType *T = stateType(Bind, C);
  auto *RateType = StructType::get(C, {I64, I32});
  Value *State = F->getArg(0), *Rate = F->getArg(1);
  auto *TimeType = StructType::get(C, {I64, I64});
  Value *Time = B.CreateAlloca(TimeType), *Flag = B.CreateAlloca(I32);
  auto *IsOpen = BasicBlock::Create(C, "open", F), *IsClosed = BasicBlock::Create(C, "closed", F);
  Value *What = B.CreateLoad(I32, field(B, T, State, Open));
  B.CreateCondBr(B.CreateIsNotNull(What), IsOpen, IsClosed);
  B.SetInsertPoint(IsClosed);
  B.CreateRet(B.getInt32(1 << 20));

  B.SetInsertPoint(IsOpen);
  auto Clock = M.getOrInsertFunction("clock_gettime", FunctionType::get(I32, {I32, Ptr}, false));
  B.CreateCall(Clock, {B.getInt32(1), Time});
  Value *Seconds = B.CreateLoad(I64, B.CreateStructGEP(TimeType, Time, 0));
  Value *Rest = B.CreateLoad(I64, B.CreateStructGEP(TimeType, Time, 1));
  Value *Now = B.CreateAdd(B.CreateMul(Seconds, B.getInt64(1000000000)), Rest);
  Value *LastAt = B.CreateStructGEP(RateType, Rate, 0), *StrideAt = B.CreateStructGEP(RateType, Rate, 1);
  Value *Elapsed = B.CreateSub(Now, B.CreateLoad(I64, LastAt));
  Value *Stride = B.CreateZExt(B.CreateLoad(I32, StrideAt), I64);
  B.CreateStore(Now, LastAt);
  // stride' = clamp(stride * target / elapsed, 1, 8 * stride); the first call finds last_ns = 0.
  Value *Target = B.getInt64(uint64_t(O.PollUs) * 1000);
  Value *AtLeastOne = B.CreateSelect(B.CreateICmpSLT(Elapsed, B.getInt64(1)), B.getInt64(1), Elapsed);
  Value *Wanted = B.CreateUDiv(B.CreateMul(Stride, Target), AtLeastOne);
  Value *Most = B.CreateMul(Stride, B.getInt64(8));
  Value *Next = B.CreateSelect(B.CreateICmpULT(Wanted, Most), Wanted, Most);
  Next = B.CreateSelect(B.CreateICmpULT(Next, B.getInt64(1)), B.getInt64(1), Next);
  Next = B.CreateSelect(B.CreateICmpUGT(Next, B.getInt64(1 << 20)), B.getInt64(1 << 20), Next);
  Value *Stored = B.CreateTrunc(Next, I32);
  B.CreateStore(Stored, StrideAt);
  // While the stride is still being found, passes come too often to test in each.
  auto *Ask = BasicBlock::Create(C, "ask", F), *Enough = BasicBlock::Create(C, "enough", F);
  B.CreateCondBr(B.CreateICmpSGE(B.CreateMul(Elapsed, B.getInt64(2)), Target), Ask, Enough);
  B.SetInsertPoint(Ask);
  auto *Test = BasicBlock::Create(C, "test", F), *Probe = BasicBlock::Create(C, "probe", F);
  B.CreateCondBr(B.CreateICmpEQ(What, B.getInt32(Theirs)), Probe, Test);
  B.SetInsertPoint(Probe);
  emitProbe(B, M, Bind, Flag);
  B.CreateBr(Enough);
  B.SetInsertPoint(Test);
  emitTest(B, M, Bind, request(B, T, State, 1), noStatus(B, M, Bind), Flag);
  emitTest(B, M, Bind, request(B, T, State, 0), B.CreateLoad(Ptr, field(B, T, State, Status)), Flag);
  B.CreateBr(Enough);
  B.SetInsertPoint(Enough);
  B.CreateRet(Stored);
  return F;
}

/// void overlap.tick(state, rate, passes): one pass, where a counter in the program would be too much.
Function *tickHelper(Module &M, const Binding &Bind, const Options &O) {
  std::string Name = "overlap.tick" + suffix(Bind);
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &C = M.getContext();
  Type *Ptr = PointerType::getUnqual(C);
  Function *Poll = pollHelper(M, Bind, O), *F = newHelper(M, FunctionType::get(Type::getVoidTy(C), {Ptr, Ptr, Ptr}, false), Name);
  IRBuilder<> B(&F->getEntryBlock());
  auto *Ask = BasicBlock::Create(C, "ask", F), *Enough = BasicBlock::Create(C, "enough", F);
  Value *Left = B.CreateSub(B.CreateLoad(B.getInt32Ty(), F->getArg(2)), B.getInt32(1));
  B.CreateStore(Left, F->getArg(2));
  B.CreateCondBr(B.CreateICmpSLE(Left, B.getInt32(0)), Ask, Enough);
  B.SetInsertPoint(Ask);
  B.CreateStore(B.CreateCall(Poll, {F->getArg(0), F->getArg(1)}), F->getArg(2));
  B.CreateBr(Enough);
  B.SetInsertPoint(Enough);
  B.CreateRetVoid();
  return F;
}

} // namespace overlap

#include "Helpers.h"
#include "Runtime.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace overlap {

/// The fields of a state.
enum Field { Open, Status, SiteName, Requests, SentAt, SentBytes, ReceivedAt, ReceivedBytes, Copy };

StructType *stateType(const Binding &B, LLVMContext &C) {
  Type *Ptr = PointerType::getUnqual(C);
  Type *Int = Type::getInt64Ty(C);
  return StructType::get(C, {Type::getInt32Ty(C), Ptr, Ptr, ArrayType::get(B.handleType(C), 2), Ptr,
                             Int, Ptr, Int, Ptr});
}

ConstantInt *everyNs(LLVMContext &C, const Options &O) {
  return ConstantInt::get(Type::getInt64Ty(C), int64_t(O.PollUs) * 1000);
}

Constant *siteName(Module &M, const MessageCall &S) { return siteName(M, S.mpiName(), S.Loc); }

Constant *siteName(Module &M, StringRef Call, const DebugLoc &At) {
  std::string Text = Call.str() + "|";
  if (DILocation *Loc = At.get())
    Text += Loc->getFilename().str() + "|" + std::to_string(Loc->getLine());
  else
    Text += M.getSourceFileName() + "|0";
  IRBuilder<> B(M.getContext());
  auto *Init = ConstantDataArray::getString(M.getContext(), Text);
  auto *G = new GlobalVariable(M, Init->getType(), true, GlobalValue::PrivateLinkage, Init,
                               "overlap.site");
  // The tracing tool counts the sites of a program by this section.
  if (Triple(M.getTargetTriple()).isOSBinFormatELF())
    G->setSection("overlap_sites");
  return G;
}

namespace {

/// Writes the body of a start helper: what all calls share is in `message.c`, the calls themselves
/// are made here.
class Start {
public:
  Start(Function *F, const MessageCall &S, const FunctionType *Blocking, const Options &O)
      : F(F), S(S), Info(*S.Info), Bind(S.Bind), Blocking(Blocking), O(O), M(*F->getParent()),
        B(BasicBlock::Create(F->getContext(), "entry", F)), State(own(0)),
        T(stateType(Bind, F->getContext())) {}

  void emit();

private:
  /// The arguments behind those of the call.
  Argument *own(unsigned Idx) { return F->getArg(Blocking->getNumParams() + Idx); }
  Value *arg(int At) { return F->getArg(At); }
  /// An integer argument, in Fortran by reference.
  Value *number(int At) {
    return B.CreateSExt(Bind.Fortran ? B.CreateLoad(B.getInt32Ty(), arg(At)) : arg(At),
                        B.getInt64Ty());
  }
  Value *help(StringRef Name, ArrayRef<Value *> Args) {
    return B.CreateCall(message(M, Bind, Name), Args);
  }
  void noteBuffer(int Buf, int Count, unsigned Element, Field At);
  Value *payload(Value *Go);
  Value *begin(StringRef Twin, ArrayRef<int> From, unsigned Request, Value *SentCopy = nullptr);
  Value *beginAll(BasicBlock *Block, Value *Bytes);
  void end(Value *Code);

  Function *F;
  const MessageCall &S;
  const CallInfo &Info;
  const Binding &Bind;
  const FunctionType *Blocking;
  const Options &O;
  Module &M;
  IRBuilder<> B;
  Value *State;
  StructType *T;
};

} // namespace

/// Where a message lies, if its length is a count of elements, whose size is an argument.
void Start::noteBuffer(int Buf, int Count, unsigned Element, Field At) {
  if (Buf < 0 || Count < 0 || Info.Arrays[0] >= 0)
    return;
  B.CreateStore(arg(Buf), B.CreateStructGEP(T, State, At));
  B.CreateStore(B.CreateMul(number(Count), own(Element)), B.CreateStructGEP(T, State, At + 1));
}

/// A count times a size; MPI knows the size of a type that the program made.
Value *Start::payload(Value *Go) {
  Value *Size = S.Derived ? help("size", {Go, arg(Info.SizeType)}) : own(2);
  return B.CreateMul(number(Info.SizeCount), Size);
}

/// Begins the nonblocking twin with these arguments of the call; its code.
Value *Start::begin(StringRef Twin, ArrayRef<int> From, unsigned Request, Value *SentCopy) {
  SmallVector<Type *, 16> Types;
  SmallVector<Value *, 16> Args;
  for (int At : From) {
    Types.push_back(Blocking->getParamType(At));
    Args.push_back(SentCopy && At == Info.RecvBuf ? SentCopy : arg(At));
  }
  Types.push_back(B.getPtrTy());
  Args.push_back(
      B.CreateInBoundsGEP(T, State, {B.getInt32(0), B.getInt32(Requests), B.getInt32(Request)}));
  if (Bind.Fortran) {
    Types.push_back(B.getPtrTy());
    Args.push_back(arg(Info.NumArgs));
  }
  std::string Symbol = Bind.Fortran ? "mpi_" + Twin.lower() + "_" : ("MPI_" + Twin).str();
  // Where the program has one of that name for itself, whose arguments may have been taken away,
  // the library's own name.
  if (const Function *Known = M.getFunction(Symbol); Known && Known->hasLocalLinkage())
    Symbol = (Bind.Fortran ? "p" : "P") + Symbol;
  return B.CreateCall(
      M.getOrInsertFunction(Symbol, FunctionType::get(F->getReturnType(), Types, false)), Args);
}

/// Begins all that the call does; the first code that is no success, which in Fortran a place
/// receives. `Block`, where there is no memory for a copy of what is sent.
Value *Start::beginAll(BasicBlock *Block, Value *Bytes) {
  auto Both = [&](ArrayRef<int> Received, ArrayRef<int> Sent, Value *SentCopy) {
    Value *First = begin("Irecv", Received, 0), *Second = begin("Isend", Sent, 1, SentCopy);
    return Bind.Fortran ? First : B.CreateSelect(B.CreateIsNull(First), Second, First);
  };
  if (StringRef(Info.Name) == "Sendrecv_replace") {
    Value *Made = help("copy", {State, arg(Info.RecvBuf), Bytes});
    auto *Copied = BasicBlock::Create(F->getContext(), "copied", F);
    B.CreateCondBr(B.CreateIsNull(Made), Block, Copied);
    B.SetInsertPoint(Copied);
    return Both({0, 1, 2, 5, 6, 7}, {0, 1, 2, 3, 4, 7}, Made);
  }
  if (Info.Kind == CallKind::Sendrecv)
    return Both({5, 6, 7, 8, 9, 10}, {0, 1, 2, 3, 4, 10}, nullptr);
  SmallVector<int, 12> From;
  for (unsigned At = 0; At < Info.NumArgs; ++At)
    if (static_cast<int>(At) != Info.Status)
      From.push_back(At);
  return begin("I" + StringRef(Info.Name).lower(), From, 0);
}

void Start::end(Value *Code) {
  help("done", {State});
  // Where it asks, the answer; a call whose error ends the program has no code but success.
  if (S.MayThrow)
    B.CreateRet(B.getInt32(1));
  else
    Bind.Fortran ? B.CreateRetVoid() : B.CreateRet(Code);
}

void Start::emit() {
  // In Fortran null stands for a status that is not asked for.
  Value *Status = Info.Status >= 0 ? arg(Info.Status)
                  : Bind.Fortran   ? ConstantPointerNull::get(B.getPtrTy())
                                   : Bind.ignoreStatus(M);
  Value *Go = help("open", {State, own(1), Status});
  noteBuffer(Info.SendBuf, Info.SendCount, 3, SentAt);
  noteBuffer(Info.RecvBuf, Info.RecvCount, 4, ReceivedAt);
  if (S.AsksType)
    for (int At : askedTypes(Info))
      Go = help("is_named", {Go, arg(At)});
  Value *Bytes = Info.SizeCount >= 0 ? payload(Go) : B.getInt64(0);
  // Of a call that sends and receives, what it sends.
  Value *Told = Info.SizeCount < 0 && Info.SendCount >= 0 && Info.Arrays[0] < 0
                    ? B.CreateMul(number(Info.SendCount), own(3))
                    : Bytes;
  help("begins", {State, Told});
  Go = B.CreateIsNotNull(Go);
  auto EndsOnError = [&](Value *If) {
    return B.CreateIsNotNull(
        help("ends_on_error", {B.CreateZExt(If, B.getInt32Ty()), arg(Info.Comm)}));
  };
  Value *Fatal = S.MayThrow ? EndsOnError(B.getTrue()) : nullptr;
  if (Info.SizeCount >= 0 && !S.Pays)
    Go = B.CreateAnd(Go, B.CreateICmpSGE(Bytes, B.getInt64(O.MinBytes)));
  Go = S.MayThrow ? B.CreateAnd(Go, Fatal) : EndsOnError(Go);
  // Whatever speaks against it here, the blocking call starts as on the other ranks.
  if (std::optional<int> Kind = agreedKind(Info); Kind && Info.Kind == CallKind::Collective)
    Go = B.CreateIsNotNull(
        help("agrees", {B.CreateZExt(Go, B.getInt32Ty()), B.getInt32(*Kind), number(Info.SizeCount),
                        arg(Info.SizeType), arg(Info.Comm)}));
  int From = Info.Kind == CallKind::Recv                  ? 3
             : StringRef(Info.Name) == "Sendrecv_replace" ? 5
             : Info.Kind == CallKind::Sendrecv            ? 8
                                                          : -1;
  if (From >= 0 && Info.Status >= 0)
    Go = B.CreateAnd(Go,
                     B.CreateIsNull(help("is_of_nobody",
                                         {B.CreateTrunc(number(From), B.getInt32Ty()), Status})));
  auto *Begin = BasicBlock::Create(F->getContext(), "start", F),
       *Block = BasicBlock::Create(F->getContext(), "block", F);
  B.CreateCondBr(Go, Begin, Block);
  B.SetInsertPoint(Begin);
  end(beginAll(Block, Bytes));
  B.SetInsertPoint(Block);
  help("blocks", {State});
  if (S.MayThrow) {
    auto *Throws = BasicBlock::Create(F->getContext(), "may.throw", F),
         *Safe = BasicBlock::Create(F->getContext(), "safe", F);
    B.CreateCondBr(Fatal, Safe, Throws);
    ReturnInst::Create(F->getContext(), B.getInt32(0), Throws);
    B.SetInsertPoint(Safe);
  }
  SmallVector<Value *, 16> Same;
  for (unsigned At = 0; At < Blocking->getNumParams(); ++At)
    Same.push_back(arg(At));
  std::string Symbol = Bind.Fortran ? "mpi_" + StringRef(Info.Name).lower() + "_" : S.mpiName();
  end(B.CreateCall(M.getOrInsertFunction(Symbol, const_cast<FunctionType *>(Blocking)), Same));
}

Function *startHelper(Module &M, const MessageCall &S, const FunctionType *Blocking,
                      const Options &O) {
  std::string Name = "overlap.start." + S.mpiName() +
                     (S.AsksType  ? ".asked"
                      : S.Derived ? ".derived"
                                  : "") +
                     (S.Pays ? ".pays" : "") + (S.MayThrow ? ".asks" : "") +
                     (S.Bind.Fortran ? ".f" : "");
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &C = M.getContext();
  Type *Ptr = PointerType::getUnqual(C), *Long = Type::getInt64Ty(C);
  SmallVector<Type *, 16> Types(Blocking->params());
  Types.append({Ptr, Ptr, Long, Long, Long});
  Function *F = Function::Create(FunctionType::get(Blocking->getReturnType(), Types, false),
                                 GlobalValue::InternalLinkage, Name, M);
  F->addFnAttr(Attribute::NoInline);
  Start(F, S, Blocking, O).emit();
  // What is only of its start becomes a part of it: the inliner has run.
  SmallVector<CallInst *, 8> Parts;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I);
        Call && Call->getCalledFunction() && !Call->getCalledFunction()->isDeclaration() &&
        !Call->getCalledFunction()->hasFnAttribute(Attribute::NoInline))
      Parts.push_back(Call);
  for (CallInst *Call : Parts) {
    InlineFunctionInfo Info;
    InlineFunction(*Call, Info);
  }
  return F;
}

} // namespace overlap

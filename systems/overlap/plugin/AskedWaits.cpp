#include "AskedWaits.h"
#include "Runtime.h"
#include "Started.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace overlap {

/// The wait `Wait`, which is made if its last argument says so, and throws nothing.
static Function *endHelper(Module &M, const Function &Wait) {
  std::string Name = (EndPrefix + Wait.getName()).str();
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &C = M.getContext();
  SmallVector<Type *, 6> Types(Wait.getFunctionType()->params());
  Types.push_back(Type::getInt1Ty(C));
  Function *F = Function::Create(FunctionType::get(Type::getVoidTy(C), Types, false),
                                 GlobalValue::InternalLinkage, Name, M);
  F->addFnAttr(Attribute::NoInline);
  F->setDoesNotThrow();
  auto *Entry = BasicBlock::Create(C, "entry", F), *Ends = BasicBlock::Create(C, "ends", F),
       *Done = BasicBlock::Create(C, "done", F);
  IRBuilder<> B(Entry);
  B.CreateCondBr(F->getArg(F->arg_size() - 1), Ends, Done);
  B.SetInsertPoint(Ends);
  SmallVector<Value *, 6> Args;
  for (Argument &A : drop_end(F->args()))
    Args.push_back(&A);
  B.CreateCall(const_cast<Function *>(&Wait), Args)->setDoesNotThrow();
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
  B.CreateRetVoid();
  return F;
}

static void ask(InvokeInst &Wait, ArrayRef<Value *> Comms, const Binding &Bind) {
  Module &M = *Wait.getModule();
  BasicBlock *Asks = Wait.getParent(), *Next = Wait.getNormalDest();
  BasicBlock *Written = Asks->splitBasicBlock(&Wait, "overlap.throws");
  auto *Behind = BasicBlock::Create(M.getContext(), "overlap.behind", Asks->getParent(), Next);
  Wait.setNormalDest(Behind);
  Next->replacePhiUsesWith(Written, Behind);
  IRBuilder<> B(Asks->getTerminator());
  Value *Fatal = B.getInt32(1);
  for (Value *Comm : Comms)
    Fatal = B.CreateCall(message(M, Bind, "ends_on_error"), {Fatal, Comm});
  Fatal = B.CreateCall(message(M, Bind, "wait_ends_on_error"), {Fatal});
  B.CreateCondBr(B.CreateIsNotNull(Fatal), Behind, Written);
  Asks->getTerminator()->eraseFromParent();
  B.SetInsertPoint(Behind);
  PHINode *Later = B.CreatePHI(B.getInt1Ty(), 2, "overlap.later");
  Later->addIncoming(B.getTrue(), Asks);
  Later->addIncoming(B.getFalse(), Written);
  SmallVector<Value *, 6> Args(Wait.args());
  Args.push_back(Later);
  CallInst *Call = B.CreateCall(endHelper(M, *Wait.getCalledFunction()), Args);
  Call->setDebugLoc(Wait.getDebugLoc());
  Call->setDoesNotThrow();
  B.CreateBr(Next);
}

/// The communicators of `Starts`, if all are known where `Wait` is.
static SmallSetVector<Value *, 4> commsAt(const InvokeInst &Wait, ArrayRef<CallBase *> Starts,
                                          const DominatorTree &DT) {
  SmallSetVector<Value *, 4> Comms;
  for (CallBase *Start : Starts) {
    Value *Comm = Start->getArgOperand(twin(*Start)->Comm);
    if (!DT.dominates(Comm, &Wait))
      return {};
    Comms.insert(Comm);
  }
  return Comms;
}

bool askBeforeWaits(Function &F, FunctionAnalysisManager &FAM, const Options &O) {
  SmallVector<InvokeInst *, 4> Waits;
  for (Instruction &I : instructions(F))
    if (auto *Wait = dyn_cast<InvokeInst>(&I))
      if (const CallInfo *End = endOf(*Wait);
          End && !End->Tests && Wait->use_empty() && Wait->getNormalDest() != Wait->getUnwindDest())
        Waits.push_back(Wait);
  bool Changed = false;
  for (InvokeInst *Wait : Waits) {
    Effects Fx(FAM.getResult<AAManager>(F), O);
    std::optional<Started> Of = startsOf(*Wait, Fx);
    if (!Of)
      continue;
    auto Comms = commsAt(*Wait, Of->Starts, FAM.getResult<DominatorTreeAnalysis>(F));
    if (Comms.empty())
      continue;
    bool OpenMpi = Comms[0]->getType()->isPointerTy();
    ask(*Wait, Comms.getArrayRef(), {OpenMpi ? Library::OpenMpi : Library::Mpich, false});
    // What stands for a start in a list of calls stands behind it, for itself.
    for (CallBase *Start : Of->Starts)
      if (auto *Invoke = dyn_cast<InvokeInst>(Start);
          Invoke && !Invoke->getNormalDest()->getSinglePredecessor())
        SplitEdge(Invoke->getParent(), Invoke->getNormalDest());
    FAM.clear(F, F.getName());
    Changed = true;
  }
  return Changed;
}

} // namespace overlap

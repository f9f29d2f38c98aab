#include "HoldLoops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace overlap {

static constexpr StringRef Mark = "overlap.held", NoVectors = "llvm.loop.vectorize.enable",
                           NoUnrolling = "llvm.loop.unroll.disable";

/// A fresh `llvm.loop` of these properties.
static MDNode *loopOf(LLVMContext &C, ArrayRef<Metadata *> Properties) {
  SmallVector<Metadata *, 8> All{nullptr};
  All.append(Properties.begin(), Properties.end());
  MDNode *Loop = MDNode::getDistinct(C, All);
  Loop->replaceOperandWith(0, Loop);
  return Loop;
}

static StringRef nameOf(const Metadata *Property) {
  auto *Node = dyn_cast<MDNode>(Property);
  auto *Name = Node && Node->getNumOperands() ? dyn_cast<MDString>(Node->getOperand(0)) : nullptr;
  return Name ? Name->getString() : "";
}

bool holdLoops(Module &M, FunctionAnalysisManager &FAM) {
  LLVMContext &C = M.getContext();
  auto Text = [&](StringRef Name) -> Metadata * { return MDString::get(C, Name); };
  auto *False = ConstantAsMetadata::get(ConstantInt::getFalse(C));
  Metadata *Said[] = {MDNode::get(C, Text(Mark)), MDNode::get(C, {Text(NoVectors), False}),
                      MDNode::get(C, Text(NoUnrolling))};
  bool Any = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
      SmallVector<Metadata *, 8> Properties;
      if (MDNode *Known = L->getLoopID())
        Properties.append(Known->op_begin() + 1, Known->op_end());
      bool HasOwn = any_of(Properties, [](const Metadata *Property) {
        return nameOf(Property).starts_with("llvm.loop.vectorize") ||
               nameOf(Property).starts_with("llvm.loop.unroll") ||
               nameOf(Property).starts_with("llvm.loop.interleave") ||
               nameOf(Property) == "llvm.loop.parallel_accesses";
      });
      if (HasOwn)
        continue;
      Properties.append(std::begin(Said), std::end(Said));
      L->setLoopID(loopOf(C, Properties));
      Any = true;
    }
  }
  return Any;
}

bool releaseLoops(Module &M) {
  DenseMap<MDNode *, MDNode *> Released;
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      MDNode *Held = I.getMetadata(LLVMContext::MD_loop);
      if (!Held)
        continue;
      auto [It, New] = Released.try_emplace(Held, Held);
      if (New) {
        SmallVector<Metadata *, 8> Rest(Held->op_begin() + 1, Held->op_end());
        auto *At = find_if(Rest, [](const Metadata *P) { return nameOf(P) == Mark; });
        if (At != Rest.end()) {
          erase_if(Rest, [](const Metadata *P) {
            return is_contained({Mark, NoVectors, NoUnrolling}, nameOf(P));
          });
          It->second = Rest.empty() ? nullptr : loopOf(M.getContext(), Rest);
        }
      }
      if (It->second != Held)
        I.setMetadata(LLVMContext::MD_loop, It->second);
    }
  return any_of(Released, [](const auto &Pair) { return Pair.first != Pair.second; });
}

} // namespace overlap

/// \file
/// Where all paths from a block meet again before the function returns.
///
/// Needs:    a function that is not changed meanwhile.
/// Keeps:    everything; this is an analysis.
/// Costs:    the square of the number of blocks, in bits, once a function.
#ifndef OVERLAP_MEETS_H
#define OVERLAP_MEETS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/BasicBlock.h"

namespace overlap {

class Meets {
public:
  /// Blocks that all paths from `B` to a return pass. A path that ends the program does not count:
  /// the rank that takes it takes all others with it.
  const llvm::DenseSet<const llvm::BasicBlock *> &behind(const llvm::BasicBlock *B);

private:
  llvm::DenseMap<const llvm::BasicBlock *, llvm::DenseSet<const llvm::BasicBlock *>> Known;
};

} // namespace overlap
#endif

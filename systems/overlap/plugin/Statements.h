/// \file
/// A function around a call as a chain of statements, and the motion of statements.
///
/// A statement is one instruction, or a single-entry single-exit region (a loop, an if with its
/// arms, an inlined callee), which counts as one statement and moves whole:
///
///   x = a[i]            statement
///   for (...) b[j] = 0  statement, 3 blocks
///   MPI_Send(...)
///
/// Keeps:    the order of statements that depend on each other, when `reorder` is given one.
#ifndef OVERLAP_STATEMENTS_H
#define OVERLAP_STATEMENTS_H

#include "Effects.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include <vector>

namespace overlap {

/// The analyses that a search needs; valid until the next motion.
struct Analyses {
  llvm::DominatorTree &DT;
  llvm::PostDominatorTree &PDT;
  llvm::LoopInfo &LI;
  Effects &Fx;
};

struct Statement {
  llvm::Instruction *First = nullptr;               ///< Where a cut puts the block's start.
  llvm::SmallVector<llvm::Instruction *, 1> All;    ///< Every instruction in it.
  llvm::SmallVector<llvm::Instruction *, 1> Memory; ///< Those that touch memory.
  bool Region = false;
};

/// Statements in program order.
struct Chain {
  std::vector<Statement> Statements;
  llvm::Instruction *Stop = nullptr; ///< First instruction behind the chain (forward).
};

/// The statements after `From`, up to the first that may not be passed: the function's end, a
/// control dependence, or an instruction that `Effects::stops`. Calls of ours are statements.
Chain forwardChain(llvm::Instruction *From, Analyses &A);

/// The statements before `From`, up to the function's first, a control dependence, an
/// instruction that stops, or any MPI call.
Chain backwardChain(llvm::Instruction *From, Analyses &A);

/// Puts the statements of a chain into a new order: those with `Later[i] == false` first, then
/// the others; each class keeps its order. `Behind` is the first instruction after the chain.
/// Returns the first instruction of the later class. True in `ChangedCfg` if blocks were cut.
llvm::Instruction *reorder(Chain &C, const std::vector<bool> &Later, llvm::Instruction *Behind,
                           bool &ChangedCfg);

} // namespace overlap
#endif

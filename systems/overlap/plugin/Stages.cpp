#include "Stages.h"
#include "AskedWaits.h"
#include "Border.h"
#include "CleanUp.h"
#include "FillFirst.h"
#include "Frontier.h"
#include "Guard.h"
#include "Independent.h"
#include "PassLoop.h"
#include "Pipeline.h"
#include "Remarks.h"
#include "Scopes.h"
#include "Split.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "overlap"

using namespace llvm;

STATISTIC(NumSplit, "Blocking calls made a start and a wait");
STATISTIC(NumUndone, "Of these, made blocking again because too little lay between");
STATISTIC(NumMoved, "Moves of starts and waits");
STATISTIC(NumOwn, "Windows of the program's own requests that became wider");

namespace overlap {

void FunctionState::remember(Effects &Fx) {
  for (ExistingWait &Known : Existing) {
    for (Site &Head : Known.Heads)
      Fx.remember(Head.Init, Own::Init, &Known.Whole);
    for (CallInst *Wait : Known.Whole.Waits)
      Fx.remember(Wait, Own::Wait, &Known.Whole);
  }
  for (Site *Known : Pending) {
    // The callee may do more than start a message, so its call is no start.
    if (!Known->InCallee)
      Fx.remember(Known->Init, Own::Init, Known);
    for (CallInst *Wait : Known->Waits)
      Fx.remember(Wait, Own::Wait, Known);
  }
}

void FunctionState::each(Site &S, function_ref<bool(Site &, Analyses &)> Move) {
  Effects Fx(FAM.getResult<AAManager>(F), O);
  remember(Fx);
  Analyses A{FAM.getResult<DominatorTreeAnalysis>(F), FAM.getResult<PostDominatorTreeAnalysis>(F),
             FAM.getResult<LoopAnalysis>(F), Fx};
  if (Move(S, A)) {
    ++NumMoved;
    FAM.clear(F, F.getName());
  }
}

SmallVector<Site *, 8> FunctionState::all() {
  SmallVector<Site *, 8> All(Pending);
  for (ExistingWait &E : Existing)
    if (!E.Whole.Waits.empty())
      All.push_back(&E.Whole);
  return All;
}

/// Loops get a block before and exits of their own, so that they are regions; the program's own
/// requests are found.
static void find(FunctionState &S) {
  if (S.O.MovesOwn)
    askBeforeWaits(S.F, S.FAM, S.O);
  simplifyLoops(S.F, S.FAM);
  Effects Fx(S.FAM.getResult<AAManager>(S.F), S.O);
  if (S.O.MovesOwn)
    S.Existing = findExisting(S.F, S.FAM, Fx);
  outliveScopes(S.Sites, S.Existing);
  freeBehindWaits(S.Existing, Fx, S.FAM.getResult<TargetLibraryAnalysis>(S.F));
  for (ExistingWait &E : S.Existing)
    S.Before.push_back(E.Whole.Waits.empty() ? 0 : S.Weights.window(E.Whole));
}

static void splitCalls(FunctionState &S) {
  for (Site *Of : S.Sites)
    split(*Of, S.O);
  NumSplit += S.Sites.size();
  S.Opened = callOpen(S.F, S.Twins);
  S.Pending.assign(S.Sites.begin(), S.Sites.end());
  for (OpenCall &C : S.Opened)
    for (Site &Of : C.Pending)
      S.Pending.push_back(&Of);
  S.FAM.clear(S.F, S.F.getName());
}

static void hoistStarts(FunctionState &S) {
  auto Move = [&](Site &Of, Analyses &A) { return hoist(Of, S.Sites, A, S.Weights, S.O); };
  for (Site *Of : S.Sites)
    S.each(*Of, Move);
  for (ExistingWait &E : S.Existing)
    for (Site &Head : E.Heads)
      if (!Head.Written)
        S.each(Head, Move);
}

/// The last first: a wait that has sunk makes way for the one before.
static void sinkWaits(FunctionState &S) {
  auto Move = [&](Site &Of, Analyses &A) { return sink(Of, A, S.Weights, S.O); };
  for (ExistingWait &E : reverse(S.Existing))
    if (!E.Whole.Waits.empty())
      S.each(E.Whole, Move);
  for (Site *Of : reverse(S.Pending))
    S.each(*Of, Move);
}

static void startNextPass(FunctionState &S) {
  SmallVector<Site *, 8> All = S.all();
  for (Site *Of : S.Sites)
    S.each(*Of, [&](Site &It, Analyses &A) { return startAhead(It, All, A, S.Weights, S.O); });
}

static void waitOnEachPath(FunctionState &S) {
  for (Site *Of : reverse(S.Pending))
    if (!Of->StartsAhead)
      S.each(*Of, [&](Site &It, Analyses &A) { return frontier(It, A); });
}

static void splitInterior(FunctionState &S) {
  SmallVector<Site *, 8> All = S.all();
  splitLoops(S.F, All, S.FAM, S.Weights, S.O, [&](Effects &Fx) { S.remember(Fx); });
}

/// The program's own requests are told of: their windows are wider now, or not.
static void weighOwn(FunctionState &S) {
  S.FirstExisting = S.Widened.size();
  for (auto [E, Before] : zip(S.Existing, S.Before)) {
    Site &Of = E.Whole;
    if (!Of.Waits.empty())
      S.each(Of, [&](Site &It, Analyses &A) {
        It.Beyond = independentBehind(It, A.Fx, S.Weights, A.LI, A.PDT);
        return false;
      });
    if (!Of.Refused) {
      Of.Weight = S.Weights.window(Of);
      if (Of.Weight < S.O.MinWeight || Of.Weight <= Before)
        Of.Refused = Of.LoopRefused.value_or(Of.Weight < S.O.MinWeight ? Refusal::SmallWindow
                                                                       : Refusal::AlreadyWide);
      else
        ++NumOwn;
    }
    putFreesBack(E);
    S.Widened.push_back(Of);
  }
}

static void guard(FunctionState &S) {
  for (Site *Of : S.Sites)
    S.each(*Of, [&](Site &It, Analyses &A) {
      if (It.Detail.empty())
        It.Detail = stoppedBy(It, A.Fx);
      It.Beyond = independentBehind(It, A.Fx, S.Weights, A.LI, A.PDT);
      return false;
    });
  Effects Fx(S.FAM.getResult<AAManager>(S.F), S.O);
  S.remember(Fx);
  guardStarts(S.Pending, Fx);
}

static void openTwins(FunctionState &S) { openAtReturn(S.F, S.Pending, S.Twins); }

/// Calls between whose start and wait too little lies block again.
static void undoSmall(FunctionState &S) {
  for (Site *Of : S.Sites) {
    Of->Weight = S.Weights.window(*Of);
    if (Of->Weight < S.O.MinWeight && !Of->StartsAhead) {
      ++NumUndone;
      undo(*Of);
      Of->Refused = Of->LoopRefused.value_or(Refusal::SmallWindow);
    }
  }
  for (OpenCall &C : S.Opened) {
    uint64_t Weight = 0;
    for (Site &Of : C.Pending) {
      Of.Weight = S.Weights.window(Of);
      Weight = std::max(Weight, Of.Weight);
    }
    if (Weight < S.O.MinWeight)
      closeCall(C);
    else
      S.Widened.insert(S.Widened.end(), C.Pending.begin(), C.Pending.end());
  }
  // Calls were replaced since the last look.
  S.FAM.clear(S.F, S.F.getName());
}

/// What nothing else hides. It comes before the polls: loops that poll would be in strips.
static void fill(FunctionState &S) {
  fillFirst(S.F, S.FAM, S.Sites, MutableArrayRef(S.Widened).drop_front(S.FirstExisting), S.O);
}

static void poll(FunctionState &S) {
  Polls Keeping(S.FAM, S.Weights, S.O, S.Copies);
  for (Site *Of : S.Pending)
    if (Of->converted()) {
      Keeping.insert(*Of);
      S.FAM.clear(S.F, S.F.getName());
    }
  for (auto [Idx, E] : enumerate(S.Existing)) {
    Effects Fx(S.FAM.getResult<AAManager>(S.F), S.O);
    Keeping.insert(E, Fx);
    S.Widened[S.FirstExisting + Idx].Polls = E.Whole.Polls;
    S.FAM.clear(S.F, S.F.getName());
  }
}

namespace {
struct Stage {
  const char *Name;
  void (*Run)(FunctionState &);
  Strength From = Strength::Basic;
  bool Needed = false; ///< Without it the result would be wrong.
};
} // namespace

static const Stage Stages[] = {
    {"find", find, Strength::Basic, true},
    {"split", splitCalls, Strength::Basic, true},
    {"hoist", hoistStarts},
    {"sink", sinkWaits},
    {"start-ahead", startNextPass, Strength::Frontier},
    {"frontier", waitOnEachPath, Strength::Frontier},
    {"border", splitInterior, Strength::Frontier},
    {"weigh", weighOwn, Strength::Basic, true},
    {"guard", guard, Strength::Basic, true},
    {"open", openTwins, Strength::Extended},
    {"undo", undoSmall, Strength::Basic, true},
    {"fill-first", fill, Strength::Frontier},
    {"poll", poll},
};

bool isStage(StringRef Name) {
  return any_of(Stages, [&](const Stage &It) { return !It.Needed && Name == It.Name; });
}

void runStages(FunctionState &State) {
  SmallVector<StringRef, 8> Wanted;
  StringRef(State.O.Stages).split(Wanted, '+', -1, false);
  for (const Stage &It : Stages) {
    if (State.O.Widen < It.From || !(It.Needed || Wanted.empty() || is_contained(Wanted, It.Name)))
      continue;
    It.Run(State);
    LLVM_DEBUG(dbgs() << "; behind " << It.Name << "\n" << State.F);
    assert(!verifyFunction(State.F, &errs()) && "a stage left a function that is none");
  }
}

} // namespace overlap

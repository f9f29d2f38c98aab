#include "Remarks.h"
#include "Versions.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"

using namespace llvm;

namespace overlap {

std::string stoppedBy(const Site &S, Effects &Fx) {
  const Instruction *I = nextOf(S.Waits.back());
  // Several waits at one place: what stopped the first also stops the others.
  while (I && Fx.own(*I) == Own::Wait && !Fx.touches(*I, S))
    I = nextOf(I);
  if (!I)
    return "";
  std::string At;
  if (DILocation *Loc = I->getDebugLoc().get())
    At = " on line " + std::to_string(Loc->getLine());
  auto *Call = dyn_cast<CallBase>(I);
  if (Fx.own(*I) == Own::Init)
    return "the start of " + Fx.siteOf(*I)->mpiName() + At + " must come after it";
  if (Fx.touches(*I, S))
    return "its buffer may be used" + At;
  if (Call && Fx.stops(*I))
    return "a call" +
           (Call->getCalledFunction() ? " of " + Call->getCalledFunction()->getName().str() : "") +
           At + " could do anything";
  if (isa<ReturnInst>(I))
    return "the function ends" + At;
  if (I->isTerminator())
    return "the control flow divides or loops" + At;
  return "an access" + At + " must not be passed";
}

/// What could be moved by hand.
static std::string saysBeyond(const Site &S, const Options &O) {
  return S.Beyond < std::max<uint64_t>(O.MinWeight, 50)
             ? ""
             : "; " + std::to_string(S.Beyond) +
                   " weighted instructions behind it do not need the message either";
}

/// What would show the rest of the program. At link time it has been asked for already.
static StringRef saysRemedy(Refusal Why, const Options &O) {
  bool WantsMore = Why == Refusal::MayThrow;
  return WantsMore && !O.AtLink
             ? "; compile with -flto, which shows the program's other files, or, if none of its "
               "error handlers throws, with -X handlers=never-throw"
             : "";
}

void remark(const Site &S, const Options &O) {
  OptimizationRemarkEmitter ORE(S.Caller);
  const BasicBlock *Block = &S.Caller->getEntryBlock();
  auto Common = [&](auto R) {
    R << ore::NV("Call", S.mpiName());
    return R;
  };
  if (S.Refused) {
    ORE.emit([&] {
      auto R = Common(OptimizationRemarkMissed("overlap", name(*S.Refused), S.Loc, Block));
      R << (S.Existing ? " stays where it is: " : " stays blocking: ")
        << ore::NV("Reason", name(*S.Refused)) << ": " << describe(*S.Refused);
      if (!S.Detail.empty())
        R << "; " << ore::NV("Detail", S.Detail);
      R << saysRemedy(*S.Refused, O);
      R << saysBeyond(S, O);
      if (S.Polls)
        R << "; its window has " << ore::NV("Polls", S.Polls) << " polls";
      R << ore::setExtraArgs() << ore::NV("Strength", name(O.Widen)) << ore::NV("Weight", S.Weight)
        << ore::NV("Beyond", S.Beyond);
      return R;
    });
    return;
  }
  ORE.emit([&] {
    auto R = Common(OptimizationRemark(
        "overlap", S.Existing || S.InCallee ? "Widened" : "Converted", S.Loc, Block));
    R << (S.Existing || S.InCallee ? " widened with " : " made nonblocking with ")
      << ore::NV("Strength", name(O.Widen)) << ": a window of " << ore::NV("Weight", S.Weight)
      << " weighted instructions, " << ore::NV("Waits", static_cast<unsigned>(S.Waits.size()))
      << " waits, " << ore::NV("Polls", S.Polls) << " polls";
    if (S.InCallee)
      R << ", through " << ore::NV("Through", S.Through);
    if (S.LoopsSplit)
      R << ", " << ore::NV("Loops", S.LoopsSplit) << " loops split into interior and border";
    if (S.StartsAhead)
      R << ", " << ore::NV("Ahead", "started one pass of the loop ahead");
    if (S.LoopRefused)
      R << "; the loop on line " << ore::NV("LoopLine", S.LoopLine)
        << " stays as it is: " << ore::NV("LoopReason", name(*S.LoopRefused)) << ": "
        << describe(*S.LoopRefused);
    R << saysBeyond(S, O) << ore::setExtraArgs() << ore::NV("Beyond", S.Beyond);
    return R;
  });
}

} // namespace overlap

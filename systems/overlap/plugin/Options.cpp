#include "Options.h"
#include "Stages.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include <optional>

using namespace llvm;

namespace overlap {

StringRef name(Strength S) {
  switch (S) {
  case Strength::Basic:
    return "basic";
  case Strength::Extended:
    return "extended";
  case Strength::Frontier:
    return "frontier";
  }
  llvm_unreachable("all strengths are named");
}

template <typename T> static bool take(std::optional<T> Value, T &Into) {
  if (Value)
    Into = *Value;
  return Value.has_value();
}

static bool setOne(Options &O, StringRef Key, StringRef Value) {
  if (Key == "strength")
    return take(StringSwitch<std::optional<Strength>>(Value)
                    .Case("basic", Strength::Basic)
                    .Case("extended", Strength::Extended)
                    .Case("frontier", Strength::Frontier)
                    .Default(std::nullopt),
                O.Widen);
  if (Key == "convert")
    return take(StringSwitch<std::optional<Conversion>>(Value)
                    .Case("auto", Conversion::Auto)
                    .Case("none", Conversion::None)
                    .Default(std::nullopt),
                O.Calls);
  if (Key == "progress")
    return take(StringSwitch<std::optional<Progress>>(Value)
                    .Case("off", Progress::Off)
                    .Case("on", Progress::On)
                    .Case("auto", Progress::Auto)
                    .Default(std::nullopt),
                O.Poll);
  if (Key == "collectives")
    return take(StringSwitch<std::optional<Collectives>>(Value)
                    .Case("off", Collectives::Off)
                    .Case("safe", Collectives::Safe)
                    .Default(std::nullopt),
                O.Convert);
  if (Key == "handlers")
    return take(StringSwitch<std::optional<bool>>(Value)
                    .Case("any", false)
                    .Case("never-throw", true)
                    .Default(std::nullopt),
                O.NeverThrow);
  if (Key == "wildcards")
    return take(StringSwitch<std::optional<Wildcards>>(Value)
                    .Case("auto", Wildcards::Auto)
                    .Case("maybe", Wildcards::Maybe)
                    .Case("none", Wildcards::None)
                    .Default(std::nullopt),
                O.Sources);
  if (Key == "lines")
    return take(StringSwitch<std::optional<bool>>(Value)
                    .Case("keep", false)
                    .Case("drop", true)
                    .Default(std::nullopt),
                O.DropLines);
  if (Key == "loops")
    return take(StringSwitch<std::optional<bool>>(Value)
                    .Case("hold", false)
                    .Case("keep", true)
                    .Default(std::nullopt),
                O.KeepLoops);
  if (Key == "stages") {
    SmallVector<StringRef, 8> Names;
    Value.split(Names, '+');
    O.Stages = Value.str();
    return all_of(Names, isStage);
  }
  if (Key == "profile") {
    O.Profile = Value.str();
    return !Value.empty();
  }
  if (Key == "min-bytes") {
    // The program compares it with numbers that have a sign.
    bool Read = !Value.getAsInteger(10, O.MinBytes);
    O.MinBytes = std::min<uint64_t>(O.MinBytes, INT64_MAX);
    O.OwnMinBytes = Read;
    return Read;
  }
  if (Key == "min-weight")
    return !Value.getAsInteger(10, O.MinWeight);
  if (Key == "poll-us")
    return !Value.getAsInteger(10, O.PollUs);
  return false;
}

Options Options::parse(StringRef Text, std::string &Error) {
  Options O;
  SmallVector<StringRef, 8> Pairs;
  SmallVector<StringRef, 8> Halves;
  Text.split(Halves, ';', -1, false);
  for (StringRef Half : Halves)
    Half.split(Pairs, ',', -1, false);
  for (StringRef Pair : Pairs) {
    auto [Key, Value] = Pair.trim().split('=');
    if (!setOne(O, Key, Value))
      Error += (Error.empty() ? "" : ", ") + Pair.trim().str();
  }
  return O;
}

} // namespace overlap

/// \file
/// What the user chose: from the environment variable MEANWHILE_OVERLAP, since lld rejects
/// options of plugins, and for `opt` from `-passes='overlap<...>'`.
#ifndef OVERLAP_OPTIONS_H
#define OVERLAP_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace overlap {

/// How far a window is widened.
enum class Strength {
  Basic,    ///< To the nearest dependent statement.
  Extended, ///< Slices move along to the insertion point of Algorithm 1.
  Frontier, ///< Extended, then a wait at the first use on each path.
};

/// Whether calls are changed.
enum class Conversion {
  Auto, ///< Blocking calls become nonblocking ones, windows are widened, and polls stand in them.
  None, ///< No call is changed; polls keep the program's own messages moving.
};
enum class Progress { Off, On, Auto };
enum class Collectives { Off, Safe };
enum class Wildcards { Auto, Maybe, None };

struct Options {
  Strength Widen = Strength::Frontier;
  Conversion Calls = Conversion::Auto;
  Progress Poll = Progress::Auto;
  Collectives Convert = Collectives::Safe;
  uint64_t MinBytes = 131072; ///< Smaller payloads stay blocking.
  bool OwnMinBytes = false;   ///< The user says so, for collectives of all kinds, too.
  uint64_t MinWeight = 50;    ///< Smaller windows stay blocking, in weighted instructions.
  unsigned PollUs = 100;      ///< At most one poll in this time, in microseconds.
  Wildcards Sources = Wildcards::Auto;
  std::string Stages;     ///< With `+` between; empty for all. For tests of one.
  std::string Profile;    ///< A file that says which calls waited; empty for none.
  bool KeepLoops = false; ///< Of fat objects code is made before the link, too.
  bool DropLines = false; ///< Line numbers are there for our remarks only, and go with them.
  bool AtLink = false;    ///< The files of a program compiled with -flto are here, and there are no
                          ///< more to come.
  bool NeverThrow = false; ///< The user says that no error handler throws.
  bool NoThrow =
      false; ///< None does: the user says so, or the whole program is seen, and sets none.
  bool MovesOwn = true; ///< The program's own nonblocking calls may move, which do not ask about
                        ///< handlers and levels of threads.
  bool NoWildcards = false; ///< No receive from any source, no probe: the user says so, or the
                            ///< whole program shows it.

  /// The defaults changed by `key=value` pairs with commas or semicolons between them. An
  /// unknown key or value is written to `Error`, and the rest still holds.
  static Options parse(llvm::StringRef Text, std::string &Error);
};

llvm::StringRef name(Strength S);

} // namespace overlap
#endif

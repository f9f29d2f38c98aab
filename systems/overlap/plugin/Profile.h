/// \file
/// What a run of the program has measured (`meanwhile overlap trace --profile`): which calls
/// waited, and which never did.
///
/// Needs:    line numbers, as the driver asks for them; without one a call is decided as if there
/// were no profile. Keeps:    everything: it only decides which calls are looked at.
#ifndef OVERLAP_PROFILE_H
#define OVERLAP_PROFILE_H

#include "Classify.h"
#include <memory>

namespace overlap {

class Profile {
public:
  /// The profile in this file; null, and said once, if it is none.
  static const Profile *read(llvm::StringRef Path);

  /// Why `S` stays as it is, by what was measured; `S.Pays` and `S.Us` are set if it waited.
  std::optional<Refusal> decide(Site &S) const;

private:
  struct Call {
    std::string Name, File;
    unsigned Line;
    double Us; ///< Waited by one execution on the rank that waited longest, in microseconds.
  };
  std::vector<Call> Calls;
  std::string Program;
};

} // namespace overlap
#endif

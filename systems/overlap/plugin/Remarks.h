/// \file
/// One optimisation remark for each call: `-Rpass=overlap` shows what was converted,
/// `-Rpass-missed=overlap` why not, `-fsave-optimization-record` writes both.
#ifndef OVERLAP_REMARKS_H
#define OVERLAP_REMARKS_H

#include "Effects.h"
#include <string>

namespace overlap {

/// What stands right behind the last wait and stopped it, as a sentence with its line.
std::string stoppedBy(const Site &S, Effects &Fx);

void remark(const Site &S, const Options &O);

} // namespace overlap
#endif

#include "Profile.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace overlap {

/// A start and a wait cost about as much, in microseconds.
static constexpr double PaysUs = 5;

const Profile *Profile::read(StringRef Path) {
  // One compilation reads one.
  static std::optional<std::unique_ptr<Profile>> Known;
  if (Known)
    return Known->get();
  Known.emplace();
  auto Text = MemoryBuffer::getFile(Path);
  auto Read = Text ? json::parse((*Text)->getBuffer())
                   : Expected<json::Value>(errorCodeToError(Text.getError()));
  const json::Object *Object = Read ? Read->getAsObject() : nullptr;
  const json::Array *Sites =
      Object && Object->getInteger("overlap_profile") == 1 ? Object->getArray("sites") : nullptr;
  if (!Sites) {
    errs() << "warning: overlap: `" << Path
           << "` is no profile of `meanwhile overlap trace --profile`, and is left out";
    if (!Read)
      errs() << ": " << toString(Read.takeError());
    errs() << "\n";
    return nullptr;
  }
  *Known = std::make_unique<Profile>();
  (*Known)->Program = Object->getString("program").value_or("").str();
  for (const json::Value &Each : *Sites)
    if (const json::Object *Site = Each.getAsObject())
      (*Known)->Calls.push_back({Site->getString("call").value_or("").str(),
                                 Site->getString("file").value_or("").str(),
                                 static_cast<unsigned>(Site->getInteger("line").value_or(0)),
                                 Site->getNumber("us").value_or(0)});
  return Known->get();
}

/// True if one path ends with the other: debug information names a file by a longer path than the
/// compiler was given.
static bool sameFile(StringRef A, StringRef B) {
  StringRef Long = A.size() < B.size() ? B : A, Short = A.size() < B.size() ? A : B;
  Short.consume_front("./");
  return Long.ends_with(Short) && (Long.size() == Short.size() ||
                                   sys::path::is_separator(Long[Long.size() - Short.size() - 1]));
}

std::optional<Refusal> Profile::decide(Site &S) const {
  const DILocation *Loc = S.Loc.get();
  if (!Loc || Loc->getLine() == 0)
    return std::nullopt;
  bool Ran = false;
  double Us = 0;
  for (const Call &Each : Calls) {
    if (Each.Name != S.mpiName())
      continue;
    // Which of them it was is not known.
    if (Each.Line == 0)
      return std::nullopt;
    if (Each.Line == Loc->getLine() && sameFile(Each.File, Loc->getFilename())) {
      Ran = true;
      Us = std::max(Us, Each.Us);
    }
  }
  if (Us >= PaysUs) {
    S.Pays = true;
    S.Us = Us;
    return std::nullopt;
  }
  S.Detail = "the profile is of " + Program;
  return Ran ? Refusal::NeverPays : Refusal::NeverRan;
}

} // namespace overlap

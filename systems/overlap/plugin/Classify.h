/// \file
/// Finds the blocking MPI calls of a module, and says what each reads, writes and needs.
///
/// Needs:    direct calls by MPI name, C or Fortran binding, OpenMPI or MPICH.
/// Keeps:    everything; this is an analysis.
#ifndef OVERLAP_CLASSIFY_H
#define OVERLAP_CLASSIFY_H

#include "Calls.h"
#include "Options.h"
#include "runtime/handles.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"
#include <optional>

namespace overlap {

/// Why a call was left alone.
enum class Refusal {
#define REFUSAL(Name, Sentence) Name,
#include "Refusals.def"
};
llvm::StringRef name(Refusal Why);
llvm::StringRef describe(Refusal Why);

enum class Library { OpenMpi, Mpich };

/// How handles look in this module.
struct Binding {
  Library Mpi;
  bool Fortran;

  bool pointerHandles() const { return !Fortran && Mpi == Library::OpenMpi; }
  llvm::Type *handleType(llvm::LLVMContext &C) const;
  /// MPI_REQUEST_NULL as a value of handleType.
  llvm::Constant *nullRequest(llvm::Module &M) const;
  /// A communicator on which MPI_Iprobe moves messages, as a value of handleType: MPI_COMM_SELF,
  /// but for MPICH, which does nothing then, MPI_COMM_WORLD.
  llvm::Constant *probed(llvm::Module &M) const;
  int anySource() const { return Mpi == Library::Mpich ? MPICH_ANY_SOURCE : OPENMPI_ANY_SOURCE; }
  /// MPI_STATUS_IGNORE.
  llvm::Constant *ignoreStatus(llvm::Module &M) const;
};

/// A call that is noted while others rewrite the function: it follows what takes its place, and is
/// null when it is gone.
class TrackedCall {
public:
  TrackedCall(llvm::CallInst *Call = nullptr) : Now(Call) {}
  operator llvm::CallInst *() const {
    return llvm::cast_or_null<llvm::CallInst>(static_cast<llvm::Value *>(Now));
  }
  llvm::CallInst *operator->() const { return *this; }

private:
  llvm::WeakTrackingVH Now;
};

/// Memory that the pending call reads or writes. The values are tracked: a call may be replaced, a
/// phi folded.
struct Access {
  llvm::WeakTrackingVH Ptr = nullptr;
  llvm::LocationSize Size = llvm::LocationSize::beforeOrAfterPointer();
  bool Write = false;
  llvm::WeakTrackingVH Count =
      nullptr; ///< Elements, if they say how long it is; in Fortran a place until the split.
  uint64_t ElementBytes = 0;
  bool AtStart = false; ///< Used by the start alone, as counts, handles and codes of Fortran are.
  bool OtherCount =
      false; ///< The same memory with the count of the next pass, where a start is one pass ahead.

  llvm::MemoryLocation location() const { return llvm::MemoryLocation(Ptr, Size); }
};

/// A call as it stands in the program, and what it needs.
struct MessageCall {
  llvm::CallBase *Call = nullptr; ///< The blocking call, until it is split.
  const CallInfo *Info = nullptr;
  Binding Bind{Library::OpenMpi, false};
  llvm::Function *Caller = nullptr;
  llvm::DebugLoc Loc;
  llvm::SmallVector<Access, 4> Accesses;
  llvm::WeakTrackingVH Comm;
  bool Existing = false; ///< The program's own nonblocking call.
  bool Derived = false; ///< With a datatype of the program's own, whose size is known when it runs.
  bool Pays = false;    ///< A run has shown that it waits, whatever the length of its message.
  double Us = 0; ///< What one execution took in that run, in microseconds; 0 if none was measured.
  bool AsksType = false;  ///< With a datatype in a variable: only the program that runs knows if it
                          ///< is one of MPI's own.
  bool MayThrow = false;  ///< Out of an error handler, to what catches or destroys something.
  bool AlsoSends = false; ///< A group with a send in it, whatever else it waits for.

  std::string mpiName() const { return std::string("MPI_") + Info->Name; }
};

/// The same once it is split: where its message starts, and where it is waited for.
struct PendingMessage {
  TrackedCall Init;
  llvm::SmallVector<llvm::CallInst *, 2> Waits;
  llvm::AllocaInst *State = nullptr;
  bool InCallee = false;        ///< `Init` calls a function that leaves the message pending.
  std::string Through;          ///< The function that starts it, if `InCallee`.
  llvm::WeakTrackingVH Written; ///< The call as the program has it, where it may throw: it is made
                                ///< where `Init` was answered that it might.
  bool StartsAhead = false;     ///< The start is that of the next pass of its loop.
  bool WithinPass = false; ///< Of the program's own: the pass of a loop that starts it ends it.
};

/// What has become of it, for the remark.
struct Outcome {
  std::optional<Refusal> Refused;
  std::string Detail;  ///< What stopped it.
  uint64_t Weight = 0; ///< Work in the window, in weighted instructions.
  uint64_t Beyond = 0; ///< Work behind it that does not need the message either.
  unsigned Polls = 0;
  std::optional<Refusal> LoopRefused; ///< Why the loop behind the wait was not split.
  unsigned LoopLine = 0;
  unsigned LoopsSplit = 0;
  bool FilledFirst =
      false; ///< Its message is under way while the rest of the loop runs that fills it.
};

/// One call on its way from blocking to nonblocking.
struct Site : MessageCall, PendingMessage, Outcome {
  bool converted() const { return Init && !Refused; }
};

/// Which library's header a Fortran module was compiled with; C is told by types.
std::optional<Library> fortranLibrary(const llvm::Module &M);

/// All blocking calls of the module, in order. Calls that can be refused without knowing the
/// program around them are refused.
std::vector<Site> classify(llvm::Module &M, const Options &O);

/// The same of one function; what makes all calls of the module unsafe is not asked.
std::vector<Site> classify(llvm::Function &F, const Options &O);

/// Fills in what the call of `S` touches, or says why that is not known. With `MayAsk`, a datatype
/// in a variable is taken for one of MPI's own, and `AsksType` is set: the start has to ask, and
/// block if it is another one.
std::optional<Refusal> findAccesses(MessageCall &S, bool MayAsk = false);

/// True for an address that MPI gave a meaning, such as that of MPI_STATUSES_IGNORE: it is no
/// memory.
bool isSentinel(const Binding &B, const llvm::Value *V, const llvm::DataLayout &DL);

/// True for a constant operation of MPI.
bool isBuiltInOperation(const Binding &B, llvm::Value *Op);

/// The arguments that hold the datatypes a start has to ask about, where it `AsksType`. Of a call
/// that every rank makes only the one that is the same on all of them counts, and is always read.
llvm::SmallVector<int, 2> askedTypes(const CallInfo &Info);

/// Bytes of one element of a constant datatype; none if it is no constant of MPI.
std::optional<uint64_t> datatypeSize(const Binding &B, llvm::Value *Type);

/// The constant behind an argument that Fortran passes by reference.
llvm::Value *byReference(const Binding &B, llvm::Value *Arg);

/// What makes moving a message unsafe wherever in the program it is, such as MPI_THREAD_MULTIPLE,
/// and the function that says so.
struct Hazard {
  Refusal Why;
  const llvm::Function *By;
};
std::optional<Hazard> moduleHazard(const llvm::Module &M);

/// True if only the running program knows which level of threads it asks for. A start asks then;
/// what moves without asking stays.
bool isLevelUnknown(const llvm::Module &M);

} // namespace overlap
#endif

#include "System.h"
#include "Classify.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <dlfcn.h>

using namespace llvm;

namespace overlap {

// Tables, as dense as text.
// clang-format off

/// Functions of ISO C that LLVM has no name for. Source: C11, annex B.
static bool isOfC(StringRef Name) {
  static const StringSet<> Names = {
      "_Exit", "abort", "asctime", "at_quick_exit", "bsearch", "btowc", "c16rtomb", "c32rtomb", "clock", "ctime", "difftime", "div",
      "exit", "feclearexcept", "fegetenv", "fegetexceptflag", "fegetround", "feholdexcept", "feraiseexcept", "fesetenv",
      "fesetexceptflag", "fesetround", "fetestexcept", "feupdateenv", "fgetwc", "fgetws", "fputwc", "fputws", "freopen", "fwide",
      "fwprintf", "fwscanf", "getwc", "getwchar", "gmtime", "imaxabs", "imaxdiv", "isalnum", "isalpha", "isblank", "iscntrl",
      "isgraph", "islower", "isprint", "ispunct", "isspace", "isupper", "iswalnum", "iswalpha", "iswblank", "iswcntrl", "iswctype",
      "iswdigit", "iswgraph", "iswlower", "iswprint", "iswpunct", "iswspace", "iswupper", "iswxdigit", "isxdigit", "ldiv", "lldiv",
      "localeconv", "localtime", "mblen", "mbrlen", "mbrtoc16", "mbrtoc32", "mbrtowc", "mbsinit", "mbsrtowcs", "mbstowcs", "mbtowc",
      "putwc", "putwchar", "quick_exit", "raise", "rand", "setlocale", "signal", "srand", "strerror", "strftime", "strtoimax",
      "strtoumax", "swprintf", "swscanf", "time", "timespec_get", "tmpnam", "tolower", "toupper", "towctrans", "towlower", "towupper",
      "ungetwc", "vfwprintf", "vfwscanf", "vswprintf", "vswscanf", "vwprintf", "vwscanf", "wcrtomb", "wcscat", "wcschr", "wcscmp",
      "wcscoll", "wcscpy", "wcscspn", "wcsftime", "wcsncat", "wcsncmp", "wcsncpy", "wcspbrk", "wcsrchr", "wcsrtombs", "wcsspn",
      "wcsstr", "wcstod", "wcstof", "wcstoimax", "wcstok", "wcstol", "wcstold", "wcstoll", "wcstombs", "wcstoul", "wcstoull",
      "wcstoumax", "wcsxfrm", "wctob", "wctomb", "wctrans", "wctype", "wmemchr", "wmemcmp", "wmemcpy", "wmemmove", "wmemset",
      "wprintf", "wscanf"};
  // Each for double, float and long double.
  static const StringSet<> OfNumbers = {
      "cacos", "cacosh", "carg", "casin", "casinh", "catan", "catanh", "ccos", "ccosh", "cexp", "cimag", "clog", "conj", "cpow",
      "cproj", "creal", "csin", "csinh", "csqrt", "ctan", "ctanh", "erfc", "fdim", "fma", "hypot", "ilogb", "lgamma", "llrint",
      "llround", "lrint", "lround", "nan", "nextafter", "nexttoward", "scalbln", "scalbn", "tgamma"};
  return Names.contains(Name) || OfNumbers.contains(Name) || ((Name.consume_back("f") || Name.consume_back("l")) && OfNumbers.contains(Name));
}

/// True if a library of this system defines `F`, whose name is reserved for such. The compiler that
/// runs this has been linked with those libraries; for another machine nothing is known.
static bool isOfSystemLibrary(const Function &F) {
  StringRef Name = F.getName();
  bool Reserved = Name.starts_with("__") || (Name.size() > 1 && Name[0] == '_' && isUpper(Name[1]));
  if (!Reserved)
    return false;
  static const Triple Here(sys::getProcessTriple());
  Triple Target(F.getParent()->getTargetTriple());
  if (Target.getArch() != Here.getArch() || Target.getOS() != Here.getOS())
    return false;
  void *At = dlsym(RTLD_DEFAULT, Name.str().c_str());
  Dl_info Of;
  if (!At || !dladdr(At, &Of) || !Of.dli_fname)
    return false;
  StringRef File = StringRef(Of.dli_fname).rsplit('/').second;
  return any_of(std::initializer_list<StringRef>{"libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "libc++.so", "libc++abi.so"},
                [&](StringRef Library) { return File.starts_with(Library); });
}

bool isSystem(const Function &F, const TargetLibraryInfo &TLI) {
  StringRef Name = F.getName();
  LibFunc Known;
  // `mpi_take` is a function of the user's; Fortran's bindings end with an underscore.
  bool OfMpi = isMpiName(Name) && (isUpper(Name[0]) || Name.ends_with("_"));
  if (F.isIntrinsic() || OfMpi || TLI.getLibFunc(Name, Known) || isOfC(Name))
    return true;
  for (StringRef Prefix : {"_ZNSt", "_ZNKSt", "_ZSt", "_ZNSo", "_ZNSi", "_ZNSs", "_ZNKSs", "_ZNSa", "_Znw", "_Zna", "_Zdl",
                           "_Zda", "_ZTv", "__cxa_", "__gxx_", "_Unwind_", "_Fortran", "_gfortran_", "omp_", "__kmpc_", "__overlap_",
                           "overlap.", "__clang_call_terminate", "__asan_", "__ubsan_", "pthread_mutex_"})
    if (Name.starts_with(Prefix))
      return true;
  static const StringSet<> Names = {
      "asctime_r", "asprintf", "__assert_fail", "clock_gettime", "ctime_r", "__ctype_b_loc", "drand48", "erand48", "__errno_location",
      "_exit", "fedisableexcept", "feenableexcept", "getcwd", "gethostname", "getline", "getopt", "getopt_long", "getopt_long_only",
      "getpagesize", "getpid", "getppid", "getrusage", "gmtime_r", "isatty", "__isoc99_fscanf", "__isoc99_scanf", "__isoc99_sscanf",
      "__libc_start_main", "localtime_r", "longjmp", "lrand48", "mkstemp", "nanosleep", "pthread_self", "_QQEnvironmentDefaults",
      "random", "sched_getaffinity", "sched_getcpu", "sched_yield", "_setjmp", "sleep", "srand48", "srandom", "__stack_chk_fail",
      "sysconf", "usleep"};
  // Functions of other Fortran compilers that flang's library has under their own names. Source:
  // LLVM 19, flang/runtime/extensions.cpp.
  static const StringSet<> OfFlang = {"access_", "fdate_", "flush_", "getarg_", "getlog_", "iargc_"};
  // Last: it takes longest.
  return Names.contains(Name) || OfFlang.contains(Name) || isOfSystemLibrary(F);
}
// clang-format on

bool isSystem(const GlobalVariable &G) {
  static const StringSet<> Names = {"stdin",     "stdout", "stderr",      "environ",
                                    "__environ", "optarg", "__dso_handle"};
  for (StringRef Prefix :
       {"ompi_", "mpi_fortran_", "mpipriv", "MPI_", "MPIR_", "__overlap_", "_ZSt", "_ZNSt", "_ZTI",
        "_ZTS", "_ZTVN10__cxxabiv1", "_ZTVSt", "_ZTVNSt", "_ZTTSt", "_ZTTNSt", "_Fortran"})
    if (G.getName().starts_with(Prefix))
      return true;
  return Names.contains(G.getName());
}

} // namespace overlap

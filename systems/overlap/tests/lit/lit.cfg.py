# One behaviour a file. The driver (tests/lit.rs) names the plugin and the compilers' programs.
import os
import lit.formats

config.name = "overlap"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".cpp", ".ll"]
config.excludes = ["inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.environ["OVERLAP_SCRATCH"]
plugin = os.environ["OVERLAP_PLUGIN"]
llvm = os.environ["OVERLAP_LLVM"]
# A command that the compilers run under, such as valgrind.
under = os.environ.get("OVERLAP_UNDER", "").replace("%", "%%")
inputs = os.path.join(config.test_source_root, "inputs")
# Every payload and every window counts here.
config.environment["MEANWHILE_OVERLAP"] = "min-bytes=0,min-weight=1,progress=off"
flags = "-I%s -fpass-plugin=%s -Rpass=overlap -Rpass-missed=overlap -S -emit-llvm -o - 2>&1" % (inputs, plugin)
# `-fno-inline` keeps functions of a test apart where it says so.
for name, define in (("openmpi", "-DOPENMPI"), ("mpich", "-DMPICH")):
    config.substitutions.append(("%%%s\\+\\+" % name, "%s clang++-%s -O1 %s %s" % (under, llvm, define, flags)))
    config.substitutions.append(("%%%s" % name, "%s clang-%s -O1 %s %s" % (under, llvm, define, flags)))
config.substitutions.append(("%opt", "%s opt-%s -load-pass-plugin=%s -S" % (under, llvm, plugin)))
config.substitutions.append(("FileCheck", "FileCheck-%s" % llvm))
config.substitutions.append(("%set", "env MEANWHILE_OVERLAP=min-bytes=0,min-weight=1,progress=off"))

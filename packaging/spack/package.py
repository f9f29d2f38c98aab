# Spack recipe of the overlap plugin: link this folder from a repository of yours, so that it finds the
# clone that it lies in: `ln -s CLONE/packaging/spack REPOSITORY/packages/meanwhile-overlap`.
from pathlib import Path

from spack.package import *


class MeanwhileOverlap(CMakePackage):
    """A plugin for LLVM 19 and 22 that makes blocking MPI calls nonblocking where that is safe, with wide
    windows and progress. For `clang -fpass-plugin=` and `ld.lld --load-pass-plugin=`."""

    git = Path(__file__).resolve().parents[2].as_uri()

    license("MIT OR Apache-2.0")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("ninja", type="build")
    # The plugin and the compiler that loads it are of one LLVM.
    variant("llvm", default="19", values=("19", "22"), multi=False, description="The version of LLVM")
    for number in ("19", "22"):
        depends_on(f"llvm@{number} +clang +lld", when=f"llvm={number}")

    root_cmakelists_dir = "systems/overlap/plugin"
    generator("ninja")

    def cmake_args(self):
        number = self.spec.variants["llvm"].value
        return [self.define("OVERLAP_LLVM", number), self.define("LLVM_DIR", self.spec["llvm"].prefix.lib.cmake.llvm)]

    def setup_run_environment(self, env):
        env.set("MEANWHILE_OVERLAP_PLUGIN", self.prefix.lib.join("overlap.so"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_loads(self):
        """The plugin loads into the opt of its LLVM."""
        opt = Executable(self.spec["llvm"].prefix.bin.opt)
        source = join_path(self.stage.path, "empty.ll")
        touch(source)
        opt("-load-pass-plugin=" + self.prefix.lib.join("overlap.so"), "-passes=overlap", "-S", "-o", "-", source, output=str)

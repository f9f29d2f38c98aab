"""Compiles the C, each file with the instructions of its target. Made by meanwhile."""

import os
import platform
import sys

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

# C files, their flags, and the assembly that can replace some of their functions.
FILES = [
@ROWS@
]
IS_X86 = platform.machine().lower() in ("x86_64", "amd64")
# The assembly is for GNU as and System V; anywhere else, or with MEANWHILE_NO_ASSEMBLY set, C is compiled.
IS_ELF = os.name == "posix" and sys.platform not in ("darwin", "cygwin") and sys.maxsize > 2**32
TAKES_ASSEMBLY = IS_X86 and IS_ELF and "MEANWHILE_NO_ASSEMBLY" not in os.environ


class Build(build_ext):
    def build_extension(self, ext):
        for file, flags, assembly in FILES:
            is_there = TAKES_ASSEMBLY and assembly is not None and self.assemble(ext, assembly)
            ext.extra_objects += self.compiler.compile(
                [file],
                output_dir=self.build_temp,
                include_dirs=["c/include"],
                macros=[("@ASSEMBLY@", None)] if is_there else [],
                # Debug information of such code takes as long to make as the code.
                extra_postargs=["-std=c11", "-O3", "-g0", *(flags if IS_X86 else [])],
            )
        super().build_extension(ext)

    def assemble(self, ext, file):
        self.compiler.src_extensions = [*{*self.compiler.src_extensions, ".s"}]
        try:
            ext.extra_objects += self.compiler.compile([file], output_dir=self.build_temp)
        except CompileError as error:
            print(f"{file} is not taken, and C is: {error}", file=sys.stderr)
            return False
        return True


setup(packages=["@MODULE@"], package_data={"@MODULE@": ["py.typed"]}, cffi_modules=["build_native.py:ffi"], cmdclass={"build_ext": Build})

"""Compiles the C, each file with the instructions of its target. Made by meanwhile."""

import platform

from setuptools import setup
from setuptools.command.build_ext import build_ext

FILES = [
@ROWS@
]
IS_X86 = platform.machine().lower() in ("x86_64", "amd64")


class Build(build_ext):
    def build_extension(self, ext):
        for file, flags in FILES:
            ext.extra_objects += self.compiler.compile(
                [file],
                output_dir=self.build_temp,
                include_dirs=["c/include"],
                extra_postargs=["-std=c11", "-O3", *(flags if IS_X86 else [])],
            )
        super().build_extension(ext)


setup(packages=["@MODULE@"], cffi_modules=["build_native.py:ffi"], cmdclass={"build_ext": Build})

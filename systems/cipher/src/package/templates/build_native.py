"""The C functions that Python calls. Made by meanwhile."""

from cffi import FFI

ffi = FFI()
ffi.cdef("""
@CDEF@""")
ffi.set_source("@MODULE@._native", """
@INCLUDES@""", include_dirs=["c/include"])

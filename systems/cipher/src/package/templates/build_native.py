"""What of the C is called from Python. Made by meanwhile."""

from cffi import FFI

ffi = FFI()
ffi.cdef("""
@CDEF@""")
ffi.set_source("@MODULE@._native", """
@INCLUDES@""", include_dirs=["c/include"])

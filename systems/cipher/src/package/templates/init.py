"""@NAME@: constant-time sliced ciphers in C. Made by meanwhile."""

from __future__ import annotations

import threading as _threading
from typing import Iterable as _Iterable, List as _List, Optional as _Optional, Sequence as _Sequence, Tuple as _Tuple, Union as _Union

from ._native import ffi as _ffi, lib as _lib

__all__ = [@ALL@]

_Bytes = _Union[bytes, bytearray, memoryview]
_Buffer = _Union[bytearray, memoryview]

_SAID = {
    1: "the counter would wrap",
    2: "input and output overlap and are not the same",
    3: "a buffer is NULL",
    4: "a key, nonce, counter or buffer of another length",
    5: "this processor does not run that target, or the objects are for different ones",
    6: "an object that is not at a multiple of 64",
    7: "the message is at its end",
    8: "both halves of the key are the same",
}


class InvalidTag(ValueError):
    """A message is not authentic."""


def _checked(code):
    if code != 0:
        raise ValueError(_SAID[code])


def _in(data):
    """Address and length of bytes."""
    view = _ffi.from_buffer("uint8_t[]", data)
    return view, len(view)


def _out(data):
    view = _ffi.from_buffer("uint8_t[]", data, require_writable=True)
    return view, len(view)


def _target(target):
    return _ffi.NULL if target is None else _ffi.new("char[]", target.encode())


def _aligned(kind):
    """An object at a multiple of 64, and the memory that holds it."""
    memory = _ffi.new("uint8_t[]", _ffi.sizeof(kind) + 63)
    skip = -int(_ffi.cast("uintptr_t", memory)) % 64
    return _ffi.cast(kind + " *", memory + skip), memory
@CLASSES@



class @TYPE@:
    """@TITLE@"""

    def __init__(self, key: _Bytes, target: _Optional[str] = None) -> None:
        self._keys, self._memory = _aligned("@MODE@_keys")
        _checked(_lib.@MODE@_expand(self._keys, _target(target), *_in(key)))

    def tag(self, data: _Bytes, size: int = 16) -> bytes:
        """The tag of a text: 16 bytes, or the first 8 to 15 of them."""
        out = bytearray(size)
        _checked(_lib.@MODE@_tag(self._keys, *_in(data), *_out(out)))
        return bytes(out)

    def verify(self, data: _Bytes, tag: _Bytes) -> None:
        """InvalidTag unless it is the tag of the text."""
        code = _lib.@MODE@_verify(self._keys, *_in(data), *_in(tag))
        if code == 1:
            raise InvalidTag("the tag is wrong")
        _checked(code)

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_keys"):
            _lib.@MODE@_wipe(self._keys)

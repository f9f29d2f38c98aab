

class @TYPE@:
    """@TITLE@"""

@KEYS@
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

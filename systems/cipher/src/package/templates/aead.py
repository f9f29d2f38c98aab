

class @TYPE@:
    """@TITLE@"""

    def __init__(self, key):
        if len(key) != 16:
            raise ValueError("a key has 16 bytes")
        self._key = bytearray(key)

    @staticmethod
    def width(target=None):
        """Messages that a target works on at a time; 0 if this processor does not run it."""
        return _lib.@NAME@_width(_target(target))

    def encrypt(self, nonce, data, associated_data=b"", target=None):
        """The text and its tag of 16 bytes. No two messages of a key have the same nonce."""
        out, tag = bytearray(len(data)), bytearray(16)
        given = (_target(target), *_in(self._key), *_in(nonce), *_in(associated_data), *_in(data))
        _checked(_lib.@NAME@_encrypt(*given, *_out(out), *_out(tag)))
        return bytes(out), bytes(tag)

    def decrypt(self, nonce, data, tag, associated_data=b"", target=None):
        """The text again; InvalidTag if anything is not as it was encrypted."""
        out = bytearray(len(data))
        given = (_target(target), *_in(self._key), *_in(nonce), *_in(associated_data), *_in(data))
        code = _lib.@NAME@_decrypt(*given, *_out(out), *_in(tag))
        if code == 1:
            raise InvalidTag("the tag is wrong")
        _checked(code)
        return bytes(out)

    def __del__(self):
        if hasattr(self, "_key"):
            self._key[:] = bytes(16)


class InvalidTag(ValueError):
    """A message is not as it was encrypted."""

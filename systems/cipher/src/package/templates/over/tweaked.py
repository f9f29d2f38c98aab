

class @TYPE@:
    """@TITLE@; the key is two of the cipher's."""

    def __init__(self, key: _Bytes, target: _Optional[str] = None) -> None:
        self._keys, self._memory = _aligned("@MODE@_keys")
        _checked(_lib.@MODE@_expand(self._keys, _target(target), *_in(key)))

    def encrypt(self, tweak: _Bytes, sector: _Bytes) -> bytes:
        """A sector of 16 to 2^24 bytes; the tweak has 16 bytes: its number, least significant byte first. Nothing tells
        whether a sector was changed, or is an old one."""
        out = bytearray(len(sector))
        _checked(_lib.@MODE@_encrypt(self._keys, *_in(tweak), *_in(sector), *_out(out)))
        return bytes(out)

    def decrypt(self, tweak: _Bytes, sector: _Bytes) -> bytes:
        """The text of such a sector."""
        out = bytearray(len(sector))
        _checked(_lib.@MODE@_decrypt(self._keys, *_in(tweak), *_in(sector), *_out(out)))
        return bytes(out)

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_keys"):
            _lib.@MODE@_wipe(self._keys)

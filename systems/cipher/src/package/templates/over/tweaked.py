

class @TYPE@:
    """@TITLE@; the key is two of the cipher's."""

@KEYS@
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

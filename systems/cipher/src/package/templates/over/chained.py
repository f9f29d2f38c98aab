

class @TYPE@:
    """@TITLE@: decryption"""

@KEYS@
    def decrypt(self, iv: _Bytes, data: _Bytes) -> bytes:
        """Whole blocks; the iv of the next piece of a text is the last block of the ciphertext before it. Padding stays
        where it is: whoever learns whether it was right can decrypt any text, so verify a tag of the ciphertext first."""
        out = bytearray(len(data))
        _checked(_lib.@MODE@_decrypt(self._keys, *_in(iv), *_in(data), *_out(out)))
        return bytes(out)

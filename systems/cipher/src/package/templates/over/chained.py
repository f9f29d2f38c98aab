

class @TYPE@:
    """@TITLE@: decryption"""

    def __init__(self, key: _Bytes, target: _Optional[str] = None) -> None:
        self._keys, self._memory = _aligned("@MODE@_keys")
        _checked(_lib.@MODE@_expand(self._keys, _target(target), *_in(key)))

    def decrypt(self, iv: _Bytes, data: _Bytes) -> bytes:
        """Whole blocks; the iv of the next piece of a text is the last block of the ciphertext before it. Padding stays
        where it is: whoever learns whether it was right can decrypt any text, so verify a tag of the ciphertext first."""
        out = bytearray(len(data))
        _checked(_lib.@MODE@_decrypt(self._keys, *_in(iv), *_in(data), *_out(out)))
        return bytes(out)

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_keys"):
            _lib.@MODE@_wipe(self._keys)



class @TYPE@Encryptor:
    """A message of @TITLE@ in pieces: associated data, then text, then finalize() for the tag. There is no
    decryption in pieces: it would release text before its tag is verified."""

    def __init__(self, cipher: @TYPE@, nonce: _Bytes) -> None:
        self._state, self._memory = _aligned("@MODE@_state")
        self._cipher, self._lock = cipher, _threading.Lock()
        _checked(_lib.@MODE@_init(self._state, cipher._keys, *_in(nonce)))

    def authenticate_additional_data(self, data: _Bytes) -> None:
        """Adds associated data; refused after the first text."""
        with self._lock:
            _checked(_lib.@MODE@_aad(self._state, self._cipher._keys, *_in(data)))

    def update(self, data: _Bytes) -> bytes:
        """Encrypts the next bytes of text."""
        out = bytearray(len(data))
        with self._lock:
            _checked(_lib.@MODE@_update(self._state, self._cipher._keys, *_in(data), *_out(out)))
        return bytes(out)

    def finalize(self) -> bytes:
        """The tag of 16 bytes."""
        tag = bytearray(16)
        with self._lock:
            _checked(_lib.@MODE@_final(self._state, self._cipher._keys, *_out(tag)))
        return bytes(tag)

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_state"):
            _lib.@MODE@_state_wipe(self._state)

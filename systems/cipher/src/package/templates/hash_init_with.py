    MAX_DIGEST_SIZE, MAX_KEY_SIZE, SALT_SIZE, PERSON_SIZE = @N_OUT@, @N_OUT@, @N_SALT@, @N_SALT@

    def __init__(
        self, data: _Bytes = b"", *, digest_size: int = @N_OUT@, key: _Bytes = b"", salt: _Bytes = b"", person: _Bytes = b""
    ) -> None:
        self._state, self._memory = _aligned("@NAME@_state")
        self._lock, self.digest_size = _threading.Lock(), digest_size
        _checked(_lib.@NAME@_init_with(self._state, _ffi.NULL, digest_size, *_in(key), *_in(salt), *_in(person)))
        self.update(data)

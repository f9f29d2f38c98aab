

class @TYPE@Many:
    """@TITLE@ of messages of one length side by side, in pieces: as many as a target is wide take the time of one."""

    def __init__(self, n_messages: int) -> None:
        self._state, self._memory = _aligned("@NAME@_state")
        self._lock, self._n_messages = _threading.Lock(), n_messages
        _checked(_lib.@NAME@_init_many(self._state, _ffi.NULL, n_messages))

    def update(self, pieces: _Iterable[_Bytes]) -> None:
        """Adds the next bytes of each message: as many pieces as messages, of one length."""
        views = [_ffi.from_buffer("uint8_t[]", piece) for piece in pieces]
        if len(views) != self._n_messages or len({len(view) for view in views}) != 1:
            raise ValueError(f"{self._n_messages} pieces of one length")
        with self._lock:
            _checked(_lib.@NAME@_update_many(self._state, _ffi.new("uint8_t *[]", views), len(views[0])))

    def @PYTHON_END@(self@PYTHON_LENGTH@) -> _List[bytes]:
        """@SAID@"""
        outs = [bytearray(@PYTHON_N@) for _ in range(self._n_messages)]
        views = [_ffi.from_buffer("uint8_t[]", out, require_writable=True) for out in outs]
        with self._lock:
            _checked(_lib.@NAME@_@END@_many(self._state, _ffi.new("uint8_t *[]", views), @PYTHON_N@))
        return [bytes(out) for out in outs]

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_state"):
            _lib.@NAME@_wipe(self._state)

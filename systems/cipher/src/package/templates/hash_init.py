
    def __init__(self, data: _Bytes = b"") -> None:
        self._state, self._memory = _aligned("@NAME@_state")
        self._lock = _threading.Lock()
        _checked(_lib.@NAME@_init(self._state, _ffi.NULL))
        self.update(data)

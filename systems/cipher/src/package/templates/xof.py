

class @TYPE@:
    """@TITLE@: a message in, any number of bytes out."""

    name, block_size = "@NAME@", @RATE@

    def __init__(self, data: _Bytes = b"") -> None:
        self._state, self._memory = _aligned("@NAME@_state")
        self._lock = _threading.Lock()
        _checked(_lib.@NAME@_init(self._state, _ffi.NULL))
        self.update(data)

    def update(self, data: _Bytes) -> None:
        """Adds the next bytes of the message; refused after the first output."""
        with self._lock:
            _checked(_lib.@NAME@_update(self._state, *_in(data)))

    def squeeze(self, length: int) -> bytes:
        """The next bytes of output; the first call ends the message."""
        out = bytearray(length)
        with self._lock:
            _checked(_lib.@NAME@_squeeze(self._state, *_out(out)))
        return bytes(out)

    @staticmethod
    def squeeze_each(messages: _Iterable[_Bytes], length: int, target: _Optional[str] = None) -> _List[bytes]:
        """The outputs of messages of any lengths. Those of one batch take as long as the longest of them."""
        views = [_ffi.from_buffer("uint8_t[]", data) for data in messages]
        out, n = bytearray(length * len(views)), length
        sizes = _ffi.new("size_t[]", [len(view) for view in views])
        _checked(_lib.@NAME@_each(_target(target), _ffi.new("uint8_t *[]", views), sizes, _ffi.from_buffer("uint8_t[]", out), n, len(views)))
        return [bytes(out[i * n : i * n + n]) for i in range(len(views))]

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_state"):
            _lib.@NAME@_wipe(self._state)

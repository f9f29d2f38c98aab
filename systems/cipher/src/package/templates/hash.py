

class @TYPE@:
    """@TITLE@, with the interface of hashlib."""

    name, digest_size, block_size = "@NAME@", @N_OUT@, @RATE@
@PYTHON_INIT@

    def update(self, data: _Bytes) -> None:
        """Adds the next bytes of the message."""
        with self._lock:
            _checked(_lib.@NAME@_update(self._state, *_in(data)))

    def copy(self) -> @TYPE@:
        """A copy of the message so far."""
        other = @TYPE@()
        with self._lock:
            _ffi.memmove(other._state, self._state, _ffi.sizeof("@NAME@_state"))
@PYTHON_COPY@        return other

    def digest(self) -> bytes:
        """The digest of the bytes so far; more may follow."""
        other, out = self.copy(), bytearray(self.digest_size)
        _checked(_lib.@NAME@_final(other._state, *_out(out)))
        return bytes(out)

    def hexdigest(self) -> str:
        """The same in hexadecimal digits."""
        return self.digest().hex()

    @staticmethod
    def digest_each(messages: _Iterable[_Bytes], target: _Optional[str] = None) -> _List[bytes]:
        """The digests of messages of any lengths. Those of one batch take as long as the longest of them."""
        views = [_ffi.from_buffer("uint8_t[]", data) for data in messages]
        out, n = bytearray(@N_OUT@ * len(views)), @N_OUT@
        sizes = _ffi.new("size_t[]", [len(view) for view in views])
        _checked(_lib.@NAME@_each(_target(target), _ffi.new("uint8_t *[]", views), sizes, _ffi.from_buffer("uint8_t[]", out), n, len(views)))
        return [bytes(out[i * n : i * n + n]) for i in range(len(views))]

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_state"):
            _lib.@NAME@_wipe(self._state)

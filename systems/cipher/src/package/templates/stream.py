

class @STREAM@:
    """A stream of @TITLE@"""

    def __init__(self@PARAMS@) -> None:
        self._stream, self._memory = _aligned("@CTR@")
        self._lock = _threading.Lock()
@KEEP@        _checked(_lib.@CTR@_init(self._stream, @FIRST@@ARGS@))

    def xor(self, data: _Bytes) -> bytes:
        """XORs the next bytes of key stream to data."""
        out = bytearray(len(data))
        self.xor_into(data, out)
        return bytes(out)

    def xor_into(self, data: _Bytes, out: _Buffer) -> None:
        """The same into a buffer, which may be that of data."""
        with self._lock:
            _checked(_lib.@CTR@_xor(self._stream, @PASS@*_in(data), *_out(out)))

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_stream"):
            _lib.@CTR@_wipe(self._stream)

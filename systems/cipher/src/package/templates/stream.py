

class @STREAM@:
    """A stream of @TITLE@"""

    def __init__(self@PARAMS@):
        self._stream, self._memory = _aligned("@CTR@")
        self._lock = _threading.Lock()
@KEEP@        _checked(_lib.@CTR@_init(self._stream, @FIRST@@ARGS@))

    def xor(self, data):
        """XORs the next bytes of key stream to data."""
        out = bytearray(len(data))
        self.xor_into(data, out)
        return bytes(out)

    def xor_into(self, data, out):
        """The same into a buffer, which may be that of data."""
        with self._lock:
            _checked(_lib.@CTR@_xor(self._stream, @PASS@*_in(data), *_out(out)))

    def __del__(self):
        if hasattr(self, "_stream"):
            _lib.@CTR@_wipe(self._stream)

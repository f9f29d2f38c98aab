

class @TYPE@:
    """@TITLE@"""

    def __init__(self@PARAMS@, target: _Optional[str] = None) -> None:
        self._keys, self._memory = _aligned("@NAME@_keys")
        _checked(_lib.@NAME@_expand(self._keys, _target(target)@ARGS@))

    @staticmethod
    def width(target: _Optional[str] = None) -> int:
        """Blocks that a target processes at a time; 0 if this processor does not run it."""
        return _lib.@NAME@_width(_target(target))

    def blocks(self, data: _Bytes) -> bytes:
        """Whole blocks of @N_IN@ bytes in, @N_OUT@ bytes each out."""
        out = bytearray(len(data) // @N_IN@ * @N_OUT@)
        self.blocks_into(data, out)
        return bytes(out)

    def blocks_into(self, data: _Bytes, out: _Buffer) -> None:
        """The same into a buffer, which may be that of data."""
        _checked(_lib.@NAME@_blocks(self._keys, *_in(data), *_out(out)))

    @staticmethod
    def blocks_each_key(@KEYS_PARAMS@, data: _Bytes, target: _Optional[str] = None) -> bytes:
        """The same of blocks that have keys of their own, one after another."""
        out = bytearray(len(data) // @N_IN@ * @N_OUT@)
        _checked(_lib.@NAME@_blocks_each_key(_target(target)@KEYS_ARGS@, *_in(data), *_out(out)))
        return bytes(out)

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_keys"):
            _lib.@NAME@_wipe(self._keys)

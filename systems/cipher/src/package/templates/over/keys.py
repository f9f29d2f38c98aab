    def __init__(self, key: _Bytes, target: _Optional[str] = None) -> None:
        self._keys, self._memory = _aligned("@MODE@_keys")
        _checked(_lib.@MODE@_expand(self._keys, _target(target), *_in(key)))

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_keys"):
            _lib.@MODE@_wipe(self._keys)

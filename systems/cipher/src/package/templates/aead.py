

class @TYPE@:
    """@TITLE@"""

    def __init__(self, key: _Bytes) -> None:
        if len(key) != 16:
            raise ValueError("a key has 16 bytes")
        self._key = bytearray(key)

    @staticmethod
    def width(target: _Optional[str] = None) -> int:
        """Messages that a target processes at a time; 0 if this processor does not run it."""
        return _lib.@NAME@_width(_target(target))

    def encrypt(self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes = b"", target: _Optional[str] = None) -> _Tuple[bytes, bytes]:
        """The ciphertext, then its tag of 16 bytes. Never use a nonce twice with one key."""
        out, tag = bytearray(len(data)), bytearray(16)
        given = (_target(target), *_in(self._key), *_in(nonce), *_in(associated_data), *_in(data))
        _checked(_lib.@NAME@_encrypt(*given, *_out(out), *_out(tag)))
        return bytes(out), bytes(tag)

    def decrypt(self, nonce: _Bytes, data: _Bytes, tag: _Bytes, associated_data: _Bytes = b"", target: _Optional[str] = None) -> bytes:
        """The text; InvalidTag if the message is not authentic."""
        out = bytearray(len(data))
        given = (_target(target), *_in(self._key), *_in(nonce), *_in(associated_data), *_in(data))
        code = _lib.@NAME@_decrypt(*given, *_out(out), *_in(tag))
        if code == 1:
            raise InvalidTag("the tag is wrong")
        _checked(code)
        return bytes(out)

    def encryptor(self, nonce: _Bytes) -> @TYPE@Encryptor:
        """A message that is encrypted in pieces. There is no decryption in pieces: it would release text before its tag is
        verified."""
        return @TYPE@Encryptor(self._key, nonce)

    @staticmethod
    def encrypt_each(messages: _Sequence[_Tuple[_Bytes, _Bytes, _Bytes, _Bytes]], target: _Optional[str] = None) -> _List[_Tuple[bytes, bytes]]:
        """Texts and tags of many messages (key, nonce, data, associated data) of any lengths. Those of one batch, width(),
        take as long as the longest of them."""
        rows, kept, made = _ffi.new("@NAME@_message[]", len(messages)), [], []
        for row, (key, nonce, data, ad) in zip(rows, messages):
            made.append((bytearray(data), bytearray(16)))
            @TYPE@._put(row, key, nonce, ad, *made[-1], kept)
        _checked(_lib.@NAME@_encrypt_each(_target(target), rows, len(messages)))
        return [(bytes(text), bytes(tag)) for text, tag in made]

    @staticmethod
    def decrypt_each(messages: _Sequence[_Tuple[_Bytes, _Bytes, _Bytes, _Bytes, _Bytes]], target: _Optional[str] = None) -> _List[_Optional[bytes]]:
        """Texts of many messages (key, nonce, data, tag, associated data); None for each that is not authentic."""
        rows, kept, made = _ffi.new("@NAME@_message[]", len(messages)), [], []
        for row, (key, nonce, data, tag, ad) in zip(rows, messages):
            made.append(bytearray(data))
            @TYPE@._put(row, key, nonce, ad, made[-1], bytearray(tag), kept)
        code = _lib.@NAME@_decrypt_each(_target(target), rows, len(messages))
        if code != 1:
            _checked(code)
        return [bytes(text) if row.is_right else None for row, text in zip(rows, made)]

    @staticmethod
    def _put(row, key, nonce, ad, text, tag, kept):
        if len(key) != 16 or len(nonce) != 16 or len(tag) != 16:
            raise ValueError(_SAID[4])
        for name, data in (("key", key), ("nonce", nonce), ("ad", ad), ("in", text), ("out", text), ("tag", tag)):
            kept.append(_ffi.from_buffer("uint8_t[]", data, require_writable=name in ("out", "tag")))
            setattr(row, name, kept[-1])
        row.n_ad, row.n = len(ad), len(text)

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_key"):
            self._key[:] = bytes(16)


class @TYPE@Encryptor:
    """A message of @TITLE@ in pieces: associated data, then text, then finalize() for the tag."""

    def __init__(self, key: _Bytes, nonce: _Bytes) -> None:
        self._state, self._memory = _aligned("@NAME@_state")
        self._lock = _threading.Lock()
        _checked(_lib.@NAME@_init(self._state, _ffi.NULL, *_in(key), *_in(nonce)))

    def authenticate_additional_data(self, data: _Bytes) -> None:
        """Adds associated data; refused after the first text."""
        with self._lock:
            _checked(_lib.@NAME@_aad(self._state, *_in(data)))

    def update(self, data: _Bytes) -> bytes:
        """Encrypts the next bytes of text."""
        out = bytearray(len(data))
        with self._lock:
            _checked(_lib.@NAME@_update(self._state, *_in(data), *_out(out)))
        return bytes(out)

    def finalize(self) -> bytes:
        """The tag of 16 bytes."""
        tag = bytearray(16)
        with self._lock:
            _checked(_lib.@NAME@_final(self._state, *_out(tag)))
        return bytes(tag)

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a copy would share this one's memory, which it wipes: make another one")

    def __del__(self) -> None:
        if hasattr(self, "_state"):
            _lib.@NAME@_wipe(self._state)

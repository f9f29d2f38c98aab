

class @TYPE@:
    """@TITLE@"""

@KEYS@
    def encrypt(self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes = b"") -> bytes:
        """The ciphertext and behind it the tag of 16 bytes. Never use a nonce twice with one key."""
        out = bytearray(len(data) + 16)
        text, tag = memoryview(out)[:-16], memoryview(out)[-16:]
        given = (*_in(nonce), *_in(associated_data), *_in(data))
        _checked(_lib.@MODE@_encrypt(self._keys, *given, *_out(text), *_out(tag)))
        return bytes(out)

    def decrypt(self, nonce: _Bytes, data: _Bytes, associated_data: _Bytes = b"") -> bytes:
        """The text of a ciphertext with its tag; InvalidTag if the message is not authentic."""
        if len(data) < 16:
            raise InvalidTag("there is no whole tag")
        text, tag = memoryview(data)[:-16], memoryview(data)[-16:]
        out = bytearray(len(text))
        given = (*_in(nonce), *_in(associated_data), *_in(text))
        code = _lib.@MODE@_decrypt(self._keys, *given, *_out(out), *_in(tag))
        if code == 1:
            raise InvalidTag("the tag is wrong")
        _checked(code)
        return bytes(out)
@ENCRYPTOR@
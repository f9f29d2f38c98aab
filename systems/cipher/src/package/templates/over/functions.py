

def encrypt(key: _Bytes, nonce: _Bytes, data: _Bytes, associated_data: _Bytes = b"") -> bytes:
    """@TITLE@: the ciphertext and behind it the tag of 16 bytes. Never use a nonce twice with one key."""
    return @TYPE@(key).encrypt(nonce, data, associated_data)


def decrypt(key: _Bytes, nonce: _Bytes, data: _Bytes, associated_data: _Bytes = b"") -> bytes:
    """The text of a ciphertext with its tag; InvalidTag if the message is not authentic."""
    return @TYPE@(key).decrypt(nonce, data, associated_data)

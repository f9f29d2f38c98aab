"""SHAKE128 and SHA3-512 in Python: the bytes of hashlib, in pieces, several at a time, and what is refused."""

import hashlib

from trio import Sha3_512, Shake128

text = bytes(i % 251 for i in range(600))
for n in (0, 1, 71, 72, 73, 135, 167, 168, 169, 336, 600):
    hash = Sha3_512(text[: n // 2])
    hash.update(text[n // 2 : n])
    other = hashlib.sha3_512(text[:n])
    assert hash.digest() == other.digest() and hash.hexdigest() == other.hexdigest()
    assert (hash.digest_size, hash.block_size) == (other.digest_size, other.block_size)
    output = Shake128(text[:n])
    assert output.squeeze(5) + output.squeeze(400) == hashlib.shake_128(text[:n]).digest(405)
    try:
        output.update(b"more")
        raise AssertionError("a message that has ended goes on")
    except ValueError:
        pass
messages = [text[:n] for n in range(0, 600, 29)]
assert Sha3_512.digest_each(messages) == [hashlib.sha3_512(it).digest() for it in messages]
assert Shake128.squeeze_each(messages, 200) == [hashlib.shake_128(it).digest(200) for it in messages]

"""BLAKE2 in Python: the bytes of hashlib, in pieces and several at a time."""

import hashlib

from trio import Blake2b512, Blake2b512Many, Blake2s256

text = bytes(i % 251 for i in range(600))
for n in (0, 1, 63, 64, 65, 127, 128, 129, 192, 256, 257, 600):
    for ours, theirs in ((Blake2s256, hashlib.blake2s), (Blake2b512, hashlib.blake2b)):
        hash, other = ours(text[: n // 2]), theirs(text[:n])
        hash.update(text[n // 2 : n])
        assert hash.digest() == other.digest() and hash.hexdigest() == other.hexdigest(), n
        assert (hash.digest_size, hash.block_size) == (other.digest_size, other.block_size)
        hash.update(text)
        assert hash.digest() == theirs(text[:n] + text).digest(), n
messages = [text[:n] for n in range(0, 600, 29)]
assert Blake2s256.digest_each(messages) == [hashlib.blake2s(it).digest() for it in messages]
assert Blake2b512.digest_each(messages) == [hashlib.blake2b(it).digest() for it in messages]
two = Blake2b512Many(2)
two.update([text[:128], text[1:129]])
assert two.digests() == [hashlib.blake2b(text[:128]).digest(), hashlib.blake2b(text[1:129]).digest()]

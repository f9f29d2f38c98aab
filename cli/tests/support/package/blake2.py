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
for ours, theirs in ((Blake2s256, hashlib.blake2s), (Blake2b512, hashlib.blake2b)):
    for name in ("MAX_DIGEST_SIZE", "MAX_KEY_SIZE", "SALT_SIZE", "PERSON_SIZE"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for n in (0, 1, 63, 64, 65, 127, 128, 129, 600):
        for size in range(1, ours.MAX_DIGEST_SIZE + 1, 3):
            given = dict(digest_size=size, key=text[:size], salt=text[: n % 9], person=text[3 : 3 + size % 9])
            hash, other = ours(text[: n // 2], **given), theirs(text[: n // 2], **given)
            hash.update(text[n // 2 : n]), other.update(text[n // 2 : n])
            assert hash.digest() == other.digest() == hash.copy().digest(), given
            assert hash.digest_size == other.digest_size and len(hash.digest()) == size
    for given in (dict(digest_size=0), dict(digest_size=65), dict(key=text[:65]), dict(salt=text[:17]), dict(person=text[:17])):
        try:
            ours(**given)
            raise AssertionError(f"{given} is taken")
        except ValueError:
            pass
two = Blake2b512Many(2)
two.update([text[:128], text[1:129]])
assert two.digests() == [hashlib.blake2b(text[:128]).digest(), hashlib.blake2b(text[1:129]).digest()]

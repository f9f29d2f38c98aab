"""Ascon's modes in Python: the published vectors in the files that are named, forgeries, and what is refused."""

import json
import sys

from trio import AsconAead128, AsconHash256, AsconHash256Many, AsconXof128, AsconXof128Many, InvalidTag


def vectors(path):
    with open(path) as file:
        return json.load(file)["vectors"]


def refused(error, call, *args):
    try:
        call(*args)
    except error:
        return
    raise AssertionError(f"{call} was not refused")


aead, hashes, outputs = sys.argv[1:]
for vector in vectors(aead):
    key, nonce, ad, text = (bytes.fromhex(vector[name]) for name in ("key", "nonce", "ad", "input"))
    for target in (None, "x86-64", "sse", "avx2", "avx512", "neon"):
        if AsconAead128.width(target):
            cipher = AsconAead128(key)
            sealed, tag = cipher.encrypt(nonce, text, ad, target)
            assert (sealed + tag).hex() == vector["output"]
            assert cipher.decrypt(nonce, sealed, tag, ad, target) == text
            refused(InvalidTag, cipher.decrypt, nonce, sealed, bytes([tag[0] ^ 1]) + tag[1:], ad, target)
    pieces = cipher.encryptor(nonce)
    pieces.authenticate_additional_data(ad[:3])
    pieces.authenticate_additional_data(ad[3:])
    made = pieces.update(text[:5]) + pieces.update(text[5:]) + pieces.finalize()
    assert made.hex() == vector["output"]
    refused(ValueError, pieces.update, b"more")
messages = [tuple(bytes.fromhex(it[name]) for name in ("key", "nonce", "input", "ad")) for it in vectors(aead)]
each = AsconAead128.encrypt_each(messages)
assert [(text + tag).hex() for text, tag in each] == [it["output"] for it in vectors(aead)]
sealed = [(key, nonce, text, tag, ad) for (key, nonce, _, ad), (text, tag) in zip(messages, each)]
sealed[1] = sealed[1][:3] + (bytes(16),) + sealed[1][4:]
opened = AsconAead128.decrypt_each(sealed)
assert opened[1] is None and all(it == message[2] for i, (it, message) in enumerate(zip(opened, messages)) if i != 1)
refused(ValueError, AsconAead128.encrypt_each, [(b"short", bytes(16), b"", b"")])
refused(ValueError, cipher.encrypt, b"short", text)
refused(ValueError, AsconAead128, b"short")
for vector in vectors(hashes):
    text = bytes.fromhex(vector["input"])
    hash = AsconHash256(text[:3])
    hash.hexdigest()
    hash.update(text[3:])
    assert hash.hexdigest() == hash.copy().hexdigest() == vector["output"]
texts = [bytes.fromhex(it["input"]) for it in vectors(hashes)]
assert [it.hex() for it in AsconHash256.digest_each(texts)] == [it["output"] for it in vectors(hashes)]
assert AsconXof128.squeeze_each(texts, 7) == [AsconXof128(it).squeeze(7) for it in texts]
assert AsconHash256.digest_each([]) == []
for vector in vectors(outputs):
    xof = AsconXof128(bytes.fromhex(vector["input"]))
    assert (xof.squeeze(5) + xof.squeeze(len(vector["output"]) // 2 - 5)).hex() == vector["output"]
refused(ValueError, xof.update, b"more")

# Side by side, in pieces.
n = 2
texts = [bytes((i * 31 + k) % 256 for k in range(50)) for i in range(n)]
many = AsconHash256Many(n)
many.update(text[:20] for text in texts)
many.update([text[20:] for text in texts])
assert many.digests() == [AsconHash256(text).digest() for text in texts]
refused(ValueError, many.update, texts)
many = AsconXof128Many(n)
many.update(texts)
assert [a + b for a, b in zip(many.squeeze(3), many.squeeze(30))] == [AsconXof128(text).squeeze(33) for text in texts]
refused(ValueError, AsconXof128Many(2).update, [b"one"])
refused(ValueError, AsconXof128Many(2).update, [b"one", b"other"])
refused(ValueError, AsconXof128Many, 1000)
refused(ValueError, AsconXof128Many, 0)

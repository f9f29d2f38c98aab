"""Ascon's modes in Python: the published vectors in the files that are named, forgeries, and what is refused."""

import json
import sys

from trio import AsconAead128, AsconHash256, AsconXof128, InvalidTag


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
refused(ValueError, cipher.encrypt, b"short", text)
refused(ValueError, AsconAead128, b"short")
for vector in vectors(hashes):
    text = bytes.fromhex(vector["input"])
    hash = AsconHash256(text[:3])
    hash.hexdigest()
    hash.update(text[3:])
    assert hash.hexdigest() == hash.copy().hexdigest() == vector["output"]
for vector in vectors(outputs):
    xof = AsconXof128(bytes.fromhex(vector["input"]))
    assert (xof.squeeze(5) + xof.squeeze(len(vector["output"]) // 2 - 5)).hex() == vector["output"]
refused(ValueError, xof.update, b"more")

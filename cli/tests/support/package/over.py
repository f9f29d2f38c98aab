"""Authenticated modes over ciphers from Python: published vectors in one call and in pieces, forgeries, what is refused."""

import copy
import json
import sys

import trio

KINDS = {
    "aes-256-gcm": trio.Aes256Gcm,
    "aes-256-gcm-siv": trio.Aes256GcmSiv,
    "chacha20-poly1305": trio.Chacha20Poly1305,
    "chacha20-xpoly1305": trio.Chacha20Xpoly1305,
}


def refused(call):
    try:
        call()
    except (ValueError, TypeError) as error:
        return error
    raise AssertionError("not refused")


*paths, of_sectors, of_chains, of_tags = sys.argv[1:]
for path in paths:
    file = json.load(open(path))
    kind = KINDS[file["name"]]
    for vector in file["vectors"]:
        key, nonce, ad, text, sealed = (bytes.fromhex(vector[name]) for name in ("key", "nonce", "ad", "input", "output"))
        cipher = kind(key)
        assert "share" in str(refused(lambda: copy.copy(cipher)))
        assert cipher.encrypt(nonce, text, ad) == sealed, path
        assert cipher.decrypt(nonce, bytearray(sealed), memoryview(ad)) == text, path
        for at in range(len(sealed)):
            forged = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
            assert isinstance(refused(lambda: cipher.decrypt(nonce, forged, ad)), trio.InvalidTag)
        assert isinstance(refused(lambda: cipher.decrypt(nonce, sealed, ad + b"x")), trio.InvalidTag)
        assert isinstance(refused(lambda: cipher.decrypt(nonce, sealed[-15:], ad)), trio.InvalidTag)
        if hasattr(cipher, "encryptor"):
            pieces = cipher.encryptor(nonce)
            pieces.authenticate_additional_data(ad[:3])
            pieces.authenticate_additional_data(ad[3:])
            made = b"".join(pieces.update(text[i : i + 7]) for i in range(0, len(text), 7))
            if text:
                assert "end" in str(refused(lambda: pieces.authenticate_additional_data(b"")))
            assert made + pieces.finalize() == sealed, path
            assert "end" in str(refused(lambda: pieces.update(b"")))
        assert "another length" in str(refused(lambda: kind(key[1:])))
        assert "another length" in str(refused(lambda: cipher.encrypt(b"", text, ad)))
for vector in json.load(open(of_sectors))["vectors"]:
    key, tweak, text, sealed = (bytes.fromhex(vector[name]) for name in ("key", "tweak", "input", "output"))
    sectors = trio.Aes256Xts(key)
    assert sectors.encrypt(tweak, text) == sealed and sectors.decrypt(tweak, sealed) == text
    assert "another length" in str(refused(lambda: sectors.encrypt(tweak, text[:15])))
    assert "halves" in str(refused(lambda: trio.Aes256Xts(key[:32] * 2)))
for vector in json.load(open(of_chains))["vectors"]:
    key, iv, sealed, text = (bytes.fromhex(vector[name]) for name in ("key", "iv", "input", "output"))
    chain = trio.Aes256Cbc(key)
    assert chain.decrypt(iv, sealed) == text and chain.decrypt(sealed[:16], sealed[16:]) == text[16:]
    assert "another length" in str(refused(lambda: chain.decrypt(iv, sealed[1:])))
    assert "share" in str(refused(lambda: copy.copy(chain)))
for vector in json.load(open(of_tags))["vectors"]:
    key, text, tag = (bytes.fromhex(vector[name]) for name in ("key", "input", "output"))
    mac = trio.Aes256Cmac(key)
    assert mac.tag(text) == tag and mac.tag(text, 8) == tag[:8]
    assert mac.verify(text, tag) is None and mac.verify(text, tag[:12]) is None
    assert isinstance(refused(lambda: mac.verify(text + b"x", tag)), trio.InvalidTag)
    assert "another length" in str(refused(lambda: mac.verify(text, tag[:7])))
assert not hasattr(trio, "encrypt"), "with several modes nobody can know which one is meant"

"""The Python package against what OpenSSL wrote to the two files, and its errors."""

import sys
import threading

import trio


def text(n):
    return bytes(i % 251 for i in range(n))


def refused(call):
    try:
        call()
    except ValueError as error:
        return str(error)
    raise AssertionError("not refused")


aes, chacha = (open(path, "rb").read() for path in sys.argv[1:])
for target in ("x86-64", "sse", "avx2", "avx512", "neon"):
    width = trio.Aes128.width(target)
    if width == 0:
        assert "does not run that target" in refused(lambda: trio.Aes128(bytes(16), target=target))
        continue
    cipher = trio.Aes128(bytes([7] * 16), target=target)
    for n in range(4 * 16 * width + 2):
        assert trio.Aes128Ctr(cipher, bytes([9] * 16)).xor(text(n)) == aes[:n], (target, n)
for n in range(4 * 64 * 16 + 2):
    stream = trio.Chacha20Ctr(bytes([7] * 32), 5, bytes([9] * 12))
    assert stream.xor(text(n)[: n // 3]) + stream.xor(text(n)[n // 3 :]) == chacha[:n], n

lea = trio.Lea128(bytes.fromhex("0f1e2d3c4b5a69788796a5b4c3d2e1f0"))
plain = bytes.fromhex("101112131415161718191a1b1c1d1e1f")
for n in range(4 * trio.Lea128.width() + 2):
    assert lea.blocks(plain * n) == bytes.fromhex("9fc84e3528c6c6185532c7a704648bfd") * n
buffer = bytearray(plain)
lea.blocks_into(buffer, buffer)
assert buffer.hex() == "9fc84e3528c6c6185532c7a704648bfd"

assert "another length" in refused(lambda: trio.Aes128(bytes(15)))
assert "another length" in refused(lambda: lea.blocks(bytes(17)))
assert "another length" in refused(lambda: lea.blocks_into(bytes(32), bytearray(16)))
assert "overlap" in refused(lambda: lea.blocks_into(memoryview(buffer := bytearray(48))[:32], memoryview(buffer)[16:]))
last = trio.Aes128Ctr(trio.Aes128(bytes(16)), bytes([255] * 16))
assert "wrap" in refused(lambda: last.xor(bytes(17))) and len(last.xor(bytes(16))) == 16

# A stream gives each of its bytes to one thread.
cipher = trio.Aes128(bytes([7] * 16))
shared = trio.Aes128Ctr(cipher, bytes([9] * 16))
pieces = []


def take():
    for _ in range(200):
        pieces.append(shared.xor(bytes(1003)))


threads = [threading.Thread(target=take) for _ in range(3)]
for it in threads:
    it.start()
for it in threads:
    it.join()
alone = trio.Aes128Ctr(cipher, bytes([9] * 16))
assert sorted(pieces) == sorted(alone.xor(bytes(1003)) for _ in range(600))

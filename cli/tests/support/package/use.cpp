// The headers in C++: a block of zeros.
#include "aes128.h"
#include "chacha20.h"
#include "lea128.h"

int main()
{
    aes128_keys keys;
    aes128_ctr ctr;
    const uint8_t key[16] = {}, start[16] = {};
    uint8_t out[16] = {};
    if (aes128_expand(&keys, nullptr, key, sizeof key) != AES128_OK || aes128_ctr_init(&ctr, &keys, start, sizeof start) != AES128_OK)
        return 1;
    return aes128_blocks(&keys, out, sizeof out, out, sizeof out) != AES128_OK || out[0] != 0x66;
}

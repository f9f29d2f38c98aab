/* What a cipher makes on this processor: FIPS-197's example, one message under
   each mode, and a forged one, as lines to compare with those of another
   processor. */
#include "aes128.h"
#include "aes128_gcm.h"
#include "ascon_aead128.h"
#include "chacha20_poly1305.h"
#include <stdio.h>
#include <string.h>

enum { N = 1000 };

static uint8_t key[32], nonce[16], text[N], sealed[N], opened[N], tag[16];

static void show(const char *name, int failed, size_t n) {
  printf("%s %d ", name, failed);
  for (size_t i = 0; i < n; i++)
    printf("%02x", sealed[i]);
  for (int i = 0; i < 16; i++)
    printf("%02x", tag[i]);
  printf(" %d", memcmp(opened, text, n) == 0);
}

int main(void) {
  static aes128_keys blocks;
  static aes128_gcm_keys gcm;
  static chacha20_poly1305_keys chacha;
  for (int i = 0; i < 32; i++)
    key[i] = (uint8_t)i;
  for (int i = 0; i < 16; i++)
    nonce[i] = (uint8_t)(i * 17);
  for (int i = 0; i < N; i++)
    text[i] = (uint8_t)(i * i + 3 * i);
  int failed = aes128_expand(&blocks, NULL, key, 16);
  failed |= aes128_blocks(&blocks, nonce, 16, sealed, 16);
  memcpy(tag, sealed, 16);
  show("aes", failed, 0);
  for (size_t n = 0; n <= N; n += 125) {
    failed = aes128_gcm_expand(&gcm, NULL, key, 16);
    failed |= aes128_gcm_encrypt(&gcm, nonce, 12, key, 29, text, n, sealed, n,
                                 tag, 16);
    failed |= aes128_gcm_decrypt(&gcm, nonce, 12, key, 29, sealed, n, opened, n,
                                 tag, 16);
    show("\ngcm", failed, n);
    tag[3] ^= 4;
    printf(" %d", aes128_gcm_decrypt(&gcm, nonce, 12, key, 29, sealed, n,
                                     opened, n, tag, 16));
    failed = chacha20_poly1305_expand(&chacha, NULL, key, 32);
    failed |= chacha20_poly1305_encrypt(&chacha, nonce, 12, key, 29, text, n,
                                        sealed, n, tag, 16);
    failed |= chacha20_poly1305_decrypt(&chacha, nonce, 12, key, 29, sealed, n,
                                        opened, n, tag, 16);
    show("\nchacha", failed, n);
    failed = ascon_aead128_encrypt(NULL, key, 16, nonce, 16, key, 29, text, n,
                                   sealed, n, tag, 16);
    failed |= ascon_aead128_decrypt(NULL, key, 16, nonce, 16, key, 29, sealed,
                                    n, opened, n, tag, 16);
    show("\nascon", failed, n);
  }
  fprintf(stderr, "%s\n", aes128_best());
  printf("\n");
  return 0;
}

/* The Internet checksum (RFC 1071) of a message of n 16-bit words, with the pseudo-header's sum. */
#include <stddef.h>
#include <stdint.h>

uint16_t checksum(const uint16_t *words, size_t n, uint32_t sum)
{
    for (size_t i = 0; i < n; i++) {
        sum += words[i];
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (uint16_t)~sum;
}

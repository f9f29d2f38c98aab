/* Programs of one kind of work each, for measurements: `work read|write|compute AMOUNT`.
 * read: loads through 256 MB, AMOUNT GB altogether; write: stores that bypass the caches; compute:
 * AMOUNT times 10 million dependent multiplications. Prints a number that depends on all of it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define BYTES (256l << 20)

static uint64_t read_all(const uint64_t *memory)
{
    uint64_t sum[8] = {0};
    for (long i = 0; i < BYTES / 8; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += memory[i + k];
    return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
}

static void write_all(uint64_t *memory, uint64_t value)
{
#if defined(__x86_64__)
    for (long i = 0; i < BYTES / 8; i += 2)
        _mm_stream_si128((__m128i *)(memory + i), _mm_set1_epi64x((long long)value));
    _mm_sfence();
#else
    for (long i = 0; i < BYTES / 8; i++)
        memory[i] = value;
#endif
}

int main(int n_arguments, char **arguments)
{
    if (n_arguments != 3) {
        fprintf(stderr, "usage: work read|write|compute AMOUNT\n");
        return 1;
    }
    long amount = atol(arguments[2]);
    uint64_t sum = 0;
    double product = 1;
    if (arguments[1][0] == 'c') {
        for (long i = 0; i < amount * 10000000; i++)
            product *= 1.00000001;
    } else {
        uint64_t *memory = aligned_alloc(64, BYTES);
        if (!memory)
            return 2;
        memset(memory, 1, BYTES);
        for (long i = 0; i < amount * 4; i++) {
            if (arguments[1][0] == 'w')
                write_all(memory, (uint64_t)i);
            else
                sum += read_all(memory);
        }
        sum += memory[BYTES / 16];
    }
    printf("%llu %g\n", (unsigned long long)sum, product);
    return 0;
}

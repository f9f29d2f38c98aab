/* What compilers make of C: arithmetic of all widths, bit fields, structures, tables, calls, atomics. */
#include <stdint.h>

struct message { uint32_t tag; uint16_t length; uint8_t kind : 3, urgent : 1, rest : 4; int8_t delta; uint64_t words[8]; };
struct thread { struct thread *next; int64_t budget; volatile uint32_t state; struct message inbox; };

extern int consume(const struct message *message, int how);
extern struct thread *current;

uint32_t extensions(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e) { return (uint8_t)(a + b) ^ (uint16_t)(c * d) ^ (int8_t)e; }

int64_t wide(int64_t a, uint64_t b, int n) { return ((a >> (n & 63)) * 3 + (int64_t)(b << (n & 31))) ^ (a < (int64_t)b ? a - 7 : (int64_t)(b | 0x123456789abcdef0)); }

uint32_t divide(uint32_t a, uint32_t b, int32_t c) { return b ? a / b + a % b + (uint32_t)(c / 10) : (uint32_t)(c % 7); }

uint64_t product(uint32_t a, uint32_t b, int32_t c, int32_t d) { return (uint64_t)a * b + (uint64_t)((int64_t)c * d); }

int fields(struct message *m, unsigned value)
{
    m->kind = value;
    m->urgent = value >> 7;
    m->delta = (int8_t)(value >> 13);
    return m->kind + m->rest + m->delta + (int)((value >> 5) & 0x1ff);
}

int classify(int kind)
{
    switch (kind) {
    case 0: return 17;
    case 1: return -4;
    case 2: return 1000;
    case 3: return 0x12345678;
    case 4: return kind * 9;
    case 7: return 3;
    default: return -1;
    }
}

int deliver(struct thread *to, const struct message *from, unsigned n)
{
    if (!to || from->length > sizeof from->words || (to->state & 3) != 1)
        return -1;
    for (unsigned i = 0; i < n && i < 8; i++)
        to->inbox.words[i] = from->words[i] + i;
    to->inbox.tag = from->tag & ~0xfu;
    to->budget -= from->length;
    to->state = 2;
    for (struct thread *it = current; it; it = it->next)
        if (it->budget < 0 && consume(&it->inbox, classify(it->inbox.kind)) > 3)
            return (int)(it - current);
    return 0;
}

uint32_t checksum(const uint8_t *bytes, unsigned n)
{
    uint32_t crc = ~0u;
    while (n--) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1));
    }
    return __builtin_bswap32(crc) + (uint32_t)__builtin_clz(crc | 1);
}

void copy(struct message *to, const struct message *from) { *to = *from; }

uint32_t rotate(uint32_t a, unsigned n) { return (a << (n & 31)) | (a >> (-n & 31)); }

int (*table[4])(int) = {classify, classify, classify, classify};
int indirect(unsigned n, int value) { return table[n & 3](value) + 1; }

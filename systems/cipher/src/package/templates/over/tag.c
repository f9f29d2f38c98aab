
/* True if the tags are the same, which takes as long wherever they differ. */
static int is_same(const uint8_t *tag, const uint8_t *other)
{
    uint32_t differ = 0;
    for (int i = 0; i < 16; i++)
        differ |= (uint32_t)(tag[i] ^ other[i]);
    return (int)MEANWHILE_PUBLIC((differ - 1) >> 31);
}

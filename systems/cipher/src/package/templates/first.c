
/* The first block of a stream, in place, of which so many bytes will follow; SIZE_MAX: unknown. By
   narrower code where the others then take a batch less. */
__attribute__((visibility("hidden"))) int @NAME@_first(@NAME@ *stream, uint8_t *block, size_t more);
int @NAME@_first(@NAME@ *stream, uint8_t *block, size_t more)
{
    size_t k = made_for(stream->target[0]), n_blocks = more / @N_OUT@ + (more % @N_OUT@ != 0);
    size_t rest = more == SIZE_MAX ? 0 : rest_of(k, n_blocks + 1);
    size_t other = rest > 0 ? target_for(k, rest) : k;
    return targets[other].xor_bytes(stream->words, NULL, block, block, @N_OUT@);
}


/* The first block of a stream, in place, of which so many bytes will follow; SIZE_MAX: unknown. By
   code for one block where the others then take a batch less. */
__attribute__((visibility("hidden"))) int @NAME@_first(@NAME@ *stream, uint8_t *block, size_t more);
int @NAME@_first(@NAME@ *stream, uint8_t *block, size_t more)
{
    size_t k = made_for(stream->target[0]), n_blocks = more / @N_OUT@ + (more % @N_OUT@ != 0);
    if (more == SIZE_MAX || n_blocks % targets[k].batch != 0)
        return targets[k].xor_bytes(stream->words, NULL, block, block, @N_OUT@);
    return xor_bytes(k, stream->words, block, block, @N_OUT@);
}


/* A stream by the code of target k, but what a short message leaves for its last batch, if that is
   one block, by code for one block, which takes half the time of a batch. A stream in pieces has
   batches, whose rest the next piece takes. */
static int xor_bytes(size_t k, void *stream, const uint8_t *in, uint8_t *out, size_t n)
{
    size_t rest = n % (targets[k].batch * @N_OUT@);
    int is_short = k > 0 && targets[0].batch == 1 && rest > 0 && rest <= @N_OUT@
        && targets[k].is_fresh(stream);
    int is_right = in && out && (in == out || !overlap(in, n, out, n));
    if (!is_short || !is_right || targets[k].check(stream, n))
        return targets[k].xor_bytes(stream, NULL, in, out, n);
    n -= rest;
    if (n > 0)
        (void)targets[k].xor_bytes(stream, NULL, in, out, n);
    return targets[0].xor_bytes(stream, NULL, in + n, out + n, rest);
}

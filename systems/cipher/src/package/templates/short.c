
/* The code for n blocks that a message leaves for less than a batch of target k: the narrowest that
   has them in a batch, of the code for one block and that of the instructions of k. */
static size_t target_for(size_t k, size_t n)
{
    for (size_t other = 0; other < k; other++)
        if (n <= targets[other].batch && (targets[other].batch == 1
                || targets[other].has_ternary == targets[k].has_ternary))
            return other;
    return k;
}

/* Of that many blocks, how many target k leaves for other code: more than one behind a batch are
   in interleaved batches, which take less time than batches one after another. */
static size_t rest_of(size_t k, size_t n)
{
    size_t batch = targets[k].batch, rest = n % targets[k].width;
    return rest <= batch ? rest % batch : rest == batch + 1;
}

/* A stream by the code of target k, but what a message leaves for its last batch by narrower code,
   which takes less time. A stream in pieces has batches, whose rest the next piece takes. */
static int xor_bytes(size_t k, void *stream, const uint8_t *in, uint8_t *out, size_t n)
{
    size_t n_blocks = n / @N_OUT@ + (n % @N_OUT@ != 0), n_rest = rest_of(k, n_blocks);
    size_t rest = n_rest > 0 ? n - (n_blocks - n_rest) * @N_OUT@ : 0;
    size_t other = n_rest > 0 ? target_for(k, n_rest) : k;
    int is_right = in && out && (in == out || !overlap(in, n, out, n));
    if (other == k || !is_right || !targets[k].is_fresh(stream) || targets[k].check(stream, n))
        return targets[k].xor_bytes(stream, NULL, in, out, n);
    n -= rest;
    if (n > 0)
        (void)targets[k].xor_bytes(stream, NULL, in, out, n);
    return targets[other].xor_bytes(stream, NULL, in + n, out + n, rest);
}

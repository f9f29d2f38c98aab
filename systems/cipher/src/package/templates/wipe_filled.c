
/* Overwrites what a stream has held, if its memory held no stream before. */
__attribute__((visibility("hidden"))) void @NAME@_wipe_filled(@NAME@ *stream);
void @NAME@_wipe_filled(@NAME@ *stream)
{
    size_t k = made_for(stream->target[0]);
    if (k == N_TARGETS)
        wipe(stream, sizeof *stream);
    else
        wipe(stream->words, targets[k].held(stream->words));
}


#define UNKNOWN SIZE_MAX /* size of a message in pieces */

/* All but the stream, which has a mark of its own. */
static void clear_state(@MODE@_state *state)
{
    state->stream.target[0] = 0;
    memset((uint8_t *)state + sizeof state->stream, 0, sizeof *state - sizeof state->stream);
}

__attribute__((visibility("hidden"))) void @NAME@_ctr_wipe_filled(@NAME@_ctr *stream);

/* Of one message only. */
static void wipe_state(@MODE@_state *state)
{
    @NAME@_ctr_wipe_filled(&state->stream);
    wipe((uint8_t *)state + sizeof state->stream, sizeof *state - sizeof state->stream);
}

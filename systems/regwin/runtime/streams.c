/* Streams: cyclic byte buffers between threads. */
#include "kernel.h"

RUNTIME void stream_open(struct stream *s, const char *name, void *bytes, unsigned capacity, unsigned n_writers)
{
    s->name = name;
    s->bytes = bytes;
    s->capacity = capacity;
    s->n_bytes = s->read_at = 0;
    s->reader = s->writer = s->writer_last = 0;
    s->n_writers = n_writers;
}

static inline void wait_for(struct stream *s, struct thr *self, int why)
{
    self->waits = s;
    self->waits_for = why;
    give_up();
    self->waits_for = THR_RUNS;
}

static inline void wake_reader(struct stream *s)
{
    struct thr *reader = s->reader;
    if (reader) {
        s->reader = 0;
        ready_push(reader);
    }
}

static inline void put(struct stream *s, unsigned byte)
{
    while (s->n_bytes == s->capacity) {
        struct thr *self = thr_self();
        self->hint = 0; /* the next that waits for room */
        if (s->writer)
            s->writer_last->hint = (unsigned)self;
        else
            s->writer = self;
        s->writer_last = self;
        wait_for(s, self, THR_WAITS_ROOM);
    }
    unsigned at = s->read_at + s->n_bytes;
    if (at >= s->capacity)
        at -= s->capacity;
    s->bytes[at] = (unsigned char)byte;
    s->n_bytes++;
    wake_reader(s);
}

static inline int get(struct stream *s)
{
    while (s->n_bytes == 0) {
        if (s->n_writers == 0)
            return -1;
        s->reader = thr_self();
        wait_for(s, s->reader, THR_WAITS_BYTES);
    }
    unsigned at = s->read_at;
    int byte = s->bytes[at];
    s->read_at = at + 1 == s->capacity ? 0 : at + 1;
    s->n_bytes--;
    struct thr *writer = s->writer;
    if (writer) {
        s->writer = (struct thr *)writer->hint;
        ready_push(writer);
    }
    return byte;
}

RUNTIME void stream_close(struct stream *s)
{
    unsigned before = kernel_enter();
    s->n_writers--;
    wake_reader(s);
    kernel_leave(before);
}

RUNTIME void stream_put(struct stream *s, unsigned byte)
{
    unsigned before = kernel_enter();
    put(s, byte);
    kernel_leave(before);
}

RUNTIME int stream_get(struct stream *s)
{
    unsigned before = kernel_enter();
    int byte = get(s);
    kernel_leave(before);
    return byte;
}

/* The masks of interrupts are taken off between bytes. */
RUNTIME void stream_write(struct stream *s, const void *bytes, unsigned n)
{
    const unsigned char *from = bytes;
    for (unsigned i = 0; i < n; i++) {
        unsigned before = kernel_enter();
        put(s, from[i]);
        kernel_leave(before);
    }
}

RUNTIME unsigned stream_read(struct stream *s, void *bytes, unsigned n)
{
    unsigned char *to = bytes;
    for (unsigned i = 0; i < n; i++) {
        unsigned before = kernel_enter();
        int byte = get(s);
        kernel_leave(before);
        if (byte < 0)
            return i;
        to[i] = (unsigned char)byte;
    }
    return n;
}

/* Queues of messages. */
#include "kernel.h"

RUNTIME void queue_open(struct queue *q, const char *name, void *items, unsigned bytes, unsigned capacity)
{
    q->name = name;
    q->items = items;
    q->bytes = bytes;
    q->capacity = capacity;
    q->n_items = q->read_at = 0;
    q->senders.first = q->senders.last = q->receivers.first = q->receivers.last = 0;
}

/* By words where both lie so. */
static inline void copy(unsigned char *to, const unsigned char *from, unsigned n)
{
    if ((((unsigned)to | (unsigned)from | n) & 3) == 0) {
        for (unsigned i = 0; i < n; i += 4)
            *(unsigned *)(to + i) = *(const unsigned *)(from + i);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        to[i] = from[i];
}

static inline void put(struct queue *q, const void *item)
{
    unsigned at = q->read_at + q->n_items;
    if (at >= q->capacity)
        at -= q->capacity;
    copy(q->items + at * q->bytes, item, q->bytes);
    q->n_items++;
    list_wake(&q->receivers);
}

static inline void get(struct queue *q, void *item)
{
    copy(item, q->items + q->read_at * q->bytes, q->bytes);
    q->read_at = q->read_at + 1 == q->capacity ? 0 : q->read_at + 1;
    q->n_items--;
    list_wake(&q->senders);
}

/* A thread that was woken looks again: another one may have been faster. Its time goes on. */
#ifdef PREEMPT
#define DEADLINE(ticks) unsigned end = thr_now() + (ticks)
#define LEFT(ticks) ((ticks) ? end - thr_now() : 0)
#define IS_OVER(ticks) ((ticks) && (int)(end - thr_now()) <= 0)
#else
#define DEADLINE(ticks)
#define LEFT(ticks) 0
#define IS_OVER(ticks) 0
#endif

static inline int send(struct queue *q, const void *item, unsigned ticks)
{
    unsigned before = kernel_enter();
    int result = 0;
    DEADLINE(ticks);
    while (result == 0 && q->n_items == q->capacity)
        result = IS_OVER(ticks) ? THR_TIMEOUT : list_wait(&q->senders, q, THR_WAITS_SPACE, LEFT(ticks));
    if (q->n_items < q->capacity) {
        put(q, item);
        result = 0;
    }
    kernel_leave(before);
    return result;
}

static inline int receive(struct queue *q, void *item, unsigned ticks)
{
    unsigned before = kernel_enter();
    int result = 0;
    DEADLINE(ticks);
    while (result == 0 && q->n_items == 0)
        result = IS_OVER(ticks) ? THR_TIMEOUT : list_wait(&q->receivers, q, THR_WAITS_ITEM, LEFT(ticks));
    if (q->n_items > 0) {
        get(q, item);
        result = 0;
    }
    kernel_leave(before);
    return result;
}

RUNTIME void queue_send(struct queue *q, const void *item)
{
    send(q, item, 0);
}

RUNTIME void queue_receive(struct queue *q, void *item)
{
    receive(q, item, 0);
}

RUNTIME int queue_try_send(struct queue *q, const void *item)
{
    unsigned before = kernel_enter();
    int result = q->n_items < q->capacity ? 0 : THR_REFUSED;
    if (result == 0)
        put(q, item);
    kernel_leave(before);
    return result;
}

RUNTIME int queue_try_receive(struct queue *q, void *item)
{
    unsigned before = kernel_enter();
    int result = q->n_items > 0 ? 0 : THR_REFUSED;
    if (result == 0)
        get(q, item);
    kernel_leave(before);
    return result;
}

#ifdef PREEMPT
RUNTIME int queue_send_for(struct queue *q, const void *item, unsigned ticks)
{
    return send(q, item, ticks);
}

RUNTIME int queue_receive_for(struct queue *q, void *item, unsigned ticks)
{
    return receive(q, item, ticks);
}
#endif

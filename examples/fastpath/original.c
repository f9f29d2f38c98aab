/* The fast path as one writes it first. */
#include "kernel.h"

static struct cap *lookup(struct tcb *thread, word cptr)
{
    struct cap *table = (struct cap *)thread->slots;
    if (cptr > thread->mask)
        return 0;
    return &table[cptr];
}

static int is_endpoint(struct cap *cap)
{
    return (cap->rights_type & CAP_TYPE) == CAP_ENDPOINT;
}

static int may_call(struct cap *cap)
{
    return (cap->rights_type & CAP_SEND) && (cap->rights_type & CAP_REPLY);
}

static unsigned char length_of(word info)
{
    return info & INFO_LENGTH;
}

static int is_plain(word info)
{
    return length_of(info) <= LENGTH_MAX && (info & INFO_CAPS) == 0;
}

static int may_switch(struct tcb *from, struct tcb *to)
{
    return to->priority >= from->priority && to->domain == from->domain && to->space != 0;
}

static void dequeue(struct endpoint *ep)
{
    struct tcb *first = (struct tcb *)(ep->first_state & ~EP_STATE);
    ep->first_state = (word)first->next;
    if (first->next)
        ep->first_state |= EP_RECEIVE;
}

static void transfer(struct tcb *from, struct tcb *to, word badge, word info)
{
    int i;

    for (i = 0; i <= LENGTH_MAX; i++)
        to->message.words[i] = from->message.words[i];
    to->who = badge;
    to->info = length_of(info);
}

word fastpath_call(struct kernel *k, struct tcb *sender, word cptr, word info)
{
    struct cap *cap = lookup(sender, cptr);
    struct endpoint *ep;
    struct tcb *receiver;

    if (!is_plain(info) || (sender->fault & 7) != 0)
        return slowpath(k, sender);
    if (!cap || !is_endpoint(cap) || !may_call(cap))
        return slowpath(k, sender);
    ep = (struct endpoint *)cap->object;
    if ((ep->first_state & EP_STATE) != EP_RECEIVE)
        return slowpath(k, sender);
    receiver = (struct tcb *)(ep->first_state & ~EP_STATE);
    if (!may_switch(sender, receiver))
        return slowpath(k, sender);

    dequeue(ep);
    receiver->caller = sender;
    sender->state = THREAD_AWAITS_REPLY;
    receiver->state = THREAD_RUNNING;
    transfer(sender, receiver, cap->badge, info);
    k->current = receiver;
    k->space = receiver->space;
    return 0;
}

/* Random kernels through one version of the fast path: prints what each call changed, as a number.
 *
 * All versions must print the same. The harness also says for itself whether a call may take the
 * fast path, so that they cannot all be wrong in the same way about that.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"

enum { N_THREADS = 12, N_ENDPOINTS = 6, N_CAPS = 16, SLOW = 0x510 };

static struct {
    struct tcb threads[N_THREADS];
    struct cap caps[N_THREADS][N_CAPS];
    struct endpoint endpoints[N_ENDPOINTS];
    struct kernel kernel;
} world;

static uint64_t state;
static word n_slow;

word slowpath(struct kernel *k, struct tcb *sender)
{
    if (k != &world.kernel || sender != k->current)
        abort();
    n_slow++;
    return SLOW;
}

/* Sebastiano Vigna's splitmix64, in the public domain. */
static word number(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (word)(z >> 32);
}

static word below(word n)
{
    return number() % n;
}

/* True in one of n cases. */
static int seldom(word n)
{
    return below(n) == 0;
}

static void fill(void)
{
    word *words = (word *)&world;
    word idx;

    for (idx = 0; idx < sizeof world / sizeof *words; idx++)
        words[idx] = number();
    for (idx = 0; idx < N_ENDPOINTS; idx++) {
        struct endpoint *ep = &world.endpoints[idx];
        word it = seldom(8) ? below(4) : EP_RECEIVE;

        ep->first_state = it == EP_IDLE ? 0 : (word)&world.threads[1 + below(N_THREADS - 1)] | it;
    }
    for (idx = 0; idx < N_THREADS; idx++) {
        struct tcb *it = &world.threads[idx];
        word cap;

        it->next = seldom(2) ? 0 : &world.threads[below(N_THREADS)];
        it->slots = (word)world.caps[idx];
        it->mask = N_CAPS - 1;
        it->fault &= seldom(10) ? ~0u : ~7u;
        it->space = seldom(12) ? 0 : it->space;
        it->priority = seldom(3) ? below(3) : 1;
        it->domain = seldom(12);
        for (cap = 0; cap < N_CAPS; cap++) {
            struct cap *slot = &world.caps[idx][cap];

            if (!seldom(10))
                slot->rights_type = (slot->rights_type & ~63u) | CAP_ENDPOINT | CAP_SEND | CAP_REPLY;
            /* What is no endpoint is no address either. */
            if ((slot->rights_type & CAP_TYPE) == CAP_ENDPOINT)
                slot->object = (word)&world.endpoints[below(N_ENDPOINTS)];
        }
    }
    world.kernel.current = &world.threads[0];
}

/* The checks in the words of the manual, one after the other. */
static int may_be_fast(struct tcb *sender, word cptr, word info)
{
    struct cap *cap;
    struct endpoint *ep;
    struct tcb *receiver;

    if ((info & INFO_LENGTH) > LENGTH_MAX || (info & INFO_CAPS) || (sender->fault & 7) || cptr > sender->mask)
        return 0;
    cap = (struct cap *)sender->slots + cptr;
    if ((cap->rights_type & CAP_TYPE) != CAP_ENDPOINT || !(cap->rights_type & CAP_SEND) || !(cap->rights_type & CAP_REPLY))
        return 0;
    ep = (struct endpoint *)cap->object;
    if ((ep->first_state & EP_STATE) != EP_RECEIVE)
        return 0;
    receiver = (struct tcb *)(ep->first_state - EP_RECEIVE);
    return receiver->priority >= sender->priority && receiver->domain == sender->domain && receiver->space;
}

/* All of the world as one number; addresses count from its beginning. */
static word digest(void)
{
    const word *words = (const word *)&world;
    word sum = 2166136261u, idx;

    for (idx = 0; idx < sizeof world / sizeof *words; idx++) {
        word it = words[idx];

        if (it - (word)&world < sizeof world)
            it -= (word)&world;
        sum = (sum ^ it) * 16777619u + (sum >> 15);
    }
    return sum;
}

int main(int n, char **arguments)
{
    word n_calls = n > 1 ? strtoul(arguments[1], 0, 0) : 10000;
    word all = 0, n_fast = 0, idx;

    state = n > 2 ? strtoul(arguments[2], 0, 0) : 1;
    for (idx = 0; idx < n_calls; idx++) {
        word cptr, info, got, before;
        int expected;

        fill();
        cptr = seldom(10) ? number() : below(N_CAPS);
        info = seldom(10) ? number() : (number() & ~511u) | below(4);
        expected = may_be_fast(world.kernel.current, cptr, info);
        before = n_slow;
        got = fastpath_call(&world.kernel, world.kernel.current, cptr, info);
        if (got != (expected ? 0 : SLOW) || n_slow - before != (word)!expected) {
            printf("call %u of seed %s: %s path expected\n", (unsigned)idx, n > 2 ? arguments[2] : "1", expected ? "fast" : "slow");
            return 1;
        }
        n_fast += expected;
        all = all * 31 + digest();
    }
    printf("%u calls, %u fast, digest %08x\n", (unsigned)n_calls, (unsigned)n_fast, (unsigned)all);
    return 0;
}

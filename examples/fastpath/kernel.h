/* A small message-passing kernel: what its fast path touches, and nothing else. */
#ifndef FASTPATH_KERNEL_H
#define FASTPATH_KERNEL_H

#include <stdint.h>

typedef uint32_t word;

/* A capability: what a thread may do with which object. */
struct cap {
    word rights_type; /* type in bits 0 to 3, rights from bit 4 on */
    word object;      /* its address */
    word badge;       /* what the receiver sees of the sender */
    word spare;
};

enum { CAP_TYPE = 15, CAP_ENDPOINT = 2, CAP_SEND = 16, CAP_REPLY = 32 };

/* Where senders and receivers meet: the first waiting thread, its low two bits the state. */
struct endpoint {
    word first_state;
    word last; /* the last one, if there is a first */
};

enum { EP_STATE = 3, EP_IDLE = 0, EP_SEND = 1, EP_RECEIVE = 2 };

/* A message of four words, or two pairs of them. */
union message {
    word words[4];
    uint64_t pairs[2];
};

/* A thread. */
struct tcb {
    union message message;
    struct tcb *next; /* after it at the endpoint */
    word slots;       /* address of its table of capabilities */
    word mask;        /* entries of the table, less one */
    word fault;       /* low three bits: 0 is none */
    word space;       /* its page table; 0 is none */
    struct tcb *caller;
    word state;
    word priority;
    word domain;
    word who;         /* the capability of a call; for its receiver the badge */
    word info;        /* what the message is: its length and more */
};

enum { THREAD_RUNNING = 0, THREAD_AWAITS_MESSAGE = 3, THREAD_AWAITS_REPLY = 4 };

/* Who runs, and in which address space. */
struct kernel {
    struct tcb *current;
    word space;
};

/* A message: in the low seven bits how many words are after its first, above them how many
 * capabilities come with it. */
enum { INFO_LENGTH = 127, INFO_CAPS = 3 << 7, LENGTH_MAX = 3 };

/* Everything that the fast path does not do; it finds the call in the thread. */
extern word slowpath(struct kernel *k, struct tcb *sender);

/* Sends the message of the current thread, `sender`, through its capability `cptr` to the thread
 * that waits there, and makes that one the current one; 0 if this was done, else what the slow
 * path says. */
extern word fastpath_call(struct kernel *k, struct tcb *sender, word cptr, word info);

#endif

/* The clock that polls go by, and how they give way.
 *
 * A library whose ranks share processors gives the processor away whenever it is asked and has nothing to do. Then this thread
 * computes nothing until the others have looked for their messages, so the more a question cost, the later comes the next:
 * a thread gives away at most about one part in GIVEN_PARTS of its time. What the question itself did, such as moving a message,
 * is no cost. */
#include <stdint.h>
#include <time.h>

enum { GIVEN_PARTS = 64 };

/* No question of this thread before that. */
static _Thread_local int64_t not_before_ns;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* How long this thread has not been running: the difference of two of these is what it gave away between them. */
static int64_t given_ns(void)
{
	return now_ns() - clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Behind a question; `before_ns` is what had been given before it. */
static void give_way(int64_t before_ns)
{
	not_before_ns = now_ns() + GIVEN_PARTS * (given_ns() - before_ns);
}

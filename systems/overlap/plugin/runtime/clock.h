/* The clock that polls go by, when the next one comes, and how they give way.
 *
 * A question that takes no time has moved nothing. If nothing has moved for a while, because what
 * is pending has arrived or its sender is late, the next question comes when that while is longer
 * by one part in LATE_PARTS: so a message waits at most so much longer than it let us wait, and
 * questions that find nothing become rare.
 *
 * A library whose ranks share processors gives the processor away whenever it is asked and has
 * nothing to do. Then this thread computes nothing until the others have looked for their messages,
 * so the more a question cost, the later comes the next: a thread gives away at most about one part
 * in GIVEN_PARTS of its time. What the question itself did, such as moving a message, is no cost.
 * */
#include <stdint.h>
#include <time.h>

enum { GIVEN_PARTS = 64, LATE_PARTS = 8 };
/* A question that takes less than this part of the time between two has moved next to nothing. A look at the sockets takes 1 to 2 us, 5 or
 * more where others just had the processor and nothing is in the caches; 30 KB take as much. */
enum { MOVED_PARTS = 10 };

/* No question of this thread before that. */
static _Thread_local int64_t not_before_ns;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* What follows is made for size, and a function that is one call is not smaller. */
#define PART static inline __attribute__((always_inline))

PART int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Of the questions of a thread: when the last one was, and since when nothing has moved. What is started anew moves. */
struct pace {
	int64_t asked_ns, still_since_ns;
};

static int is_time(const struct pace *pace, int64_t now)
{
	return now >= not_before_ns && now - pace->asked_ns >= (pace->asked_ns - pace->still_since_ns) / LATE_PARTS;
}

/* Two clocks in front of a question. The time behind the processor's: reading that one is a system call, at the end of which
 * the processor may go to others, and the question has not to answer for it. */
struct question {
	int64_t processor_ns, at_ns;
};

static struct question begin(void)
{
	int64_t processor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return (struct question){processor_ns, now_ns()};
}

/* Behind it. */
static void give_way(struct pace *pace, struct question asked, int64_t every_ns)
{
	int64_t now = now_ns(), took = now - asked.at_ns, given = took - (clock_ns(CLOCK_THREAD_CPUTIME_ID) - asked.processor_ns);
	int64_t nothing = every_ns / MOVED_PARTS;
	pace->asked_ns = asked.at_ns;
	if (took > nothing && given < nothing)
		pace->still_since_ns = now;
	not_before_ns = now + (given > 0 ? GIVEN_PARTS * given : 0);
}

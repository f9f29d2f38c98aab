/* Loops that compute what is sent, and more: passes that fill a message run first, the others while it is under way.
 *
 * Which passes those are is not computed but remembered: `sent` says where the messages lay when
 * the loop ran last. A message that lies elsewhere now is found in time, and the passes that are
 * left run before it starts.
 *
 * Compiled to bitcode when the plugin is built, and linked into every module that uses it, like
 * `pending.c`. */
#include <stdint.h>
#include <stddef.h>

#define SHARED __attribute__((weak, noinline))

enum { MESSAGES = 4, WRITTEN = 4, RUNS = MESSAGES * WRITTEN + 1 };

struct range {
	int64_t from, to;
};

/* Pass k writes the bytes [low + step * k + from, low + step * k + to). */
struct written {
	int64_t low, step, from, to;
};

/* Where the messages of a loop lay; one of these a loop and process. Threads that share it may spoil what it says, not more. */
struct sent {
	int64_t n;
	struct range at[MESSAGES];
};

typedef void run(void *values, int64_t from, int64_t to);
typedef int32_t poll(void *state, void *rate, int64_t every_ns);

/* The plugin knows its size. Zeroed at the function's entry. */
struct first {
	/* Null if nothing is left, and no message is looked at any more. */
	struct sent *sent;
	const struct written *written;
	int64_t n_written;
	run *run;
	void *values;
	/* Passes of the loop, and those that are left. */
	int64_t n, n_rest;
	struct range rest[MESSAGES + 2];
};
_Static_assert(sizeof(struct first) == 19 * 8, "the plugin makes room for it");

static int64_t divide(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* The passes of [0, n) that write to `at`. */
static struct range passes(const struct written *it, struct range at, int64_t n)
{
	int64_t step = it->step < 0 ? -it->step : it->step;
	int64_t before = it->step < 0 ? it->low + it->from - at.to : at.from - it->low - it->to;
	int64_t behind = it->step < 0 ? it->low + it->to - at.from : at.to - it->low - it->from;
	struct range of = {divide(before, step) + 1, divide(behind - 1, step) + 1};
	if (of.from < 0)
		of.from = 0;
	if (of.to > n)
		of.to = n;
	return of;
}

static void insert(struct range *runs, int64_t *n, struct range new)
{
	int64_t at = (*n)++;
	for (; at > 0 && runs[at - 1].from > new.from; at--)
		runs[at] = runs[at - 1];
	runs[at] = new;
}

/* In front of a loop of `n` passes: 1 if some of them, but not all, fill messages of `min_bytes` in all. `keeps_last` if the
 * last pass leaves something to what follows. */
SHARED int32_t __overlap_first_look(struct first *first, struct sent *sent, int64_t n, int64_t n_written,
				    const struct written *written, int64_t min_bytes, int32_t keeps_last)
{
	struct range runs[RUNS];
	int64_t n_runs = 0, bytes = 0, at = 0, n_sent = __atomic_load_n(&sent->n, __ATOMIC_RELAXED);
	for (int64_t i = 0; i < n_sent && i < MESSAGES; i++) {
		bytes += sent->at[i].to - sent->at[i].from;
		for (int64_t k = 0; k < n_written; k++) {
			struct range of = passes(&written[k], sent->at[i], n);
			if (of.from < of.to)
				insert(runs, &n_runs, of);
		}
	}
	*first = (struct first){.sent = sent, .written = written, .n_written = n_written, .n = n};
	__atomic_store_n(&sent->n, 0, __ATOMIC_RELAXED);
	if (!n_runs || bytes < min_bytes)
		return 0;
	if (keeps_last)
		insert(runs, &n_runs, (struct range){n - 1, n});
	for (int64_t i = 0; i < n_runs; i++) {
		if (runs[i].from > at) {
			if (first->n_rest == MESSAGES + 1) {
				first->n_rest = 0;
				return 0;
			}
			first->rest[first->n_rest++] = (struct range){at, runs[i].from};
		}
		if (runs[i].to > at)
			at = runs[i].to;
	}
	if (at < n)
		first->rest[first->n_rest++] = (struct range){at, n};
	return first->n_rest > 0;
}

/* Runs the passes that fill messages. */
SHARED void __overlap_first_run(struct first *first, run *run, void *values)
{
	int64_t at = 0;
	first->run = run;
	first->values = values;
	for (int64_t i = 0; i < first->n_rest; i++) {
		if (first->rest[i].from > at)
			run(values, at, first->rest[i].from);
		at = first->rest[i].to;
	}
	if (at < first->n)
		run(values, at, first->n);
}

/* Runs what is left; asks for messages between, if it is told how. */
SHARED void __overlap_first_rest(struct first *first, poll *poll, void *state, int64_t every_ns)
{
	struct {
		int64_t last_ns;
		int32_t stride;
	} rate = {0, 8};
	int64_t stride = poll ? rate.stride : INT64_MAX;
	for (int64_t i = 0; i < first->n_rest; i++) {
		struct range left = first->rest[i];
		while (left.from < left.to) {
			int64_t to = left.to - left.from <= stride ? left.to : left.from + stride;
			first->run(first->values, left.from, to);
			left.from = to;
			if (poll)
				stride = poll(state, &rate, every_ns);
		}
	}
	first->n_rest = 0;
}

/* Runs what is left, and forgets the loop. */
SHARED void __overlap_first_end(struct first *first)
{
	__overlap_first_rest(first, NULL, NULL, 0);
	first->sent = NULL;
}

static int is_left(const struct first *first, struct range at)
{
	for (int64_t i = 0; i < first->n_rest; i++)
		for (int64_t k = 0; k < first->n_written; k++) {
			const struct written *it = &first->written[k];
			int64_t head = it->low + it->step * first->rest[i].from, last = it->low + it->step * (first->rest[i].to - 1);
			int64_t from = (it->step < 0 ? last : head) + it->from, to = (it->step < 0 ? head : last) + it->to;
			if (at.from < to && from < at.to)
				return 1;
		}
	return 0;
}

/* In front of a load: runs what is left if it would write there. */
SHARED void __overlap_first_guard(struct first *first, const void *at, int64_t bytes)
{
	if (first->n_rest && is_left(first, (struct range){(intptr_t)at, (intptr_t)at + bytes}))
		__overlap_first_rest(first, NULL, NULL, 0);
}

/* In front of a message that is received, with a datatype that `is_named` or only the program knows where it lies. */
SHARED void __overlap_first_receives(struct first *first, int32_t is_named)
{
	if (first->sent && !is_named)
		__overlap_first_end(first);
}

/* In front of the start of a message: `count` elements of a datatype, each with `bytes` bytes from `at` bytes behind where it begins.
 * Runs what is left if it would write there. True if a message of `min_bytes` starts while
 * something is left. */
SHARED int32_t __overlap_first_sends(struct first *first, const void *buffer, int64_t count, int64_t at, int64_t bytes, int64_t extent,
				     int64_t min_bytes)
{
	if (!first->sent)
		return 0;
	struct range of = {(intptr_t)buffer + at, (intptr_t)buffer + at};
	if (count > 0) {
		int64_t far = extent * (count - 1);
		of.from += far < 0 ? far : 0;
		of.to += (far < 0 ? 0 : far) + bytes;
	}
	int64_t n = __atomic_load_n(&first->sent->n, __ATOMIC_RELAXED);
	if (of.from < of.to && n < MESSAGES) {
		first->sent->at[n] = of;
		__atomic_store_n(&first->sent->n, n + 1, __ATOMIC_RELAXED);
	}
	if (of.to - of.from < min_bytes || is_left(first, of))
		__overlap_first_rest(first, NULL, NULL, 0);
	return first->n_rest > 0;
}

/* Messages whose end is put off, and loops whose passes wait for them one by one.
 *
 * A function that exchanges messages keeps a list of them. Where it waited, `__overlap_later_take`
 * takes the request over, and the function goes on; where it would use what may still be pending,
 * `__overlap_later_guard` looks at addresses and ends what is met; a loop runs the passes that meet
 * nothing and keeps the others until the messages are there.
 *
 * Compiled to bitcode when the plugin is built, and linked into every module that uses it, like
 * `pending.c`. A handle is a pointer with OpenMPI and a number with MPICH. */
#include <stdint.h>
#include <stdlib.h>

#include "clock.h"
#include "handles.h"

#define SHARED __attribute__((weak, noinline))

/* OpenMPI only. */
extern char ompi_request_null __attribute__((weak)), ompi_mpi_errors_are_fatal __attribute__((weak));
/* In a program that handles errors or shares memory, where every call stays as it is. */
extern char __overlap_off __attribute__((weak));
/* In a program that is traced: a start, a wait, what has begun is done. */
extern void __overlap_trace(int event, const char *site, int64_t bytes) __attribute__((weak));
int MPI_Initialized(int *flag);
int MPI_Query_thread(int *level);
int MPI_Comm_get_errhandler();
int MPI_Errhandler_free();
int MPI_Wait();
int MPI_Test();

union handle {
	void *pointer;
	int32_t number;
};

enum end { ENDED, OF_PROGRAM, OURS };

struct message {
	union handle handle;
	/* Where the program keeps the request; null for ours. */
	void *request;
	uintptr_t from, to;
	int32_t is_received;
	enum end end;
};

/* The plugin knows the order of the first six. Zeroed at the function's entry. */
struct later {
	/* What is received into, and what is sent, of all messages: [from, to), nothing if `to` is 0. */
	uintptr_t received_from, received_to, sent_from, sent_to;
	int32_t n_open;
	int32_t n, room;
	struct message *messages;
};

typedef int call(void *request, void *status);
typedef int test(void *request, int *flag, void *status);
typedef int get(void *comm, void *handler);

static void *no_status(void)
{
	return (void *)(uintptr_t)(&ompi_request_null ? 0 : 1);
}

static int is_null(const union handle *handle)
{
	return &ompi_request_null ? handle->pointer == &ompi_request_null : handle->number == MPICH_REQUEST_NULL;
}

static void set_null(union handle *handle)
{
	if (&ompi_request_null)
		handle->pointer = &ompi_request_null;
	else
		handle->number = MPICH_REQUEST_NULL;
}

static int is_same(const union handle *a, const union handle *b)
{
	return &ompi_request_null ? a->pointer == b->pointer : a->number == b->number;
}

static void copy(union handle *to, const union handle *from)
{
	if (&ompi_request_null)
		to->pointer = from->pointer;
	else
		to->number = from->number;
}

PART void reach(uintptr_t *from, uintptr_t *to, uintptr_t lo, uintptr_t hi)
{
	if (!*to || lo < *from)
		*from = lo;
	if (hi > *to)
		*to = hi;
}

/* False if another thread may call MPI meanwhile, and so may see a message. */
static int is_alone(void)
{
	static int level = -1;
	int has_begun = 0;
	if (level < 0)
		MPI_Initialized(&has_begun);
	if (has_begun)
		MPI_Query_thread(&level);
	return level >= 0 && level < LEVEL_MULTIPLE;
}

/* True if an error on `comm` ends the program. */
static int ends_on_error(void *comm)
{
	union handle handler = {0};
	((get *)MPI_Comm_get_errhandler)(comm, &handler);
	int is_ompi = &ompi_request_null != 0;
	int is_fatal = is_ompi ? handler.pointer == &ompi_mpi_errors_are_fatal : handler.number == MPICH_ERRORS_ARE_FATAL;
	/* MPICH's own are not counted. */
	if (is_ompi || (handler.number & MPICH_HANDLE_KIND) != MPICH_BUILTIN)
		((int (*)(void *))MPI_Errhandler_free)(&handler);
	return is_fatal;
}

static struct message *add(struct later *later, void *comm, void *buffer, int64_t bytes, int is_received, void *request)
{
	if (&__overlap_off || bytes < 0 || !is_alone() || !ends_on_error(comm))
		return NULL;
	if (later->n == later->room) {
		int32_t room = later->room ? 2 * later->room : 16;
		struct message *more = realloc(later->messages, room * sizeof *more);
		if (!more)
			return NULL;
		later->messages = more;
		later->room = room;
	}
	struct message *it = &later->messages[later->n++];
	it->from = (uintptr_t)buffer;
	it->to = it->from + bytes;
	it->is_received = is_received;
	it->request = request;
	it->end = OF_PROGRAM;
	set_null(&it->handle);
	if (is_received)
		reach(&later->received_from, &later->received_to, it->from, it->to);
	else
		reach(&later->sent_from, &later->sent_to, it->from, it->to);
	return it;
}

/* Ends all messages of ours, and forgets those of the program. */
SHARED void __overlap_later_end(struct later *later)
{
	for (int i = 0; i < later->n; i++)
		if (later->messages[i].end == OURS)
			((call *)MPI_Wait)(&later->messages[i].handle, no_status());
	free(later->messages);
	*later = (struct later){0};
}

/* Ends all if one of ours meets [at, at + bytes): any that is received, and one that is sent if it is written. */
SHARED void __overlap_later_guard(struct later *later, void *at, int64_t bytes, int writes)
{
	uintptr_t from = (uintptr_t)at, to = from + bytes;
	for (int i = 0; i < later->n && later->n_open; i++) {
		struct message *it = &later->messages[i];
		if (it->end == OURS && (writes || it->is_received) && from < it->to && it->from < to)
			__overlap_later_end(later);
	}
}

/* In front of a start that sends. A rank that has received something may tell it to others by sending; one that receives from any source
 * could see the two in another order. So nothing of ours that is received stays pending. */
SHARED void __overlap_later_sends(struct later *later)
{
	for (int i = 0; i < later->n && later->n_open; i++)
		if (later->messages[i].end == OURS && later->messages[i].is_received)
			__overlap_later_end(later);
}

/* In front of a call on `comm` that an error handler may leave: nothing of ours stays pending then. */
SHARED void __overlap_later_may_throw(struct later *later, void *comm)
{
	if (later->n_open && !ends_on_error(comm))
		__overlap_later_end(later);
}

/* The program has started a message of its own. */
SHARED void __overlap_later_note(struct later *later, void *comm, void *request, void *buffer, int64_t bytes, int is_received)
{
	struct message *it = add(later, comm, buffer, bytes, is_received, request);
	if (it)
		copy(&it->handle, request);
}

/* In place of a wait for the request at `request`: true if it is ours from now on; the program sees it ended. */
SHARED int __overlap_later_take(struct later *later, void *request)
{
	for (int i = 0; i < later->n; i++) {
		struct message *it = &later->messages[i];
		/* Another request may be there by now. */
		if (it->end != OF_PROGRAM || it->request != request || !is_same(&it->handle, request))
			continue;
		set_null(request);
		it->request = NULL;
		it->end = OURS;
		later->n_open++;
		return 1;
	}
	/* An error of one that was not noted may be thrown. */
	__overlap_later_end(later);
	return 0;
}

/* The same for `n` requests in an array; the others stay. */
SHARED void __overlap_later_take_all(struct later *later, int n, void *requests)
{
	for (int i = 0; i < n; i++)
		__overlap_later_take(later, (char *)requests + i * (&ompi_request_null ? sizeof(void *) : sizeof(int32_t)));
}

/* Where the request of a send goes that need not block; null if it has to. */
SHARED void *__overlap_later_send(struct later *later, void *comm, void *buffer, int64_t bytes, int64_t min_bytes)
{
	__overlap_later_sends(later);
	struct message *it = bytes < min_bytes ? NULL : add(later, comm, buffer, bytes, 0, NULL);
	if (!it) {
		__overlap_later_may_throw(later, comm);
		return NULL;
	}
	it->end = OURS;
	later->n_open++;
	return &it->handle;
}

/* True if something of ours is pending that is worth to be waited for while passes run; else nothing of ours is any more. */
SHARED int __overlap_later_is_worth(struct later *later, int64_t min_bytes)
{
	int64_t bytes = 0;
	for (int i = 0; i < later->n; i++)
		if (later->messages[i].end == OURS && !is_null(&later->messages[i].handle))
			bytes += later->messages[i].to - later->messages[i].from;
	/* The driver takes a program with a loop that defers passes, and without a question about this, for one that is switched off. */
	if (!&__overlap_off && later->n_open && bytes >= min_bytes)
		return 1;
	__overlap_later_end(later);
	return 0;
}

/* Asks for each message; true if none is left. */
static int is_done(struct later *later)
{
	for (int i = 0; i < later->n; i++) {
		struct message *it = &later->messages[i];
		int flag = 0;
		if (it->end != OURS)
			continue;
		((test *)MPI_Test)(&it->handle, &flag, no_status());
		if (flag) {
			it->end = ENDED;
			later->n_open--;
		}
	}
	return later->n_open <= 0;
}

/* What a look at passes finds, as bits. */
enum { FREE, MEETS, KEEPS_ORDER };

typedef int look(void *values, struct later *later, int64_t from, int64_t to);
typedef void run(void *values, int64_t from, int64_t to);

/* A loop whose passes are deferred. */
struct loop {
	struct later *later;
	look *look;
	run *run;
	void *values;
	/* Passes that are kept, in their order. */
	struct range {
		int64_t from, to;
	} *kept;
	int64_t n_kept, room;
	/* True once the order of the passes counts. */
	int keeps_order;
};

/* Passes that are looked at together: at first, and where one of them meets something. The first are so few that what was
 * looked at is still near when they run. */
static const int64_t together[] = {64, 8, 1};
enum { N_TOGETHER = 3 };

/* True if there is memory for it. */
static int keep(struct loop *loop, int64_t from, int64_t to)
{
	if (loop->n_kept && loop->kept[loop->n_kept - 1].to == from) {
		loop->kept[loop->n_kept - 1].to = to;
		return 1;
	}
	if (loop->n_kept == loop->room) {
		int64_t room = loop->room ? 2 * loop->room : 64;
		struct range *more = realloc(loop->kept, room * sizeof *more);
		if (!more)
			return 0;
		loop->kept = more;
		loop->room = room;
	}
	loop->kept[loop->n_kept++] = (struct range){from, to};
	return 1;
}

/* Runs or keeps the passes [from, to), as many as may be out of their order; where the next one is. */
static int64_t advance(struct loop *loop, int64_t from, int64_t to, int depth)
{
	while (from < to && !loop->keeps_order) {
		int64_t end = to - from < together[depth] ? to : from + together[depth];
		int found = loop->look(loop->values, loop->later, from, end);
		int is_smallest = depth + 1 == N_TOGETHER;
		if (found == FREE) {
			loop->run(loop->values, from, end);
			from = end;
		} else if (depth > 0 && found == MEETS && keep(loop, from, end)) {
			from = end;
		} else if (is_smallest || (depth > 0 && found == MEETS)) {
			/* Or there is no memory to keep it. */
			loop->keeps_order = 1;
		} else {
			from = advance(loop, from, end, depth + 1);
		}
	}
	return from;
}

PART void trace(int event, const char *site, int64_t bytes)
{
	if (__overlap_trace)
		__overlap_trace(event, site, bytes);
}

/* Runs the passes [0, n) of a loop. None of them writes what another one uses, unless `look` says that the order counts. */
SHARED void __overlap_later_passes(struct later *later, int64_t n, look *look, run *run, void *values, int64_t every_ns,
				   const char *site)
{
	int64_t bytes = 0;
	for (int32_t i = 0; i < later->n; i++)
		if (later->messages[i].end != ENDED)
			bytes += (int64_t)(later->messages[i].to - later->messages[i].from);
	trace(0, site, bytes);
	trace(2, site, 0);
	struct loop loop = {.later = later, .look = look, .run = run, .values = values};
	/* Passes between two looks at the clock, which are to take half of the time between two polls. */
	int64_t at = 0, stride = 8, looked_ns = 0;
	struct pace pace = {.still_since_ns = now_ns()};
	while (at < n && !loop.keeps_order) {
		int64_t now = now_ns();
		if (at > 0 && now - looked_ns > every_ns && stride > 1)
			stride /= 2;
		else if (at > 0 && now - looked_ns < every_ns / 4 && stride < 1 << 20)
			stride *= 2;
		looked_ns = now;
		if (now - pace.asked_ns >= every_ns && is_time(&pace, now)) {
			struct question asked = begin();
			if (is_done(later))
				break;
			give_way(&pace, asked, every_ns);
		}
		at = advance(&loop, at, n - at < stride ? n : at + stride, 0);
	}
	trace(1, site, 0);
	__overlap_later_end(later);
	trace(2, site, 0);
	for (int64_t i = 0; i < loop.n_kept; i++)
		run(values, loop.kept[i].from, loop.kept[i].to);
	free(loop.kept);
	if (at < n)
		run(values, at, n);
}

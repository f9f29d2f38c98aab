/* A message that was blocking: its start, its wait, and polls between. The call itself, whose arguments differ, is the plugin's.
 *
 * Compiled to bitcode when the plugin is built, once for each library and language (FORTRAN and
 * MPICH are 0 or 1), and linked into every module that uses it, which has it for itself. The names
 * have a dot, which no program's have, and in Fortran end with `.f`. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "handles.h"

#if FORTRAN
#define NAME(name) __asm__("overlap." name ".f")
#else
#define NAME(name) __asm__("overlap." name)
#endif
/* What is called from the program stays a call; the rest becomes a part of the start helpers. */
#define HELPER __attribute__((noinline))

#if FORTRAN || MPICH
typedef int32_t handle;
#else
typedef char *handle;
extern char ompi_request_null, ompi_mpi_comm_world, ompi_mpi_comm_self, ompi_mpi_comm_null, ompi_mpi_errors_are_fatal;
#endif

/* A communicator on which MPI_Iprobe moves messages: MPI_COMM_SELF, but for MPICH, which does nothing then, MPI_COMM_WORLD. */
#if MPICH
static const handle null_request = MPICH_REQUEST_NULL, probed = MPICH_COMM_WORLD, world = MPICH_COMM_WORLD, self = MPICH_COMM_SELF,
		    errors_are_fatal = MPICH_ERRORS_ARE_FATAL,
		    null_comm = MPICH_COMM_NULL;
enum { ANY_SOURCE = MPICH_ANY_SOURCE, COMBINER_NAMED = MPICH_COMBINER_NAMED };
/* Who uses a handler; that of MPICH's own is not. */
#define IS_COUNTED(handler) (((handler) & MPICH_HANDLE_KIND) != MPICH_BUILTIN)
#elif FORTRAN
static const handle null_request = OPENMPI_REQUEST_NULL, probed = OPENMPI_COMM_SELF, world = OPENMPI_COMM_WORLD, self = OPENMPI_COMM_SELF,
		    errors_are_fatal = OPENMPI_ERRORS_ARE_FATAL,
		    null_comm = OPENMPI_COMM_NULL;
enum { ANY_SOURCE = OPENMPI_ANY_SOURCE, COMBINER_NAMED = OPENMPI_COMBINER_NAMED };
#else
#define null_request (&ompi_request_null)
#define probed (&ompi_mpi_comm_self)
#define world (&ompi_mpi_comm_world)
#define self (&ompi_mpi_comm_self)
#define errors_are_fatal (&ompi_mpi_errors_are_fatal)
#define null_comm (&ompi_mpi_comm_null)
enum { ANY_SOURCE = OPENMPI_ANY_SOURCE, COMBINER_NAMED = OPENMPI_COMBINER_NAMED };
#endif

#if !MPICH
#define IS_COUNTED(handler) 1
#endif

/* The largest tag that every MPI has: hardly anybody sends it. */
enum { TAG_OF_NOBODY = 32767 };
/* MPI_PROC_NULL, the same in both. */
enum { PROC_NULL = -1 };

#if FORTRAN
typedef const handle *type_handle;
void mpi_initialized_(int32_t *flag, int32_t *code);
void mpi_query_thread_(int32_t *level, int32_t *code);
void mpi_comm_get_errhandler_(const handle *comm, handle *handler, int32_t *code);
void mpi_errhandler_free_(handle *handler, int32_t *code);
void mpi_wait_(handle *request, void *status, int32_t *code);
void mpi_test_(handle *request, int32_t *flag, void *status, int32_t *code);
void mpi_iprobe_(const int32_t *source, const int32_t *tag, const handle *comm, int32_t *flag, void *status, int32_t *code);
void mpi_type_size_(type_handle type, int32_t *size, int32_t *code);
void mpi_type_get_extent_(type_handle type, int64_t *from, int64_t *bytes, int32_t *code);
void mpi_type_get_true_extent_(type_handle type, int64_t *from, int64_t *bytes, int32_t *code);
void mpi_type_get_envelope_(type_handle type, int32_t *ints, int32_t *addresses, int32_t *types, int32_t *combiner, int32_t *code);
#define CALL(name, Name, ...) mpi_##name##_(__VA_ARGS__, &(int32_t){0})
#define BY_REFERENCE(type, value) (&(const type){value})
#define COMM_OF(comm) (*(comm))
#define AGREED __overlap_agreed_fortran
/* Fortran has no status to be ignored that C could name. */
#define NO_STATUS ((int32_t[8]){0})
#define STATUS(status) ((status) ? (status) : NO_STATUS)
#else
typedef handle type_handle;
int MPI_Initialized(int32_t *flag);
int MPI_Query_thread(int32_t *level);
int MPI_Comm_get_errhandler(handle comm, handle *handler);
int MPI_Errhandler_free(handle *handler);
int MPI_Wait(handle *request, void *status);
int MPI_Test(handle *request, int32_t *flag, void *status);
int MPI_Iprobe(int32_t source, int32_t tag, handle comm, int32_t *flag, void *status);
int MPI_Type_size(type_handle type, int32_t *size);
int MPI_Type_get_extent(type_handle type, int64_t *from, int64_t *bytes);
int MPI_Type_get_true_extent(type_handle type, int64_t *from, int64_t *bytes);
int MPI_Type_get_envelope(type_handle type, int32_t *ints, int32_t *addresses, int32_t *types, int32_t *combiner);
#define CALL(name, Name, ...) MPI_##Name(__VA_ARGS__)
#define BY_REFERENCE(type, value) (value)
#define COMM_OF(comm) (comm)
#define AGREED __overlap_agreed
#define NO_STATUS ((void *)(uintptr_t)MPICH)
#define STATUS(status) (status)
#endif

/* In a program that handles errors or shares memory, where every call stays as it is. */
extern char __overlap_off __attribute__((weak));
/* In a program whose ranks agree which collectives start nonblocking. */
extern int32_t AGREED(int32_t kind, int64_t count, type_handle type, type_handle comm) __attribute__((weak));
/* In a program that is traced. */
extern void __overlap_trace(int32_t event, const char *site, int64_t bytes) __attribute__((weak));
/* What it hears; the same numbers are in its source. */
enum { START_BEGINS, WAIT_BEGINS, IS_DONE, STAYS_BLOCKING };

/* What a state is open for; and, from the first question on, that it has been asked for. */
enum { CLOSED, OURS, THEIRS, ASKED = 4 };

/* One message, or two that one call exchanges. The plugin makes room for it, and closes it at the function's entry. */
struct state {
	int32_t open;
	/* Null in Fortran where the status is not asked for. */
	void *status;
	const char *site;
	handle requests[2];
	void *sent_at;
	int64_t sent_bytes;
	void *received_at;
	int64_t received_bytes;
	/* Of a buffer that is sent and received into: what is sent. */
	void *copy;
};

/* Between two polls; the first finds `last_ns` 0. */
struct rate {
	int64_t last_ns;
	int32_t stride;
};

static void trace(int32_t event, const char *site, int64_t bytes)
{
	if (__overlap_trace)
		__overlap_trace(event, site, bytes);
}

/* False if another thread may call MPI meanwhile, and so may see a message. */
HELPER int32_t is_alone(void) NAME("is_alone");
int32_t is_alone(void)
{
	static int32_t level = -1;
	int32_t has_begun = 0;
	if (level < 0)
		CALL(initialized, Initialized, &has_begun);
	if (has_begun)
		CALL(query_thread, Query_thread, &level);
	return level >= 0 && level < LEVEL_MULTIPLE;
}

/* Opens the state. True if this program may start what it would have waited for. */
int32_t open_state(struct state *state, const char *site, void *status) NAME("open");
int32_t open_state(struct state *state, const char *site, void *status)
{
	*state = (struct state){.open = OURS, .status = status, .site = site, .requests = {null_request, null_request}};
	return !&__overlap_off && is_alone();
}

/* True if `go`, and `type` is one of MPI's own, so that a message of it lies where its buffer begins and not before. */
HELPER int32_t is_named(int32_t go, type_handle type) NAME("is_named");
int32_t is_named(int32_t go, type_handle type)
{
	int32_t ints, addresses, types, combiner = -1;
	if (!go)
		return 0;
	CALL(type_get_envelope, Type_get_envelope, type, &ints, &addresses, &types, &combiner);
	return combiner == COMBINER_NAMED;
}

/* True if `go`, and an error on `comm` ends the program: then the code of a start is that of its call, and a wait has none. It takes
 * less than a start that is worth its while, so that nothing is remembered. */
HELPER int32_t ends_on_error(int32_t go, type_handle comm) NAME("ends_on_error");
int32_t ends_on_error(int32_t go, type_handle comm)
{
	handle handler = 0;
	/* The call itself says what is wrong with a communicator that is none. */
	if (!go || COMM_OF(comm) == null_comm)
		return 0;
	CALL(comm_get_errhandler, Comm_get_errhandler, comm, &handler);
	int32_t is_fatal = handler == errors_are_fatal;
	if (IS_COUNTED(handler))
		CALL(errhandler_free, Errhandler_free, &handler);
	return is_fatal;
}

/* True if `go`, and an error of no communicator ends the program, whatever is right for those of the messages: MPICH takes one that a
 * wait for several finds for one of these. */
HELPER int32_t wait_ends_on_error(int32_t go) NAME("wait_ends_on_error");
int32_t wait_ends_on_error(int32_t go)
{
	return ends_on_error(ends_on_error(go, BY_REFERENCE(handle, world)), BY_REFERENCE(handle, self));
}

/* True if `go`, and all ranks of this collective start it nonblocking: what they agree by is linked into the program, see pmpi/agreed.c. */
HELPER int32_t agrees(int32_t go, int32_t kind, int64_t count, type_handle type, type_handle comm) NAME("agrees");
int32_t agrees(int32_t go, int32_t kind, int64_t count, type_handle type, type_handle comm)
{
	return go && AGREED && AGREED(kind, count, type, comm);
}

/* Bytes of an element of `type`; 0 if not `go`. */
HELPER int64_t type_size(int32_t go, type_handle type) NAME("size");
int64_t type_size(int32_t go, type_handle type)
{
	int32_t size = 0;
	if (go)
		CALL(type_size, Type_size, type, &size);
	return size;
}

/* Of elements of `type`: where the first begins, how long it is, how far it is to the next; nothing if not `go`. */
HELPER void extents(int32_t go, type_handle type, int64_t *of) NAME("extents");
void extents(int32_t go, type_handle type, int64_t *of)
{
	int64_t from;
	if (!go)
		return;
	CALL(type_get_extent, Type_get_extent, type, &from, &of[2]);
	CALL(type_get_true_extent, Type_get_true_extent, type, &of[0], &of[1]);
}

/* True if MPICH would receive from MPI_PROC_NULL, and the status is asked for: its MPI_Irecv leaves a source and a tag of 0
 * there, its MPI_Recv the right ones. */
int32_t is_of_nobody(int32_t source, const void *status) NAME("is_of_nobody");
int32_t is_of_nobody(int32_t source, const void *status)
{
	return MPICH && source == PROC_NULL && (FORTRAN || status != NO_STATUS);
}

/* A copy of what is sent from a buffer that is received into as well; null if there is no memory. */
void *copy_sent(struct state *state, const void *buffer, int64_t bytes) NAME("copy");
void *copy_sent(struct state *state, const void *buffer, int64_t bytes)
{
	state->copy = malloc(bytes);
	return state->copy ? memcpy(state->copy, buffer, bytes) : NULL;
}

/* Tells what becomes of a start; a call that stays is done when it returns. */
void start_begins(const struct state *state, int64_t bytes) NAME("begins");
void start_begins(const struct state *state, int64_t bytes)
{
	trace(START_BEGINS, state->site, bytes);
}

void start_blocks(const struct state *state) NAME("blocks");
void start_blocks(const struct state *state)
{
	trace(STAYS_BLOCKING, state->site, 0);
}

void start_is_done(const struct state *state) NAME("done");
void start_is_done(const struct state *state)
{
	trace(IS_DONE, state->site, 0);
}

/* Waits once; nothing if nothing is open. */
HELPER void wait_for(struct state *state) NAME("wait");
void wait_for(struct state *state)
{
	if (!state->open)
		return;
	state->open = CLOSED;
	trace(WAIT_BEGINS, state->site, 0);
	if (state->requests[1] != null_request)
		CALL(wait, Wait, &state->requests[1], NO_STATUS);
	if (state->requests[0] != null_request)
		CALL(wait, Wait, &state->requests[0], STATUS(state->status));
	free(state->copy);
	trace(IS_DONE, state->site, 0);
}

/* Waits if [at, at + bytes) meets the buffer that this state receives into, or the one that it sends. */
HELPER void guard(struct state *state, int32_t received, const void *at, int64_t bytes) NAME("guard");
void guard(struct state *state, int32_t received, const void *at, int64_t bytes)
{
	if (!state->open)
		return;
	uintptr_t from = (uintptr_t)(received ? state->received_at : state->sent_at), other = (uintptr_t)at;
	int64_t length = received ? state->received_bytes : state->sent_bytes;
	if (from < other + bytes && other < from + length)
		wait_for(state);
}

/* True if something is pending; not for a payload that was sent at once. */
HELPER int32_t is_pending(const struct state *state) NAME("pending");
int32_t is_pending(const struct state *state)
{
	return state->open && (state->requests[0] != null_request || state->requests[1] != null_request);
}

static void test(handle *request, void *status)
{
	int32_t flag = 0;
	if (*request != null_request)
		CALL(test, Test, request, &flag, status);
}

static _Thread_local struct pace pace;

/* Returns after how many passes to ask again, so that the time between two polls comes near to `every_ns`. */
HELPER __attribute__((cold)) int32_t poll(struct state *state, struct rate *rate, int64_t every_ns) NAME("poll");
int32_t poll(struct state *state, struct rate *rate, int64_t every_ns)
{
	static const int64_t most = 1 << 20;
	if (!state->open)
		return most;
	int64_t now = now_ns(), elapsed_ns = now - rate->last_ns;
	uint64_t stride = (uint32_t)rate->stride, next = stride * every_ns / (elapsed_ns < 1 ? 1 : elapsed_ns);
	next = next > 8 * stride ? 8 * stride : next;
	next = next < 1 ? 1 : next > (uint64_t)most ? (uint64_t)most : next;
	rate->last_ns = now;
	rate->stride = (int32_t)next;
	if (!(state->open & ASKED))
		pace.still_since_ns = now;
	/* While the stride is still being found, passes come too often to poll in each. */
	if (2 * elapsed_ns < every_ns || !is_time(&pace, now))
		return rate->stride;
	struct question asked = begin();
	state->open |= ASKED;
	if (state->open & THEIRS) {
		/* Requests of the program are left alone: the library moves all messages while it looks for this one. */
		int32_t flag = 0;
		CALL(iprobe, Iprobe, BY_REFERENCE(int32_t, ANY_SOURCE), BY_REFERENCE(int32_t, TAG_OF_NOBODY), BY_REFERENCE(handle, probed),
		     &flag, NO_STATUS);
	} else {
		test(&state->requests[1], NO_STATUS);
		test(&state->requests[0], STATUS(state->status));
	}
	give_way(&pace, asked, every_ns);
	return rate->stride;
}

/* One pass, where a counter in the program would be too much. */
HELPER void tick(struct state *state, struct rate *rate, int32_t *passes, int64_t every_ns) NAME("tick");
void tick(struct state *state, struct rate *rate, int32_t *passes, int64_t every_ns)
{
	if (--*passes <= 0)
		*passes = poll(state, rate, every_ns);
}

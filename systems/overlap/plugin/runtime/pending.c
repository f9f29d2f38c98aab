/* What a program carries that keeps its own messages moving: how many requests are pending in this thread, and a poll.
 *
 * Compiled to bitcode when the plugin is built, and linked into every module that uses it. Of the
 * copies of a variable one remains in a process; of those of a function one in a program and one in
 * each library. It is the same for OpenMPI and MPICH, and looks which one there is when it runs:
 * handles are pointers in the one and numbers in the other, which differ in nothing that is used
 * here.
 *
 * A wrong count costs time: too low, and messages stand still as without us; too high, and a loop
 * asks now and then for nothing. So requests that are freed, cancelled or ended by another thread
 * need no care. One that stays too high is worse: MPI_Finalize of MPICH 4.0 over UCX waits for ever
 * if a rank calls MPI once more, by a poll or by hand, behind the MPI_Finalize of another. */
#include <stdint.h>
#include <unistd.h>

#include "clock.h"
#include "handles.h"

#define SHARED __attribute__((weak, noinline))

/* OpenMPI only. */
extern char ompi_mpi_comm_self __attribute__((weak)), ompi_request_null __attribute__((weak));
int MPI_Iprobe() __attribute__((weak));
int MPI_Finalized(int *ended) __attribute__((weak));
int MPI_Query_thread(int *level) __attribute__((weak));

/* The largest tag that every MPI has: hardly anybody sends it. */
enum { TAG_OF_NOBODY = 32767 };

/* Of this thread: another one may not be allowed to call MPI. Far below 0 while the thread is inside MPI, which may call
 * functions of the program. */
__attribute__((weak)) _Thread_local int __overlap_pending;

/* Something was started since the last question. */
__attribute__((weak)) _Thread_local int __overlap_is_new;

/* That of the first start. */
__attribute__((weak)) pid_t __overlap_process;

SHARED void __overlap_started(int n)
{
	if (!__overlap_process)
		__overlap_process = getpid();
	if (n > 0) {
		__overlap_pending += n;
		__overlap_is_new = 1;
	}
}

/* How many of `n` requests are not MPI_REQUEST_NULL. */
SHARED int __overlap_open(int n, const void *requests, int fortran)
{
	int open = 0;
	for (int i = 0; i < n; i++)
		if (fortran)
			open += ((const int32_t *)requests)[i] != (&ompi_request_null ? OPENMPI_REQUEST_NULL : MPICH_REQUEST_NULL);
		else if (&ompi_request_null)
			open += ((char *const *)requests)[i] != &ompi_request_null;
		else
			open += ((const int32_t *)requests)[i] != MPICH_REQUEST_NULL;
	return open;
}

/* Behind a call that ends requests: all that were open before, unless the call says otherwise. `flag` is what a test
 * answers, `index` the one that ended, `n_done` how many; null where the call has no such answer.
 * */
SHARED void __overlap_ended(int open, const int *flag, const int *index, const int *n_done)
{
	int n = open;
	if (flag && !*flag)
		n = 0;
	else if (index)
		n = *index >= 0;
	else if (n_done)
		n = *n_done > 0 ? *n_done : 0;
	int is_inside = __overlap_pending < 0;
	__overlap_pending -= n;
	if (!is_inside && __overlap_pending < 0)
		__overlap_pending = 0;
}

/* Where a loop polls: how many passes are left until the next poll, which the next strip may have. Threads that poll at the same
 * place share it; what they disturb is the rate. */
struct place {
	int32_t left, stride;
	int64_t last_ns;
};

/* Passes until the next poll, so that about `every_ns` go by between two; whole vectors, if there are many. The first time behind a
 * while without messages says nothing about passes, so neither more nor less changes at once by
 * more than 8 times. */
static int32_t next_stride(int32_t stride, int64_t elapsed_ns, int64_t every_ns)
{
	static const int64_t most = 1 << 20;
	if (stride < 1)
		stride = 1;
	int64_t wanted = stride * every_ns / (elapsed_ns > 0 ? elapsed_ns : 1);
	if (wanted > 8 * (int64_t)stride)
		wanted = 8 * (int64_t)stride;
	if (wanted < stride / 8)
		wanted = stride / 8;
	if (wanted >= 64)
		wanted &= ~INT64_C(63);
	return wanted < 1 ? 1 : (int32_t)(wanted > most ? most : wanted);
}

static void ask(void)
{
	static int level = -1;
	int ended = 0, flag, pending = __overlap_pending;
	/* The parent's messages are not those of a child. */
	if (getpid() != __overlap_process) {
		__overlap_pending = 0;
		return;
	}
	__overlap_pending = 0;
	MPI_Finalized(&ended);
	if (ended)
		return;
	if (level < 0)
		MPI_Query_thread(&level);
	if (level == LEVEL_SERIALIZED)
		return;
	if (&ompi_mpi_comm_self)
		((int (*)(int, int, void *, int *, void *))MPI_Iprobe)(OPENMPI_ANY_SOURCE, TAG_OF_NOBODY, &ompi_mpi_comm_self, &flag, (void *)0);
	else
		/* On MPI_COMM_SELF nothing would move. */
		((int (*)(int, int, int, int *, void *))MPI_Iprobe)(MPICH_ANY_SOURCE, TAG_OF_NOBODY, MPICH_COMM_WORLD, &flag, (void *)1);
	__overlap_pending = pending;
}

static _Thread_local struct pace pace;

/* A poll at a place whose passes are over. */
__attribute__((noinline)) SHARED void __overlap_poll_now(struct place *at, int64_t every_ns)
{
	int64_t now = now_ns();
	at->stride = next_stride(at->stride, now - at->last_ns, every_ns);
	at->left = at->stride;
	at->last_ns = now;
	/* Another loop may just have asked. */
	if (2 * (now - pace.asked_ns) < every_ns)
		return;
	if (__overlap_is_new)
		pace.still_since_ns = now;
	if (!is_time(&pace, now))
		return;
	__overlap_is_new = 0;
	struct question asked = begin();
	ask();
	give_way(&pace, asked, every_ns);
}

/* Behind `passes` of a loop, while something is pending. */
__attribute__((cold)) SHARED void __overlap_poll_after(struct place *at, int32_t passes, int64_t every_ns)
{
	at->left -= passes;
	if (at->left <= 0)
		__overlap_poll_now(at, every_ns);
}

/* The handles and numbers of both libraries that the plugin and its run-time part name. OpenMPI's handles in C are addresses of
 * variables. MPICH's are the same in C and in Fortran. Source: mpi.h and mpif.h of OpenMPI 4.1 and
 * MPICH 4.0; tests/mpi4.rs compares. */
#ifndef OVERLAP_HANDLES_H
#define OVERLAP_HANDLES_H

#define MPICH_REQUEST_NULL 0x2c000000
#define MPICH_COMM_WORLD 0x44000000
#define MPICH_COMM_SELF 0x44000001
#define MPICH_COMM_NULL 0x04000000
#define MPICH_ERRORS_ARE_FATAL 0x54000000
#define MPICH_ANY_SOURCE (-2)
/* In the upper bits of a handle. */
#define MPICH_HANDLE_KIND 0xc0000000
#define MPICH_BUILTIN 0x40000000
#define MPICH_COMBINER_NAMED 1

#define OPENMPI_ANY_SOURCE (-1)
#define OPENMPI_COMBINER_NAMED 0

/* In Fortran. */
#define OPENMPI_REQUEST_NULL 0
#define OPENMPI_COMM_WORLD 0
#define OPENMPI_COMM_SELF 1
#define OPENMPI_COMM_NULL 2
#define OPENMPI_ERRORS_ARE_FATAL 1

/* Collectives whose ranks agree how they start: the bytes of a matched call are the same on all of them. */
enum {
	AGREED_BCAST,
	AGREED_REDUCE,
	AGREED_ALLREDUCE,
	AGREED_ALLGATHER,
	AGREED_ALLTOALL,
	AGREED_REDUCE_SCATTER_BLOCK,
	AGREED_SCAN,
	AGREED_EXSCAN,
	AGREED_KINDS
};

/* From how many bytes of a rank's buffer on the nonblocking form and a wait cost next to nothing more than the blocking
 * call, with OpenMPI and with MPICH. */
#define AGREED_NEVER INT64_MAX
#define AGREED_LEAST(EACH)                             \
	EACH(BCAST, 64 << 10, 512 << 10)                   \
	EACH(REDUCE, AGREED_NEVER, 64 << 10)               \
	EACH(ALLREDUCE, 64 << 10, 64 << 10)                \
	EACH(ALLGATHER, 512 << 10, 64 << 10)               \
	EACH(ALLTOALL, 512 << 10, 64 << 10)                \
	EACH(REDUCE_SCATTER_BLOCK, 512 << 10, 4096 << 10)  \
	EACH(SCAN, 64 << 10, 64 << 10)                     \
	EACH(EXSCAN, AGREED_NEVER, 64 << 10)

/* In both. */
#define LEVEL_SERIALIZED 2
#define LEVEL_MULTIPLE 3

#endif

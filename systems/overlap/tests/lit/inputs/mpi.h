/* A mock of mpi.h: the types and constants of OpenMPI (-DOPENMPI) or MPICH as the compiler sees them. */
#ifdef OPENMPI
struct ompi_communicator_t;
typedef struct ompi_communicator_t *MPI_Comm;
typedef struct ompi_datatype_t *MPI_Datatype;
typedef struct ompi_op_t *MPI_Op;
typedef struct ompi_request_t *MPI_Request;
typedef struct ompi_win_t *MPI_Win;
typedef struct ompi_errhandler_t *MPI_Errhandler;
extern char ompi_mpi_errors_are_fatal;
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)&ompi_mpi_errors_are_fatal)
extern struct ompi_predefined_communicator_t { char x[512]; } ompi_mpi_comm_world;
extern struct ompi_predefined_datatype_t { char x[512]; } ompi_mpi_double, ompi_mpi_int;
extern struct ompi_predefined_op_t { char x[512]; } ompi_mpi_op_sum;
#define MPI_COMM_WORLD ((MPI_Comm)(void *)&ompi_mpi_comm_world)
#define MPI_DOUBLE ((MPI_Datatype)(void *)&ompi_mpi_double)
#define MPI_INT ((MPI_Datatype)(void *)&ompi_mpi_int)
#define MPI_SUM ((MPI_Op)(void *)&ompi_mpi_op_sum)
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_ANY_SOURCE -1
#else
typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Win;
typedef int MPI_Errhandler;
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x54000000)
#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_DOUBLE ((MPI_Datatype)0x4c00080b)
#define MPI_INT ((MPI_Datatype)0x4c000405)
#define MPI_SUM ((MPI_Op)0x58000003)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_STATUS_IGNORE ((MPI_Status *)1)
#define MPI_ANY_SOURCE -2
#endif
#define MPI_BOTTOM ((void *)0)
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_MULTIPLE 3
typedef struct {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR, more[4];
} MPI_Status;
#ifdef __cplusplus
extern "C" {
#endif
int MPI_Init(int *, char ***);
int MPI_Init_thread(int *, char ***, int, int *);
int MPI_Finalize(void);
int MPI_Comm_rank(MPI_Comm, int *);
int MPI_Comm_size(MPI_Comm, int *);
int MPI_Comm_dup(MPI_Comm, MPI_Comm *);
int MPI_Intercomm_create(MPI_Comm, int, MPI_Comm, int, int, MPI_Comm *);
int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler);
int MPI_Type_contiguous(int, MPI_Datatype, MPI_Datatype *);
int MPI_Type_vector(int, int, int, MPI_Datatype, MPI_Datatype *);
int MPI_Type_create_hindexed(int, const int *, const long *, MPI_Datatype, MPI_Datatype *);
int MPI_Type_create_struct(int, const int *, const long *, const MPI_Datatype *, MPI_Datatype *);
int MPI_Type_create_resized(MPI_Datatype, long, long, MPI_Datatype *);
int MPI_Type_commit(MPI_Datatype *);
int MPI_Type_free(MPI_Datatype *);
int MPI_Type_size(MPI_Datatype, int *);
int MPI_Win_fence(int, MPI_Win);
double MPI_Wtime(void);
int MPI_Barrier(MPI_Comm);
int MPI_Send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int MPI_Ssend(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int MPI_Recv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int MPI_Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Ibcast(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *);
int MPI_Wait(MPI_Request *, MPI_Status *);
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
int MPI_Waitany(int, MPI_Request *, int *, MPI_Status *);
int MPI_Waitsome(int, MPI_Request *, int *, int *, MPI_Status *);
int MPI_Test(MPI_Request *, int *, MPI_Status *);
int MPI_Testall(int, MPI_Request *, int *, MPI_Status *);
int MPI_Sendrecv(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int MPI_Sendrecv_replace(void *, int, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status *);
int MPI_Gather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
int MPI_Bcast(void *, int, MPI_Datatype, int, MPI_Comm);
int PMPI_Bcast(void *, int, MPI_Datatype, int, MPI_Comm);
int MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Scan(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Allgather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int MPI_Alltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int MPI_Alltoallw(const void *, const int *, const int *, const MPI_Datatype *, void *, const int *, const int *,
                  const MPI_Datatype *, MPI_Comm);
#ifdef __cplusplus
}
#endif

/* Work that no pass removes, long enough to be worth a window. */
static inline void work(double *__restrict x, int n) {
  for (int i = 1; i < n; i++)
    x[i] = x[i] * 0.5 + x[i - 1];
}

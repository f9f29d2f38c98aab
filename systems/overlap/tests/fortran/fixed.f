! Fixed form and `mpif.h`, which flang 22 does not take as OpenMPI has it.
      program p
      implicit none
      include 'mpif.h'
      integer code, rank, ranks, got, status(MPI_STATUS_SIZE)
      double precision x(4), y(4)
      call MPI_INIT(code)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, code)
      x = rank
      call MPI_SENDRECV(x, 4, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks)
     &  , 3, y, 4, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3,
     &  MPI_COMM_WORLD, status, code)
      call MPI_GET_COUNT(status, MPI_DOUBLE_PRECISION, got, code)
      print '(3i4,f8.2)', rank, got, status(MPI_SOURCE), sum(y)
      call MPI_FINALIZE(code)
      end

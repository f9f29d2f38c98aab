! The same in Fortran, where the status is an array.
program nobody
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 50000
  integer :: error, me, i, from, status(MPI_STATUS_SIZE), length
  double precision, save :: x(n), work(n)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  from = MPI_PROC_NULL
  if (me > 1000) from = 0
  work = 1
  status = 99
  call MPI_Recv(x, n, MPI_DOUBLE_PRECISION, from, 5, MPI_COMM_WORLD, status, error)
  do i = 2, n
    work(i) = work(i) + 0.5 * work(i - 1)
  end do
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, length, error)
  print *, me, status(MPI_SOURCE) == MPI_PROC_NULL, status(MPI_TAG) == MPI_ANY_TAG, length, work(n)
  call MPI_Finalize(error)
end program

! A variable with one constant store, and then MPI writes the count into it.
program p
  implicit none
  include 'mpif.h'
  integer, parameter :: big = 40000
  double precision, save :: a(big), x(big)
  double precision :: s
  integer :: n, m, i, k, rank, ierr, status(MPI_STATUS_SIZE)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  n = 20000
  m = big
  call MPI_Allreduce(m, n, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  a = 1d0
  x = 1d0
  if (rank == 0) then
    a = 3d0
    do k = 1, 10000
      do i = 2, big
        x(i) = 0.5d0 * (x(i) + x(i-1)) + 1d-9
      end do
    end do
    call MPI_Send(a, n, MPI_DOUBLE_PRECISION, 1, 5, MPI_COMM_WORLD, ierr)
    print *, x(5)
  else
    call MPI_Recv(a, n, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, status, ierr)
    s = a(30000)
    do i = 2, big
      x(i) = 0.5d0 * (x(i) + x(i-1))
    end do
    print *, s, x(7)
  end if
  call MPI_Finalize(ierr)
end program

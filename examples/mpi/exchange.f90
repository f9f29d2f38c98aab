! Neighbours on a ring exchange arrays with Fortran's nonblocking calls, each of which ends right
! after it starts; the codes are asked for.
!
! exchange
program exchange
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 40000, rounds = 10
  double precision :: a(n), b(n), x(n), total, everywhere
  integer :: ierr, rank, nranks, left, right, i, r, both(2), one
  integer :: status(MPI_STATUS_SIZE)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  left = mod(rank + nranks - 1, nranks)
  right = mod(rank + 1, nranks)
  do i = 1, n
    a(i) = rank + mod(i, 7)
    x(i) = mod(i, 5)
  end do
  total = 0
  do r = 1, rounds
    call MPI_Irecv(b, n, MPI_DOUBLE_PRECISION, left, r, MPI_COMM_WORLD, both(1), ierr)
    call MPI_Isend(a, n, MPI_DOUBLE_PRECISION, right, r, MPI_COMM_WORLD, both(2), ierr)
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, ierr)
    do i = 2, n
      x(i) = 0.5d0 * (x(i) + x(i - 1))
    end do
    total = total + x(n) + b(r)
    call MPI_Irecv(b, n, MPI_DOUBLE_PRECISION, right, r, MPI_COMM_WORLD, one, ierr)
    call MPI_Send(a, n, MPI_DOUBLE_PRECISION, left, r, MPI_COMM_WORLD, ierr)
    if (ierr /= MPI_SUCCESS) stop 1
    call MPI_Wait(one, status, ierr)
    do i = 2, n
      x(i) = 0.25d0 * (x(i) + x(i - 1))
    end do
    total = total + x(n) + b(r) + status(MPI_SOURCE)
    a(r) = total
  end do
  everywhere = 0
  call MPI_Reduce(total, everywhere, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(A,F24.10)', 'checksum ', everywhere
  call MPI_Finalize(ierr)
end program exchange

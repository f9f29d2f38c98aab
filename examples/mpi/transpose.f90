! A distributed transpose: blocks of a matrix change places between all ranks while rows that stay
! at home are smoothed; then a ring passes its sums on.
!
! transpose, on at most 8 ranks; prints a checksum that depends on neither the machine nor the transformation.
program transpose
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 40000, passes = 30, ranks_max = 8
  integer :: ierr, rank, nranks, left, right, i, k
  integer :: status(MPI_STATUS_SIZE)
  double precision :: a(n * ranks_max), b(n * ranks_max), own(n)
  double precision :: total, everywhere

  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, nranks, ierr)
  left = mod(rank + nranks - 1, nranks)
  right = mod(rank + 1, nranks)
  if (nranks > ranks_max) call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
  do i = 1, n * nranks
    a(i) = mod(i * 7 + rank, 101)
  end do
  b = 0
  do i = 1, n
    own(i) = mod(i, 13)
  end do
  do k = 1, 4
    call MPI_ALLTOALL(a, n, MPI_DOUBLE_PRECISION, b, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    call smooth(own, n, passes)
    do i = 1, n * nranks
      a(i) = b(i) + own(1 + mod(i, n))
    end do
    call MPI_SENDRECV(a, n, MPI_DOUBLE_PRECISION, right, 1, b, n, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, status, ierr)
    call smooth(own, n, passes)
    own(k) = own(k) + b(k) + status(MPI_SOURCE)
  end do
  total = 0
  do i = 1, n
    total = total * 0.5d0 + own(i) + a(i)
  end do
  call MPI_REDUCE(total, everywhere, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,es24.16)', 'checksum ', everywhere
  call MPI_FINALIZE(ierr)

contains

  subroutine smooth(x, n, passes)
    integer, intent(in) :: n, passes
    double precision, intent(inout) :: x(n)
    integer :: i, p
    do p = 1, passes
      do i = 2, n
        x(i) = 0.5d0 * (x(i) + x(i - 1))
      end do
    end do
  end subroutine
end program

! Heat in a plane that is divided by columns: columns 0 and n + 1 are the neighbours', and one loop
! computes all columns. Natural Fortran, as users write it.
!
! heat
program heat
  implicit none
  include 'mpif.h'
  integer, parameter :: m = 4000, n = 12, steps = 8
  double precision :: u(m, 0:n + 1), v(m, 0:n + 1), here, everywhere
  integer :: ierr, rank, nranks, left, right, i, j, s

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  left = rank - 1
  if (rank == 0) left = MPI_PROC_NULL
  right = rank + 1
  if (right == nranks) right = MPI_PROC_NULL
  u = 0
  v = 0
  do j = 1, n
    do i = 1, m
      u(i, j) = mod(i * 7 + (rank * n + j) * 13, 101)
    end do
  end do
  do s = 1, steps
    call step(u, v, left, right)
    call step(v, u, left, right)
  end do
  here = 0
  do j = 1, n
    do i = 1, m
      here = here + u(i, j) * mod(i + j, 5)
    end do
  end do
  everywhere = 0
  call MPI_Reduce(here, everywhere, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(A,F24.10)', 'checksum ', everywhere
  call MPI_Finalize(ierr)

contains

  subroutine step(a, b, left, right)
    double precision, intent(inout) :: a(m, 0:n + 1), b(m, 0:n + 1)
    integer, intent(in) :: left, right
    integer :: i, j, code
    call MPI_Sendrecv(a(1, 1), m, MPI_DOUBLE_PRECISION, left, 1, a(1, n + 1), m, MPI_DOUBLE_PRECISION, right, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call MPI_Sendrecv(a(1, n), m, MPI_DOUBLE_PRECISION, right, 2, a(1, 0), m, MPI_DOUBLE_PRECISION, left, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    do j = 1, n
      do i = 2, m - 1
        b(i, j) = 0.25d0 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
      end do
    end do
  end subroutine step
end program heat

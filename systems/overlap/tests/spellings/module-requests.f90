! Requests and statuses of a module.
module halos
  implicit none
  include 'mpif.h'
  integer :: q(4), statuses(MPI_STATUS_SIZE, 4)
contains
  subroutine exchange(u, up, down)
    integer, parameter :: x = 64, y = 32768
    real(8) :: u(y, 0:x + 1)
    integer :: up, down, e
    call mpi_irecv(u(1, 0), y, MPI_DOUBLE_PRECISION, down, 0, MPI_COMM_WORLD, q(1), e)
    call mpi_irecv(u(1, x + 1), y, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, q(2), e)
    call mpi_isend(u(1, 1), y, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, q(3), e)
    call mpi_isend(u(1, x), y, MPI_DOUBLE_PRECISION, up, 0, MPI_COMM_WORLD, q(4), e)
    call mpi_waitall(4, q, statuses, e)
  end subroutine
  subroutine stencil(o, u)
    implicit none
    integer, parameter :: x = 64, y = 32768
    real(8) :: o(y, 0:x + 1), u(y, 0:x + 1)
    integer :: i, j
    do i = 1, x
      do j = 2, y - 1
        o(j, i) = 0.2d0 * (u(j, i) + u(j, i - 1) + u(j, i + 1) + u(j - 1, i) + u(j + 1, i))
      end do
    end do
  end subroutine
end module
program halo
  use halos
  implicit none
  integer, parameter :: x = 64, y = 32768
  integer :: me, ranks, up, down, e, step, i, j
  real(8), allocatable :: in(:, :), out(:, :)
  real(8) :: total, sum
  call mpi_init(e)
  call mpi_comm_rank(MPI_COMM_WORLD, me, e)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, e)
  up = mod(me + 1, ranks)
  down = mod(me + ranks - 1, ranks)
  allocate (in(y, 0:x + 1), out(y, 0:x + 1))
  do i = 0, x + 1
    do j = 1, y
      in(j, i) = mod((i * y + j) * 7 + me, 13)
    end do
  end do
  out = in
  do step = 1, 2
    call exchange(in, up, down)
    call stencil(out, in)
    call exchange(out, up, down)
    call stencil(in, out)
  end do
  sum = 0
  do i = 1, x
    do j = 1, y
      sum = sum + in(j, i) * (1 + mod(i * y + j + me, 17))
    end do
  end do
  call mpi_reduce(sum, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, e)
  if (me == 0) print *, total, in(5, 1), in(7, x)
  call mpi_finalize(e)
end program

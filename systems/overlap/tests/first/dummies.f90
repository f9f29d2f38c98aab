! A product whose rows are sent in part, as a subroutine with dummy arguments, in a module or, with -DOUTSIDE, outside of one.
#ifndef OUTSIDE
module solver
contains
#endif
  subroutine product(n, rows, columns, a, p, q, w, starts, lengths, exchanges, partner)
    implicit none
    include 'mpif.h'
    integer :: n, rows(*), columns(*), exchanges, starts(*), lengths(*), partner
    double precision :: a(*), p(*), q(*), w(*), total
    integer :: i, j, k, request, ierr, type
    integer :: status(MPI_STATUS_SIZE)
    common /kind_of_number/ type
    q(1) = 0
    do j = 1, n
      total = 0
      do k = rows(j), rows(j + 1) - 1
        total = total + a(k) * p(columns(k))
      end do
      w(j) = total
    end do
    do i = exchanges, 1, -1
      call MPI_IRECV(q(starts(i)), lengths(i), type, partner, i, MPI_COMM_WORLD, request, ierr)
      call MPI_SEND(w(starts(i)), lengths(i), type, partner, i, MPI_COMM_WORLD, ierr)
      call MPI_WAIT(request, status, ierr)
      do j = starts(i), starts(i) + lengths(i) - 1
        w(j) = w(j) + q(j)
      end do
    end do
  end subroutine
#ifndef OUTSIDE
end module
#endif

program main
#ifndef OUTSIDE
  use solver
#endif
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 400, each = 6, rounds = 12
  integer :: rows(n + 1), columns(n * each), starts(3), lengths(3), rank, ierr, i, j, exchanges, type
  double precision :: a(n * each), p(n), q(n), w(n), mine(2), both(2)
  common /kind_of_number/ type
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  type = MPI_DOUBLE_PRECISION
  rows(1) = 1
  do i = 1, n
    rows(i + 1) = rows(i) + mod(i * 5, each + 1)
    p(i) = i + rank
  end do
  do i = 1, n * each
    columns(i) = 1 + mod(i * 31, n)
    a(i) = mod(i, 13) - rank
  end do
  w = 0
  q = 0
  do i = 1, rounds
    exchanges = mod(i, 4)
    do j = 1, 3
      starts(j) = 1 + mod((i / 3) * 37 * j, n / 2)
      lengths(j) = mod(i * j * 11, n / 2)
    end do
    call product(n, rows, columns, a, p, q, w, starts, lengths, exchanges, 1 - rank)
    p = mod(abs(w), 1000d0)
    mine = [sum(w), sum(q)]
    call MPI_ALLREDUCE(mine, both, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print *, i, both
  end do
  call MPI_FINALIZE(ierr)
end program

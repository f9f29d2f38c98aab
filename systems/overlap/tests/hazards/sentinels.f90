! MPI_BOTTOM and MPI_IN_PLACE are places in common blocks, in MPICH in one block: the first may touch any memory, the second
! touches none.
program sentinels
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 100000
  integer :: error, me, kind, length(1), types(1), i
  integer(kind=MPI_ADDRESS_KIND) :: at(1)
  double precision, save :: x(n), y(n)
  double precision :: total
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call MPI_Get_address(x, at(1), error)
  length(1) = n
  types(1) = MPI_DOUBLE_PRECISION
  call MPI_Type_create_struct(1, length, at, types, kind, error)
  call MPI_Type_commit(kind, error)
  do i = 1, n
    x(i) = (me + 1) * i
  end do
  if (me == 0) then
    call MPI_Send(MPI_BOTTOM, 1, kind, 1, 0, MPI_COMM_WORLD, error)
    do i = 1, n
      x(i) = -1
    end do
  else if (me == 1) then
    call MPI_Recv(MPI_BOTTOM, 1, kind, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    do i = 1, n
      x(i) = 2 * x(i)
    end do
  end if
  total = 0
  do i = 1, n
    y(i) = x(i) - 1
    total = total + x(i)
  end do
  print *, me, total
  call MPI_Allreduce(MPI_IN_PLACE, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  total = 0
  do i = 1, n
    total = total + x(i) * i
  end do
  do i = 1, n
    total = total + y(i)
  end do
  print *, me, total
  call MPI_Finalize(error)
end program

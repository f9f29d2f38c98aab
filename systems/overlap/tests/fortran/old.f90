! `use mpi` in as many ways as programs use it.
module fields
  use mpi, only: MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, MPI_STATUS_SIZE, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, &
      MPI_ADDRESS_KIND, MPI_SUCCESS
  implicit none
contains
  subroutine exchange(field, up, down)
    double precision, intent(inout) :: field(:, :)
    integer, intent(in) :: up, down
    integer :: both(2), n, code
    n = size(field, 2)
    call MPI_IRECV(field(1, 1), size(field, 1), MPI_DOUBLE_PRECISION, down, 3, MPI_COMM_WORLD, both(1), code)
    call MPI_ISEND(field(:, n - 1), size(field, 1), MPI_DOUBLE_PRECISION, up, 3, MPI_COMM_WORLD, both(2), code)
    call MPI_WAITALL(2, both, MPI_STATUSES_IGNORE, code)
    call MPI_SENDRECV(field(:, 2), size(field, 1), MPI_DOUBLE_PRECISION, down, 4, &
        field(:, n), size(field, 1), MPI_DOUBLE_PRECISION, up, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  end subroutine
  subroutine copied(comm, keyval, extra, given, taken, flag, ierror)
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, given, taken
    logical :: flag
    taken = given + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
end module
subroutine widest(a, b, length, datatype)
  implicit none
  integer :: length, datatype, i
  double precision :: a(length), b(length)
  do i = 1, length
    if (abs(a(i)) > abs(b(i))) b(i) = a(i)
  end do
end subroutine
program many
  use mpi
  use fields, only: exchange, copied
  implicit none
  integer, parameter :: n = 40000
  external :: widest
  integer :: all, grid, column, pair, op, info, status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), request
  integer :: rank, ranks, code, i, up, down, got, keyval, length, dims(1), place(1), both(2), provided
  integer(MPI_ADDRESS_KIND) :: extent, lower, offset(2), value
  logical :: flag, periodic(1)
  double precision, allocatable :: field(:, :), sums(:), work(:)
  double precision :: x, y, total
  character(MPI_MAX_OBJECT_NAME) :: name
  character(MPI_MAX_INFO_VAL) :: answer
  type :: particle
    double precision :: at
    integer :: of
  end type
  type(particle) :: swarm(100)
  call MPI_INIT_THREAD(MPI_THREAD_FUNNELED, provided, code)
  call MPI_COMM_DUP(MPI_COMM_WORLD, all, code)
  call MPI_COMM_RANK(all, rank, code)
  call MPI_COMM_SIZE(all, ranks, code)
  up = mod(rank + 1, ranks)
  down = mod(rank + ranks - 1, ranks)
  allocate(field(n, 6), sums(n), work(n))
  do i = 1, n
    field(i, :) = rank + sin(dble(i))
    work(i) = cos(dble(i + rank))
  end do
  call exchange(field, up, down)
  total = sum(field)
  call MPI_SENDRECV(field(1:n:2, 1), n / 2, MPI_DOUBLE_PRECISION, up, 5, &
      field(2:n:2, 2), n / 2, MPI_DOUBLE_PRECISION, down, 5, all, status, code)
  call MPI_GET_COUNT(status, MPI_DOUBLE_PRECISION, got, code)
  print '(a,2i3,i7,2f20.4)', "exchange", rank, status(MPI_SOURCE), got, total, sum(field)
  call MPI_ALLREDUCE(work, sums, n, MPI_DOUBLE_PRECISION, MPI_MAX, all, code)
  do i = 1, n
    work(i) = work(i) * 0.5d0 + sqrt(dble(i))
  end do
  print '(a,i3,2f20.4)', "allreduce", rank, sum(sums), sum(work)
  call MPI_ALLREDUCE(MPI_IN_PLACE, sums, n, MPI_DOUBLE_PRECISION, MPI_MIN, all, code)
  print '(a,i3,f20.4)', "in place", rank, sum(sums)
  call MPI_OP_CREATE(widest, .true., op, code)
  x = merge(-7.5d0, 2.5d0, rank == 1)
  call MPI_ALLREDUCE(x, y, 1, MPI_DOUBLE_PRECISION, op, all, code)
  call MPI_OP_FREE(op, code)
  print '(a,i3,f8.2,l2)', "own operation", rank, y, op == MPI_OP_NULL
  ! scalars where lists are expected
  call MPI_IRECV(got, 1, MPI_INTEGER, down, 6, all, request, code)
  call MPI_SEND(rank, 1, MPI_INTEGER, up, 6, all, code)
  call MPI_WAIT(request, status, code)
  call MPI_IRECV(place, 1, MPI_INTEGER, down, 7, all, both(1), code)
  call MPI_ISEND(rank + 10, 1, MPI_INTEGER, up, 7, all, both(2), code)
  call MPI_WAITALL(2, both, statuses, code)
  print '(a,5i4)', "requests", rank, got, place, status(MPI_TAG), statuses(MPI_TAG, 1)
  call MPI_GET_ADDRESS(swarm(1)%at, offset(1), code)
  call MPI_GET_ADDRESS(swarm(1)%of, offset(2), code)
  offset = offset - offset(1)
  call MPI_TYPE_CREATE_STRUCT(2, [1, 1], offset, [MPI_DOUBLE_PRECISION, MPI_INTEGER], pair, code)
  call MPI_TYPE_CREATE_RESIZED(pair, 0_MPI_ADDRESS_KIND, int(storage_size(swarm) / 8, MPI_ADDRESS_KIND), column, code)
  call MPI_TYPE_COMMIT(column, code)
  call MPI_TYPE_GET_EXTENT(column, lower, extent, code)
  swarm%at = rank * 0.25d0
  swarm%of = [(i * (rank + 1), i = 1, 100)]
  call MPI_BCAST(swarm, 100, column, ranks - 1, all, code)
  call MPI_TYPE_FREE(column, code)
  print '(a,2i9,f8.2,i8)', "types", rank, extent, sum(swarm%at), sum(swarm%of)
  call MPI_COMM_SET_NAME(all, "everyone", code)
  call MPI_COMM_GET_NAME(all, name, length, code)
  call MPI_INFO_CREATE(info, code)
  call MPI_INFO_SET(info, "key", "a value", code)
  call MPI_INFO_GET(info, "key", 20, answer, flag, code)
  call MPI_INFO_FREE(info, code)
  print '(a,2i4,a,a,l2)', "texts", rank, length, trim(name), " " // answer(:7), flag
  call MPI_COMM_CREATE_KEYVAL(copied, MPI_COMM_NULL_DELETE_FN, keyval, 100_MPI_ADDRESS_KIND, code)
  call MPI_COMM_SET_ATTR(all, keyval, 5_MPI_ADDRESS_KIND, code)
  call MPI_COMM_DUP(all, grid, code)
  call MPI_COMM_GET_ATTR(grid, keyval, value, flag, code)
  print '(a,2i4,l2)', "attributes", rank, value, flag
  call MPI_COMM_FREE(grid, code)
  dims = 0
  call MPI_DIMS_CREATE(ranks, 1, dims, code)
  call MPI_CART_CREATE(all, 1, dims, [.true.], .false., grid, code)
  call MPI_CART_GET(grid, 1, dims, periodic, place, code)
  print '(a,3i4,l2)', "grid", rank, dims, place, periodic
  call MPI_COMM_SET_ERRHANDLER(all, MPI_ERRORS_RETURN, code)
  call MPI_SEND(x, -1, MPI_DOUBLE_PRECISION, up, 9, all, code)
  call MPI_ERROR_CLASS(code, got, i)
  print '(a,i4,2l2)', "errors", rank, got == MPI_ERR_COUNT, code == MPI_SUCCESS
  call MPI_SIZEOF(x, got, code)
  print '(a,2i4,l2)', "sizes", rank, got, MPI_WTIME() >= 0
  call MPI_BARRIER(all, code)
  call MPI_FINALIZE(code)
end program

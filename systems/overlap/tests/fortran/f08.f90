! `mpi_f08` in as many ways as programs use it: no ierror, an own one, keywords, sections with strides,
! callbacks, statuses, sentinels, comparisons of handles.
module ops
  use mpi_f08
  implicit none
contains
  subroutine widest(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    double precision, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    where (abs(a) > abs(b)) b = a
  end subroutine
  subroutine copied(comm, keyval, extra, given, taken, flag, ierror)
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, given, taken
    logical :: flag
    taken = given + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine exchange(field, up, down)
    double precision, intent(inout) :: field(:, :)
    integer, intent(in) :: up, down
    type(MPI_Request) :: both(2)
    type(MPI_Status) :: ends(2)
    integer :: n
    n = size(field, 2)
    call MPI_Irecv(field(:, 1), size(field, 1), MPI_DOUBLE_PRECISION, down, 3, MPI_COMM_WORLD, both(1))
    call MPI_Isend(field(:, n - 1), size(field, 1), MPI_DOUBLE_PRECISION, up, 3, MPI_COMM_WORLD, both(2))
    call MPI_Waitall(2, both, ends)
    call MPI_Sendrecv(field(:, 2), size(field, 1), MPI_DOUBLE_PRECISION, down, 4, &
        field(:, n), size(field, 1), MPI_DOUBLE_PRECISION, up, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine
end module
program many
  use mpi_f08
  use ops
  implicit none
  integer, parameter :: n = 40000
  type(MPI_Comm) :: all, grid, part
  type(MPI_Datatype) :: column, pair
  type(MPI_Group) :: group
  type(MPI_Op) :: op
  type(MPI_Status) :: status
  type(MPI_Info) :: info
  type(MPI_Errhandler) :: handler
  type(MPI_Message) :: message
  procedure(MPI_User_function), pointer :: chosen
  integer :: rank, ranks, code, i, up, down, got, keyval, length, dims(1), place(1)
  integer(MPI_ADDRESS_KIND) :: extent, lower, offset(2)
  integer(MPI_ADDRESS_KIND) :: value
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
  call MPI_Init(code)
  call MPI_Comm_dup(MPI_COMM_WORLD, all)
  call MPI_Comm_rank(all, rank)
  call MPI_Comm_size(comm=all, size=ranks, ierror=code)
  if (all == MPI_COMM_WORLD .or. .not. all /= MPI_COMM_NULL) print *, "wrong handles"
  up = mod(rank + 1, ranks)
  down = mod(rank + ranks - 1, ranks)
  allocate(field(n, 6), sums(n), work(n))
  do i = 1, n
    field(i, :) = rank + sin(dble(i))
    work(i) = cos(dble(i + rank))
  end do
  call exchange(field, up, down)
  total = sum(field)
  ! every second element, by way of a copy
  call MPI_Sendrecv(field(1:n:2, 1), n / 2, MPI_DOUBLE_PRECISION, up, 5, &
      field(2:n:2, 2), n / 2, MPI_DOUBLE_PRECISION, down, 5, all, status)
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, got)
  print '(a,2i3,i7,2f20.4)', "exchange", rank, status%MPI_SOURCE, got, total, sum(field)
  call MPI_Allreduce(work, sums, n, MPI_DOUBLE_PRECISION, MPI_MAX, all)
  do i = 1, n
    work(i) = work(i) * 0.5d0 + sqrt(dble(i))
  end do
  print '(a,i3,2f20.4)', "allreduce", rank, sum(sums), sum(work)
  call MPI_Allreduce(MPI_IN_PLACE, sums, n, MPI_DOUBLE_PRECISION, MPI_MIN, all, code)
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, sums, n, MPI_DOUBLE_PRECISION, MPI_MAX, 0, all)
  else
    call MPI_Reduce(sums, sums, n, MPI_DOUBLE_PRECISION, MPI_MAX, 0, all)
  end if
  print '(a,i3,f20.4)', "in place", rank, sum(sums)
  chosen => widest
  call MPI_Op_create(chosen, .true., op)
  x = merge(-7.5d0, 2.5d0, rank == 1)
  call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, op, all)
  call MPI_Op_free(op)
  print '(a,i3,f8.2,l2)', "own operation", rank, y, op == MPI_OP_NULL
  call MPI_Type_vector(n, 1, 6, MPI_DOUBLE_PRECISION, column)
  call MPI_Type_commit(column)
  call MPI_Type_get_extent(column, lower, extent)
  call MPI_Type_free(column)
  call MPI_Get_address(swarm(1)%at, offset(1))
  call MPI_Get_address(swarm(1)%of, offset(2))
  offset = offset - offset(1)
  call MPI_Type_create_struct(2, [1, 1], offset, [MPI_DOUBLE_PRECISION, MPI_INTEGER], pair)
  call MPI_Type_create_resized(pair, 0_MPI_ADDRESS_KIND, int(storage_size(swarm) / 8, MPI_ADDRESS_KIND), column)
  call MPI_Type_commit(column)
  swarm%at = rank * 0.25d0
  swarm%of = [(i * (rank + 1), i = 1, 100)]
  call MPI_Bcast(swarm, 100, column, ranks - 1, all)
  call MPI_Type_free(column)
  print '(a,2i9,f8.2,i8)', "types", rank, extent, sum(swarm%at), sum(swarm%of)
  if (rank == 0) then
    call MPI_Send(rank, 1, MPI_INTEGER, up, 9, all)
  end if
  if (rank == 1) then
    call MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, all, message, status)
    call MPI_Mrecv(got, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE)
    print '(a,3i4,l2)', "status", status%MPI_SOURCE, got, status%MPI_TAG, message == MPI_MESSAGE_NULL
  end if
  call MPI_Comm_set_name(all, "everyone")
  call MPI_Comm_get_name(all, name, length)
  call MPI_Info_create(info)
  call MPI_Info_set(info, "key", "a value")
  call MPI_Info_get(info, "key", 20, answer, flag)
  call MPI_Info_free(info)
  print '(a,2i4,a,a,l2)', "texts", rank, length, trim(name), " " // answer(:7), flag
  call MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, keyval, 100_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(all, keyval, 5_MPI_ADDRESS_KIND)
  call MPI_Comm_split(all, mod(rank, 2), rank, part)
  call MPI_Comm_dup(all, grid)
  call MPI_Comm_get_attr(grid, keyval, value, flag)
  print '(a,2i4,l2)', "attributes", rank, value, flag
  call MPI_Comm_free(grid)
  dims = 0
  call MPI_Dims_create(ranks, 1, dims)
  call MPI_Cart_create(all, 1, dims, [.true.], .false., grid)
  call MPI_Cart_get(grid, 1, dims, periodic, place)
  call MPI_Cart_shift(grid, 0, 1, down, up)
  print '(a,5i4,l2)', "grid", rank, dims, place, down, up, periodic
  call MPI_Comm_group(grid, group)
  call MPI_Group_size(group, got)
  call MPI_Group_free(group)
  call MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN)
  call MPI_Comm_get_errhandler(all, handler)
  call MPI_Send(x, -1, MPI_DOUBLE_PRECISION, up, 9, all, code)
  call MPI_Error_class(code, got)
  print '(a,i4,3l2)', "errors", rank, got == MPI_ERR_COUNT, code == MPI_SUCCESS, handler == MPI_ERRORS_RETURN
  call MPI_Sizeof(x, got)
  call MPI_Sizeof(place, length)
  print '(a,3i4)', "sizes", rank, got, length
  call MPI_Barrier(all)
  call MPI_Comm_free(part)
  call MPI_Comm_free(all)
  call MPI_Finalize()
end program

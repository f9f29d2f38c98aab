! MPI_BOTTOM on both sides of a call, in a module's routine, with the status of MPI_STATUS_IGNORE in the same block.
module exchange
  implicit none
  include 'mpif.h'
contains
  subroutine swap(sent, received, other)
    integer, intent(in) :: sent, received, other
    integer :: error
    call MPI_Sendrecv(MPI_BOTTOM, 1, sent, other, 3, MPI_BOTTOM, 1, received, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end subroutine
end module
program bottom
  use exchange
  implicit none
  integer, parameter :: n = 60000
  integer :: error, me, i, kinds(2)
  integer, save :: a(n), b(n)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call absolute(a, kinds(1))
  call absolute(b, kinds(2))
  do i = 1, n
    a(i) = i + me
    b(i) = -7
  end do
  call swap(kinds(1), kinds(2), 1 - me)
  do i = 1, n
    a(i) = a(i) + b(i)
  end do
  print *, me, sum(int(a, 8)), sum(int(b, 8))
  call MPI_Finalize(error)
contains
  subroutine absolute(place, kind)
    integer :: place(n), kind, length(1), types(1)
    integer(kind=MPI_ADDRESS_KIND) :: at(1)
    call MPI_Get_address(place, at(1), error)
    length(1) = n
    types(1) = MPI_INTEGER
    call MPI_Type_create_struct(1, length, at, types, kind, error)
    call MPI_Type_commit(kind, error)
  end subroutine
end program

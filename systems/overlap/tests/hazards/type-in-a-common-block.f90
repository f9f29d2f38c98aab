! The type of all messages is in a common block, as in the NAS benchmarks: first one of MPI, then one that names another array,
! which is written next.
subroutine choose(own, at, other)
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 20000
  integer :: own, dp_type, ierr, lengths(1)
  double precision :: at(n), other(n)
  integer(kind=MPI_ADDRESS_KIND) :: from, places(1)
  common /types/ dp_type
  dp_type = MPI_DOUBLE_PRECISION
  if (own == 1) then
    lengths = n
    call MPI_Get_address(at, from, ierr)
    call MPI_Get_address(other, places(1), ierr)
    places = places - from
    call MPI_Type_create_hindexed(1, lengths, places, MPI_DOUBLE_PRECISION, dp_type, ierr)
    call MPI_Type_commit(dp_type, ierr)
  end if
end subroutine
program p
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 20000
  double precision, save :: at(n), other(n), x(n)
  integer :: dp_type, own, count, rank, i, k, ierr, status(MPI_STATUS_SIZE)
  common /types/ dp_type
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  do own = 0, 1
    call choose(own, at, other)
    count = n
    if (own == 1) count = 1
    at = 3d0 + own + rank
    other = 3d0 - own + rank
    x = 1d0
    if (rank == 0) then
      call MPI_Send(at, count, dp_type, 1, 5, MPI_COMM_WORLD, ierr)
      do k = 1, 200
        do i = 2, n
          other(i) = 0.5d0 * (other(i) + other(i-1)) + 1d-9
        end do
      end do
      print *, own, at(5), other(5)
    else
      call sleep(1)
      call MPI_Recv(at, count, dp_type, 0, 5, MPI_COMM_WORLD, status, ierr)
      do k = 1, 200
        do i = 2, n
          x(i) = 0.5d0 * (x(i) + x(i-1)) + 1d-9
        end do
      end do
      print *, own, at(5), other(n), x(n)
    end if
  end do
  call MPI_Finalize(ierr)
end program

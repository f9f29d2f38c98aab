! Requests in an array of Fortran, tested now and then by the program, which does not move enough itself.
program in_an_array
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 1048576
  integer :: me, ierr, request(2), tries, k, i
  logical :: done, moved
  double precision, allocatable :: buffer(:), x(:)
  character(len=512) :: arrived
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call get_command_argument(1, arrived)
  allocate(buffer(n), x(20000))
  buffer = 1
  x = 0
  request = MPI_REQUEST_NULL
  if (me == 0) then
    call MPI_Isend(buffer, n, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, request(2), ierr)
    call MPI_Testall(2, request, done, MPI_STATUSES_IGNORE, ierr)
    moved = .false.
    do tries = 1, 1000
      do k = 1, 50
        do i = 2, 20000
          x(i) = 0.5d0 * x(i) + 0.25d0 * x(i - 1) + 1
        end do
      end do
      inquire(file=trim(arrived), exist=moved)
      if (moved) exit
    end do
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierr)
    if (moved) print '(a)', 'moved'
    if (.not. moved) print '(a)', 'stood still'
  else
    call MPI_Irecv(buffer, n, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, request(1), ierr)
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierr)
    open(unit=9, file=trim(arrived), status='new')
    close(9)
  end if
  call MPI_Finalize(ierr)
end program

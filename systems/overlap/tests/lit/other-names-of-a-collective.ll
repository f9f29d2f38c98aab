; A collective has a name in each language and in mpi_f08; any of them may match it.
; RUN: sed s/OTHER/mpi_bcast_/ %s | %opt "-passes=overlap<min-bytes=0;min-weight=1>" -pass-remarks-missed=overlap - -o - 2>&1 | FileCheck %s
; RUN: sed s/OTHER/mpi_bcast_f08_/ %s | %opt "-passes=overlap<min-bytes=0;min-weight=1>" -pass-remarks-missed=overlap - -o - 2>&1 | FileCheck %s
; RUN: sed s/OTHER/mpi_bcast_f08ts_large_/ %s | %opt "-passes=overlap<min-bytes=0;min-weight=1>" -pass-remarks-missed=overlap - -o - 2>&1 | FileCheck %s
; RUN: sed s/OTHER/MPI_BCAST/ %s | %opt "-passes=overlap<min-bytes=0;min-weight=1>" -pass-remarks-missed=overlap - -o - 2>&1 | FileCheck %s
; RUN: sed s/OTHER/mpi_reduce_/ %s | %opt "-passes=overlap<min-bytes=0;min-weight=1>" -pass-remarks=overlap - -o - 2>&1 | FileCheck --check-prefix=NONE %s
; CHECK: MPI_Bcast stays blocking: OtherSite:
; NONE: MPI_Bcast made nonblocking
@ompi_mpi_double = external global i8
@ompi_mpi_comm_world = external global i8
@a = internal global [100 x double] zeroinitializer
@x = internal global [100 x double] zeroinitializer

declare i32 @MPI_Comm_rank(ptr, ptr)
declare i32 @MPI_Bcast(ptr, i32, ptr, i32, ptr)
declare void @OTHER(ptr)

define i32 @main() {
entry:
  %rank = alloca i32
  %code = call i32 @MPI_Comm_rank(ptr @ompi_mpi_comm_world, ptr %rank)
  %bcast = call i32 @MPI_Bcast(ptr @a, i32 100, ptr @ompi_mpi_double, i32 0, ptr @ompi_mpi_comm_world)
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr double, ptr @x, i64 %i
  store double 1.0, ptr %at
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %done

done:
  %me = load i32, ptr %rank
  %first = icmp eq i32 %me, 0
  br i1 %first, label %other, label %end

other:
  call void @OTHER(ptr @a)
  br label %end

end:
  ret i32 0
}

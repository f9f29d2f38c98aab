; Each stage that may be left out can be asked for alone; what the result needs runs with it.
; RUN: %opt "-passes=overlap<min-bytes=0;min-weight=1;stages=sink>" %s -o - | FileCheck --check-prefix=SINK %s
; RUN: %opt "-passes=overlap<min-bytes=0;min-weight=1;stages=hoist>" %s -o - | FileCheck --check-prefix=NONE %s
; RUN: %opt "-passes=overlap<min-bytes=0;min-weight=1;stages=sink+poll;progress=on>" %s -o - | FileCheck --check-prefix=POLL %s
; RUN: not %opt "-passes=overlap<stages=sink+undo>" %s -o - 2>&1 | FileCheck --check-prefix=BAD %s
; BAD: error: overlap: unknown settings: stages=sink+undo
@ompi_mpi_double = external global i8
@ompi_mpi_comm_world = external global i8

declare i32 @MPI_Send(ptr, i32, ptr, i32, i32, ptr)

; The wait sinks behind the loop.
; SINK-LABEL: @f(
; SINK: call {{.*}}@overlap.start.MPI_Send
; SINK: loop:
; SINK-NOT: overlap.poll
; SINK: done:
; SINK: call {{.*}}@overlap.wait
; Without that nothing lies between, and the call blocks.
; NONE-LABEL: @f(
; NONE: call i32 @MPI_Send(
; POLL-LABEL: @f(
; POLL: call {{.*}}@overlap.poll
define void @f(ptr noalias %out, ptr noalias %work, i32 %to) {
entry:
  %code = call i32 @MPI_Send(ptr %out, i32 100000, ptr @ompi_mpi_double, i32 %to, i32 0, ptr @ompi_mpi_comm_world)
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr double, ptr %work, i64 %i
  %v = load double, ptr %p
  %w = fmul double %v, 5.000000e-01
  store double %w, ptr %p
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100000
  br i1 %more, label %loop, label %done

done:
  store double 0.000000e+00, ptr %out
  ret void
}

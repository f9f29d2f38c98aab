; A function that is called MPI_Send and takes other arguments is no call of a known MPI.
; RUN: %opt -passes=overlap -pass-remarks-missed=overlap %s -o - 2>&1 | FileCheck %s
; CHECK: stays blocking: UnknownBinding:
declare i32 @MPI_Send(ptr, i64, i32, i32, i32, i32)
define void @f(ptr %a) {
  %code = call i32 @MPI_Send(ptr %a, i64 8, i32 1275070475, i32 1, i32 0, i32 1140850688)
  ret void
}

; The pass by its own name under opt, with parameters, on a small function.
; RUN: %opt "-passes=overlap<min-bytes=0;min-weight=1;progress=off>" %s -o - | FileCheck %s
; RUN: not %opt "-passes=overlap<strength=basi>" %s -o - 2>&1 | FileCheck --check-prefix=BAD %s
; BAD: unknown settings: strength=basi
; CHECK-LABEL: @f(
; CHECK: call i32 @overlap.start.MPI_Send
; CHECK: store double 1.0
; CHECK: call void @overlap.wait
declare i32 @MPI_Send(ptr, i32, i32, i32, i32, i32)
define void @f(ptr noalias %a, ptr noalias %x) {
  %code = call i32 @MPI_Send(ptr %a, i32 8, i32 1275070475, i32 1, i32 0, i32 1140850688)
  store double 1.0, ptr %x
  ret void
}

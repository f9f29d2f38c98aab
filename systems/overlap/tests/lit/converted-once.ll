; A file that was converted is not converted again where its linker loads the plugin, too: what was made for it may have lost
; arguments since then.
; RUN: %opt "-passes=overlap<min-bytes=0;min-weight=1>,deadargelim,ipsccp,overlap<min-bytes=0;min-weight=1>" %s -o - | FileCheck %s
; CHECK-LABEL: @f(
; CHECK: @overlap.start.MPI_Send
; CHECK: call void @overlap.wait
; CHECK-LABEL: define internal {{.*}} @overlap.start.MPI_Send(
; CHECK-NOT: @overlap.start
; CHECK: call i32 @MPI_Send(
declare i32 @MPI_Send(ptr, i32, i32, i32, i32, i32)
define void @f(ptr noalias %a, ptr noalias %x) nounwind {
  %code = call i32 @MPI_Send(ptr %a, i32 8, i32 1275070475, i32 1, i32 0, i32 1140850688)
  store double 1.0, ptr %x
  ret void
}

; Fortran's nonblocking calls: the start moves up with the number that it reads, the wait moves down.
; RUN: %opt "-passes=overlap<min-bytes=0;min-weight=1;progress=off>" %s -o - | FileCheck %s
; CHECK-LABEL: @f(
; CHECK: store i32 8, ptr %count
; CHECK-NEXT: call void @mpi_irecv_
; CHECK-NEXT: store double 1.0
; CHECK-NEXT: store double 2.0
; CHECK-NEXT: call void @mpi_wait_
; CHECK-LABEL: @g(
; CHECK: call void @mpi_wait_
; CHECK-NEXT: load i32, ptr %code
@mpi_fortran_bottom_ = common global [4 x i8] zeroinitializer
@mpi_fortran_status_ignore_ = common global [24 x i8] zeroinitializer
@double = constant i32 17
@from = constant i32 1
@tag = constant i32 5
@world = constant i32 0
declare void @mpi_irecv_(ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr)
declare void @mpi_wait_(ptr, ptr, ptr)
define void @f(ptr noalias %a, ptr noalias %x) {
  %request = alloca i32
  %code = alloca i32
  %count = alloca i32
  store double 1.0, ptr %x
  store i32 8, ptr %count
  call void @mpi_irecv_(ptr %a, ptr %count, ptr @double, ptr @from, ptr @tag, ptr @world, ptr %request, ptr %code)
  call void @mpi_wait_(ptr %request, ptr @mpi_fortran_status_ignore_, ptr %code)
  store double 2.0, ptr %x
  ret void
}
define i32 @g(ptr noalias %a, ptr noalias %x) {
  %request = alloca i32
  %code = alloca i32
  call void @mpi_irecv_(ptr %a, ptr @from, ptr @double, ptr @from, ptr @tag, ptr @world, ptr %request, ptr %code)
  call void @mpi_wait_(ptr %request, ptr @mpi_fortran_status_ignore_, ptr %code)
  %said = load i32, ptr %code
  store double 2.0, ptr %x
  ret i32 %said
}

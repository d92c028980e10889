! SPDX-License-Identifier: LGPL-2.1-or-later
! twin_of.f90 - the programs of twin.c, with the module orrery.
module twin_programs
  use iso_c_binding
  use orrery
  implicit none
  real(c_float) :: v(4096), m(256, 256)
  real(c_double) :: total
contains
  recursive subroutine nothing(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    if (c_associated(buffers) .or. c_associated(args)) return
  end subroutine

  subroutine vector(n)
    integer, intent(in) :: n
    type(codelet) :: scale
    type(data) :: d
    integer :: i, part
    call scale%init("scale", cpu=nothing, cuda=nothing)
    call d%register(v)
    call d%partition(blocks(8))
    do i = 1, n
      do part = 1, 8
        call submit(scale, d%readwrite(part), value(2.))
      end do
    end do
    call taskwait()
    call d%unpartition()
    call d%unregister()
  end subroutine

  subroutine cholesky(n)
    integer, intent(in) :: n
    type(codelet) :: potrf, trsm, syrk, gemm
    type(data) :: d
    integer :: i, j, k
    call potrf%init("potrf", cpu=nothing, cuda=nothing)
    call trsm%init("trsm", cpu=nothing, cuda=nothing)
    call syrk%init("syrk", cpu=nothing, cuda=nothing)
    call gemm%init("gemm", cpu=nothing, cuda=nothing)
    call d%register(m)
    call d%partition(blocks(n, dim=1), blocks(n, dim=2))
    do k = 1, n
      call submit(potrf, d%readwrite(k, k), priority=2 * (n - k + 1))
      do i = k + 1, n
        call submit(trsm, d%read(k, k), d%readwrite(i, k), priority=2 * (n - k + 1) - 1)
      end do
      do j = k + 1, n
        call submit(syrk, d%read(j, k), d%readwrite(j, j))
        do i = j + 1, n
          call submit(gemm, d%read(i, k), d%read(j, k), d%readwrite(i, j))
        end do
      end do
    end do
    call taskwait()
    call d%unpartition()
    call d%unregister()
  end subroutine

  subroutine redux(n)
    integer, intent(in) :: n
    type(codelet) :: contribute, zero, add
    type(data) :: d
    integer :: i
    call contribute%init("contribute", cpu=nothing, cuda=nothing)
    call zero%init("zero", cpu=nothing, cuda=nothing)
    call add%init("add", cpu=nothing, cuda=nothing)
    call d%register(total)
    call d%set_reduction(redux=add, init=zero)
    do i = 1, n
      call submit(contribute, d%reduce())
    end do
    call taskwait()
    call d%unregister()
  end subroutine

  subroutine tasks(n)
    integer, intent(in) :: n
    type(codelet) :: scale
    type(data) :: d
    integer :: i
    call scale%init("scale", cpu=nothing, cuda=nothing)
    call d%register(total)
    do i = 1, n
      call submit(scale, d%readwrite())
    end do
    call taskwait()
    call d%unregister()
  end subroutine
end module

program twin_of
  use twin_programs
  implicit none
  character(20) :: which, number
  real(c_double) :: start
  integer :: n, status
  call get_command_argument(1, which)
  call get_command_argument(2, number)
  read(number, *) n
  call orrery_init(stat=status)
  if (status /= 0) stop 77
  start = time_us()
  select case (which)
  case ("vector")
    call vector(n)
  case ("cholesky")
    call cholesky(n)
  case ("redux")
    call redux(n)
  case ("tasks")
    call tasks(n)
  end select
  print '(f0.3)', time_us() - start
  call orrery_shutdown()
end program

! SPDX-License-Identifier: LGPL-2.1-or-later
! nested.f90 - kernels that are inside of the procedure which submits their tasks, and use its
! variables: a table that all tasks read, which nobody registers, since only processors do.
module interpolation
  use, intrinsic :: iso_c_binding
  use orrery
  implicit none
contains
  subroutine interpolate(n)
    integer, intent(in) :: n
    real(8) :: table(0:100), x(n), y(n)
    type(codelet) :: looks_up
    integer :: i
    table = [(real(i, 8)**2, i = 0, 100)]
    x = [(99.5d0 * i / n, i = 1, n)]
    y = -1
    call looks_up%init("look_up", cpu=look_up)
    do i = 1, n, 10
      call submit(looks_up, read(x(i:i + 9)), write(y(i:i + 9)))
    end do
    call taskwait()
    if (.not. runs_kernels()) return
    if (any(abs(y - x**2) > .2501d0)) error stop "a wrong result"
  contains
    recursive subroutine look_up(buffers, args) bind(C)
      type(c_ptr), value :: buffers, args
      real(8), pointer :: at(:), found(:)
      if (c_associated(args)) return
      call view(buffers, 1, at)
      call view(buffers, 2, found)
      found = table(int(at)) + (at - int(at)) * (table(int(at) + 1) - table(int(at)))
    end subroutine
  end subroutine
end module

program nested
  use interpolation
  implicit none
  integer :: status

  call orrery_init(stat=status)
  if (status == -19) stop 77
  if (status /= 0) error stop "orrery_init"
  call interpolate(50)
  call interpolate(80)
  call orrery_shutdown()
end program

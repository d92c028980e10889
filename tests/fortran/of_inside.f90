! SPDX-License-Identifier: LGPL-2.1-or-later
! Tasks that submit tasks, on several workers at once, which use arrays themselves.
module of_inside_kernels
  use iso_c_binding
  use orrery
  implicit none
  integer, parameter :: branches = 8, leaves = 8, rows = 8
  integer, target :: m(rows, branches * leaves) = 0
  type(codelet), save :: inner, outer
contains
  recursive subroutine leaf(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer, pointer :: column(:)
    if (c_associated(args)) return
    call view(buffers, 1, column)
    column = column + 1
  end subroutine

  recursive subroutine branch(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer, pointer :: number
    integer :: k
    if (c_associated(args)) return
    call view(buffers, 1, number)
    do k = 1, leaves
      call submit(inner, readwrite(m(:, leaves * (number - 1) + k)))
    end do
  end subroutine
end module

program of_inside
  use of_inside_kernels
  use expect
  implicit none
  integer :: numbers(branches), round, i, status

  call orrery_init(stat=status)
  if (status == -19) stop 77
  call inner%init("leaf", cpu=leaf)
  call outer%init("branch", cpu=branch)
  do round = 1, 10
    numbers = [(i, i = 1, branches)]
    do i = 1, branches
      call submit(outer, read(numbers(i)))
    end do
    call taskwait()
    call expect_result(all(m == round), "each task inside of the others")
  end do
  call orrery_shutdown()
end program

! SPDX-License-Identifier: LGPL-2.1-or-later
! expect - what programs of this folder have in common: an expectation that ends the
! program, and one of a result, which only executed kernels leave.
module expect
  implicit none
contains
  subroutine expect_that(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    write(*, '(a)') "not so: " // what
    error stop 1
  end subroutine

  ! Kernels are not executed in a simulation unless it is asked for.
  logical function has_results()
    integer :: length
    call get_environment_variable("KERNELS_ARE_SKIPPED", length=length)
    has_results = length == 0
  end function

  subroutine expect_result(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (has_results()) call expect_that(holds, what)
  end subroutine
end module

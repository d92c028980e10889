! SPDX-License-Identifier: LGPL-2.1-or-later
! A program that submits by C functions of its own (marshal.c), which call a subroutine of
! its for each task; the library by starpu_mod.
module marshal_work
  use iso_c_binding
  implicit none
contains
  subroutine scale_column(n, column, factor) bind(C)
    integer(c_int), value :: n
    real(c_double), intent(inout) :: column(n)
    real(c_double), value :: factor
    column = factor * column
  end subroutine
end module

program f90_marshal
  use iso_c_binding
  use starpu_mod
  use marshal_work
  use expect
  implicit none
  interface
    subroutine submit_columns(n, m, matrix) bind(C)
      import
      integer(c_int), value :: n, m
      real(c_double), intent(inout) :: matrix(n, m)
    end subroutine
  end interface
  real(c_double) :: matrix(10, 5) = 1
  integer(c_int) :: major, minor, release, j

  if (starpu_init(c_null_ptr) /= 0) stop 77
  call starpu_get_version(major, minor, release)
  call expect_that(major == 1 .and. minor == 4, "this is StarPU 1.4")
  call expect_that(starpu_cpu_worker_get_count() > 0, "there are processors")
  call starpu_pause()
  call starpu_resume()
  call submit_columns(10, 5, matrix)
  call starpu_shutdown()
  do j = 1, 5
    call expect_result(maxval(abs(matrix(:, j) - j)) <= 0, "a column")
  end do
end program

! SPDX-License-Identifier: LGPL-2.1-or-later
! Two matrices and a hundred tasks on both, with models, timed by the clock of the machine;
! codelets that are made and freed again between.
module nf_matrix_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
contains
  recursive subroutine add(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    real(c_double), pointer :: a(:,:)
    integer(c_int), pointer :: b(:,:)
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_matrix_get_ptr(buffers, 0), a, &
                     [fstarpu_matrix_get_ld(buffers, 0), fstarpu_matrix_get_ny(buffers, 0)])
    call c_f_pointer(fstarpu_matrix_get_ptr(buffers, 1), b, &
                     [fstarpu_matrix_get_ld(buffers, 1), fstarpu_matrix_get_ny(buffers, 1)])
    a = a + 1
    b = b + size(a, 1)
  end subroutine
end module

program nf_matrix
  use iso_c_binding
  use fstarpu_mod
  use nf_matrix_kernels
  use expect
  implicit none
  real(c_double), target :: a(7, 6) = 0
  integer(c_int), target :: b(5, 4) = 0
  real(c_double) :: before, after
  type(c_ptr) :: cl, dh_a, dh_b
  integer :: i

  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  call fstarpu_matrix_data_register(dh_a, FSTARPU_MAIN_RAM, c_loc(a), 7, 7, 6, c_sizeof(a(1, 1)))
  call fstarpu_matrix_data_register(dh_b, FSTARPU_MAIN_RAM, c_loc(b), 5, 5, 4, c_sizeof(b(1, 1)))
  before = fstarpu_timing_now()
  do i = 1, 100
    if (modulo(i, 10) == 1) call new_codelet(merge(c_char_"one"//c_null_char, &
                                                   c_char_"two"//c_null_char, modulo(i, 20) == 1))
    call fstarpu_task_insert((/ cl, FSTARPU_RW, dh_a, FSTARPU_RW, dh_b, c_null_ptr /))
    if (modulo(i, 10) == 0) then
      call fstarpu_task_wait_for_all()
      call fstarpu_codelet_free(cl)
    end if
  end do
  after = fstarpu_timing_now()
  call fstarpu_data_unregister(dh_a)
  call fstarpu_data_unregister(dh_b)
  call fstarpu_shutdown()
  call expect_that(after > before, "time goes on")
  call expect_result(maxval(abs(a - 100)) <= 0 .and. all(b == 700), "a hundred tasks")
contains
  subroutine new_codelet(name)
    character(*), intent(in) :: name
    cl = fstarpu_codelet_allocate()
    call fstarpu_codelet_set_name(cl, name)
    call fstarpu_codelet_add_cpu_func(cl, c_funloc(add))
    call fstarpu_codelet_add_buffer(cl, FSTARPU_RW)
    call fstarpu_codelet_add_buffer(cl, FSTARPU_RW)
  end subroutine
end program

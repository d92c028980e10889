! SPDX-License-Identifier: LGPL-2.1-or-later
! Two vectors and a task on both: with a model, a place, a type, and a pause between.
module nf_vector_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
contains
  recursive subroutine add(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    real(c_double), pointer :: a(:)
    integer(c_int), pointer :: b(:)
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), a, [fstarpu_vector_get_nx(buffers, 0)])
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 1), b, [fstarpu_vector_get_nx(buffers, 1)])
    b(1:size(a)) = b(1:size(a)) + int(a)
    if (c_associated(cl_args)) b = -1
  end subroutine
end module

program nf_vector
  use iso_c_binding
  use fstarpu_mod
  use nf_vector_kernels
  use expect
  implicit none
  real(c_double), allocatable, target :: a(:)
  integer(c_int), allocatable, target :: b(:)
  type(c_ptr) :: cl, model, dh_a, dh_b
  integer(c_int) :: i, major, minor, release

  allocate(a(5), b(7))
  a = [(real(i, c_double), i = 1, 5)]
  b = [(i, i = 1, 7)]
  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  call fstarpu_get_version(major, minor, release)
  call expect_that(major == 1 .and. minor == 4, "this is StarPU 1.4")
  call expect_that(fstarpu_worker_get_count() > 0, "there are workers")
  call fstarpu_pause()
  model = fstarpu_perfmodel_allocate()
  call fstarpu_perfmodel_set_symbol(model, c_char_"nf_vector"//c_null_char)
  call fstarpu_perfmodel_set_type(model, FSTARPU_HISTORY_BASED)
  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl, c_char_"nf_vector"//c_null_char)
  call fstarpu_codelet_set_model(cl, model)
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(add))
  call fstarpu_codelet_add_buffer(cl, FSTARPU_R)
  call fstarpu_codelet_add_buffer(cl, FSTARPU_RW.ior.FSTARPU_LOCALITY)
  call fstarpu_codelet_set_where(cl, FSTARPU_CPU)
  call fstarpu_codelet_set_type(cl, FSTARPU_SEQ)
  call fstarpu_codelet_set_max_parallelism(cl, 1)
  call fstarpu_vector_data_register(dh_a, 0, c_loc(a), 5, c_sizeof(a(1)))
  call fstarpu_vector_data_register(dh_b, 0, c_loc(b), 7, c_sizeof(b(1)))
  call fstarpu_task_insert((/ cl, FSTARPU_R, dh_a, FSTARPU_RW.ior.FSTARPU_LOCALITY, dh_b, &
                              c_null_ptr /))
  call fstarpu_resume()
  call fstarpu_task_wait_for_all()
  call fstarpu_data_unregister(dh_a)
  call fstarpu_data_unregister(dh_b)
  call fstarpu_codelet_free(cl)
  call fstarpu_shutdown()
  call fstarpu_perfmodel_free(model)
  print '(7i4)', b
  deallocate(a, b)
end program

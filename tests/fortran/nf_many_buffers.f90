! SPDX-License-Identifier: LGPL-2.1-or-later
! Codelets with more buffers than FSTARPU_NMAXBUFS, which sizes an array here, and with a
! number that varies; data whose order does not count; a reduction.
module nf_many_buffers_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
contains
  ! Adds the first buffers to the last one.
  recursive subroutine add_up(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    integer(c_int), pointer :: from, to
    integer(c_int), target :: n
    integer :: i
    call fstarpu_unpack_arg(cl_args, (/ c_loc(n) /))
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, n - 1), to)
    do i = 0, n - 2
      call c_f_pointer(fstarpu_variable_get_ptr(buffers, i), from)
      to = to + from
    end do
  end subroutine

  recursive subroutine add_one(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    integer(c_int), pointer :: sum
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), sum)
    sum = sum + 1
  end subroutine

  recursive subroutine zero(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    integer(c_int), pointer :: sum
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), sum)
    sum = 0
  end subroutine

  recursive subroutine add(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    integer(c_int), pointer :: to, from
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), to)
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 1), from)
    to = to + from
  end subroutine
end module

program nf_many_buffers
  use iso_c_binding
  use fstarpu_mod
  use nf_many_buffers_kernels
  use expect
  implicit none
  integer, parameter :: most = FSTARPU_NMAXBUFS + 1
  integer(c_int), target :: value(most), n, sum = 100
  integer(c_int8_t), target :: in_order(2) = [1_c_int8_t, 0_c_int8_t]
  type(c_ptr) :: cl, fixed, contributes, starts, adds, handles(most), dh, descrs
  integer :: i

  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  do i = 1, most
    value(i) = i
    call fstarpu_variable_data_register(handles(i), FSTARPU_MAIN_RAM, c_loc(value(i)), &
                                        c_sizeof(value(i)))
  end do
  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl, c_char_"add_up"//c_null_char)
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(add_up))
  call fstarpu_codelet_set_variable_nbuffers(cl)
  fixed = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(fixed, c_char_"add_up"//c_null_char)
  call fstarpu_codelet_add_cpu_func(fixed, c_funloc(add_up))
  call fstarpu_codelet_set_nbuffers(fixed, most)
  descrs = fstarpu_data_descr_array_alloc(most)
  do n = 1, most
    do i = 1, n
      call fstarpu_data_descr_array_set(descrs, i - 1, handles(i), FSTARPU_R)
    end do
    call fstarpu_data_descr_array_set(descrs, n - 1, handles(n), FSTARPU_RW)
    call fstarpu_task_insert((/ cl, FSTARPU_DATA_MODE_ARRAY, descrs, c_loc(n), &
      FSTARPU_VALUE, c_loc(n), FSTARPU_SZ_C_INT, c_null_ptr /))
  end do
  n = most
  call fstarpu_task_insert((/ fixed, FSTARPU_DATA_MODE_ARRAY, descrs, c_loc(n), &
    FSTARPU_VALUE, c_loc(n), FSTARPU_SZ_C_INT, c_null_ptr /))
  call fstarpu_data_descr_array_free(descrs)
  ! Without order of the second one, which nobody uses any more.
  call fstarpu_task_wait_for_all()
  n = 2
  call fstarpu_task_insert((/ cl, FSTARPU_R, handles(1), FSTARPU_RW, handles(2), &
    FSTARPU_HANDLES_SEQUENTIAL_CONSISTENCY, c_loc(in_order), &
    FSTARPU_VALUE, c_loc(n), FSTARPU_SZ_C_INT, c_null_ptr /))
  call fstarpu_task_wait_for_all()

  contributes = codelet(c_char_"add_one"//c_null_char, c_funloc(add_one), FSTARPU_REDUX)
  starts = codelet(c_char_"zero"//c_null_char, c_funloc(zero), FSTARPU_W)
  adds = codelet(c_char_"add"//c_null_char, c_funloc(add), FSTARPU_RW)
  call fstarpu_codelet_add_buffer(adds, FSTARPU_R)
  call fstarpu_variable_data_register(dh, FSTARPU_MAIN_RAM, c_loc(sum), c_sizeof(sum))
  call fstarpu_data_set_reduction_methods(dh, adds, starts)
  do i = 1, 50
    call fstarpu_task_insert((/ contributes, FSTARPU_REDUX, dh, c_null_ptr /))
  end do
  call fstarpu_data_unregister(dh)
  call expect_result(sum == 150, "fifty contributions")
  do i = 1, most
    call fstarpu_data_unregister(handles(i))
  end do
  call fstarpu_shutdown()
  call fstarpu_codelet_free(cl)
  call fstarpu_codelet_free(fixed)
  call fstarpu_codelet_free(contributes)
  call fstarpu_codelet_free(starts)
  call fstarpu_codelet_free(adds)
  call expect_result(value(2) == 4, "two buffers, twice")
  ! Value i became 2**i - 1; the last one got all sums once more.
  call expect_result(value(3) == 7 .and. value(4) == 15, "three and four buffers")
  call expect_result(value(most) == 2 * (2**most - 1) - most, "more than FSTARPU_NMAXBUFS, twice")
contains
  function codelet(name, function, mode)
    character(*), intent(in) :: name
    type(c_funptr), value :: function
    type(c_ptr), intent(in) :: mode
    type(c_ptr) :: codelet
    codelet = fstarpu_codelet_allocate()
    call fstarpu_codelet_set_name(codelet, name)
    call fstarpu_codelet_add_cpu_func(codelet, function)
    call fstarpu_codelet_add_buffer(codelet, mode)
  end function
end program

! SPDX-License-Identifier: LGPL-2.1-or-later
! A matrix in tiles by two filters, a task each; a vector cut in other ways; the parts as
! planned partitions.
module nf_partition_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
contains
  recursive subroutine set_tile(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    integer(c_int), pointer :: m(:,:)
    integer(c_int), target :: number
    integer :: nx, ny
    nx = fstarpu_matrix_get_nx(buffers, 0)
    ny = fstarpu_matrix_get_ny(buffers, 0)
    call fstarpu_unpack_arg(cl_args, (/ c_loc(number) /))
    call c_f_pointer(fstarpu_matrix_get_ptr(buffers, 0), m, [fstarpu_matrix_get_ld(buffers, 0), ny])
    m(1:nx, 1:ny) = number
  end subroutine

  recursive subroutine add_length(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    integer(c_int), pointer :: v(:)
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), v, [fstarpu_vector_get_nx(buffers, 0)])
    v = v + size(v)
  end subroutine
end module

program nf_partition
  use iso_c_binding
  use fstarpu_mod
  use nf_partition_kernels
  use expect
  implicit none
  integer(c_int), target :: m(6, 8) = 0, v(10) = 0, number
  integer(c_int) :: lengths(3) = [2, 3, 5]
  integer(c_int), target :: lengths_c(3)
  type(c_ptr) :: cl, cl_v, dh, rows, columns, filter, children(2)
  integer :: i, j

  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl, c_char_"set_tile"//c_null_char)
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(set_tile))
  call fstarpu_codelet_add_buffer(cl, FSTARPU_W)
  cl_v = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl_v, c_char_"add_length"//c_null_char)
  call fstarpu_codelet_add_cpu_func(cl_v, c_funloc(add_length))
  call fstarpu_codelet_add_buffer(cl_v, FSTARPU_RW)

  call fstarpu_matrix_data_register(dh, FSTARPU_MAIN_RAM, c_loc(m), 6, 6, 8, c_sizeof(m(1, 1)))
  rows = fstarpu_df_alloc_matrix_filter_block()
  call fstarpu_data_filter_set_nchildren(rows, 3)
  columns = fstarpu_df_alloc_matrix_filter_vertical_block()
  call fstarpu_data_filter_set_nchildren(columns, 2)
  call fstarpu_data_map_filters(dh, 2, (/ rows, columns /))
  call expect_that(fstarpu_data_get_nb_children(dh) == 3, "three blocks of rows")
  do i = 0, 2
    do j = 0, 1
      number = 10 * (i + 1) + j + 1
      call fstarpu_task_insert((/ cl, FSTARPU_W, fstarpu_data_get_sub_data(dh, 2, (/ i, j /)), &
        FSTARPU_VALUE, c_loc(number), FSTARPU_SZ_C_INT, c_null_ptr /))
    end do
  end do
  call fstarpu_data_unpartition(dh, FSTARPU_MAIN_RAM)
  call fstarpu_data_unregister(dh)
  call expect_result(all(m(1:2, 1:4) == 11) .and. all(m(5:6, 5:8) == 32), "tiles of the matrix")

  call fstarpu_vector_data_register(dh, FSTARPU_MAIN_RAM, c_loc(v), 10, c_sizeof(v(1)))
  lengths_c = lengths
  filter = fstarpu_df_alloc_vector_filter_list()
  call fstarpu_data_filter_set_nchildren(filter, 3)
  call fstarpu_data_filter_set_filter_arg_ptr(filter, c_loc(lengths_c))
  call work_on_parts(3)
  filter = fstarpu_data_filter_allocate()
  call fstarpu_data_filter_set_filter_func(filter, c_funloc(fstarpu_vector_divide_in_2))
  call fstarpu_data_filter_set_nchildren(filter, 2)
  call fstarpu_data_filter_set_filter_arg(filter, 4)
  call work_on_parts(2)
  filter = fstarpu_df_alloc_vector_filter_block()
  call fstarpu_data_filter_set_nchildren(filter, 2)
  call fstarpu_data_partition_plan(dh, filter, children)
  call fstarpu_data_partition_submit(dh, 2, children)
  do i = 1, 2
    call fstarpu_task_insert((/ cl_v, FSTARPU_RW, children(i), c_null_ptr /))
  end do
  call fstarpu_data_unpartition_submit(dh, 2, children, -1)
  call fstarpu_task_insert((/ cl_v, FSTARPU_RW, dh, c_null_ptr /))
  call fstarpu_data_partition_clean(dh, 2, children)
  call fstarpu_data_acquire(dh, FSTARPU_RW)
  if (has_results()) v = v - 15
  call fstarpu_data_release(dh)
  call fstarpu_data_filter_free(filter)
  call fstarpu_data_unregister(dh)
  call fstarpu_data_filter_free(rows)
  call fstarpu_data_filter_free(columns)
  call fstarpu_codelet_free(cl)
  call fstarpu_codelet_free(cl_v)
  call fstarpu_shutdown()
  call expect_result(all(v == [2+4, 2+4, 3+4, 3+4, 3+6, 5+6, 5+6, 5+6, 5+6, 5+6]), "parts of the vector")
contains
  subroutine work_on_parts(n)
    integer(c_int), intent(in) :: n
    integer(c_int) :: k
    call fstarpu_data_partition(dh, filter)
    do k = 0, n - 1
      call fstarpu_task_insert((/ cl_v, FSTARPU_RW, fstarpu_data_get_child(dh, k), c_null_ptr /))
    end do
    call fstarpu_data_unpartition(dh, FSTARPU_MAIN_RAM)
    call fstarpu_data_filter_free(filter)
  end subroutine
end program

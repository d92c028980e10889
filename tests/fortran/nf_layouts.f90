! SPDX-License-Identifier: LGPL-2.1-or-later
! Each layout of data, seen by its accessors in a kernel; what lies beside a part of an
! array is left alone.
module nf_layouts_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
contains
  ! Adds the index of each element to it.
  recursive subroutine fill(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    integer(c_int), pointer :: scalar, v(:), m(:,:), b(:,:,:), t(:,:,:,:)
    integer :: i, j, k, l
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), scalar)
    scalar = 1
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 1), v, [fstarpu_vector_get_nx(buffers, 1)])
    v = [(i, i = 1, size(v))]
    call c_f_pointer(fstarpu_matrix_get_ptr(buffers, 2), m, &
                     [fstarpu_matrix_get_ld(buffers, 2), fstarpu_matrix_get_ny(buffers, 2)])
    do j = 1, fstarpu_matrix_get_ny(buffers, 2)
      do i = 1, fstarpu_matrix_get_nx(buffers, 2)
        m(i, j) = i + 10 * j
      end do
    end do
    call c_f_pointer(fstarpu_block_get_ptr(buffers, 3), b, &
                     [fstarpu_block_get_ldy(buffers, 3), &
                      fstarpu_block_get_ldz(buffers, 3) / fstarpu_block_get_ldy(buffers, 3), &
                      fstarpu_block_get_nz(buffers, 3)])
    do k = 1, fstarpu_block_get_nz(buffers, 3)
      do j = 1, fstarpu_block_get_ny(buffers, 3)
        do i = 1, fstarpu_block_get_nx(buffers, 3)
          b(i, j, k) = i + 10 * j + 100 * k
        end do
      end do
    end do
    call c_f_pointer(fstarpu_tensor_get_ptr(buffers, 4), t, &
                     [fstarpu_tensor_get_ldy(buffers, 4), &
                      fstarpu_tensor_get_ldz(buffers, 4) / fstarpu_tensor_get_ldy(buffers, 4), &
                      fstarpu_tensor_get_ldt(buffers, 4) / fstarpu_tensor_get_ldz(buffers, 4), &
                      fstarpu_tensor_get_nt(buffers, 4)])
    do l = 1, fstarpu_tensor_get_nt(buffers, 4)
      do k = 1, fstarpu_tensor_get_nz(buffers, 4)
        do j = 1, fstarpu_tensor_get_ny(buffers, 4)
          do i = 1, fstarpu_tensor_get_nx(buffers, 4)
            t(i, j, k, l) = i + 10 * j + 100 * k + 1000 * l
          end do
        end do
      end do
    end do
  end subroutine
end module

program nf_layouts
  use iso_c_binding
  use fstarpu_mod
  use nf_layouts_kernels
  use expect
  implicit none
  integer(c_int), target :: scalar = 0, v(5) = 0, m(4, 3) = 0, b(3, 4, 2) = 0, t(2, 3, 4, 5) = 0
  integer(c_size_t) :: bytes
  type(c_ptr) :: cl, handles(5)
  integer :: i, j, k, l

  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  bytes = c_sizeof(scalar)
  call fstarpu_variable_data_register(handles(1), FSTARPU_MAIN_RAM, c_loc(scalar), bytes)
  call fstarpu_vector_data_register(handles(2), FSTARPU_MAIN_RAM, c_loc(v), 4, bytes)
  call fstarpu_matrix_data_register(handles(3), FSTARPU_MAIN_RAM, c_loc(m), 4, 3, 3, bytes)
  call fstarpu_block_data_register(handles(4), FSTARPU_MAIN_RAM, c_loc(b), 3, 12, 2, 3, 2, bytes)
  call fstarpu_tensor_data_register(handles(5), FSTARPU_MAIN_RAM, c_loc(t), 2, 6, 24, 2, 3, 3, 5, &
                                    bytes)
  call work()
  do i = 1, 5
    call fstarpu_data_unregister(handles(i))
  end do
  call fstarpu_shutdown()
  call fstarpu_codelet_free(cl)
  call expect_result(scalar == 1, "the variable")
  call expect_result(all(v == [1, 2, 3, 4, 0]), "the vector, and what lies behind it")
  call expect_result(all(m(1:3, :) == reshape([((i + 10*j, i=1,3), j=1,3)], [3, 3])), "the matrix")
  call expect_that(all(m(4, :) == 0), "what lies between its columns")
  call expect_result(all(b(1:2, 1:3, :) == &
    reshape([(((i + 10*j + 100*k, i=1,2), j=1,3), k=1,2)], [2, 3, 2])), "the block")
  call expect_that(all(b(3, :, :) == 0) .and. all(b(:, 4, :) == 0), "what lies beside it")
  call expect_result(all(t(:, :, 1:3, :) == &
    reshape([((((i + 10*j + 100*k + 1000*l, i=1,2), j=1,3), k=1,3), l=1,5)], [2, 3, 3, 5])), &
    "the tensor")
  call expect_that(all(t(:, :, 4, :) == 0), "what lies beside it")
contains
  ! Names in variables that are gone when the task runs.
  subroutine work()
    character(20), target :: name
    write(name, '(a, i0, a)') "nf_layouts_", 1, c_null_char
    cl = fstarpu_codelet_allocate()
    call fstarpu_codelet_set_name(cl, name)
    call fstarpu_codelet_add_cpu_func(cl, c_funloc(fill))
    do i = 1, 5
      call fstarpu_codelet_add_buffer(cl, FSTARPU_RW)
    end do
    call fstarpu_task_insert((/ cl, FSTARPU_RW, handles(1), FSTARPU_RW, handles(2), &
      FSTARPU_RW, handles(3), FSTARPU_RW, handles(4), FSTARPU_RW, handles(5), c_null_ptr /))
    name = "another"//c_null_char
  end subroutine
end program

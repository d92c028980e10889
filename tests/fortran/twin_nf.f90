! SPDX-License-Identifier: LGPL-2.1-or-later
! twin_nf.f90 - the programs of twin.c, with fstarpu_mod.
module twin_programs
  use iso_c_binding
  use fstarpu_mod
  implicit none
  real(c_float), target :: v(4096), m(256, 256)
  real(c_double), target :: total
contains
  recursive subroutine nothing(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    if (c_associated(buffers) .or. c_associated(cl_args)) return
  end subroutine

  function codelet(name, modes) result(cl)
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: modes(:)
    type(c_ptr) :: cl
    integer :: i
    cl = fstarpu_codelet_allocate()
    call fstarpu_codelet_set_name(cl, name//c_null_char)
    call fstarpu_codelet_add_cpu_func(cl, c_funloc(nothing))
    call fstarpu_codelet_add_cuda_func(cl, c_funloc(nothing))
    do i = 1, size(modes)
      call fstarpu_codelet_add_buffer(cl, modes(i))
    end do
  end function

  subroutine vector(n)
    integer, intent(in) :: n
    type(c_ptr) :: cl, dh, filter
    real(c_float), target :: factor
    integer :: i, part
    factor = 2
    cl = codelet("scale", [FSTARPU_RW])
    call fstarpu_vector_data_register(dh, FSTARPU_MAIN_RAM, c_loc(v), 4096, c_sizeof(v(1)))
    filter = fstarpu_df_alloc_vector_filter_block()
    call fstarpu_data_filter_set_nchildren(filter, 8)
    call fstarpu_data_map_filters(dh, 1, [filter])
    do i = 1, n
      do part = 0, 7
        call fstarpu_task_insert((/ cl, FSTARPU_RW, fstarpu_data_get_child(dh, part), &
          FSTARPU_VALUE, c_loc(factor), FSTARPU_SZ_C_FLOAT, c_null_ptr /))
      end do
    end do
    call fstarpu_task_wait_for_all()
    call fstarpu_data_unpartition(dh, FSTARPU_MAIN_RAM)
    call fstarpu_data_unregister(dh)
  end subroutine

  subroutine cholesky(n)
    integer, intent(in) :: n
    type(c_ptr) :: potrf, trsm, syrk, gemm, dh, rows, columns
    integer(c_int), target :: priority
    integer :: i, j, k
    potrf = codelet("potrf", [FSTARPU_RW])
    trsm = codelet("trsm", [FSTARPU_R, FSTARPU_RW])
    syrk = codelet("syrk", [FSTARPU_R, FSTARPU_RW])
    gemm = codelet("gemm", [FSTARPU_R, FSTARPU_R, FSTARPU_RW])
    call fstarpu_matrix_data_register(dh, FSTARPU_MAIN_RAM, c_loc(m), 256, 256, 256, c_sizeof(m(1, 1)))
    rows = fstarpu_df_alloc_matrix_filter_block()
    call fstarpu_data_filter_set_nchildren(rows, n)
    columns = fstarpu_df_alloc_matrix_filter_vertical_block()
    call fstarpu_data_filter_set_nchildren(columns, n)
    call fstarpu_data_map_filters(dh, 2, [rows, columns])
    do k = 0, n - 1
      priority = 2 * (n - k)
      call fstarpu_task_insert((/ potrf, FSTARPU_RW, tile(k, k), FSTARPU_PRIORITY, c_loc(priority), &
        c_null_ptr /))
      priority = priority - 1
      do i = k + 1, n - 1
        call fstarpu_task_insert((/ trsm, FSTARPU_R, tile(k, k), FSTARPU_RW, tile(i, k), &
          FSTARPU_PRIORITY, c_loc(priority), c_null_ptr /))
      end do
      do j = k + 1, n - 1
        call fstarpu_task_insert((/ syrk, FSTARPU_R, tile(j, k), FSTARPU_RW, tile(j, j), c_null_ptr /))
        do i = j + 1, n - 1
          call fstarpu_task_insert((/ gemm, FSTARPU_R, tile(i, k), FSTARPU_R, tile(j, k), &
            FSTARPU_RW, tile(i, j), c_null_ptr /))
        end do
      end do
    end do
    call fstarpu_task_wait_for_all()
    call fstarpu_data_unpartition(dh, FSTARPU_MAIN_RAM)
    call fstarpu_data_unregister(dh)
  contains
    function tile(i, j)
      integer, intent(in) :: i, j
      type(c_ptr) :: tile
      tile = fstarpu_data_get_sub_data(dh, 2, [i, j])
    end function
  end subroutine

  subroutine redux(n)
    integer, intent(in) :: n
    type(c_ptr) :: contribute, dh
    integer :: i
    contribute = codelet("contribute", [FSTARPU_REDUX])
    call fstarpu_variable_data_register(dh, FSTARPU_MAIN_RAM, c_loc(total), c_sizeof(total))
    call fstarpu_data_set_reduction_methods(dh, &
      codelet("add", [FSTARPU_RW.ior.FSTARPU_COMMUTE, FSTARPU_R]), codelet("zero", [FSTARPU_W]))
    do i = 1, n
      call fstarpu_task_insert((/ contribute, FSTARPU_REDUX, dh, c_null_ptr /))
    end do
    call fstarpu_task_wait_for_all()
    call fstarpu_data_unregister(dh)
  end subroutine

  subroutine tasks(n)
    integer, intent(in) :: n
    type(c_ptr) :: cl, dh
    integer :: i
    cl = codelet("scale", [FSTARPU_RW])
    call fstarpu_variable_data_register(dh, FSTARPU_MAIN_RAM, c_loc(total), c_sizeof(total))
    do i = 1, n
      call fstarpu_task_insert((/ cl, FSTARPU_RW, dh, c_null_ptr /))
    end do
    call fstarpu_task_wait_for_all()
    call fstarpu_data_unregister(dh)
  end subroutine
end module

program twin_nf
  use twin_programs
  implicit none
  character(20) :: which, number
  real(c_double) :: start
  integer :: n
  call get_command_argument(1, which)
  call get_command_argument(2, number)
  read(number, *) n
  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  start = fstarpu_timing_now()
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
  print '(f0.3)', fstarpu_timing_now() - start
  call fstarpu_shutdown()
end program

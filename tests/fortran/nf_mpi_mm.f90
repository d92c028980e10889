! SPDX-License-Identifier: LGPL-2.1-or-later
! C = A*B by blocks that belong to the ranks in turn: tasks that all ranks insert, every
! other one in two halves (task_build and task_post_build); then a sum over the ranks by
! FSTARPU_MPI_REDUX, flat and along a tree.
module nf_mpi_mm_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
contains
  subroutine block(buffers, i, m)
    type(c_ptr), intent(in) :: buffers
    integer(c_int), intent(in) :: i
    real(c_double), pointer, intent(out) :: m(:,:)
    call c_f_pointer(fstarpu_matrix_get_ptr(buffers, i), m, &
                     [fstarpu_matrix_get_ld(buffers, i), fstarpu_matrix_get_ny(buffers, i)])
  end subroutine

  recursive subroutine multiply(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    real(c_double), pointer :: a(:,:), b(:,:), c(:,:)
    if (c_associated(cl_args)) return
    call block(buffers, 0, a)
    call block(buffers, 1, b)
    call block(buffers, 2, c)
    c = c + matmul(a, b)
  end subroutine

  recursive subroutine contribute(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    real(c_double), pointer :: c(:,:), sum_of_all
    if (c_associated(cl_args)) return
    call block(buffers, 0, c)
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 1), sum_of_all)
    sum_of_all = sum_of_all + sum(c)
  end subroutine

  recursive subroutine add(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    real(c_double), pointer :: to, from
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), to)
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 1), from)
    to = to + from
  end subroutine

  recursive subroutine zero(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    real(c_double), pointer :: to
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), to)
    to = 0
  end subroutine
end module

program nf_mpi_mm
  use iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use nf_mpi_mm_kernels
  use expect
  implicit none
  integer, parameter :: nb = 3, bs = 4
  real(c_double), target :: a(bs, bs, nb, nb), b(bs, bs, nb, nb), c(bs, bs, nb, nb), total = 0
  type(c_ptr) :: dh_a(nb, nb), dh_b(nb, nb), dh_c(nb, nb), dh_total, cl, contributes, adds, starts, task
  integer(c_int), target :: comm, on
  integer(c_int) :: rank, size, err
  integer(c_int64_t) :: tag
  real(c_double) :: expected
  integer :: i, j, k, round

  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  if (fstarpu_mpi_init(1) /= 0) error stop 2
  comm = fstarpu_mpi_world_comm()
  rank = fstarpu_mpi_world_rank()
  size = fstarpu_mpi_world_size()
  a = 2
  b = 3
  c = 0
  tag = 0
  do j = 1, nb
    do i = 1, nb
      call register(dh_a(i, j), c_loc(a(1, 1, i, j)))
      call register(dh_b(i, j), c_loc(b(1, 1, i, j)))
      call register(dh_c(i, j), c_loc(c(1, 1, i, j)))
    end do
  end do
  call fstarpu_variable_data_register(dh_total, merge(FSTARPU_MAIN_RAM, -1, rank == 0), c_loc(total), &
                                      c_sizeof(total))
  call fstarpu_mpi_data_register_comm(dh_total, tag, 0, comm)
  cl = codelet(c_char_"multiply"//c_null_char)
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(multiply))
  call fstarpu_codelet_add_buffer(cl, FSTARPU_R)
  call fstarpu_codelet_add_buffer(cl, FSTARPU_R)
  call fstarpu_codelet_add_buffer(cl, FSTARPU_RW)
  contributes = codelet(c_char_"contribute"//c_null_char)
  call fstarpu_codelet_add_cpu_func(contributes, c_funloc(contribute))
  call fstarpu_codelet_add_buffer(contributes, FSTARPU_R)
  call fstarpu_codelet_add_buffer(contributes, FSTARPU_RW.ior.FSTARPU_COMMUTE)
  adds = codelet(c_char_"add"//c_null_char)
  call fstarpu_codelet_add_cpu_func(adds, c_funloc(add))
  call fstarpu_codelet_add_buffer(adds, FSTARPU_RW.ior.FSTARPU_COMMUTE)
  call fstarpu_codelet_add_buffer(adds, FSTARPU_R)
  starts = codelet(c_char_"zero"//c_null_char)
  call fstarpu_codelet_add_cpu_func(starts, c_funloc(zero))
  call fstarpu_codelet_add_buffer(starts, FSTARPU_W)
  call fstarpu_data_set_reduction_methods(dh_total, adds, starts)

  do j = 1, nb
    do i = 1, nb
      do k = 1, nb
        if (modulo(k, 2) == 0) then
          task = fstarpu_mpi_task_build(product_of(i, j, k))
          if (c_associated(task)) then
            call expect_that(fstarpu_task_submit(task) == 0, "the executor submits the task")
          end if
          call fstarpu_mpi_task_post_build(product_of(i, j, k))
        else
          call fstarpu_mpi_task_insert(product_of(i, j, k))
        end if
      end do
    end do
  end do
  do round = 1, 2
    do j = 1, nb
      do i = 1, nb
        on = fstarpu_mpi_data_get_rank(dh_c(i, j))
        err = fstarpu_mpi_task_insert_ret((/ c_loc(comm), contributes, FSTARPU_R, dh_c(i, j), &
          FSTARPU_MPI_REDUX, dh_total, FSTARPU_EXECUTE_ON_NODE, c_loc(on), c_null_ptr /))
        call expect_that(err == 0, "an insertion")
      end do
    end do
    if (round == 1) then
      call fstarpu_mpi_redux_data(comm, dh_total)
    else
      call fstarpu_mpi_redux_data_tree(comm, dh_total, 2)
    end if
  end do
  err = fstarpu_mpi_wait_for_all(comm)
  call fstarpu_task_wait_for_all()
  do j = 1, nb
    do i = 1, nb
      if (fstarpu_mpi_data_get_rank(dh_c(i, j)) == rank) then
        call fstarpu_data_acquire(dh_c(i, j), FSTARPU_R)
        call expect_result(maxval(abs(c(:, :, i, j) - 6 * nb * bs)) < 1d-9, "a block of the product")
        call fstarpu_data_release(dh_c(i, j))
      end if
      call fstarpu_data_unregister(dh_a(i, j))
      call fstarpu_data_unregister(dh_b(i, j))
      call fstarpu_data_unregister(dh_c(i, j))
    end do
  end do
  call fstarpu_data_unregister(dh_total)
  expected = 2d0 * (nb * bs)**2 * 6 * nb * bs
  if (rank == 0) call expect_result(abs(total - expected) < 1d-9, "the sum over ranks, twice")
  err = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()
contains
  function product_of(i, j, k) result(list)
    integer, intent(in) :: i, j, k
    type(c_ptr) :: list(9)
    list = (/ c_loc(comm), cl, FSTARPU_R, dh_a(i, k), FSTARPU_R, dh_b(k, j), FSTARPU_RW, dh_c(i, j), &
              c_null_ptr /)
  end function

  ! Blocks belong to the ranks in turn.
  subroutine register(dh, at)
    type(c_ptr), intent(out) :: dh
    type(c_ptr), intent(in) :: at
    integer(c_int) :: owner
    owner = int(modulo(tag, int(size, c_int64_t)), c_int)
    call fstarpu_matrix_data_register(dh, merge(FSTARPU_MAIN_RAM, -1, owner == rank), at, bs, bs, bs, &
                                      c_sizeof(total))
    call fstarpu_mpi_data_register_comm(dh, tag, owner, comm)
    tag = tag + 1
  end subroutine

  function codelet(name) result(new)
    character(*), intent(in) :: name
    type(c_ptr) :: new
    new = fstarpu_codelet_allocate()
    call fstarpu_codelet_set_name(new, name)
  end function
end program

! SPDX-License-Identifier: LGPL-2.1-or-later
! A token goes round the ranks twice, by send and recv, then by detached messages.
module nf_mpi_ring_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
  integer(c_int), target :: ncalls = 0
contains
  recursive subroutine increment(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    integer(c_int), pointer :: token
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), token)
    token = token + 1
  end subroutine

  recursive subroutine count_call(arg) bind(C)
    type(c_ptr), value :: arg
    integer(c_int), pointer :: n
    call c_f_pointer(arg, n)
    n = n + 1
  end subroutine
end module

program nf_mpi_ring
  use iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use nf_mpi_ring_kernels
  use expect
  implicit none
  integer(c_int), target :: token = 41
  integer(c_int) :: rank, size, comm, err, loop
  integer(c_int64_t), target :: tag = 7
  integer(c_int), target :: second = 0
  type(c_ptr) :: cl, dh, dh2, status, request
  character(8) :: ranks

  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  if (fstarpu_mpi_init(1) /= 0) error stop 2
  comm = fstarpu_mpi_world_comm()
  err = fstarpu_mpi_comm_rank(comm, rank)
  err = fstarpu_mpi_comm_size(comm, size)
  call expect_that(fstarpu_mpi_world_rank() == rank, "the rank of the world")
  call expect_that(fstarpu_mpi_world_size() == size, "the size of the world")
  call get_environment_variable("EXPECTED_RANKS", ranks, status=err)
  if (err == 0) then
    read(ranks, *) loop
    call expect_that(size == loop, "as many ranks as nodes")
  end if
  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl, c_char_"increment"//c_null_char)
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(increment))
  call fstarpu_codelet_add_buffer(cl, FSTARPU_RW)
  call fstarpu_variable_data_register(dh, FSTARPU_MAIN_RAM, c_loc(token), c_sizeof(token))
  status = fstarpu_mpi_status_alloc()
  request = fstarpu_mpi_req_alloc()
  do loop = 1, 2
    if (rank /= 0 .or. loop == 2) then
      err = fstarpu_mpi_recv(dh, modulo(rank - 1, size), 42_c_int64_t, comm, status)
      call expect_that(err == 0, "a reception")
    end if
    call fstarpu_task_insert((/ cl, FSTARPU_RW, dh, c_null_ptr /))
    if (rank /= size - 1 .or. loop == 1) then
      if (rank == 0) then
        err = fstarpu_mpi_isend(dh, request, modulo(rank + 1, size), 42_c_int64_t, comm)
        err = fstarpu_mpi_wait(request, c_null_ptr)
      else
        err = fstarpu_mpi_send(dh, modulo(rank + 1, size), 42_c_int64_t, comm)
      end if
      call expect_that(err == 0, "a message")
    end if
  end do
  call fstarpu_data_acquire(dh, FSTARPU_R)
  call expect_result(token == 41 + size + rank + 1, "the token, twice around")
  call fstarpu_data_release(dh)
  err = fstarpu_mpi_barrier(comm)

  ! Detached, whose end is a tag.
  if (rank == 0) then
    do loop = 1, size - 1
      tag = 100 + loop
      err = fstarpu_mpi_isend_detached_unlock_tag(dh, loop, 43_c_int64_t, comm, c_loc(tag))
    end do
    do loop = 1, size - 1
      err = fstarpu_tag_wait(int(100 + loop, c_long_long))
    end do
  else
    err = fstarpu_mpi_recv_detached_unlock_tag(dh, 0, 43_c_int64_t, comm, c_loc(tag))
    err = fstarpu_tag_wait(tag)
  end if
  err = fstarpu_mpi_wait_for_all(comm)

  ! The receptions that StarPU's module declares: with a callback, out of order, several.
  call fstarpu_variable_data_register(dh2, FSTARPU_MAIN_RAM, c_loc(second), c_sizeof(second))
  if (rank == 0) then
    second = 77
    do loop = 1, size - 1
      err = fstarpu_mpi_isend_detached(dh, loop, 44_c_int64_t, comm, c_null_funptr, c_null_ptr)
      err = fstarpu_mpi_isend_detached_prio(dh, loop, 45_c_int64_t, 3, comm, c_null_funptr, c_null_ptr)
      tag = 200 + loop
      err = fstarpu_mpi_isend_array_detached_unlock_tag(2, (/ dh, dh2 /), (/ loop, loop /), &
        (/ 46_c_int64_t, 47_c_int64_t /), (/ comm, comm /), c_loc(tag))
    end do
    do loop = 1, size - 1
      err = fstarpu_tag_wait(int(200 + loop, c_long_long))
    end do
  else
    err = fstarpu_mpi_recv_detached(dh, 0, 44_c_int64_t, comm, c_funloc(count_call), c_loc(ncalls))
    err = fstarpu_mpi_recv_detached_sequential_consistency(dh, 0, 45_c_int64_t, comm, &
      c_funloc(count_call), c_loc(ncalls), 1)
    tag = 300
    err = fstarpu_mpi_recv_array_detached_unlock_tag(2, (/ dh, dh2 /), (/ 0, 0 /), &
      (/ 46_c_int64_t, 47_c_int64_t /), (/ comm, comm /), c_loc(tag))
    err = fstarpu_tag_wait(300_c_long_long)
  end if
  err = fstarpu_mpi_wait_for_all(comm)
  call expect_that(ncalls == merge(0, 2, rank == 0), "callbacks of receptions")
  call fstarpu_data_unregister(dh2)
  call expect_result(second == 77, "several at once")
  call expect_that(fstarpu_mpi_data_selection_set_current_policy(ip_to_p(0_c_intptr_t)) == 0, &
                   "the policy that says who executes a task")
  call expect_that(fstarpu_mpi_data_selection_get_current_policy() == 0, "as it was set")
  call fstarpu_data_unregister(dh)
  call expect_result(token == 41 + size + 1, "the value of the first rank")
  call fstarpu_mpi_status_free(status)
  call fstarpu_mpi_req_free(request)
  err = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()
  call fstarpu_codelet_free(cl)
end program

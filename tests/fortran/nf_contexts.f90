! SPDX-License-Identifier: LGPL-2.1-or-later
! Scheduling contexts: made by lists, with tasks of their own, an inheritor, and deleted;
! the questions about workers, tasks and tags that need no kernel.
module nf_contexts_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
contains
  ! Notes the context of its worker.
  recursive subroutine note(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    integer(c_int), pointer :: where(:)
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), where, [2])
    where = [fstarpu_worker_get_id(), fstarpu_sched_ctx_get_ctx_for_task(fstarpu_task_get_current())]
  end subroutine
end module

program nf_contexts
  use iso_c_binding
  use fstarpu_mod
  use nf_contexts_kernels
  use expect
  implicit none
  integer(c_int), target :: where(2, 10), ctx, least = 0, most = 5
  integer(c_int) :: one, two, ids(FSTARPU_NMAXWORKERS), ncpus, id
  integer(c_long_long) :: tags(2) = [2_c_long_long**33, 2_c_long_long**33 + 1]
  character(c_char) :: name(80)
  character(c_char), target :: prio(5) = ["p", "r", "i", "o", c_null_char]
  type(c_ptr) :: cl, handles(10), conf, task
  integer :: i

  call expect_that(fstarpu_is_simulated() == 0, "nothing is simulated before fstarpu_init")
  conf = fstarpu_conf_allocate()
  call fstarpu_conf_set_sched_policy_name(conf, c_char_"eager"//c_null_char)
  call fstarpu_conf_set_ncpu(conf, 2)
  call fstarpu_conf_set_ncuda(conf, 0)
  call fstarpu_conf_set_nopencl(conf, 0)
  call fstarpu_conf_set_nhip(conf, 0)
  call fstarpu_conf_set_min_prio(conf, -3)
  call fstarpu_conf_set_max_prio(conf, 3)
  call fstarpu_conf_set_calibrate(conf, 0)
  if (fstarpu_init(conf) /= 0) stop 77
  call fstarpu_conf_free(conf)
  ncpus = fstarpu_worker_get_ids_by_type(FSTARPU_CPU_WORKER, ids, FSTARPU_NMAXWORKERS)
  if (ncpus == 1) ids(2) = ids(1)
  call expect_that(ncpus == fstarpu_cpu_worker_get_count(), "workers are counted alike")
  call expect_that(ncpus == fstarpu_worker_get_count_by_type(FSTARPU_CPU_WORKER), "... by type")
  call expect_that(p_to_ip(fstarpu_worker_get_type(ids(1))) == p_to_ip(FSTARPU_CPU_WORKER), &
                   "their type, which is 0")
  call expect_that(fstarpu_worker_get_by_type(FSTARPU_CPU_WORKER, 0) == ids(1), "the first one")
  call expect_that(fstarpu_worker_get_by_devid(FSTARPU_CPU_WORKER, fstarpu_worker_get_devid(ids(1))) &
                   == ids(1), "one by its device")
  call fstarpu_worker_get_type_as_string(FSTARPU_CPU_WORKER, name, 80_c_size_t)
  call expect_that(all(name(1:3) == ["C", "P", "U"]), "their type's name")
  call expect_that(fstarpu_worker_is_blocked(ids(1)) == 0, "none is blocked")
  call expect_that(fstarpu_sched_get_min_priority() == -3, "the least priority")
  call expect_that(fstarpu_sched_get_max_priority() == 3, "the highest priority")

  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl, c_char_"note"//c_null_char)
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(note))
  call fstarpu_codelet_add_buffer(cl, FSTARPU_W)
  where = -1
  do i = 1, 10
    call fstarpu_vector_data_register(handles(i), FSTARPU_MAIN_RAM, c_loc(where(1, i)), 2, &
                                      c_sizeof(where(1, 1)))
  end do
  one = fstarpu_sched_ctx_create(ids, 1, c_char_"one"//c_null_char, &
    (/ FSTARPU_SCHED_CTX_POLICY_NAME, c_loc(prio), FSTARPU_SCHED_CTX_POLICY_MIN_PRIO, c_loc(least), &
       FSTARPU_SCHED_CTX_POLICY_MAX_PRIO, c_loc(most), c_null_ptr /))
  call expect_that(fstarpu_sched_ctx_get_max_priority(one) == 5, "its priorities, by address")
  two = fstarpu_sched_ctx_create(ids, 0, c_char_"two"//c_null_char, &
    (/ FSTARPU_SCHED_CTX_POLICY_NAME, c_loc(prio), c_null_ptr /))
  call fstarpu_sched_ctx_add_workers(ids(2), 1, two)
  call expect_that(fstarpu_sched_ctx_get_nworkers(two) == 1, "a worker was added")
  ids(3) = 9999
  call expect_that(fstarpu_sched_ctx_create(ids(3:3), 1, c_char_"none"//c_null_char, &
    (/ c_null_ptr /)) == FSTARPU_NMAX_SCHED_CTXS, "a worker that there is not")
  call fstarpu_sched_ctx_set_inheritor(two, one)
  call expect_that(fstarpu_sched_ctx_get_inheritor(two) == one, "the inheritor")
  do i = 1, 10
    ctx = merge(one, two, i <= 5)
    call fstarpu_task_insert((/ cl, FSTARPU_W, handles(i), FSTARPU_SCHED_CTX, c_loc(ctx), c_null_ptr /))
  end do
  call fstarpu_sched_ctx_finished_submit(two)
  call fstarpu_task_wait_for_all()
  call fstarpu_sched_ctx_delete(two)
  call fstarpu_sched_ctx_delete(one)

  ! Tags of 64 bits, also where the number fits into fewer.
  call fstarpu_create_sync_task(tags(1), 0, tags, c_null_funptr, c_null_ptr)
  call fstarpu_create_sync_task(7, 1, tags, c_null_funptr, c_null_ptr)
  call expect_that(fstarpu_tag_wait(7_c_long_long) == 0, "a tag after another one")
  call fstarpu_tag_declare_deps_array(8_c_long_long, 1, (/ tags(2) /))
  task = fstarpu_task_create()
  call fstarpu_task_destroy(task)
  call fstarpu_tag_notify_from_apps(tags(2))
  id = fstarpu_worker_get_id()
  call expect_that(id == -1, "the program is no worker")
  call fstarpu_display_memory_stats()
  call fstarpu_trace_user_event(5_c_long)
  do i = 1, 10
    call fstarpu_data_unregister(handles(i))
  end do
  call fstarpu_shutdown()
  call fstarpu_codelet_free(cl)
  ! The first context may have had the worker that the other one left to it.
  call expect_result(all(where(1, 6:) == ids(2)), "tasks ran on their context's worker")
  call expect_result(all(where(2, 1:5) == one) .and. all(where(2, 6:) == two), "and knew the context")
end program

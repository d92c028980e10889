! SPDX-License-Identifier: LGPL-2.1-or-later
! Each tag of a task's list, set once and read back in the task.
module nf_tags_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
  interface
    function field_number(task, name) bind(C)
      import
      type(c_ptr), value :: task
      character(c_char), intent(in) :: name(*)
      real(c_double) :: field_number
    end function
    function field_pointer(task, name) bind(C)
      import
      type(c_ptr), value :: task
      character(c_char), intent(in) :: name(*)
      type(c_ptr) :: field_pointer
    end function
    function c_malloc(size) bind(C, name="malloc")
      import
      integer(c_size_t), value :: size
      type(c_ptr) :: c_malloc
    end function
  end interface
  integer(c_int), target :: nrun = 0, ncalled = 0
contains
  recursive subroutine run(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    integer(c_int), target :: i
    real(c_double), target :: x(3)
    if (c_associated(buffers)) nrun = nrun + 1
    if (.not. c_associated(cl_args)) return
    call fstarpu_unpack_arg(cl_args, (/ c_loc(i), c_loc(x), c_null_ptr /))
    if (i == 7 .and. all(abs(x - [1d0, 2d0, 3d0]) < 1d-15)) nrun = nrun + 100
  end subroutine

  recursive subroutine called(arg) bind(C)
    type(c_ptr), value :: arg
    integer(c_int), pointer :: count
    call c_f_pointer(arg, count)
    count = count + 1
  end subroutine
end module

program nf_tags
  use iso_c_binding
  use fstarpu_mod
  use nf_tags_kernels
  use expect
  implicit none
  type(c_ptr) :: cl, task = c_null_ptr, dh, dh2, handles, descrs, other, function
  type(c_funptr) :: called_at
  integer(c_int), target :: v = 0, w = 0, two = 2, i
  integer(c_int), target :: ids(1) = [0]
  integer(c_int8_t), target :: ordered(2) = [1_c_int8_t, 0_c_int8_t]
  integer(c_int64_t), target :: tag
  integer(c_size_t), parameter :: four = 4
  real(c_double), target :: flops, x(3) = [1d0, 2d0, 3d0]
  integer(c_int), target :: seven = 7
  type(c_ptr), target :: tasks(1)
  character(c_char), target :: named(6) = ["n", "a", "m", "e", "d", c_null_char]
  character(c_char), pointer :: text(:)

  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl, c_char_"nf_tags"//c_null_char)
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(run))
  call fstarpu_codelet_set_variable_nbuffers(cl)
  call fstarpu_variable_data_register(dh, 0, c_loc(v), four)
  call fstarpu_variable_data_register(dh2, 0, c_loc(w), four)
  called_at = c_funloc(called)
  function = transfer(called_at, c_null_ptr)

  ! Numbers, by their addresses; all of them may be 0.
  do i = 0, 3
    call number(FSTARPU_PRIORITY, "priority", i)
    call number(FSTARPU_HYPERVISOR_TAG, "hypervisor_tag", i)
    call number(FSTARPU_TASK_COLOR, "color", i)
    call number(FSTARPU_SCHED_CTX, "sched_ctx", i)
    call number(FSTARPU_POSSIBLY_PARALLEL, "possibly_parallel", i)
    call number(FSTARPU_TASK_LINE, "line", i)
  end do
  do i = 0, 1
    call number(FSTARPU_TASK_SYNCHRONOUS, "synchronous", i)
    call number(FSTARPU_SEQUENTIAL_CONSISTENCY, "sequential_consistency", i)
    call number(FSTARPU_TASK_NO_SUBMITORDER, "no_submitorder", i)
  end do
  call number(FSTARPU_PRIORITY, "priority", -5)
  i = 0
  call make((/ FSTARPU_EXECUTE_ON_WORKER, c_loc(i), FSTARPU_WORKER_ORDER, c_loc(two) /))
  call equals("execute_on_a_specific_worker", 1d0)
  call equals("workerid", 0d0)
  call equals("workerorder", 2d0)
  i = -1
  call make((/ FSTARPU_EXECUTE_ON_WORKER, c_loc(i) /))
  call equals("execute_on_a_specific_worker", 0d0)
  flops = 1.5d9
  call make((/ FSTARPU_FLOPS, c_loc(flops) /))
  call equals("flops", 1.5d9)
  tag = 2_c_int64_t**40
  call make((/ FSTARPU_TAG, c_loc(tag) /))
  call equals("use_tag", 1d0)
  call equals("tag_id", 2d0**40)
  call make((/ FSTARPU_TAG_ONLY, c_loc(tag) /))
  call equals("use_tag", 0d0)
  call equals("tag_id", 2d0**40)
  call make((/ FSTARPU_EXECUTE_WHERE, FSTARPU_CPU.ior.FSTARPU_CUDA /))
  call equals("where", real(iand(int(p_to_ip(FSTARPU_CPU)), -1) + p_to_ip(FSTARPU_CUDA), c_double))
  call make((/ FSTARPU_EXECUTE_WHERE, c_null_ptr, FSTARPU_PRIORITY, c_loc(two) /))
  call equals("where", 0d0)
  call equals("priority", 2d0)
  i = 1
  call make((/ FSTARPU_TASK_WORKERIDS, c_loc(i), c_loc(ids) /))
  call equals("workerids_len", 1d0)
  call points("workerids", c_loc(ids))

  ! Data.
  call make((/ FSTARPU_NONE, dh, FSTARPU_RW, dh /))
  call equals("nbuffers", 1d0)
  call points("handle", dh)
  call make((/ FSTARPU_R, dh, FSTARPU_R.ior.FSTARPU_LOCALITY, dh2, FSTARPU_PRIORITY, c_loc(two) /))
  call equals("nbuffers", 2d0)
  descrs = fstarpu_data_descr_array_alloc(2)
  call fstarpu_data_descr_array_set(descrs, 0, dh, FSTARPU_R)
  call fstarpu_data_descr_array_set(descrs, 1, dh2, FSTARPU_RW)
  call make((/ FSTARPU_DATA_MODE_ARRAY, descrs, c_loc(two), FSTARPU_PRIORITY, c_loc(two) /))
  call equals("nbuffers", 2d0)
  call equals("priority", 2d0)
  call fstarpu_data_descr_array_free(descrs)
  descrs = fstarpu_data_descr_alloc()
  call fstarpu_data_descr_set(descrs, dh, FSTARPU_RW)
  i = 1
  call make((/ FSTARPU_DATA_MODE_ARRAY, descrs, c_loc(i) /))
  call points("handle", dh)
  call fstarpu_data_descrg_free(descrs)
  handles = fstarpu_data_handle_array_alloc(2)
  call fstarpu_data_handle_array_set(handles, 0, dh2)
  call fstarpu_data_handle_array_set(handles, 1, dh)
  other = fstarpu_codelet_allocate()
  call fstarpu_codelet_add_buffer(other, FSTARPU_R)
  call fstarpu_codelet_add_buffer(other, FSTARPU_RW)
  call drop()
  task = fstarpu_task_build((/ other, FSTARPU_DATA_ARRAY, handles, c_loc(two), c_null_ptr /))
  call points("handle", dh2)
  call drop()
  call fstarpu_data_handle_array_free(handles)
  call fstarpu_codelet_free(other)
  call make((/ FSTARPU_R, dh, FSTARPU_RW, dh2, FSTARPU_HANDLES_SEQUENTIAL_CONSISTENCY, &
               c_loc(ordered) /))
  call points("handles_sequential_consistency", c_loc(ordered))

  ! Addresses and functions; what ..._ARG_NFREE gives stays the caller's.
  call address(FSTARPU_CALLBACK, "callback_func", function)
  call address(FSTARPU_CALLBACK_ARG_NFREE, "callback_arg", c_loc(v))
  call address(FSTARPU_EPILOGUE_CALLBACK, "epilogue_callback_func", function)
  call address(FSTARPU_PROLOGUE_CALLBACK, "prologue_callback_func", function)
  call address(FSTARPU_PROLOGUE_CALLBACK_ARG_NFREE, "prologue_callback_arg", c_loc(v))
  call address(FSTARPU_PROLOGUE_CALLBACK_POP, "prologue_callback_pop_func", function)
  call address(FSTARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE, "prologue_callback_pop_arg", c_loc(v))
  call address(FSTARPU_TASK_SCHED_DATA, "sched_data", c_loc(v))
  call address(FSTARPU_EXECUTE_ON_DATA, "cl", cl, dh)
  call make((/ FSTARPU_EXECUTE_ON_NODE, c_loc(two), FSTARPU_NODE_SELECTION_POLICY, c_loc(two), &
               FSTARPU_PRIORITY, c_loc(two) /))
  call equals("priority", 2d0)
  call make((/ FSTARPU_CALLBACK_WITH_ARG_NFREE, function, c_loc(v) /))
  call points("callback_func", function)
  call points("callback_arg", c_loc(v))
  call make((/ FSTARPU_CALLBACK_WITH_ARG, function, c_malloc(four) /))
  call equals("callback_arg_free", 1d0)
  call drop()
  call make((/ FSTARPU_CALLBACK_ARG, c_malloc(four) /))
  call equals("callback_arg_free", 1d0)
  call drop()
  call make((/ FSTARPU_PROLOGUE_CALLBACK_ARG, c_malloc(four), FSTARPU_PROLOGUE_CALLBACK_POP_ARG, &
               c_malloc(four), FSTARPU_EPILOGUE_CALLBACK_ARG, c_malloc(four) /))
  call equals("prologue_callback_arg_free", 1d0)
  call equals("prologue_callback_pop_arg_free", 1d0)
  call drop()
  call make((/ FSTARPU_CL_ARGS_NFREE, c_loc(x), fstarpu_csizet_to_cptr(24_c_size_t) /))
  call points("cl_arg", c_loc(x))
  call equals("cl_arg_size", 24d0)
  call make((/ FSTARPU_CL_ARGS, c_malloc(24_c_size_t), FSTARPU_SZ_C_DOUBLE /))
  call equals("cl_arg_size", 8d0)
  call equals("cl_arg_free", 1d0)
  call drop()
  ! Sizes of 0 are values as well.
  call make((/ FSTARPU_CL_ARGS_NFREE, c_null_ptr, c_null_ptr, FSTARPU_PRIORITY, c_loc(two) /))
  call equals("priority", 2d0)

  ! Texts are copied.
  call make((/ FSTARPU_NAME, c_loc(named), FSTARPU_TASK_FILE, c_loc(named) /))
  named = "x"
  call c_f_pointer(field_pointer(task, c_char_"name"//c_null_char), text, [5])
  call expect_that(all(text == ["n", "a", "m", "e", "d"]), "the name is copied")
  call c_f_pointer(field_pointer(task, c_char_"file"//c_null_char), text, [5])
  call expect_that(all(text == ["n", "a", "m", "e", "d"]), "the file's name is copied")
  call drop()

  ! Dependencies, by running: what a task waits for has run before.
  tag = 99
  call fstarpu_task_insert((/ cl, FSTARPU_RW, dh, FSTARPU_TAG, c_loc(tag), c_null_ptr /))
  tasks(1) = fstarpu_task_build((/ cl, FSTARPU_RW, dh, c_null_ptr /))
  i = 1
  call fstarpu_task_insert((/ cl, FSTARPU_RW, dh2, FSTARPU_TASK_DEPS_ARRAY, c_loc(i), c_loc(tasks), &
                              FSTARPU_CALLBACK_WITH_ARG_NFREE, function, c_loc(ncalled), &
                              FSTARPU_VALUE, c_loc(seven), FSTARPU_SZ_C_INT, &
                              FSTARPU_VALUE, c_loc(x), fstarpu_csizet_to_cptr(c_sizeof(x)), &
                              c_null_ptr /))
  ! Values were copied.
  seven = 0
  x = 0
  call expect_that(fstarpu_task_submit(tasks(1)) == 0, "a task that was built is submitted")
  call expect_that(fstarpu_tag_wait(99_c_long_long) == 0, "a tag of a list can be waited for")
  call fstarpu_task_wait_for_all()
  call expect_that(ncalled == 1, "the callback was called once")
  call expect_result(nrun == 103, "all ran, and one got its values")

  ! Mistakes have a status.
  call expect_that(fstarpu_task_insert_ret((/ c_null_ptr, c_null_ptr /)) == -22, "no codelet")
  call expect_that(fstarpu_task_insert_ret((/ cl, ip_to_p(12345_c_intptr_t), c_null_ptr, &
                   c_null_ptr /)) == -22, "an unknown tag")
  call expect_that(fstarpu_task_insert_ret((/ cl, FSTARPU_PRIORITY, c_null_ptr /)) == -22, &
                   "a number without address")
  call expect_that(fstarpu_task_insert_ret((/ cl, FSTARPU_R, c_null_ptr, c_null_ptr /)) == -22, &
                   "a handle that is none")
  other = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_where(other, FSTARPU_CPU)
  call expect_that(fstarpu_task_insert_ret((/ other, c_null_ptr /)) == -19, "no worker can run it")
  call fstarpu_codelet_free(other)

  call fstarpu_data_unregister(dh)
  call fstarpu_data_unregister(dh2)
  call fstarpu_shutdown()
  call fstarpu_codelet_free(cl)
contains
  ! Makes a task of a list; it is dropped with the next one.
  subroutine make(list)
    type(c_ptr), intent(in) :: list(:)
    call drop()
    task = fstarpu_task_build([cl, list, c_null_ptr])
    call expect_that(c_associated(task), "a task is built")
  end subroutine

  subroutine drop()
    if (c_associated(task)) call fstarpu_task_destroy(task)
    task = c_null_ptr
  end subroutine

  subroutine equals(name, value)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value
    call expect_that(abs(field_number(task, name//c_null_char) - value) < .5d0, &
                     "the task's "//name)
  end subroutine

  subroutine points(name, where)
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: where
    call expect_that(c_associated(field_pointer(task, name//c_null_char), where), &
                     "the task's "//name)
  end subroutine

  subroutine number(which, name, value)
    type(c_ptr), intent(in) :: which
    character(*), intent(in) :: name
    integer, intent(in) :: value
    integer(c_int), target :: copy
    copy = value
    call make((/ which, c_loc(copy) /))
    copy = -99
    call equals(name, real(value, c_double))
  end subroutine

  subroutine address(which, name, value, given)
    type(c_ptr), intent(in) :: which, value
    character(*), intent(in) :: name
    type(c_ptr), optional, intent(in) :: given
    if (present(given)) then
      call make((/ which, given /))
    else
      call make((/ which, value /))
    end if
    call points(name, value)
  end subroutine
end program

! SPDX-License-Identifier: LGPL-2.1-or-later
! A mistake that is named by the argument: the program is to end with a message.
program nf_mistakes
  use iso_c_binding
  use fstarpu_mod
  implicit none
  character(20) :: which
  type(c_ptr) :: object, dh
  integer(c_int), target :: v(4) = 0
  integer :: i

  call get_command_argument(1, which)
  if (which == "ncpu") then
    object = fstarpu_conf_allocate()
    call fstarpu_conf_set_ncpu(object, -1)
  end if
  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  object = fstarpu_codelet_allocate()
  call fstarpu_vector_data_register(dh, FSTARPU_MAIN_RAM, c_loc(v), 4, c_sizeof(v(1)))
  select case (which)
  case ("constant")
    object = fstarpu_get_constant(c_char_"FSTARPU_NONSENSE"//c_null_char)
  case ("color")
    call fstarpu_codelet_set_color(object, -1)
  case ("where")
    call fstarpu_codelet_set_where(object, ip_to_p(-1_c_intptr_t))
  case ("type")
    call fstarpu_codelet_set_type(object, ip_to_p(77_c_intptr_t))
  case ("parallelism")
    call fstarpu_codelet_set_max_parallelism(object, 0)
  case ("mode")
    call fstarpu_codelet_add_buffer(object, FSTARPU_PRIORITY)
  case ("buffers")
    do i = 1, FSTARPU_NMAXBUFS + 1
      call fstarpu_codelet_add_buffer(object, FSTARPU_R)
    end do
  case ("functions")
    do i = 1, FSTARPU_MAXIMPLEMENTATIONS + 1
      call fstarpu_codelet_add_cpu_func(object, c_funloc(nothing))
    end do
  case ("model")
    object = fstarpu_perfmodel_allocate()
    call fstarpu_perfmodel_set_type(object, ip_to_p(77_c_intptr_t))
  case ("acquire")
    call fstarpu_data_acquire(dh, FSTARPU_REDUX)
  case ("child")
    object = fstarpu_data_get_sub_data(dh, 1, (/ 0 /))
  case ("unpack")
    call fstarpu_unpack_arg(c_null_ptr, (/ c_loc(v) /))
  case ("insert")
    call fstarpu_task_insert((/ object, FSTARPU_R, dh, c_null_ptr /))
  end select
contains
  recursive subroutine nothing(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    if (c_associated(buffers) .or. c_associated(args)) return
  end subroutine
end program

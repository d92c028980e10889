! SPDX-License-Identifier: LGPL-2.1-or-later
! A wave through blocks that belong to the ranks in turn: wave.cpp in Fortran. What the program
! does is a function, without variables that ranks would share: wave_main.f90 is its main.
module wave_nf
  use iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  implicit none
  integer, parameter :: nblocks = 12, nsteps = 6, size_of = 100
contains
  recursive subroutine step(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    real(c_double), pointer :: at(:), left(:), right(:)
    real(c_double) :: before(0:size_of + 1)
    if (c_associated(cl_args)) return
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), at, [size_of])
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 1), left, [size_of])
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 2), right, [size_of])
    before(1:size_of) = at
    before(0) = left(size_of)
    before(size_of + 1) = right(1)
    at = at + before(0:size_of - 1) + before(2:size_of + 1)
  end subroutine

  recursive function app_main(argc, argv) bind(C) result(status)
    integer(c_int), value :: argc
    type(c_ptr), value :: argv
    integer(c_int) :: status, err
    integer(c_int), target :: comm, priority
    integer :: i, t, owner
    real(c_double), allocatable, target :: values(:, :)
    type(c_ptr) :: blocks(0:nblocks - 1), codelet

    status = 77
    if (argc < 0 .and. c_associated(argv)) return
    if (fstarpu_init(c_null_ptr) /= 0) return
    if (fstarpu_mpi_init(1) /= 0) return
    comm = fstarpu_mpi_world_comm()
    allocate(values(size_of, 0:nblocks - 1))
    codelet = fstarpu_codelet_allocate()
    call fstarpu_codelet_set_name(codelet, c_char_"wave step"//c_null_char)
    call fstarpu_codelet_add_cpu_func(codelet, c_funloc(step))
    call fstarpu_codelet_add_cuda_func(codelet, c_funloc(step))
    call fstarpu_codelet_add_buffer(codelet, FSTARPU_RW)
    call fstarpu_codelet_add_buffer(codelet, FSTARPU_R)
    call fstarpu_codelet_add_buffer(codelet, FSTARPU_R)
    do i = 0, nblocks - 1
      owner = modulo(i, fstarpu_mpi_world_size())
      values(:, i) = i
      call fstarpu_vector_data_register(blocks(i), &
        merge(FSTARPU_MAIN_RAM, -1, owner == fstarpu_mpi_world_rank()), c_loc(values(1, i)), &
        size_of, c_sizeof(values(1, i)))
      call fstarpu_mpi_data_register_comm(blocks(i), int(i, c_int64_t), owner, comm)
    end do
    do t = 1, nsteps
      do i = 0, nblocks - 1
        priority = modulo(i, 3)
        call fstarpu_mpi_task_insert((/ c_loc(comm), codelet, FSTARPU_RW, blocks(i), &
          FSTARPU_R, blocks(modulo(i - 1, nblocks)), FSTARPU_R, blocks(modulo(i + 1, nblocks)), &
          FSTARPU_PRIORITY, c_loc(priority), c_null_ptr /))
      end do
    end do
    err = fstarpu_mpi_wait_for_all(comm)
    do i = 0, nblocks - 1
      call fstarpu_data_unregister(blocks(i))
    end do
    call fstarpu_codelet_free(codelet)
    status = err
    err = fstarpu_mpi_shutdown()
    call fstarpu_shutdown()
  end function
end module

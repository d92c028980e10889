! SPDX-License-Identifier: LGPL-2.1-or-later
! vector.f90 - a first program: multiplies a vector by a number, in pieces that workers
! handle side by side. Start reading here.
module vector_kernels
  use, intrinsic :: iso_c_binding
  use orrery
  implicit none
contains
  ! What a task executes: buffers are its data, args its values.
  recursive subroutine scale(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    real, pointer :: x(:)
    real :: factor
    call view(buffers, 1, x)
    call unpack(args, factor)
    x = factor * x
  end subroutine
end module

program vector
  use vector_kernels
  implicit none
  integer, parameter :: length = 1000000, pieces = 8
  real, allocatable :: x(:)
  integer :: i, status

  call orrery_init(stat=status)
  if (status == -19) stop 77 ! the machine has no workers
  if (status /= 0) error stop "orrery_init"
  allocate(x(length))
  x = [(real(modulo(i, 100)), i = 1, length)]
  call work()
  if (runs_kernels()) then
    if (maxval(abs(x - [(6 * real(modulo(i, 100)), i = 1, length)])) > 0) error stop "a wrong result"
  end if
  if (is_simulated()) print '(2a)', "simulated: ", machine_name()
  call orrery_shutdown()
  deallocate(x)
contains
  ! The end of a variable ends what it stands for: data come home, tasks are waited for.
  subroutine work()
    type(model) :: times
    type(codelet) :: scales
    type(data) :: d
    real(8) :: start
    integer :: piece
    call times%init("vector_scal") ! measured while it runs, and kept on disk
    call scales%init("scale", cpu=scale, cuda=scale_on_gpu(), perfmodel=times)
    call d%register(x)
    call d%partition(blocks(pieces))
    start = time_us()
    do piece = 1, pieces
      call submit(scales, d%readwrite(piece), value(2.))
    end do
    do piece = 1, pieces
      call submit(scales, d%readwrite(piece), value(3.))
    end do
    call taskwait()
    print '(i0, a, f0.3, a)', 2 * pieces, " tasks in ", (time_us() - start) / 1000, " ms"
  end subroutine

  ! On a real GPU nothing of this is a kernel for it; a simulated one takes its model's time.
  function scale_on_gpu() result(gpu)
    procedure(kernel), pointer :: gpu
    nullify(gpu)
    if (is_simulated()) gpu => scale
  end function
end program

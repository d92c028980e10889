! SPDX-License-Identifier: LGPL-2.1-or-later
! matmul.f90 - C = A*B, a task per tile of C: matrices that are cut in both directions.
module matmul_kernels
  use, intrinsic :: iso_c_binding
  use orrery
  implicit none
contains
  recursive subroutine multiply(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    real(8), pointer :: a(:,:), b(:,:), c(:,:)
    if (c_associated(args)) return
    call view(buffers, 1, a)
    call view(buffers, 2, b)
    call view(buffers, 3, c)
    c = matmul(a, b)
  end subroutine
end module

program matrix_product
  use matmul_kernels
  implicit none
  integer, parameter :: n = 240, tiles = 4
  real(8), allocatable :: a(:,:), b(:,:), c(:,:)
  integer :: status

  call orrery_init(stat=status)
  if (status == -19) stop 77
  if (status /= 0) error stop "orrery_init"
  allocate(a(n, n), b(n, n), c(n, n))
  call random_number(a)
  call random_number(b)
  c = 0
  call work()
  if (runs_kernels()) then
    if (maxval(abs(c - matmul(a, b))) > 1d-9) error stop "a wrong result"
  end if
  call orrery_shutdown()
  deallocate(a, b, c)
contains
  subroutine work()
    type(codelet) :: multiplies
    type(data) :: rows, columns, result
    integer :: i, j
    call multiplies%init("multiply", cpu=multiply)
    call rows%register(a)
    call columns%register(b)
    call result%register(c)
    call rows%partition(blocks(tiles, dim=1))
    call columns%partition(blocks(tiles, dim=2))
    call result%partition(blocks(tiles, dim=1), blocks(tiles, dim=2))
    do j = 1, tiles
      do i = 1, tiles
        call submit(multiplies, rows%read(i), columns%read(j), result%write(i, j), &
                    flops=2d0 * n * (n / tiles)**2)
      end do
    end do
  end subroutine
end program

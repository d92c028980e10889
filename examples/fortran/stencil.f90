! SPDX-License-Identifier: LGPL-2.1-or-later
! stencil.f90 - heat in a plate: sections of two allocatable arrays as they are, without
! registering anything. A task writes a band of columns of the new state from the band of
! the old one and the columns beside it.
module stencil_kernels
  use, intrinsic :: iso_c_binding
  use orrery
  implicit none
contains
  recursive subroutine heat(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    real(8), pointer :: left(:), old(:,:), right(:), new(:,:)
    real(8) :: rate
    call view(buffers, 1, left)
    call view(buffers, 2, old)
    call view(buffers, 3, right)
    call view(buffers, 4, new)
    call unpack(args, rate)
    call spread_heat(left, old, right, new, rate)
  end subroutine

  pure subroutine spread_heat(left, old, right, new, rate)
    real(8), intent(in) :: left(:), old(:,:), right(:), rate
    real(8), intent(inout) :: new(:,:)
    integer :: i, j, n, m
    real(8) :: before, after
    n = size(old, 1)
    m = size(old, 2)
    new(1, :) = old(1, :)
    new(n, :) = old(n, :)
    do j = 1, m
      do i = 2, n - 1
        before = merge(left(i), old(i, max(j - 1, 1)), j == 1)
        after = merge(right(i), old(i, min(j + 1, m)), j == m)
        new(i, j) = old(i, j) + rate * (old(i - 1, j) + old(i + 1, j) + before + after - 4 * old(i, j))
      end do
    end do
  end subroutine
end module

program stencil
  use stencil_kernels
  implicit none
  integer, parameter :: n = 64, bands = 4, width = 12, steps = 10
  real(8), parameter :: rate = .2d0
  real(8), allocatable, target :: plates(:,:,:), alone(:,:,:)
  integer :: step, status, from, to

  call orrery_init(stat=status)
  if (status == -19) stop 77
  if (status /= 0) error stop "orrery_init"
  ! A column on each side does not change.
  allocate(plates(n, 0:bands * width + 1, 2), alone(n, 0:bands * width + 1, 2))
  plates = 0
  plates(:, 0, :) = 100
  alone = plates
  call work()
  do step = 1, steps
    from = 2 - modulo(step, 2)
    to = 3 - from
    call spread_heat(alone(:, 0, from), alone(:, 1:bands * width, from), &
                     alone(:, bands * width + 1, from), alone(:, 1:bands * width, to), rate)
  end do
  if (runs_kernels()) then
    if (maxval(abs(plates - alone)) > 1d-12) error stop "a wrong result"
  end if
  call orrery_shutdown()
  deallocate(plates, alone)
contains
  ! Each band is three arrays that share no element: its first column, those between, and
  ! its last one.
  subroutine work()
    type(codelet) :: heats, edges
    integer :: band, low, high
    call heats%init("heat", cpu=heat)
    call edges%init("heat_edge", cpu=heat_edge)
    do step = 1, steps
      from = 2 - modulo(step, 2)
      to = 3 - from
      do band = 1, bands
        low = (band - 1) * width + 1
        high = band * width
        call submit(edges, read(plates(:, low - 1, from)), read(plates(:, low, from)), &
                    read(plates(:, low + 1:high - 1, from)), write(plates(:, low, to)), value(rate))
        call submit(heats, read(plates(:, low, from)), read(plates(:, low + 1:high - 1, from)), &
                    read(plates(:, high, from)), write(plates(:, low + 1:high - 1, to)), value(rate))
        call submit(edges, read(plates(:, high + 1, from)), read(plates(:, high, from)), &
                    read(plates(:, low + 1:high - 1, from)), write(plates(:, high, to)), &
                    value(-rate))
      end do
    end do
    call taskwait()
  end subroutine

  ! The first column of a band, or with a rate below 0 the last one, mirrored.
  recursive subroutine heat_edge(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    real(8), pointer :: beside(:), old(:), band(:,:), new(:)
    real(8) :: rate
    integer :: inner, i
    call view(buffers, 1, beside)
    call view(buffers, 2, old)
    call view(buffers, 3, band)
    call view(buffers, 4, new)
    call unpack(args, rate)
    inner = merge(1, size(band, 2), rate > 0)
    rate = abs(rate)
    new(1) = old(1)
    new(size(new)) = old(size(old))
    do i = 2, size(old) - 1
      new(i) = old(i) + rate * (old(i - 1) + old(i + 1) + beside(i) + band(i, inner) - 4 * old(i))
    end do
  end subroutine
end program

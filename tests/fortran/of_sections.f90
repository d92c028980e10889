! SPDX-License-Identifier: LGPL-2.1-or-later
! Sections of an array by chance, with a seed: tasks write them, which must do what an
! assignment does; two that share elements are refused, others are not.
module of_sections_kernels
  use iso_c_binding
  use orrery
  implicit none
contains
  recursive subroutine fill(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer, pointer :: a(:,:,:)
    integer :: v
    call view(buffers, 1, a)
    call unpack(args, v)
    a = v
  end subroutine
end module

program of_sections
  use iso_c_binding
  use orrery
  use of_sections_kernels
  use expect
  implicit none
  integer, parameter :: extents(3) = [6, 8, 5]
  integer :: a(6, 8, 5) = 0, b(6, 8, 5) = 0, step, err, other, nrefused = 0, nboth = 0
  integer :: low(3, 2), high(3, 2), by(3, 2)
  integer(8) :: seed = 20240229
  logical :: equal, meets

  call orrery_init(stat=err)
  if (err == -19) stop 77
  call work()
  call orrery_shutdown()
  call expect_that(nrefused > 50 .and. nboth > 50, "both happen")
contains
  subroutine work()
    type(codelet) :: fills
    call fills%init("fill", cpu=fill)
    do step = 1, 600
      call choose(1)
      call choose(2)
      ! Often the same steps, which tell sections apart exactly.
      if (draw(3) > 0) call choose_like_first()
      call submit(fills, write(a(low(1,1):high(1,1):by(1,1), low(2,1):high(2,1):by(2,1), &
        low(3,1):high(3,1):by(3,1))), value(2 * step), stat=err)
      if (err == 0) b(low(1,1):high(1,1):by(1,1), low(2,1):high(2,1):by(2,1), &
        low(3,1):high(3,1):by(3,1)) = 2 * step
      call expect_that(err == 0 .or. (err == -22 .and. odd(1)), "the first section")
      call submit(fills, write(a(low(1,2):high(1,2):by(1,2), low(2,2):high(2,2):by(2,2), &
        low(3,2):high(3,2):by(3,2))), value(2 * step + 1), stat=other)
      if (other == 0) b(low(1,2):high(1,2):by(1,2), low(2,2):high(2,2):by(2,2), &
        low(3,2):high(3,2):by(3,2)) = 2 * step + 1
      call relate()
      if (err == 0 .and. other == 0) then
        nboth = nboth + 1
        call expect_that(equal .or. .not. meets, "two sections are equal or apart")
      end if
      if (other == -16) then
        nrefused = nrefused + 1
        call expect_that(meets .or. any(by(:, 1) /= by(:, 2)), "sections that are apart are taken")
      end if
      call taskwait()
      call expect_result(all(a == b), "what assignments do")
    end do
  end subroutine

  ! 0 to n - 1.
  integer function draw(n)
    integer, intent(in) :: n
    seed = modulo(1103515245_8 * seed + 12345_8, 2147483648_8)
    draw = int(modulo(seed / 65536, int(n, 8)))
  end function

  subroutine choose(which)
    integer, intent(in) :: which
    integer :: k
    do k = 1, 3
      low(k, which) = 1 + draw(extents(k) - 1)
      by(k, which) = 1 + draw(2) * draw(3)
      high(k, which) = low(k, which) + draw(extents(k) - low(k, which) + 1)
      ! Of one element, or less than a step, a section has no step.
      if (high(k, which) - low(k, which) < by(k, which)) by(k, which) = 1
    end do
  end subroutine

  subroutine choose_like_first()
    integer :: k
    do k = 1, 3
      low(k, 2) = 1 + draw(extents(k) - 1)
      by(k, 2) = by(k, 1)
      high(k, 2) = min(extents(k), low(k, 2) + high(k, 1) - low(k, 1))
    end do
  end subroutine

  ! Columns that do not lie a whole number of steps apart.
  logical function odd(which)
    integer, intent(in) :: which
    odd = by(2, which) > 1
  end function

  subroutine relate()
    integer :: i, k
    logical :: in(8, 2), same(3)
    meets = .true.
    do k = 1, 3
      in = .false.
      do i = 1, 2
        in(low(k, i):high(k, i):by(k, i), i) = .true.
      end do
      meets = meets .and. any(in(:, 1) .and. in(:, 2))
      same(k) = all(in(:, 1) .eqv. in(:, 2))
    end do
    equal = all(same)
  end subroutine
end program

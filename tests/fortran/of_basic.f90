! SPDX-License-Identifier: LGPL-2.1-or-later
! The module orrery: arrays of each kind and rank, sections, values, parts, reductions,
! tasks that are waited for, and mistakes.
module of_basic_kernels
  use iso_c_binding
  use orrery
  implicit none
  type point
    real(8) :: x, y
    integer :: n
  end type
contains
  recursive subroutine axpy(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    real(8), pointer :: x(:), y(:)
    real(8) :: alpha
    call view(buffers, 1, x)
    call view(buffers, 2, y)
    call unpack(args, alpha)
    y = y + alpha * x
  end subroutine

  recursive subroutine fill(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer, pointer :: m(:,:)
    integer :: v
    call view(buffers, 1, m)
    call unpack(args, v)
    m = v
  end subroutine

  recursive subroutine each_kind(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    real(4), pointer :: s
    complex(8), pointer :: z(:)
    integer(8), pointer :: b(:,:,:)
    complex(4), pointer :: t(:,:,:,:)
    integer :: i, v(3)
    character(40) :: long
    call view(buffers, 1, s)
    call view(buffers, 2, z)
    call view(buffers, 3, s, stat=i)
    if (i == -22) call taskwait(stat=i)
    if (i /= -35) error stop "a kernel's mistakes have a status"
    call view(buffers, 1, s)
    call view(buffers, 3, b)
    call view(buffers, 4, t)
    call unpack(args, v, long)
    s = real(sum(v))
    z = [(cmplx(i, -i, 8), i = 1, size(z))]
    b = reshape([(int(i, 8), i = 1, size(b))], shape(b))
    t = (1., 2.)
    if (long /= "a text that is longer than 32 bytes") s = -1
  end subroutine

  recursive subroutine move(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    type(point), pointer :: p(:)
    integer :: n
    call unpack(args, n)
    call c_f_pointer(address(buffers, 1), p, [n])
    p%x = p%x + 1
    p%n = n
  end subroutine

  recursive subroutine add_one(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer, pointer :: s
    if (c_associated(args)) return
    call view(buffers, 1, s)
    s = s + 1
  end subroutine

  recursive subroutine zero(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer, pointer :: s
    if (c_associated(args)) return
    call view(buffers, 1, s)
    s = 0
  end subroutine

  recursive subroutine add(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer, pointer :: s, t
    if (c_associated(args)) return
    call view(buffers, 1, s)
    call view(buffers, 2, t)
    s = s + t
  end subroutine
end module

program of_basic
  use iso_c_binding
  use orrery
  use of_basic_kernels
  use expect
  implicit none
  integer :: err
  character(200) :: message

  call expect_that(.not. is_simulated(), "nothing is simulated before orrery_init")
  call expect_that(machine_name() == "", "nor is there a machine")
  call orrery_init(scheduler="lws", stat=err)
  if (err == -19) stop 77
  call expect_that(err == 0, "the library starts")
  call expect_that(len(machine_name()) > 0, "the machine has a name")
  call arrays()
  call parts()
  call kinds()
  call many()
  call reductions()
  call tasks()
  call mistakes()
  call orrery_shutdown()
contains
  ! Arrays themselves, allocatable ones and sections.
  subroutine arrays()
    real(8), allocatable :: x(:), y(:)
    integer, allocatable :: m(:,:)
    type(codelet) :: scale, set
    integer :: i
    call scale%init("axpy", cpu=axpy)
    call set%init("fill", cpu=fill, color=3)
    allocate(x(20), y(10), m(10, 20))
    x = [(real(i, 8), i = 1, 20)]
    y = 0
    m = 0
    call submit(scale, read(x(1:10)), readwrite(y), value(2d0), priority=1)
    call submit(scale, read(x(1:20:2)), readwrite(y), value(100d0), flops=20d0, stat=err)
    call expect_that(err == -16, "a section that shares elements is refused")
    call taskwait()
    call submit(scale, read(x(1:20:2)), readwrite(y), value(100d0), flops=20d0)
    ! Sections of one array side by side, and one with gaps in both dimensions.
    call submit(set, write(m(2:5, 3:9)), value(1))
    call submit(set, write(m(6:9, 3:9)), value(2))
    call submit(set, write(m(1:10:3, 11:20:2)), value(3))
    call submit(set, write(m(2:5, 3:9)), value(4))
    call taskwait()
    call expect_result(all(abs(y - [(2 * i + 100 * (2 * i - 1), i = 1, 10)]) < 1d-12), "axpy, twice")
    call expect_result(all(m(2:5, 3:9) == 4) .and. all(m(6:9, 3:9) == 2), "sections")
    call expect_result(all(m(1:10:3, 11:20:2) == 3) .and. sum(m) == 4*28 + 2*28 + 3*20, "and gaps")
  end subroutine

  subroutine parts()
    integer, target :: m(8, 6), v(12)
    type(data) :: whole, vector
    type(data), allocatable :: several(:)
    type(codelet) :: set, increment
    integer, pointer :: none
    integer :: i, j
    nullify(none)
    call set%init("fill", cpu=fill)
    call increment%init("add_all", cpu=add_all)
    m = 0
    v = 0
    call whole%register(m)
    call whole%partition(blocks(2, dim=1), blocks(3, dim=2))
    do j = 1, 3
      do i = 1, 2
        call submit(set, whole%write(i, j), value(10 * i + j))
      end do
    end do
    call whole%acquire(orrery_read, 2, 3)
    call expect_result(all(m(5:8, 5:6) == 23), "a part")
    call whole%release(2, 3)
    call whole%unpartition()
    call submit(set, whole%write(), value(7))
    call whole%partition(blocks(3, dim=2))
    call submit(set, whole%write(2), value(8))
    call whole%unregister()
    call expect_result(all(m(:, 3:4) == 8) .and. all(m(:, 1:2) == 7), "columns")
    ! Those of an array end with it as well.
    allocate(several(2))
    do i = 1, 2
      call several(i)%register(m(:, i))
      call submit(increment, several(i)%readwrite())
    end do
    deallocate(several)
    call expect_result(all(m(:, 1:2) == 15), "data in an array")
    call vector%register(v(2:12:2))
    call vector%partition(blocks(2))
    call submit(increment, vector%readwrite(2))
    call vector%unpartition()
    call submit(increment, vector%readwrite())
    call vector%unregister()
    call expect_result(all(v(1:12:2) == 0) .and. all(v(2:6:2) == 6) .and. all(v(8:12:2) == 9), &
                       "every other element")
  end subroutine

  recursive subroutine add_all(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer, pointer :: v(:)
    if (c_associated(args)) return
    call view(buffers, 1, v)
    v = v + size(v)
  end subroutine

  subroutine kinds()
    real(4) :: s
    complex(8) :: z(5)
    integer(8) :: b(3, 4, 5)
    complex(4) :: t(2, 3, 4, 5)
    type(point) :: p(4)
    type(codelet) :: c, moves
    integer :: i
    character(40) :: long = "a text that is longer than 32 bytes"
    call c%init("each_kind", cpu=each_kind)
    call moves%init("move", cpu=move)
    p = point(1d0, 2d0, 0)
    t = 0
    call submit(c, write(s), write(z), write(b), write(t), value([1, 2, 4]), value(long))
    call submit(moves, readwrite(p), value(4))
    call taskwait()
    call expect_result(abs(s - 7) < 1e-6 .and. abs(z(5) - (5d0, -5d0)) < 1d-12, "a scalar, a vector")
    call expect_result(all(b == reshape([(int(i, 8), i = 1, 60)], [3, 4, 5])), "three dimensions")
    call expect_result(all(abs(t - (1., 2.)) < 1e-6), "four dimensions")
    call expect_result(all(abs(p%x - 2) < 1d-12) .and. all(p%n == 4), "a derived type")
  end subroutine

  ! More data than a codelet has room for.
  subroutine many()
    integer :: s(10), i
    type(codelet) :: c
    call c%init("many", cpu=add_up)
    s = [(i, i = 1, 10)]
    do i = 1, 2
      call submit(c, read(s(1)), read(s(2)), read(s(3)), read(s(4)), read(s(5)), read(s(6)), &
                  read(s(7)), read(s(8)), read(s(9)), readwrite(s(10)))
    end do
    call taskwait()
    call expect_result(s(10) == 100, "ten data")
  end subroutine

  recursive subroutine add_up(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer, pointer :: s, t
    integer :: i
    if (c_associated(args)) return
    call view(buffers, 10, s)
    do i = 1, 9
      call view(buffers, i, t)
      s = s + t
    end do
  end subroutine

  subroutine reductions()
    integer :: total
    type(data) :: sum_of_all
    type(codelet) :: contribute, start, combine
    integer :: i
    call contribute%init("add_one", cpu=add_one)
    call start%init("zero", cpu=zero)
    call combine%init("add", cpu=add)
    total = 1000
    call sum_of_all%register(total)
    call sum_of_all%set_reduction(redux=combine, init=start)
    do i = 1, 40
      call submit(contribute, sum_of_all%reduce())
    end do
    call sum_of_all%unregister()
    call expect_result(total == 1040, "forty contributions")
  end subroutine

  subroutine tasks()
    integer :: s
    type(data) :: d
    type(codelet) :: c
    type(task) :: first, second(2)
    type(model) :: m
    call m%init("of_basic", kind="history")
    call c%init("add_one", cpu=add_one, perfmodel=m)
    s = 0
    call d%register(s)
    call submit(c, d%readwrite(), handle=first)
    call submit(c, d%readwrite(), after=[first], handle=second(1), synchronous=.true.)
    call submit(c, d%readwrite(), handle=second(2), worker=0)
    call second(2)%wait()
    call second(1)%wait()
    call first%wait()
    call first%wait(stat=err, errmsg=message)
    call expect_that(err == -22, "a task is waited for once")
    call submit(c, d%readwrite(), handle=first)
    ! Copies are the same, whichever ends first.
    block
      type(codelet) :: same
      type(task) :: same_task
      same = c
      same_task = first
      same = same
    end block
    second(1) = first
    call second(1)%wait()
    call first%wait(stat=err)
    call expect_that(err == -22, "a copy was waited for")
    call d%unregister()
    call expect_result(s == 4, "four tasks")
    call c%init("add_one", cpu=add_one)
  end subroutine

  subroutine mistakes()
    integer :: s, m(4, 4)
    real(8), allocatable :: nowhere(:)
    type(data) :: d, copy
    type(codelet) :: c, none
    type(model) :: bad
    type(access) :: argument
    s = 0
    allocate(nowhere(2))
    deallocate(nowhere)
    call c%init("add_one", cpu=add_one)
    call submit(none, write(s), stat=err, errmsg=message)
    call expect_that(err == -22 .and. index(message, "init") > 0, "a codelet without init")
    call d%register(m)
    call d%register(m, stat=err)
    call expect_that(err == -16, "data are registered once")
    call d%partition(blocks(9), stat=err, errmsg=message)
    call expect_that(err == -22 .and. index(message, "9 parts of the 4") > 0, "too many parts")
    call d%partition(blocks(2, dim=3), stat=err)
    call expect_that(err == -22, "a dimension that there is not")
    call d%unpartition(stat=err)
    call expect_that(err == -22, "what is not cut cannot be made whole")
    call d%acquire(orrery_read, 1, stat=err)
    call expect_that(err == -22, "a part that there is not")
    copy = d
    call d%unregister()
    call copy%acquire(orrery_read, stat=err, errmsg=message)
    call expect_that(err == -22 .and. message == "the data were unregistered", "a copy of what is gone")
    call d%register(nowhere, stat=err, errmsg=message)
    call expect_that(err == -22 .and. index(message, "not allocated") > 0, "what is not allocated")
    call d%register(m(4:1:-1, :), stat=err)
    call expect_that(err == -22, "what runs backwards")
    call bad%init("x", kind="guess", stat=err)
    call expect_that(err == -22, "a kind of model")
    argument = write(s)
    call submit(c, argument)
    call submit(c, argument, argument, stat=err, errmsg=message)
    call expect_that(err == -22 .and. index(message, "add_one has 1 data") > 0, "another number of data")
    call submit(c, read(s), stat=err)
    call expect_that(err == -22, "another mode")
    call none%init("nobody")
    call submit(none, read(s), stat=err, errmsg=message)
    call expect_that(err == -19 .and. index(message, "no worker") > 0, "no worker can run it")
    call taskwait()
  end subroutine
end program

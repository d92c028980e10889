! SPDX-License-Identifier: LGPL-2.1-or-later
! The shape of a code on an unstructured mesh in subdomains: derived types with the arrays
! of each, stages of a time step, tasks on as many data as a subdomain has neighbours,
! given by FSTARPU_DATA_MODE_ARRAY. Compared with the same without tasks.
module nf_domain_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
  integer, parameter :: nsub = 4, nstages = 3, nsteps = 100, n = 50

  type subdomain
    real(c_double), allocatable :: height(:), flow(:,:), edge(:)
    type(c_ptr) :: dh_height, dh_flow, dh_edge, descrs
    integer(c_int) :: ndescrs
  end type
contains
  pure subroutine exchange(height, flow, edge)
    real(c_double), intent(in) :: height(:), flow(:,:)
    real(c_double), intent(out) :: edge(:)
    edge(1) = height(1) + sum(flow(:, 1))
    edge(2) = height(size(height)) - sum(flow(:, size(flow, 2)))
  end subroutine

  pure subroutine advance(stage, height, flow, left, right)
    integer(c_int), intent(in) :: stage
    real(c_double), intent(inout) :: height(:), flow(:,:)
    real(c_double), intent(in) :: left(:), right(:)
    integer :: i
    height(1) = .5d0 * (height(1) + left(2))
    height(size(height)) = .5d0 * (height(size(height)) + right(1))
    do i = 1, size(flow, 2)
      flow(:, i) = .9d0 * flow(:, i) + .01d0 * stage * height(i)
      height(i) = height(i) - .001d0 * sum(flow(:, i))
    end do
  end subroutine

  recursive subroutine exchange_kernel(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    real(c_double), pointer :: height(:), flow(:,:), edge(:)
    if (c_associated(cl_args)) return
    call vector(buffers, 0, height)
    call matrix(buffers, 1, flow)
    call vector(buffers, 2, edge)
    call exchange(height, flow, edge)
  end subroutine

  recursive subroutine advance_kernel(buffers, cl_args) bind(C)
    type(c_ptr), value :: buffers, cl_args
    real(c_double), pointer :: height(:), flow(:,:), left(:), right(:)
    integer(c_int), target :: stage
    call fstarpu_unpack_arg(cl_args, (/ c_loc(stage) /))
    call vector(buffers, 0, height)
    call matrix(buffers, 1, flow)
    call vector(buffers, 2, left)
    call vector(buffers, 3, right)
    call advance(stage, height, flow, left, right)
  end subroutine

  subroutine vector(buffers, i, v)
    type(c_ptr), intent(in) :: buffers
    integer(c_int), intent(in) :: i
    real(c_double), pointer, intent(out) :: v(:)
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, i), v, [fstarpu_vector_get_nx(buffers, i)])
  end subroutine

  subroutine matrix(buffers, i, m)
    type(c_ptr), intent(in) :: buffers
    integer(c_int), intent(in) :: i
    real(c_double), pointer, intent(out) :: m(:,:)
    call c_f_pointer(fstarpu_matrix_get_ptr(buffers, i), m, &
                     [fstarpu_matrix_get_ld(buffers, i), fstarpu_matrix_get_ny(buffers, i)])
  end subroutine
end module

program nf_domain
  use iso_c_binding
  use fstarpu_mod
  use nf_domain_kernels
  use expect
  implicit none
  type(subdomain), target :: with_tasks(nsub), alone(nsub)
  type(c_ptr) :: exchanges, advances
  integer(c_int), target :: stage, three = 3
  type(c_ptr) :: descrs(nsub)
  integer :: step, s

  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  call start(with_tasks)
  call start(alone)
  exchanges = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(exchanges, c_char_"exchange"//c_null_char)
  call fstarpu_codelet_add_cpu_func(exchanges, c_funloc(exchange_kernel))
  call fstarpu_codelet_set_variable_nbuffers(exchanges)
  advances = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(advances, c_char_"advance"//c_null_char)
  call fstarpu_codelet_add_cpu_func(advances, c_funloc(advance_kernel))
  call fstarpu_codelet_set_variable_nbuffers(advances)
  do s = 1, nsub
    call register(with_tasks(s))
    descrs(s) = fstarpu_data_descr_array_alloc(3)
    call fstarpu_data_descr_array_set(descrs(s), 0, with_tasks(s)%dh_height, FSTARPU_R)
    call fstarpu_data_descr_array_set(descrs(s), 1, with_tasks(s)%dh_flow, FSTARPU_R)
    call fstarpu_data_descr_array_set(descrs(s), 2, with_tasks(s)%dh_edge, FSTARPU_W)
  end do
  do s = 1, nsub
    call describe(s)
  end do
  ! The loop's variable is read when the task is inserted.
  do step = 1, nsteps
    do stage = 1, nstages
      do s = 1, nsub
        call fstarpu_insert_task((/ exchanges, FSTARPU_DATA_MODE_ARRAY, descrs(s), c_loc(three), c_null_ptr /))
      end do
      do s = 1, nsub
        call fstarpu_insert_task((/ advances, FSTARPU_DATA_MODE_ARRAY, with_tasks(s)%descrs, &
          c_loc(with_tasks(s)%ndescrs), FSTARPU_VALUE, c_loc(stage), FSTARPU_SZ_C_INT, c_null_ptr /))
      end do
    end do
  end do
  do step = 1, nsteps
    do stage = 1, nstages
      do s = 1, nsub
        call exchange(alone(s)%height, alone(s)%flow, alone(s)%edge)
      end do
      do s = 1, nsub
        call advance(stage, alone(s)%height, alone(s)%flow, alone(left(s))%edge, alone(right(s))%edge)
      end do
    end do
  end do
  do s = 1, nsub
    call fstarpu_data_unregister(with_tasks(s)%dh_height)
    call fstarpu_data_unregister(with_tasks(s)%dh_flow)
    call fstarpu_data_unregister(with_tasks(s)%dh_edge)
    call fstarpu_data_descr_array_free(descrs(s))
    call fstarpu_data_descr_array_free(with_tasks(s)%descrs)
  end do
  call fstarpu_shutdown()
  call fstarpu_codelet_free(exchanges)
  call fstarpu_codelet_free(advances)
  do s = 1, nsub
    call expect_result(maxval(abs(with_tasks(s)%height - alone(s)%height)) <= 0 .and. &
                       maxval(abs(with_tasks(s)%flow - alone(s)%flow)) <= 0, "the same, with tasks")
  end do
contains
  pure integer function left(s)
    integer, intent(in) :: s
    left = modulo(s - 2, nsub) + 1
  end function

  pure integer function right(s)
    integer, intent(in) :: s
    right = modulo(s, nsub) + 1
  end function

  subroutine start(domain)
    type(subdomain), intent(inout) :: domain(:)
    integer :: i, k
    do i = 1, size(domain)
      allocate(domain(i)%height(n), domain(i)%flow(2, n), domain(i)%edge(2))
      domain(i)%height = [(sin(real(n * i + k, c_double)), k = 1, n)]
      domain(i)%flow = 0
      domain(i)%edge = 0
    end do
  end subroutine

  subroutine register(d)
    type(subdomain), target, intent(inout) :: d
    call fstarpu_vector_data_register(d%dh_height, FSTARPU_MAIN_RAM, c_loc(d%height), n, c_sizeof(d%height(1)))
    call fstarpu_matrix_data_register(d%dh_flow, FSTARPU_MAIN_RAM, c_loc(d%flow), 2, 2, n, c_sizeof(d%flow(1, 1)))
    call fstarpu_vector_data_register(d%dh_edge, FSTARPU_MAIN_RAM, c_loc(d%edge), 2, c_sizeof(d%edge(1)))
  end subroutine

  subroutine describe(s)
    integer, intent(in) :: s
    with_tasks(s)%ndescrs = 4
    with_tasks(s)%descrs = fstarpu_data_descr_array_alloc(4)
    call fstarpu_data_descr_array_set(with_tasks(s)%descrs, 0, with_tasks(s)%dh_height, FSTARPU_RW)
    call fstarpu_data_descr_array_set(with_tasks(s)%descrs, 1, with_tasks(s)%dh_flow, FSTARPU_RW)
    call fstarpu_data_descr_array_set(with_tasks(s)%descrs, 2, with_tasks(left(s))%dh_edge, FSTARPU_R)
    call fstarpu_data_descr_array_set(with_tasks(s)%descrs, 3, with_tasks(right(s))%dh_edge, FSTARPU_R)
  end subroutine
end program

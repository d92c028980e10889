! SPDX-License-Identifier: LGPL-2.1-or-later
! cholesky.f90 - A = L*L^T in tiles, with LAPACK's kernels; urgent tasks have priorities.
module cholesky_kernels
  use, intrinsic :: iso_c_binding
  use orrery
  implicit none
  external :: dpotrf, dtrsm, dsyrk, dgemm
contains
  ! Tiles are parts of one matrix: BLAS is told how far apart their columns are.
  recursive subroutine potrf(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    real(8), pointer :: a(:,:)
    integer :: info
    if (c_associated(args)) return
    call view(buffers, 1, a)
    call dpotrf("L", size(a, 1), a(1, 1), leading(buffers, 1), info)
    if (info /= 0) error stop "the matrix is not positive definite"
  end subroutine

  recursive subroutine trsm(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    real(8), pointer :: l(:,:), b(:,:)
    if (c_associated(args)) return
    call view(buffers, 1, l)
    call view(buffers, 2, b)
    call dtrsm("R", "L", "T", "N", size(b, 1), size(b, 2), 1d0, &
               l(1, 1), leading(buffers, 1), b(1, 1), leading(buffers, 2))
  end subroutine

  recursive subroutine syrk(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    real(8), pointer :: a(:,:), c(:,:)
    if (c_associated(args)) return
    call view(buffers, 1, a)
    call view(buffers, 2, c)
    call dsyrk("L", "N", size(c, 1), size(a, 2), -1d0, &
               a(1, 1), leading(buffers, 1), 1d0, c(1, 1), leading(buffers, 2))
  end subroutine

  recursive subroutine gemm(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    real(8), pointer :: a(:,:), b(:,:), c(:,:)
    if (c_associated(args)) return
    call view(buffers, 1, a)
    call view(buffers, 2, b)
    call view(buffers, 3, c)
    call dgemm("N", "T", size(c, 1), size(c, 2), size(a, 2), -1d0, &
               a(1, 1), leading(buffers, 1), b(1, 1), leading(buffers, 2), &
               1d0, c(1, 1), leading(buffers, 3))
  end subroutine
end module

program cholesky
  use cholesky_kernels
  implicit none
  integer, parameter :: n = 240, nt = 6
  real(8), allocatable :: a(:,:), l(:,:)
  integer :: i, status

  call orrery_init(stat=status)
  if (status == -19) stop 77
  if (status /= 0) error stop "orrery_init"
  allocate(a(n, n), l(n, n))
  call random_number(a)
  a = a + transpose(a)
  do i = 1, n
    a(i, i) = a(i, i) + 2 * n
  end do
  l = a
  call factorise()
  do i = 2, n
    l(:i - 1, i) = 0
  end do
  if (runs_kernels()) then
    if (maxval(abs(matmul(l, transpose(l)) - a)) > 1d-8) error stop "a wrong result"
  end if
  call orrery_shutdown()
  deallocate(a, l)
contains
  subroutine factorise()
    type(codelet) :: potrfs, trsms, syrks, gemms
    type(data) :: m
    real(8) :: start
    integer :: i, j, k
    procedure(kernel), pointer :: on_gpu
    call potrfs%init("potrf", cpu=potrf)
    nullify(on_gpu)
    if (is_simulated()) on_gpu => trsm
    call trsms%init("trsm", cpu=trsm, cuda=on_gpu)
    if (is_simulated()) on_gpu => syrk
    call syrks%init("syrk", cpu=syrk, cuda=on_gpu)
    if (is_simulated()) on_gpu => gemm
    call gemms%init("gemm", cpu=gemm, cuda=on_gpu)
    call m%register(l)
    call m%partition(blocks(nt, dim=1), blocks(nt, dim=2))
    start = time_us()
    do k = 1, nt
      call submit(potrfs, m%readwrite(k, k), priority=2 * (nt - k))
      do i = k + 1, nt
        call submit(trsms, m%read(k, k), m%readwrite(i, k), priority=2 * (nt - k) - 1)
      end do
      do j = k + 1, nt
        call submit(syrks, m%read(j, k), m%readwrite(j, j))
        do i = j + 1, nt
          call submit(gemms, m%read(i, k), m%read(j, k), m%readwrite(i, j))
        end do
      end do
    end do
    call taskwait()
    print '(a, f0.3, a)', "factorised in ", (time_us() - start) / 1000, " ms"
  end subroutine
end program

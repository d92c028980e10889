! SPDX-License-Identifier: LGPL-2.1-or-later
! tests/openmp/lines.f90 - OpenMP in Fortran: loops, tasks, locks, questions.
program lines
  use omp_lib
  implicit none
  integer :: i, sum, threads, done
  integer(omp_lock_kind) :: lock
  integer(omp_sched_kind) :: kind
  integer :: chunk
  double precision :: begin

  begin = omp_get_wtime()
  sum = 0
  !$omp parallel do reduction(+:sum) schedule(dynamic, 3)
  do i = 1, 1000
    sum = sum + i
  end do
  !$omp end parallel do
  call claim(sum == 500500, 'a loop')
  threads = 0
  !$omp parallel
  !$omp atomic
  threads = threads + 1
  !$omp end parallel
  call claim(threads == omp_get_max_threads(), 'a region')
  call omp_init_lock(lock)
  done = 0
  !$omp parallel
  !$omp single
  do i = 1, 50
    !$omp task firstprivate(i)
    call omp_set_lock(lock)
    done = done + i
    call omp_unset_lock(lock)
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  call claim(done == 1275, 'tasks and a lock')
  call omp_destroy_lock(lock)
  call omp_set_schedule(omp_sched_guided, 5)
  call omp_get_schedule(kind, chunk)
  call claim(iand(int(kind), 7) == omp_sched_guided .and. chunk == 5, 'schedules')
  call omp_set_num_threads(3)
  call claim(omp_get_max_threads() == 3 .and. .not. omp_in_parallel(), 'questions')
  call claim(omp_get_wtime() >= begin, 'time')
  print '(a)', '1..6'
contains
  subroutine claim(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    integer, save :: n = 0

    n = n + 1
    if (holds) then
      print '(a, i0, 2a)', 'ok ', n, ' - ', what
    else
      print '(a, i0, 2a)', 'not ok ', n, ' - ', what
    end if
  end subroutine claim
end program lines

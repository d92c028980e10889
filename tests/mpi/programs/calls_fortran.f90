! SPDX-License-Identifier: LGPL-2.1-or-later
! tests/mpi/programs/calls_fortran.f90 - what a Fortran program calls of MPI, with results that
! depend on nothing but the number of ranks: real ranks and simulated ones say the same.
program calls_fortran
    use mpi
    implicit none
    integer :: me, n, error, next, before, got, half, color, request(2), statuses(MPI_STATUS_SIZE, 2)
    integer :: status(MPI_STATUS_SIZE), count, everybody, group, part, length, row, i
    logical :: flag
    integer, allocatable :: all(:)
    double precision :: sums(3), total(3), begin
    character(len=MPI_MAX_PROCESSOR_NAME) :: name

    call mpi_init(error)
    call mpi_comm_rank(MPI_COMM_WORLD, me, error)
    call mpi_comm_size(MPI_COMM_WORLD, n, error)
    begin = mpi_wtime()
    next = mod(me + 1, n)
    before = mod(me + n - 1, n)
    allocate(all(n))

    call mpi_irecv(got, 1, MPI_INTEGER, before, 3, MPI_COMM_WORLD, request(1), error)
    call mpi_isend(me, 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, request(2), error)
    call mpi_waitall(2, request, statuses, error)
    call mpi_get_count(statuses(:, 1), MPI_INTEGER, count, error)
    call say('got', got, statuses(MPI_SOURCE, 1), count)
    call say('ended', merge(1, 0, request(1) == MPI_REQUEST_NULL), statuses(MPI_TAG, 1), error)

    call mpi_sendrecv(me, 1, MPI_INTEGER, before, 4, got, 1, MPI_INTEGER, next, 4, &
                      MPI_COMM_WORLD, status, error)
    call say('exchanged', got, status(MPI_SOURCE), status(MPI_TAG))
    call mpi_isend(me, 1, MPI_INTEGER, next, 5, MPI_COMM_WORLD, request(1), error)
    call mpi_probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, status, error)
    call mpi_recv(got, 1, MPI_INTEGER, status(MPI_SOURCE), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &
                  error)
    flag = .false.
    do while (.not. flag)
        call mpi_test(request(1), flag, MPI_STATUS_IGNORE, error)
    end do
    call say('probed', got, status(MPI_SOURCE), 0)

    sums = [1d0 * me, 2d0, 0.5d0 * me]
    call mpi_allreduce(sums, total, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    call say('sums', nint(total(1)), nint(total(2)), nint(2 * total(3)))
    call mpi_allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
    call say('in place', nint(sums(1)), nint(sums(2)), nint(2 * sums(3)))
    call mpi_allgather(me * me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
    call say('gathered', all(1), all(n), sum(all))
    got = merge(41, 0, me == 0)
    call mpi_bcast(got, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call say('from 0', got, 0, 0)

    color = mod(me, 2)
    call mpi_comm_split(MPI_COMM_WORLD, color, -me, half, error)
    call mpi_comm_rank(half, got, error)
    call mpi_comm_size(half, count, error)
    call mpi_allreduce(me, i, 1, MPI_INTEGER, MPI_SUM, half, error)
    call say('half', got, count, i)
    call mpi_comm_dup(half, everybody, error)
    call mpi_comm_compare(half, everybody, i, error)
    call say('alike', merge(1, 0, i == MPI_CONGRUENT), 0, 0)
    call mpi_comm_free(everybody, error)
    call say('freed', merge(1, 0, everybody == MPI_COMM_NULL), 0, 0)
    call mpi_comm_group(MPI_COMM_WORLD, group, error)
    call mpi_group_incl(group, 1, [n - 1], part, error)
    call mpi_group_rank(part, got, error)
    call say('last', merge(1, 0, got /= MPI_UNDEFINED), 0, 0)

    call mpi_type_vector(2, 1, 2, MPI_INTEGER, row, error)
    call mpi_type_commit(row, error)
    all = me
    call mpi_sendrecv([me, -1, 10 * me, -1], 1, row, next, 6, statuses, 2, MPI_INTEGER, before, 6, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call say('row', statuses(1, 1), statuses(2, 1), 0)
    call mpi_type_free(row, error)
    call mpi_get_processor_name(name, length, error)
    call mpi_barrier(MPI_COMM_WORLD, error)
    call say('time', merge(1, 0, mpi_wtime() >= begin), merge(1, 0, length > 0), 0)
    call mpi_finalize(error)

contains

    subroutine say(what, a, b, c)
        character(len=*), intent(in) :: what
        integer, intent(in) :: a, b, c

        write (*, '(a, i0, 2a, 3(1x, i0))') 'rank ', me, ': ', what, a, b, c
        flush (6)
    end subroutine
end program

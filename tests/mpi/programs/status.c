/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/status.c - for what starts ranks: rank 0 prints what it reads, sends
 * it around, and all return the argument; with `killed`, rank 1 is.
 * usage: status [STATUS | killed]
 */
#include <signal.h>

#include "ranks.h"

int main(int argc, char **argv)
{
    int value = -1, size, rank;
    starpu_data_handle_t handle;

    if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
        return 77;
    starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
    starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && scanf("%d", &value) != 1)
        value = -1;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    if (rank > 0)
        starpu_mpi_recv(handle, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    starpu_task_insert(&ranks_increment, STARPU_RW, handle, 0);
    if (rank + 1 < size)
        starpu_mpi_send(handle, rank + 1, 7, MPI_COMM_WORLD);
    starpu_data_unregister(handle);
    if (rank + 1 == size)
        printf("went around: %d\n", value);
    if (argc > 1 && strcmp(argv[1], "killed") == 0 && rank == 1)
        raise(SIGKILL);
    starpu_mpi_shutdown();
    return argc > 1 ? atoi(argv[1]) : 0;
}

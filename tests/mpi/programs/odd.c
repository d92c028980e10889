/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/odd.c - a program that cannot be hosted as simulated ranks: since it
 * has a variable of each thread (ODD_THREADED), or is linked for one address, or calls a
 * function of MPI that simulated ranks do not have; or, with an argument, ends on rank 1
 * before the others expect it ("early"), is sent SIGTERM on its last rank ("term"), or waits on
 * rank 0 for a message that nobody sends ("vain"); or can be, and has tasks that nothing but a
 * function that is not exported gives a name ("nameless").
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <starpu_mpi.h>

#ifdef ODD_THREADED
static _Thread_local int of_thread = 1;
#else
static int of_thread = 1;
#endif

static void do_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet cl_nothing = {.cpu_funcs = {do_nothing}};

int main(int argc, char **argv)
{
    int rank;
    MPI_Win window;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && strcmp(argv[1], "vain") == 0 && rank == 0)
        MPI_Recv(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL))
        return 77;
    if (argc > 1 && strcmp(argv[1], "early") == 0 && rank == 1)
        return 0;
    if (argc > 1 && strcmp(argv[1], "term") == 0) {
        starpu_mpi_barrier(MPI_COMM_WORLD);
        if (rank == starpu_mpi_world_size() - 1)
            raise(SIGTERM);
    }
    if (argc > 1 && strcmp(argv[1], "nameless") == 0 && starpu_task_insert(&cl_nothing, 0) != 0)
        return 1;
    if (argc <= 1)
        MPI_Win_create(&of_thread, sizeof(of_thread), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    starpu_mpi_barrier(MPI_COMM_WORLD);
    starpu_mpi_shutdown();
    MPI_Finalize();
    printf("%d\n", of_thread);
    return 0;
}

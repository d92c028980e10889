/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/prints.c - what ranks print in every way: pieces of lines before and after
 * another rank's, by the C library and by the system's call, in main and in kernels, at dates
 * that are not in the order of ranks. usage: prints [stuck | exits | dies]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <starpu_mpi.h>

static int dies;

static void kernel(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    printf("kernel\n");
    if (dies)
        exit(4);
}

static struct starpu_codelet codelet = {.cpu_funcs = {kernel}, .name = "kernel"};

static void print_all(int me, int n)
{
    static const char direct[] = "direct\nand";

    printf("half of %d", me);
    MPI_Barrier(MPI_COMM_WORLD);
    printf(", the rest\n\n");
    fflush(stdout);
    if (write(STDOUT_FILENO, direct, sizeof(direct) - 1) < 0)
        perror("write");
    MPI_Barrier(MPI_COMM_WORLD);
    puts(" more");
    starpu_task_insert(&codelet, 0);
    starpu_task_wait_for_all();
    MPI_Barrier(MPI_COMM_WORLD);
    usleep((unsigned)(n - me) * 1000);
    puts("late");
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int me, n, value;

    if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
        return 77;
    dies = argc > 1 && !strcmp(argv[1], "dies");
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    print_all(me, n);
    printf("no end");
    if (argc > 1 && !strcmp(argv[1], "stuck"))
        MPI_Recv(&value, 1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    starpu_mpi_shutdown();
    if (argc > 1 && !strcmp(argv[1], "exits") && me == 1)
        exit(3);
    return 0;
}

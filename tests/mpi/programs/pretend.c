/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/pretend.c - one process does what rank 2 of 4 would
 * (STARPU_MPI_FAKE_SIZE=4, STARPU_MPI_FAKE_RANK=2): no message goes, none is waited for.
 */
#include "ranks.h"

static int nexecuted;

static void count_task(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    nexecuted++;
}

static struct starpu_codelet cl = {.cpu_funcs = {count_task},
                                   .nbuffers = 2,
                                   .modes = {STARPU_RW, STARPU_R}};

static void one_of_four(void)
{
    enum { N = 8 };
    int value[N];
    starpu_data_handle_t data[N];

    EXPECT_EQ(starpu_mpi_world_size(), 4);
    EXPECT_EQ(starpu_mpi_world_rank(), 2);
    for (int i = 0; i < N; i++) {
        starpu_variable_data_register(&data[i], i % 4 == 2 ? STARPU_MAIN_RAM : -1,
                                      (uintptr_t)(i % 4 == 2 ? &value[i] : NULL),
                                      sizeof(value[i]));
        value[i] = i;
        starpu_mpi_data_register(data[i], i, i % 4);
    }
    for (int i = 0; i < N; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &cl, STARPU_RW, data[i], STARPU_R,
                               data[(i + 1) % N], STARPU_EXECUTE_ON_NODE, i % 4, 0);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(nexecuted, 2);
    for (int i = 0; i < N; i++)
        starpu_data_unregister(data[i]);
}

RANKS_MAIN({"one of four that are not there", one_of_four})

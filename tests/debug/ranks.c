/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/debug/ranks.c - a program of ranks in a row: rank 0 makes a value, each next rank adds
 * to what has come from the one before. With "stuck" as its argument rank 1 waits for a message
 * that nobody sends.
 */
#include <stdint.h>
#include <string.h>

#include <starpu_mpi.h>

enum { RANKS = 8, EXTRA_TAG = 99 };

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet make = {
    .cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_W}, .name = "slow"};
static struct starpu_codelet add = {.cpu_funcs = {nothing},
                                    .nbuffers = 2,
                                    .modes = {STARPU_R, STARPU_RW},
                                    .name = "add"};

static starpu_data_handle_t tile(int owner, int own, int tag, int *value)
{
    static const char *const names[RANKS] = {"value 0", "value 1", "value 2",
                                             "value 3", "value 4", "value 5",
                                             "value 6", "value 7"};
    starpu_data_handle_t handle;

    starpu_variable_data_register(&handle, owner == own ? STARPU_MAIN_RAM : -1,
                                  owner == own ? (uintptr_t)value : 0,
                                  sizeof(*value));
    starpu_mpi_data_register(handle, tag, owner);
    starpu_data_set_name(handle, names[owner]);
    return handle;
}

int main(int argc, char **argv)
{
    starpu_data_handle_t data[RANKS], extra = NULL;
    int values[RANKS] = {0}, more = 0, rank, size;

    if (starpu_init(NULL) != 0)
        return 1;
    starpu_mpi_init(&argc, &argv, 1);
    starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
    starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
    if (size > RANKS)
        return 2;
    for (int i = 0; i < size; i++)
        data[i] = tile(i, rank, i + 1, &values[i]);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &make, STARPU_W, data[0], 0);
    for (int i = 1; i < size; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_R, data[i - 1],
                               STARPU_RW, data[i], 0);
    if (argc > 1 && !strcmp(argv[1], "stuck") && rank == 1) {
        starpu_variable_data_register(&extra, STARPU_MAIN_RAM, (uintptr_t)&more,
                                      sizeof(more));
        starpu_mpi_irecv_detached(extra, 0, EXTRA_TAG, MPI_COMM_WORLD, NULL,
                                  NULL);
        starpu_task_insert(&add, STARPU_R, extra, STARPU_RW, data[1], 0);
    }
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        starpu_data_unregister(data[i]);
    if (extra)
        starpu_data_unregister(extra);
    starpu_mpi_shutdown();
    starpu_shutdown();
    return 0;
}

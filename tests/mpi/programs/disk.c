/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/disk.c - ranks whose data have no room in main memory: values are on a
 * disk of each rank's own, from where they are sent, and where those that came go. */
#include <unistd.h>

#include "ranks.h"

enum { EACH = 24, N = 1 << 15, ROUNDS = 3 }; /* vectors of 128 KiB, 3 MiB for each rank */

static void fill(void *buffers[], void *arg)
{
    int *values = (int *)STARPU_VECTOR_GET_PTR(buffers[0]), first;

    starpu_codelet_unpack_args(arg, &first);
    for (int i = 0; i < N; i++)
        values[i] = first + i;
}

static void add_vector(void *buffers[], void *arg)
{
    int *to = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const int *from = (const int *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (int i = 0; i < N; i++)
        to[i] += from[i];
}

static struct starpu_codelet cl_fill = {
    .cpu_funcs = {fill}, .nbuffers = 1, .modes = {STARPU_W}, .name = "fill"};
static struct starpu_codelet cl_add = {.cpu_funcs = {add_vector},
                                       .nbuffers = 2,
                                       .modes = {STARPU_RW, STARPU_R},
                                       .name = "add"};

/* Each vector gets that of the rank before added, in turn: what all have is known. */
static void more_than_memory(void)
{
    starpu_data_handle_t data[EACH][16];
    int expected[EACH][16], nwrong = 0;

    for (int i = 0; i < EACH; i++)
        for (int r = 0; r < ranks_n; r++) {
            int first = 1000 * r + i;

            starpu_vector_data_register(&data[i][r], -1, 0, N, sizeof(int));
            starpu_mpi_data_register(data[i][r], i * ranks_n + r, r);
            starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_fill, STARPU_W, data[i][r],
                                   STARPU_VALUE, &first, sizeof(first), 0);
            expected[i][r] = first + 1;
        }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < EACH; i++)
            for (int r = 0; r < ranks_n; r++) {
                int from = (r + ranks_n - 1) % ranks_n;

                starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_add, STARPU_RW, data[i][r],
                                       STARPU_R, data[i][from], 0);
                expected[i][r] += expected[i][from];
            }
    starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
    for (int i = 0; i < EACH; i++)
        for (int r = 0; r < ranks_n; r++) {
            if (r == ranks_me) {
                starpu_data_acquire(data[i][r], STARPU_R);
                nwrong += ((const int *)starpu_data_get_local_ptr(data[i][r]))[1] !=
                          expected[i][r];
                starpu_data_release(data[i][r]);
            }
            starpu_data_unregister(data[i][r]);
        }
    EXPECT_EQ(nwrong, 0);
}

/* All sends are begun before a receive is: together they are larger than main memory. */
static void sends_before_receives(void)
{
    starpu_data_handle_t sent[EACH], received[EACH];
    starpu_mpi_req sends[EACH], receives[EACH];
    int next = (ranks_me + 1) % ranks_n, before = (ranks_me + ranks_n - 1) % ranks_n;
    int nwrong = 0;

    for (int i = 0; i < EACH; i++) {
        int first = 1000 * ranks_me + i;

        starpu_vector_data_register(&sent[i], -1, 0, N, sizeof(int));
        starpu_vector_data_register(&received[i], -1, 0, N, sizeof(int));
        starpu_task_insert(&cl_fill, STARPU_W, sent[i], STARPU_VALUE, &first, sizeof(first),
                           0);
    }
    starpu_task_wait_for_all();
    for (int i = 0; i < EACH; i++)
        starpu_mpi_isend(sent[i], &sends[i], next, i, MPI_COMM_WORLD);
    usleep(20000); /* by now they have all the memory that they get */
    for (int i = 0; i < EACH; i++)
        starpu_mpi_irecv(received[i], &receives[i], before, i, MPI_COMM_WORLD);
    for (int i = 0; i < EACH; i++) {
        starpu_mpi_wait(&sends[i], MPI_STATUS_IGNORE);
        starpu_mpi_wait(&receives[i], MPI_STATUS_IGNORE);
        starpu_data_acquire(received[i], STARPU_R);
        nwrong += ((const int *)starpu_data_get_local_ptr(received[i]))[1] !=
                  1000 * before + i + 1;
        starpu_data_release(received[i]);
        starpu_data_unregister(sent[i]);
        starpu_data_unregister(received[i]);
    }
    EXPECT_EQ(nwrong, 0);
}

int main(int argc, char **argv)
{
    static const struct ranks_test tests[] = {
        {"more data than memory", more_than_memory},
        {"sends before receives", sends_before_receives},
    };
    char folder[] = "/tmp/ranks-disk-XXXXXX";
    int status;

    if (!mkdtemp(folder))
        return 3;
    setenv("STARPU_LIMIT_CPU_MEM", "1", 1);
    setenv("STARPU_DISK_SWAP", folder, 1);
    setenv("STARPU_DISK_SWAP_SIZE", "64", 1);
    status = ranks_main(argc, argv, tests, 2);
    rmdir(folder);
    return status;
}

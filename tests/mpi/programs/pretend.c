/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/pretend.c - one process does what rank 2 of 4 would
 * (STARPU_MPI_FAKE_SIZE=4, STARPU_MPI_FAKE_RANK=2): no message goes, none is waited for.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <starpu_mpi.h>

static int nwrong;

#define EXPECT_EQ(got, wanted) expect(#got, got, wanted, __LINE__)

static void expect(const char *what, long got, long wanted, int line)
{
    if (got == wanted)
        return;
    printf("# line %d: %s is %ld, not %ld\n", line, what, got, wanted);
    nwrong++;
}

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

/* The same of MPI's own functions. */
static void asks_mpi(void)
{
    MPI_Comm copy;
    int rank = -1, size = -1;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EXPECT_EQ(rank, 2);
    EXPECT_EQ(size, 4);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_size(copy, &size);
    EXPECT_EQ(size, 4);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    MPI_Comm_size(MPI_COMM_SELF, &size);
    EXPECT_EQ(rank, 0);
    EXPECT_EQ(size, 1);
    /* Which value would it be? */
    if (getenv("PRETEND_BCAST"))
        MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* No harness: those of several ranks divide them, which one alone cannot. */
int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {{"one of four that are not there", one_of_four},
                 {"so do MPI's own functions", asks_mpi}};
    int nfailed = 0;

    if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
        return 1;
    for (int i = 0; i < 2; i++) {
        nwrong = 0;
        tests[i].run();
        printf("%s %d - %s\n", nwrong ? "not ok" : "ok", i + 1, tests[i].name);
        nfailed += nwrong > 0;
    }
    puts("1..2");
    starpu_mpi_shutdown();
    return nfailed > 0;
}

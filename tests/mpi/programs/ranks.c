/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/ranks.c - see ranks.h. */
#include "ranks.h"

int ranks_me, ranks_n, ranks_failures;
MPI_Comm ranks_half, ranks_most;

/* By a group, as programs do that know whom they want. */
static void make_most(void)
{
    MPI_Group all, most;
    int last;

    MPI_Comm_size(MPI_COMM_WORLD, &last);
    last--;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, last > 0, &last, &most);
    MPI_Comm_create(MPI_COMM_WORLD, most, &ranks_most);
    MPI_Group_free(&all);
    MPI_Group_free(&most);
}

enum { MOST_TESTS = 64 };

int ranks_main(int argc, char **argv, const struct ranks_test *tests, int n)
{
    int failures[MOST_TESTS] = {0}, all[MOST_TESTS] = {0}, level, status = 0;

    if (n > MOST_TESTS)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks_me);
    MPI_Comm_split(MPI_COMM_WORLD, ranks_me % 2, -ranks_me, &ranks_half);
    make_most();
    if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL) != 0) {
        fprintf(stderr, "# starpu_mpi_init_conf has failed\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    ranks_n = starpu_mpi_world_size();
    for (int i = 0; i < n; i++) {
        ranks_failures = 0;
        tests[i].run();
        EXPECT_EQ(starpu_mpi_wait_for_all(MPI_COMM_WORLD), 0);
        EXPECT_EQ(starpu_mpi_barrier(MPI_COMM_WORLD), 0);
        failures[i] = ranks_failures;
    }
    if (starpu_mpi_shutdown() != 0)
        failures[n - 1]++;
    MPI_Allreduce(failures, all, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (ranks_me == 0)
        printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        if (ranks_me == 0)
            printf("%s %d - %s\n", all[i] ? "not ok" : "ok", i + 1, tests[i].name);
        status |= all[i] > 0;
    }
    MPI_Comm_free(&ranks_half);
    if (ranks_most != MPI_COMM_NULL)
        MPI_Comm_free(&ranks_most);
    MPI_Finalize();
    return status;
}

/* --- ints --- */

starpu_data_handle_t ranks_int(int *value)
{
    starpu_data_handle_t handle;

    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)value,
                                  sizeof(*value));
    return handle;
}

starpu_data_handle_t ranks_shared_int(int *value, int64_t tag, int owner)
{
    starpu_data_handle_t handle;

    if (owner == ranks_me || owner == STARPU_MPI_PER_NODE)
        handle = ranks_int(value);
    else
        starpu_variable_data_register(&handle, -1, 0, sizeof(*value));
    starpu_mpi_data_register(handle, tag, owner);
    return handle;
}

int ranks_value(starpu_data_handle_t handle)
{
    int value;

    starpu_data_acquire(handle, STARPU_R);
    value = *(const int *)starpu_data_get_local_ptr(handle);
    starpu_data_release(handle);
    return value;
}

static int *int_of(void *buffer)
{
    return (int *)STARPU_VARIABLE_GET_PTR(buffer);
}

static void increment(void *buffers[], void *arg)
{
    (void)arg;
    ++*int_of(buffers[0]);
}

static void add(void *buffers[], void *arg)
{
    (void)arg;
    *int_of(buffers[0]) += *int_of(buffers[1]);
}

static void copy(void *buffers[], void *arg)
{
    (void)arg;
    *int_of(buffers[0]) = *int_of(buffers[1]);
}

static void add_rank(void *buffers[], void *arg)
{
    (void)arg;
    *int_of(buffers[0]) += ranks_me;
}

struct starpu_codelet ranks_increment = {
    .name = "increment", .cpu_funcs = {increment}, .nbuffers = 1, .modes = {STARPU_RW}};
struct starpu_codelet ranks_add = {.name = "add",
                                   .cpu_funcs = {add},
                                   .nbuffers = 2,
                                   .modes = {STARPU_RW, STARPU_R}};
struct starpu_codelet ranks_copy = {.name = "copy",
                                    .cpu_funcs = {copy},
                                    .nbuffers = 2,
                                    .modes = {STARPU_W, STARPU_R}};
struct starpu_codelet ranks_add_rank = {
    .name = "add_rank", .cpu_funcs = {add_rank}, .nbuffers = 1, .modes = {STARPU_RW}};

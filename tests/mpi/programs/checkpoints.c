/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/checkpoints.c - what a checkpoint has, and that it comes back. In a
 * folder ORRERY_MPI_CHECKPOINT_DIR that is empty at first.
 */
#include <errno.h>
#include <unistd.h>

#include <orrery_mpi.h>

#include "ranks.h"

static int next_rank(int rank)
{
    return (rank + 1) % ranks_n;
}

static int zero(int rank)
{
    (void)rank;
    return 0;
}

static int restore(starpu_mpi_checkpoint_template_t t)
{
    int number = -1, rc = orrery_mpi_checkpoint_restore(t, &number);

    return rc ? rc : number;
}

static void increment(starpu_data_handle_t handle)
{
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, handle, 0);
}

/* The value on its owner. */
static void expect(starpu_data_handle_t handle, int value)
{
    if (starpu_mpi_data_get_rank(handle) == ranks_me)
        EXPECT_EQ(ranks_value(handle), value);
}

/* --- values --- */

static void cut(void)
{
    int a_value = 10, b_value = 20, own = 100 + ranks_me;
    starpu_data_handle_t a = ranks_shared_int(&a_value, 1, 0),
                         b = ranks_shared_int(&b_value, 2, ranks_n - 1);
    starpu_mpi_checkpoint_template_t t;

    EXPECT_EQ(starpu_mpi_checkpoint_init(), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_init(), -EALREADY);
    EXPECT_EQ(starpu_mpi_checkpoint_template_register(
                  &t, 1, 0, STARPU_R, a, 1, STARPU_R, b, ranks_n - 1, STARPU_VALUE, &own,
                  sizeof(own), (starpu_mpi_tag_t)3, next_rank, 0),
              0);
    EXPECT_EQ(restore(t), -ENOENT);
    increment(a);
    EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 1), 0);
    own++;
    increment(a);
    increment(b);
    /* Rank 1 has the owner's value, which is not that of the checkpoint. */
    starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, a, 1, NULL, NULL);
    EXPECT_EQ(restore(t), 1);
    expect(a, 11);
    expect(b, 20);
    EXPECT_EQ(own, 100 + ranks_me);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, b, STARPU_R, a, 0);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, b, STARPU_R, a,
                           STARPU_EXECUTE_ON_NODE, 1, 0);
    expect(b, 42);
    EXPECT_EQ(starpu_mpi_checkpoint_shutdown(), 0);
    starpu_data_unregister(a);
    starpu_data_unregister(b);
}

/* Some values are those of the checkpoint before, whoever wrote the others. */
static void changes(void)
{
    enum { N = 4 };
    int value[N] = {1, 2, 3, 4};
    starpu_data_handle_t data[N];
    starpu_mpi_checkpoint_template_t t;

    for (int i = 0; i < N; i++)
        data[i] = ranks_shared_int(&value[i], 10 + i, i % ranks_n);
    EXPECT_EQ(starpu_mpi_checkpoint_init(), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_register(&t, 2, 0, STARPU_DATA_ARRAY, data, N,
                                                      ranks_n - 1, 0),
              0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_print(t), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), 0);
    increment(data[0]);
    /* Executed elsewhere, so that it comes back to its owner. */
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, data[1],
                           STARPU_EXECUTE_ON_NODE, 0, 0);
    /* Written by its owner alone. */
    if (starpu_mpi_data_get_rank(data[2]) == ranks_me) {
        starpu_data_acquire(data[2], STARPU_RW);
        ++*(int *)starpu_data_get_local_ptr(data[2]);
        starpu_data_release(data[2]);
    }
    EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), 0);
    starpu_mpi_data_migrate(MPI_COMM_WORLD, data[3], (3 + 1) % ranks_n);
    EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), 0);
    increment(data[3]);
    for (int round = 0; round < 2; round++) {
        increment(data[0]);
        EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), 0);
    }
    for (int i = 0; i < N; i++)
        for (int times = 0; times < 5; times++)
            increment(data[i]);
    EXPECT_EQ(restore(t), 6);
    expect(data[0], 4);
    expect(data[1], 3);
    expect(data[2], 4);
    expect(data[3], 5);
    EXPECT_EQ(starpu_mpi_checkpoint_shutdown(), 0);
    for (int i = 0; i < N; i++)
        starpu_data_unregister(data[i]);
}

/* Long data, padded data, and data whose parts are written. */
static void shapes(void)
{
    enum { LONG = 300000, NX = 5, NY = 7, LD = 9 };
    int *vector = calloc(LONG, sizeof(*vector)), matrix[NY * LD];
    starpu_data_handle_t v, m, part;
    struct starpu_data_filter half = {.filter_func = starpu_vector_filter_block,
                                      .nchildren = 2};
    starpu_mpi_checkpoint_template_t t;

    for (int i = 0; i < LONG; i++)
        vector[i] = i;
    for (int i = 0; i < NY * LD; i++)
        matrix[i] = i;
    starpu_vector_data_register(&v, ranks_me == 0 ? STARPU_MAIN_RAM : -1,
                                (uintptr_t)vector, LONG, sizeof(int));
    starpu_matrix_data_register(&m, ranks_me == 1 ? STARPU_MAIN_RAM : -1,
                                (uintptr_t)matrix, LD, NX, NY, sizeof(int));
    starpu_mpi_data_register(v, 20, 0);
    starpu_mpi_data_register(m, 21, 1);
    EXPECT_EQ(starpu_mpi_checkpoint_init(), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_register(&t, 4, 0, STARPU_R, v, 1, STARPU_R, m,
                                                      0, 0),
              0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), 0);
    if (ranks_me == 0) {
        starpu_data_partition(v, &half);
        part = starpu_data_get_sub_data(v, 1, 1);
        starpu_data_acquire(part, STARPU_RW);
        *(int *)starpu_data_get_local_ptr(part) = -5;
        starpu_data_release(part);
        starpu_data_unpartition(v, STARPU_MAIN_RAM);
    }
    EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), 0);
    if (ranks_me == 0) {
        starpu_data_acquire(v, STARPU_W);
        memset(vector, 0, LONG * sizeof(int));
        starpu_data_release(v);
    } else if (ranks_me == 1) {
        starpu_data_acquire(m, STARPU_W);
        for (int i = 0; i < NY * LD; i++)
            matrix[i] = -1;
        starpu_data_release(m);
    }
    EXPECT_EQ(restore(t), 2);
    starpu_mpi_checkpoint_shutdown();
    starpu_data_unregister(v);
    starpu_data_unregister(m);
    for (int i = 0; i < LONG && ranks_me == 0; i++)
        if (vector[i] != (i == LONG / 2 ? -5 : i)) {
            EXPECT_EQ(vector[i], i);
            break;
        }
    for (int i = 0; i < NY * LD && ranks_me == 1; i++)
        EXPECT_EQ(matrix[i], i % LD < NX ? i : -1);
    free(vector);
}

/* --- files --- */

static char *file_name(char *text, size_t size, const char *name)
{
    snprintf(text, size, "%s/%s", getenv("ORRERY_MPI_CHECKPOINT_DIR"), name);
    return text;
}

static void files(void)
{
    int value = 1;
    char name[4096];
    starpu_data_handle_t a = ranks_shared_int(&value, 30, 0);
    starpu_mpi_checkpoint_template_t t;

    EXPECT_EQ(starpu_mpi_checkpoint_init(), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_register(&t, 5, -1, STARPU_R, a, 1, 0), 0);
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), 0);
        increment(a);
    }
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    starpu_mpi_barrier(MPI_COMM_WORLD);
    EXPECT(access(file_name(name, sizeof(name), "5--1-2.manifest"), F_OK) != 0);
    EXPECT(access(file_name(name, sizeof(name), "5--1-3.manifest"), F_OK) == 0);
    EXPECT(access(file_name(name, sizeof(name), "5--1-4.1.part"), F_OK) == 0);
    starpu_mpi_barrier(MPI_COMM_WORLD);
    if (ranks_me == 1)
        EXPECT_EQ(truncate(file_name(name, sizeof(name), "5--1-4.1.part"), 20), 0);
    starpu_mpi_barrier(MPI_COMM_WORLD);
    EXPECT_EQ(restore(t), 3);
    expect(a, 3);
    if (ranks_me == 0)
        EXPECT_EQ(truncate(file_name(name, sizeof(name), "5--1-3.manifest"), 30), 0);
    starpu_mpi_barrier(MPI_COMM_WORLD);
    increment(a);
    EXPECT_EQ(restore(t), -ENOENT);
    expect(a, 4);
    /* Another run of the program, and another one with other data. */
    EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_shutdown(), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_init(), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_register(&t, 5, -1, STARPU_R, a, 1, 0), 0);
    increment(a);
    EXPECT_EQ(restore(t), 5);
    expect(a, 4);
    EXPECT_EQ(starpu_mpi_checkpoint_shutdown(), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_init(), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_register(&t, 5, -1, STARPU_VALUE, &value,
                                                      sizeof(value), (starpu_mpi_tag_t)1,
                                                      zero, 0),
              0);
    EXPECT_EQ(restore(t), -EINVAL);
    EXPECT_EQ(starpu_mpi_checkpoint_shutdown(), 0);
    starpu_data_unregister(a);
}

/* --- mistakes --- */

static void mistakes(void)
{
    int value = 1, number = 0;
    starpu_data_handle_t a = ranks_shared_int(&value, 40, 0), alone = ranks_int(&value);
    starpu_mpi_checkpoint_template_t t, other;

    EXPECT_EQ(starpu_mpi_checkpoint_shutdown(), -EINVAL);
    EXPECT_EQ(starpu_mpi_checkpoint_template_create(&t, 6, 0), -EINVAL);
    EXPECT_EQ(starpu_mpi_checkpoint_init(), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_create(&t, 6, 0), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_create(&other, 6, 0), -EEXIST);
    EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), -EINVAL);
    EXPECT_EQ(orrery_mpi_checkpoint_restore(t, &number), -EINVAL);
    EXPECT_EQ(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_R, a, ranks_n, 0),
              -EINVAL);
    EXPECT_EQ(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_R, alone, 0, 0), -EINVAL);
    EXPECT_EQ(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_PRIORITY, 3, 0), -EINVAL);
    EXPECT_EQ(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_R, a, 0, 0), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_freeze(&t), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_freeze(&t), -EBUSY);
    EXPECT_EQ(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_R, a, 0, 0), -EBUSY);
    /* Ranks have different ones. */
    EXPECT_EQ(starpu_mpi_checkpoint_template_create(&other, 7 + (ranks_me == 1), 0), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_freeze(&other), -EINVAL);
    starpu_data_unregister(a);
    EXPECT_EQ(starpu_mpi_checkpoint_shutdown(), 0);
    starpu_data_unregister(alone);
}

/* Those that nobody ends are ended with MPI. */
static void left(void)
{
    static int value = 3;
    starpu_mpi_checkpoint_template_t t;

    EXPECT_EQ(starpu_mpi_checkpoint_init(), 0);
    EXPECT_EQ(starpu_mpi_checkpoint_template_register(&t, 9, 9, STARPU_VALUE, &value,
                                                      sizeof(value), (starpu_mpi_tag_t)1,
                                                      next_rank, 0),
              0);
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(starpu_mpi_checkpoint_template_submit(t, 0), 0);
}

RANKS_MAIN({"values as of the call come back", cut},
           {"what nobody wrote is that of the checkpoint before", changes},
           {"long, padded and partitioned data", shapes}, {"files", files},
           {"mistakes", mistakes}, {"checkpoints that are left", left})

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/names.c - tags, ranks, communicators, the thread MPI. */
#include "ranks.h"

#include <starpu_mpi_ft.h>

static void ranges_of_tags(void)
{
    int64_t a = starpu_mpi_tags_allocate(10), b = starpu_mpi_tags_allocate(5), c;

    EXPECT_EQ(a, 0);
    EXPECT_EQ(b, 10);
    EXPECT_EQ(starpu_mpi_tags_allocate(0), -1);
    starpu_mpi_tags_free(a);
    c = starpu_mpi_tags_allocate(11);
    EXPECT_EQ(c, 15);
    a = starpu_mpi_tags_allocate(4);
    EXPECT_EQ(a, 0);
    EXPECT_EQ(starpu_mpi_tags_allocate(6), 4);
    starpu_mpi_tags_free(4);
    starpu_mpi_tags_free(a);
    starpu_mpi_tags_free(b);
    starpu_mpi_tags_free(c);
    a = starpu_mpi_tags_allocate(INT64_C(1) << 46);
    EXPECT_EQ(a, 0);
    starpu_mpi_tags_free(a);
}

static void attributes(void)
{
    int64_t *most = NULL;
    int flag = -1;

    EXPECT_EQ(starpu_mpi_comm_get_attr(MPI_COMM_WORLD, STARPU_MPI_TAG_UB, &most, &flag), 0);
    EXPECT_EQ(flag, 1);
    EXPECT(most && *most == INT64_MAX);
    starpu_mpi_comm_get_attr(MPI_COMM_WORLD, STARPU_MPI_TAG_UB + 1, &most, &flag);
    EXPECT_EQ(flag, 0);
}

static void tags_and_owners(void)
{
    int value = 0, other_value = 0;
    starpu_data_handle_t handle = ranks_int(&value), other = ranks_int(&other_value);

    EXPECT_EQ(starpu_mpi_data_get_rank(handle), -1);
    EXPECT_EQ(starpu_mpi_data_get_tag(handle), -1);
    starpu_mpi_data_set_tag(handle, 5);
    EXPECT_EQ(starpu_mpi_data_get_rank(handle), -1);
    EXPECT_EQ(starpu_mpi_data_get_tag(handle), 5);
    starpu_data_set_rank(handle, 1);
    EXPECT_EQ(starpu_data_get_rank(handle), 1);
    EXPECT_EQ(starpu_data_get_tag(handle), 5);
    starpu_mpi_data_set_rank_comm(handle, 0, MPI_COMM_SELF);
    EXPECT_EQ(starpu_mpi_data_get_rank(handle), 0);
    starpu_data_set_tag(handle, INT64_MAX);
    /* The tag that it had is free. */
    starpu_mpi_data_register(other, 5, 0);
    starpu_data_unregister(other);
    other = ranks_int(&other_value);
    starpu_mpi_data_register_comm(other, 5, 0, MPI_COMM_WORLD);
    EXPECT_EQ(starpu_mpi_data_get_tag(handle), INT64_MAX);
    starpu_data_unregister(handle);
    starpu_data_unregister(other);
}

/* A datum that was unregistered while tasks that wait will still use it: its tag is free,
 * and the cache knows it no more. */
static void left(void)
{
    int gate_value = 7, copy_value = 0;
    starpu_data_handle_t gate = ranks_int(&gate_value),
                         copy = ranks_shared_int(&copy_value, 61, 1);

    starpu_mpi_data_register(gate, 62, STARPU_MPI_PER_NODE);
    starpu_data_acquire(gate, STARPU_RW);
    for (int i = 0; i < 3; i++) {
        starpu_data_handle_t datum;

        starpu_variable_data_register(&datum, -1, 0, sizeof(int));
        starpu_mpi_data_register(datum, 60, 0);
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_copy, STARPU_W, datum, STARPU_R, gate,
                               0);
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, copy, STARPU_R, datum,
                               0);
        starpu_data_unregister_submit(datum);
        starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
    }
    starpu_data_release(gate);
    if (ranks_me == 1)
        EXPECT_EQ(ranks_value(copy), 21);
    starpu_data_unregister(gate);
    starpu_data_unregister(copy);
}

static void numbers(void)
{
    int mine = -1, mpi = -2, n = -1, mpi_n = -2;

    MPI_Comm_rank(MPI_COMM_WORLD, &mpi);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi_n);
    EXPECT_EQ(starpu_mpi_comm_rank(MPI_COMM_WORLD, &mine), 0);
    EXPECT_EQ(starpu_mpi_comm_size(MPI_COMM_WORLD, &n), 0);
    EXPECT_EQ(mine, mpi);
    EXPECT_EQ(n, mpi_n);
    EXPECT_EQ(starpu_mpi_ft_turn_off(), 0);
    EXPECT_EQ(starpu_mpi_ft_turn_on(), 0);
    EXPECT_EQ(starpu_mpi_get_communication_tag(), 42);
    EXPECT(starpu_mpi_get_thread_cpuid() >= -1);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        if (starpu_mpi_get_thread_cpuid() >= 0)
            EXPECT(starpu_worker_get_bindid((int)w) != starpu_mpi_get_thread_cpuid());
}

RANKS_MAIN({"ranges of tags", ranges_of_tags}, {"attributes", attributes},
           {"tags and owners", tags_and_owners},
           {"unregistered while in use", left}, {"numbers of ranks", numbers})

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/movement.c - the cache, and data that go from rank to rank. */
#include <stdatomic.h>
#include <stdbool.h>

#include "ranks.h"

static atomic_int ncalls;

static void count(void *arg)
{
    atomic_fetch_add(&ncalls, (int)(intptr_t)arg);
}

/* --- the cache --- */

/* Bytes that this rank has sent until now. */
static size_t sent(void)
{
    size_t *bytes = calloc((size_t)ranks_n, sizeof(*bytes)), all = 0;

    starpu_mpi_comm_stats_retrieve(bytes);
    for (int i = 0; i < ranks_n; i++)
        all += bytes[i];
    free(bytes);
    return all;
}

/* Rank 1 reads a datum of rank 0's twice, which is sent once if it is remembered. */
static void read_twice(starpu_data_handle_t target, starpu_data_handle_t source,
                       int times)
{
    size_t before;

    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    before = sent();
    for (int i = 0; i < 2; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, target, STARPU_R,
                               source, 0);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(sent() - before, ranks_me == 0 ? times * sizeof(int) : 0);
}

static void cache(void)
{
    int value[2] = {5, 0};
    starpu_data_handle_t source = ranks_shared_int(&value[0], 1, 0),
                         target = ranks_shared_int(&value[1], 2, 1);

    starpu_mpi_comm_stats_enable();
    EXPECT_EQ(starpu_mpi_cache_is_enabled(), 1);
    read_twice(target, source, 1);
    EXPECT_EQ(starpu_mpi_cached_receive(source), ranks_me == 1);
    EXPECT_EQ(starpu_mpi_cached_send(source, 1), ranks_me == 0);
    read_twice(target, source, 0);
    /* Written: it is sent again. */
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, source, 0);
    EXPECT_EQ(starpu_mpi_cached_receive(source), 0);
    read_twice(target, source, 1);
    starpu_mpi_cache_flush(MPI_COMM_WORLD, source);
    EXPECT_EQ(starpu_mpi_cached_send(source, 1), 0);
    read_twice(target, source, 1);
    starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
    read_twice(target, source, 1);
    starpu_mpi_cache_set(0);
    EXPECT_EQ(starpu_mpi_cache_is_enabled(), 0);
    read_twice(target, source, 2);
    EXPECT_EQ(starpu_mpi_cached_receive(source), 0);
    starpu_mpi_cache_set(1);
    read_twice(target, source, 1);
    if (ranks_me == 1)
        EXPECT_EQ(ranks_value(target), 4 * 5 + 10 * 6);
    starpu_mpi_comm_stats_disable();
    starpu_data_unregister(source);
    starpu_data_unregister(target);
}

/* Flags that the application sets itself. */
static void flags(void)
{
    int value = 3;
    starpu_data_handle_t datum = ranks_shared_int(&value, 3, 0);

    if (ranks_me == 0) {
        EXPECT_EQ(starpu_mpi_cached_send_set(datum, 1), 0);
        EXPECT_EQ(starpu_mpi_cached_send_set(datum, 1), 1);
        EXPECT_EQ(starpu_mpi_cached_send(datum, 1), 1);
        starpu_mpi_cached_send_clear(datum);
        EXPECT_EQ(starpu_mpi_cached_send(datum, 1), 0);
    } else {
        EXPECT_EQ(starpu_mpi_cached_receive_set(datum), 0);
        EXPECT_EQ(starpu_mpi_cached_cp_receive_set(datum), 1);
        EXPECT_EQ(starpu_mpi_cached_receive(datum), 1);
        starpu_mpi_cached_receive_clear(datum);
        EXPECT_EQ(starpu_mpi_cached_receive(datum), 0);
    }
    starpu_data_unregister(datum);
}

/* --- moves --- */

static void get(void)
{
    int value = 11;
    starpu_data_handle_t datum = ranks_shared_int(&value, 4, 0);

    EXPECT_EQ(starpu_mpi_get_data_on_node(MPI_COMM_WORLD, datum, 1), 0);
    if (ranks_me == 1)
        EXPECT_EQ(ranks_value(datum), 11);
    atomic_store(&ncalls, 0);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, datum, 0);
    starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, datum, ranks_n - 1, count,
                                         (void *)1);
    /* It has it already. */
    starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, datum, ranks_n - 1, count,
                                         (void *)1);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(atomic_load(&ncalls), ranks_me == ranks_n - 1);
    starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, datum);
    EXPECT_EQ(ranks_value(datum), 12);
    starpu_data_unregister(datum);
}

static void migrate(void)
{
    int value = 1;
    starpu_data_handle_t datum = ranks_shared_int(&value, 5, 0);

    for (int i = 1; i <= ranks_n; i++) {
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add_rank, STARPU_RW, datum, 0);
        starpu_mpi_data_migrate(MPI_COMM_WORLD, datum, i % ranks_n);
        EXPECT_EQ(starpu_mpi_data_get_rank(datum), i % ranks_n);
    }
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(datum), 1 + ranks_n * (ranks_n - 1) / 2);
    starpu_data_unregister(datum);
    if (ranks_me == 0)
        EXPECT_EQ(value, 1 + ranks_n * (ranks_n - 1) / 2);
}

static void copies(void)
{
    int value[3] = {1, 2, 3};
    starpu_data_handle_t a = ranks_shared_int(&value[0], 6, 0),
                         b = ranks_shared_int(&value[1], 7, 1),
                         c = ranks_shared_int(&value[2], 8, 1);

    atomic_store(&ncalls, 0);
    EXPECT_EQ(starpu_mpi_data_cpy(b, a, MPI_COMM_WORLD, 0, count, (void *)1), 0);
    EXPECT_EQ(atomic_load(&ncalls), ranks_me == 1);
    if (ranks_me == 1)
        EXPECT_EQ(ranks_value(b), 1);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, b, 0);
    EXPECT_EQ(starpu_mpi_data_cpy_priority(c, b, MPI_COMM_WORLD, 1, count, (void *)10, 2),
              0);
    EXPECT_EQ(starpu_mpi_data_cpy(a, c, MPI_COMM_WORLD, 1, count, (void *)100), 0);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(atomic_load(&ncalls), ranks_me == 0 ? 100 : ranks_me == 1 ? 11 : 0);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(a), 2);
    starpu_data_unregister(a);
    starpu_data_unregister(b);
    starpu_data_unregister(c);
}

/* The root has all at first and in the end, each owner its own meanwhile. */
static void collectives(void)
{
    enum { N = 12 };
    int value[N];
    starpu_data_handle_t data[N + 1] = {NULL};
    bool is_root = ranks_me == 1;
    int nelse = 0, nmine = 0;

    atomic_store(&ncalls, 0);
    for (int i = 0; i < N; i++) {
        int owner = i % ranks_n;

        value[i] = is_root ? 100 + i : -1;
        nelse += owner != 1;
        nmine += owner == ranks_me;
        if (is_root || owner == ranks_me) {
            data[i] = ranks_int(&value[i]);
            starpu_mpi_data_register(data[i], 20 + i, owner);
        }
    }
    starpu_mpi_scatter_detached(data, N + 1, 1, MPI_COMM_WORLD, count, (void *)1, count,
                                (void *)10);
    for (int i = 0; i < N; i++)
        if (i % ranks_n == ranks_me)
            starpu_task_insert(&ranks_increment, STARPU_RW, data[i], 0);
    starpu_mpi_gather_detached(data, N + 1, 1, MPI_COMM_WORLD, count, (void *)100, count,
                               (void *)1000);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(atomic_load(&ncalls), is_root ? 1001 : 110);
    EXPECT(nelse > 0 && nmine > 0);
    for (int i = 0; i < N; i++) {
        if (!data[i])
            continue;
        EXPECT_EQ(ranks_value(data[i]), 101 + i);
        starpu_data_unregister(data[i]);
    }
}

/* A value that was scattered is sent again to who has the one before. */
static void scattered(void)
{
    int value = 1, seen = 0;
    starpu_data_handle_t data = ranks_shared_int(&value, 40, 1),
                         copy = ranks_shared_int(&seen, 41, ranks_n - 1 > 1 ? 2 : 0);

    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_copy, STARPU_W, copy, STARPU_R, data, 0);
    starpu_mpi_gather_detached(&data, 1, 0, MPI_COMM_WORLD, NULL, NULL, NULL, NULL);
    if (ranks_me == 0)
        starpu_task_insert(&ranks_increment, STARPU_RW, data, 0);
    starpu_mpi_scatter_detached(&data, 1, 0, MPI_COMM_WORLD, NULL, NULL, NULL, NULL);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_copy, STARPU_W, copy, STARPU_R, data, 0);
    if (ranks_me == starpu_mpi_data_get_rank(copy))
        EXPECT_EQ(ranks_value(copy), 2);
    starpu_data_unregister(data);
    starpu_data_unregister(copy);
}

RANKS_MAIN({"values are sent once", cache}, {"flags of the cache", flags},
           {"get_data_on_node", get}, {"migrate", migrate}, {"data_cpy", copies},
           {"scatter and gather", collectives}, {"scattered again", scattered})

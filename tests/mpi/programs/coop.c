/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/coop.c - one value sent to all ranks, which pass it on. */
#include "ranks.h"

enum { TAG = 50, LARGE = 1 << 18, MANY = 100 };

/* The root's value to all others. */
static void send_to_all(starpu_data_handle_t handle, int root, int64_t tag)
{
    for (int r = 0; r < ranks_n; r++)
        if (r != root)
            starpu_mpi_isend_detached_prio(handle, r, tag, r, MPI_COMM_WORLD, NULL, NULL);
}

static void receive(starpu_data_handle_t handle, int root, int64_t tag)
{
    starpu_mpi_irecv_detached(handle, root, tag, MPI_COMM_WORLD, NULL, NULL);
}

/* The root writes the value when all sends have been submitted. */
static void broadcast(starpu_data_handle_t handle, int root, int64_t tag, int value)
{
    if (ranks_me != root) {
        receive(handle, root, tag);
        return;
    }
    starpu_data_acquire(handle, STARPU_RW);
    send_to_all(handle, root, tag);
    *(int *)starpu_data_get_local_ptr(handle) = value;
    starpu_data_release(handle);
}

static size_t sent(void)
{
    size_t *bytes = calloc((size_t)ranks_n, sizeof(*bytes)), all = 0;

    starpu_mpi_comm_stats_retrieve(bytes);
    for (int i = 0; i < ranks_n; i++)
        all += bytes[i];
    free(bytes);
    return all;
}

/* How often the root sends along a tree to all others. */
static size_t few(void)
{
    size_t times = 0;

    if (ranks_n < 4)
        return (size_t)ranks_n - 1;
    for (int n = ranks_n - 1; n > 0; n /= 2)
        times++;
    return times;
}

/* Ranks pass it on: the root sends less than it would alone. */
static void tree(void)
{
    int value = -1;
    starpu_data_handle_t handle = ranks_int(&value);
    size_t before;

    EXPECT_EQ(starpu_mpi_coop_sends_get_use(), 1);
    starpu_mpi_comm_stats_enable();
    before = sent();
    broadcast(handle, 0, TAG, 7);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    if (ranks_me == 0)
        EXPECT_EQ(sent() - before, few() * sizeof(int));
    EXPECT_EQ(ranks_value(handle), 7);
    starpu_mpi_coop_sends_set_use(0);
    EXPECT_EQ(starpu_mpi_coop_sends_get_use(), ranks_n < 3);
    before = sent();
    broadcast(handle, 0, TAG, 8);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(sent() - before, ranks_me == 0 ? (size_t)(ranks_n - 1) * sizeof(int) : 0);
    EXPECT_EQ(ranks_value(handle), 8);
    starpu_mpi_coop_sends_set_use(1);
    starpu_mpi_comm_stats_disable();
    starpu_data_unregister(handle);
}

/* Right, too many, too few, nonsense. */
static void hints(void)
{
    const int n[] = {ranks_n - 1, 5 * ranks_n, 1, -3};

    for (int i = 0; i < 4; i++) {
        int value = -1;
        starpu_data_handle_t handle = ranks_int(&value);

        starpu_mpi_coop_sends_data_handle_nb_sends(handle, n[i]);
        broadcast(handle, 0, TAG, 20 + i);
        EXPECT_EQ(ranks_value(handle), 20 + i);
        starpu_data_unregister(handle);
        EXPECT_EQ(value, 20 + i);
    }
}

/* The value is there before: with and without a hint. */
static void without_task(void)
{
    for (int i = 0; i < 2; i++) {
        int value = ranks_me == 0 ? 30 + i : -1;
        starpu_data_handle_t handle = ranks_int(&value);

        if (i)
            starpu_mpi_coop_sends_data_handle_nb_sends(handle, ranks_n - 1);
        if (ranks_me == 0)
            send_to_all(handle, 0, TAG);
        else
            receive(handle, 0, TAG);
        EXPECT_EQ(ranks_value(handle), 30 + i);
        starpu_data_unregister(handle);
    }
}

/* Insertions alone; read on all ranks again and again, with and without cache. */
static void insertions(void)
{
    for (int cached = 0; cached < 2; cached++) {
        int value = 1;
        starpu_data_handle_t source = ranks_shared_int(&value, 60, 0);

        starpu_mpi_cache_set(cached);
        for (int i = 0; i < 5; i++) {
            starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, source, 0);
            for (int r = 0; r < 2 * ranks_n; r++) {
                int own = 0;
                starpu_data_handle_t to =
                    ranks_shared_int(&own, 70 + r, r % ranks_n);

                starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, to, STARPU_R,
                                       source, 0);
                if (r % ranks_n == ranks_me)
                    EXPECT_EQ(ranks_value(to), 2 + i);
                starpu_data_unregister(to);
            }
        }
        starpu_data_unregister(source);
    }
    starpu_mpi_cache_set(1);
}

/* Who has received it changes it and sends it on to all. */
static void chain(void)
{
    int value = 0;
    starpu_data_handle_t handle = ranks_int(&value);

    for (int i = 0; i < 3 * ranks_n; i++) {
        int root = i % ranks_n;

        if (ranks_me == root) {
            starpu_task_insert(&ranks_increment, STARPU_RW, handle, 0);
            send_to_all(handle, root, TAG);
        } else {
            receive(handle, root, TAG);
        }
    }
    EXPECT_EQ(ranks_value(handle), 3 * ranks_n);
    starpu_data_unregister(handle);
}

static void large(void)
{
    int *values = malloc(LARGE * sizeof(*values));
    starpu_data_handle_t handle;
    int nwrong = 0;

    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, LARGE,
                                sizeof(*values));
    if (ranks_me == 0) {
        starpu_data_acquire(handle, STARPU_W);
        send_to_all(handle, 0, TAG);
        for (int i = 0; i < LARGE; i++)
            values[i] = 3 * i;
        starpu_data_release(handle);
    } else {
        receive(handle, 0, TAG);
    }
    starpu_data_unregister(handle);
    for (int i = 0; i < LARGE; i++)
        nwrong += values[i] != 3 * i;
    EXPECT_EQ(nwrong, 0);
    free(values);
}

/* All with one tag: each has its place, whichever way it comes. */
static void many(void)
{
    int values[MANY];
    starpu_data_handle_t handle[MANY];

    for (int i = 0; i < MANY; i++) {
        values[i] = -1;
        handle[i] = ranks_int(&values[i]);
        if (i % 3 < 2) {
            broadcast(handle[i], 0, TAG, i);
        } else if (ranks_me == 0) {
            values[i] = i;
            send_to_all(handle[i], 0, TAG);
        } else {
            receive(handle[i], 0, TAG);
        }
    }
    for (int i = 0; i < MANY; i++) {
        EXPECT_EQ(ranks_value(handle[i]), i);
        starpu_data_unregister(handle[i]);
    }
}

/* Received in another order than sent, after all was sent; the last rank asks last. */
static void late(void)
{
    int values[3] = {-1, -1, -1};
    starpu_data_handle_t handle[3];

    for (int i = 0; i < 3; i++)
        handle[i] = ranks_int(&values[i]);
    for (int i = 0; i < 3 && ranks_me == 0; i++)
        broadcast(handle[i], 0, TAG + i, 40 + i);
    starpu_mpi_barrier(MPI_COMM_WORLD);
    if (ranks_me == ranks_n - 1)
        starpu_mpi_barrier(MPI_COMM_WORLD);
    for (int i = 2; i >= 0 && ranks_me > 0; i--) {
        receive(handle[i], 0, TAG + i);
        EXPECT_EQ(ranks_value(handle[i]), 40 + i);
    }
    if (ranks_me != ranks_n - 1)
        starpu_mpi_barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        starpu_data_unregister(handle[i]);
}

/* Each answers as soon as it has the value, which it may still have to pass on. */
static void answers(void)
{
    int value = -1, sum = 0;
    starpu_data_handle_t handle = ranks_int(&value), answer = ranks_int(&sum);

    broadcast(handle, 0, TAG, 60);
    if (ranks_me > 0) {
        starpu_mpi_isend_detached(handle, 0, TAG + 1, MPI_COMM_WORLD, NULL, NULL);
        starpu_task_insert(&ranks_add_rank, STARPU_RW, handle, 0);
        starpu_mpi_isend_detached(handle, 0, TAG + 1, MPI_COMM_WORLD, NULL, NULL);
    }
    for (int r = ranks_n - 1; r > 0 && ranks_me == 0; r--)
        for (int i = 0; i < 2; i++) {
            starpu_mpi_recv(answer, r, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT_EQ(ranks_value(answer), 60 + i * r);
        }
    starpu_data_unregister(handle);
    starpu_data_unregister(answer);
}

RANKS_MAIN({"along a tree, or not", tree}, {"hints", hints},
           {"the value is there before", without_task}, {"by insertions", insertions},
           {"sent on by who has received it", chain}, {"a large one", large},
           {"many", many}, {"late, in another order", late},
           {"answers while it is passed on", answers})

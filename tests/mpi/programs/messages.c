/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/messages.c - messages from rank to rank. */
#include <stdatomic.h>

#include "ranks.h"

static int next(void)
{
    return (ranks_me + 1) % ranks_n;
}

static int before(void)
{
    return (ranks_me + ranks_n - 1) % ranks_n;
}

/* A token goes around; each rank adds 1 by a task. */
static void ring(void)
{
    int token = 0;
    starpu_data_handle_t handle = ranks_int(&token);
    MPI_Status status;
    int count = 0;

    for (int round = 0; round < 10; round++) {
        if (ranks_me > 0 || round > 0) {
            EXPECT_EQ(starpu_mpi_recv(handle, before(), round, MPI_COMM_WORLD, &status), 0);
            MPI_Get_count(&status, MPI_BYTE, &count);
            EXPECT_EQ(status.MPI_SOURCE, before());
            EXPECT_EQ(status.MPI_TAG, round);
            EXPECT_EQ(count, sizeof(token));
        }
        EXPECT_EQ(starpu_task_insert(&ranks_increment, STARPU_RW, handle, 0), 0);
        if (ranks_me < ranks_n - 1)
            starpu_mpi_send(handle, next(), round, MPI_COMM_WORLD);
        else if (round < 9)
            starpu_mpi_send_prio(handle, next(), round + 1, 3, MPI_COMM_WORLD);
    }
    if (ranks_me == ranks_n - 1)
        EXPECT_EQ(ranks_value(handle), 10 * ranks_n);
    starpu_data_unregister(handle);
}

static void requests(void)
{
    int mine[4], theirs[4] = {0};
    starpu_data_handle_t to[4], from[4];
    starpu_mpi_req sends[4], receives[4];
    MPI_Status status;

    for (int i = 0; i < 4; i++) {
        mine[i] = 100 * ranks_me + i;
        to[i] = ranks_int(&mine[i]);
        from[i] = ranks_int(&theirs[i]);
        starpu_mpi_irecv(from[i], &receives[i], before(), i, MPI_COMM_WORLD);
    }
    starpu_mpi_isend(to[3], &sends[3], next(), 3, MPI_COMM_WORLD);
    starpu_mpi_isend_prio(to[2], &sends[2], next(), 2, 7, MPI_COMM_WORLD);
    starpu_mpi_issend(to[1], &sends[1], next(), 1, MPI_COMM_WORLD);
    starpu_mpi_issend_prio(to[0], &sends[0], next(), 0, 1, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(starpu_mpi_wait(&sends[i], MPI_STATUS_IGNORE), 0);
        EXPECT(!sends[i]);
        for (int flag = 0; !flag;)
            EXPECT_EQ(starpu_mpi_test(&receives[i], &flag, &status), 0);
        EXPECT(!receives[i]);
        EXPECT_EQ(status.MPI_SOURCE, before());
        EXPECT_EQ(ranks_value(from[i]), 100 * before() + i);
        starpu_data_unregister(to[i]);
        starpu_data_unregister(from[i]);
    }
}

/* --- detached --- */

static atomic_int ncalls;

static void count(void *arg)
{
    atomic_fetch_add(&ncalls, *(const int *)arg);
}

static void detached(void)
{
    int mine = 7 + ranks_me, theirs[3] = {0}, one = 1;
    starpu_data_handle_t to = ranks_int(&mine), from[3];

    atomic_store(&ncalls, 0);
    for (int i = 0; i < 3; i++)
        from[i] = ranks_int(&theirs[i]);
    starpu_mpi_irecv_detached(from[0], before(), 0, MPI_COMM_WORLD, count, &one);
    starpu_mpi_irecv_detached_prio(from[1], before(), 1, 5, MPI_COMM_WORLD, count, &one);
    starpu_mpi_irecv_detached_sequential_consistency(from[2], before(), 2, MPI_COMM_WORLD,
                                                     count, &one, 0);
    starpu_mpi_isend_detached(to, next(), 0, MPI_COMM_WORLD, count, &one);
    starpu_mpi_issend_detached(to, next(), 1, MPI_COMM_WORLD, count, &one);
    starpu_mpi_isend_detached_prio(to, next(), 2, 5, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(atomic_load(&ncalls), 5);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(ranks_value(from[i]), 7 + before());
        starpu_data_unregister(from[i]);
    }
    starpu_mpi_irecv_detached(to, before(), 3, MPI_COMM_WORLD, NULL, NULL);
    from[0] = ranks_int(&theirs[0]);
    starpu_mpi_issend_detached_prio(from[0], next(), 3, 2, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(ranks_value(to), 7 + (ranks_me + 2 * ranks_n - 2) % ranks_n);
    starpu_data_unregister(from[0]);
    starpu_data_unregister(to);
}

/* Calls that would wait are refused in callbacks, and those that would not work. */
static atomic_int refused;

static void wait_inside(void *arg)
{
    starpu_data_handle_t handle = arg;

    atomic_store(&refused, starpu_mpi_recv(handle, before(), 9, MPI_COMM_WORLD, NULL));
    starpu_mpi_isend_detached(handle, next(), 5, MPI_COMM_WORLD, NULL, NULL);
}

static void callbacks(void)
{
    int mine = ranks_me, theirs[2] = {-1, -1};
    starpu_data_handle_t to = ranks_int(&mine), from[2] = {ranks_int(&theirs[0]),
                                                           ranks_int(&theirs[1])};

    atomic_store(&refused, 0);
    starpu_mpi_irecv_detached(from[0], before(), 4, MPI_COMM_WORLD, wait_inside, from[0]);
    starpu_mpi_irecv_detached(from[1], before(), 5, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_isend_detached(to, next(), 4, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT(atomic_load(&refused) < 0);
    EXPECT_EQ(ranks_value(from[1]), (ranks_me + 2 * ranks_n - 2) % ranks_n);
    starpu_data_unregister(to);
    starpu_data_unregister(from[0]);
    starpu_data_unregister(from[1]);
}

static void tags_of_tasks(void)
{
    enum { N = 5 };
    int mine[N], theirs[N], peers[N], back[N], prios[N] = {4, 3, 2, 1, 0};
    starpu_data_handle_t to[N], from[N];
    starpu_mpi_tag_t tags[N];
    MPI_Comm comms[N];
    starpu_tag_t wanted[5] = {1, 2, 3, 4, 5};

    for (int i = 0; i < N; i++) {
        mine[i] = 10 * ranks_me + i;
        theirs[i] = -1;
        to[i] = ranks_int(&mine[i]);
        from[i] = ranks_int(&theirs[i]);
        peers[i] = next();
        back[i] = before();
        tags[i] = 20 + i;
        comms[i] = MPI_COMM_WORLD;
    }
    starpu_mpi_irecv_array_detached_unlock_tag(3, from, back, tags, comms, 1);
    starpu_mpi_isend_array_detached_unlock_tag(2, to, peers, tags, comms, 2);
    starpu_mpi_isend_array_detached_unlock_tag_prio(1, to + 2, peers, tags + 2, prios,
                                                    comms, 3);
    starpu_mpi_irecv_detached_unlock_tag(from[3], before(), 23, MPI_COMM_WORLD, 4);
    starpu_mpi_isend_detached_unlock_tag(to[3], next(), 23, MPI_COMM_WORLD, 5);
    EXPECT_EQ(starpu_tag_wait_array(5, wanted), 0);
    starpu_mpi_isend_detached_unlock_tag_prio(to[4], next(), 24, 2, MPI_COMM_WORLD, 6);
    starpu_mpi_recv_prio(from[4], before(), 24, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(starpu_tag_wait(6), 0);
    for (int i = 0; i < N; i++) {
        EXPECT_EQ(ranks_value(from[i]), 10 * before() + i);
        starpu_data_unregister(to[i]);
        starpu_data_unregister(from[i]);
    }
    for (starpu_tag_t tag = 1; tag <= 6; tag++)
        starpu_tag_remove(tag);
}

/* Equal tags come in the order of the calls, whatever is urgent. */
static void order(void)
{
    enum { N = 16 };
    int mine[N], theirs[N];
    starpu_data_handle_t to[N], from[N];

    for (int i = 0; i < N; i++) {
        mine[i] = i;
        theirs[i] = -1;
        to[i] = ranks_int(&mine[i]);
        from[i] = ranks_int(&theirs[i]);
        if (i % 3 == 0)
            starpu_task_insert(&ranks_increment, STARPU_RW, to[i], 0);
        starpu_mpi_isend_detached_prio(to[i], next(), 30, i, MPI_COMM_WORLD, NULL, NULL);
    }
    for (int i = 0; i < N; i++)
        starpu_mpi_irecv_detached(from[i], before(), 30, MPI_COMM_WORLD, NULL, NULL);
    for (int i = 0; i < N; i++) {
        EXPECT_EQ(ranks_value(from[i]), i + (i % 3 == 0));
        starpu_data_unregister(from[i]);
        starpu_data_unregister(to[i]);
    }
}

/* Barriers are no obstacle for messages, nor messages for barriers. */
static void barriers(void)
{
    int value = ranks_me;
    starpu_data_handle_t handle = ranks_int(&value);

    if (ranks_me == 0) {
        starpu_task_insert(&ranks_increment, STARPU_RW, handle, 0);
        for (int i = 1; i < ranks_n; i++)
            starpu_mpi_isend_detached(handle, i, 40, MPI_COMM_WORLD, NULL, NULL);
        EXPECT_EQ(starpu_mpi_barrier(MPI_COMM_WORLD), 0);
    } else {
        starpu_mpi_recv(handle, 0, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(starpu_mpi_barrier(MPI_COMM_WORLD), 0);
        EXPECT_EQ(ranks_value(handle), 1);
    }
    starpu_data_unregister(handle);
}

/* Parts of matrices and blocks with rests; large ones, too. */
static void leading_dimensions(void)
{
    enum { LD = 300, NX = 200, NY = 250 };
    int *mine = malloc(sizeof(int) * LD * NY), *theirs = malloc(sizeof(int) * NX * NY);
    starpu_data_handle_t to, from;

    for (int i = 0; i < LD * NY; i++)
        mine[i] = i + ranks_me;
    memset(theirs, 0, sizeof(int) * NX * NY);
    starpu_matrix_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)mine, LD, NX, NY,
                                sizeof(int));
    starpu_matrix_data_register(&from, STARPU_MAIN_RAM, (uintptr_t)theirs, NX, NX, NY,
                                sizeof(int));
    starpu_mpi_isend_detached(to, next(), 50, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_recv(from, before(), 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    starpu_data_unregister(from);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            if (theirs[y * NX + x] != y * LD + x + before()) {
                EXPECT_EQ(theirs[y * NX + x], y * LD + x + before());
                y = NY;
                break;
            }
    starpu_data_unregister(to);
    free(mine);
    free(theirs);
}

/* A message has fewer bytes than the data. */
static void shorter(void)
{
    int mine[2] = {ranks_me, 5}, theirs[4] = {-1, -1, -1, -1}, bytes = 0;
    starpu_data_handle_t to, from;
    MPI_Status status;

    starpu_vector_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)mine, 2, sizeof(int));
    starpu_vector_data_register(&from, STARPU_MAIN_RAM, (uintptr_t)theirs, 4, sizeof(int));
    starpu_mpi_isend_detached(to, next(), 60, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_recv(from, before(), 60, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    EXPECT_EQ(bytes, 2 * sizeof(int));
    starpu_data_unregister(from);
    EXPECT_EQ(theirs[0], before());
    EXPECT_EQ(theirs[1], 5);
    starpu_data_unregister(to);
}

/* Nobody has asked for them when they come. */
static void early(void)
{
    enum { N = 1 << 18 };
    int *mine = malloc(sizeof(int) * N), *theirs = calloc(N, sizeof(int)), small = ranks_me,
        other = -1;
    starpu_data_handle_t to, from, little = ranks_int(&small), from_little;

    for (int i = 0; i < N; i++)
        mine[i] = i ^ ranks_me;
    starpu_vector_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)mine, N, sizeof(int));
    starpu_mpi_isend_detached(to, next(), 70, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_isend_detached(little, next(), 71, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_barrier(MPI_COMM_WORLD);
    starpu_vector_data_register(&from, STARPU_MAIN_RAM, (uintptr_t)theirs, N, sizeof(int));
    from_little = ranks_int(&other);
    starpu_mpi_recv(from_little, before(), 71, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    starpu_mpi_recv(from, before(), 70, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(ranks_value(from_little), before());
    starpu_data_unregister(from);
    EXPECT_EQ(theirs[1], 1 ^ before());
    EXPECT_EQ(theirs[N - 1], (N - 1) ^ before());
    starpu_data_unregister(to);
    starpu_data_unregister(little);
    starpu_data_unregister(from_little);
    free(mine);
    free(theirs);
}

/* Ranks of a part of all, who count anew. */
static void communicators(void)
{
    MPI_Comm half = ranks_half;
    int me, n, value, other = -1;
    starpu_data_handle_t to, from;

    EXPECT_EQ(starpu_mpi_comm_register(half), 0);
    starpu_mpi_comm_rank(half, &me);
    starpu_mpi_comm_size(half, &n);
    EXPECT_EQ(n, (ranks_n + 1 - ranks_me % 2) / 2);
    value = ranks_me;
    to = ranks_int(&value);
    from = ranks_int(&other);
    starpu_mpi_isend_detached(to, (me + 1) % n, 80, half, NULL, NULL);
    starpu_mpi_recv(from, (me + n - 1) % n, 80, half, MPI_STATUS_IGNORE);
    EXPECT_EQ(ranks_value(from) % 2, ranks_me % 2);
    if (n > 1)
        EXPECT_EQ(ranks_value(from), me > 0 ? ranks_me + 2 : ranks_me % 2);
    starpu_data_unregister(to);
    starpu_data_unregister(from);
}

RANKS_MAIN({"a token goes around", ring}, {"isend, irecv, wait, test", requests},
           {"detached messages call back", detached},
           {"callbacks may not wait", callbacks},
           {"messages notify tags of tasks", tags_of_tasks},
           {"equal tags keep the order of calls", order},
           {"a barrier lets messages go on", barriers},
           {"data with leading dimensions", leading_dimensions},
           {"shorter messages", shorter}, {"messages that come early", early},
           {"a communicator of some", communicators})

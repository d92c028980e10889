/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/matching.c - which message a receive gets, whoever calls first. */
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

/* One tag for two values of a datum, between which it is written. */
static void broadcast(void)
{
    int value = ranks_me == 0 ? 41 : 0;
    starpu_data_handle_t handle = ranks_int(&value);

    for (int round = 0; round < 2; round++) {
        if (ranks_me == 0)
            starpu_task_insert(&ranks_increment, STARPU_RW, handle, 0);
        for (int r = 1; r < ranks_n && ranks_me == 0; r++)
            starpu_mpi_isend_detached(handle, r, 1, MPI_COMM_WORLD, NULL, NULL);
        if (ranks_me > 0) {
            starpu_mpi_irecv_detached(handle, 0, 1, MPI_COMM_WORLD, NULL, NULL);
            EXPECT_EQ(ranks_value(handle), 42 + round);
        }
    }
    starpu_data_unregister(handle);
}

/* Rank 0 receives from all with one tag, then several tags in another order than they were
 * sent. */
static void gather(void)
{
    enum { N = 6 };
    int value[N], theirs;
    starpu_data_handle_t handle[N];

    for (int i = 0; i < N; i++) {
        value[i] = 100 * ranks_me + i;
        handle[i] = ranks_int(&value[i]);
        if (ranks_me > 0)
            starpu_mpi_isend_detached(handle[i], 0, i, MPI_COMM_WORLD, NULL, NULL);
    }
    for (int r = ranks_n - 1; r > 0 && ranks_me == 0; r--)
        for (int i = N - 1; i >= 0; i--) {
            starpu_data_handle_t from = ranks_int(&theirs);

            starpu_mpi_recv(from, r, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            starpu_data_unregister(from);
            EXPECT_EQ(theirs, 100 * r + i);
        }
    for (int i = 0; i < N; i++)
        starpu_data_unregister(handle[i]);
}

/* Elements go around, and each rank has asked for all rounds before anything is sent. */
static void receives_first(void)
{
    enum { N = 8, ROUNDS = 5 };
    int value[N], got[N][ROUNDS];
    starpu_data_handle_t mine[N], theirs[N][ROUNDS];

    for (int i = 0; i < N; i++) {
        value[i] = ranks_me;
        mine[i] = ranks_int(&value[i]);
        for (int round = 0; round < ROUNDS; round++) {
            theirs[i][round] = ranks_int(&got[i][round]);
            starpu_mpi_irecv_detached(theirs[i][round], before(), i, MPI_COMM_WORLD, NULL,
                                      NULL);
        }
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = N - 1; i >= 0; i--) {
            starpu_mpi_isend_detached(mine[i], next(), i, MPI_COMM_WORLD, NULL, NULL);
            starpu_task_insert(&ranks_add, STARPU_RW, mine[i], STARPU_R, theirs[i][round],
                               0);
        }
    for (int i = 0; i < N; i++) {
        /* What rank r has in round t: the sum over k of binomial(t, k) (r - k). */
        int have[ROUNDS + 1][64] = {{0}};

        for (int r = 0; r < ranks_n; r++)
            have[0][r] = r;
        for (int t = 0; t < ROUNDS; t++)
            for (int r = 0; r < ranks_n; r++)
                have[t + 1][r] = have[t][r] + have[t][(r + ranks_n - 1) % ranks_n];
        EXPECT_EQ(ranks_value(mine[i]), have[ROUNDS][ranks_me]);
        starpu_data_unregister(mine[i]);
        for (int round = 0; round < ROUNDS; round++)
            starpu_data_unregister(theirs[i][round]);
    }
}

/* --- messages that come before somebody asks --- */

/* Of data that the receiver knows by their tag, of a tag that it knows not, without bytes;
 * with sends that end when they are asked for, too. */
static void early(int synchronous)
{
    enum { KNOWN, UNKNOWN, EMPTY, KINDS };
    int value[2] = {ranks_me, 10 + ranks_me}, got[2] = {-1, -1};
    starpu_data_handle_t to[KINDS], from[KINDS];
    starpu_mpi_req requests[KINDS];

    for (int i = KNOWN; i <= UNKNOWN; i++) {
        to[i] = ranks_int(&value[i]);
        from[i] = ranks_int(&got[i]);
    }
    starpu_mpi_data_register(from[KNOWN], 10 + KNOWN, ranks_me);
    starpu_void_data_register(&to[EMPTY]);
    starpu_void_data_register(&from[EMPTY]);
    for (int i = 0; i < KINDS; i++) {
        if (synchronous)
            starpu_mpi_issend(to[i], &requests[i], next(), 10 + i, MPI_COMM_WORLD);
        else
            starpu_mpi_isend(to[i], &requests[i], next(), 10 + i, MPI_COMM_WORLD);
    }
    starpu_mpi_barrier(MPI_COMM_WORLD);
    for (int i = KINDS - 1; i >= 0; i--)
        starpu_mpi_recv(from[i], before(), 10 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < KINDS; i++)
        starpu_mpi_wait(&requests[i], MPI_STATUS_IGNORE);
    EXPECT_EQ(ranks_value(from[KNOWN]), before());
    EXPECT_EQ(ranks_value(from[UNKNOWN]), 10 + before());
    for (int i = 0; i < KINDS; i++) {
        starpu_data_unregister(to[i]);
        starpu_data_unregister(from[i]);
    }
}

static void early_ones(void)
{
    early(0);
}

static void early_synchronous_ones(void)
{
    early(1);
}

/* A synchronous send has not ended before the receive; other messages pass it. */
static void synchronous(void)
{
    int value[2] = {ranks_me, 5}, got[2] = {-1, -1}, flag = -1;
    starpu_data_handle_t to[2] = {ranks_int(&value[0]), ranks_int(&value[1])},
                         from[2] = {ranks_int(&got[0]), ranks_int(&got[1])};
    starpu_mpi_req request;

    starpu_mpi_issend(to[0], &request, next(), 20, MPI_COMM_WORLD);
    starpu_mpi_isend_detached(to[1], next(), 21, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_recv(from[1], before(), 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    starpu_mpi_test(&request, &flag, MPI_STATUS_IGNORE);
    EXPECT_EQ(flag, 0);
    /* Nobody asks for it before all have looked. */
    starpu_mpi_barrier(MPI_COMM_WORLD);
    starpu_mpi_irecv_detached(from[0], before(), 20, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(ranks_value(from[0]), before());
    for (int i = 0; i < 2; i++) {
        starpu_data_unregister(to[i]);
        starpu_data_unregister(from[i]);
    }
}

/* --- tags --- */

/* Receives get what has their tag, whether or not somebody waits for them. */
static void tags(void)
{
    static const starpu_mpi_tag_t all[] = {0, 7, INT64_MAX, INT64_MAX - 1,
                                           INT64_C(1) << 32, 1};
    enum { N = sizeof(all) / sizeof(all[0]) };
    int value[N], got[N];
    starpu_data_handle_t to[N], from[N];

    for (int detached = 0; detached < 2; detached++) {
        for (int i = 0; i < N; i++) {
            value[i] = 10 * ranks_me + i;
            got[i] = -1;
            to[i] = ranks_int(&value[i]);
            from[i] = ranks_int(&got[i]);
            starpu_mpi_isend_detached(to[i], next(), all[i], MPI_COMM_WORLD, NULL, NULL);
        }
        for (int i = N - 1; i >= 0; i--) {
            if (detached)
                starpu_mpi_irecv_detached(from[i], before(), all[i], MPI_COMM_WORLD, NULL,
                                          NULL);
            else
                starpu_mpi_recv(from[i], before(), all[i], MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < N; i++) {
            EXPECT_EQ(ranks_value(from[i]), 10 * before() + i);
            starpu_data_unregister(to[i]);
            starpu_data_unregister(from[i]);
        }
    }
}

/* --- tokens --- */

/* Each rank submits all its rounds at once: tasks and messages of one datum wait for each
 * other, the application for nothing. */
static void token_by_dependencies(void)
{
    enum { ROUNDS = 20 };
    int token = 0;
    starpu_data_handle_t handle = ranks_int(&token);

    for (int round = 0; round < ROUNDS; round++) {
        starpu_mpi_tag_t tag = (starpu_mpi_tag_t)round * ranks_n + ranks_me;

        if (ranks_me > 0 || round > 0)
            starpu_mpi_irecv_detached(handle, before(), tag, MPI_COMM_WORLD, NULL, NULL);
        starpu_task_insert(&ranks_increment, STARPU_RW, handle, 0);
        if (ranks_me == ranks_n - 1 && round == ROUNDS - 1)
            break;
        if (round % 2)
            starpu_mpi_isend_detached(handle, next(), tag + 1, MPI_COMM_WORLD, NULL, NULL);
        else
            starpu_mpi_issend_detached(handle, next(), tag + 1, MPI_COMM_WORLD, NULL, NULL);
    }
    if (ranks_me == ranks_n - 1)
        EXPECT_EQ(ranks_value(handle), ROUNDS * ranks_n);
    starpu_data_unregister(handle);
}

/* The callback of the receive is what submits the task and the send. */
static atomic_int hops;
static starpu_data_handle_t token_handle;

static void pass_on(void *arg)
{
    int hop = atomic_fetch_add(&hops, 1);

    (void)arg;
    starpu_task_insert(&ranks_increment, STARPU_RW, token_handle, 0);
    if (ranks_me < ranks_n - 1 || hop < 2)
        starpu_mpi_isend_detached(token_handle, next(), 30, MPI_COMM_WORLD, NULL, NULL);
    if (hop < 2)
        starpu_mpi_irecv_detached(token_handle, before(), 30, MPI_COMM_WORLD, pass_on, NULL);
}

static void token_by_callbacks(void)
{
    int token = 0;

    atomic_store(&hops, 0);
    token_handle = ranks_int(&token);
    if (ranks_me == 0)
        pass_on(NULL);
    else
        starpu_mpi_irecv_detached(token_handle, before(), 30, MPI_COMM_WORLD, pass_on, NULL);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(atomic_load(&hops), 3);
    if (ranks_me == ranks_n - 1)
        EXPECT_EQ(ranks_value(token_handle), 3 * ranks_n);
    starpu_data_unregister(token_handle);
}

/* --- a sum by hand --- */

static void sum_by_hand(void)
{
    int value = 1 + ranks_me, part = 0;
    starpu_data_handle_t sum = ranks_int(&value), term = ranks_int(&part);

    if (ranks_me > 0)
        starpu_mpi_send(sum, 0, 40, MPI_COMM_WORLD);
    for (int r = 1; r < ranks_n && ranks_me == 0; r++) {
        starpu_mpi_irecv_detached(term, r, 40, MPI_COMM_WORLD, NULL, NULL);
        starpu_task_insert(&ranks_add, STARPU_RW, sum, STARPU_R, term, 0);
    }
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(sum), ranks_n * (ranks_n + 1) / 2);
    starpu_data_unregister(sum);
    starpu_data_unregister(term);
}

RANKS_MAIN({"one tag, two values", broadcast}, {"rank 0 receives from all", gather},
           {"receives before sends", receives_first}, {"early messages", early_ones},
           {"early synchronous messages", early_synchronous_ones},
           {"a synchronous send ends late", synchronous}, {"64 bits of tags", tags},
           {"a token by dependencies", token_by_dependencies},
           {"a token by callbacks", token_by_callbacks}, {"a sum by hand", sum_by_hand})

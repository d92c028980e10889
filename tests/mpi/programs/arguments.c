/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/arguments.c - what the list of an insertion may have, and long series. */
#include <errno.h>
#include <stdatomic.h>

#include "ranks.h"

static atomic_int ncallbacks, nprologues;

static void tick(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void do_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

/* Tasks without codelet or data are tasks of one rank, too. */
static void empty_tasks(void)
{
    static struct starpu_codelet cl_nothing = {.cpu_funcs = {do_nothing}};

    atomic_store(&ncallbacks, 0);
    atomic_store(&nprologues, 0);
    for (int r = 0; r < ranks_n; r++)
        for (int i = 0; i <= r; i++)
            starpu_mpi_task_insert(MPI_COMM_WORLD, i % 2 ? &cl_nothing : NULL,
                                   STARPU_EXECUTE_ON_NODE, r, STARPU_CALLBACK_WITH_ARG_NFREE,
                                   tick, &ncallbacks, STARPU_PROLOGUE_CALLBACK, tick,
                                   STARPU_PROLOGUE_CALLBACK_ARG_NFREE, &nprologues, 0);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(atomic_load(&ncallbacks), 1 + ranks_me);
    EXPECT_EQ(atomic_load(&nprologues), 1 + ranks_me);
}

/* Data without codelet: the task runs nothing, where the data say, behind what was inserted
 * before. Values go there and come back as for any other. */
static void accesses(void)
{
    int values[2] = {1, 0}, last = ranks_n - 1;
    starpu_data_handle_t a = ranks_shared_int(&values[0], 2, 0);
    starpu_data_handle_t b = ranks_shared_int(&values[1], 3, last);

    atomic_store(&ncallbacks, 0);
    EXPECT_EQ(starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, b, STARPU_R, a, 0),
              0);
    EXPECT_EQ(starpu_mpi_task_insert(MPI_COMM_WORLD, NULL, STARPU_RW, b, STARPU_R, a,
                                     STARPU_CALLBACK_WITH_ARG_NFREE, tick, &ncallbacks, 0),
              0);
    EXPECT_EQ(starpu_mpi_task_insert(MPI_COMM_WORLD, NULL, STARPU_RW, b,
                                     STARPU_EXECUTE_ON_NODE, 0,
                                     STARPU_CALLBACK_WITH_ARG_NFREE, tick, &ncallbacks, 0),
              0);
    EXPECT_EQ(starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, b, STARPU_R, a, 0),
              0);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(atomic_load(&ncallbacks), (ranks_me == last) + (ranks_me == 0));
    if (ranks_me == last)
        EXPECT_EQ(ranks_value(b), 2);
    starpu_data_unregister(a);
    starpu_data_unregister(b);
}

static int only_worker_0(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
    (void)task;
    (void)nimpl;
    return worker == 0;
}

static atomic_int elsewhere;

static void note_worker(void *buffers[], void *arg)
{
    (void)arg;
    ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    if (starpu_worker_get_id() != 0)
        atomic_fetch_add(&elsewhere, 1);
}

static struct starpu_codelet cl_choosy = {.cpu_funcs = {note_worker},
                                          .can_execute = only_worker_0,
                                          .nbuffers = 1,
                                          .modes = {STARPU_RW}};

static void can_execute(void)
{
    int value = 0;
    starpu_data_handle_t datum = ranks_shared_int(&value, 2, 0);

    atomic_store(&elsewhere, 0);
    for (int i = 0; i < 2 * ranks_n; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_choosy, STARPU_RW, datum,
                               STARPU_EXECUTE_ON_NODE, i % ranks_n, 0);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(datum), 2 * ranks_n);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    EXPECT_EQ(atomic_load(&elsewhere), 0);
    starpu_data_unregister(datum);
}

/* --- arrays of data --- */

enum WAY { ONE_BY_ONE, ARRAY, ARRAY_WITH_MODES, WAYS };

static int insert_add(enum WAY way, starpu_data_handle_t *data, int node)
{
    struct starpu_data_descr descrs[2] = {{data[0], STARPU_RW}, {data[1], STARPU_R}};

    if (way == ONE_BY_ONE)
        return starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, data[0],
                                      STARPU_R, data[1], STARPU_EXECUTE_ON_NODE, node, 0);
    if (way == ARRAY)
        return starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_DATA_ARRAY, data,
                                      2, STARPU_EXECUTE_ON_NODE, node, 0);
    return starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_DATA_MODE_ARRAY,
                                  descrs, 2, STARPU_EXECUTE_ON_NODE, node, 0);
}

static void build_add(enum WAY way, starpu_data_handle_t *data, int node)
{
    struct starpu_data_descr descrs[2] = {{data[0], STARPU_RW}, {data[1], STARPU_R}};
    struct starpu_task *task;

    if (way == ARRAY) {
        task = starpu_mpi_task_build(MPI_COMM_WORLD, &ranks_add, STARPU_DATA_ARRAY, data, 2,
                                     STARPU_EXECUTE_ON_NODE, node, 0);
        EXPECT_EQ(task != NULL, ranks_me == node);
        if (task)
            EXPECT_EQ(starpu_task_submit(task), 0);
        starpu_mpi_task_post_build(MPI_COMM_WORLD, &ranks_add, STARPU_DATA_ARRAY, data, 2,
                                   STARPU_EXECUTE_ON_NODE, node, 0);
        return;
    }
    task = starpu_mpi_task_build(MPI_COMM_WORLD, &ranks_add, STARPU_DATA_MODE_ARRAY, descrs,
                                 2, STARPU_EXECUTE_ON_NODE, node, 0);
    EXPECT_EQ(task != NULL, ranks_me == node);
    if (task)
        EXPECT_EQ(starpu_task_submit(task), 0);
    starpu_mpi_task_post_build(MPI_COMM_WORLD, &ranks_add, STARPU_DATA_MODE_ARRAY, descrs, 2,
                               STARPU_EXECUTE_ON_NODE, node, 0);
}

/* The values after it, whichever way, in halves or not, on the owner's rank or another. */
static void arrays(void)
{
    for (int way = 0; way < WAYS; way++)
        for (int in_halves = 0; in_halves < 2; in_halves++)
            for (int node = 0; node < 2; node++) {
                int value[2] = {10, 7};
                starpu_data_handle_t data[2] = {ranks_shared_int(&value[0], 3, 0),
                                                ranks_shared_int(&value[1], 4, 1)};

                if (in_halves)
                    build_add((enum WAY)way, data, node);
                else
                    EXPECT_EQ(insert_add((enum WAY)way, data, node), 0);
                if (ranks_me == 0)
                    EXPECT_EQ(ranks_value(data[0]), 17);
                if (ranks_me == 1)
                    EXPECT_EQ(ranks_value(data[1]), 7);
                starpu_data_unregister(data[0]);
                starpu_data_unregister(data[1]);
            }
}

/* --- more data than a task has room for --- */

enum { MANY = STARPU_NMAXBUFS + 4 };

static void sum_of_many(void *buffers[], void *arg)
{
    int n = (int)STARPU_TASK_GET_NBUFFERS(starpu_task_get_current());

    (void)arg;
    for (int i = 1; i < n; i++)
        *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
            *(const int *)STARPU_VARIABLE_GET_PTR(buffers[i]);
}

static void many_data(void)
{
    static enum starpu_data_access_mode modes[MANY];
    static struct starpu_codelet fixed = {
        .cpu_funcs = {sum_of_many}, .nbuffers = MANY, .dyn_modes = modes};
    static struct starpu_codelet any = {.cpu_funcs = {sum_of_many},
                                        .nbuffers = STARPU_VARIABLE_NBUFFERS};
    int value[MANY], should;
    starpu_data_handle_t data[MANY];
    struct starpu_data_descr descrs[MANY];

    for (int i = 0; i < MANY; i++) {
        value[i] = i * i;
        modes[i] = i == 0 ? STARPU_RW : STARPU_R;
        data[i] = ranks_shared_int(&value[i], 10 + i, i % ranks_n);
        descrs[i] = (struct starpu_data_descr){data[i], modes[i]};
    }
    should = (MANY - 1) * MANY * (2 * MANY - 1) / 6;
    EXPECT_EQ(starpu_mpi_task_insert(MPI_COMM_WORLD, &fixed, STARPU_DATA_ARRAY, data, MANY,
                                     0),
              0);
    EXPECT_EQ(starpu_mpi_task_insert(MPI_COMM_WORLD, &any, STARPU_DATA_MODE_ARRAY, descrs,
                                     MANY, STARPU_EXECUTE_ON_NODE, ranks_n - 1, 0),
              0);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(data[0]), 2 * should);
    for (int i = 0; i < MANY; i++)
        starpu_data_unregister(data[i]);
}

/* --- series --- */

/* Two ranks write a token by turns, with every second send a synchronous one. */
static void alternate(void)
{
    enum { ROUNDS = 40 };
    int value[2] = {0, 0};
    starpu_data_handle_t a = ranks_shared_int(&value[0], 5, 0),
                         b = ranks_shared_int(&value[1], 6, 1);

    for (int i = 0; i < ROUNDS; i++) {
        starpu_data_handle_t target = i % 2 ? a : b, source = i % 2 ? b : a;
        int mode = i % 4 < 2 ? STARPU_R : (int)(STARPU_R | STARPU_SSEND);

        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_copy, STARPU_W, target, mode, source,
                               0);
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, target, 0);
    }
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(a), ROUNDS);
    starpu_data_unregister(a);
    starpu_data_unregister(b);
}

static int append(int sequence, int rank)
{
    return (sequence * 31 + rank + 1) % 1000003;
}

static void append_rank(void *buffers[], void *arg)
{
    int *sequence = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);

    (void)arg;
    *sequence = append(*sequence, ranks_me);
}

static struct starpu_codelet cl_append = {
    .cpu_funcs = {append_rank}, .nbuffers = 1, .modes = {STARPU_RW}};

/* The order of insertions on one datum is that of the tasks, wherever they are. */
static void sequence(void)
{
    enum { N = 60 };

    for (int cached = 0; cached < 2; cached++) {
        int value = 1, should = 1;
        starpu_data_handle_t datum = ranks_shared_int(&value, 7, 0);

        starpu_mpi_cache_set(cached);
        for (int i = 0; i < N; i++) {
            int rank = i * i / 3 % ranks_n;

            starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_append, STARPU_RW, datum,
                                   STARPU_EXECUTE_ON_NODE, rank, 0);
            should = append(should, rank);
        }
        if (ranks_me == 0)
            EXPECT_EQ(ranks_value(datum), should);
        starpu_data_unregister(datum);
    }
}

static void large_tags(void)
{
    enum { N = 8 };
    int value[N];
    starpu_data_handle_t data[N];

    for (int i = 0; i < N; i++) {
        value[i] = i;
        data[i] = ranks_shared_int(&value[i], INT64_MAX - i, i % ranks_n);
    }
    for (int i = 1; i < N; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, data[i], STARPU_R,
                               data[i - 1], 0);
    if (ranks_me == (N - 1) % ranks_n)
        EXPECT_EQ(ranks_value(data[N - 1]), N * (N - 1) / 2);
    for (int i = 0; i < N; i++)
        starpu_data_unregister(data[i]);
}

/* All read what one has written, then each writes it in turn, as owner or not. */
static void star(void)
{
    int value = 3, mine = 0, sum = 3;
    starpu_data_handle_t centre = ranks_shared_int(&value, 8, 0),
                         *points = calloc((size_t)ranks_n, sizeof(*points));

    for (int r = 0; r < ranks_n; r++)
        points[r] = ranks_shared_int(&mine, 50 + r, r);
    for (int round = 0; round < 3; round++) {
        for (int r = 0; r < ranks_n; r++)
            starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_copy, STARPU_W, points[r],
                                   STARPU_R, centre, 0);
        EXPECT_EQ(ranks_value(points[ranks_me]), sum);
        for (int r = 0; r < ranks_n; r++) {
            starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, centre, STARPU_R,
                                   points[r], STARPU_EXECUTE_ON_DATA, points[r], 0);
            if (round > 0)
                starpu_mpi_data_migrate(MPI_COMM_WORLD, centre, r);
        }
        sum += ranks_n * sum;
    }
    starpu_mpi_data_migrate(MPI_COMM_WORLD, centre, 0);
    starpu_data_unregister(centre);
    if (ranks_me == 0)
        EXPECT_EQ(value, sum);
    for (int r = 0; r < ranks_n; r++)
        starpu_data_unregister(points[r]);
    free(points);
}

/* Neighbours have a datum between them that others do not know; each adds its own part. */
static void between_neighbours(void)
{
    int mine = 10 * (ranks_me + 1), *values = calloc((size_t)ranks_n, sizeof(*values));
    starpu_data_handle_t each = ranks_shared_int(&mine, -1, STARPU_MPI_PER_NODE);
    starpu_data_handle_t *between = calloc((size_t)ranks_n, sizeof(*between));

    for (int r = 0; r + 1 < ranks_n; r++) {
        int takes_part = ranks_me == r || ranks_me == r + 1;

        if (takes_part)
            between[r] = ranks_shared_int(&values[r], 70 + r, r);
        for (int side = 0; side < 2; side++)
            EXPECT_EQ(starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW,
                                             between[r], STARPU_R, each,
                                             STARPU_EXECUTE_ON_NODE, r + side, 0),
                      takes_part ? 0 : -EINVAL);
    }
    if (ranks_me + 1 < ranks_n)
        EXPECT_EQ(ranks_value(between[ranks_me]), 10 * (2 * ranks_me + 3));
    for (int r = 0; r < ranks_n; r++)
        if (between[r])
            starpu_data_unregister(between[r]);
    starpu_data_unregister(each);
    free(between);
    free(values);
}

RANKS_MAIN({"tasks without codelet or data", empty_tasks},
           {"data without codelet", accesses}, {"can_execute", can_execute},
           {"arrays of data", arrays}, {"more data than STARPU_NMAXBUFS", many_data},
           {"two ranks by turns", alternate}, {"order of a series", sequence},
           {"the largest tags", large_tags}, {"star", star},
           {"data that two ranks know", between_neighbours})

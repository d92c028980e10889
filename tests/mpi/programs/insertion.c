/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/insertion.c - tasks that all ranks insert. */
#include <errno.h>
#include <stdbool.h>

#include "ranks.h"

/* Who owns a tile executes what writes it; each step reads both neighbours. */
static void grid(void)
{
    enum { N = 6, STEPS = 4 };
    int value[N][N], should[N][N];
    starpu_data_handle_t tile[N][N];

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            value[i][j] = should[i][j] = i + 10 * j;
            tile[i][j] = ranks_shared_int(&value[i][j], i * N + j, (i + 2 * j) % ranks_n);
        }
    for (int step = 0; step < STEPS; step++)
        for (int i = 1; i < N; i++)
            for (int j = 1; j < N; j++) {
                starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, tile[i][j],
                                       STARPU_R, tile[i - 1][j], 0);
                starpu_mpi_insert_task(MPI_COMM_WORLD, &ranks_add, STARPU_RW, tile[i][j],
                                       STARPU_R | STARPU_SSEND, tile[i][j - 1], 0);
                should[i][j] += should[i - 1][j] + should[i][j - 1];
            }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            if (starpu_mpi_data_get_rank(tile[i][j]) == ranks_me)
                EXPECT_EQ(ranks_value(tile[i][j]), should[i][j]);
            starpu_data_unregister(tile[i][j]);
        }
}

/* The executor is told; what it writes goes back to the owner. */
static void executors(void)
{
    int value = 100, sum = 0;
    starpu_data_handle_t datum = ranks_shared_int(&value, 1, 0),
                         other = ranks_shared_int(&sum, 2, ranks_n - 1);

    for (int i = 0; i < ranks_n; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add_rank, STARPU_RW, datum,
                               STARPU_EXECUTE_ON_NODE, i, 0);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add_rank, STARPU_RW, datum,
                           STARPU_EXECUTE_ON_DATA, other, 0);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(datum), 100 + ranks_n * (ranks_n - 1) / 2 + ranks_n - 1);
    starpu_data_unregister(datum);
    starpu_data_unregister(other);
}

static void halves(void)
{
    int value = 5;
    starpu_data_handle_t datum = ranks_shared_int(&value, 3, 0);
    struct starpu_task *task =
        starpu_mpi_task_build(MPI_COMM_WORLD, &ranks_add_rank, STARPU_RW, datum,
                              STARPU_EXECUTE_ON_NODE, 1, 0);

    EXPECT_EQ(task != NULL, ranks_me == 1);
    if (task)
        EXPECT_EQ(starpu_task_submit(task), 0);
    starpu_mpi_task_post_build(MPI_COMM_WORLD, &ranks_add_rank, STARPU_RW, datum,
                               STARPU_EXECUTE_ON_NODE, 1, 0);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(datum), 6);
    starpu_data_unregister(datum);
}

/* The same of a function with arguments of its own. */
static struct starpu_task *build(struct starpu_codelet *cl, ...)
{
    struct starpu_task *task;
    va_list ap;

    va_start(ap, cl);
    task = starpu_mpi_task_build_v(MPI_COMM_WORLD, cl, ap);
    va_end(ap);
    return task;
}

static int post_build(struct starpu_codelet *cl, ...)
{
    va_list ap;
    int rc;

    va_start(ap, cl);
    rc = starpu_mpi_task_post_build_v(MPI_COMM_WORLD, cl, ap);
    va_end(ap);
    return rc;
}

static void halves_by_lists(void)
{
    int value[2] = {5, 6};
    starpu_data_handle_t a = ranks_shared_int(&value[0], 13, 0),
                         b = ranks_shared_int(&value[1], 14, 1);
    struct starpu_task *task = build(&ranks_add, STARPU_RW, a, STARPU_R, b, 0);

    EXPECT_EQ(task != NULL, ranks_me == 0);
    if (task)
        EXPECT_EQ(starpu_task_submit(task), 0);
    EXPECT_EQ(post_build(&ranks_add, STARPU_RW, a, STARPU_R, b, 0), 0);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(a), 11);
    starpu_data_unregister(a);
    starpu_data_unregister(b);
}

static void exchange(void)
{
    int value[2] = {3, 4};
    starpu_data_handle_t a = ranks_shared_int(&value[0], 4, ranks_n - 1),
                         b = ranks_shared_int(&value[1], 5, 0);
    struct starpu_data_descr descrs[2];
    struct starpu_mpi_task_exchange_params params;
    struct starpu_task *task = starpu_task_create();

    task->cl = &ranks_add;
    task->handles[0] = a;
    task->handles[1] = b;
    EXPECT_EQ(starpu_mpi_task_exchange_data_before_execution(MPI_COMM_WORLD, task, descrs,
                                                             &params),
              0);
    EXPECT_EQ(params.do_execute, ranks_me == ranks_n - 1);
    EXPECT_EQ(params.xrank, ranks_n - 1);
    if (params.do_execute) {
        EXPECT_EQ(starpu_task_submit(task), 0);
    } else {
        task->destroy = 0;
        starpu_task_destroy(task);
    }
    EXPECT_EQ(starpu_mpi_task_exchange_data_after_execution(MPI_COMM_WORLD, descrs, 2,
                                                            params),
              0);
    if (ranks_me == ranks_n - 1)
        EXPECT_EQ(ranks_value(a), 7);
    starpu_data_unregister(a);
    starpu_data_unregister(b);
}

/* --- policies --- */

static int last_one(int me, int nb_nodes, struct starpu_data_descr *descr, int nb_data)
{
    (void)me;
    (void)descr;
    EXPECT_EQ(nb_data, 2);
    return nb_nodes - 1;
}

static void policies(void)
{
    int value[2] = {0, 0};
    starpu_data_handle_t a = ranks_shared_int(&value[0], 6, 0),
                         b = ranks_shared_int(&value[1], 7, 1);
    static struct starpu_codelet both = {.nbuffers = 2, .modes = {STARPU_RW, STARPU_RW}};
    int policy = starpu_mpi_node_selection_register_policy(last_one);

    both.cpu_funcs[0] = ranks_add_rank.cpu_funcs[0];
    EXPECT(policy > 0);
    EXPECT_EQ(starpu_mpi_node_selection_get_current_policy(),
              STARPU_MPI_NODE_SELECTION_MOST_R_DATA);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &both, STARPU_RW, a, STARPU_RW, b,
                           STARPU_NODE_SELECTION_POLICY, policy, 0);
    EXPECT_EQ(starpu_mpi_node_selection_set_current_policy(policy), 0);
    EXPECT_EQ(starpu_mpi_node_selection_get_current_policy(), policy);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &both, STARPU_RW, a, STARPU_RW, b, 0);
    EXPECT_EQ(starpu_mpi_node_selection_set_current_policy(0), 0);
    /* Both have equally many bytes: rank 0. */
    starpu_mpi_task_insert(MPI_COMM_WORLD, &both, STARPU_RW, a, STARPU_RW, b, 0);
    EXPECT_EQ(starpu_mpi_node_selection_unregister_policy(policy), 0);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(a), 2 * (ranks_n - 1));
    starpu_data_unregister(a);
    starpu_data_unregister(b);
}

/* --- the application's function --- */

static int nsubmitted;

static void submitted(struct starpu_task *task)
{
    nsubmitted += task->cl == &ranks_increment;
}

static void hook(void)
{
    int value = 0;
    starpu_data_handle_t datum = ranks_shared_int(&value, 8, 1);

    nsubmitted = 0;
    EXPECT_EQ(starpu_mpi_pre_submit_hook_register(submitted), 0);
    for (int i = 0; i < 3; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, datum, 0);
    EXPECT_EQ(starpu_mpi_pre_submit_hook_unregister(), 0);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, datum, 0);
    EXPECT_EQ(nsubmitted, ranks_me == 1 ? 3 : 0);
    if (ranks_me == 1)
        EXPECT_EQ(ranks_value(datum), 4);
    starpu_data_unregister(datum);
}

/* --- data of each rank --- */

static void per_node(void)
{
    int mine = 10 * ranks_me, value = 1;
    starpu_data_handle_t each = ranks_shared_int(&mine, 9, STARPU_MPI_PER_NODE),
                         one = ranks_shared_int(&value, 10, 0);

    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, each, 0);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, one, STARPU_R, each,
                           STARPU_EXECUTE_ON_NODE, ranks_n - 1, 0);
    EXPECT_EQ(ranks_value(each), 10 * ranks_me + 1);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(one), 1 + 10 * (ranks_n - 1) + 1);
    /* What was one rank's becomes each one's. */
    starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, one);
    starpu_mpi_data_set_rank(one, STARPU_MPI_PER_NODE);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add_rank, STARPU_RW, one, 0);
    EXPECT_EQ(ranks_value(one), 1 + 10 * (ranks_n - 1) + 1 + ranks_me);
    starpu_data_unregister(each);
    starpu_data_unregister(one);
}

/* Ranks without a part in a task have no handle. */
static void absent(void)
{
    int value[2] = {1, 2};
    bool takes_part = ranks_me < 2;
    starpu_data_handle_t a = NULL, b = NULL;

    if (takes_part) {
        a = ranks_shared_int(&value[0], 11, 0);
        b = ranks_shared_int(&value[1], 12, 1);
    }
    EXPECT_EQ(starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, a, STARPU_R, b,
                                     0),
              takes_part ? 0 : -EINVAL);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(a), 3);
    if (!takes_part)
        return;
    starpu_data_unregister(a);
    starpu_data_unregister(b);
}

RANKS_MAIN({"the owner of what is written executes", grid},
           {"STARPU_EXECUTE_ON_NODE and _DATA", executors},
           {"task_build and task_post_build", halves},
           {"… with a va_list", halves_by_lists},
           {"exchange_data_before and after a task", exchange}, {"policies", policies},
           {"the function before submissions", hook}, {"data of each rank", per_node},
           {"NULL on ranks without a part", absent})

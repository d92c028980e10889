/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/reductions.c - tasks of several ranks contribute to one datum. */
#include "ranks.h"

static void set_zero(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static struct starpu_codelet init = {.name = "zero",
                                     .cpu_funcs = {set_zero},
                                     .nbuffers = 1,
                                     .modes = {STARPU_W}};
static struct starpu_codelet sum = {
    .name = "sum", .nbuffers = 2, .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R}};
static struct starpu_codelet contribute = {.name = "contribute",
                                           .nbuffers = 2,
                                           .modes = {STARPU_REDUX, STARPU_R}};
static struct starpu_codelet contribute_one = {
    .name = "contribute", .nbuffers = 1, .modes = {STARPU_REDUX}};
static struct starpu_codelet contribute_once = {
    .name = "contribute",
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R}};

enum { PER_RANK = 3 };

/* Each rank contributes 1 + its number, PER_RANK times. */
static int all_contributions(void)
{
    return PER_RANK * ranks_n * (ranks_n + 1) / 2;
}

static void insert_contributions(starpu_data_handle_t target, starpu_data_handle_t *terms,
                                 int mode)
{
    for (int i = 0; i < PER_RANK * ranks_n; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD,
                               mode == STARPU_REDUX ? &contribute : &contribute_once, mode,
                               target, STARPU_R, terms[i % ranks_n],
                               STARPU_EXECUTE_ON_NODE, i % ranks_n, 0);
}

/* How a round ends. */
enum ending { FLAT, FLAT_URGENT, TREE, TREE_URGENT, BY_READER, BY_WAIT, ENDINGS };

static void end(enum ending ending, starpu_data_handle_t target, starpu_data_handle_t copy)
{
    switch (ending) {
    case FLAT:
        EXPECT_EQ(starpu_mpi_redux_data(MPI_COMM_WORLD, target), 0);
        break;
    case FLAT_URGENT:
        EXPECT_EQ(starpu_mpi_redux_data_prio(MPI_COMM_WORLD, target, 2), 0);
        break;
    case TREE:
        EXPECT_EQ(starpu_mpi_redux_data_tree(MPI_COMM_WORLD, target, 2), 0);
        break;
    case TREE_URGENT:
        EXPECT_EQ(starpu_mpi_redux_data_prio_tree(MPI_COMM_WORLD, target, 2, 3), 0);
        break;
    case BY_READER:
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_copy, STARPU_W, copy, STARPU_R,
                               target, 0);
        break;
    default:
        starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    }
}

static void rounds(int mode)
{
    int value = 1000, copy_value = 0, one = 1 + ranks_me;
    starpu_data_handle_t target = ranks_shared_int(&value, 1, ranks_n - 1),
                         copy = ranks_shared_int(&copy_value, 2, 0),
                         *terms = calloc((size_t)ranks_n, sizeof(*terms));

    for (int i = 0; i < ranks_n; i++)
        terms[i] = ranks_shared_int(&one, 10 + i, i);
    sum.cpu_funcs[0] = contribute.cpu_funcs[0] = contribute_once.cpu_funcs[0] =
        ranks_add.cpu_funcs[0];
    starpu_data_set_reduction_methods(target, &sum, &init);
    for (int ending = 0; ending < ENDINGS; ending++) {
        insert_contributions(target, terms, mode);
        end((enum ending)ending, target, copy);
        EXPECT(ending == BY_WAIT || !starpu_mpi_data_get_redux_map(target));
        if (ending == BY_READER && ranks_me == 0)
            EXPECT_EQ(ranks_value(copy), 1000 + (ending + 1) * all_contributions());
        if (ranks_me == ranks_n - 1)
            EXPECT_EQ(ranks_value(target), 1000 + (ending + 1) * all_contributions());
    }
    starpu_data_unregister(target);
    starpu_data_unregister(copy);
    for (int i = 0; i < ranks_n; i++)
        starpu_data_unregister(terms[i]);
    free(terms);
}

static void by_workers(void)
{
    rounds(STARPU_REDUX);
}

static void by_ranks(void)
{
    rounds(STARPU_MPI_REDUX);
}

/* While it is under way, all know who has contributed. */
static void map(void)
{
    int value = 0;
    starpu_data_handle_t target = ranks_shared_int(&value, 3, 0);
    const char *contributors;

    sum.cpu_funcs[0] = ranks_add.cpu_funcs[0];
    starpu_data_set_reduction_methods(target, &sum, &init);
    EXPECT(!starpu_mpi_data_get_redux_map(target));
    contribute_one.cpu_funcs[0] = ranks_increment.cpu_funcs[0];
    starpu_mpi_task_insert(MPI_COMM_WORLD, &contribute_one, STARPU_REDUX, target,
                           STARPU_EXECUTE_ON_NODE, 1, 0);
    contributors = starpu_mpi_data_get_redux_map(target);
    EXPECT(contributors && contributors[1]);
    EXPECT(contributors && (ranks_n < 3 || !contributors[2]));
    starpu_mpi_redux_data(MPI_COMM_WORLD, target);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(target), 1);
    starpu_data_unregister(target);
}

/* A datum that goes from rank to rank has all contributions. */
static void moved(void)
{
    int value[2] = {1, 0};
    starpu_data_handle_t target = ranks_shared_int(&value[0], 4, 0),
                         copy = ranks_shared_int(&value[1], 5, 1);

    sum.cpu_funcs[0] = ranks_add.cpu_funcs[0];
    contribute_one.cpu_funcs[0] = ranks_increment.cpu_funcs[0];
    starpu_data_set_reduction_methods(target, &sum, &init);
    for (int way = 0; way < 3; way++) {
        for (int r = 0; r < ranks_n; r++)
            starpu_mpi_task_insert(MPI_COMM_WORLD, &contribute_one, STARPU_REDUX, target,
                                   STARPU_EXECUTE_ON_NODE, r, 0);
        if (way == 0)
            starpu_mpi_data_cpy(copy, target, MPI_COMM_WORLD, 0, NULL, NULL);
        else if (way == 1)
            starpu_mpi_get_data_on_node(MPI_COMM_WORLD, target, 1);
        else
            starpu_mpi_data_migrate(MPI_COMM_WORLD, target, 1);
        if (ranks_me == 1)
            EXPECT_EQ(ranks_value(way == 0 ? copy : target), 1 + (way + 1) * ranks_n);
    }
    starpu_mpi_data_migrate(MPI_COMM_WORLD, target, 0);
    starpu_data_unregister(target);
    starpu_data_unregister(copy);
}

RANKS_MAIN({"STARPU_REDUX, ended in six ways", by_workers},
           {"STARPU_MPI_REDUX, ended in six ways", by_ranks},
           {"who has contributed", map}, {"moved meanwhile", moved})

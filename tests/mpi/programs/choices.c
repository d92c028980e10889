/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/choices.c - which rank executes, by sizes, owners and policies, which
 * values are kept where, step by step, and communicators of some ranks.
 */
#include "ranks.h"

/* Adds 1 + its executor's number to the first datum. */
static void note_rank(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 1 + ranks_me;
}

static struct starpu_codelet cl_note_all = {
    .cpu_funcs = {note_rank}, .nbuffers = 3, .modes = {STARPU_RW, STARPU_RW, STARPU_R}};

/* 1 + the rank that has executed tasks since the last call, summed. */
static int noted(starpu_data_handle_t datum, int *last)
{
    int value = ranks_value(datum), before = *last;

    *last = value;
    return value - before;
}

/* Data that are written belong to two ranks: what is read decides, by its bytes, unless the
 * list says more. */
static void by_bytes(void)
{
    enum { FEW = 2, LOTS = 100 };
    int value[2] = {0, 0}, few[FEW] = {0}, lots[LOTS] = {0}, last = 0;
    starpu_data_handle_t a = ranks_shared_int(&value[0], 1, 0),
                         b = ranks_shared_int(&value[1], 2, 1), little, large;

    starpu_vector_data_register(&little, ranks_me == 1 ? STARPU_MAIN_RAM : -1,
                                ranks_me == 1 ? (uintptr_t)few : 0, FEW, sizeof(int));
    starpu_mpi_data_register(little, 3, 1);
    starpu_vector_data_register(&large, ranks_me == ranks_n - 1 ? STARPU_MAIN_RAM : -1,
                                ranks_me == ranks_n - 1 ? (uintptr_t)lots : 0, LOTS,
                                sizeof(int));
    starpu_mpi_data_register(large, 4, ranks_n - 1);
    for (int i = 0; i < 6; i++) {
        static const int of_two[6] = {1, -1, 1, 0, 1, -1};
        starpu_data_handle_t read = i % 2 == 0 ? little : large;
        int should = of_two[i] < 0 ? ranks_n - 1 : of_two[i];

        if (i < 2)
            starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_note_all, STARPU_RW, a, STARPU_RW, b,
                                   STARPU_R, read, 0);
        else if (i < 4)
            starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_note_all, STARPU_RW, a, STARPU_RW, b,
                                   STARPU_R, read, STARPU_EXECUTE_ON_NODE, should, 0);
        else
            starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_note_all, STARPU_RW, a, STARPU_RW, b,
                                   STARPU_R, read, STARPU_EXECUTE_ON_DATA, read, 0);
        if (ranks_me == 0)
            EXPECT_EQ(noted(a, &last), 1 + should);
    }
    starpu_data_unregister(a);
    starpu_data_unregister(b);
    starpu_data_unregister(little);
    starpu_data_unregister(large);
}

/* Without a written datum, too; and -1 is no rank. */
static void readers(void)
{
    static struct starpu_codelet cl_read = {
        .cpu_funcs = {note_rank}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}};
    int value[2] = {0, 0}, last = 0;
    starpu_data_handle_t note = ranks_shared_int(&value[0], 5, 0),
                         other = ranks_shared_int(&value[1], 6, ranks_n - 1);

    starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_read, STARPU_RW, note, STARPU_R, other,
                           STARPU_EXECUTE_ON_NODE, -1, 0);
    if (ranks_me == 0)
        EXPECT_EQ(noted(note, &last), 1);
    /* A later number of a rank counts, and a datum behind it does not. */
    starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_read, STARPU_RW, note, STARPU_R, other,
                           STARPU_EXECUTE_ON_NODE, 0, STARPU_EXECUTE_ON_NODE, 1,
                           STARPU_EXECUTE_ON_DATA, note, 0);
    if (ranks_me == 0)
        EXPECT_EQ(noted(note, &last), 2);
    starpu_data_unregister(note);
    starpu_data_unregister(other);
}

/* --- policies --- */

/* Policies know no argument: this says which one is under test. */
static int chosen;

static int choose_chosen(int me, int nb_nodes, struct starpu_data_descr *descr, int nb_data)
{
    (void)me;
    (void)descr;
    (void)nb_data;
    return chosen % nb_nodes;
}

static int choose_last(int me, int nb_nodes, struct starpu_data_descr *descr, int nb_data)
{
    (void)me;
    (void)descr;
    (void)nb_data;
    return nb_nodes - 1;
}

/* As many as there may be, by task and as the current one. */
static void many_policies(void)
{
    enum { MOST = 23 };
    static struct starpu_codelet cl_both = {.cpu_funcs = {note_rank}, .nbuffers = 2,
                                            .modes = {STARPU_RW, STARPU_RW}};
    int value[2] = {0, 0}, last = 0, policies[MOST];
    starpu_data_handle_t a = ranks_shared_int(&value[0], 7, 0),
                         b = ranks_shared_int(&value[1], 8, 1);

    for (int i = 0; i < MOST; i++) {
        policies[i] = starpu_mpi_node_selection_register_policy(i % 2 ? choose_last
                                                                      : choose_chosen);
        EXPECT_EQ(policies[i], i + 1);
    }
    for (int i = 0; i < MOST; i++) {
        chosen = i;
        if (i % 3 == 0) {
            EXPECT_EQ(starpu_mpi_node_selection_set_current_policy(policies[i]), 0);
            starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_both, STARPU_RW, a, STARPU_RW, b, 0);
        } else {
            starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_both, STARPU_RW, a, STARPU_RW, b,
                                   STARPU_NODE_SELECTION_POLICY, policies[i], 0);
        }
        if (ranks_me == 0)
            EXPECT_EQ(noted(a, &last), 1 + (i % 2 ? ranks_n - 1 : i % ranks_n));
    }
    /* One in the middle goes, and its number is free; the current one is policy 0 then. */
    EXPECT_EQ(starpu_mpi_node_selection_set_current_policy(policies[10]), 0);
    EXPECT_EQ(starpu_mpi_node_selection_unregister_policy(policies[10]), 0);
    EXPECT_EQ(starpu_mpi_node_selection_get_current_policy(), 0);
    EXPECT_EQ(starpu_mpi_node_selection_register_policy(choose_last), policies[10]);
    for (int i = 0; i < MOST; i++)
        EXPECT_EQ(starpu_mpi_node_selection_unregister_policy(policies[i]), 0);
    starpu_data_unregister(a);
    starpu_data_unregister(b);
}

/* --- the cache --- */

/* What both sides remember of rank 0's datum, of which rank 1 may have the value. */
static void expect_cached(starpu_data_handle_t datum, int is_cached)
{
    if (ranks_me == 0) {
        EXPECT_EQ(starpu_mpi_cached_send(datum, 1), is_cached);
        EXPECT_EQ(starpu_mpi_cached_receive(datum), 0);
    } else {
        EXPECT_EQ(starpu_mpi_cached_receive(datum), ranks_me == 1 && is_cached);
        EXPECT_EQ(starpu_mpi_cached_send(datum, 1), 0);
    }
}

static void insert_reader(starpu_data_handle_t target, starpu_data_handle_t datum)
{
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, target, STARPU_R, datum, 0);
}

static void flags_by_steps(void)
{
    for (int on = 1; on >= 0; on--) {
        int value[2] = {3, 0};
        starpu_data_handle_t datum = ranks_shared_int(&value[0], 9, 0),
                             target = ranks_shared_int(&value[1], 10, 1);

        starpu_mpi_cache_set(on);
        expect_cached(datum, 0);
        insert_reader(target, datum);
        expect_cached(datum, on);
        insert_reader(target, datum);
        expect_cached(datum, on);
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, datum, 0);
        expect_cached(datum, 0);
        insert_reader(target, datum);
        expect_cached(datum, on);
        /* Rank 1 writes it: the owner's value is new, and nobody else's. */
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, datum,
                               STARPU_EXECUTE_ON_NODE, 1, 0);
        expect_cached(datum, 0);
        insert_reader(target, datum);
        starpu_mpi_cache_flush(MPI_COMM_WORLD, datum);
        expect_cached(datum, 0);
        starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, datum, 1, NULL, NULL);
        expect_cached(datum, on);
        starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
        expect_cached(datum, 0);
        insert_reader(target, datum);
        starpu_mpi_data_migrate(MPI_COMM_WORLD, datum, 1);
        expect_cached(datum, 0);
        insert_reader(target, datum);
        starpu_mpi_data_migrate(MPI_COMM_WORLD, datum, 0);
        expect_cached(datum, 0);
        if (ranks_me == 1)
            EXPECT_EQ(ranks_value(target), 3 + 3 + 4 + 5 + 5 + 5);
        starpu_data_unregister(datum);
        starpu_data_unregister(target);
    }
    starpu_mpi_cache_set(1);
}

/* Copies and tasks in a chain through all ranks. */
static void chain_of_copies(void)
{
    int *values = calloc((size_t)ranks_n, sizeof(*values));
    starpu_data_handle_t *data = calloc((size_t)ranks_n, sizeof(*data));

    for (int r = 0; r < ranks_n; r++)
        data[r] = ranks_shared_int(&values[r], 20 + r, r);
    for (int round = 0; round < 5; round++)
        for (int r = 0; r < ranks_n; r++) {
            starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, data[r], 0);
            starpu_mpi_data_cpy(data[(r + 1) % ranks_n], data[r], MPI_COMM_WORLD,
                                round % 2, NULL, NULL);
        }
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(data[0]), 5 * ranks_n);
    for (int r = 0; r < ranks_n; r++)
        starpu_data_unregister(data[r]);
    free(data);
    free(values);
}

/* --- communicators --- */

/* Insertions in a communicator whose ranks count in another order, or of which some are no
 * members. */
static void in_communicator(MPI_Comm comm)
{
    int me, n, value = 0;
    starpu_data_handle_t datum;

    starpu_mpi_comm_rank(comm, &me);
    starpu_mpi_comm_size(comm, &n);
    starpu_variable_data_register(&datum, me == n - 1 ? STARPU_MAIN_RAM : -1,
                                  me == n - 1 ? (uintptr_t)&value : 0, sizeof(value));
    starpu_mpi_data_register_comm(datum, 30, n - 1, comm);
    for (int r = 0; r < n; r++)
        starpu_mpi_task_insert(comm, &ranks_increment, STARPU_RW, datum,
                               STARPU_EXECUTE_ON_NODE, r, 0);
    starpu_mpi_task_insert(comm, &ranks_increment, STARPU_RW, datum, 0);
    starpu_mpi_get_data_on_all_nodes_detached(comm, datum);
    EXPECT_EQ(ranks_value(datum), n + 1);
    starpu_mpi_data_migrate(comm, datum, 0);
    starpu_mpi_task_insert(comm, &ranks_increment, STARPU_RW, datum, 0);
    if (me == 0)
        EXPECT_EQ(ranks_value(datum), n + 2);
    starpu_mpi_data_migrate(comm, datum, n - 1);
    starpu_data_unregister(datum);
    if (me == n - 1)
        EXPECT_EQ(value, n + 2);
}

static void halves(void)
{
    in_communicator(ranks_half);
}

static void all_but_the_last(void)
{
    if (ranks_most != MPI_COMM_NULL)
        in_communicator(ranks_most);
}

/* Each half adds up, and the sums meet in the communicator of all. */
static void mixed(void)
{
    int me, n, sum = 0, mine = 1 + ranks_me, total = 0, sums[2] = {0, 0};
    starpu_data_handle_t part, all, *terms, meeting[2];

    starpu_mpi_comm_rank(ranks_half, &me);
    starpu_mpi_comm_size(ranks_half, &n);
    terms = calloc((size_t)n, sizeof(*terms));
    starpu_variable_data_register(&part, me == n - 1 ? STARPU_MAIN_RAM : -1,
                                  me == n - 1 ? (uintptr_t)&sum : 0, sizeof(sum));
    /* The last one of a half is rank 0 or 1 of all. */
    starpu_mpi_data_register_comm(part, 40, n - 1, ranks_half);
    all = ranks_shared_int(&total, 41, 0);
    for (int h = 0; h < 2; h++)
        meeting[h] = ranks_shared_int(&sums[h], 42 + h, h);
    for (int r = 0; r < n; r++) {
        starpu_variable_data_register(&terms[r], r == me ? STARPU_MAIN_RAM : -1,
                                      r == me ? (uintptr_t)&mine : 0, sizeof(mine));
        starpu_mpi_data_register_comm(terms[r], 50 + r, r, ranks_half);
        starpu_mpi_task_insert(ranks_half, &ranks_add, STARPU_RW, part, STARPU_R, terms[r],
                               0);
    }
    if (ranks_me < 2)
        starpu_task_insert(&ranks_copy, STARPU_W, meeting[ranks_me], STARPU_R, part, 0);
    for (int h = 0; h < 2; h++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, all, STARPU_R,
                               meeting[h], 0);
    if (ranks_me == 0)
        EXPECT_EQ(ranks_value(all), ranks_n * (ranks_n + 1) / 2);
    starpu_data_unregister(part);
    starpu_data_unregister(all);
    for (int r = 0; r < n; r++)
        starpu_data_unregister(terms[r]);
    for (int h = 0; h < 2; h++)
        starpu_data_unregister(meeting[h]);
    free(terms);
}

RANKS_MAIN({"the rank with most bytes", by_bytes}, {"numbers of ranks in the list", readers},
           {"23 policies", many_policies}, {"flags of the cache, step by step", flags_by_steps},
           {"copies in a chain", chain_of_copies}, {"insertions in halves", halves},
           {"insertions in a group", all_but_the_last},
           {"halves and all at a time", mixed})

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/threads.c - several threads of each rank, each with data of its own,
 * insert, send, reduce and move at the same time.
 */
#include <pthread.h>

#include "ranks.h"

enum { THREADS = 4, NDATA = 3, ROUNDS = 80, TAGS_EACH = 1000 };

struct part {
    int64_t first_tag, next_tag;
    unsigned random; /* the same on all ranks */
    int value[NDATA], expected[NDATA], owner[NDATA];
    starpu_data_handle_t data[NDATA];
};

static struct starpu_codelet sum = {
    .nbuffers = 2, .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R}};
static struct starpu_codelet contribute = {.nbuffers = 1, .modes = {STARPU_REDUX}};

static void set_zero(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static struct starpu_codelet zero = {
    .cpu_funcs = {set_zero}, .nbuffers = 1, .modes = {STARPU_W}};

static int pick(struct part *part, int n)
{
    return rand_r(&part->random) % n;
}

/* --- what a thread does with its data --- */

static void increment(struct part *part, int i)
{
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_increment, STARPU_RW, part->data[i],
                           STARPU_EXECUTE_ON_NODE, pick(part, ranks_n), 0);
    part->expected[i]++;
}

static void reduce(struct part *part, int i)
{
    for (int r = 0; r < ranks_n; r++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &contribute, STARPU_REDUX, part->data[i],
                               STARPU_EXECUTE_ON_NODE, r, 0);
    part->expected[i] += ranks_n;
    starpu_mpi_redux_data(MPI_COMM_WORLD, part->data[i]);
}

/* By way of a datum that all ranks have for two tasks. */
static void copy(struct part *part, int to, int from)
{
    starpu_data_handle_t between;

    starpu_variable_data_register(&between, -1, 0, sizeof(int));
    starpu_mpi_data_register(between, part->next_tag++, pick(part, ranks_n));
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_copy, STARPU_W, between, STARPU_R,
                           part->data[from], 0);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_copy, STARPU_W, part->data[to], STARPU_R,
                           between, STARPU_EXECUTE_ON_NODE, pick(part, ranks_n), 0);
    starpu_data_unregister_submit(between);
    part->expected[to] = part->expected[from];
}

static void message(struct part *part, int to, int from)
{
    int sender = part->owner[from], receiver = part->owner[to];
    starpu_mpi_req request;

    if (ranks_me == sender)
        starpu_mpi_isend_detached(part->data[from], receiver, part->first_tag,
                                  MPI_COMM_WORLD, NULL, NULL);
    if (ranks_me == receiver) {
        starpu_mpi_irecv(part->data[to], &request, sender, part->first_tag,
                         MPI_COMM_WORLD);
        starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
    }
    starpu_mpi_cache_flush(MPI_COMM_WORLD, part->data[to]);
    part->expected[to] = part->expected[from];
}

static void migrate(struct part *part, int i)
{
    part->owner[i] = pick(part, ranks_n);
    starpu_mpi_data_migrate(MPI_COMM_WORLD, part->data[i], part->owner[i]);
}

static void step(struct part *part)
{
    int to = pick(part, NDATA), from = (to + 1 + pick(part, NDATA - 1)) % NDATA;

    switch (pick(part, 8)) {
    case 0:
        reduce(part, to);
        break;
    case 1:
        copy(part, to, from);
        break;
    case 2:
        message(part, to, from);
        break;
    case 3:
        migrate(part, to);
        break;
    case 4:
        starpu_mpi_get_data_on_node(MPI_COMM_WORLD, part->data[to], pick(part, ranks_n));
        break;
    case 5:
        if (ranks_me == part->owner[to])
            EXPECT_EQ(ranks_value(part->data[to]), part->expected[to]);
        break;
    default:
        increment(part, to);
    }
}

/* --- threads --- */

static void *run_part(void *arg)
{
    struct part *part = arg;

    for (int i = 0; i < NDATA; i++) {
        part->owner[i] = i % ranks_n;
        part->data[i] = ranks_shared_int(&part->value[i], part->next_tag++, i % ranks_n);
        starpu_data_set_reduction_methods(part->data[i], &sum, &zero);
    }
    for (int round = 0; round < ROUNDS; round++)
        step(part);
    for (int i = 0; i < NDATA; i++) {
        if (ranks_me == part->owner[i])
            EXPECT_EQ(ranks_value(part->data[i]), part->expected[i]);
        starpu_mpi_data_migrate(MPI_COMM_WORLD, part->data[i], i % ranks_n);
        starpu_data_unregister(part->data[i]);
    }
    return NULL;
}

static void threads(void)
{
    struct part parts[THREADS];
    pthread_t thread[THREADS];

    sum.cpu_funcs[0] = ranks_add.cpu_funcs[0];
    contribute.cpu_funcs[0] = ranks_increment.cpu_funcs[0];
    for (int t = 0; t < THREADS; t++) {
        parts[t] = (struct part){.first_tag = t * TAGS_EACH,
                                 .next_tag = t * TAGS_EACH + 1,
                                 .random = (unsigned)t + 1};
        EXPECT_EQ(pthread_create(&thread[t], NULL, run_part, &parts[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
}

RANKS_MAIN({"threads with data of their own", threads})

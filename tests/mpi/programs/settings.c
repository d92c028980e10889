/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/settings.c - what variables of the environment change, as lines
 * "rank 0: fact = number". For test-settings.py, with four ranks.
 */
#include <stdatomic.h>

#include <orrery_mpi.h>
#include <starpu_mpi_lb.h>

#include "ranks.h"

enum { N = 1000, MOST_RANKS = 16 };

static atomic_int go;

static void fact(const char *name, long long number)
{
    printf("rank %d: %s = %lld\n", ranks_me, name, number);
}

/* Bytes that this rank has sent to a rank, or to all: -1. */
static size_t sent_to(int rank)
{
    size_t bytes[MOST_RANKS] = {0}, sum = 0;

    starpu_mpi_comm_stats_retrieve(bytes);
    for (int r = 0; r < ranks_n; r++)
        sum += rank == -1 || rank == r ? bytes[r] : 0;
    return sum;
}

static void settle(void)
{
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void write_late(void *buffers[], void *arg)
{
    (void)arg;
    while (!atomic_load(&go))
        starpu_usleep(100);
    memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 1, N * sizeof(double));
}

static void look(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static void set_zero(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static void add(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
        *(int *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static struct starpu_codelet late = {
    .cpu_funcs = {write_late}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet reader = {
    .cpu_funcs = {look}, .nbuffers = 1, .modes = {STARPU_R}};
static struct starpu_codelet contribute = {
    .cpu_funcs = {look}, .nbuffers = 1, .modes = {STARPU_REDUX}};
static struct starpu_codelet zero = {
    .cpu_funcs = {set_zero}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet sum = {.cpu_funcs = {add},
                                    .nbuffers = 2,
                                    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R}};

/* A value that all others read before it is there, and once more. */
static void read_everywhere(void)
{
    static double values[N];
    starpu_data_handle_t handle;
    size_t first;

    starpu_vector_data_register(&handle, ranks_me == 0 ? STARPU_MAIN_RAM : -1,
                                ranks_me == 0 ? (uintptr_t)values : 0, N, sizeof(values[0]));
    starpu_mpi_data_register(handle, 1, 0);
    starpu_mpi_task_insert(MPI_COMM_WORLD, &late, STARPU_W, handle, 0);
    for (int r = 1; r < ranks_n; r++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &reader, STARPU_R, handle,
                               STARPU_EXECUTE_ON_NODE, r, 0);
    atomic_store(&go, 1);
    settle();
    first = sent_to(-1);
    if (ranks_me == 0)
        fact("values sent", (long long)(first / sizeof(values)));
    starpu_mpi_task_insert(MPI_COMM_WORLD, &reader, STARPU_R, handle, STARPU_EXECUTE_ON_NODE,
                           1, 0);
    settle();
    if (ranks_me == 0)
        fact("values sent again", (long long)((sent_to(-1) - first) / sizeof(values)));
    starpu_data_unregister(handle);
}

/* Who gets the copy of the last rank. */
static void reduce(void)
{
    int value = 0;
    starpu_data_handle_t handle = ranks_shared_int(&value, 2, 0);
    size_t before = sent_to(0);

    starpu_data_set_reduction_methods(handle, &sum, &zero);
    for (int r = 0; r < ranks_n; r++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &contribute, STARPU_REDUX, handle,
                               STARPU_EXECUTE_ON_NODE, r, 0);
    settle();
    if (ranks_me == ranks_n - 1)
        fact("copies sent to the owner", (long long)((sent_to(0) - before) / sizeof(int)));
    starpu_data_unregister(handle);
}

/* --- two messages that are ready at once --- */

static starpu_data_handle_t pair[2];
static atomic_int first_came;

/* Sends with a callback are not gathered. */
static void is_sent(void *arg)
{
    (void)arg;
}

static void has_come(void *arg)
{
    int none = 0;

    atomic_compare_exchange_strong(&first_came, &none, (int)(intptr_t)arg);
}

/* The thread MPI sends nothing before this has returned. */
static void send_both(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++)
        starpu_mpi_isend_detached_prio(pair[i], 1, 11 + i, 5 * i, MPI_COMM_WORLD, is_sent,
                                       NULL);
}

static void order(void)
{
    int values[3] = {0};
    starpu_data_handle_t start = ranks_int(&values[2]);

    for (int i = 0; i < 2; i++) {
        pair[i] = ranks_int(&values[i]);
        if (ranks_me == 1)
            starpu_mpi_irecv_detached(pair[i], 0, 11 + i, MPI_COMM_WORLD, has_come,
                                      (void *)(intptr_t)(i + 1));
    }
    starpu_mpi_barrier(MPI_COMM_WORLD);
    if (ranks_me == 0)
        starpu_mpi_irecv_detached(start, 1, 13, MPI_COMM_WORLD, send_both, NULL);
    if (ranks_me == 1)
        starpu_mpi_isend_detached(start, 0, 13, MPI_COMM_WORLD, is_sent, NULL);
    settle();
    if (ranks_me == 1)
        fact("number that came first", atomic_load(&first_came));
    for (int i = 0; i < 2; i++)
        starpu_data_unregister(pair[i]);
    starpu_data_unregister(start);
}

/* --- balance --- */

static starpu_data_handle_t unit;
static atomic_int ndone, was_asked;
static int nfree; /* so many tasks do not wait until the ranks have been compared */

static void run_unit(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    while (atomic_load(&ndone) >= nfree && !atomic_load(&was_asked))
        starpu_usleep(100);
    atomic_fetch_add(&ndone, 1);
}

static struct starpu_codelet unit_reader = {
    .cpu_funcs = {run_unit}, .nbuffers = 1, .modes = {STARPU_R}};

static double slow_first(void)
{
    if (ranks_me == 0 && !atomic_load(&was_asked))
        fact("half of the tasks was done", atomic_load(&ndone) >= 26);
    atomic_store(&was_asked, 1);
    return ranks_me == 0 ? 1000 : 0;
}

static void neighbors(int **ids, int *n)
{
    *ids = malloc(sizeof(**ids));
    (*ids)[0] = ranks_me == 0 ? 1 : 0;
    *n = 1;
}

static void give(starpu_data_handle_t **handles, int *n, int to)
{
    (void)to;
    *n = starpu_mpi_data_get_rank(unit) == ranks_me;
    if (*n == 0)
        return;
    *handles = malloc(sizeof(**handles));
    (*handles)[0] = unit;
}

/* Rank 0 takes a millisecond longer. */
static void balance(void)
{
    struct starpu_mpi_lb_conf conf = {.get_neighbors = neighbors,
                                      .get_data_unit_to_migrate = give};
    int value = 0;

    nfree = getenv("SETTINGS_FREE") ? atoi(getenv("SETTINGS_FREE")) : 40;
    unit = ranks_shared_int(&value, 3, 0);
    orrery_mpi_lb_set_elapsed(slow_first);
    starpu_mpi_lb_init("heat", &conf);
    for (starpu_tag_t t = 0; t < 100; t++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &unit_reader, STARPU_R, unit,
                               STARPU_TAG_ONLY, t, 0);
    atomic_store(&was_asked, 1);
    if (ranks_me == 0)
        fact("owner after balancing", starpu_mpi_data_get_rank(unit));
    starpu_mpi_lb_shutdown();
    settle();
    starpu_data_unregister(unit);
}

int main(int argc, char **argv)
{
    int level;

    if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
        return 1;
    ranks_me = starpu_mpi_world_rank();
    ranks_n = starpu_mpi_world_size();
    MPI_Query_thread(&level);
    if (ranks_me == 0) {
        fact("level of threads", level == MPI_THREAD_MULTIPLE);
        fact("processor of MPI", starpu_mpi_get_thread_cpuid());
    }
    if (getenv("SETTINGS_COUNT"))
        starpu_mpi_comm_stats_enable();
    read_everywhere();
    reduce();
    order();
    balance();
    return starpu_mpi_shutdown();
}

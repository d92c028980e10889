/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-data.c - time per datum of what programs do with many data,
 * real: registering and unregistering, partitioning and back, acquiring and
 * releasing, asking for a value that is there, tasks with many buffers; and that
 * time over the one with the fewest. The budget is the same time whatever the
 * number, and 100 ns for a value that is there. What the calling thread does alone is
 * measured as its processor time: other load has no part in it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

#include "bench.h"

enum { MOST = 100000, REPEATS = 5 };

static starpu_data_handle_t handles[MOST];
static int values[MOST];

static double now(void)
{
    return bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void register_all(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&values[i], sizeof(int));
}

static void unregister_all(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        starpu_data_unregister(handles[i]);
}

/* --- each of these returns ns per datum --- */

static double registering(unsigned n)
{
    double begun = now();

    register_all(n);
    unregister_all(n);
    return (now() - begun) / n;
}

static double partitioning(unsigned n)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = n};
    starpu_data_handle_t h;
    double begun, ended;

    starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)values, MOST,
                                sizeof(int));
    begun = now();
    starpu_data_partition(h, &filter);
    starpu_data_unpartition(h, STARPU_MAIN_RAM);
    ended = now();
    starpu_data_unregister(h);
    return (ended - begun) / n;
}

static double acquiring(unsigned n)
{
    double begun, ended;

    register_all(n);
    begun = now();
    for (unsigned i = 0; i < n; i++) {
        if (starpu_data_acquire(handles[i], STARPU_RW) != 0)
            exit(1);
        starpu_data_release(handles[i]);
    }
    ended = now();
    unregister_all(n);
    return (ended - begun) / n;
}

static double prefetching(unsigned n)
{
    double begun, ended;

    register_all(n);
    begun = now();
    for (unsigned i = 0; i < n; i++)
        if (starpu_data_prefetch_on_node(handles[i], STARPU_MAIN_RAM, 1) != 0)
            exit(1);
    ended = now();
    unregister_all(n);
    return (ended - begun) / n;
}

static double fetching(unsigned n)
{
    double begun, ended;

    register_all(n);
    begun = now();
    for (unsigned i = 0; i < n; i++)
        if (starpu_data_fetch_on_node(handles[i], STARPU_MAIN_RAM, 0) != 0)
            exit(1);
    ended = now();
    unregister_all(n);
    return (ended - begun) / n;
}

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

/* Per buffer, of tasks one after the other that write all of them. */
static double running(unsigned n)
{
    static struct starpu_codelet cl = {.cpu_funcs = {nothing},
                                       .nbuffers = STARPU_VARIABLE_NBUFFERS};
    static struct starpu_data_descr descrs[1000];
    const unsigned ntasks = 10000 / n;
    double begun, ended;

    register_all(n);
    for (unsigned i = 0; i < n; i++)
        descrs[i] = (struct starpu_data_descr){handles[i], STARPU_RW};
    begun = bench_now_ns(CLOCK_MONOTONIC);
    for (unsigned t = 0; t < ntasks; t++)
        if (starpu_task_insert(&cl, STARPU_DATA_MODE_ARRAY, descrs, (int)n,
                               0) != 0)
            exit(1);
    starpu_task_wait_for_all();
    ended = bench_now_ns(CLOCK_MONOTONIC);
    unregister_all(n);
    return (ended - begun) / n / ntasks;
}

/* --- the table --- */

static const struct row {
    const char *what;
    double (*measure)(unsigned n);
    unsigned counts[3];
} rows[] = {
    {"register+unregister", registering, {1000, 10000, 100000}},
    {"partition+back", partitioning, {100, 1000, 10000}},
    {"acquire+release", acquiring, {1000, 10000, 100000}},
    {"prefetch, is there", prefetching, {1000, 10000, 100000}},
    {"fetch, is there", fetching, {1000, 10000, 100000}},
    {"buffer of a task", running, {8, 100, 1000}},
};

static double median_of(const struct row *row, unsigned n)
{
    double times[REPEATS];

    for (unsigned i = 0; i < REPEATS; i++)
        times[i] = row->measure(n);
    return bench_median(times, REPEATS);
}

int main(void)
{
    if (starpu_init(NULL) != 0)
        return 77;
    printf("%-20s %8s %10s %8s\n", "what", "data", "ns/datum", "ratio");
    for (unsigned r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        double first = 0;

        for (unsigned i = 0; i < 3; i++) {
            double ns = median_of(&rows[r], rows[r].counts[i]);

            if (i == 0)
                first = ns;
            printf("%-20s %8u %10.0f %8.2f\n", rows[r].what, rows[r].counts[i],
                   ns, ns / first);
        }
    }
    starpu_shutdown();
    return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-openmp.c - what OpenMP's constructs cost, beside libgomp's: by
 * turns, in one process, with two threads on two processors. A line per construct:
 * µs of each (median), and the median of the ratios of the pairs.
 *
 * region: an empty parallel region. barrier: one per thread. task: an empty task of
 * one thread, with its end. dependent_task: the same with depend(inout) of one of 64
 * variables. dynamic: an iteration of a dynamic loop in chunks of 1.
 */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu.h>

#include "bench.h"

enum { PAIRS = 9, NDATA = 64, AT_REST_US = 50000 };

static char datum[NDATA];

/* -- ours -- */

static void parallel(void (*body)(void *[], void *), const void *arg)
{
    struct starpu_omp_parallel_region_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.cl.cpu_funcs[0] = body;
    attr.cl_arg = (void *)(uintptr_t)arg;
    attr.if_clause = 1;
    attr.num_threads = 2;
    starpu_omp_parallel_region(&attr);
}

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static void our_regions(int n)
{
    for (int i = 0; i < n; i++)
        parallel(nothing, NULL);
}

static void meet(void *buffers[], void *arg)
{
    (void)buffers;
    for (int i = *(const int *)arg; i > 0; i--)
        starpu_omp_barrier();
}

static void our_barriers(int n)
{
    parallel(meet, &n);
}

static void create(int n, bool dependent)
{
    struct starpu_omp_task_region_attr attr;
    starpu_data_handle_t handles[NDATA];

    for (int d = 0; d < NDATA && dependent; d++) {
        starpu_variable_data_register(&handles[d], STARPU_MAIN_RAM,
                                      (uintptr_t)&datum[d], 1);
        starpu_omp_handle_register(handles[d]);
    }
    memset(&attr, 0, sizeof(attr));
    attr.cl.cpu_funcs[0] = nothing;
    attr.cl.nbuffers = dependent;
    attr.cl.modes[0] = STARPU_RW;
    attr.if_clause = 1;
    for (int i = 0; i < n; i++) {
        starpu_data_handle_t handle;

        if (dependent) {
            handle = starpu_omp_data_lookup(&datum[i % NDATA]);
            attr.handles = &handle;
        }
        starpu_omp_task_region(&attr);
    }
}

static void tasks(void *buffers[], void *arg)
{
    (void)buffers;
    if (starpu_omp_single_inline())
        create(*(const int *)arg, false);
}

static void dependent_tasks(void *buffers[], void *arg)
{
    (void)buffers;
    if (starpu_omp_single_inline())
        create(*(const int *)arg, true);
}

static void our_tasks(int n)
{
    parallel(tasks, &n);
}

static void our_dependent_tasks(int n)
{
    parallel(dependent_tasks, &n);
}

static void iterate(void *buffers[], void *arg)
{
    unsigned long long i, end, n = (unsigned)*(const int *)arg;

    (void)buffers;
    if (starpu_omp_for_inline_first_alt(n, 1, starpu_omp_sched_dynamic, 0, &i,
                                        &end))
        while (starpu_omp_for_inline_next_alt(n, 1, starpu_omp_sched_dynamic, 0,
                                              &i, &end))
            ;
}

static void our_loop(int n)
{
    parallel(iterate, &n);
}

/* -- libgomp's -- */

static void their_regions(int n)
{
    for (int i = 0; i < n; i++) {
#pragma omp parallel num_threads(2)
        nothing(NULL, NULL);
    }
}

static void their_barriers(int n)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < n; i++) {
#pragma omp barrier
    }
}

static void their_tasks(int n)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task
        nothing(NULL, NULL);
    }
}

static void their_dependent_tasks(int n)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < n; i++) {
        char *d = &datum[i % NDATA];

        (void)d;
#pragma omp task depend(inout : *d)
        nothing(NULL, NULL);
    }
}

static void their_loop(int n)
{
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
    for (int i = 0; i < n; i++)
        nothing(NULL, NULL);
}

/* -- pairs -- */

/* libgomp's threads spin for some milliseconds after a region, on processors that
 * ours need: none does any more when the next one is measured, whoever's it is. */
static double us_each(void (*run)(int n), int n)
{
    double begin;

    usleep(AT_REST_US);
    run(n / 10); /* warm */
    begin = bench_now_ns(CLOCK_MONOTONIC);
    run(n);
    return (bench_now_ns(CLOCK_MONOTONIC) - begin) / 1e3 / n;
}

static void compare(const char *name, void (*ours)(int n),
                    void (*theirs)(int n), int n)
{
    double our[PAIRS], their[PAIRS], ratios[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        our[i] = us_each(ours, n);
        their[i] = us_each(theirs, n);
        ratios[i] = our[i] / their[i];
    }
    printf("bench openmp construct=%s threads=2 libgomp_us=%.3f value=%.3f "
           "unit=us ratio=%.2f\n",
           name, bench_median(their, PAIRS), bench_median(our, PAIRS),
           bench_median(ratios, PAIRS));
    fflush(stdout);
}

int main(void)
{
    setenv("STARPU_NCPU", "2", 0);
    if (starpu_omp_init() != 0)
        return 77;
    if (starpu_omp_get_num_procs() < 2)
        return 77;
    compare("region", our_regions, their_regions, 2000);
    compare("barrier", our_barriers, their_barriers, 5000);
    compare("task", our_tasks, their_tasks, 50000);
    compare("dependent_task", our_dependent_tasks, their_dependent_tasks,
            50000);
    compare("dynamic", our_loop, their_loop, 500000);
    starpu_omp_shutdown();
    return 0;
}

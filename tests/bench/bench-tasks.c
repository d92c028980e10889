/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-tasks.c - what a real task costs.
 *
 * empty_task: µs per empty task with 0, 1, 2 and 4 buffers (RW, drawn from a
 * ring of data), on one and two workers, beside the same number of libgomp tasks
 * with `depend` clauses on two threads, in one run.
 * pending: 10,000 to 1,000,000 tasks of 2 buffers that are submitted while the
 * workers pause: µs to submit one and to run one, bytes of memory for each.
 *
 * One line per measurement: name, parameters, value, unit.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "empty_tasks.h"

enum { NTASKS = 100000, REPEATS = 5 };

static double ours(int nbuffers)
{
    double start = starpu_timing_now();

    empty_tasks_submit(NTASKS, nbuffers);
    starpu_task_wait_for_all();
    return (starpu_timing_now() - start) / NTASKS;
}

/* Bytes of the process that are in memory. */
static double resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    double pages = 0, all;

    if (file && fscanf(file, "%lf %lf", &all, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

/* Smallest number first: memory is kept and used again. */
static void pending(void)
{
    enum { NBUFFERS = 2 };
    double before = resident();

    for (int n = 10000; n <= 1000000; n *= 10) {
        double start, submitted, resumed, bytes;

        starpu_pause();
        start = starpu_timing_now();
        empty_tasks_submit(n, NBUFFERS);
        submitted = starpu_timing_now();
        bytes = resident() - before;
        resumed = starpu_timing_now();
        starpu_resume();
        starpu_task_wait_for_all();
        printf("bench pending tasks=%d buffers=%d workers=2 submit_us=%.3f "
               "run_us=%.3f value=%.0f unit=bytes_per_task\n",
               n, NBUFFERS, (submitted - start) / n,
               (starpu_timing_now() - resumed) / n, bytes / n);
        fflush(stdout);
    }
}

static void gomp_tasks(int nbuffers)
{
    for (int i = 0; i < NTASKS; i++) {
        char *a = &empty_datum[datum_of(i, 0)], *b = &empty_datum[datum_of(i, 1)];
        char *c = &empty_datum[datum_of(i, 2)], *d = &empty_datum[datum_of(i, 3)];

        (void)a, (void)b, (void)c, (void)d;
        switch (nbuffers) {
        case 0:
#pragma omp task
            empty_kernel(NULL, NULL);
            break;
        case 1:
#pragma omp task depend(inout : *a)
            empty_kernel(NULL, NULL);
            break;
        case 2:
#pragma omp task depend(inout : *a, *b)
            empty_kernel(NULL, NULL);
            break;
        default:
#pragma omp task depend(inout : *a, *b, *c, *d)
            empty_kernel(NULL, NULL);
            break;
        }
    }
}

static double theirs(int nbuffers)
{
    double start = omp_get_wtime();

#pragma omp parallel num_threads(2)
#pragma omp single
    gomp_tasks(nbuffers);
    return (omp_get_wtime() - start) * 1e6 / NTASKS;
}

static int measure(int nworkers)
{
    static const int buffers[] = {0, 1, 2, 4};
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.ncpus = nworkers;
    conf.sched_policy_name = "lws";
    if (starpu_init(&conf) != 0)
        return 77;
    empty_data_register();
    if (nworkers == 2)
        pending();
    for (unsigned k = 0; k < sizeof(buffers) / sizeof(*buffers); k++) {
        double us[REPEATS], gomp[REPEATS], a, b;

        for (int r = 0; r < REPEATS; r++) {
            us[r] = ours(buffers[k]);
            gomp[r] = theirs(buffers[k]);
        }
        a = bench_median(us, REPEATS);
        b = bench_median(gomp, REPEATS);
        printf("bench empty_task buffers=%d workers=%d value=%.3f unit=us "
               "spread=%.3f..%.3f libgomp=%.3f ratio=%.2f\n",
               buffers[k], nworkers, a, us[0], us[REPEATS - 1], b, a / b);
        fflush(stdout);
    }
    empty_data_unregister();
    starpu_shutdown();
    return 0;
}

int main(void)
{
    int rc = measure(2);

    return rc ? rc : measure(1);
}

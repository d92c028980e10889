/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-cost-row.c - what finding out how long a task takes costs a
 * scheduler: the lookup of its cost row, cached in the job and not, beside
 * reading the clock. One line per measurement.
 */
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/api/api.h"
#include "core/cost/cost.h"
#include "core/job/job.h"
#include "tests/bench/bench.h"

enum { RUNS = 7, LOOKUPS = 1000000 };

static double now_ns(void)
{
    return bench_now_ns(CLOCK_MONOTONIC);
}

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "bench_cost_row"};
static struct starpu_codelet cl = {.cpu_funcs = {nothing},
                                   .nbuffers = 1,
                                   .modes = {STARPU_RW},
                                   .model = &model};

static double lookups(struct orr_runtime *rt, struct orr_job *job, bool cached)
{
    double start = now_ns(), sum = 0;

    for (unsigned i = 0; i < LOOKUPS; i++) {
        if (!cached)
            job->costs = NULL;
        sum += orr_cost_length(orr_job_costs(rt, job), 0, 0);
    }
    if (!(sum > 0))
        abort();
    return (now_ns() - start) / LOOKUPS;
}

static void bench(const char *name, struct orr_runtime *rt, struct orr_job *job,
                  bool cached, double beside)
{
    double values[RUNS], median;

    for (unsigned i = 0; i < RUNS; i++)
        values[i] = lookups(rt, job, cached);
    median = bench_median(values, RUNS);
    printf("bench name=%s value=%.4g unit=ns min=%.4g max=%.4g ratio=%.3g "
           "beside=reading-the-clock\n",
           name, median, values[0], values[RUNS - 1], median / beside);
}

static double clock_cost(void)
{
    double start = now_ns();
    volatile double t;

    for (unsigned i = 0; i < LOOKUPS; i++)
        t = now_ns();
    (void)t;
    return (now_ns() - start) / LOOKUPS;
}

int main(void)
{
    static float data[64];
    starpu_data_handle_t handle;
    struct starpu_task *task;
    struct orr_runtime *rt;

    setenv("STARPU_CALIBRATE", "1", 1);
    if (starpu_init(NULL) != 0)
        return EXIT_FAILURE;
    rt = orr_runtime_current("bench");
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)data, 64,
                                sizeof(float));
    for (unsigned i = 0; i < 30; i++)
        if (starpu_task_insert(&cl, STARPU_RW, handle, 0))
            return EXIT_FAILURE;
    starpu_task_wait_for_all();

    /* Known, but not before its tag is there. */
    task = starpu_task_create();
    task->cl = &cl;
    task->handles[0] = handle;
    task->use_tag = 1;
    task->tag_id = 1;
    starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
    if (starpu_task_submit(task))
        return EXIT_FAILURE;
    bench("cost-row-of-a-job", rt, orr_job_of(task), true, clock_cost());
    bench("cost-row-by-hash", rt, orr_job_of(task), false, clock_cost());
    starpu_tag_notify_from_apps(2);
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
    starpu_shutdown();
    return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-plans.c - time per part of planned partitions, real: making
 * and freeing the plan again and again, and a switch to the parts and back, with 100
 * to 10,000 parts; and that time over the one with 100 parts. The budget is the same
 * time whatever the number. Plans are made by the calling thread alone: that is its
 * processor time, in the median of the rounds, so that neither other load nor memory
 * that is used for the first time has a part in it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

#include "bench.h"

struct result {
    double plan_ns, switch_ns; /* per part */
};

enum { MOST_ROUNDS = 10000 };

static int x[10000];

static double plan_and_clean(unsigned nparts, starpu_data_handle_t whole,
                             struct starpu_data_filter *filter,
                             starpu_data_handle_t *parts, unsigned rounds)
{
    static double times[MOST_ROUNDS];

    for (unsigned i = 0; i < rounds; i++) {
        double begun = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);

        starpu_data_partition_plan(whole, filter, parts);
        starpu_data_partition_clean(whole, nparts, parts);
        times[i] = bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
    }
    return bench_median(times, rounds);
}

static struct result measure(unsigned nparts, unsigned rounds)
{
    struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
                                   .nchildren = nparts};
    starpu_data_handle_t whole, *parts = calloc(nparts, sizeof(*parts));
    double begun, ended;
    struct result result;

    if (!parts)
        exit(1);
    starpu_vector_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)x, 10000,
                                sizeof(*x));
    result.plan_ns = plan_and_clean(nparts, whole, &f, parts, rounds) / nparts;
    starpu_data_partition_plan(whole, &f, parts);
    begun = bench_now_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < rounds; i++) {
        starpu_data_partition_submit(whole, nparts, parts);
        starpu_data_unpartition_submit(whole, nparts, parts, -1);
    }
    starpu_task_wait_for_all();
    ended = bench_now_ns(CLOCK_MONOTONIC);
    result.switch_ns = (ended - begun) / nparts / rounds / 2;
    starpu_data_partition_clean(whole, nparts, parts);
    starpu_data_unregister(whole);
    free(parts);
    return result;
}

int main(void)
{
    static const unsigned counts[] = {100, 1000, 10000};
    struct result first = {0};

    if (starpu_init(NULL) != 0)
        return 77;
    printf("%8s %18s %22s\n", "parts", "plan+clean ns/part", "switch ns/part");
    (void)measure(100, 10);
    for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct result r = measure(counts[i], 1000000 / counts[i]);

        if (i == 0)
            first = r;
        printf("%8u %11.0f (%4.2f) %15.1f (%4.2f)\n", counts[i], r.plan_ns,
               r.plan_ns / first.plan_ns, r.switch_ns,
               r.switch_ns / first.switch_ns);
    }
    starpu_shutdown();
    return 0;
}

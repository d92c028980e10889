/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-plans.c - time per part of planned partitions, real: making
 * and freeing the plan, and a switch to the parts and back, with 100 to 10,000
 * parts; and that time over the one with 100 parts. The budget is the same time
 * whatever the number.
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

static double seconds(void)
{
    return starpu_timing_now() / 1e6;
}

struct result {
    double plan_ns, switch_ns; /* per part */
};

static struct result measure(unsigned nparts, unsigned rounds)
{
    static int x[10000];
    struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
                                   .nchildren = nparts};
    starpu_data_handle_t whole, *parts = calloc(nparts, sizeof(*parts));
    double begun = seconds(), planned, switched, ended;

    if (!parts)
        exit(1);
    starpu_vector_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)x, 10000,
                                sizeof(*x));
    starpu_data_partition_plan(whole, &f, parts);
    planned = seconds();
    for (unsigned i = 0; i < rounds; i++) {
        starpu_data_partition_submit(whole, nparts, parts);
        starpu_data_unpartition_submit(whole, nparts, parts, -1);
    }
    starpu_task_wait_for_all();
    switched = seconds();
    starpu_data_partition_clean(whole, nparts, parts);
    starpu_data_unregister(whole);
    ended = seconds();
    free(parts);
    return (struct result){
        .plan_ns = 1e9 * (planned - begun + ended - switched) / nparts,
        .switch_ns = 1e9 * (switched - planned) / nparts / rounds / 2,
    };
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

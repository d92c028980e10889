/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-queues.c - nanoseconds of processor time that a push and the pop of
 * the same task take under eager, prio and lws, with one worker and nobody else: one
 * task at a time, and 64 that wait. Locks are those of a real machine; the runtime
 * around them is that of the unit tests, so that nothing else is counted.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/policies/policies.h"

#include "../unit/fake_sched.h"
#include "bench.h"

enum { NJOBS = 64, NPASSES = 400, NROUNDS = 51 };

static struct orr_job *jobs[NJOBS];

/* Pushes so many, then pops them. */
static void pass(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (fake_push(jobs[i]) != 0)
            abort();
    for (unsigned i = 0; i < n; i++)
        if (!fake_pop(0))
            abort();
}

static double ns_per_task(unsigned waiting)
{
    double values[NROUNDS];

    for (unsigned round = 0; round < NROUNDS; round++) {
        double start = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);

        for (unsigned i = 0; i < NPASSES * NJOBS / waiting; i++)
            pass(waiting);
        values[round] = (bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - start) /
                        (NPASSES * NJOBS);
    }
    return bench_median(values, NROUNDS);
}

/* The runtime of the unit tests works in a test only. */
START_TEST(queues)
{
    static const struct orr_sched_ops *const policies[] = {
        &orr_sched_eager, &orr_sched_prio, &orr_sched_lws};

    for (unsigned p = 0; p < sizeof(policies) / sizeof(policies[0]); p++) {
        struct orr_cost_row *row;

        fake_start((unsigned[]){0}, 1);
        fake_policy(policies[p]);
        fake_be(0);
        row = fake_row((double[]){1});
        for (unsigned i = 0; i < NJOBS; i++)
            jobs[i] = fake_job(row, (int)(i % 4));
        printf("bench queues policy=%s one %.0f ns waiting %.0f ns\n",
               policies[p]->name, ns_per_task(1), ns_per_task(NJOBS));
        fake_stop();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queues");
    TCase *tc = tcase_create("queues");
    SRunner *runner = srunner_create(suite);
    int nfailed;

    tcase_add_test(tc, queues);
    suite_add_tcase(suite, tc);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    nfailed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return nfailed > 0;
}

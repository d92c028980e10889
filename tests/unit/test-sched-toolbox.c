/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sched-toolbox.c - jobs by priority, the most ready job, and
 * the tree of loads that the dm family decides by.
 */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "core/data/handle.h"
#include "core/policies/dm_load.h"
#include "core/sched/toolbox.h"
#include "fake_sched.h"
#include "tests/suite.h"

static struct orr_prioq q;

static void setup(void)
{
    const unsigned classes[] = {0, 1};

    fake_start(classes, 2);
    q = (struct orr_prioq){0};
}

static void teardown(void)
{
    orr_prioq_done(&q);
    fake_stop();
}

static struct orr_job *push(int priority)
{
    struct orr_job *job = fake_job(NULL, priority);

    ck_assert_int_eq(orr_prioq_push(&q, job, priority), 0);
    return job;
}

START_TEST(higher_priorities_come_first_and_equals_in_order)
{
    struct orr_job *a = push(1), *b = push(INT_MAX), *c = push(INT_MIN),
                   *d = push(1), *e = push(INT_MAX);

    ck_assert_ptr_eq(orr_prioq_pop(&q), b);
    ck_assert_ptr_eq(orr_prioq_pop(&q), e);
    ck_assert_ptr_eq(orr_prioq_pop(&q), a);
    ck_assert_ptr_eq(orr_prioq_pop(&q), d);
    ck_assert_ptr_eq(orr_prioq_pop(&q), c);
    ck_assert_ptr_null(orr_prioq_pop(&q));
    ck_assert(orr_prioq_empty(&q));
}
END_TEST

START_TEST(a_job_can_be_taken_from_the_middle)
{
    struct orr_job *a = push(5), *b = push(4), *c = push(3), *d = push(4);

    /* Slots ascend: 3, 4, 5. */
    orr_prioq_take(&q, 1, b);
    orr_prioq_take(&q, 1, d);
    ck_assert_uint_eq(q.nslots, 2);
    ck_assert_ptr_eq(orr_prioq_pop(&q), a);
    ck_assert_ptr_eq(orr_prioq_pop(&q), c);
    ck_assert_ptr_eq(orr_prioq_pop(&q), NULL);
}
END_TEST

START_TEST(jobs_ahead_are_those_of_no_less_priority)
{
    push(1);
    push(3);
    push(3);
    push(7);
    ck_assert_uint_eq(orr_prioq_ahead(&q, 8), 0);
    ck_assert_uint_eq(orr_prioq_ahead(&q, 7), 1);
    ck_assert_uint_eq(orr_prioq_ahead(&q, 3), 3);
    ck_assert_uint_eq(orr_prioq_ahead(&q, 0), 4);
}
END_TEST

START_TEST(random_pushes_and_pops_agree_with_a_plain_search)
{
    struct orr_job *jobs[600];
    unsigned n = 0, made;

    srand(7);
    for (unsigned step = 0; step < 600; step++) {
        unsigned best = 0;

        if (n == 0 || rand() % 5 > 1) {
            jobs[n++] = push(rand() % 20 - 10);
            continue;
        }
        for (unsigned i = 1; i < n; i++)
            if (jobs[i]->priority > jobs[best]->priority)
                best = i;
        ck_assert_ptr_eq(orr_prioq_pop(&q), jobs[best]);
        for (n--; best < n; best++)
            jobs[best] = jobs[best + 1];
    }
    ck_assert_uint_eq(q.njobs, n);
    /* Once all priorities were there, nothing more is allocated. */
    made = q.nmade;
    ck_assert_uint_le(made, 20);
    while (orr_prioq_pop(&q))
        ck_assert_uint_eq(q.nmade, made);
    push(0);
    ck_assert_uint_eq(q.nmade, made);
}
END_TEST

/* --- the most ready job, on node 1 --- */

#define HERE 2 /* the node's bit */

/* Of the jobs that are in the queue, with the data that they have by now. */
static struct orr_job *pop_ready(void)
{
    struct orr_prioq ready = {.digests = true};
    struct orr_job *job, *best;

    while (!orr_prioq_empty(&q)) {
        int priority = q.slots[q.nslots - 1].priority;

        job = orr_prioq_pop(&q);
        ck_assert_int_eq(orr_prioq_push(&ready, job, priority), 0);
    }
    best = orr_prioq_pop_ready(&ready, 1);
    while (!orr_prioq_empty(&ready)) {
        int priority = ready.slots[ready.nslots - 1].priority;

        job = orr_prioq_pop(&ready);
        ck_assert_int_eq(orr_prioq_push(&q, job, priority), 0);
    }
    orr_prioq_done(&ready);
    return best;
}

START_TEST(the_fewest_bytes_to_bring_win)
{
    struct orr_job *a = push(0), *b = push(0), *c = push(0);

    fake_datum(a, STARPU_R, 100, 1, 0, HERE);
    fake_datum(b, STARPU_RW, 60, 1, 0, 0);
    fake_datum(c, STARPU_R, 60, 1, 0, HERE);
    fake_datum(c, STARPU_R, 1, 1, 0, HERE);
    ck_assert_ptr_eq(pop_ready(), b);
    ck_assert_ptr_eq(pop_ready(), c);
    ck_assert_ptr_eq(pop_ready(), a);
    ck_assert_ptr_null(pop_ready());
}
END_TEST

START_TEST(then_bytes_on_their_way_then_memory_decides)
{
    struct orr_job *a = push(0), *b = push(0), *c = push(0), *d = push(0);

    fake_datum(a, STARPU_R, 60, 1, 0, HERE);
    fake_datum(b, STARPU_R, 60, 1, HERE, 0);
    fake_datum(c, STARPU_R, 60, 1, HERE, HERE);
    fake_datum(d, STARPU_R, 60, 1, HERE, HERE);
    ck_assert_ptr_eq(pop_ready(), c); /* before its equal d */
    ck_assert_ptr_eq(pop_ready(), d);
    ck_assert_ptr_eq(pop_ready(), b);
    ck_assert_ptr_eq(pop_ready(), a);
}
END_TEST

START_TEST(what_is_only_written_needs_memory_and_scratch_needs_nothing)
{
    struct orr_job *a = push(0), *b = push(0), *c = push(0);

    fake_datum(a, STARPU_W, 10, 1, 0, 0);
    fake_datum(b, STARPU_SCRATCH, 99, 0, 0, 0);
    fake_datum(c, STARPU_REDUX, 99, 0, 0, 0);
    ck_assert_ptr_eq(pop_ready(), b);
    ck_assert_ptr_eq(pop_ready(), c);
    ck_assert_ptr_eq(pop_ready(), a);
}
END_TEST

START_TEST(a_better_priority_goes_before_readier_data)
{
    struct orr_job *a = push(1), *b = push(2);

    fake_datum(a, STARPU_R, 10, HERE, 0, HERE);
    fake_datum(b, STARPU_R, 10, 1, 0, 0);
    ck_assert_ptr_eq(pop_ready(), b);
    ck_assert_ptr_eq(pop_ready(), a);
}
END_TEST

START_TEST(in_a_queue_without_order_only_no_less_urgent_jobs_overtake)
{
    const int priorities[] = {1, 0, 2};
    struct orr_job *jobs[3];

    for (unsigned i = 0; i < 3; i++) {
        jobs[i] = fake_job(NULL, priorities[i]);
        ck_assert_int_eq(orr_prioq_push(&q, jobs[i], 0), 0);
    }
    fake_datum(jobs[0], STARPU_R, 10, 1, 0, 0);
    fake_datum(jobs[2], STARPU_R, 5, 1, 0, 0);
    ck_assert_ptr_eq(pop_ready(), jobs[2]);
    ck_assert_ptr_eq(pop_ready(), jobs[0]);
    ck_assert_ptr_eq(pop_ready(), jobs[1]);
}
END_TEST

START_TEST(all_data_of_a_job_count_however_many)
{
    struct orr_job *a = push(0), *b = push(0);

    for (unsigned i = 0; i < ORR_DIGESTED; i++) {
        fake_datum(a, STARPU_R, 10, HERE, 0, HERE);
        fake_datum(b, STARPU_R, 10, HERE, 0, HERE);
    }
    fake_datum(a, STARPU_R, 10, 1, 0, 0);
    fake_datum(b, STARPU_R, 10, HERE, 0, HERE);
    ck_assert_ptr_eq(pop_ready(), b);
    ck_assert_ptr_eq(pop_ready(), a);
}
END_TEST

/* Data come and go while jobs wait. */
static void change_some(struct orr_job *const *jobs, unsigned njobs)
{
    struct orr_job *job = njobs ? jobs[(unsigned)rand() % njobs] : NULL;
    struct orr_handle *handle;

    if (!job || !job->naccesses)
        return;
    handle = job->accesses[(unsigned)rand() % job->naccesses].handle;
    if (rand() % 3 == 0)
        orr_handle_set_valid(handle, handle->valid ^ HERE);
    else if (rand() % 2 == 0)
        orr_handle_set_loading(handle, handle->loading ^ HERE);
    else
        orr_handle_set_allocated(handle, handle->allocated ^ HERE);
}

/* Whatever is taken, the readiest one is found as by looking at all. */
START_TEST(jobs_taken_from_a_queue_by_readiness_leave_the_others)
{
    enum { N = 40, ROUNDS = 400 };
    struct orr_prioq ready = {.digests = true};
    struct orr_job *jobs[N];
    unsigned njobs = 0, made = 0;

    srand(5);
    for (unsigned round = 0; round < ROUNDS || njobs > 0; round++) {
        if (rand() % 2)
            change_some(jobs, njobs);
        if (made < N && (njobs == 0 || rand() % 2)) {
            struct orr_job *job = fake_job(NULL, 0);

            for (unsigned n = (unsigned)rand() % 5; n > 0; n--)
                fake_datum(job, rand() % 2 ? STARPU_R : STARPU_W,
                           (unsigned)rand() % 4, rand() % 2 ? HERE : 1, 0,
                           rand() % 2 ? HERE : 1);
            ck_assert_int_eq(orr_prioq_push(&ready, job, 0), 0);
            jobs[njobs++] = job;
            made++;
        } else if (njobs > 0) {
            unsigned best = 0;

            if (rand() % 3 == 0) {
                best = (unsigned)rand() % njobs;
                orr_prioq_take(&ready, 0, jobs[best]);
            } else {
                for (unsigned i = 1; i < njobs; i++) {
                    struct orr_missing a =
                        orr_job_missing(jobs[i], 1, UINT64_MAX);
                    struct orr_missing b =
                        orr_job_missing(jobs[best], 1, UINT64_MAX);

                    if (orr_missing_is_less(&a, &b))
                        best = i;
                }
                ck_assert_ptr_eq(orr_prioq_pop_ready(&ready, 1), jobs[best]);
            }
            for (njobs--; best < njobs; best++)
                jobs[best] = jobs[best + 1];
        }
        ck_assert_uint_eq(ready.njobs, njobs);
    }
    ck_assert_ptr_null(orr_prioq_pop_ready(&ready, 1));
    orr_prioq_done(&ready);
}
END_TEST

/* --- loads --- */

static bool not_after(double free_at, const void *arg)
{
    return free_at <= *(const double *)arg;
}

START_TEST(loads_agree_with_a_plain_search_as_the_clock_goes_on)
{
    enum { N = 13 };
    double start[N] = {0}, length[N] = {0}, now = 0;
    struct orr_dm_load load;

    srand(3);
    ck_assert_int_eq(orr_dm_load_init(&load, N), 0);
    for (unsigned step = 0; step < 5000; step++) {
        unsigned w = (unsigned)(rand() % N), first = 0;
        double best = INFINITY, limit;

        now += rand() % 4;
        start[w] = now + rand() % 10 - 3;
        length[w] = rand() % 8;
        orr_dm_load_set(&load, w, start[w], length[w], now);
        now += rand() % 3;
        orr_dm_load_settle(&load, now);
        for (unsigned i = 0; i < N; i++)
            best = fmin(best, fmax(start[i], now) + length[i]);
        ck_assert(orr_dm_load_free(&load, now) == best);
        limit = best + rand() % 3;
        while (fmax(start[first], now) + length[first] > limit)
            first++;
        ck_assert_uint_eq(orr_dm_load_first(&load, now, not_after, &limit),
                          first);
    }
    orr_dm_load_done(&load);
}
END_TEST

SUITE_MAIN(sched_toolbox)
{
    Suite *suite = suite_create("sched-toolbox");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, higher_priorities_come_first_and_equals_in_order);
    tcase_add_test(tc, a_job_can_be_taken_from_the_middle);
    tcase_add_test(tc, jobs_ahead_are_those_of_no_less_priority);
    tcase_add_test(tc, random_pushes_and_pops_agree_with_a_plain_search);
    tcase_add_test(tc, the_fewest_bytes_to_bring_win);
    tcase_add_test(tc, then_bytes_on_their_way_then_memory_decides);
    tcase_add_test(tc,
                   what_is_only_written_needs_memory_and_scratch_needs_nothing);
    tcase_add_test(tc, a_better_priority_goes_before_readier_data);
    tcase_add_test(tc,
                   in_a_queue_without_order_only_no_less_urgent_jobs_overtake);
    tcase_add_test(tc, all_data_of_a_job_count_however_many);
    tcase_add_test(tc, jobs_taken_from_a_queue_by_readiness_leave_the_others);
    tcase_add_test(tc, loads_agree_with_a_plain_search_as_the_clock_goes_on);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

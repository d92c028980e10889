/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sched-parallel.c - pheft and peager: which workers get a job, one or
 * several. Workers 0 to 3 are CPUs, 4 is a GPU. Combined: 0 and 1, 2 and 3, all four.
 */
#include <check.h>
#include <errno.h>
#include <math.h>

#include "core/sched/ctxs.h"
#include "core/policies/policies.h"
#include "core/worker/combined.h"
#include "fake_sched.h"
#include "core/worker/workers.h"
#include "tests/suite.h"

static int first_two[] = {0, 1}, last_two[] = {2, 3}, all[] = {0, 1, 2, 3};
static unsigned left, right, four;
static struct orr_cost_row *row, *gpu_row;

static void start(const struct orr_sched_ops *ops)
{
    const unsigned classes[] = {0, 0, 0, 0, 1};

    fake_start(classes, 5);
    fake_policy(ops);
    left = fake_combined(first_two, 2);
    right = fake_combined(last_two, 2);
    four = fake_combined(all, 4);
    row = fake_row((double[]){120, 0});
    row->cl->type = STARPU_FORKJOIN;
    row->cl->max_parallelism = 4;
    gpu_row = fake_row((double[]){0, 10});
    fake.wide[2] = 60;
    fake.wide[4] = 30;
}

static void start_pheft(void)
{
    start(&orr_sched_pheft);
}

static void start_peager(void)
{
    start(&orr_sched_peager);
}

static struct orr_job *push(struct orr_cost_row *of)
{
    struct orr_job *job = fake_job(of, 0);

    fake.gang = 0;
    ck_assert_int_eq(fake_push(job), 0);
    return job;
}

static struct orr_job *local(unsigned worker)
{
    struct orr_list *link = orr_list_pop(&fake.rt.workers->at[worker].local);

    return link ? orr_container(link, struct orr_job, queue) : NULL;
}

/* What the workers that have it have to do, in µs. */
static void begin(unsigned worker)
{
    struct orr_job *job = local(worker);

    orr_sched_pheft.pre_exec(fake.rt.sched_ctxs->at[0], job,
                             &fake.rt.workers->at[worker]);
}

/* --- pheft --- */

START_TEST(a_job_goes_where_it_ends_first)
{
    push(row);
    ck_assert_uint_eq(fake.gang, four);
    fake.wide[4] = 100;
    push(row); /* 30 + 60 on two, 30 + 100 on four, 30 + 120 on one */
    ck_assert_uint_eq(fake.gang, left);
    push(row);
    ck_assert_uint_eq(fake.gang, right);
}
END_TEST

START_TEST(a_job_for_one_worker_goes_to_the_first_free_one)
{
    struct orr_job *job;

    row->cl->type = STARPU_SEQ;
    job = push(row);
    ck_assert_uint_eq(fake.gang, 0);
    ck_assert_ptr_eq(local(0), job);
    ck_assert_double_eq(job->predicted, 120);
    ck_assert_double_eq(job->task->predicted, 120);
    job = push(row);
    ck_assert_ptr_eq(local(1), job);
    job = push(gpu_row);
    ck_assert_ptr_eq(local(4), job);
}
END_TEST

START_TEST(max_parallelism_is_kept)
{
    row->cl->max_parallelism = 2;
    push(row);
    ck_assert_uint_eq(fake.gang, left);
    row->cl->max_parallelism = 1;
    push(row);
    ck_assert_uint_eq(fake.gang, 0);
    ck_assert_ptr_nonnull(local(2));
}
END_TEST

/* Worker 0 has 120 to do: the four would wait, the right two need not. */
START_TEST(a_gang_begins_when_its_last_member_is_free)
{
    row->cl->type = STARPU_SEQ;
    push(row);
    row->cl->type = STARPU_SPMD;
    push(row);
    ck_assert_uint_eq(fake.gang, right);
    fake.wide[2] = 500;
    push(row); /* four: 120 + 30, worker 1: 120; worker 1 is first free */
    ck_assert_uint_eq(fake.gang, 0);
    ck_assert_ptr_nonnull(local(1));
}
END_TEST

/* Each member is busy for as long as the gang keeps it. */
START_TEST(members_are_told_what_it_adds_to_their_queues)
{
    row->cl->type = STARPU_SEQ;
    push(row); /* worker 0: until 120 */
    row->cl->type = STARPU_SPMD;
    fake.wide[2] = 500;
    fake.wide[4] = 1;
    push(row); /* worker 1, 120, no sooner than four at 121 */
    ck_assert_uint_eq(fake.gang, 0);
    push(row); /* worker 2 */
    push(row); /* worker 3 */
    push(row); /* all have 120: four at 121 */
    ck_assert_uint_eq(fake.gang, four);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_double_eq(fake.aliases[i]->predicted, 1);
    (void)local(0);
    fake.now = 50;
    row->cl->type = STARPU_SEQ;
    push(row);
    ck_assert_ptr_nonnull(local(1));
}
END_TEST

START_TEST(what_has_begun_is_not_counted_twice)
{
    row->cl->type = STARPU_SEQ;
    push(row);
    fake.now = 40;
    begin(0); /* it began late: until 160 */
    push(row);
    push(row);
    push(row);
    ck_assert_ptr_nonnull(local(1));
    ck_assert_ptr_nonnull(local(2));
    ck_assert_ptr_nonnull(local(3));
    push(row); /* worker 0 and the others are free at 160 */
    ck_assert_ptr_nonnull(local(0));
}
END_TEST

START_TEST(sizes_without_a_length_come_first)
{
    fake.wide[4] = NAN;
    push(row);
    ck_assert_uint_eq(fake.gang, four);
    fake.wide[2] = NAN;
    fake.wide[4] = 30;
    push(row);
    ck_assert_uint_eq(fake.gang, left);
    push(row); /* the others have less to do now */
    ck_assert_uint_eq(fake.gang, right);
    ck_assert_double_eq(fake.aliases[0]->predicted, 0);
}
END_TEST

START_TEST(simulated_sizes_without_a_length_are_left_out)
{
    fake.rt.machine->kernels_take_their_length = true;
    fake.wide[4] = NAN;
    push(row);
    ck_assert_uint_eq(fake.gang, left);
}
END_TEST

START_TEST(a_gang_without_memory_leaves_no_trace)
{
    struct orr_job *job = fake_job(row, 0);

    fake.gang_error = -ENOMEM;
    ck_assert_int_eq(fake_push(job), -ENOMEM);
    fake.gang_error = 0;
    push(row);
    ck_assert_uint_eq(fake.gang, four);
    ck_assert_double_eq(fake.aliases[0]->predicted, 30);
}
END_TEST

/* Nobody: the caller looks for somebody else. */
START_TEST(a_job_that_nobody_can_run_is_refused)
{
    struct orr_job *job = fake_job(fake_row((double[]){0, 0}), 0);

    ck_assert_int_eq(fake_push(job), -ENODEV);
}
END_TEST

/* --- peager --- */

START_TEST(a_leader_hands_a_parallel_job_to_its_largest_group)
{
    push(row);
    ck_assert_ptr_null(fake_pop(1));
    ck_assert_ptr_null(fake_pop(3));
    ck_assert_ptr_null(fake_pop(4));
    ck_assert_ptr_null(fake_pop(0));
    ck_assert_uint_eq(fake.gang, four);
    push(row);
    ck_assert_ptr_null(fake_pop(2));
    ck_assert_uint_eq(fake.gang, right);
    row->cl->max_parallelism = 2;
    push(row);
    ck_assert_ptr_null(fake_pop(0));
    ck_assert_uint_eq(fake.gang, left);
}
END_TEST

START_TEST(a_leader_keeps_what_its_groups_cannot_execute)
{
    struct orr_job *job;

    row->cl->can_execute = NULL;
    fake.gang_error = -ENOMEM;
    job = push(row);
    ck_assert_ptr_eq(fake_pop(2), job);
    ck_assert_uint_eq(fake.gang, 0);
}
END_TEST

START_TEST(others_take_single_jobs_in_order)
{
    struct orr_job *a, *b;

    push(row);
    row = fake_row((double[]){120, 0});
    a = push(row);
    b = push(row);
    ck_assert_ptr_eq(fake_pop(3), a);
    ck_assert_ptr_null(fake_pop(0)); /* the parallel one came first */
    ck_assert_uint_eq(fake.gang, four);
    ck_assert_ptr_eq(fake_pop(0), b);
}
END_TEST

START_TEST(parallel_jobs_wake_leaders_alone)
{
    fake.rt.workers->asleep[0] = 31;
    push(row);
    ck_assert_uint_eq(fake.woken, 1U << 0 | 1U << 2 | 1U << 4);
}
END_TEST

/* One that no leader can run would wait for ever. */
START_TEST(a_parallel_job_that_no_leader_can_run_is_for_all)
{
    uint32_t bits = 1U << 3;
    struct orr_job *job = fake_job(row, 0);

    job->task->workerids = &bits;
    job->task->workerids_len = 1;
    ck_assert_int_eq(fake_push(job), 0);
    ck_assert_ptr_null(fake_pop(0));
    ck_assert_ptr_eq(fake_pop(3), job);
}
END_TEST

SUITE_MAIN(sched_parallel)
{
    Suite *suite = suite_create("policies with combined workers");
    TCase *pheft = tcase_create("pheft"), *peager = tcase_create("peager");

    tcase_add_checked_fixture(pheft, start_pheft, fake_stop);
    tcase_add_checked_fixture(peager, start_peager, fake_stop);
    tcase_add_test(pheft, a_job_goes_where_it_ends_first);
    tcase_add_test(pheft, a_job_for_one_worker_goes_to_the_first_free_one);
    tcase_add_test(pheft, max_parallelism_is_kept);
    tcase_add_test(pheft, a_gang_begins_when_its_last_member_is_free);
    tcase_add_test(pheft, members_are_told_what_it_adds_to_their_queues);
    tcase_add_test(pheft, what_has_begun_is_not_counted_twice);
    tcase_add_test(pheft, sizes_without_a_length_come_first);
    tcase_add_test(pheft, simulated_sizes_without_a_length_are_left_out);
    tcase_add_test(pheft, a_gang_without_memory_leaves_no_trace);
    tcase_add_test(pheft, a_job_that_nobody_can_run_is_refused);
    tcase_add_test(peager, a_leader_hands_a_parallel_job_to_its_largest_group);
    tcase_add_test(peager, a_leader_keeps_what_its_groups_cannot_execute);
    tcase_add_test(peager, others_take_single_jobs_in_order);
    tcase_add_test(peager, parallel_jobs_wake_leaders_alone);
    tcase_add_test(peager, a_parallel_job_that_no_leader_can_run_is_for_all);
    suite_add_tcase(suite, pheft);
    suite_add_tcase(suite, peager);
    return suite_main(suite);
}

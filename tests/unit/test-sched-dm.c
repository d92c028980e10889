/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sched-dm.c - decisions and expected times of the dm family,
 * worked out by hand, and the choice by classes against the walk over all
 * workers. Workers 0 and 2 are CPUs (node 0), 1 and 3 share a GPU (node 1).
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/cost/recalibrate.h"
#include "core/sched/ctxs.h"
#include "core/policies/dm.h"
#include "core/policies/policies.h"
#include "core/worker/asleep.h"
#include "fake_sched.h"
#include "core/worker/workers.h"
#include "tests/suite.h"

static const unsigned interleaved[] = {0, 1, 0, 1};

static struct orr_dm *dm(void)
{
    return fake.rt.sched_ctxs->at[0]->data;
}

static void start(const struct orr_dm_variant *variant)
{
    fake_start(interleaved, 4);
    fake_policy(&variant->ops);
}

static struct orr_job *job_of(double cpu, double gpu, int priority)
{
    return fake_job(fake_row((double[]){cpu, gpu}), priority);
}

/* Pushes a job and returns whose queue it is in. */
static unsigned place(struct orr_job *job)
{
    ck_assert_int_eq(fake_push(job), 0);
    for (unsigned w = 0; w < fake.rt.workers->n; w++)
        orr_prioq_foreach_slot(slot, &dm()->workers[w].jobs) orr_list_foreach (
            link, &dm()->workers[w]
                       .jobs.slots[slot]
                       .level->jobs) if (link == &job->queue) return w;
    ck_abort_msg("the job is in no queue");
}

static void check_expected(unsigned w, double start_us, double len,
                           double pipeline_len, unsigned ntasks)
{
    const struct orr_dm_worker *worker = &dm()->workers[w];

    ck_assert_double_eq(worker->exp_start, start_us);
    ck_assert_double_eq(worker->exp_len, len);
    ck_assert_double_eq(worker->pipeline_len, pipeline_len);
    ck_assert_uint_eq(worker->pipeline_ntasks, ntasks);
}

static void pre(struct orr_job *job, unsigned w)
{
    fake.rt.sched_ctxs->at[0]->ops->pre_exec(fake.rt.sched_ctxs->at[0], job,
                                             &fake.rt.workers->at[w]);
}

static void post(struct orr_job *job, unsigned w)
{
    fake.rt.sched_ctxs->at[0]->ops->post_exec(fake.rt.sched_ctxs->at[0], job,
                                              &fake.rt.workers->at[w]);
}

/* --- decisions --- */

START_TEST(transfers_count_in_the_end_and_in_full_beside_it)
{
    struct orr_job *job;

    start(&orr_sched_dmda);
    /* CPU: end 100, fitness 40. GPU: end 50 + 10, fitness 0 + 50. */
    fake.transfer[1] = 50;
    ck_assert_uint_eq(place(job_of(100, 10, 0)), 0);
    fake_stop();

    start(&orr_sched_dmda);
    /* GPU: end 30 + 10, fitness 30. CPU: 60. What has no data is not prefetched. */
    fake.transfer[1] = 30;
    job = job_of(100, 10, 0);
    fake_datum(job, STARPU_R, 4, 1, 0, 1);
    ck_assert_uint_eq(place(job), 1);
    ck_assert_uint_eq(fake.prefetched, 1);
    (void)place(job_of(100, 10, 0));
    ck_assert_uint_eq(fake.prefetched, 1);
    fake_stop();
}
END_TEST

START_TEST(dm_ignores_transfers)
{
    start(&orr_sched_dm);
    fake.transfer[1] = 1000;
    ck_assert_uint_eq(place(job_of(100, 10, 0)), 1);
    fake_stop();
}
END_TEST

static struct starpu_perfmodel energy_model;

START_TEST(energy_counts_where_a_model_has_it)
{
    struct orr_job *job;

    start(&orr_sched_dmda);
    /* CPU: end 100, fitness 90 + 1000 × 0.02. GPU: end 10, 1000 × 0.2. */
    fake.energy[0] = 0.02;
    fake.energy[1] = 0.2;
    job = job_of(100, 10, 0);
    job->task->cl->energy_model = &energy_model;
    ck_assert_uint_eq(place(job), 0);
    ck_assert_uint_eq(place(job_of(100, 10, 0)), 1); /* no model */
    fake_stop();

    start(&orr_sched_dmda);
    fake.energy[1] = NAN; /* unknown is nothing */
    job = job_of(100, 10, 0);
    job->task->cl->energy_model = &energy_model;
    ck_assert_uint_eq(place(job), 1);
    fake_stop();

    start(&orr_sched_dm);
    fake.energy[1] = 0.2; /* dm looks at the end alone */
    job = job_of(100, 10, 0);
    job->task->cl->energy_model = &energy_model;
    ck_assert_uint_eq(place(job), 1);
    fake_stop();
}
END_TEST

START_TEST(equal_ends_go_to_the_lowest_number)
{
    start(&orr_sched_dmda);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned w = 0; w < 4; w++)
            ck_assert_uint_eq(place(job_of(10, 10, 0)), w);
    fake_stop();
}
END_TEST

START_TEST(time_that_has_passed_leaves_the_queue_as_it_is)
{
    start(&orr_sched_dmda);
    ck_assert_uint_eq(place(job_of(10, 0, 0)), 0);
    /* exp_start 0 is now 100, but the 10 µs are still to be done. */
    fake.now = 100;
    ck_assert_uint_eq(place(job_of(5, 0, 0)), 2);
    ck_assert_uint_eq(place(job_of(5, 0, 0)), 2);
    ck_assert_uint_eq(place(job_of(5, 0, 0)), 0);
    check_expected(0, 100, 15, 0, 2);
    check_expected(2, 100, 10, 0, 2);
    fake_stop();
}
END_TEST

START_TEST(the_chosen_worker_is_woken_if_it_sleeps)
{
    start(&orr_sched_dmda);
    orr_worker_fall_asleep(&fake.rt.workers->at[0]);
    orr_worker_fall_asleep(&fake.rt.workers->at[1]);
    place(job_of(100, 10, 0));
    ck_assert_uint_eq(fake.woken, 1U << 1);
    fake_stop();
}
END_TEST

START_TEST(weights_come_from_the_configuration)
{
    fake_start(interleaved, 4);
    fake.rt.config.values[ORR_CFG_SCHED_BETA].real = 0;
    fake_policy(&orr_sched_dmda.ops);
    fake.transfer[1] = 50;
    ck_assert_uint_eq(place(job_of(100, 10, 0)), 1);
    fake_stop();
}
END_TEST

START_TEST(a_faster_implementation_is_chosen)
{
    struct orr_job *job;

    start(&orr_sched_dmda);
    job = job_of(100, 0, 0);
    job->costs->able[0] = 1 | 4;
    job->costs->length[2] = 90;
    ck_assert_uint_eq(place(job), 0);
    ck_assert_uint_eq(job->implementation, 2);
    ck_assert_double_eq(job->predicted, 90);
    fake_stop();
}
END_TEST

static int only_worker_3(unsigned worker, struct starpu_task *task, unsigned i)
{
    (void)task;
    (void)i;
    ck_assert_uint_eq(orr_self->ranks, 0);
    return worker == 3;
}

START_TEST(can_execute_decides_for_each_worker)
{
    struct orr_job *job;

    start(&orr_sched_dmda);
    job = job_of(1, 10, 0);
    job->costs->per_worker = true;
    job->task->cl->can_execute = only_worker_3;
    ck_assert_uint_eq(place(job), 3);
    fake_stop();
}
END_TEST

START_TEST(workers_named_by_the_task_are_the_only_ones)
{
    uint32_t ids = 1 << 2;
    struct orr_job *job;

    start(&orr_sched_dmda);
    job = job_of(100, 1, 0);
    job->task->workerids = &ids;
    job->task->workerids_len = 1;
    ck_assert_uint_eq(place(job), 2);
    job = job_of(100, 1, 0);
    job->task->where = (int32_t)STARPU_CPU;
    ck_assert_uint_eq(place(job), 0);
    fake_stop();
}
END_TEST

START_TEST(no_able_worker_is_an_error)
{
    start(&orr_sched_dmda);
    ck_assert_int_eq(fake_push(job_of(0, 0, 0)), -ENODEV);
    fake_stop();
}
END_TEST

/* --- without lengths --- */

START_TEST(workers_without_a_length_come_first_then_the_least_loaded)
{
    struct orr_job *job;

    start(&orr_sched_dmda);
    job = job_of(10, NAN, 0);
    ck_assert_uint_eq(place(job), 1);
    ck_assert_double_eq(job->predicted, 0);
    ck_assert_double_eq(job->predicted_transfer, 0);
    ck_assert_uint_eq(place(job_of(10, NAN, 0)), 3);
    ck_assert_uint_eq(place(job_of(10, NAN, 0)), 1);
    /* No model: all are equal but for their queues. */
    ck_assert_uint_eq(place(job_of(-1, -1, 0)), 0);
    ck_assert_uint_eq(place(job_of(-1, -1, 0)), 2);
    ck_assert_uint_eq(place(job_of(-1, -1, 0)), 0);
    fake_stop();
}
END_TEST

START_TEST(one_unknown_length_makes_the_choice_greedy)
{
    start(&orr_sched_dmda);
    /* The GPU's known length does not help it: it is later, equally loaded. */
    ck_assert_uint_eq(place(job_of(-1, 10, 0)), 0);
    ck_assert_uint_eq(place(job_of(-1, 10, 0)), 1);
    fake_stop();
}
END_TEST

START_TEST(a_greedy_load_is_divided_by_the_speedup)
{
    start(&orr_sched_dmda);
    fake.rt.workers->classes[1].relative_speedup = 10;
    for (unsigned i = 0; i < 2; i++)
        (void)place(job_of(-1, -1, 0)); /* 0 and 1 */
    ck_assert_uint_eq(place(job_of(-1, -1, 0)), 2);
    ck_assert_uint_eq(place(job_of(-1, -1, 0)), 3);
    /* CPUs: 2 / 1; GPU: 2 / 10. */
    ck_assert_uint_eq(place(job_of(-1, -1, 0)), 1);
    ck_assert_uint_eq(place(job_of(-1, -1, 0)), 3);
    fake_stop();
}
END_TEST

/* --- uncalibrated lengths --- */

/* Classes 0, 1, 2: a worker each, with these lengths that are measured. */
static const unsigned one_each[] = {0, 1, 2};

static struct orr_cost_row *
start_uncalibrated(const struct orr_dm_variant *variant, double a, double b,
                   double c)
{
    struct orr_cost_row *row;

    fake_start(one_each, 3);
    fake_policy(&variant->ops);
    row = fake_row((double[]){a, b, c});
    fake_recal(row);
    return row;
}

static struct orr_job *push_one(struct orr_cost_row *row, int priority)
{
    struct orr_job *job = fake_job(row, priority);

    ck_assert_int_eq(fake_push(job), 0);
    return job;
}

static void run(struct orr_job *job, unsigned w)
{
    pre(job, w);
    post(job, w);
}

START_TEST(an_uncalibrated_job_waits_for_workers_and_wakes_them)
{
    struct orr_cost_row *row =
        start_uncalibrated(&orr_sched_dmda, 100, 10, NAN);
    struct orr_job *job;

    for (unsigned w = 0; w < 3; w++)
        orr_worker_fall_asleep(&fake.rt.workers->at[w]);
    job = push_one(row, 0);
    /* Worker 0 would take longer than worker 1 for two of them. */
    ck_assert_uint_eq(fake.woken, 2 | 4);
    for (unsigned w = 0; w < 3; w++)
        check_expected(w, 0, 0, 0, 0);
    ck_assert_ptr_null(fake_pop(0));
    ck_assert_ptr_eq(fake_pop(2), job);
    check_expected(2, 0, 0, 0, 1);
    run(job, 2);
    check_expected(2, 0, 0, 0, 0);
    fake_stop();
}
END_TEST

START_TEST(a_worker_calibrates_with_one_job_at_a_time)
{
    struct orr_cost_row *row = start_uncalibrated(&orr_sched_dmda, 0, NAN, NAN);
    struct orr_job *a = push_one(row, 0), *b = push_one(row, 0),
                   *c = push_one(row, 0);

    ck_assert_ptr_eq(fake_pop(1), a);
    ck_assert_ptr_null(fake_pop(1));
    ck_assert_ptr_eq(fake_pop(2), b);
    run(a, 1);
    ck_assert_ptr_eq(fake_pop(1), c);
    ck_assert_ptr_null(fake_pop(2));
    fake_stop();
}
END_TEST

START_TEST(a_slow_worker_helps_when_the_fastest_has_enough_to_do)
{
    struct orr_cost_row *row =
        start_uncalibrated(&orr_sched_dmda, 100, 10, NAN);

    for (unsigned i = 0; i < 8; i++)
        push_one(row, 0);
    ck_assert_ptr_null(fake_pop(0));
    push_one(row, 0); /* the fastest needs 90 µs for them, and 10 for one */
    ck_assert_ptr_nonnull(fake_pop(0));
    for (unsigned i = 0; i < 8; i++)
        ck_assert_ptr_nonnull(fake_pop(1));
    ck_assert_ptr_null(fake_pop(1));
    check_expected(1, 0, 80, 0, 8);
    fake_stop();
}
END_TEST

START_TEST(jobs_are_decided_once_their_lengths_are_known)
{
    struct orr_cost_row *row = start_uncalibrated(&orr_sched_dmda, 0, NAN, NAN);
    struct orr_job *jobs[4];

    for (unsigned i = 0; i < 4; i++)
        jobs[i] = push_one(row, 0);
    row->length[STARPU_MAXIMPLEMENTATIONS] = 10;
    row->length[2 * STARPU_MAXIMPLEMENTATIONS] = 25;
    fake_refresh(row);
    orr_worker_fall_asleep(&fake.rt.workers->at[2]);
    ck_assert_ptr_eq(fake_pop(1), jobs[0]);
    ck_assert(fake.woken & 4);
    /* Ends: 10, 20, 25 on worker 2, 30. */
    check_expected(1, 0, 30, 0, 3);
    check_expected(2, 0, 25, 0, 1);
    ck_assert_ptr_eq(fake_pop(2), jobs[2]);
    ck_assert_ptr_eq(fake_pop(1), jobs[1]);
    ck_assert_ptr_eq(fake_pop(1), jobs[3]);
    fake_stop();
}
END_TEST

START_TEST(priority_then_age_decides_whether_a_workers_own_jobs_come_first)
{
    const struct orr_dm_variant *variants[] = {&orr_sched_dmdas,
                                               &orr_sched_dmda};

    for (unsigned v = 0; v < 2; v++) {
        struct orr_cost_row *row = start_uncalibrated(variants[v], 0, NAN, 0);
        struct orr_cost_row *known = fake_row((double[]){0, 10, 0});
        struct orr_job *own = push_one(known, 1), *later = push_one(known, 1);
        struct orr_job *waits = push_one(row, 2), *last = push_one(known, 1);
        struct orr_job *order[2][4] = {{waits, own, later, last},
                                       {own, later, waits, last}};

        for (unsigned i = 0; i < 4; i++) {
            ck_assert_ptr_eq(fake_pop(1), order[v][i]);
            run(order[v][i], 1);
        }
        fake_stop();
    }
}
END_TEST

START_TEST(the_implementation_with_fewest_runs_comes_next)
{
    struct orr_cost_row *row = start_uncalibrated(&orr_sched_dmda, 0, NAN, 0);
    unsigned counts[3] = {0, 0, 0};

    row->able[1] = 1 | 2 | 4;
    row->length[STARPU_MAXIMPLEMENTATIONS + 1] = 30; /* known */
    row->length[STARPU_MAXIMPLEMENTATIONS + 2] = NAN;
    fake_refresh(row);
    for (unsigned i = 0; i < 6; i++) {
        struct orr_job *job = push_one(row, 0);

        ck_assert_ptr_eq(fake_pop(1), job);
        ck_assert_uint_eq(job->implementation, i % 2 ? 2 : 0);
        counts[job->implementation]++;
        run(job, 1);
    }
    ck_assert_uint_eq(counts[0], counts[2]);
    fake_stop();
}
END_TEST

START_TEST(jobs_that_wait_go_to_no_worker_that_cannot_run_them)
{
    struct orr_cost_row *row;
    uint32_t words = 1 << 1;
    struct orr_job *named, *asking;

    start(&orr_sched_dmda);
    row = fake_row((double[]){0, NAN});
    fake_recal(row);
    named = fake_job(row, 0);
    named->task->workerids = &words;
    named->task->workerids_len = 1;
    ck_assert_int_eq(fake_push(named), 0);
    row = fake_row((double[]){NAN, NAN});
    fake_recal(row);
    row->per_worker = true;
    row->cl->can_execute = only_worker_3;
    asking = fake_job(row, 0);
    ck_assert_int_eq(fake_push(asking), 0);
    ck_assert_ptr_null(fake_pop(0));
    ck_assert_ptr_eq(fake_pop(3), asking);
    ck_assert_ptr_eq(fake_pop(1), named);
    fake_stop();
}
END_TEST

START_TEST(a_job_behind_many_that_a_worker_declines_is_found)
{
    struct orr_cost_row *row =
        start_uncalibrated(&orr_sched_dmda, 1e4, 10, NAN);
    struct orr_cost_row *mine;
    struct orr_job *job;

    for (unsigned i = 0; i < 100; i++)
        push_one(row, 0); /* worker 0 is too slow for these */
    mine = fake_row((double[]){NAN, 0, 0});
    fake_recal(mine);
    orr_worker_fall_asleep(&fake.rt.workers->at[0]);
    job = push_one(mine, 0);
    ck_assert(fake.woken & 1);
    ck_assert_ptr_eq(fake_pop(0), job);
    fake_stop();
}
END_TEST

START_TEST(the_end_of_a_kernel_wakes_workers_for_the_next_job)
{
    struct orr_cost_row *row =
        start_uncalibrated(&orr_sched_dmda, 100, 10, NAN);
    struct orr_job *jobs[3];

    for (unsigned i = 0; i < 3; i++)
        jobs[i] = push_one(row, 0);
    ck_assert_ptr_eq(fake_pop(2), jobs[0]);
    ck_assert_ptr_eq(fake_pop(1), jobs[1]);
    for (unsigned w = 0; w < 3; w++)
        orr_worker_fall_asleep(&fake.rt.workers->at[w]);
    fake.woken = 0;
    run(jobs[1], 1);
    ck_assert_uint_eq(fake.woken, 2); /* 2 is calibrating, 0 is slow */
    run(jobs[0], 2);
    ck_assert_uint_eq(fake.woken, 2 | 4);
    fake_stop();
}
END_TEST

START_TEST(a_recalibration_that_is_due_goes_where_nothing_else_would)
{
    struct orr_cost_row *row = start_uncalibrated(&orr_sched_dmda, 0, 10, 1000);
    struct orr_recal *recal = row->recal;

    orr_recal_begin_with(recal, 2, 0, ORR_RECAL_RUNS);
    fake_refresh(row);
    ck_assert_uint_eq(place(fake_job(row, 0)), 2);
    /* One at a time. */
    ck_assert_uint_eq(place(fake_job(row, 0)), 1);
    ck_assert_uint_eq(place(fake_job(row, 0)), 1);
    fake_stop();
}
END_TEST

/* --- expected times --- */

START_TEST(a_job_moves_through_the_expected_times_of_its_worker)
{
    struct orr_job *job;

    start(&orr_sched_dmda);
    fake.transfer[1] = 30;
    job = job_of(100, 10, 0);
    ck_assert_uint_eq(place(job), 1);
    ck_assert_double_eq(job->predicted, 10);
    ck_assert_double_eq(job->predicted_transfer, 30);
    ck_assert_double_eq(job->task->predicted, 10);
    check_expected(1, 0, 40, 0, 1);
    fake.now = 5;
    ck_assert_ptr_null(fake_pop(3));
    ck_assert_ptr_eq(fake_pop(1), job);
    check_expected(1, 35, 10, 30, 1);
    fake.now = 31;
    pre(job, 1);
    check_expected(1, 41, 0, 10, 1);
    fake.now = 43;
    post(job, 1);
    check_expected(1, 43, 0, 0, 0);
    ck_assert_ptr_null(fake_pop(1));
    fake_stop();
}
END_TEST

START_TEST(queued_work_hides_transfers)
{
    struct orr_job *a, *b, *c;

    start(&orr_sched_dmda);
    fake.transfer[1] = 30;
    a = job_of(0, 20, 0);
    b = job_of(0, 20, 0);
    c = job_of(0, 20, 0);
    ck_assert_uint_eq(place(a), 1);
    ck_assert_uint_eq(place(b), 3);
    ck_assert_uint_eq(place(c), 1);
    ck_assert_double_eq(b->predicted_transfer, 30);
    /* Worker 1 works until 50: data requested at 10 are there at 40. */
    ck_assert_double_eq(c->predicted_transfer, 0);
    check_expected(1, 0, 70, 0, 2);
    fake_stop();
}
END_TEST

START_TEST(a_job_for_one_worker_leaves_no_trace_in_the_expected_times)
{
    struct orr_job *job;

    start(&orr_sched_dmda);
    fake.transfer[1] = 30;
    job = job_of(100, 10, 0);
    fake.rt.sched_ctxs->at[0]->ops->push_notify(fake.rt.sched_ctxs->at[0], job,
                                                &fake.rt.workers->at[3]);
    check_expected(3, 0, 10, 30, 1);
    ck_assert_double_eq(job->predicted_transfer, 30);
    fake.now = 30;
    pre(job, 3);
    check_expected(3, 40, 0, 10, 1);
    fake.now = 40;
    post(job, 3);
    check_expected(3, 40, 0, 0, 0);
    fake_stop();
}
END_TEST

/* --- order of queues --- */

START_TEST(dmdas_pops_priorities_then_ready_data_and_dmda_the_oldest)
{
    const struct orr_dm_variant *variants[] = {&orr_sched_dmdas,
                                               &orr_sched_dmda};

    const unsigned one[] = {0};

    for (unsigned v = 0; v < 2; v++) {
        struct orr_job *a, *b, *c;

        fake_start(one, 1);
        fake_policy(&variants[v]->ops);
        a = job_of(1, 0, 1);
        b = job_of(1, 0, 2);
        c = job_of(1, 0, 2);
        fake_datum(b, STARPU_R, 8, 2, 0, 0);
        fake_datum(c, STARPU_R, 8, 3, 0, 1);
        ck_assert_int_eq(fake_push(a) | fake_push(b) | fake_push(c), 0);
        ck_assert_ptr_eq(fake_pop(0), v ? a : c);
        ck_assert_ptr_eq(fake_pop(0), b);
        ck_assert_ptr_eq(fake_pop(0), v ? c : a);
        fake_stop();
    }
}
END_TEST

START_TEST(dmdasd_counts_only_what_is_served_before)
{
    start(&orr_sched_dmdasd);
    /* Served before the 100 µs of worker 0, the second one sees nothing. */
    ck_assert_uint_eq(place(job_of(100, 0, 0)), 0);
    ck_assert_uint_eq(place(job_of(10, 0, 5)), 0);
    /* Behind 10 µs there, behind nothing on worker 2. */
    ck_assert_uint_eq(place(job_of(10, 0, 5)), 2);
    /* Behind 10 µs of priority 5 on both. */
    ck_assert_uint_eq(place(job_of(10, 0, 3)), 0);
    /* Last on both: 120 and 10 µs. */
    ck_assert_uint_eq(place(job_of(10, 0, 0)), 2);
    fake_stop();
}
END_TEST

START_TEST(robust_decides_by_a_time_that_is_seldom_exceeded)
{
    struct orr_job *job = NULL;

    for (int cautious = 0; cautious < 2; cautious++) {
        start(cautious ? &orr_sched_robust : &orr_sched_dmdas);
        fake.margin[0] = 50;
        fake.margin[1] = 1;
        job = job_of(100, 120, 0);
        /* Classes are interleaved: worker 1 is the first of class 1. */
        ck_assert_uint_eq(place(job), cautious ? 1 : 0);
        ck_assert_double_eq(job->predicted, cautious ? 121 : 100);
        check_expected(place(job_of(100, 120, 0)), 0, cautious ? 121 : 100, 0,
                       1);
        fake_stop();
    }
}
END_TEST

START_TEST(dmdasd_with_known_priorities_keeps_a_length_for_each)
{
    struct orr_job *job;

    fake_start(interleaved, 4);
    {
        struct orr_error err;
        struct orr_sched *sched;

        struct orr_sched_options options = {
            .name = "dmdasd",
            .max_priority = 5,
            .min_given = true,
            .max_given = true,
        };

        ck_assert_int_eq(orr_sched_new(&fake.rt, &options, &sched, &err), 0);
        ck_assert(sched->min_given && sched->max_given);
        fake.rt.sched_ctxs->at[0] = sched;
    }
    job = job_of(100, 0, 0);
    ck_assert_uint_eq(place(job), 0);
    ck_assert_double_eq(dm()->workers[0].ahead[0], 100);
    ck_assert_double_eq(dm()->workers[0].ahead[1], 0);
    ck_assert_uint_eq(place(job_of(10, 0, 5)), 0);
    ck_assert_double_eq(dm()->workers[0].ahead[5], 10);
    ck_assert_double_eq(dm()->workers[0].ahead[0], 110);
    fake_pop(0);
    orr_sched_deinit(fake.rt.sched_ctxs->at[0]);
    orr_sched_free(fake.rt.sched_ctxs->at[0]);
    fake.rt.sched_ctxs->at[0] = NULL;
    fake_stop();
}
END_TEST

/* --- the choice by classes --- */

static void random_offer(struct orr_dm_offer *offer)
{
    offer->unknown = false;
    for (unsigned k = 0; k < fake.rt.workers->nclasses; k++) {
        struct orr_cost_row *row = offer->job->costs;

        row->able[k] = (uint8_t)(k ? rand() % 4 : 1 + rand() % 3);
        fake.transfer[k] = rand() % 3 ? 0 : rand() % 20;
        fake.energy[k] = rand() % 3 ? 0 : 0.001 * (rand() % 20);
        for (unsigned i = 0; i < 2; i++)
            row->length[k * STARPU_MAXIMPLEMENTATIONS + i] =
                (1 + rand() % 12) * (rand() % 2 ? 1 : 0.1);
    }
}

START_TEST(the_choice_by_classes_is_that_of_a_walk_over_all_workers)
{
    const double ones[FAKE_CLASSES] = {1, 1, 1, 1};
    unsigned classes[FAKE_WORKERS];
    struct orr_dm_choice fast, slow;
    struct orr_dm_offer offer;
    struct orr_job *jobs[FAKE_WORKERS];
    unsigned chosen = 0;

    srand(11);
    for (unsigned i = 0; i < FAKE_WORKERS; i++)
        classes[i] = i < FAKE_CLASSES ? i : (unsigned)(rand() % FAKE_CLASSES);
    fake_start(classes, FAKE_WORKERS);
    fake_policy(&orr_sched_dmda.ops);
    for (unsigned i = 0; i < FAKE_WORKERS; i++) {
        jobs[i] = fake_job(fake_row(ones), 0);
        if (i % 2)
            jobs[i]->task->cl->energy_model = &energy_model;
    }
    for (unsigned step = 0; step < 20000; step++) {
        struct orr_job *job = jobs[step % FAKE_WORKERS];
        unsigned w = (unsigned)rand() % FAKE_WORKERS;

        fake.now += rand() % 4 ? 0 : 0.1 * (rand() % 30);
        if (!orr_link_free(&job->queue))
            continue;
        offer.job = job;
        random_offer(&offer);
        ck_assert_int_eq(orr_dm_evaluate(dm(), job, &offer), 0);
        fast = orr_dm_choose(dm(), &offer, fake.now);
        slow = orr_dm_choose_scan(dm(), &offer, fake.now);
        ck_assert_uint_eq(fast.worker, slow.worker);
        ck_assert_uint_eq(fast.impl, slow.impl);
        ck_assert(fast.length == slow.length);
        chosen |= 1U << fast.worker;
        ck_assert_int_eq(fake_push(job), 0);
        for (unsigned n = 0; n < 3; n++, w = (w + 7) % FAKE_WORKERS) {
            struct orr_job *popped = fake_pop(w);

            if (!popped)
                continue;
            fake.now += 0.1 * (rand() % 3);
            pre(popped, w);
            fake.now += 0.1 * (rand() % 9);
            post(popped, w);
        }
    }
    ck_assert_int_gt(__builtin_popcount(chosen), 16);
    fake_stop();
}
END_TEST

SUITE_MAIN(sched_dm)
{
    Suite *suite = suite_create("sched-dm");
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, transfers_count_in_the_end_and_in_full_beside_it);
    tcase_add_test(tc, dm_ignores_transfers);
    tcase_add_test(tc, energy_counts_where_a_model_has_it);
    tcase_add_test(tc, equal_ends_go_to_the_lowest_number);
    tcase_add_test(tc, time_that_has_passed_leaves_the_queue_as_it_is);
    tcase_add_test(tc, the_chosen_worker_is_woken_if_it_sleeps);
    tcase_add_test(tc, weights_come_from_the_configuration);
    tcase_add_test(tc, a_faster_implementation_is_chosen);
    tcase_add_test(tc, can_execute_decides_for_each_worker);
    tcase_add_test(tc, workers_named_by_the_task_are_the_only_ones);
    tcase_add_test(tc, no_able_worker_is_an_error);
    tcase_add_test(tc,
                   workers_without_a_length_come_first_then_the_least_loaded);
    tcase_add_test(tc, one_unknown_length_makes_the_choice_greedy);
    tcase_add_test(tc, a_greedy_load_is_divided_by_the_speedup);
    tcase_add_test(tc, an_uncalibrated_job_waits_for_workers_and_wakes_them);
    tcase_add_test(tc, a_worker_calibrates_with_one_job_at_a_time);
    tcase_add_test(tc, a_slow_worker_helps_when_the_fastest_has_enough_to_do);
    tcase_add_test(tc, jobs_are_decided_once_their_lengths_are_known);
    tcase_add_test(
        tc, priority_then_age_decides_whether_a_workers_own_jobs_come_first);
    tcase_add_test(tc, the_implementation_with_fewest_runs_comes_next);
    tcase_add_test(tc, jobs_that_wait_go_to_no_worker_that_cannot_run_them);
    tcase_add_test(tc, a_job_behind_many_that_a_worker_declines_is_found);
    tcase_add_test(tc, the_end_of_a_kernel_wakes_workers_for_the_next_job);
    tcase_add_test(tc,
                   a_recalibration_that_is_due_goes_where_nothing_else_would);
    tcase_add_test(tc, a_job_moves_through_the_expected_times_of_its_worker);
    tcase_add_test(tc, queued_work_hides_transfers);
    tcase_add_test(tc,
                   a_job_for_one_worker_leaves_no_trace_in_the_expected_times);
    tcase_add_test(tc,
                   dmdas_pops_priorities_then_ready_data_and_dmda_the_oldest);
    tcase_add_test(tc, dmdasd_counts_only_what_is_served_before);
    tcase_add_test(tc, robust_decides_by_a_time_that_is_seldom_exceeded);
    tcase_add_test(tc, dmdasd_with_known_priorities_keeps_a_length_for_each);
    tcase_add_test(tc,
                   the_choice_by_classes_is_that_of_a_walk_over_all_workers);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

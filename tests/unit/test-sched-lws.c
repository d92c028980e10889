/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sched-lws.c - work stealing and the central lists, whose
 * common point is that a worker may not be able to run what it finds.
 * Workers 0 and 2 are CPUs, 1 is a GPU.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "core/policies/policies.h"
#include "core/sched/ctxs.h"
#include "core/worker/asleep.h"
#include "fake_sched.h"
#include "core/worker/workers.h"
#include "tests/rng.h"
#include "tests/suite.h"

static struct orr_cost_row *both, *cpu, *gpu;

static void start(const struct orr_sched_ops *ops)
{
    const unsigned classes[] = {0, 1, 0};

    fake_start(classes, 3);
    fake_policy(ops);
    both = fake_row((double[]){1, 1});
    cpu = fake_row((double[]){1, 0});
    gpu = fake_row((double[]){0, 1});
}

static void start_lws(void)
{
    start(&orr_sched_lws);
}

static struct orr_job *push(struct orr_cost_row *row, int priority)
{
    struct orr_job *job = fake_job(row, priority);

    ck_assert_int_eq(fake_push(job), 0);
    return job;
}

/* --- work stealing --- */

START_TEST(jobs_from_outside_go_to_able_workers_in_turn)
{
    struct orr_job *a = push(both, 0), *b = push(both, 0), *c = push(cpu, 0),
                   *d = push(cpu, 0);

    ck_assert_ptr_eq(fake_pop(0), a);
    ck_assert_ptr_eq(fake_pop(1), b);
    ck_assert_ptr_eq(fake_pop(2), c);
    ck_assert_ptr_eq(fake_pop(0), d);
}
END_TEST

START_TEST(a_worker_keeps_what_it_makes_ready_if_it_can_run_it)
{
    struct orr_job *a, *b;

    fake_be(1);
    a = push(both, 0);
    b = push(cpu, 0);
    ck_assert_ptr_eq(fake_pop(1), a);
    ck_assert_ptr_eq(fake_pop(0), b);
}
END_TEST

START_TEST(a_worker_takes_its_best_and_oldest_job)
{
    struct orr_job *a, *b, *c;

    fake_be(0);
    a = push(both, 1);
    b = push(both, 2);
    c = push(both, 2);
    ck_assert_ptr_eq(fake_pop(0), b);
    ck_assert_ptr_eq(fake_pop(0), c);
    ck_assert_ptr_eq(fake_pop(0), a);
}
END_TEST

START_TEST(a_thief_takes_the_newest_of_the_best)
{
    struct orr_job *a, *b, *c, *d;

    fake_be(0);
    a = push(both, 3);
    b = push(both, 2);
    c = push(both, 2);
    d = push(both, 1);
    ck_assert_ptr_eq(fake_pop(0), a); /* now busy */
    ck_assert_ptr_eq(fake_pop(2), c);
    ck_assert_ptr_eq(fake_pop(1), b);
    ck_assert_ptr_eq(fake_pop(2), d);
    ck_assert_ptr_null(fake_pop(2));
}
END_TEST

START_TEST(nothing_is_stolen_from_a_worker_that_has_not_begun)
{
    struct orr_job *a, *b, *mine;

    fake_be(0);
    a = push(both, 0);
    b = push(both, 0);
    ck_assert_ptr_null(fake_pop(1));
    /* A task for it alone makes it busy as well. */
    mine = fake_job(cpu, 0);
    fake.rt.sched_ctxs->at[0]->ops->push_notify(fake.rt.sched_ctxs->at[0], mine,
                                                &fake.rt.workers->at[0]);
    ck_assert_ptr_eq(fake_pop(1), b);
    ck_assert_ptr_eq(fake_pop(0), a);
}
END_TEST

START_TEST(
    a_worker_that_begins_with_more_than_one_job_wakes_those_that_may_take_the_rest)
{
    struct orr_job *a, *b;

    fake_be(0);
    a = push(both, 0);
    b = push(both, 0);
    ck_assert_ptr_null(fake_pop(1)); /* 0 has not begun */
    orr_worker_fall_asleep(&fake.rt.workers->at[1]);
    fake.woken = 0;
    ck_assert_ptr_eq(fake_pop(0), a);
    ck_assert_uint_eq(fake.woken, 2);
    ck_assert_ptr_eq(fake_pop(1), b);
}
END_TEST

START_TEST(a_job_for_a_worker_that_sleeps_wakes_nobody_else)
{
    struct orr_job *a, *b;

    for (unsigned w = 0; w < 3; w++)
        orr_worker_fall_asleep(&fake.rt.workers->at[w]);
    fake.woken = 0;
    a = push(both, 0);
    ck_assert_uint_eq(fake.woken, 1); /* the others could not steal it */
    b = push(both, 0);
    ck_assert_uint_eq(fake.woken, 3);
    ck_assert_ptr_eq(fake_pop(0), a);
    ck_assert_ptr_eq(fake_pop(1), b);
}
END_TEST

START_TEST(a_thief_skips_newer_jobs_that_it_cannot_run)
{
    struct orr_job *a, *b, *c;

    fake_be(0);
    a = push(both, 0);
    b = push(both, 0);
    c = push(cpu, 0);
    ck_assert_ptr_eq(fake_pop(0), a);
    ck_assert_ptr_eq(fake_pop(1), b);
    ck_assert_ptr_null(fake_pop(1));
    ck_assert_ptr_eq(fake_pop(2), c);
}
END_TEST

START_TEST(victims_come_in_turn)
{
    struct orr_job *jobs[2][3];

    for (unsigned w = 0; w < 2; w++) {
        fake_be((int)w);
        for (unsigned i = 0; i < 3; i++)
            jobs[w][i] = push(both, 0);
        ck_assert_ptr_eq(fake_pop(w), jobs[w][0]);
    }
    ck_assert_ptr_eq(fake_pop(2), jobs[0][2]);
    ck_assert_ptr_eq(fake_pop(2), jobs[1][2]);
    ck_assert_ptr_eq(fake_pop(2), jobs[0][1]);
    ck_assert_ptr_eq(fake_pop(2), jobs[1][1]);
}
END_TEST

/* For each of four workers, itself first. */
static unsigned near[] = {0, 3, 2, 1, 1, 2, 0, 3, 2, 1, 3, 0, 3, 0, 1, 2};

static void start_near(const struct orr_sched_ops *ops)
{
    static const unsigned classes[] = {0, 0, 0, 1};

    fake_start(classes, 4);
    fake.rt.machine->neighbours = near;
    fake_policy(ops);
    both = fake_row((double[]){1, 1});
    cpu = fake_row((double[]){1, 0});
}

/* Workers 1 to 3 are busy and have two more jobs each; which ones worker 0
 * takes, one after the other. */
static void rob_all(unsigned *ret_owners)
{
    struct orr_job *jobs[4][3];

    for (unsigned w = 1; w < 4; w++) {
        fake_be((int)w);
        for (unsigned i = 0; i < 3; i++)
            jobs[w][i] = push(both, 0);
        ck_assert_ptr_eq(fake_pop(w), jobs[w][0]);
    }
    for (unsigned i = 0; i < 6; i++) {
        struct orr_job *job = fake_pop(0);

        ret_owners[i] = 0;
        for (unsigned w = 1; w < 4; w++)
            if (job == jobs[w][1] || job == jobs[w][2])
                ret_owners[i] = w;
    }
    ck_assert_ptr_null(fake_pop(0));
}

START_TEST(the_nearest_are_robbed_first_by_lws)
{
    static const unsigned expected[] = {3, 3, 2, 2, 1, 1};
    unsigned owners[6];

    start_near(&orr_sched_lws);
    rob_all(owners);
    ck_assert_mem_eq(owners, expected, sizeof(expected));
    fake_stop();
}
END_TEST

START_TEST(ws_does_not_ask_who_is_near)
{
    static const unsigned expected[] = {1, 2, 3, 1, 2, 3};
    unsigned owners[6];

    start_near(&orr_sched_ws);
    rob_all(owners);
    ck_assert_mem_eq(owners, expected, sizeof(expected));
    fake_stop();
}
END_TEST

START_TEST(the_next_nearest_is_robbed_if_the_nearest_has_nothing_for_the_thief)
{
    struct orr_job *a, *b, *c;

    start_near(&orr_sched_lws);
    fake_be(0);
    a = push(both, 0);
    push(cpu, 0);
    fake_be(1);
    b = push(both, 0);
    c = push(both, 0);
    ck_assert_ptr_eq(fake_pop(0), a);
    ck_assert_ptr_eq(fake_pop(1), b);
    /* Worker 3 is nearest to 0, whose other job only CPUs can run. */
    ck_assert_ptr_eq(fake_pop(3), c);
    fake_stop();
}
END_TEST

START_TEST(every_sleeping_worker_is_woken)
{
    orr_worker_fall_asleep(&fake.rt.workers->at[1]);
    orr_worker_fall_asleep(&fake.rt.workers->at[2]);
    push(both, 0);
    ck_assert_uint_eq(fake.woken, 6);
}
END_TEST

START_TEST(a_job_without_able_worker_is_refused)
{
    ck_assert_int_eq(fake_push(fake_job(fake_row((double[]){0, 0}), 0)),
                     -ENODEV);
}
END_TEST

/* --- central lists --- */

START_TEST(eager_gives_the_oldest_job_that_the_worker_can_run)
{
    struct orr_job *a, *b, *c;

    start(&orr_sched_eager);
    a = push(gpu, 0);
    b = push(both, 9);
    c = push(cpu, 5);
    ck_assert_ptr_eq(fake_pop(0), b);
    ck_assert_ptr_eq(fake_pop(0), c);
    ck_assert_ptr_null(fake_pop(0));
    ck_assert_ptr_eq(fake_pop(1), a);
    fake_stop();
}
END_TEST

START_TEST(prio_gives_higher_priorities_first)
{
    struct orr_job *a, *b, *c;

    start(&orr_sched_prio);
    a = push(both, 1);
    b = push(both, 2);
    c = push(gpu, 3);
    ck_assert_ptr_eq(fake_pop(0), b);
    ck_assert_ptr_eq(fake_pop(0), a);
    ck_assert_ptr_eq(fake_pop(1), c);
    fake_stop();
}
END_TEST

START_TEST(one_sleeping_able_worker_is_woken)
{
    start(&orr_sched_eager);
    for (unsigned w = 0; w < 3; w++)
        orr_worker_fall_asleep(&fake.rt.workers->at[w]);
    push(gpu, 0);
    ck_assert_uint_eq(fake.woken, 1 << 1);
    push(both, 0);
    ck_assert_uint_eq(fake.woken, 3);
    fake_stop();
}
END_TEST

START_TEST(no_other_worker_is_woken_beside_one_of_a_device)
{
    struct orr_worker_desc device;

    start(&orr_sched_eager);
    device = *fake.rt.workers->at[1].desc;
    device.async = true;
    fake.rt.workers->at[1].desc = &device;
    for (unsigned w = 0; w < 3; w++)
        orr_worker_fall_asleep(&fake.rt.workers->at[w]);
    push(both, 0);
    ck_assert_uint_eq(fake.woken, 1 << 1);
    push(both, 0); /* the device is awake now */
    ck_assert_uint_eq(fake.woken, 3);
    push(gpu, 0); /* and nobody else can run this one */
    ck_assert_uint_eq(fake.woken, 3);
    fake_stop();
}
END_TEST

START_TEST(prio_wakes_another_when_a_worker_skipped_everything)
{
    start(&orr_sched_prio);
    push(gpu, 0);
    orr_worker_fall_asleep(&fake.rt.workers->at[1]);
    orr_worker_fall_asleep(&fake.rt.workers->at[2]);
    ck_assert_ptr_null(fake_pop(0));
    ck_assert_uint_eq(fake.woken, 1 << 1);
    fake_stop();
}
END_TEST

static struct orr_job *late;
static unsigned nasked;
static bool popping;

/* Accepts odd implementations on worker 0 only. During its first call the queue
 * changes. */
static int picky(unsigned worker, struct starpu_task *task, unsigned impl)
{
    ck_assert_uint_eq(orr_self->ranks, 0);
    ck_assert_uint_gt(orr_self->frozen, 0);
    ck_assert_int_eq(atomic_load(&orr_job_of(task)->ending) >= ORR_END_ASKED,
                     popping);
    if (nasked++ == 0 && late)
        ck_assert_int_eq(fake_push(late), 0);
    return worker == 0 && impl == 1 && task->priority == 0;
}

START_TEST(can_execute_is_called_without_lock_and_changes_are_noticed)
{
    struct orr_cost_row *row;
    struct orr_job *refused, *accepted;

    start(&orr_sched_prio);
    row = fake_row((double[]){1, 0});
    row->per_worker = true;
    row->able[0] = 3;
    row->cl->can_execute = picky;
    refused = push(row, 1);
    accepted = push(row, 0);
    late = fake_job(cpu, 2);
    nasked = 0;
    popping = true;
    ck_assert_ptr_eq(fake_pop(0), late);
    ck_assert_ptr_eq(fake_pop(0), accepted);
    ck_assert_uint_eq(accepted->implementation, 1);
    ck_assert_ptr_null(fake_pop(0));
    ck_assert(!orr_link_free(&refused->queue));
    late = NULL;
    fake_stop();
}
END_TEST

/* --- choice by name --- */

static const char *chosen(const char *name)
{
    struct orr_sched_options options = {.name = name};
    struct orr_sched *sched;
    struct orr_error err;
    const char *result;

    ck_assert_int_eq(orr_sched_new(&fake.rt, &options, &sched, &err), 0);
    result = sched->ops->name;
    orr_sched_deinit(sched);
    orr_sched_free(sched);
    return result;
}

START_TEST(policies_are_found_by_name_and_lws_stands_in)
{
    ck_assert_str_eq(chosen("dmdas"), "dmdas");
    ck_assert_str_eq(chosen("prio"), "prio");
    ck_assert_str_eq(chosen("heft-old"), "dmda");
    ck_assert_str_eq(chosen(NULL), "lws");
    ck_assert_str_eq(chosen("help"), "lws");
}
END_TEST

START_TEST(an_unknown_policy_is_refused_naming_the_known_ones)
{
    struct orr_sched_options options = {.name = "no such"};
    struct orr_sched *sched = NULL;
    struct orr_error err;

    ck_assert_int_eq(orr_sched_new(&fake.rt, &options, &sched, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "no such"));
    ck_assert_ptr_nonnull(strstr(err.text, "dmdas"));
    ck_assert_ptr_null(sched);
}
END_TEST

START_TEST(priorities_are_the_requested_ones_else_the_policys)
{
    static const struct {
        const char *name;
        int min, max, ret_min, ret_max;
        bool given;
    } cases[] = {
        {"prio", -1, -1, INT_MIN, INT_MAX, false},
        {"eager", -1, -1, 0, 0, false},
        {"prio", -7, 3, -7, 3, true},
        {"prio", 5, 3, INT_MIN, INT_MAX, false}, /* upside down: ignored */
        {"eager", 5, -1, 5, 5, false},
        {"eager", -1, 5, 0, 5, false},
        {"eager", -1, -5, -5, -5, false},
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct orr_sched_options options = {.name = cases[i].name,
                                            .min_priority = cases[i].min,
                                            .max_priority = cases[i].max,
                                            .min_given = cases[i].min != -1,
                                            .max_given = cases[i].max != -1};
        struct orr_sched *sched;
        struct orr_error err;

        ck_assert_int_eq(orr_sched_new(&fake.rt, &options, &sched, &err), 0);
        ck_assert_int_eq(sched->min_priority, cases[i].ret_min);
        ck_assert_int_eq(sched->max_priority, cases[i].ret_max);
        ck_assert_int_eq(sched->min_given && sched->max_given, cases[i].given);
        orr_sched_deinit(sched);
        orr_sched_free(sched);
    }
}
END_TEST

/* What a queue holds, in the order of pushes. */
struct model {
    struct orr_job *jobs[512];
    unsigned n;
};

/* The oldest of those with the best priority that the worker can run. */
static struct orr_job *take_from(struct model *model, unsigned worker,
                                 bool by_priority)
{
    unsigned class = worker == 1, best = model->n;
    struct orr_job *job;

    for (unsigned i = 0; i < model->n; i++)
        if (model->jobs[i]->costs->able[class] &&
            (best == model->n ||
             (by_priority &&
              model->jobs[i]->priority > model->jobs[best]->priority)))
            best = i;
    if (best == model->n)
        return NULL;
    job = model->jobs[best];
    memmove(&model->jobs[best], &model->jobs[best + 1],
            (--model->n - best) * sizeof(job));
    return job;
}

/* Runs of pushes and of pops, of few priorities: jobs wait in the inbox and are
 * taken from there at any point of the order. */
static void compare_with_model(const struct orr_sched_ops *ops, uint64_t seed,
                               unsigned npriorities)
{
    struct model model = {.n = 0};
    uint64_t rng = rng_of(seed);
    bool pushes = true;

    start(ops);
    for (unsigned step = 0; step < 400; step++) {
        unsigned worker = rng_next(&rng) % 3;

        if (rng_next(&rng) % 6 == 0)
            pushes = !pushes;
        if (pushes)
            model.jobs[model.n++] = push(
                (struct orr_cost_row *[]){both, cpu, gpu}[rng_next(&rng) % 3],
                (int)(rng_next(&rng) % npriorities));
        else
            ck_assert_ptr_eq(fake_pop(worker),
                             take_from(&model, worker, ops->by_priority));
    }
    fake_stop();
}

START_TEST(central_queues_keep_the_order_of_a_plain_list)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        compare_with_model(&orr_sched_eager, seed, 3);
        compare_with_model(&orr_sched_prio, seed, 1 + seed % 4);
    }
}
END_TEST

static struct starpu_task *user_pop(unsigned ctx)
{
    (void)ctx;
    return NULL;
}

START_TEST(a_user_policy_without_push_is_refused)
{
    struct starpu_sched_policy policy = {.pop_task = user_pop,
                                         .policy_name = "mine"};
    struct orr_sched_options options = {.user = &policy};
    struct orr_sched *sched = NULL;
    struct orr_error err = {""};

    ck_assert_int_eq(orr_sched_new(&fake.rt, &options, &sched, &err), -EINVAL);
    ck_assert_ptr_null(sched);
    ck_assert_ptr_nonnull(strstr(err.text, "mine"));
}
END_TEST

SUITE_MAIN(sched_lws)
{
    Suite *suite = suite_create("sched-lws");
    TCase *lws = tcase_create("lws"), *central = tcase_create("central");

    tcase_add_checked_fixture(lws, start_lws, fake_stop);
    tcase_add_test(lws, jobs_from_outside_go_to_able_workers_in_turn);
    tcase_add_test(lws, a_worker_keeps_what_it_makes_ready_if_it_can_run_it);
    tcase_add_test(lws, a_worker_takes_its_best_and_oldest_job);
    tcase_add_test(lws, a_thief_takes_the_newest_of_the_best);
    tcase_add_test(lws, nothing_is_stolen_from_a_worker_that_has_not_begun);
    tcase_add_test(
        lws,
        a_worker_that_begins_with_more_than_one_job_wakes_those_that_may_take_the_rest);
    tcase_add_test(lws, a_job_for_a_worker_that_sleeps_wakes_nobody_else);
    tcase_add_test(lws, a_thief_skips_newer_jobs_that_it_cannot_run);
    tcase_add_test(lws, victims_come_in_turn);
    tcase_add_test(lws, every_sleeping_worker_is_woken);
    tcase_add_test(lws, a_job_without_able_worker_is_refused);
    tcase_add_test(lws, policies_are_found_by_name_and_lws_stands_in);
    tcase_add_test(lws, an_unknown_policy_is_refused_naming_the_known_ones);
    tcase_add_test(lws, priorities_are_the_requested_ones_else_the_policys);
    tcase_add_test(lws, a_user_policy_without_push_is_refused);
    tcase_add_test(central, the_nearest_are_robbed_first_by_lws);
    tcase_add_test(central, ws_does_not_ask_who_is_near);
    tcase_add_test(
        central,
        the_next_nearest_is_robbed_if_the_nearest_has_nothing_for_the_thief);
    tcase_add_test(central, eager_gives_the_oldest_job_that_the_worker_can_run);
    tcase_add_test(central, prio_gives_higher_priorities_first);
    tcase_add_test(central, one_sleeping_able_worker_is_woken);
    tcase_add_test(central, no_other_worker_is_woken_beside_one_of_a_device);
    tcase_add_test(central,
                   prio_wakes_another_when_a_worker_skipped_everything);
    tcase_add_test(central,
                   can_execute_is_called_without_lock_and_changes_are_noticed);
    tcase_add_test(central, central_queues_keep_the_order_of_a_plain_list);
    suite_add_tcase(suite, lws);
    suite_add_tcase(suite, central);
    return suite_main(suite);
}

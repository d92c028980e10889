/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-tag.c - tests of core/task/tag.c: jobs and contexts that wait
 * for numbers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/data/release.h"
#include "core/job/count.h"
#include "core/task/tag.h"
#include "core/task/task.h"
#include "tests/suite.h"
#include "tests/unit/child.h"
#include "tests/unit/fake_runtime.h"

enum { A = 1, B = 2, C = 3, D = 4 };

static void setup(void)
{
    static const struct fake_spec spec = {.ncpus = 2};

    fake_open(&spec);
}

static void teardown(void)
{
    fake_close();
}

static void notify(starpu_tag_t id)
{
    orr_tag_notify(&fake.rt, id);
}

/* One more tag that `id` waits for. */
static void depends(starpu_tag_t id, starpu_tag_t on)
{
    ck_assert_int_eq(orr_tag_declare_deps(&fake.rt, id, 1, &on), 0);
}

/* A submitted job that carries the tag; its end does not reach it. */
static struct orr_job *bound(starpu_tag_t id)
{
    struct orr_job *job = fake_job(0);

    ck_assert_int_eq(orr_tag_bind(&fake.rt, id, job), 0);
    fake_submit(job);
    return job;
}

/* --- jobs --- */

START_TEST(a_tag_that_depends_on_nothing_holds_no_task)
{
    struct orr_job *job = bound(A);

    ck_assert_uint_eq(fake_readied(job), 1);
    notify(A);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(a_job_waits_until_all_its_tag_depends_on_is_reached)
{
    static const starpu_tag_t before[] = {B, C, D};
    struct orr_job *job;

    ck_assert_int_eq(orr_tag_declare_deps(&fake.rt, A, 2, before), 0);
    depends(A, before[2]); /* in parts: they add up */
    job = bound(A);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_readied(job), 0);
        notify(before[(i + (unsigned)_i) % 3]);
    }
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(what_was_reached_before_is_not_waited_for)
{
    struct orr_job *job;

    notify(B);
    depends(A, B);
    depends(A, C);
    if (_i)
        notify(C);
    job = bound(A);
    ck_assert_uint_eq(fake_readied(job), (unsigned)_i);
    if (!_i)
        notify(C);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(a_tag_reached_twice_counts_once)
{
    struct orr_job *job;

    depends(A, B);
    depends(A, C);
    job = bound(A);
    notify(B);
    notify(B);
    ck_assert_uint_eq(fake_readied(job), 0);
    notify(C);
    ck_assert_uint_eq(fake_readied(job), 1);
    notify(C);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(a_dependency_named_twice_is_met_by_one_end)
{
    static const starpu_tag_t before[] = {B, B};
    struct orr_job *job;

    ck_assert_int_eq(orr_tag_declare_deps(&fake.rt, A, 2, before), 0);
    job = bound(A);
    ck_assert_uint_eq(fake_readied(job), 0);
    notify(B);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(many_jobs_may_wait_for_one_tag)
{
    struct orr_job *jobs[20];

    for (unsigned i = 0; i < 20; i++) {
        depends(100 + i, B);
        if (i % 2)
            depends(100 + i, C);
        jobs[i] = bound(100 + i);
    }
    notify(B);
    ck_assert_uint_eq(fake.nready, 10);
    notify(C);
    for (unsigned i = 0; i < 20; i++) {
        ck_assert_uint_eq(fake_readied(jobs[i]), 1);
        fake_end(jobs[i]);
    }
}
END_TEST

/* Tags are reached by tasks and by the application only. */
START_TEST(a_tag_without_job_is_not_reached_by_what_it_waits_for)
{
    struct orr_job *job;

    depends(A, B);
    depends(B, C);
    job = bound(A);
    notify(C);
    ck_assert_uint_eq(fake_readied(job), 0);
    notify(B);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

/* Binding is a new start: what the tag stood for before does not count. */
START_TEST(a_tag_that_gets_a_job_is_not_reached_any_more)
{
    struct orr_job *first, *second;

    notify(B);
    first = bound(B);
    depends(A, B);
    second = bound(A);
    ck_assert_uint_eq(fake_readied(second), 0);
    notify(B);
    ck_assert_uint_eq(fake_readied(second), 1);
    fake_end(first);
    fake_end(second);
}
END_TEST

START_TEST(what_was_met_stays_so)
{
    struct orr_job *first, *second;

    notify(B);
    depends(A, B);
    first = bound(B);
    notify(B);
    second = bound(A);
    ck_assert_uint_eq(fake_readied(second), 1);
    fake_end(first);
    fake_end(second);
}
END_TEST

/* --- tasks --- */

/* A task without codelet that carries the tag; it is freed by its end. */
static struct orr_job *tagged_task(starpu_tag_t id)
{
    struct starpu_task *task = orr_task_new(&fake.rt);
    struct orr_job *job = orr_job_get(&fake.rt, task);

    task->use_tag = 1;
    task->tag_id = id;
    orr_job_ref(job);
    orr_count_submitted(&fake.rt, 0);
    ck_assert_int_eq(orr_tag_bind(&fake.rt, id, job), 0);
    return job;
}

static void submit_task(struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    orr_job_release(&fake.rt, job);
}

START_TEST(the_end_of_a_task_reaches_its_tag)
{
    struct orr_job *task = tagged_task(B), *job;

    depends(A, B);
    job = bound(A);
    ck_assert_uint_eq(fake_readied(job), 0);
    submit_task(task); /* and it ends */
    ck_assert_uint_eq(orr_count_unfinished(&fake.rt), 0);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(a_tag_knows_its_task)
{
    struct orr_job *job;

    ck_assert_ptr_null(orr_tag_task(&fake.rt, A));
    depends(A, B);
    ck_assert_ptr_null(orr_tag_task(&fake.rt, A));
    job = tagged_task(A);
    ck_assert_ptr_eq(orr_tag_task(&fake.rt, A), job->task);
    ck_assert_ptr_null(orr_tag_task(&fake.rt, B));
    submit_task(job);
    ck_assert_ptr_eq(orr_tag_task(&fake.rt, A), job->task);
    notify(B); /* it runs and ends */
    ck_assert_ptr_null(orr_tag_task(&fake.rt, A));
}
END_TEST

/* Numbers as programs make them of coordinates. */
static starpu_tag_t number(unsigned i)
{
    return (starpu_tag_t)(i % 7) << 60 | (starpu_tag_t)(i / 7) << 12;
}

START_TEST(many_tags_in_a_row)
{
    enum { MANY = 20000 };

    for (unsigned i = 1; i < MANY; i++)
        depends(number(i), number(i - 1));
    for (unsigned i = MANY; --i > 0;)
        submit_task(tagged_task(number(i)));
    for (unsigned i = 1; i < MANY; i++)
        ck_assert_ptr_nonnull(orr_tag_task(&fake.rt, number(i)));
    ck_assert_uint_eq(orr_count_unfinished(&fake.rt), MANY - 1);
    notify(number(0));
    ck_assert_uint_eq(orr_count_unfinished(&fake.rt), 0);
    ck_assert_ptr_null(orr_tag_task(&fake.rt, number(MANY - 1)));
}
END_TEST

/* --- again --- */

START_TEST(a_restarted_tag_has_to_be_reached_again)
{
    struct orr_job *job;

    depends(A, B);
    notify(B);
    orr_tag_restart(&fake.rt, B);
    job = bound(A);
    ck_assert_uint_eq(fake_readied(job), 0);
    notify(B);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(a_job_that_has_gone_is_not_let_go_again)
{
    struct orr_job *job;

    depends(A, B);
    job = bound(A);
    notify(B);
    fake_end(job);
    notify(A);
    orr_tag_restart(&fake.rt, B);
    notify(B);
    ck_assert_uint_eq(fake_readied(job), 1);
    ck_assert_int_eq(atomic_load(&job->waiting), 0);
}
END_TEST

START_TEST(restarting_what_was_not_reached_changes_nothing)
{
    struct orr_job *job;

    depends(A, B);
    job = bound(A);
    orr_tag_restart(&fake.rt, B);
    orr_tag_restart(&fake.rt, D); /* no call has named it */
    notify(B);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(dependencies_outlive_a_restart)
{
    depends(A, B);
    depends(A, C);
    for (unsigned round = 0; round < 3; round++) {
        struct orr_job *job = bound(A);

        notify(B);
        ck_assert_uint_eq(fake_readied(job), 0);
        notify(C);
        ck_assert_uint_eq(fake_readied(job), 1);
        fake_end(job);
        notify(A);
        for (starpu_tag_t id = A; id <= C; id++)
            orr_tag_restart(&fake.rt, id);
    }
}
END_TEST

START_TEST(a_removed_tag_was_not_reached)
{
    struct orr_job *job;

    notify(B);
    orr_tag_remove(&fake.rt, B);
    orr_tag_remove(&fake.rt, D); /* no call has named it */
    depends(A, B);
    job = bound(A);
    ck_assert_uint_eq(fake_readied(job), 0);
    notify(B);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(nothing_depends_on_a_removed_tag)
{
    struct orr_job *job;

    depends(A, B);
    depends(A, C);
    if (_i)
        notify(B);
    orr_tag_remove(&fake.rt, B);
    job = bound(A);
    ck_assert_uint_eq(fake_readied(job), 0);
    notify(B); /* the new one of this number: not what A waits for */
    ck_assert_uint_eq(fake_readied(job), 0);
    notify(C);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(all_who_depended_on_a_removed_tag_are_free_of_it)
{
    struct orr_job *job;

    for (starpu_tag_t id = 10; id < 14; id++)
        depends(id, B);
    orr_tag_remove(&fake.rt, B);
    for (starpu_tag_t id = 10; id < 14; id++) {
        job = bound(id);
        ck_assert_uint_eq(fake_readied(job), 1);
        fake_end(job);
    }
}
END_TEST

/* --- contexts --- */

static const starpu_tag_t abc[] = {A, B, C};
static unsigned nlooks;
static char reason[ORR_AWAITED_TEXT];

START_TEST(who_waits_for_what_was_reached_goes_on)
{
    for (unsigned i = 0; i < 3; i++)
        notify(abc[i]);
    ck_assert_int_eq(orr_tag_wait(&fake.rt, 3, abc), 0); /* it would park */
    ck_assert_int_eq(orr_tag_wait(&fake.rt, 0, NULL), 0);
}
END_TEST

/* Each time one more is reached, after a look for nothing. */
static void reach_one(void)
{
    static const starpu_tag_t in_order[] = {B, A, C};

    orr_awaited_write(orr_self->awaited, reason, sizeof(reason));
    if (nlooks++ % 2)
        notify(in_order[nlooks / 2 - 1]);
}

START_TEST(who_waits_goes_on_when_all_are_reached)
{
    nlooks = 0;
    fake.meanwhile = reach_one;
    ck_assert_int_eq(orr_tag_wait(&fake.rt, 3, abc), 0);
    ck_assert_uint_eq(nlooks, 6);
    ck_assert_ptr_nonnull(strstr(reason, "tag"));
    ck_assert_ptr_null(orr_self->awaited);
}
END_TEST

static unsigned woken;

/* While main waits a worker begins to, while which the tag is reached. */
static void wait_too(void)
{
    struct orr_context *caller = orr_self;

    if (nlooks++) {
        fake.woken = 0;
        fake_be(0);
        notify(A);
        orr_self = caller;
        woken = fake.woken;
        return;
    }
    fake_be(1);
    ck_assert_int_eq(orr_tag_wait(&fake.rt, 1, abc), 0);
    orr_self = caller;
}

START_TEST(all_who_wait_for_a_tag_are_woken)
{
    nlooks = 0;
    fake.meanwhile = wait_too;
    ck_assert_int_eq(orr_tag_wait(&fake.rt, 1, abc), 0);
    ck_assert_uint_eq(nlooks, 2);
    ck_assert_uint_eq(woken, 1U << FAKE_MAIN | 2);
    orr_tag_restart(&fake.rt, A);
    fake.woken = 0;
    notify(A); /* nothing waits any more */
    ck_assert_uint_eq(fake.woken, 0);
}
END_TEST

static void wait_in_a_callback(void *arg)
{
    (void)arg;
    orr_self->frozen++;
    printf("%d\n", orr_tag_wait(&fake.rt, 1, abc) == -EDEADLK);
    orr_self->frozen--;
}

START_TEST(a_wait_for_a_tag_in_a_callback_is_refused)
{
    char text[500];

    ck_assert_int_eq(child_run(wait_in_a_callback, NULL, text, sizeof(text)),
                     0);
    ck_assert_ptr_nonnull(strstr(text, "1\n"));
    ck_assert_ptr_nonnull(strstr(text, "starpu_tag_wait"));
}
END_TEST

/* --- without memory --- */

START_TEST(a_job_that_cannot_be_bound_is_held_by_nothing)
{
    struct orr_job *job = fake_job(0);
    int err;

    fake_refuse(0);
    err = orr_tag_bind(&fake.rt, A, job);
    fake_refuse(-1);
    ck_assert_int_eq(err, -ENOMEM);
    fake_submit(job);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

/* Three tags and two links between them. */
START_TEST(dependencies_without_memory_are_refused)
{
    static const starpu_tag_t before[] = {B, C};
    struct orr_job *job;
    int err;

    fake_refuse(_i);
    err = orr_tag_declare_deps(&fake.rt, A, 2, before);
    fake_refuse(-1);
    ck_assert_int_eq(err, _i < 5 ? -ENOMEM : 0);
    job = bound(A);
    /* The first one stands if it was the second that was refused. */
    ck_assert_uint_eq(fake_readied(job), _i < 3);
    notify(B);
    ck_assert_uint_eq(fake_readied(job), _i < 5);
    notify(C);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(waiting_needs_memory_for_the_tag)
{
    int err;

    fake_refuse(0);
    err = orr_tag_wait(&fake.rt, 1, abc);
    fake_refuse(-1);
    ck_assert_int_eq(err, -ENOMEM);
}
END_TEST

START_TEST(a_table_that_cannot_grow_loses_nothing)
{
    enum { MANY = 3000 };
    struct orr_job *job = fake_job(0);
    unsigned refused = 0;
    int err = 0;

    job->task = orr_task_new(&fake.rt);
    for (unsigned i = 0; i < MANY && !err; i++) {
        fake_refuse(1); /* the tag, but no larger table */
        err = orr_tag_bind(&fake.rt, number(i), job);
        refused += fake_refuse(-1) < 0;
    }
    ck_assert_int_eq(err, 0);
    ck_assert_uint_gt(refused, 0);
    for (unsigned i = 0; i < MANY; i++)
        ck_assert_ptr_eq(orr_tag_task(&fake.rt, number(i)), job->task);
    orr_task_free(&fake.rt, job->task);
    job->task = NULL;
}
END_TEST

START_TEST(tags_cannot_be_made_without_memory)
{
    struct orr_tags *tags = NULL;
    int err;

    fake_refuse(_i);
    err = orr_tags_new(&tags);
    fake_refuse(-1);
    ck_assert_int_eq(err, -ENOMEM);
    ck_assert_ptr_null(tags);
    orr_tags_free(NULL);
}
END_TEST

/* --- reports --- */

struct seen {
    unsigned n;
    const struct orr_job *job;
    starpu_tag_t before[4];
    bool bound[4];
};

static void see(const struct orr_job *job, starpu_tag_t before, bool is_bound,
                void *arg)
{
    struct seen *seen = arg;

    ck_assert_uint_lt(seen->n, 4);
    ck_assert(seen->n == 0 || job == seen->job);
    seen->job = job;
    seen->before[seen->n] = before;
    seen->bound[seen->n++] = is_bound;
}

START_TEST(a_report_names_what_jobs_wait_for)
{
    struct orr_job *job, *other = bound(C);
    struct seen seen = {0};

    depends(A, B);
    depends(A, C);
    depends(A, D);
    depends(D, B); /* no job waits there */
    notify(D);
    job = bound(A);
    orr_tags_each_missing(&fake.rt, see, &seen);
    ck_assert_uint_eq(seen.n, 2);
    ck_assert_ptr_eq(seen.job, job);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert(seen.before[i] == B || seen.before[i] == C);
        ck_assert(seen.bound[i] == (seen.before[i] == C));
    }
    ck_assert_uint_ne(seen.before[0], seen.before[1]);
    notify(B);
    notify(C);
    seen.n = 0;
    orr_tags_each_missing(&fake.rt, see, &seen);
    ck_assert_uint_eq(seen.n, 0);
    fake_end(job);
    fake_end(other);
}
END_TEST

static void notify_held(void *arg)
{
    starpu_tag_t before = 2;
    struct orr_job *job = fake_job(0);

    (void)arg;
    (void)orr_tag_declare_deps(&fake.rt, 1, 1, &before);
    (void)orr_tag_bind(&fake.rt, 1, job);
    fake_submit(job);
    orr_tag_notify(&fake.rt, 1);
    orr_tag_notify(&fake.rt, 2);
    if (fake_readied(job) != 1)
        fprintf(stderr, "not ready\n");
}

START_TEST(a_tag_that_is_reached_before_its_job_lets_it_go_all_the_same)
{
    char text[200];
    int status = child_run(notify_held, NULL, text, sizeof(text));

    ck_assert_msg(status == 0, "status %x", status);
    ck_assert_str_eq(text, "");
}
END_TEST

/* tag.h, orr_tag_remove: "Forgets the tag altogether." */
START_TEST(a_removed_tag_waits_for_nothing)
{
    starpu_tag_t before = 2;
    struct orr_job *job = fake_job(0);

    ck_assert_int_eq(orr_tag_declare_deps(&fake.rt, 1, 1, &before), 0);
    orr_tag_remove(&fake.rt, 1);
    ck_assert_int_eq(orr_tag_bind(&fake.rt, 1, job), 0);
    fake_submit(job);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

SUITE_MAIN(tag)
{
    Suite *suite = suite_create("tag");
    TCase *tc = tcase_create("tag");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(
        tc, a_tag_that_is_reached_before_its_job_lets_it_go_all_the_same);
    tcase_add_test(tc, a_removed_tag_waits_for_nothing);
    tcase_add_test(tc, a_tag_that_depends_on_nothing_holds_no_task);
    tcase_add_loop_test(tc, a_job_waits_until_all_its_tag_depends_on_is_reached,
                        0, 3);
    tcase_add_loop_test(tc, what_was_reached_before_is_not_waited_for, 0, 2);
    tcase_add_test(tc, a_tag_reached_twice_counts_once);
    tcase_add_test(tc, a_dependency_named_twice_is_met_by_one_end);
    tcase_add_test(tc, many_jobs_may_wait_for_one_tag);
    tcase_add_test(tc, a_tag_without_job_is_not_reached_by_what_it_waits_for);
    tcase_add_test(tc, a_tag_that_gets_a_job_is_not_reached_any_more);
    tcase_add_test(tc, what_was_met_stays_so);
    tcase_add_test(tc, the_end_of_a_task_reaches_its_tag);
    tcase_add_test(tc, a_tag_knows_its_task);
    tcase_add_test(tc, many_tags_in_a_row);
    tcase_add_test(tc, a_restarted_tag_has_to_be_reached_again);
    tcase_add_test(tc, a_job_that_has_gone_is_not_let_go_again);
    tcase_add_test(tc, restarting_what_was_not_reached_changes_nothing);
    tcase_add_test(tc, dependencies_outlive_a_restart);
    tcase_add_test(tc, a_removed_tag_was_not_reached);
    tcase_add_loop_test(tc, nothing_depends_on_a_removed_tag, 0, 2);
    tcase_add_test(tc, all_who_depended_on_a_removed_tag_are_free_of_it);
    tcase_add_test(tc, who_waits_for_what_was_reached_goes_on);
    tcase_add_test(tc, who_waits_goes_on_when_all_are_reached);
    tcase_add_test(tc, all_who_wait_for_a_tag_are_woken);
    tcase_add_test(tc, a_wait_for_a_tag_in_a_callback_is_refused);
    tcase_add_test(tc, a_job_that_cannot_be_bound_is_held_by_nothing);
    tcase_add_loop_test(tc, dependencies_without_memory_are_refused, 0, 6);
    tcase_add_test(tc, waiting_needs_memory_for_the_tag);
    tcase_add_test(tc, a_table_that_cannot_grow_loses_nothing);
    tcase_add_loop_test(tc, tags_cannot_be_made_without_memory, 0, 2);
    tcase_add_test(tc, a_report_names_what_jobs_wait_for);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-complete.c - tests of core/task/complete.c and end.c: what
 * happens at the end of a job, in which order, and what may put it off.
 */
#include <errno.h>
#include <string.h>

#include "core/data/release.h"
#include "core/job/count.h"
#include "core/job/tasks.h"
#include "core/slab_set.h"
#include "core/task/end.h"
#include "core/task/tag.h"
#include "core/task/task.h"
#include "core/worker/workers.h"
#include "tests/rng.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

static void setup(void)
{
    static const struct fake_spec spec = {.ncpus = 2};

    fake_open(&spec);
}

static void teardown(void)
{
    fake_close();
}

static struct orr_job *submitted(void)
{
    struct orr_job *job = fake_job(0);

    fake_submit(job);
    return job;
}

static struct orr_job *awaited;

/* --- tasks and their end --- */

static char said[200]; /* what happened, in words */

static void say(const char *word)
{
    if (said[0])
        strcat(said, " ");
    strcat(said, word);
}

static void called(void *arg)
{
    say(arg);
}

static void callback(void *arg)
{
    ck_assert_uint_gt(orr_self->frozen, 0);
    ck_assert_uint_eq(orr_self->ranks, 0);
    say(arg);
    if (fake.woken >> FAKE_MAIN & 1)
        say("(too late)");
}

static void say_ready(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_READY);
    say(job->id ? "successor" : "tagged");
    orr_job_complete(rt, job);
}

static const struct orr_job_type talkative = {.ready = say_ready};

/* A job of the runtime's own that says when it is ready, and ends. */
static struct orr_job *talker(uint64_t id)
{
    struct orr_job *job = orr_job_new(&fake.rt, &talkative, 0);

    ck_assert_ptr_nonnull(job);
    job->id = id;
    return job;
}

static void submit_own(struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    orr_job_release(&fake.rt, job);
}

/* A task without codelet: as orr_task_submit, with one more reference. */
static struct orr_job *empty_task(void)
{
    struct starpu_task *task = orr_task_new(&fake.rt);
    struct orr_job *job = orr_job_get(&fake.rt, task);

    ck_assert_ptr_nonnull(job);
    orr_job_ref(job);
    job->id = atomic_fetch_add(&fake.rt.tasks->last_job, 1) + 1;
    orr_count_submitted(&fake.rt, 0);
    said[0] = '\0';
    return job;
}

START_TEST(a_task_has_one_job)
{
    struct orr_job *job = empty_task();

    ck_assert_ptr_eq(job->task->starpu_private, job);
    ck_assert_ptr_eq(orr_job_of(job->task), job);
    ck_assert_ptr_eq(orr_job_get(&fake.rt, job->task), job);
    submit_own(job);
    ck_assert_int_eq(fake.out[FAKE_OBJECTS], 0); /* the task is freed, too */
}
END_TEST

START_TEST(a_task_gets_no_job_without_memory)
{
    struct starpu_task *task = orr_task_new(&fake.rt);

    fake.no_slab = fake.rt.slabs->jobs[0];
    ck_assert_ptr_null(orr_job_get(&fake.rt, task));
    fake.no_slab = NULL;
    ck_assert_ptr_null(task->starpu_private);
    orr_task_free(&fake.rt, task);
}
END_TEST

static void end_it(void)
{
    submit_own(awaited);
    say("woken");
}

/* All that follows the end of a task, in its order. */
START_TEST(what_happens_at_the_end_of_a_task)
{
    starpu_tag_t tag = 5;
    struct orr_job *job = awaited = empty_task(), *successor = talker(99);
    struct orr_job *tagged = talker(0);
    struct starpu_task *task = job->task;

    task->epilogue_callback_func = callback;
    task->epilogue_callback_arg = (void *)(uintptr_t) "epilogue";
    task->callback_func = callback;
    task->callback_arg = (void *)(uintptr_t) "callback";
    task->use_tag = 1;
    task->tag_id = tag;
    task->destroy = 0;
    ck_assert_int_eq(orr_tag_bind(&fake.rt, tag, job), 0);
    ck_assert_int_eq(orr_tag_declare_deps(&fake.rt, 6, 1, &tag), 0);
    ck_assert_int_eq(orr_tag_bind(&fake.rt, 6, tagged), 0);
    ck_assert_int_eq(orr_job_add_dep(&fake.rt, successor, job), 0);
    submit_own(tagged);
    submit_own(successor);
    orr_job_ref(job);
    fake.meanwhile = end_it;
    orr_job_wait(&fake.rt, job);
    ck_assert_str_eq(said, "epilogue successor tagged callback woken");
    ck_assert_int_eq(task->status, STARPU_TASK_FINISHED);
    ck_assert_uint_eq(orr_count_unfinished(&fake.rt), 0);
    orr_job_unref(&fake.rt, job);
    orr_task_free(&fake.rt, task);
}
END_TEST

/* --- how many tasks there are --- */

static uint64_t counting_rng;
static unsigned nleft;

/* Main or any worker. */
static void be_any(void)
{
    fake_be((int)(rng_next(&counting_rng) % (fake.rt.workers->n + 1)) - 1);
}

/* The task of any context ends, mostly that of one. */
static void end_one(void)
{
    if (rng_next(&counting_rng) % 4 == 0)
        be_any();
    else
        fake_be(0);
    orr_count_ended(&fake.rt, 0);
    nleft--;
    fake_be(-1);
}

/* Whoever counts the end that lets a waiter go has looked, and nobody lets it go
 * before. */
START_TEST(who_waits_for_few_tasks_goes_on_at_the_end_that_leaves_them)
{
    fake.meanwhile = end_one;
    for (uint64_t seed = 0; seed < 200; seed++) {
        unsigned n;

        counting_rng = rng_of(seed);
        for (unsigned i = rng_next(&counting_rng) % 60; i > 0; i--) {
            be_any();
            orr_count_submitted(&fake.rt, 0);
            nleft++;
        }
        fake_be(-1);
        ck_assert_uint_eq(orr_count_unfinished(&fake.rt), nleft);
        n = rng_next(&counting_rng) % (nleft + 1);
        ck_assert_int_eq(orr_wait_for_n(&fake.rt, "a test", n), 0);
        ck_assert_uint_eq(nleft, n);
        ck_assert_uint_eq(orr_count_unfinished(&fake.rt), n);
    }
    ck_assert_int_eq(orr_wait_for_n(&fake.rt, "a test", 0), 0);
    ck_assert_uint_eq(nleft, 0);
}
END_TEST

START_TEST(the_callback_of_the_codelet_is_for_tasks_without_one)
{
    static struct starpu_codelet codelet = {
        .nbuffers = 0, .callback_func = callback, .where = STARPU_NOWHERE};
    struct orr_job *job = empty_task();

    job->task->cl = &codelet;
    job->task->callback_func = _i ? called : NULL;
    job->task->callback_arg = (void *)(uintptr_t) "once";
    submit_own(job);
    ck_assert_str_eq(said, "once");
}
END_TEST

static struct starpu_task *kept;

static void look_at_task(void *arg)
{
    (void)arg;
    say(kept->status == STARPU_TASK_FINISHED ? "finished" : "not yet");
}

/* Callbacks see what they are told that the task has become, and who keeps it
 * still does. */
START_TEST(callbacks_see_a_finished_task)
{
    struct orr_job *job = empty_task();

    kept = job->task;
    kept->destroy = 0;
    kept->callback_func = look_at_task;
    submit_own(job);
    ck_assert_str_eq(said, "finished");
    ck_assert_int_eq(kept->status, STARPU_TASK_FINISHED);
    ck_assert_int_eq(fake.out[FAKE_OBJECTS], 2);
    orr_task_free(&fake.rt, kept);
}
END_TEST

START_TEST(long_chains_of_empty_jobs_end_one_after_the_other)
{
    enum { LENGTH = 200000 }; /* each inside the other: more than the stack */
    struct orr_job *first = orr_job_new(&fake.rt, &orr_job_empty, 0);
    struct orr_job *last = first;

    orr_job_set_state(first, ORR_JOB_BLOCKED);
    for (unsigned i = 0; i < LENGTH; i++) {
        struct orr_job *job = orr_job_new(&fake.rt, &orr_job_empty, 0);

        if (orr_job_add_dep(&fake.rt, job, last) != 0)
            ck_abort_msg("no memory");
        submit_own(job);
        last = job;
    }
    ck_assert_int_eq(fake.out[FAKE_OBJECTS], LENGTH + 1);
    orr_job_release(&fake.rt, first);
    ck_assert_int_eq(fake.out[FAKE_OBJECTS], 0);
}
END_TEST

START_TEST(a_call_in_its_turn)
{
    struct orr_job *before = submitted();
    struct orr_job *job = orr_job_new(&fake.rt, &orr_job_after, 0);

    said[0] = '\0';
    orr_job_own(job)->callback = called;
    orr_job_own(job)->arg = (void *)(uintptr_t) "called";
    ck_assert_int_eq(orr_job_add_dep(&fake.rt, job, before), 0);
    submit_own(job);
    ck_assert_str_eq(said, "");
    fake_end(before);
    ck_assert_str_eq(said, "called");
    ck_assert_int_eq(fake.out[FAKE_OBJECTS], 1);
}
END_TEST

/* --- ends that wait --- */

START_TEST(an_end_may_wait_for_calls)
{
    struct orr_job *job = submitted();

    orr_job_end_later(job, 2);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(orr_job_state(job), ORR_JOB_READY);
        orr_job_end(&fake.rt, job);
    }
    ck_assert_int_eq(orr_job_state(job), ORR_JOB_DONE);
}
END_TEST

START_TEST(an_empty_job_ends_when_nothing_holds_it)
{
    for (unsigned round = 0; round < 3; round++) {
        struct orr_job *job = orr_job_new(&fake.rt, &orr_job_empty, 0);

        orr_job_end_later(job, 1);
        submit_own(job);
        ck_assert_int_eq(orr_job_state(job), ORR_JOB_READY);
        orr_job_end(&fake.rt, job);
        ck_assert_int_eq(fake.out[FAKE_OBJECTS], 0);
        submit_own(orr_job_new(&fake.rt, &orr_job_empty, 0));
        ck_assert_int_eq(fake.out[FAKE_OBJECTS], 0);
    }
}
END_TEST

START_TEST(an_end_may_wait_for_that_of_others)
{
    struct orr_job *job = submitted();
    struct orr_job *others[] = {submitted(), submitted(), submitted()};

    fake_end(others[2]); /* is done already */
    ck_assert_int_eq(orr_job_end_after(&fake.rt, job, 3, others), 0);
    fake_end(others[_i & 1]);
    if (_i & 2)
        orr_job_end(&fake.rt, job);
    ck_assert_int_eq(orr_job_state(job), ORR_JOB_READY);
    fake_end(others[!(_i & 1)]);
    ck_assert_int_eq(orr_job_state(job), _i & 2 ? ORR_JOB_DONE : ORR_JOB_READY);
    if (!(_i & 2))
        orr_job_end(&fake.rt, job);
    ck_assert_int_eq(orr_job_state(job), ORR_JOB_DONE);
}
END_TEST

START_TEST(an_end_that_cannot_wait_says_so)
{
    struct orr_job *job = submitted(), *other = submitted();

    fake.no_slab = fake.rt.slabs->jobs[1];
    ck_assert_int_eq(orr_job_end_after(&fake.rt, job, 1, &other), -ENOMEM);
    fake.no_slab = NULL;
    orr_job_end(&fake.rt, job);
    ck_assert_int_eq(orr_job_state(job), ORR_JOB_DONE);
    fake_end(other);
}
END_TEST

SUITE_MAIN(complete)
{
    Suite *suite = suite_create("complete");
    TCase *tc = tcase_create("complete");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_task_has_one_job);
    tcase_add_test(tc, a_task_gets_no_job_without_memory);
    tcase_add_test(tc, what_happens_at_the_end_of_a_task);
    tcase_add_loop_test(
        tc, the_callback_of_the_codelet_is_for_tasks_without_one, 0, 2);
    tcase_add_test(tc,
                   who_waits_for_few_tasks_goes_on_at_the_end_that_leaves_them);
    tcase_add_test(tc, callbacks_see_a_finished_task);
    tcase_add_test(tc, long_chains_of_empty_jobs_end_one_after_the_other);
    tcase_add_test(tc, a_call_in_its_turn);
    tcase_add_test(tc, an_end_may_wait_for_calls);
    tcase_add_test(tc, an_empty_job_ends_when_nothing_holds_it);
    tcase_add_loop_test(tc, an_end_may_wait_for_that_of_others, 0, 4);
    tcase_add_test(tc, an_end_that_cannot_wait_says_so);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

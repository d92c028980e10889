/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-job.c - tests of core/job/job.c: what a job is made of, what
 * it waits for, and who waits for it.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "core/slab_set.h"
#include "tests/rng.h"
#include "tests/suite.h"
#include "tests/unit/child.h"
#include "tests/unit/fake_runtime.h"

static void setup(void)
{
    static const struct fake_spec spec = {.ncpus = 3};

    fake_open(&spec);
}

static void teardown(void)
{
    fake_close();
}

/* A job that waits for those of the list that are not NULL. */
static struct orr_job *after(struct orr_job *const *before, unsigned n)
{
    struct orr_job *job = fake_job(0);

    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(orr_job_add_dep(&fake.rt, job, before[i]), 0);
    return job;
}

static struct orr_job *submitted(void)
{
    struct orr_job *job = fake_job(0);

    fake_submit(job);
    return job;
}

/* --- what it is made of --- */

static bool is_zero(const struct orr_access *access)
{
    static const struct orr_access zero;

    return memcmp(access, &zero, sizeof(zero)) == 0;
}

static bool own_is_zero(const struct orr_job *job)
{
    static const struct orr_job_own zero;

    return memcmp(orr_job_own(job), &zero, sizeof(zero)) == 0;
}

START_TEST(a_new_job_is_new)
{
    unsigned n = (unsigned)_i;
    struct orr_job *job = orr_job_new(&fake.rt, &orr_job_after, n);

    ck_assert_ptr_nonnull(job);
    ck_assert_int_eq(orr_job_state(job), ORR_JOB_NEW);
    ck_assert_int_eq(atomic_load(&job->waiting), 1);
    ck_assert_int_eq(job->worker, -1);
    ck_assert_ptr_null(job->task);
    ck_assert(ORR_JOB_IS(job, after));
    ck_assert_uint_eq(job->naccesses, n);
    for (unsigned i = 0; i < n; i++)
        ck_assert(is_zero(&job->accesses[i]));
    ck_assert_int_eq(fake.out[FAKE_OBJECTS], 1);
    orr_job_unref(&fake.rt, job);
    ck_assert_int_eq(fake.out[FAKE_OBJECTS], 0);
}
END_TEST

/* Nothing is left in it of the job that had the memory before. */
START_TEST(used_memory_makes_a_new_job_too)
{
    const unsigned n = (unsigned)_i;

    for (unsigned round = 0; round < 3; round++) {
        struct orr_job *job = orr_job_new(&fake.rt, &orr_job_after, n);

        ck_assert_int_eq(atomic_load(&job->waiting), 1);
        ck_assert_int_eq(atomic_load(&job->ending), 1);
        ck_assert_int_eq(orr_job_state(job), ORR_JOB_NEW);
        for (unsigned i = 0; i < n; i++)
            ck_assert(is_zero(&job->accesses[i]));
        ck_assert(own_is_zero(job));
        memset(job->accesses, 0xff, n * sizeof(*job->accesses));
        ck_assert(own_is_zero(job)); /* it lies behind them */
        memset(orr_job_own(job), 0xff, sizeof(struct orr_job_own));
        job->waiting = 7;
        job->ending = 8;
        orr_job_set_state(job, ORR_JOB_BLOCKED);
        orr_job_unref(&fake.rt, job);
    }
}
END_TEST

START_TEST(without_memory_there_is_no_job)
{
    fake.no_slab = fake.rt.slabs->jobs[1]; /* what it has of its own takes an access */
    ck_assert_ptr_null(orr_job_new(&fake.rt, &orr_job_after, 0));
    fake.no_slab = NULL;
    fake_refuse(1); /* the first is the slab's, the second for accesses */
    ck_assert_ptr_null(orr_job_new(&fake.rt, &orr_job_after, 50));
    ck_assert_int_eq(fake.out[FAKE_OBJECTS], 0);
}
END_TEST

START_TEST(what_few_jobs_have_is_made_when_it_is_needed)
{
    struct orr_job *job = fake_job(1);
    struct orr_job_rare *rare;

    ck_assert_ptr_null(orr_job_rare(job));
    ck_assert_ptr_null(orr_job_around(job));
    ck_assert_uint_eq(orr_job_avoided(job), 0);
    orr_job_avoid(&fake.rt, job, 0);
    ck_assert_ptr_null(orr_job_rare(job));
    fake_refuse(0);
    rare = orr_job_make_rare(job);
    fake_refuse(-1);
    ck_assert_ptr_null(rare);
    rare = orr_job_make_rare(job);
    ck_assert_ptr_nonnull(rare);
    ck_assert_ptr_null(rare->gang);
    orr_job_avoid(&fake.rt, job, 5);
    ck_assert_uint_eq(orr_job_avoided(job), 5);
    ck_assert_ptr_eq(orr_job_make_rare(job), rare);
    fake_submit(job);
    fake_end(job);
}
END_TEST

START_TEST(a_job_may_get_any_number_of_accesses)
{
    static const unsigned sizes[] = {1, 2, 4, 5, 3, 6, 40, 7, 1000, 1000, 8};
    struct orr_job *job = orr_job_new(&fake.rt, &orr_job_after, 0);

    for (unsigned k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
        ck_assert_int_eq(orr_job_reserve(job, sizes[k]), 0);
        ck_assert_uint_eq(job->naccesses, sizes[k]);
        if (job->accesses == job->inside)
            ck_assert_uint_le(sizes[k], job->slots);
        else
            ck_assert_uint_ge(malloc_usable_size(job->accesses),
                              sizes[k] * sizeof(*job->accesses));
    }
    orr_job_unref(&fake.rt, job);
}
END_TEST

START_TEST(new_accesses_are_zeroed)
{
    struct orr_job *job = orr_job_new(&fake.rt, &orr_job_after, 2);

    memset(job->accesses, 0xff, 2 * sizeof(*job->accesses));
    ck_assert_int_eq(orr_job_reserve(job, 300), 0);
    for (unsigned i = 0; i < 300; i++)
        ck_assert(is_zero(&job->accesses[i]));
    orr_job_unref(&fake.rt, job);
}
END_TEST

START_TEST(a_job_stays_as_it_is_when_there_is_no_more_memory)
{
    struct orr_job *job = orr_job_new(&fake.rt, &orr_job_after, 2);
    const struct orr_access *accesses = job->accesses;
    int err;

    fake_refuse(0);
    err = orr_job_reserve(job, 300);
    fake_refuse(-1);
    ck_assert_int_eq(err, -ENOMEM);
    ck_assert_uint_eq(job->naccesses, 2);
    ck_assert_ptr_eq(job->accesses, accesses);
    orr_job_unref(&fake.rt, job);
}
END_TEST

START_TEST(a_job_lives_as_long_as_its_last_reference)
{
    enum { MANY = 70000 }; /* more than 8 or 16 bits can count */
    struct orr_job *job = orr_job_new(&fake.rt, &orr_job_after, 0);

    for (unsigned i = 0; i < MANY; i++)
        orr_job_ref(job);
    for (unsigned i = 0; i < MANY; i++) {
        orr_job_unref(&fake.rt, job);
        if (fake.out[FAKE_OBJECTS] != 1)
            break;
    }
    ck_assert_int_eq(fake.out[FAKE_OBJECTS], 1);
    orr_job_unref(&fake.rt, job);
    ck_assert_int_eq(fake.out[FAKE_OBJECTS], 0);
}
END_TEST

/* --- states --- */

static bool is_arrow(enum orr_job_state from, enum orr_job_state to)
{
    if (from == ORR_JOB_READY && to == ORR_JOB_DONE)
        return true; /* a task without kernel */
    if (from == ORR_JOB_BLOCKED && to == ORR_JOB_READY)
        return true; /* nothing to claim */
    if (from == ORR_JOB_RUNNING && to == ORR_JOB_DONE)
        return true; /* its kernel has not waited */
    if (from == ORR_JOB_SUSPENDED)
        return to == ORR_JOB_RUNNING;
    if ((from == ORR_JOB_FETCHING || from == ORR_JOB_RUNNING) &&
        to == ORR_JOB_READY)
        return true; /* the device has failed */
    return to == from + 1;
}

struct arrow {
    enum orr_job_state from, to;
};

static void follow(void *arg)
{
    const struct arrow *arrow = arg;
    struct orr_job *job = orr_job_new(&fake.rt, &orr_job_after, 0);

    for (unsigned state = 1; state <= arrow->from; state++)
        if (state != ORR_JOB_SUSPENDED || state == arrow->from)
            orr_job_set_state(job, (enum orr_job_state)state);
    printf("first part\n");
    fflush(stdout);
    orr_job_set_state(job, arrow->to);
    if (orr_job_state(job) != arrow->to)
        printf("in vain\n");
    orr_job_unref(&fake.rt, job);
}

START_TEST(only_the_arrows_of_the_drawing_exist)
{
    enum { STATES = ORR_JOB_DONE + 1 };
    struct arrow arrow = {(enum orr_job_state)(_i / STATES),
                          (enum orr_job_state)(_i % STATES)};
    char text[500];
    int status = child_run(follow, &arrow, text, sizeof(text));

    ck_assert_ptr_nonnull(strstr(text, "first part\n"));
    if (is_arrow(arrow.from, arrow.to)) {
        ck_assert_msg(status == 0, "%s", text);
        ck_assert_str_eq(text, "first part\n");
        return;
    }
#ifndef NDEBUG
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
                  "%d to %d, status %x: %s", arrow.from, arrow.to, status,
                  text);
#endif
}
END_TEST

/* --- dependencies --- */

START_TEST(a_job_waits_for_those_before_it)
{
    struct orr_job *before[3], *job;

    for (unsigned i = 0; i < 3; i++)
        before[i] = submitted();
    job = after(before, 3);
    fake_submit(job);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_readied(job), 0);
        fake_end(before[(i + (unsigned)_i) % 3]);
    }
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
    ck_assert_uint_eq(fake_readied(job), 1);
}
END_TEST

START_TEST(a_job_is_not_ready_before_its_submission)
{
    struct orr_job *before = submitted(), *job = after(&before, 1);

    fake_end(before);
    ck_assert_uint_eq(fake.nready, 1);
    fake_submit(job);
    fake_end(job);
}
END_TEST

START_TEST(it_may_wait_for_one_that_is_not_submitted_yet)
{
    struct orr_job *before = fake_job(0), *job = after(&before, 1);

    fake_submit(job);
    ck_assert_uint_eq(fake_readied(job), 0);
    fake_submit(before);
    ck_assert_uint_eq(fake_readied(job), 0);
    fake_end(before);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(it_does_not_wait_for_what_is_done)
{
    struct orr_job *before = submitted(), *job;

    fake_end(before);
    job = after(&before, 1);
    ck_assert_int_eq(fake.out[FAKE_EDGES], 0);
    fake_submit(job);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(the_same_one_twice_is_waited_for_once)
{
    struct orr_job *before[2], *job;

    before[0] = before[1] = submitted();
    job = after(before, 2);
    fake_submit(job);
    ck_assert_uint_eq(fake_readied(job), 0);
    fake_end(before[0]);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(nothing_waits_for_itself)
{
    struct orr_job *job = fake_job(0);

    ck_assert_int_ne(orr_job_add_dep(&fake.rt, job, job), 0);
    fake_submit(job);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

START_TEST(a_dependency_that_cannot_be_noted_does_not_count)
{
    struct orr_job *before = submitted(), *job = fake_job(0);

    fake.no_slab = fake.rt.slabs->edges;
    ck_assert_int_eq(orr_job_add_dep(&fake.rt, job, before), -ENOMEM);
    fake.no_slab = NULL;
    fake_submit(job);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(before);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

/* Those who said so and those who use the same data. */
START_TEST(successors_become_ready_in_the_order_of_submission)
{
    struct orr_handle *handle = fake_handle(0, 8);
    struct orr_job *first = fake_submit_one(handle, STARPU_W), *jobs[9];

    for (unsigned i = 0; i < 9; i++) {
        jobs[i] = i % 3 == 2 ? after(&first, 1) : fake_job(1);
        if (i % 3 == 0)
            ck_assert_int_eq(orr_job_add_dep(&fake.rt, jobs[i], first), 0);
        if (i % 3 != 2)
            fake_use(jobs[i], handle, STARPU_R);
        fake_submit(jobs[i]);
    }
    ck_assert_uint_eq(fake.nready, 1);
    fake_end(first);
    ck_assert_uint_eq(fake.nready, 10);
    for (unsigned i = 0; i < 9; i++) {
        ck_assert_uint_eq(fake.ready[i + 1], jobs[i]->id);
        fake_end(jobs[i]);
    }
}
END_TEST

enum { JOBS = 200 };

START_TEST(any_jobs_become_ready_once_after_those_before_them)
{
    uint64_t rng = rng_of((uint64_t)_i);
    struct orr_job *jobs[JOBS];
    bool before[JOBS][JOBS] = {{0}}, ended[JOBS] = {0};
    unsigned left = JOBS;

    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = fake_job(0);
        for (unsigned k = 0; i && k < 3; k++) {
            unsigned of = (unsigned)(rng_next(&rng) % i);

            before[i][of] = !ended[of];
            ck_assert_int_eq(orr_job_add_dep(&fake.rt, jobs[i], jobs[of]), 0);
        }
        fake_submit(jobs[i]);
    }
    while (left) {
        unsigned i = (unsigned)(rng_next(&rng) % JOBS);

        if (ended[i] || !fake_readied(jobs[i]))
            continue;
        for (unsigned k = 0; k < i; k++)
            ck_assert(!before[i][k] || ended[k]);
        ended[i] = true;
        left--;
        fake_end(jobs[i]);
    }
    ck_assert_uint_eq(fake.nready, JOBS);
}
END_TEST

/* --- data that arrive --- */

START_TEST(the_last_datum_that_arrives_tells_the_job)
{
    struct orr_job *job = submitted();

    job->worker = 1;
    atomic_store(&job->data.pending, 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_told(job), 0);
        orr_job_arrive(&fake.rt, job);
    }
    ck_assert_uint_eq(fake_told(job), 1);
    fake_end(job);
}
END_TEST

/* --- waiting for its end --- */

static struct orr_job *awaited;
static unsigned nlooks;
static char reason[ORR_AWAITED_TEXT];
static unsigned woken; /* by the end of that job */

/* By a worker that does not wait. */
static void end_awaited_now(void)
{
    struct orr_context *caller = orr_self;

    fake.woken = 0;
    fake_be(2);
    fake_end(awaited);
    orr_self = caller;
    woken = fake.woken;
}

/* The first time it is woken for nothing. */
static void end_awaited(void)
{
    orr_awaited_write(orr_self->awaited, reason, sizeof(reason));
    if (nlooks++ == 1)
        end_awaited_now();
}

START_TEST(who_waits_returns_when_the_job_has_ended)
{
    awaited = submitted();
    nlooks = 0;
    fake.meanwhile = end_awaited;
    orr_job_wait(&fake.rt, awaited);
    ck_assert_uint_eq(nlooks, 2);
    ck_assert_uint_eq(woken, 1U << FAKE_MAIN);
    ck_assert_ptr_nonnull(strstr(reason, orr_job_name(awaited)));
    ck_assert_ptr_null(orr_self->awaited);
    fake.meanwhile = NULL;
    orr_job_wait(&fake.rt, awaited); /* it would park */
}
END_TEST

/* While main waits, a worker begins to, while which another one does. */
static void wait_too(void)
{
    struct orr_context *caller = orr_self;

    if (nlooks++ == 2) {
        end_awaited_now();
        return;
    }
    fake_be((int)nlooks - 1);
    orr_job_wait(&fake.rt, awaited);
    orr_self = caller;
}

START_TEST(all_who_wait_are_woken)
{
    awaited = submitted();
    nlooks = 0;
    fake.meanwhile = wait_too;
    orr_job_wait(&fake.rt, awaited);
    ck_assert_uint_eq(nlooks, 3);
    ck_assert_uint_eq(woken, 1U << FAKE_MAIN | 3);
}
END_TEST

/* --- names --- */

START_TEST(what_a_job_is_called)
{
    static struct starpu_perfmodel model = {.symbol = "symbol"};
    struct starpu_codelet codelet = {.name = "codelet", .model = &model};
    struct starpu_task task = {.name = "task", .cl = &codelet};
    struct orr_job *job = fake_job(0);

    ck_assert_str_eq(orr_job_name(job), "data acquisition");
    job->task = &task;
    ck_assert_str_eq(orr_job_name(job), "task");
    task.name = NULL;
    ck_assert_str_eq(orr_job_name(job), "codelet");
    codelet.name = NULL;
    ck_assert_str_eq(orr_job_name(job), "symbol");
    codelet.model = NULL;
    ck_assert_ptr_nonnull(orr_job_name(job));
    task.cl = NULL;
    ck_assert_ptr_nonnull(orr_job_name(job));
    job->task = NULL;
}
END_TEST

static TCase *case_of(const char *name)
{
    TCase *tc = tcase_create(name);

    tcase_add_checked_fixture(tc, setup, teardown);
    return tc;
}

static TCase *making(void)
{
    enum { STATES = ORR_JOB_DONE + 1 };
    TCase *tc = case_of("making");

    tcase_add_loop_test(tc, a_new_job_is_new, 0, 7);
    tcase_add_loop_test(tc, used_memory_makes_a_new_job_too, 1, 7);
    tcase_add_test(tc, without_memory_there_is_no_job);
    tcase_add_test(tc, what_few_jobs_have_is_made_when_it_is_needed);
    tcase_add_test(tc, a_job_may_get_any_number_of_accesses);
    tcase_add_test(tc, new_accesses_are_zeroed);
    tcase_add_test(tc, a_job_stays_as_it_is_when_there_is_no_more_memory);
    tcase_add_test(tc, a_job_lives_as_long_as_its_last_reference);
    tcase_add_loop_test(tc, only_the_arrows_of_the_drawing_exist, 0,
                        STATES * STATES);
    tcase_add_test(tc, what_a_job_is_called);
    return tc;
}

static TCase *waiting(void)
{
    TCase *tc = case_of("waiting");

    tcase_add_loop_test(tc, a_job_waits_for_those_before_it, 0, 3);
    tcase_add_test(tc, a_job_is_not_ready_before_its_submission);
    tcase_add_test(tc, it_may_wait_for_one_that_is_not_submitted_yet);
    tcase_add_test(tc, it_does_not_wait_for_what_is_done);
    tcase_add_test(tc, the_same_one_twice_is_waited_for_once);
    tcase_add_test(tc, nothing_waits_for_itself);
    tcase_add_test(tc, a_dependency_that_cannot_be_noted_does_not_count);
    tcase_add_test(tc, successors_become_ready_in_the_order_of_submission);
    tcase_add_loop_test(tc, any_jobs_become_ready_once_after_those_before_them,
                        0, 10);
    tcase_add_test(tc, the_last_datum_that_arrives_tells_the_job);
    tcase_add_test(tc, who_waits_returns_when_the_job_has_ended);
    tcase_add_test(tc, all_who_wait_are_woken);
    return tc;
}

SUITE_MAIN(job)
{
    Suite *suite = suite_create("job");

    suite_add_tcase(suite, making());
    suite_add_tcase(suite, waiting());
    return suite_main(suite);
}

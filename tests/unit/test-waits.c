/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-waits.c - core/observe/waits.h: what tasks wait for, from a list that
 * grows, and when it says that there is more to know. One thread.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "core/base/exec.h"
#include "core/data/handle.h"
#include "core/job/job.h"
#include "core/observe/waits.h"
#include "tests/suite.h"

enum { MOST = 200 };

static struct orr_waits_log *log_;
static struct orr_waits *waits;
static struct orr_job *jobs[MOST];
static struct starpu_task tasks[MOST];
static struct orr_handle *handles[4];
static uint64_t last_id;
static struct orr_exec exec;
static struct orr_context context;

static void setup(void)
{
    context.exec = &exec; /* which takes locks */
    orr_self = &context;
    ck_assert_int_eq(orr_waits_log_new(NULL, false, &log_), 0);
    ck_assert_int_eq(orr_waits_new(log_, &waits), 0);
    for (unsigned i = 0; i < MOST; i++) {
        jobs[i] = calloc(1, sizeof(*jobs[i]));
        tasks[i] = (struct starpu_task){.use_tag = 0};
        jobs[i]->task = &tasks[i];
        jobs[i]->type = &orr_job_task;
    }
    for (unsigned h = 0; h < 4; h++) {
        handles[h] = calloc(1, sizeof(*handles[h]));
        handles[h]->id = h + 1;
        orr_turns_init(&handles[h]->turns);
    }
    last_id = 0;
}

static void teardown(void)
{
    orr_waits_free(waits);
    orr_waits_log_free(log_);
    for (unsigned i = 0; i < MOST; i++)
        free(jobs[i]);
    for (unsigned h = 0; h < 4; h++)
        free(handles[h]);
}

/* It has left the turns before the next one enters. */
static void use(unsigned job, unsigned handle, unsigned mode)
{
    struct orr_access access = {.job = jobs[job],
                                .handle = handles[handle],
                                .mode = (uint16_t)mode,
                                .ordered = 1};

    jobs[job]->accesses = &access;
    jobs[job]->naccesses = 1;
    orr_turns_enter(&handles[handle]->turns, &access,
                    orr_access_group(&access));
    orr_waits_log_accesses(log_, jobs[job]);
    orr_list_remove(&access.link);
}

static void submit(unsigned job)
{
    atomic_store(&jobs[job]->id, ++last_id);
    orr_waits_log_submit(log_, jobs[job]);
}

static void submit_empty(unsigned job)
{
    jobs[job]->type = &orr_job_empty;
    submit(job);
}

/* The task waits for these, and no others; -1 ends. */
static void check_waits(unsigned task, const int *before)
{
    const struct orr_waits_task *found = &waits->tasks[task];
    unsigned n = 0;

    for (; before[n] >= 0; n++) {
        ck_assert_uint_lt(n, found->n);
        ck_assert_int_eq(waits->lists[found->first + n], before[n]);
    }
    ck_assert_uint_eq(found->n, n);
}

START_TEST(readers_wait_for_the_writer_and_the_next_one_for_them)
{
    use(0, 0, STARPU_RW), submit(0);
    use(1, 0, STARPU_R), submit(1);
    ck_assert_int_eq(orr_waits_read(waits), 0);
    ck_assert_uint_eq(waits->ntasks, 2);
    use(2, 0, STARPU_R), submit(2);
    use(3, 0, STARPU_W), submit(3);
    ck_assert_int_eq(orr_waits_read(waits), 0);
    check_waits(0, (int[]){-1});
    check_waits(1, (int[]){0, -1});
    check_waits(2, (int[]){0, -1});
    check_waits(3, (int[]){1, 2, -1});
}
END_TEST

START_TEST(a_task_is_waited_for_once)
{
    use(0, 0, STARPU_RW), use(0, 1, STARPU_RW), submit(0);
    orr_waits_log_dep(log_, jobs[1], jobs[0]);
    use(1, 0, STARPU_RW), use(1, 1, STARPU_R), submit(1);
    ck_assert_int_eq(orr_waits_read(waits), 0);
    check_waits(1, (int[]){0, -1});
}
END_TEST

START_TEST(what_was_declared_before_both_are_submitted_counts)
{
    orr_waits_log_dep(log_, jobs[1], jobs[0]);
    orr_waits_log_dep(log_, jobs[2], jobs[1]);
    orr_waits_log_dep(log_, jobs[2], jobs[0]);
    ck_assert_int_eq(orr_waits_read(waits), 0);
    for (unsigned i = 0; i < 3; i++)
        submit(i);
    ck_assert_int_eq(orr_waits_read(waits), 0);
    check_waits(2, (int[]){0, 1, -1});
}
END_TEST

START_TEST(what_has_no_kernel_passes_on_what_it_waits_for)
{
    use(0, 0, STARPU_RW), submit(0);
    use(1, 1, STARPU_RW), submit(1);
    orr_waits_log_dep(log_, jobs[2], jobs[0]);
    orr_waits_log_dep(log_, jobs[2], jobs[1]);
    submit_empty(2);
    use(3, 0, STARPU_R); /* an acquisition: it is not submitted */
    orr_waits_log_dep(log_, jobs[4], jobs[2]);
    use(4, 0, STARPU_W), submit(4);
    ck_assert_int_eq(orr_waits_read(waits), 0);
    ck_assert_uint_eq(waits->ntasks, 3);
    check_waits(2, (int[]){0, 1, -1});
}
END_TEST

/* Of a chain of so many tasks in a row, each waits for all of the `n` before. */
START_TEST(lists_that_grow_by_turns_stay_apart)
{
    enum { N = 60 };

    for (unsigned i = 0; i < N; i++)
        submit(i);
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j < 3; j++)
            orr_waits_log_dep(log_, jobs[N + j], jobs[i]);
    for (unsigned j = 0; j < 3; j++)
        submit(N + j);
    ck_assert_int_eq(orr_waits_read(waits), 0);
    for (unsigned j = 0; j < 3; j++) {
        const struct orr_waits_task *task = &waits->tasks[N + j];

        ck_assert_uint_eq(task->n, N);
        for (unsigned i = 0; i < N; i++)
            ck_assert_uint_eq(waits->lists[task->first + i], i);
    }
}
END_TEST

START_TEST(a_kernel_is_known_when_it_has_run)
{
    struct orr_kernel kernel = {.start = 1, .end = 2};

    submit(0);
    ck_assert_int_eq(orr_waits_read(waits), 0);
    ck_assert_uint_eq(waits->tasks[0].worker, UINT32_MAX);
    orr_waits_log_ran(log_, jobs[0]); /* nobody wants to know */
    ck_assert_int_eq(orr_waits_read(waits), 0);
    ck_assert_uint_eq(waits->tasks[0].worker, UINT32_MAX);
    log_->details = true;
    jobs[0]->worker = 3;
    jobs[0]->kernel = &kernel;
    orr_waits_log_ran(log_, jobs[0]);
    ck_assert_int_eq(orr_waits_read(waits), 0);
    ck_assert_uint_eq(waits->tasks[0].worker, 3);
    ck_assert(waits->tasks[0].start == 1 && waits->tasks[0].end == 2);
    orr_waits_log_ran(log_, jobs[0]); /* what was written of it is not true */
    ck_assert_int_eq(orr_waits_read(waits), -ESTALE);
}
END_TEST

START_TEST(tags_are_not_plain)
{
    submit(0);
    ck_assert_int_eq(orr_waits_read(waits), 0);
    tasks[1].use_tag = 1;
    submit(1);
    ck_assert_int_eq(orr_waits_read(waits), -ESTALE);
    submit(2);
    ck_assert_int_eq(orr_waits_read(waits), -ESTALE);
}
END_TEST

START_TEST(what_waits_for_a_later_task_is_not_plain)
{
    orr_waits_log_dep(log_, jobs[0], jobs[1]);
    submit(0);
    submit(1);
    ck_assert_int_eq(orr_waits_read(waits), -ESTALE);
}
END_TEST

START_TEST(what_is_declared_of_a_submitted_task_is_not_plain)
{
    submit(0);
    submit(1);
    orr_waits_log_dep(log_, jobs[1], jobs[0]);
    ck_assert_int_eq(orr_waits_read(waits), -ESTALE);
}
END_TEST

/* The graph may have it as a task. */
START_TEST(what_passes_very_many_on_is_not_plain)
{
    unsigned n = _i ? 65 : 64;

    for (unsigned i = 0; i < n; i++) {
        submit(i);
        orr_waits_log_dep(log_, jobs[n], jobs[i]);
    }
    submit_empty(n);
    orr_waits_log_dep(log_, jobs[n + 1], jobs[n]);
    submit(n + 1);
    ck_assert_int_eq(orr_waits_read(waits), _i ? -ESTALE : 0);
}
END_TEST

SUITE_MAIN(waits)
{
    Suite *s = suite_create("waits");
    TCase *tc = tcase_create("waits");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, readers_wait_for_the_writer_and_the_next_one_for_them);
    tcase_add_test(tc, a_task_is_waited_for_once);
    tcase_add_test(tc, what_was_declared_before_both_are_submitted_counts);
    tcase_add_test(tc, what_has_no_kernel_passes_on_what_it_waits_for);
    tcase_add_test(tc, lists_that_grow_by_turns_stay_apart);
    tcase_add_test(tc, a_kernel_is_known_when_it_has_run);
    tcase_add_test(tc, tags_are_not_plain);
    tcase_add_test(tc, what_waits_for_a_later_task_is_not_plain);
    tcase_add_test(tc, what_is_declared_of_a_submitted_task_is_not_plain);
    tcase_add_loop_test(tc, what_passes_very_many_on_is_not_plain, 0, 2);
    suite_add_tcase(s, tc);
    return suite_main(s);
}

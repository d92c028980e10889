/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/pipeline.c - see pipeline.h. */
#include "pipeline.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/exec.h"

/* --- a policy under which nothing is fetched before a worker has its task --- */

static struct starpu_task_list tasks;

static void init_tasks(unsigned context)
{
    (void)context;
    starpu_task_list_init(&tasks);
}

static int push(struct starpu_task *task)
{
    starpu_task_list_push_back(&tasks, task);
    starpu_push_task_end(task);
    return 0;
}

static struct starpu_task *pop(unsigned context)
{
    (void)context;
    return starpu_task_list_empty(&tasks) ? NULL
                                          : starpu_task_list_pop_front(&tasks);
}

struct starpu_sched_policy pipeline_policy = {
    .init_sched = init_tasks,
    .push_task = push,
    .pop_task = pop,
    .policy_name = "without",
    .policy_description = "without prefetches",
    .prefetches = 1, /* so it says */
};

/* --- the schedule of a pipeline --- */

enum { N = 4, BYTES = 1000 };

static const struct pipeline_device *device;
static double ran[N];

/* Also of a context of the device's, which knows no runtime. */
static double now_us(void)
{
    return orr_exec_now(orr_self->exec);
}

void pipeline_run(int number, char *bytes)
{
    ran[number] = now_us();
    bytes[0]++;
}

/* Tasks are submitted every `pause` us; came[i] is when the i-th result is back. */
static void run_submitting(unsigned copy_us, unsigned pipeline, double pause,
                           double *submitted, double *came)
{
    static char v[N][BYTES];
    starpu_data_handle_t handle[N];
    double start;

    device->open(copy_us, pipeline);
    start = now_us();
    for (int i = 0; i < N; i++) {
        v[i][0] = 0;
        starpu_vector_data_register(&handle[i], STARPU_MAIN_RAM,
                                    (uintptr_t)v[i], BYTES, 1);
        ck_assert_int_eq(starpu_task_insert(device->codelet, STARPU_RW,
                                            handle[i], STARPU_VALUE, &i,
                                            sizeof(i), 0),
                         0);
        submitted[i] = now_us() - start;
        if (pause > 0)
            orr_self->exec->ops->sleep(orr_self->exec, pause);
    }
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(starpu_data_acquire(handle[i], STARPU_R), 0);
        came[i] = now_us() - start;
        ran[i] -= start;
        ck_assert_int_eq(v[i][0], 1);
        starpu_data_release(handle[i]);
    }
    for (int i = 0; i < N; i++)
        starpu_data_unregister(handle[i]);
    starpu_shutdown();
}

static void run_pipeline(unsigned copy_us, unsigned pipeline, double *came)
{
    double submitted[N];

    run_submitting(copy_us, pipeline, 0, submitted, came);
    for (int i = 0; i < N; i++)
        ck_assert(submitted[i] == 0);
}

static void check_times(const double *times, const double *expected)
{
    for (int i = 0; i < N; i++)
        ck_assert_msg(fabs(times[i] - expected[i]) < 1e-6,
                      "number %d at %.3f us, not %.3f", i, times[i],
                      expected[i]);
}

/* A copy takes 10 + 1000 / 100 us, a kernel 100. Its function is called in the
 * middle. The second task's data come while the first kernel runs, the third one's
 * when that has ended and made room in the pipeline, while the first result goes
 * back and the second kernel runs. */
START_TEST(copies_in_kernels_and_copies_out_overlap)
{
    static const double middles[N] = {70, 170, 270, 370};
    static const double back[N] = {140, 240, 340, 440};
    double came[N];

    run_pipeline(10, 2, came);
    check_times(ran, middles);
    check_times(came, back);
}
END_TEST

/* With one task in flight the next one's data come when its kernel has ended. */
START_TEST(a_pipeline_of_one_overlaps_copies_out_only)
{
    static const double middles[N] = {70, 190, 310, 430};
    static const double back[N] = {140, 260, 380, 500};
    double came[N];

    run_pipeline(10, 1, came);
    check_times(ran, middles);
    check_times(came, back);
}
END_TEST

/* Submission waits for nothing, and what is submitted while a kernel runs goes on
 * beside it: its data come at once if there is room in the pipeline, so that its
 * kernel begins when that one ends. */
START_TEST(tasks_are_submitted_while_others_run)
{
    static const double when[N] = {0, 50, 100, 150};
    static const double middles[N] = {70, 170, 270, 370};
    double submitted[N], came[N];

    run_submitting(10, (unsigned)_i, 50, submitted, came);
    check_times(submitted, when);
    check_times(ran, middles);
}
END_TEST

/* Nothing runs when a task comes: a copy, and half of a kernel. */
START_TEST(a_task_that_comes_late_begins_at_once)
{
    static const double when[N] = {0, 300, 600, 900};
    static const double middles[N] = {70, 370, 670, 970};
    double submitted[N], came[N];

    run_submitting(10, (unsigned)_i, 300, submitted, came);
    check_times(submitted, when);
    check_times(ran, middles);
}
END_TEST

/* Copies in, kernels and copies out of the same length: with room for two, each
 * queue begins with the next task when it ends with one, and a result comes every
 * 100 us; with room for one each task takes the first two together. */
START_TEST(the_slowest_queue_sets_the_pace)
{
    static const double pace[] = {0, 200, 100, 100, 100};
    double came[N];

    run_pipeline(90, (unsigned)_i, came);
    ck_assert_double_eq_tol(came[0], 300, 1e-6);
    for (int i = 1; i < N; i++)
        ck_assert_double_eq_tol(came[i] - came[i - 1], pace[_i], 1e-6);
}
END_TEST

void pipeline_add_tests(TCase *tc, const struct pipeline_device *of)
{
    device = of;
    tcase_add_test(tc, copies_in_kernels_and_copies_out_overlap);
    tcase_add_test(tc, a_pipeline_of_one_overlaps_copies_out_only);
    tcase_add_loop_test(tc, tasks_are_submitted_while_others_run, 2, 5);
    tcase_add_loop_test(tc, a_task_that_comes_late_begins_at_once, 1, 5);
    tcase_add_loop_test(tc, the_slowest_queue_sets_the_pace, 1, 5);
}

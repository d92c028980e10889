/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-tasks.c - tasks, dependencies, tags, callbacks and waiting,
 * through the public interface, on each machine.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "machines.h"

static atomic_int clock_ticks;

/* cl_arg: where to note when the task ran. */
static void note(void *buffers[], void *arg)
{
    (void)buffers;
    *(int *)arg = atomic_fetch_add(&clock_ticks, 1) + 1;
}

static struct starpu_codelet cl_note = {
    .cpu_funcs = {note},
    .cuda_funcs = {note},
    .nbuffers = 0,
    .name = "k",
};

static void submit(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static struct starpu_task *new_task(int *when)
{
    struct starpu_task *task = starpu_task_create();

    ck_assert_ptr_nonnull(task);
    task->cl = &cl_note;
    task->cl_arg = when;
    return task;
}

static void expect_new(struct starpu_task *task)
{
    struct starpu_task expected = STARPU_TASK_INITIALIZER;

    expected.destroy = 1;
    expected.nb_termination_call_required = task->nb_termination_call_required;
    ck_assert_mem_eq(task, &expected, sizeof(expected));
}

/* Before the library has begun as well, and whatever its memory was used for. */
START_TEST(a_new_task_has_the_documented_values)
{
    int when[200];

    for (int round = 0; round < 3; round++) {
        struct starpu_task *early = starpu_task_create(), *late[200];

        expect_new(early);
        machine_open(_i);
        for (int i = 0; i < 200; i++) {
            late[i] = starpu_task_create();
            expect_new(late[i]);
            late[i]->cl = &cl_note;
            late[i]->cl_arg = &when[i];
            late[i]->flops = 1;
            late[i]->priority = late[i]->type = late[i]->color = 1;
            late[i]->hypervisor_tag = -1;
            late[i]->bundle = NULL;
            late[i]->modes[STARPU_NMAXBUFS - 1] = STARPU_RW;
        }
        for (int i = 0; i < 200; i++)
            submit(late[i]);
        starpu_task_wait_for_all();
        starpu_task_destroy(early);
        starpu_shutdown();
    }
}
END_TEST

START_TEST(a_submitted_task_runs_once)
{
    int when = 0;

    machine_open(_i);
    submit(new_task(&when));
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(when, 1);
    ck_assert_int_eq(atomic_load(&clock_ticks), 1);
    starpu_shutdown();
}
END_TEST

START_TEST(many_tasks_all_run)
{
    int when[2000] = {0};

    machine_open(_i);
    for (int i = 0; i < 2000; i++)
        submit(new_task(&when[i]));
    starpu_task_wait_for_all();
    for (int i = 0; i < 2000; i++)
        ck_assert_int_gt(when[i], 0);
    starpu_shutdown();
}
END_TEST

START_TEST(explicit_dependencies_are_kept_whatever_the_submission_order)
{
    int when[3] = {0};
    struct starpu_task *task[3];

    machine_open(_i);
    for (int i = 0; i < 3; i++)
        task[i] = new_task(&when[i]);
    starpu_task_declare_deps_array(task[2], 2,
                                   (struct starpu_task *[]){task[0], task[1]});
    starpu_task_declare_deps(task[0], 1, task[1]);
    submit(task[2]);
    submit(task[0]);
    submit(task[1]);
    starpu_task_wait_for_all();
    ck_assert_int_lt(when[1], when[0]);
    ck_assert_int_lt(when[0], when[2]);
    starpu_shutdown();
}
END_TEST

START_TEST(tags_order_tasks_and_can_be_waited_for)
{
    int when[3] = {0};

    machine_open(_i);
    starpu_tag_declare_deps((starpu_tag_t)7, 2, (starpu_tag_t)5,
                            (starpu_tag_t)6);
    for (int i = 2; i >= 0; i--) {
        struct starpu_task *task = new_task(&when[i]);

        task->use_tag = 1;
        task->tag_id = 5 + (starpu_tag_t)i;
        submit(task);
    }
    ck_assert_int_eq(starpu_tag_wait((starpu_tag_t)7), 0);
    ck_assert_int_lt(when[0], when[2]);
    ck_assert_int_lt(when[1], when[2]);
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

START_TEST(a_tag_notified_by_the_application_lets_its_successors_go)
{
    int when = 0;
    struct starpu_task *task;

    machine_open(_i);
    starpu_tag_declare_deps((starpu_tag_t)2, 1, (starpu_tag_t)1);
    task = new_task(&when);
    task->use_tag = 1;
    task->tag_id = 2;
    submit(task);
    starpu_usleep(1000);
    ck_assert_int_eq(when, 0);
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    starpu_task_wait_for_all();
    ck_assert_int_eq(when, 1);
    starpu_shutdown();
}
END_TEST

static void count(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

START_TEST(callbacks_run_before_wait_for_all_returns)
{
    atomic_int n = 0;
    int when[100];

    machine_open(_i);
    for (int i = 0; i < 100; i++) {
        struct starpu_task *task = new_task(&when[i]);

        task->callback_func = count;
        task->callback_arg = &n;
        task->epilogue_callback_func = count;
        task->epilogue_callback_arg = &n;
        task->prologue_callback_func = count;
        task->prologue_callback_arg = &n;
        submit(task);
    }
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&n), 300);
    starpu_shutdown();
}
END_TEST

static int in_callback;

static void submit_more(void *arg)
{
    submit(new_task(arg));
}

START_TEST(a_callback_may_submit)
{
    struct starpu_task *task;
    int when;

    machine_open(_i);
    task = new_task(&when);
    task->callback_func = submit_more;
    task->callback_arg = &in_callback;
    submit(task);
    starpu_task_wait_for_all();
    ck_assert_int_gt(in_callback, 0);
    starpu_shutdown();
}
END_TEST

static double callback_took = -1;
static int more[50];

static void submit_many_and_time(void *arg)
{
    double start = starpu_timing_now();

    (void)arg;
    for (int i = 0; i < 50; i++)
        submit(new_task(&more[i]));
    callback_took = starpu_timing_now() - start;
}

START_TEST(submitting_in_a_callback_never_switches)
{
    struct starpu_task *task;
    int when;

    machine_open(_i);
    task = new_task(&when);
    task->callback_func = submit_many_and_time;
    submit(task);
    starpu_task_wait_for_all();
    for (int i = 0; i < 50; i++)
        ck_assert_int_gt(more[i], 0);
    /* Simulated, time passes only where contexts may switch. */
    ck_assert(callback_took >= 0);
    if (machine_simulated(_i))
        ck_assert(callback_took == 0);
    starpu_shutdown();
}
END_TEST

static int refused;

static void wait_in_callback(void *arg)
{
    (void)arg;
    refused = starpu_task_wait_for_all();
}

START_TEST(waiting_in_a_callback_is_refused)
{
    struct starpu_task *task;
    int when;

    machine_open(_i);
    task = new_task(&when);
    task->callback_func = wait_in_callback;
    submit(task);
    starpu_task_wait_for_all();
    ck_assert_int_eq(refused, -EDEADLK);
    starpu_shutdown();
}
END_TEST

START_TEST(a_task_that_is_not_detached_can_be_waited_for)
{
    struct starpu_task *task;
    int when = 0;

    machine_open(_i);
    task = new_task(&when);
    task->detach = 0;
    task->destroy = 0;
    submit(task);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_int_eq(when, 1);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

START_TEST(a_synchronous_task_is_done_on_return)
{
    struct starpu_task *task;
    int when = 0;

    machine_open(_i);
    task = new_task(&when);
    task->synchronous = 1;
    submit(task);
    ck_assert_int_eq(when, 1);
    starpu_shutdown();
}
END_TEST

START_TEST(a_long_chain_of_empty_tasks_needs_no_deep_stack)
{
    struct starpu_task *first = NULL, *last = NULL;

    machine_open(_i);
    for (int i = 0; i < 100000; i++) {
        struct starpu_task *task = starpu_task_create();

        if (last)
            starpu_task_declare_deps_array(task, 1, &last);
        if (!first)
            first = task;
        else
            submit(task);
        last = task;
    }
    submit(first);
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

static void never(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

START_TEST(a_task_that_no_worker_can_run_is_refused_with_enodev)
{
    static struct starpu_codelet cl = {
        .hip_funcs = {never}, .where = STARPU_HIP, .name = "k"};
    struct starpu_task *task;

    machine_open(_i);
    task = starpu_task_create();
    task->cl = &cl;
    ck_assert_int_eq(starpu_task_submit(task), -ENODEV);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

START_TEST(a_task_for_one_worker_runs_there)
{
    machine_open(_i);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        struct starpu_task *task;
        int when = 0;

        task = new_task(&when);
        task->execute_on_a_specific_worker = 1;
        task->workerid = w;
        task->detach = 0;
        task->destroy = 0;
        submit(task);
        ck_assert_int_eq(starpu_task_wait(task), 0);
        ck_assert_uint_eq(task->workerid, w);
        ck_assert_int_gt(when, 0);
        starpu_task_destroy(task);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(several_rounds_in_one_process)
{
    for (int round = 0; round < 5; round++) {
        int when = 0;

        machine_open(_i);
        submit(new_task(&when));
        starpu_task_wait_for_all();
        ck_assert_int_gt(when, 0);
        starpu_shutdown();
    }
}
END_TEST

/* --- several threads --- */

enum { NDECLARERS = 4, DECLARED_ROUNDS = 200 };

static struct starpu_task *common;
static starpu_pthread_barrier_t all_there;
static atomic_int nafter;

static void note_after(void *arg)
{
    (void)arg;
    atomic_fetch_add(&nafter, 1);
}

/* One more that comes after the task that all have in common. */
static void *declare_after(void *arg)
{
    for (int i = 0; i < DECLARED_ROUNDS; i++) {
        struct starpu_task *task = starpu_task_create();

        task->callback_func = note_after;
        starpu_pthread_barrier_wait(&all_there);
        starpu_task_declare_deps(task, 1, common);
        if (starpu_task_submit(task) != 0)
            abort();
        starpu_pthread_barrier_wait(&all_there);
    }
    return arg;
}

START_TEST(threads_depend_on_the_same_new_task)
{
    starpu_pthread_t threads[NDECLARERS];

    machine_open(_i);
    starpu_pthread_barrier_init(&all_there, NULL, NDECLARERS + 1);
    for (int t = 0; t < NDECLARERS; t++)
        starpu_pthread_create(&threads[t], NULL, declare_after, NULL);
    for (int i = 0; i < DECLARED_ROUNDS; i++) {
        common = starpu_task_create();
        starpu_pthread_barrier_wait(&all_there);
        starpu_pthread_barrier_wait(&all_there);
        ck_assert_int_eq(atomic_load(&nafter), i * NDECLARERS);
        ck_assert_int_eq(starpu_task_submit(common), 0);
        starpu_task_wait_for_all();
        ck_assert_int_eq(atomic_load(&nafter), (i + 1) * NDECLARERS);
    }
    for (int t = 0; t < NDECLARERS; t++)
        starpu_pthread_join(threads[t], NULL);
    starpu_pthread_barrier_destroy(&all_there);
    starpu_shutdown();
}
END_TEST

/* --- the codelet that does nothing --- */

static int ran_on;

static int only_worker_1(unsigned worker, struct starpu_task *task,
                         unsigned impl)
{
    (void)task;
    (void)impl;
    return worker == 1;
}

static void note_worker(void *arg)
{
    (void)arg;
    ran_on = starpu_worker_get_id();
}

static void run_nop(struct starpu_codelet *nop, int worker)
{
    ran_on = -1;
    ck_assert_int_eq(starpu_task_insert(nop, STARPU_EXECUTE_ON_WORKER, worker,
                                        STARPU_CALLBACK, note_worker,
                                        STARPU_TASK_SYNCHRONOUS, 1, 0),
                     0);
}

START_TEST(what_does_nothing_does_it_on_a_worker)
{
    struct starpu_codelet nop = starpu_codelet_nop;

    machine_open(_i);
    for (int w = 0; w < (int)starpu_worker_get_count(); w++) {
        run_nop(&starpu_codelet_nop, w);
        ck_assert_int_eq(ran_on, w);
    }
    nop.can_execute = only_worker_1;
    run_nop(&nop, -1);
    ck_assert_int_eq(ran_on, 1);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(tasks)
{
    Suite *suite = suite_create("api-tasks");
    TCase *tc = tcase_create("each machine");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_new_task_has_the_documented_values, 0, NMACHINES);
    tcase_add_loop_test(tc, a_submitted_task_runs_once, 0, NMACHINES);
    tcase_add_loop_test(tc, many_tasks_all_run, 0, NMACHINES);
    tcase_add_loop_test(
        tc, explicit_dependencies_are_kept_whatever_the_submission_order, 0,
        NMACHINES);
    tcase_add_loop_test(tc, tags_order_tasks_and_can_be_waited_for, 0,
                        NMACHINES);
    tcase_add_loop_test(
        tc, a_tag_notified_by_the_application_lets_its_successors_go, 0,
        NMACHINES);
    tcase_add_loop_test(tc, callbacks_run_before_wait_for_all_returns, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_callback_may_submit, 0, NMACHINES);
    tcase_add_loop_test(tc, submitting_in_a_callback_never_switches, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, waiting_in_a_callback_is_refused, 0, NMACHINES);
    tcase_add_loop_test(tc, a_task_that_is_not_detached_can_be_waited_for, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_synchronous_task_is_done_on_return, 0, NMACHINES);
    tcase_add_loop_test(tc, a_long_chain_of_empty_tasks_needs_no_deep_stack, 0,
                        NMACHINES);
    tcase_add_loop_test(
        tc, a_task_that_no_worker_can_run_is_refused_with_enodev, 0, NMACHINES);
    tcase_add_loop_test(tc, a_task_for_one_worker_runs_there, 0, NMACHINES);
    tcase_add_loop_test(tc, several_rounds_in_one_process, 0, NMACHINES);
    tcase_add_loop_test(tc, threads_depend_on_the_same_new_task, 0, NMACHINES);
    tcase_add_loop_test(tc, what_does_nothing_does_it_on_a_worker, 0,
                        NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-conf.c - what an application requests of a run before it
 * begins, and what ends with it, on each machine: struct starpu_conf, policies
 * of its own, cost functions per device, values of keys.
 */
#include <errno.h>
#include <stdlib.h>

#include "machines.h"

static struct starpu_conf conf;

/* The environment of machine i, and a configuration with defaults. */
static void prepare(int i)
{
    machine_choose(i);
    ck_assert_int_eq(starpu_conf_init(&conf), 0);
}

static void start(void)
{
    ck_assert_int_eq(starpu_init(&conf), 0);
}

/* --- priorities --- */

START_TEST(the_range_of_priorities_can_be_given)
{
    prepare(_i);
    conf.global_sched_ctx_min_priority = -3;
    conf.global_sched_ctx_max_priority = 9;
    start();
    ck_assert_int_eq(STARPU_MIN_PRIO, -3);
    ck_assert_int_eq(STARPU_MAX_PRIO, 9);
    ck_assert_int_eq(starpu_sched_set_max_priority(20), 0);
    ck_assert_int_eq(STARPU_MAX_PRIO, 9); /* the requested value stands */
    starpu_shutdown();

    setenv("STARPU_MIN_PRIO", "1", 1);
    start();
    ck_assert_int_eq(STARPU_MIN_PRIO, 1);
    ck_assert_int_eq(STARPU_MAX_PRIO, 9);
    starpu_shutdown();

    conf.precedence_over_environment_variables = 1;
    start();
    ck_assert_int_eq(STARPU_MIN_PRIO, -3);
    starpu_shutdown();
}
END_TEST

/* --- the policy is there --- */

static int called;

static void policy_is_there(unsigned ctx)
{
    ck_assert_uint_eq(ctx, 0);
    ck_assert_ptr_nonnull(starpu_sched_get_sched_policy());
    ck_assert_int_eq(starpu_sched_set_min_priority(-4), 0);
    ck_assert_uint_gt(starpu_worker_get_count(), 0);
    called++;
}

START_TEST(the_callback_finds_the_policy_set_up)
{
    prepare(_i);
    conf.sched_policy_callback = policy_is_there;
    start();
    ck_assert_int_eq(called, 1);
    ck_assert_int_eq(STARPU_MIN_PRIO, -4);
    starpu_shutdown();
    ck_assert_int_eq(called, 1);
}
END_TEST

/* --- binding --- */

START_TEST(workers_are_bound_where_the_application_requests)
{
    static const unsigned there_and_back[] = {0, 1, 0};
    int first, second;

    prepare(_i);
    conf.ncpus = 1;
    conf.use_explicit_workers_bindid = 1;
    unsetenv("STARPU_NCPU");
    start();
    first = starpu_worker_get_bindid(0);
    starpu_shutdown();
    conf.workers_bindid[0] = 1;
    if (starpu_init(&conf) != 0)
        SKIP_TEST("this machine has one processor");
    second = starpu_worker_get_bindid(0);
    starpu_shutdown();
    ck_assert_int_ne(first, second);

    conf.ncpus = 3;
    for (unsigned i = 0; i < 3; i++)
        conf.workers_bindid[i] = there_and_back[i];
    start();
    ck_assert_uint_eq(starpu_cpu_worker_get_count(), 3);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(starpu_worker_get_bindid((int)i),
                         there_and_back[i] ? second : first);
    starpu_shutdown();

    setenv("STARPU_WORKERS_CPUID", "1", 1); /* overrules the field */
    start();
    ck_assert_int_eq(starpu_worker_get_bindid(0), second);
    starpu_shutdown();
    conf.precedence_over_environment_variables = 1;
    start();
    ck_assert_int_eq(starpu_worker_get_bindid(0), first);
    starpu_shutdown();
}
END_TEST

START_TEST(binding_to_a_processor_that_is_not_there_is_refused)
{
    prepare(_i);
    conf.use_explicit_workers_bindid = 1;
    conf.workers_bindid[1] = 99999;
    ck_assert_int_eq(starpu_init(&conf), -EINVAL);
}
END_TEST

/* --- cost functions per device --- */

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static double cost(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
                   unsigned impl)
{
    (void)impl;
    return task->flops * (1 + arch->devices[0].devid) *
           (arch->devices[0].type == STARPU_CPU_WORKER ? 10 : 1);
}

static double expected(struct starpu_task *task, unsigned worker)
{
    return starpu_task_worker_expected_length(task, worker, 0, 0);
}

START_TEST(a_cost_function_can_be_set_for_each_device)
{
    struct starpu_perfmodel model = {.type = STARPU_PER_ARCH};
    struct starpu_codelet cl = {.cpu_funcs = {nothing},
                                .cuda_funcs = {nothing},
                                .model = &model,
                                .name = "function"};
    struct starpu_task *task;
    double begin;
    int gpu;

    prepare(_i);
    starpu_perfmodel_init(&model);
    starpu_perfmodel_set_per_devices_cost_function(&model, 0, cost,
                                                   STARPU_CPU_WORKER, 0, 1, -1);
    for (int i = 0; i < 3; i++)
        starpu_perfmodel_set_per_devices_cost_function(
            &model, 0, cost, STARPU_CUDA_WORKER, i, 1, -1);
    start();
    task = starpu_task_create();
    task->cl = &cl;
    task->flops = 7;
    task->destroy = task->detach = 0;
    ck_assert_double_eq(expected(task, 0), 70);
    gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 2);
    if (machine_simulated(_i)) {
        ck_assert_double_eq(expected(task, (unsigned)gpu), 21);
        task->execute_on_a_specific_worker = 1;
        task->workerid = (unsigned)gpu;
    }
    begin = starpu_timing_now();
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    if (machine_simulated(_i))
        ck_assert_double_ge(starpu_timing_now() - begin, 21);
    starpu_task_destroy(task);
    starpu_shutdown();
    starpu_perfmodel_deinit(&model);
}
END_TEST

/* --- the calls a policy gets --- */

static struct starpu_task *queued[8];
static unsigned nqueued, nsubmitted, nscheduled;
static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;

static int push(struct starpu_task *task)
{
    STARPU_PTHREAD_MUTEX_LOCK(&mutex);
    queued[nqueued++] = task;
    STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
    return 0;
}

static struct starpu_task *pop(unsigned ctx)
{
    struct starpu_task *task = NULL;

    (void)ctx;
    STARPU_PTHREAD_MUTEX_LOCK(&mutex);
    if (nqueued)
        task = queued[--nqueued];
    STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
    return task;
}

static void submitted(struct starpu_task *task)
{
    ck_assert_ptr_nonnull(task->cl);
    nsubmitted++;
}

static void do_schedule(unsigned ctx)
{
    ck_assert_uint_eq(ctx, 0);
    nscheduled++;
}

static struct starpu_sched_policy policy = {
    .push_task = push,
    .pop_task = pop,
    .submit_hook = submitted,
    .do_schedule = do_schedule,
    .policy_name = "mine",
};

START_TEST(a_policy_hears_of_submissions_and_of_their_end)
{
    struct starpu_codelet cl = {
        .cpu_funcs = {nothing}, .cuda_funcs = {nothing}, .name = "k"};

    prepare(_i);
    conf.sched_policy = &policy;
    start();
    for (int i = 0; i < 3; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        ck_assert_int_eq(starpu_task_submit(task), 0);
        ck_assert_uint_eq(nsubmitted, (unsigned)i + 1);
    }
    ck_assert_uint_eq(nscheduled, 0);
    starpu_do_schedule();
    ck_assert_uint_eq(nscheduled, 1);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(nscheduled, 2);
    starpu_shutdown();
}
END_TEST

/* --- values of keys --- */

static starpu_pthread_key_t key;
static int values[2];

static void forget(void *value)
{
    ++*(int *)value;
}

static void keep(void *buffers[], void *arg)
{
    (void)buffers;
    starpu_pthread_setspecific(key, arg);
}

START_TEST(values_that_kernels_left_end_with_their_worker)
{
    struct starpu_codelet cl = {
        .cpu_funcs = {keep}, .cuda_funcs = {keep}, .name = "k"};
    struct starpu_task *task;

    prepare(_i);
    start();
    ck_assert_int_eq(starpu_pthread_key_create(&key, forget), 0);
    ck_assert_int_eq(starpu_pthread_setspecific(key, &values[0]), 0);
    task = starpu_task_create();
    task->cl = &cl;
    task->cl_arg = &values[1];
    ck_assert_int_eq(starpu_task_submit(task), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(values[1], 0);
    starpu_shutdown();
    ck_assert_int_eq(values[1], 1);
    /* A simulated main loses its values; a real one goes on with them. */
    ck_assert_int_eq(values[0], machine_simulated(_i));
    starpu_pthread_key_delete(key);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conf");
    TCase *tc = tcase_create("machines");
    int n = NMACHINES;

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, the_range_of_priorities_can_be_given, 0, n);
    tcase_add_loop_test(tc, the_callback_finds_the_policy_set_up, 0, n);
    tcase_add_loop_test(tc, workers_are_bound_where_the_application_requests, 0,
                        FIRST_SIMULATED);
    tcase_add_loop_test(tc, binding_to_a_processor_that_is_not_there_is_refused,
                        0, FIRST_SIMULATED);
    tcase_add_loop_test(tc, a_cost_function_can_be_set_for_each_device, 0, n);
    tcase_add_loop_test(tc, a_policy_hears_of_submissions_and_of_their_end, 0,
                        n);
    tcase_add_loop_test(tc, values_that_kernels_left_end_with_their_worker, 0,
                        n);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

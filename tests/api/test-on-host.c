/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-on-host.c - tasks that take several processors of one memory node
 * (orrery_task_submit_on_host): how many functions run at one time, what they see, beside
 * others and parallel tasks, what is refused. Four processors, real and simulated.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <orrery.h>

#include "machines.h"

enum { NCPUS = 4, NTASKS = 60 };

/* Processors that functions have now, of at most NCPUS. */
static atomic_int taken, ncalls, wrong;

static void work(void *buffers[], void *arg)
{
    int size = starpu_combined_worker_get_size();
    int expected = (int)(intptr_t)arg;

    (void)buffers;
    wrong += size != expected;
    wrong += atomic_fetch_add(&taken, size) + size > NCPUS;
    for (volatile int i = 0; i < 20000; i++) {
    }
    atomic_fetch_sub(&taken, size);
    ncalls++;
}

static double length_of(struct starpu_task *task, unsigned impl)
{
    (void)task;
    (void)impl;
    return 100;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON,
                                        .cost_function = length_of};
static struct starpu_codelet codelet = {
    .cpu_funcs = {work}, .model = &model, .nbuffers = 0, .name = "work"};

static void open_with(int machine, const char *policy)
{
    machine_choose(machine);
    setenv("STARPU_NCPU", "4", 1);
    setenv("STARPU_NCUDA", "0", 1);
    setenv("STARPU_NOPENCL", "0", 1);
    if (policy)
        setenv("STARPU_SCHED", policy, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_cpu_worker_get_count(), NCPUS);
}

static void close_all(int calls)
{
    starpu_task_wait_for_all();
    ck_assert_int_eq(ncalls, calls);
    ck_assert_int_eq(wrong, 0);
    starpu_shutdown();
}

static struct starpu_task *make(int ncores, int priority)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &codelet;
    task->priority = priority;
    task->cl_arg = (void *)(intptr_t)(ncores ? ncores : 1);
    return task;
}

static const char *const policies[] = {
    "eager",      "prio",          "lws",          "ws",
    "dmda",       "dmdas",         "pheft",        "peager",
    "heteroprio", "modular-eager", "modular-heft", "random"};
enum { NPOLICIES = sizeof(policies) / sizeof(*policies) };

/* Each of any size up to all, in any order, under every sort of policy. */
START_TEST(no_more_processors_are_taken_than_there_are)
{
    unsigned state = 11;

    open_with(_i / NPOLICIES, policies[_i % NPOLICIES]);
    for (int i = 0; i < NTASKS; i++) {
        int ncores =
            (int)((state = state * 1103515245U + 12345U) >> 16) % (NCPUS + 1);

        ck_assert_int_eq(orrery_task_submit_on_host(make(ncores, i % 3),
                                                    (unsigned)ncores, 0),
                         0);
        if (i % 20 == 0)
            starpu_task_wait_for_all();
    }
    close_all(NTASKS);
}
END_TEST

START_TEST(a_task_waits_for_its_data_and_is_waited_for)
{
    starpu_data_handle_t handle;
    struct starpu_task *task;
    int value = 0;
    static struct starpu_codelet uses = {.cpu_funcs = {work},
                                         .model = &model,
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .name = "uses"};

    open_with(_i, "lws");
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    for (int i = 0; i < 10; i++) {
        task = make(1 + i % NCPUS, 0);
        task->cl = &uses;
        task->handles[0] = handle;
        ck_assert_int_eq(orrery_task_submit_on_host(
                             task, 1 + (unsigned)(i % NCPUS), 1 << 20),
                         0);
    }
    starpu_data_unregister(handle);
    close_all(10);
}
END_TEST

START_TEST(a_synchronous_one_has_ended)
{
    struct starpu_task *task;

    open_with(_i, "eager");
    task = make(NCPUS, 0);
    task->synchronous = 1;
    ck_assert_int_eq(orrery_task_submit_on_host(task, NCPUS, 0), 0);
    ck_assert_int_eq(ncalls, 1);
    close_all(1);
}
END_TEST

START_TEST(what_cannot_be_is_refused_and_stays_the_callers)
{
    struct starpu_task *task;

    open_with(_i, "lws");
    task = make(NCPUS + 1, 0);
    ck_assert_int_eq(orrery_task_submit_on_host(task, NCPUS + 1, 0), -ENODEV);
    task->execute_on_a_specific_worker = 1;
    ck_assert_int_eq(orrery_task_submit_on_host(task, 2, 0), -EINVAL);
    task->execute_on_a_specific_worker = 0;
    task->regenerate = 1;
    ck_assert_int_eq(orrery_task_submit_on_host(task, 1, 5), -EINVAL);
    task->regenerate = 0;
    ck_assert_int_eq(orrery_task_submit_on_host(NULL, 2, 0), -EINVAL);
    task->cl_arg = (void *)(intptr_t)2;
    ck_assert_int_eq(orrery_task_submit_on_host(task, 2, 0), 0);
    close_all(1);
}
END_TEST

SUITE_MAIN(on_host)
{
    Suite *suite = suite_create("tasks of several processors of a node");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    tcase_add_loop_test(each, no_more_processors_are_taken_than_there_are, 0,
                        NMACHINES * NPOLICIES);
    tcase_add_loop_test(each, a_task_waits_for_its_data_and_is_waited_for, 0,
                        NMACHINES);
    tcase_add_loop_test(each, a_synchronous_one_has_ended, 0, NMACHINES);
    tcase_add_loop_test(each, what_cannot_be_is_refused_and_stays_the_callers,
                        0, NMACHINES);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-thread-stack.c - orrery_call_on_thread_stack, which bindings of virtual
 * machines need: kernels, callbacks and cost functions that call there, submit tasks
 * there, and are refused where they would wait. On each machine, with one, two and more
 * workers.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <orrery.h>

#include "machines.h"

/* Each machine with each number of processors. */
enum { NCPUS = 3 };
#define NTIMES (NMACHINES * NCPUS)

#define CODELET(func)                                                                      \
    {                                                                                      \
        .cpu_funcs = {func}, .name = "k"                                                   \
    }

/* How far calls may be from main: a stack of its own is in a mapping of its own. */
enum { NEAR = 1 << 20 };

/* Of each test: a place on main's stack, and how many calls were near it. */
static const char *home;
static atomic_int nnear, ncalls, nrefused;

static void start_run(int i, const char *here)
{
    static const char *const ncpus[NCPUS] = {"1", "2", "4"};

    setenv("TEST_NCPU", ncpus[i % NCPUS], 1);
    machine_open(i / NCPUS);
    home = here;
    atomic_store(&nnear, 0);
    atomic_store(&ncalls, 0);
    atomic_store(&nrefused, 0);
}

static struct starpu_task *new_task(struct starpu_codelet *cl, void *arg)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->cl_arg = arg;
    return task;
}

static void submit(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static void run(struct starpu_codelet *cl, void *arg)
{
    submit(new_task(cl, arg));
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
}

static void count(void)
{
    char here = 0;
    intptr_t distance = (intptr_t)&here - (intptr_t)home;

    atomic_fetch_add(&ncalls, 1);
    if (distance > -NEAR && distance < NEAR)
        atomic_fetch_add(&nnear, 1);
}

/* All calls were on main's stack when simulated, none of n else. */
static void check(int n)
{
    ck_assert_int_eq(atomic_load(&ncalls), n);
    ck_assert_int_eq(atomic_load(&nnear), orrery_is_simulated() ? n : 0);
}

static void there(void *arg)
{
    (void)arg;
    count();
}

static void kernel(void *buffers[], void *arg)
{
    (void)buffers;
    orrery_call_on_thread_stack(there, arg);
}

static struct starpu_codelet cl_calls = CODELET(kernel);

START_TEST(kernels_call_there)
{
    char here = 0;

    start_run(_i, &here);
    for (int n = 0; n < 200; n++)
        submit(new_task(&cl_calls, NULL));
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    check(200);
    orrery_call_on_thread_stack(there, NULL); /* main is there */
    ck_assert_int_eq(atomic_load(&nnear), orrery_is_simulated() ? 201 : 1);
    starpu_shutdown();
}
END_TEST

/* --- calls in calls, tasks of tasks --- */

static struct starpu_codelet cl_chain;
static starpu_data_handle_t number_handle;

static void next_in_chain(void *arg)
{
    int *left = arg;

    count();
    if (--*left > 0)
        ck_assert_int_eq(starpu_task_insert(&cl_chain, STARPU_RW, number_handle, 0), 0);
    if (*left % 2)
        orrery_call_on_thread_stack(there, NULL);
}

static void chain(void *buffers[], void *arg)
{
    (void)arg;
    orrery_call_on_thread_stack(next_in_chain,
                                (void *)STARPU_VARIABLE_GET_PTR(buffers[0]));
}

static struct starpu_codelet cl_chain = {
    .cpu_funcs = {chain}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "k"};

START_TEST(a_chain_of_tasks_submits_itself)
{
    char here = 0;
    int left = 500;

    start_run(_i, &here);
    starpu_variable_data_register(&number_handle, STARPU_MAIN_RAM, (uintptr_t)&left,
                                  sizeof(left));
    ck_assert_int_eq(starpu_task_insert(&cl_chain, STARPU_RW, number_handle, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    starpu_data_unregister(number_handle);
    ck_assert_int_eq(left, 0);
    check(500 + 250);
    starpu_shutdown();
}
END_TEST

/* --- waiting --- */

static void wait_there(void *arg)
{
    int error = starpu_data_acquire(number_handle, STARPU_R);

    (void)arg;
    count();
    if (error == -EDEADLK)
        atomic_fetch_add(&nrefused, 1);
    else
        starpu_data_release(number_handle);
}

static void waiting_kernel(void *buffers[], void *arg)
{
    (void)buffers;
    orrery_call_on_thread_stack(wait_there, arg);
}

static struct starpu_codelet cl_waiting = CODELET(waiting_kernel);

static void plain_waiting_kernel(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ck_assert_int_eq(starpu_data_acquire(number_handle, STARPU_R), 0);
    starpu_data_release(number_handle);
}

static struct starpu_codelet cl_plain_waiting = CODELET(plain_waiting_kernel);

START_TEST(a_kernel_that_waits_there_is_refused_when_simulated)
{
    char here = 0;
    int number = 0;

    start_run(_i, &here);
    starpu_variable_data_register(&number_handle, STARPU_MAIN_RAM, (uintptr_t)&number,
                                  sizeof(number));
    run(&cl_waiting, NULL);
    check(1);
    ck_assert_int_eq(atomic_load(&nrefused), orrery_is_simulated());
    run(&cl_plain_waiting, NULL); /* afterwards they may wait as ever */
    starpu_data_unregister(number_handle);
    starpu_shutdown();
}
END_TEST

/* While kernels wait beneath it, their worker goes on elsewhere. */
START_TEST(others_call_there_while_kernels_wait)
{
    char here = 0;
    int number = 0;

    start_run(_i, &here);
    starpu_variable_data_register(&number_handle, STARPU_MAIN_RAM, (uintptr_t)&number,
                                  sizeof(number));
    ck_assert_int_eq(starpu_data_acquire(number_handle, STARPU_RW), 0);
    for (int n = 0; n < 12; n++) {
        submit(new_task(&cl_plain_waiting, NULL));
        submit(new_task(&cl_calls, NULL));
    }
    starpu_data_release(number_handle);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    check(12);
    starpu_data_unregister(number_handle);
    starpu_shutdown();
}
END_TEST

/* --- callbacks, cost functions, methods --- */

static double cost(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned n)
{
    (void)task;
    (void)arch;
    (void)n;
    orrery_call_on_thread_stack(there, NULL);
    return 5;
}

static void call_there(void *arg)
{
    orrery_call_on_thread_stack(there, arg);
}

static struct starpu_perfmodel model = {.type = STARPU_PER_ARCH, .arch_cost_function = cost};

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet cl_costly = {
    .cpu_funcs = {nothing}, .name = "k", .model = &model};

START_TEST(cost_functions_and_callbacks_call_there)
{
    char here = 0;

    setenv("STARPU_SCHED", "dmda", 1);
    start_run(_i, &here);
    for (int n = 0; n < 20; n++) {
        struct starpu_task *task = new_task(&cl_costly, NULL);

        task->callback_func = call_there;
        submit(task);
    }
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_ge(atomic_load(&ncalls), 21);
    if (orrery_is_simulated())
        ck_assert_int_eq(atomic_load(&nnear), atomic_load(&ncalls));
    starpu_shutdown();
    unsetenv("STARPU_SCHED");
}
END_TEST

/* --- threads of the system --- */

static void *ask(void *arg)
{
    *(int *)arg = orrery_thread_takes_part();
    return NULL;
}

START_TEST(other_threads_take_part_in_real_runs_only)
{
    char here = 0;
    int there_too = -1;
    pthread_t thread;

    ck_assert_int_eq(orrery_thread_takes_part(), 0);
    start_run(_i, &here);
    ck_assert_int_eq(orrery_thread_takes_part(), 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, ask, &there_too), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(there_too, !orrery_is_simulated());
    starpu_shutdown();
    ck_assert_int_eq(orrery_thread_takes_part(), 0);
}
END_TEST

SUITE_MAIN(thread_stack)
{
    Suite *suite = suite_create("api-thread-stack");
    TCase *tc = tcase_create("each machine");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, kernels_call_there, 0, NTIMES);
    tcase_add_loop_test(tc, a_chain_of_tasks_submits_itself, 0, NTIMES);
    tcase_add_loop_test(tc, a_kernel_that_waits_there_is_refused_when_simulated, 0, NTIMES);
    tcase_add_loop_test(tc, others_call_there_while_kernels_wait, 0, NTIMES);
    tcase_add_loop_test(tc, cost_functions_and_callbacks_call_there, 0, NTIMES);
    tcase_add_loop_test(tc, other_threads_take_part_in_real_runs_only, 0, NTIMES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

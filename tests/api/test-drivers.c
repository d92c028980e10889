/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-drivers.c - workers that threads of the application drive: in
 * steps, or until they are asked to return; what is known of the others.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <orrery.h>

#include "../loopback/use.h"
#include "machines.h"

#define NTASKS 40

static atomic_int ran_on[STARPU_NMAXWORKERS];

static void note(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ran_on[starpu_worker_get_id()]++;
}

static struct starpu_codelet cl = {.cpu_funcs = {note}, .name = "k"};

static struct starpu_driver second = {.type = STARPU_CPU_WORKER, .id.cpu_id = 1};

/* The second processor has no thread. Its worker. */
static int open_machine(int i)
{
    struct starpu_conf conf;
    struct starpu_driver named = second;

    machine_choose(i);
    setenv("STARPU_NCPU", "2", 1);
    setenv("STARPU_NCUDA", "1", 1);
    starpu_conf_init(&conf);
    conf.not_launched_drivers = &named;
    conf.n_not_launched_drivers = 1;
    ck_assert_int_eq(starpu_init(&conf), 0);
    return starpu_worker_get_by_type(STARPU_CPU_WORKER, 1);
}

static struct starpu_task *task_for(int worker)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl;
    task->detach = 0;
    task->execute_on_a_specific_worker = 1;
    task->workerid = (unsigned)worker;
    return task;
}

START_TEST(a_thread_is_the_worker_step_by_step)
{
    int worker = open_machine(_i);
    struct starpu_task *task = task_for(worker);

    ck_assert_int_eq(starpu_driver_run_once(&second), -EINVAL);
    ck_assert_int_eq(starpu_task_submit(task), 0);
    /* Nobody is the worker. */
    starpu_sleep(0.001f);
    ck_assert_int_eq(starpu_task_finished(task), 0);
    ck_assert_int_eq(starpu_driver_init(&second), 0);
    while (!starpu_task_finished(task))
        ck_assert_int_eq(starpu_driver_run_once(&second), 0);
    ck_assert_int_eq(ran_on[worker], 1);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_int_eq(starpu_driver_init(&second), -EBUSY);
    ck_assert_int_eq(starpu_driver_deinit(&second), 0);
    ck_assert_int_eq(starpu_driver_deinit(&second), -EINVAL);
    ck_assert_int_eq(starpu_driver_init(&second), 0);
    ck_assert_int_eq(starpu_driver_deinit(&second), 0);
    starpu_shutdown();
}
END_TEST

static unsigned count_by(void *arg)
{
    ((atomic_int *)arg)[starpu_worker_get_id()]++;
    return 1;
}

/* Each look that finds nothing is a moment to do something else. */
START_TEST(a_step_without_work_calls_functions_of_idle_workers)
{
    static atomic_int progressed[STARPU_NMAXWORKERS], idled[STARPU_NMAXWORKERS];
    int worker = open_machine(_i), hooks[2];

    hooks[0] = starpu_progression_hook_register(count_by, progressed);
    hooks[1] = starpu_idle_hook_register(count_by, idled);
    ck_assert_int_eq(starpu_driver_init(&second), 0);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(starpu_driver_run_once(&second), 0);
    ck_assert_int_eq(progressed[worker], 10);
    ck_assert_int_eq(idled[worker], 10);
    ck_assert_int_eq(starpu_driver_deinit(&second), 0);
    starpu_progression_hook_deregister(hooks[0]);
    starpu_idle_hook_deregister(hooks[1]);
    starpu_shutdown();
}
END_TEST

START_TEST(only_workers_without_thread_are_driven)
{
    struct starpu_driver first = {.type = STARPU_CPU_WORKER};
    struct starpu_driver none = {.type = STARPU_CPU_WORKER, .id.cpu_id = 77};

    (void)open_machine(_i);
    ck_assert_int_eq(starpu_driver_init(&first), -EINVAL);
    ck_assert_int_eq(starpu_driver_run(&none), -EINVAL);
    ck_assert_int_eq(starpu_driver_run(NULL), -EINVAL);
    starpu_shutdown();
}
END_TEST

/* What is there before starpu_init; the test program itself does not link it. */
START_TEST(drivers_libraries_are_opened_before)
{
    const char *loader = "libOpenCL.so.1";
    void *library;

    if (dlopen(loader, RTLD_LAZY | RTLD_NOLOAD))
        return; /* another library has it */
    starpu_drivers_preinit();
    starpu_drivers_preinit();
    library = dlopen(loader, RTLD_LAZY | RTLD_NOLOAD);
    /* Else there is none. */
    ck_assert(library || !dlopen(loader, RTLD_LAZY));
    (void)open_machine(_i);
    starpu_drivers_preinit();
    starpu_shutdown();
}
END_TEST

static atomic_int result;

static void *drive(void *arg)
{
    result = starpu_driver_run(arg);
    return NULL;
}

/* The others wait for it, since it has been asked to return with the last
 * task. */
START_TEST(a_thread_drives_until_it_is_asked_to_return)
{
    int worker = open_machine(_i);
    starpu_pthread_t thread;
    struct starpu_task *task = task_for(worker);

    result = 1;
    ck_assert_int_eq(starpu_pthread_create(&thread, NULL, drive, &second), 0);
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER,
                                            worker, 0),
                         0);
    starpu_drivers_request_termination();
    starpu_pthread_join(thread, NULL);
    ck_assert_int_eq(result, 0);
    ck_assert_int_eq(ran_on[worker], NTASKS + 1);
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

/* Its end is not waited for by anybody else. */
START_TEST(shutdown_ends_a_drive)
{
    int worker = open_machine(_i);
    starpu_pthread_t thread;

    (void)worker;
    result = 1;
    ck_assert_int_eq(starpu_pthread_create(&thread, NULL, drive, &second), 0);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER, worker,
                                        STARPU_TASK_SYNCHRONOUS, 1, 0),
                     0);
    if (machine_simulated(_i)) {
        starpu_drivers_request_termination();
        starpu_pthread_join(thread, NULL);
    }
    starpu_shutdown();
    if (!machine_simulated(_i))
        starpu_pthread_join(thread, NULL);
    ck_assert_int_eq(result, 0);
}
END_TEST

/* Devices are numbered as workers tell them. */
START_TEST(a_device_of_the_loopback_is_driven)
{
    struct starpu_driver device = {
        .type = (enum starpu_worker_archtype)LOOPBACK_WORKER, .id.cuda_id = 1};
    struct starpu_conf conf;
    struct starpu_task *task;
    int worker;

    machine_choose(0);
    loopback_use("2 seed=3");
    starpu_conf_init(&conf);
    conf.not_launched_drivers = &device;
    conf.n_not_launched_drivers = 1;
    ck_assert_int_eq(starpu_init(&conf), 0);
    worker = starpu_worker_get_by_devid(device.type, 1);
    ck_assert_int_ge(worker, 0);
    task = task_for(worker);
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_driver_init(&device), 0);
    while (!starpu_task_finished(task))
        ck_assert_int_eq(starpu_driver_run_once(&device), 0);
    ck_assert_int_eq(ran_on[worker], 1);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_int_eq(starpu_driver_deinit(&device), 0);
    starpu_shutdown();
}
END_TEST

/* --- workers with a thread --- */

/* Simulated, no worker has begun when starpu_init returns. */
START_TEST(workers_are_waited_for)
{
    double before;

    machine_open(_i);
    before = starpu_timing_now();
    starpu_worker_wait_for_initialisation();
    if (machine_simulated(_i))
        ck_assert_double_gt(starpu_timing_now(), before);
    before = starpu_timing_now();
    starpu_worker_wait_for_initialisation();
    if (machine_simulated(_i))
        ck_assert_double_eq(starpu_timing_now(), before);
    starpu_shutdown();
}
END_TEST

START_TEST(a_thread_goes_where_main_is)
{
    cpu_set_t before, mine;

    sched_getaffinity(0, sizeof(before), &before);
    if (CPU_COUNT(&before) < 2)
        SKIP_TEST("one processor only");
    machine_choose(0);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_MAIN_THREAD_BIND", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    sched_setaffinity(0, sizeof(before), &before);
    starpu_bind_thread_on_main();
    sched_getaffinity(0, sizeof(mine), &mine);
    ck_assert_int_eq(CPU_COUNT(&mine), 1);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(drivers)
{
    Suite *suite = suite_create("drivers");
    TCase *tc = tcase_create("on each machine");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, drivers_libraries_are_opened_before, 0, NMACHINES);
    tcase_add_loop_test(tc, a_thread_is_the_worker_step_by_step, 0, NMACHINES);
    tcase_add_loop_test(tc, a_step_without_work_calls_functions_of_idle_workers,
                        0, NMACHINES);
    tcase_add_loop_test(tc, only_workers_without_thread_are_driven, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_thread_drives_until_it_is_asked_to_return, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, shutdown_ends_a_drive, 0, NMACHINES);
    tcase_add_test(tc, a_device_of_the_loopback_is_driven);
    tcase_add_loop_test(tc, workers_are_waited_for, 0, NMACHINES);
    tcase_add_test(tc, a_thread_goes_where_main_is);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

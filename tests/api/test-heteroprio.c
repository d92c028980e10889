/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-heteroprio.c - heteroprio: the application's order of buckets, who
 * leaves tasks to faster workers, and the mode that finds both out.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu_heteroprio.h>

#include "machines.h"

enum { NBUCKETS = 3, NEACH = 10, NTASKS = NBUCKETS * NEACH };

static atomic_int nran, order[NTASKS], of_cpus[NBUCKETS];

/* Simulated, all kernels are those of processors. */
static int is_on_cpu(void)
{
    return starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CPU_WORKER;
}

static void note(void *buffers[], void *arg)
{
    int bucket = (int)(intptr_t)arg;

    (void)buffers;
    atomic_store(&order[atomic_fetch_add(&nran, 1)], bucket);
    atomic_fetch_add(&of_cpus[bucket], is_on_cpu());
}

static struct starpu_codelet cl = {
    .cpu_funcs = {note}, .cuda_funcs = {note}, .name = "k"};
static struct starpu_codelet cl_cpu = {.cpu_funcs = {note}, .name = "k"};

static void open_with(int machine, void (*set_up)(unsigned))
{
    struct starpu_conf conf;

    machine_choose(machine);
    setenv("STARPU_SCHED", "heteroprio", 1);
    if (set_up)
        setenv("STARPU_HETEROPRIO_USE_AUTO_CALIBRATION", "0", 1);
    starpu_conf_init(&conf);
    conf.sched_policy_callback = set_up;
    ck_assert_int_eq(starpu_init(&conf), 0);
}

/* NEACH tasks of each bucket, in turn. */
static void run(struct starpu_codelet *codelet)
{
    starpu_pause();
    for (int i = 0; i < NTASKS; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = codelet;
        task->priority = i % NBUCKETS;
        task->cl_arg = (void *)(intptr_t)task->priority;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    starpu_task_wait_for_all();
    starpu_shutdown();
    ck_assert_int_eq(atomic_load(&nran), NTASKS);
}

/* --- the application's order --- */

static void set_order(unsigned ctx)
{
    starpu_heteroprio_set_nb_prios(ctx, STARPU_CPU_WORKER, NBUCKETS);
    starpu_heteroprio_set_mapping(ctx, STARPU_CPU_WORKER, 0, 1);
    starpu_heteroprio_set_mapping(ctx, STARPU_CPU_WORKER, 1, 2);
    starpu_heteroprio_set_mapping(ctx, STARPU_CPU_WORKER, 2, 0);
}

/* Also where the task that a worker takes ahead is of another bucket. */
START_TEST(buckets_come_in_the_order_that_is_set)
{
    static const int expected[] = {1, 2, 0};

    setenv("TEST_NCPU", "1", 1);
    open_with(_i, set_order);
    run(&cl_cpu);
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(atomic_load(&order[i]), expected[i / NEACH]);
}
END_TEST

START_TEST(without_an_order_it_is_that_of_the_buckets)
{
    setenv("TEST_NCPU", "1", 1);
    setenv("STARPU_HETEROPRIO_USE_AUTO_CALIBRATION", "0", 1);
    open_with(_i, NULL);
    run(&cl_cpu);
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(atomic_load(&order[i]), i / NEACH);
}
END_TEST

/* --- who leaves tasks to others --- */

static float slow_factor;

static void set_factors(unsigned ctx)
{
    for (unsigned b = 0; b < NBUCKETS; b++) {
        if (b == 0) {
            starpu_heteroprio_set_nb_prios(ctx, STARPU_CPU_WORKER, NBUCKETS);
            starpu_heteroprio_set_nb_prios(ctx, STARPU_CUDA_WORKER, NBUCKETS);
        }
        starpu_heteroprio_set_mapping(ctx, STARPU_CPU_WORKER, b, b);
        starpu_heteroprio_set_mapping(ctx, STARPU_CUDA_WORKER, b, b);
        starpu_heteroprio_set_faster_arch(ctx, STARPU_CUDA_WORKER, b);
        starpu_heteroprio_set_arch_slow_factor(ctx, STARPU_CPU_WORKER, b,
                                               slow_factor);
    }
}

START_TEST(a_slow_architecture_leaves_tasks_to_a_fast_one)
{
    int n = 0;

    slow_factor = 1000;
    open_with(FIRST_SIMULATED, set_factors);
    run(&cl);
    for (int b = 0; b < NBUCKETS; b++)
        ck_assert_int_eq(atomic_load(&of_cpus[b]), 0);
    atomic_store(&nran, 0);
    slow_factor = 0;
    open_with(FIRST_SIMULATED, set_factors);
    run(&cl);
    for (int b = 0; b < NBUCKETS; b++)
        n += atomic_load(&of_cpus[b]);
    ck_assert_int_gt(n, 0);
}
END_TEST

/* What the fast one cannot run is not left to it. */
START_TEST(a_slow_architecture_takes_what_nobody_else_can)
{
    slow_factor = 1000;
    open_with(FIRST_SIMULATED, set_factors);
    run(&cl_cpu);
}
END_TEST

static struct starpu_codelet cl_gpu = {.where = STARPU_CUDA,
                                       .cpu_funcs = {note},
                                       .cuda_funcs = {note},
                                       .name = "k"};

/* The GPU finds tasks for processors in front of its own: it looks again when they
 * are gone. */
START_TEST(who_finds_no_task_in_front_looks_again)
{
    setenv("TEST_NCPU", "1", 1);
    setenv("STARPU_NCUDA", "1", 1);
    setenv("STARPU_HETEROPRIO_USE_AUTO_CALIBRATION", "0", 1);
    open_with(FIRST_SIMULATED, NULL);
    starpu_pause();
    for (int i = 0; i < NTASKS; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = i < 3 ? &cl_gpu : &cl_cpu;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    starpu_task_wait_for_all();
    starpu_shutdown();
    ck_assert_int_eq(atomic_load(&nran), NTASKS);
}
END_TEST

static int nasked;

static int is_gpu(unsigned worker, struct starpu_task *task, unsigned n)
{
    (void)task;
    (void)n;
    nasked++;
    return starpu_worker_get_type((int)worker) == STARPU_CUDA_WORKER;
}

static struct starpu_codelet cl_choosy = {.cpu_funcs = {note},
                                          .cuda_funcs = {note},
                                          .can_execute = is_gpu,
                                          .name = "k"};

/* What is in front is for the GPU, which is at work: the processors look once, and
 * do not wake each other again and again for what is behind it. */
START_TEST(who_all_refuse_what_is_in_front_rest)
{
    setenv("TEST_NCPU", "3", 1);
    setenv("STARPU_NCUDA", "1", 1);
    open_with(FIRST_SIMULATED, NULL);
    for (int i = 0; i < 5; i++) {
        struct starpu_task *task = starpu_task_create();

        if (i == 3)
            starpu_pause();
        task->cl = i < 3 ? &cl_gpu : i == 3 ? &cl : &cl_choosy;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    starpu_task_wait_for_all();
    starpu_shutdown();
    ck_assert_int_eq(atomic_load(&nran), 5);
    ck_assert_int_lt(nasked, 100);
}
END_TEST

static int is_second(unsigned worker, struct starpu_task *task, unsigned n)
{
    (void)task;
    (void)n;
    return worker == 1;
}

static struct starpu_codelet cl_second = {
    .cpu_funcs = {note}, .can_execute = is_second, .name = "k"};

/* In front in more buckets than a worker would ask about one after the other if it
 * counted them: the first worker begins with the one task that is for it. */
START_TEST(who_refuses_many_buckets_finds_the_next_one)
{
    enum { NREFUSED = NTASKS - 1 };

    setenv("TEST_NCPU", "2", 1);
    setenv("STARPU_NCUDA", "0", 1);
    setenv("STARPU_HETEROPRIO_USE_AUTO_CALIBRATION", "0", 1);
    open_with(FIRST_SIMULATED, NULL);
    starpu_pause();
    for (int i = 0; i < NTASKS; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = i < NREFUSED ? &cl_second : &cl_cpu;
        task->priority = i;
        task->cl_arg = (void *)(intptr_t)(i == NREFUSED);
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    starpu_task_wait_for_all();
    starpu_shutdown();
    ck_assert_int_eq(atomic_load(&nran), NTASKS);
    ck_assert(atomic_load(&order[0]) || atomic_load(&order[1]));
}
END_TEST

/* --- automatic mode --- */

static struct starpu_perfmodel model_slow = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "slow"};
static struct starpu_perfmodel model_fast = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "fast"};
static atomic_int on_cpus[2], on_gpus[2];

static void count(void *buffers[], void *arg)
{
    (void)buffers;
    atomic_fetch_add(&(is_on_cpu() ? on_cpus : on_gpus)[(intptr_t)arg], 1);
}

static struct starpu_codelet codelets[] = {
    {.cpu_funcs = {count}, .cuda_funcs = {count}, .model = &model_slow},
    {.cpu_funcs = {count}, .cuda_funcs = {count}, .model = &model_fast},
};

/* Kernels of one kind take 20 times as long on processors, those of the other as
 * long: once that is measured, processors take the latter. */
START_TEST(what_runs_where_is_found_out)
{
    const int n = 2000;

    machine_choose(FIRST_SIMULATED);
    setenv("ORRERY_ASSUME",
           "slow on cpu = 1ms; slow on cuda = 50us; fast = 50us",
           1);
    setenv("STARPU_SCHED", "heteroprio", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    for (int i = 0; i < 2 * n; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &codelets[i % 2];
        task->cl_arg = (void *)(intptr_t)(i % 2);
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_task_wait_for_all();
    starpu_shutdown();
    ck_assert_int_eq(on_cpus[0] + on_gpus[0], n);
    ck_assert_int_eq(on_cpus[1] + on_gpus[1], n);
    ck_assert_int_lt(on_cpus[0], 60);
    ck_assert_int_gt(on_cpus[1], 4 * on_cpus[0]);
}
END_TEST

START_TEST(all_tasks_run_in_automatic_mode)
{
    open_with(_i, NULL);
    run(&cl);
}
END_TEST

START_TEST(automatic_mode_orders_by_every_score)
{
    char number[4];

    snprintf(number, sizeof(number), "%d", _i);
    setenv("STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY",
           _i % 2 ? number
                  : starpu_autoheteroprio_priority_ordering_policy_names[_i],
           1);
    setenv("STARPU_AUTOHETEROPRIO_ORDERING_INTERVAL", "1", 1);
    open_with(FIRST_SIMULATED, NULL);
    run(&cl);
}
END_TEST

/* --- misuse --- */

START_TEST(a_score_that_is_none_is_refused)
{
    struct starpu_conf conf;

    machine_choose(0);
    setenv("STARPU_SCHED", "heteroprio", 1);
    setenv("STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY", "URT_12", 1);
    starpu_conf_init(&conf);
    ck_assert_int_eq(starpu_init(&conf), -EINVAL);
}
END_TEST

START_TEST(another_policy_has_no_buckets)
{
    machine_choose(0);
    setenv("STARPU_SCHED", "eager", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_heteroprio_set_nb_prios(0, STARPU_CPU_WORKER, 1);
}
END_TEST

START_TEST(a_place_is_below_the_number_of_buckets)
{
    open_with(0, NULL);
    starpu_heteroprio_set_nb_prios(0, STARPU_CPU_WORKER, 2);
    starpu_heteroprio_set_mapping(0, STARPU_CPU_WORKER, 2, 0);
}
END_TEST

SUITE_MAIN(heteroprio)
{
    Suite *suite = suite_create("heteroprio");
    TCase *each = tcase_create("on each machine");
    TCase *simulated = tcase_create("simulated");
    TCase *misuse = tcase_create("misuse");

    suite_add_tcase(suite, each);
    suite_add_tcase(suite, simulated);
    suite_add_tcase(suite, misuse);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(buckets_come_in_the_order_that_is_set);
    EACH(without_an_order_it_is_that_of_the_buckets);
    EACH(all_tasks_run_in_automatic_mode);
    if (NMACHINES > FIRST_SIMULATED) {
        tcase_add_test(simulated, a_slow_architecture_leaves_tasks_to_a_fast_one);
        tcase_add_test(simulated,
                       a_slow_architecture_takes_what_nobody_else_can);
        tcase_add_test(simulated, who_finds_no_task_in_front_looks_again);
        tcase_add_test(simulated, who_all_refuse_what_is_in_front_rest);
        tcase_add_test(simulated, who_refuses_many_buckets_finds_the_next_one);
        tcase_add_test(simulated, what_runs_where_is_found_out);
        tcase_add_loop_test(
            simulated, automatic_mode_orders_by_every_score, 0,
            STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY_COUNT);
    }
    tcase_add_test(misuse, a_score_that_is_none_is_refused);
    tcase_add_test_raise_signal(misuse, another_policy_has_no_buckets, SIGABRT);
    tcase_add_test_raise_signal(misuse, a_place_is_below_the_number_of_buckets,
                                SIGABRT);
    return suite_main(suite);
}

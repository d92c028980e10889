/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-parallel.c - pheft and peager: which workers they combine, who
 * executes parallel tasks, and simulated runs whose length is computed by hand. Four
 * processors, real and simulated.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

enum { NCPUS = 4, MAXCPUS = 8 };

static const char *const policies[] = {"pheft", "peager"};

/* µs by the number of processors. */
static double lengths[MAXCPUS + 1] = {0, 120, 60, 40, 30, 24, 20, 20, 15};

static double length_of(struct starpu_task *task,
                        struct starpu_perfmodel_arch *arch, unsigned impl)
{
    (void)task;
    (void)impl;
    return lengths[arch->devices[0].ncores];
}

static struct starpu_perfmodel scales = {.type = STARPU_PER_ARCH,
                                         .arch_cost_function = length_of};
static atomic_int ncalls, nsizes[MAXCPUS + 1], ranks;

static void note(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ncalls++;
    ranks |= 1 << starpu_combined_worker_get_rank();
    nsizes[starpu_combined_worker_get_size()]++;
}

static struct starpu_codelet spmd = {.cpu_funcs = {note},
                                     .type = STARPU_SPMD,
                                     .max_parallelism = NCPUS,
                                     .model = &scales,
                                     .name = "spmd"};
static struct starpu_codelet sequential = {
    .cpu_funcs = {note}, .model = &scales, .name = "sequential"};

/* The real machine under each policy, then one where nothing costs time but
 * kernels. */
static void choose(int i)
{
    machine_choose(0);
    if (i >= 2) {
        setenv("ORRERY_MACHINE", CORES_MACHINE, 1);
        setenv("ORRERY_SIM_KERNELS", "run", 1);
    }
    setenv("STARPU_NCPU", "4", 1);
    setenv("STARPU_SCHED", policies[i % 2], 1);
}

static void open_on(int i)
{
    choose(i);
    ck_assert_int_eq(starpu_init(NULL), 0);
    memset(nsizes, 0, sizeof(nsizes));
    ncalls = ranks = 0;
}

static void submit(struct starpu_codelet *cl, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(starpu_task_insert(cl, 0), 0);
}

/* µs of virtual time. */
static double run_for(void)
{
    double start = starpu_timing_now();

    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    return starpu_timing_now() - start;
}

static void check_combination(unsigned i, const char *expected)
{
    char text[64] = "";
    int n, *members;

    starpu_combined_worker_get_description(
        (int)(starpu_worker_get_count() + i), &n, &members);
    for (int m = 0; m < n; m++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d",
                 members[m]);
    ck_assert_str_eq(text, expected);
}

START_TEST(a_machine_without_shape_has_aligned_blocks)
{
    choose(_i);
    setenv("ORRERY_MACHINE", TEST_MACHINE, 1);
    setenv("STARPU_NCUDA", "0", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 3);
    check_combination(0, "01");
    check_combination(1, "23");
    check_combination(2, "0123");
    /* They were made when the policy started: there are no more. */
    starpu_sched_find_all_worker_combinations();
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 3);
    starpu_shutdown();
}
END_TEST

/* Both packages; four processors that share all else are gathered to two. */
START_TEST(the_parts_of_a_machine_are_combined)
{
    static const char *const expected[] = {"01234567", "0123", "01", "23",
                                           "4567",     "45",   "67"};

    choose(2 + _i);
    setenv("STARPU_NCPU", "8", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 7);
    for (unsigned i = 0; i < 7; i++)
        check_combination(i, expected[i]);
    starpu_shutdown();
    setenv("STARPU_SYNTHESIZE_ARITY_COMBINED_WORKER", "4", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 3);
    check_combination(2, "4567");
    starpu_shutdown();
    setenv("STARPU_SYNTHESIZE_ARITY_COMBINED_WORKER", "3", 1);
    setenv("STARPU_MAX_WORKERSIZE", "4", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 6);
    check_combination(1, "01");
    check_combination(2, "23");
    starpu_shutdown();
}
END_TEST

START_TEST(sizes_are_limited)
{
    choose(2 + _i);
    setenv("ORRERY_MACHINE", TEST_MACHINE, 1);
    setenv("STARPU_NCUDA", "0", 1);
    setenv("STARPU_MIN_WORKERSIZE", "3", 1);
    setenv("STARPU_MAX_WORKERSIZE", "3", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 1);
    check_combination(0, "012");
    starpu_shutdown();
}
END_TEST

START_TEST(single_combined_workers_have_the_first_worker)
{
    struct starpu_conf conf;

    choose(2 + _i);
    starpu_conf_init(&conf);
    conf.single_combined_worker = 1;
    ck_assert_int_eq(starpu_init(&conf), 0);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 4);
    check_combination(0, "0");
    check_combination(1, "01");
    check_combination(3, "0123");
    starpu_shutdown();
    setenv("STARPU_SINGLE_COMBINED_WORKER", "1", 1);
    setenv("STARPU_MIN_WORKERSIZE", "2", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 3);
    check_combination(0, "01");
    starpu_shutdown();
}
END_TEST

START_TEST(other_policies_find_combinations_on_request)
{
    struct starpu_worker_collection *workers;

    choose(2);
    setenv("STARPU_SCHED", "lws", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 0);
    starpu_sched_find_all_worker_combinations();
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 3);
    workers = starpu_sched_ctx_get_worker_collection(0);
    ck_assert_uint_eq(workers->nworkers, NCPUS + 3);
    ck_assert_int_eq(workers->present[NCPUS + 2], 1);
    starpu_shutdown();
}
END_TEST

START_TEST(all_tasks_are_executed)
{
    open_on(_i);
    submit(&spmd, 50);
    submit(&sequential, 50);
    submit(&spmd, 50);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    starpu_shutdown();
    /* Each sequential task is called once, the others by all of their workers. */
    ck_assert_int_ge(nsizes[1], 50);
    ck_assert_int_eq(nsizes[1] + nsizes[2] / 2 + nsizes[4] / 4, 150);
    ck_assert_int_eq(nsizes[2] % 2 + nsizes[4] % 4, 0);
    ck_assert_int_gt(nsizes[2] + nsizes[4], 0);
}
END_TEST

/* Perfect speedup: each task alone on all four, one after the other. */
START_TEST(pheft_takes_all_workers_where_that_is_faster)
{
    open_on(2);
    starpu_pause();
    submit(&spmd, 3);
    starpu_resume();
    ck_assert_double_eq_tol(run_for(), 90, 1e-6);
    ck_assert_int_eq(nsizes[4], 12);
    ck_assert_int_eq(ranks, 15);
    starpu_shutdown();
}
END_TEST

/* Four workers are slower than two: two tasks at a time, 60 µs each, and three
 * tasks take 120 µs. */
START_TEST(pheft_takes_no_more_workers_than_help)
{
    lengths[4] = 80;
    open_on(2);
    starpu_pause();
    submit(&spmd, 3);
    starpu_resume();
    ck_assert_double_eq_tol(run_for(), 120, 1e-6);
    ck_assert_int_eq(nsizes[2], 6);
    starpu_shutdown();
}
END_TEST

/* No speedup at all: one worker each. */
START_TEST(pheft_leaves_a_task_to_one_worker)
{
    lengths[2] = lengths[3] = lengths[4] = 120;
    open_on(2);
    starpu_pause();
    submit(&spmd, 5);
    starpu_resume();
    ck_assert_double_eq_tol(run_for(), 240, 1e-6);
    ck_assert_int_eq(nsizes[1], 5);
    starpu_shutdown();
}
END_TEST

/* A sequential task of 120 µs on the first worker, then a parallel one: on the
 * other half at once, 60 µs, rather than on all after 120 + 30. */
START_TEST(pheft_counts_what_the_members_have_to_do)
{
    open_on(2);
    starpu_pause();
    submit(&sequential, 1);
    submit(&spmd, 1);
    starpu_resume();
    ck_assert_double_eq_tol(run_for(), 120, 1e-6);
    ck_assert_int_eq(nsizes[1], 1);
    ck_assert_int_eq(nsizes[2], 2);
    starpu_shutdown();
}
END_TEST

/* The leader of all takes the first one when it has ended what it has: 30 µs on
 * four, each. */
START_TEST(peager_takes_the_largest_combined_worker)
{
    open_on(3);
    starpu_pause();
    submit(&spmd, 1);
    starpu_resume();
    ck_assert_double_eq_tol(run_for(), 30, 1e-6);
    ck_assert_int_eq(nsizes[4], 4);
    spmd.max_parallelism = 2;
    starpu_pause();
    submit(&spmd, 2);
    starpu_resume();
    ck_assert_double_eq_tol(run_for(), 60, 1e-6);
    ck_assert_int_eq(nsizes[2], 4);
    spmd.max_parallelism = 1;
    starpu_pause();
    submit(&spmd, 4);
    starpu_resume();
    ck_assert_double_eq_tol(run_for(), 120, 1e-6);
    ck_assert_int_eq(nsizes[1], 4);
    starpu_shutdown();
}
END_TEST

START_TEST(equal_simulations_take_equal_times)
{
    double first = 0;

    for (int round = 0; round < 3; round++) {
        double now;

        open_on(2 + _i);
        submit(&spmd, 37);
        submit(&sequential, 23);
        submit(&spmd, 11);
        now = run_for();
        starpu_shutdown();
        if (round)
            ck_assert_double_eq(now, first);
        first = now;
    }
}
END_TEST

/* One that the program makes counts once it is in the collection. */
START_TEST(a_combination_of_the_program_is_used)
{
    struct starpu_worker_collection *workers;
    int ids[] = {1, 2, 3}, id;

    choose(2);
    setenv("STARPU_MAX_WORKERSIZE", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    id = starpu_combined_worker_assign_workerid(3, ids);
    submit(&spmd, 1);
    ck_assert_double_eq_tol(run_for(), 120, 1e-6);
    ck_assert_int_eq(nsizes[1], 1);
    workers = starpu_sched_ctx_get_worker_collection(0);
    ck_assert_int_eq(workers->add(workers, id), id);
    submit(&spmd, 1);
    ck_assert_double_eq_tol(run_for(), 40, 1e-6);
    ck_assert_int_eq(nsizes[3], 3);
    starpu_shutdown();
}
END_TEST

static struct starpu_perfmodel history = {.type = STARPU_HISTORY_BASED,
                                          .symbol = "parallel"};
static struct starpu_codelet modelled = {.cpu_funcs = {note},
                                         .type = STARPU_SPMD,
                                         .max_parallelism = NCPUS,
                                         .model = &history,
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .name = "modelled"};

/* Ten measures of 120 µs on one processor, 60 on two, 30 on four. */
static void write_model(starpu_data_handle_t handle)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &modelled;
    task->handles[0] = handle;
    for (int n = 1; n <= 4; n *= 2) {
        struct starpu_perfmodel_device cores = {STARPU_CPU_WORKER, 0, n};
        struct starpu_perfmodel_arch arch = {1, &cores};

        /* The first one of all is not kept. */
        for (int i = 0; i < 2; i++)
            starpu_perfmodel_update_history_n(&history, task, &arch, 0, 0,
                                              120.0 / n, 10);
    }
    starpu_task_destroy(task);
}

static double run_two(starpu_data_handle_t handle)
{
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(starpu_task_insert(&modelled, STARPU_RW, handle, 0), 0);
    return run_for();
}

/* Written by one run, read by a simulation: two tasks, 30 µs each. A bound that knew
 * single workers only would say 240. */
START_TEST(model_files_have_a_row_per_size)
{
    char home[] = "/tmp/orrery-parallel-XXXXXX", command[64];
    starpu_data_handle_t handle;
    double bound;
    int value = 0;

    ck_assert_ptr_nonnull(mkdtemp(home));
    choose(1);
    setenv("STARPU_HOME", home, 1);
    setenv("STARPU_HOSTNAME", "cores", 1);
    setenv("STARPU_CALIBRATE", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    write_model(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
    unsetenv("STARPU_CALIBRATE");
    choose(2);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    starpu_bound_start(0, 0);
    ck_assert_double_eq_tol(run_two(handle), 60, 1e-6);
    starpu_bound_stop();
    ck_assert_int_eq(nsizes[4], 8);
    starpu_bound_compute(&bound, NULL, 0);
    ck_assert_double_gt(bound, 0);
    ck_assert_double_le(bound, 0.060 + 1e-9);
    starpu_data_unregister(handle);
    starpu_shutdown();
    snprintf(command, sizeof(command), "rm -r %s", home);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(priorities_of_pheft_are_0_and_1)
{
    open_on(0);
    ck_assert_int_eq(starpu_sched_get_min_priority(), 0);
    ck_assert_int_eq(starpu_sched_get_max_priority(), 1);
    starpu_shutdown();
}
END_TEST

/* In a context of its own a policy combines its members. */
START_TEST(a_context_combines_its_members)
{
    int ids[] = {2, 3};
    unsigned ctx;

    open_on(2 + _i);
    ctx = starpu_sched_ctx_create(ids, 2, "pair", STARPU_SCHED_CTX_POLICY_NAME,
                                  policies[_i], 0);
    ck_assert_int_eq(starpu_task_insert(&spmd, STARPU_SCHED_CTX, ctx, 0), 0);
    ck_assert_double_eq_tol(run_for(), 60, 1e-6);
    ck_assert_int_eq(nsizes[2], 2);
    starpu_sched_ctx_delete(ctx);
    ck_assert_int_eq(starpu_task_insert(&spmd, 0), 0);
    ck_assert_double_eq_tol(run_for(), 30, 1e-6);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(parallel)
{
    Suite *suite = suite_create("parallel tasks");
    TCase *tc = tcase_create("policies");

    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
#define EACH(test, n) tcase_add_loop_test(tc, test, 0, n)
    EACH(a_machine_without_shape_has_aligned_blocks, 2);
    EACH(the_parts_of_a_machine_are_combined, 2);
    EACH(sizes_are_limited, 2);
    EACH(single_combined_workers_have_the_first_worker, 2);
    EACH(other_policies_find_combinations_on_request, 1);
    EACH(all_tasks_are_executed, 4);
    EACH(pheft_takes_all_workers_where_that_is_faster, 1);
    EACH(pheft_takes_no_more_workers_than_help, 1);
    EACH(pheft_leaves_a_task_to_one_worker, 1);
    EACH(pheft_counts_what_the_members_have_to_do, 1);
    EACH(peager_takes_the_largest_combined_worker, 1);
    EACH(equal_simulations_take_equal_times, 2);
    EACH(a_combination_of_the_program_is_used, 1);
    EACH(model_files_have_a_row_per_size, 1);
    EACH(priorities_of_pheft_are_0_and_1, 1);
    EACH(a_context_combines_its_members, 2);
    return suite_main(suite);
}

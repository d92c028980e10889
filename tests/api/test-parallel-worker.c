/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-parallel-worker.c - the machine cut into parallel workers: how many
 * there are, which processors they have, what runs on them. On a simulated machine of
 * eight processors in two packages, and on the real one.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"

#define NMAX STARPU_NMAX_SCHED_CTXS

/* OpenMP's and MKL's, as the prologues find them. */
static atomic_int nthreads, nmkl;

void omp_set_num_threads(int n);
void MKL_Set_Num_Threads(int n);

void omp_set_num_threads(int n)
{
    nthreads = n;
}

void MKL_Set_Num_Threads(int n)
{
    nmkl = n;
}

static atomic_int ncalls, ncores[STARPU_NMAXWORKERS], wrong;

static void note(void *buffers[], void *arg)
{
    unsigned ctx = starpu_task_get_current()->sched_ctx;
    int *ids, n;

    (void)buffers;
    (void)arg;
    starpu_sched_ctx_get_available_cpuids(ctx, &ids, &n);
    ncores[starpu_worker_get_id()] = n;
    free(ids);
    ncalls++;
}

static double length_of(struct starpu_task *task,
                        struct starpu_perfmodel_arch *arch, unsigned impl)
{
    (void)task;
    (void)impl;
    return 120.0 / arch->devices[0].ncores;
}

static struct starpu_perfmodel scales = {.type = STARPU_PER_ARCH,
                                         .arch_cost_function = length_of};
static struct starpu_codelet cl = {
    .cpu_funcs = {note}, .model = &scales, .name = "wide"};

static void open_machine(int simulated)
{
    machine_choose(0);
    setenv("STARPU_NCPU", simulated ? "8" : "2", 1);
    setenv("STARPU_SCHED", "eager", 1);
    if (simulated) {
        setenv("ORRERY_MACHINE", CORES_MACHINE, 1);
        setenv("ORRERY_SIM_KERNELS", "run", 1);
    }
    ck_assert_int_eq(starpu_init(NULL), 0);
    memset(ncores, 0, sizeof(ncores));
}

static void submit(int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(starpu_task_insert(&cl, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
}

/* Lets every parallel worker execute tasks; the sizes of them, by their masters'
 * numbers. */
static void check_sizes(const char *expected)
{
    char text[STARPU_NMAXWORKERS] = "";

    submit(100);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        if (ncores[w])
            snprintf(text + strlen(text), sizeof(text) - strlen(text),
                     "%s%u:%d", *text ? " " : "", w, ncores[w]);
    ck_assert_str_eq(text, expected);
}

START_TEST(each_part_is_a_parallel_worker)
{
    struct starpu_parallel_worker_config *config;

    open_machine(1);
    config = starpu_parallel_worker_init(HWLOC_OBJ_PACKAGE, 0);
    ck_assert_ptr_nonnull(config);
    ck_assert_uint_ne(starpu_sched_ctx_get_context(), NMAX);
    ck_assert_str_eq(starpu_sched_ctx_get_sched_policy(
                         starpu_sched_ctx_get_context())
                         ->policy_name,
                     "eager");
    check_sizes("0:4 4:4");
    ck_assert_int_eq(nthreads, 4);
    ck_assert_int_eq(nmkl, 0);
    ck_assert_int_eq(starpu_parallel_worker_shutdown(config), 0);
    ck_assert_uint_eq(starpu_sched_ctx_get_context(), NMAX);
    ck_assert_uint_eq(starpu_worker_is_blocked_in_parallel(1), 0);
    config = starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, 0);
    memset(ncores, 0, sizeof(ncores));
    check_sizes("0:8");
    ck_assert_int_eq(starpu_parallel_worker_shutdown(config), 0);
    starpu_shutdown();
}
END_TEST

/* A task takes 120 µs on one processor: 30 on four, two at a time. */
START_TEST(kernels_have_all_processors)
{
    struct starpu_parallel_worker_config *config;
    double start;

    open_machine(1);
    config = starpu_parallel_worker_init(HWLOC_OBJ_PACKAGE, 0);
    starpu_task_wait_for_all();
    start = starpu_timing_now();
    submit(4);
    ck_assert_double_eq_tol(starpu_timing_now() - start, 60, 1e-6);
    ck_assert_int_eq(starpu_parallel_worker_shutdown(config), 0);
    starpu_shutdown();
}
END_TEST

static void check(struct starpu_parallel_worker_config *config,
                  const char *expected)
{
    ck_assert_ptr_nonnull(config);
    memset(ncores, 0, sizeof(ncores));
    check_sizes(expected);
    ck_assert_int_eq(starpu_parallel_worker_shutdown(config), 0);
}

START_TEST(numbers_and_sizes_are_chosen)
{
    open_machine(1);
    check(starpu_parallel_worker_init(HWLOC_OBJ_PACKAGE,
                                      STARPU_PARALLEL_WORKER_NB, 2, 0),
          "0:2 2:2 4:2 6:2");
    check(starpu_parallel_worker_init(HWLOC_OBJ_MACHINE,
                                      STARPU_PARALLEL_WORKER_NB, 3, 0),
          "0:2 2:3 5:3");
    check(starpu_parallel_worker_init(
              HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_MIN_NB, 2,
              STARPU_PARALLEL_WORKER_MAX_NB, 3, 0),
          "0:2 2:3 5:3");
    check(starpu_parallel_worker_init(
              HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_MIN_NB, 2,
              STARPU_PARALLEL_WORKER_MAX_NB, 3,
              STARPU_PARALLEL_WORKER_PREFERE_MIN, 1, 0),
          "0:4 4:4");
    check(starpu_parallel_worker_init(
              HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_MIN_NB, 2,
              STARPU_PARALLEL_WORKER_MAX_NB, 3,
              STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS, 1, 0),
          "0:4 4:4");
    starpu_shutdown();
}
END_TEST

START_TEST(parts_and_workers_are_described_one_by_one)
{
    open_machine(1);
    check(starpu_parallel_worker_init(
              HWLOC_OBJ_PACKAGE, STARPU_PARALLEL_WORKER_PARTITION_ONE,
              STARPU_PARALLEL_WORKER_NEW, STARPU_PARALLEL_WORKER_NCORES, 1,
              STARPU_PARALLEL_WORKER_NEW, STARPU_PARALLEL_WORKER_NCORES, 3,
              STARPU_PARALLEL_WORKER_PARTITION_ONE, STARPU_PARALLEL_WORKER_NB,
              2, 0),
          "0:1 1:3 4:2 6:2");
    starpu_shutdown();
}
END_TEST

START_TEST(too_many_are_refused)
{
    int ids[] = {0};
    unsigned ctx;

    open_machine(1);
    ctx = starpu_sched_ctx_create(ids, 1, "another", 0);
    ck_assert_ptr_null(starpu_parallel_worker_init(
        HWLOC_OBJ_PU, STARPU_PARALLEL_WORKER_NB, 1, 0));
    starpu_sched_ctx_delete(ctx);
    ck_assert_uint_eq(starpu_sched_ctx_get_context(), NMAX);
    ck_assert_int_eq(starpu_parallel_worker_shutdown(NULL), -1);
    ck_assert_int_eq(starpu_parallel_worker_print(NULL), -1);
    submit(10);
    starpu_shutdown();
    ck_assert_int_eq(ncalls, 10);
}
END_TEST

START_TEST(a_level_of_devices_ends_the_program)
{
    open_machine(1);
    (void)starpu_parallel_worker_init(HWLOC_OBJ_PCI_DEVICE, 0);
}
END_TEST

static atomic_int nprepared;

static void prepare(void *arg)
{
    nprepared++;
    wrong += arg != &nprepared ||
             starpu_task_get_current()->possibly_parallel != 1 ||
             starpu_worker_get_id() < 0;
}

START_TEST(a_function_of_the_program_prepares_each)
{
    struct starpu_parallel_worker_config *config;

    open_machine(_i);
    config = starpu_parallel_worker_init(
        HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NB, 2,
        STARPU_PARALLEL_WORKER_CREATE_FUNC, prepare,
        STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG, &nprepared,
        STARPU_PARALLEL_WORKER_POLICY_NAME, "prio", 0);
    ck_assert_ptr_nonnull(config);
    ck_assert_str_eq(starpu_sched_ctx_get_sched_policy(
                         starpu_sched_ctx_get_context())
                         ->policy_name,
                     "prio");
    submit(10);
    ck_assert_int_eq(starpu_parallel_worker_shutdown(config), 0);
    starpu_shutdown();
    ck_assert_int_eq(nprepared, 2);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(ncalls, 10);
}
END_TEST

static void prepare_for_intel(void *arg)
{
    starpu_parallel_worker_intel_openmp_mkl_prologue(arg);
}

static void prepare_for_openmp(void *arg)
{
    starpu_parallel_worker_openmp_prologue(arg);
}

/* Each way of saying how many threads a kernel has; once as long as that is so. */
START_TEST(prologues_set_the_number_of_threads)
{
    struct starpu_parallel_worker_config *config;
    struct starpu_task *task;

    open_machine(_i);
    config = starpu_parallel_worker_init(
        HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_TYPE,
        STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL, 0);
    ck_assert_ptr_nonnull(config);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(nthreads, (int)starpu_cpu_worker_get_count());
    ck_assert_int_eq(nmkl, nthreads);
    task = starpu_task_create();
    task->cl = &cl;
    task->prologue_callback_pop_func = prepare_for_intel;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(nthreads, 1);
    ck_assert_int_ne(nmkl, 1);
    nthreads = 7;
    task = starpu_task_create();
    task->cl = &cl;
    task->prologue_callback_pop_func =
        starpu_parallel_worker_gnu_openmp_mkl_prologue;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(nthreads, 7);
    task = starpu_task_create();
    task->cl = &cl;
    task->possibly_parallel = 1;
    task->prologue_callback_pop_func = prepare_for_openmp;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(nthreads, (int)starpu_cpu_worker_get_count());
    ck_assert_int_eq(starpu_parallel_worker_shutdown(config), 0);
    starpu_shutdown();
}
END_TEST

/* What is written to stdout from now on, until it is read. */
static FILE *out;
static int before;

static void capture(void)
{
    fflush(stdout);
    out = tmpfile();
    before = dup(STDOUT_FILENO);
    dup2(fileno(out), STDOUT_FILENO);
}

static void check_captured(const char *expected)
{
    char text[1024] = "";

    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    rewind(out);
    (void)!fread(text, 1, sizeof(text) - 1, out);
    fclose(out);
    ck_assert_str_eq(text, expected);
}

static const char two_packages[] =
    "2 parallel workers in 2 parts of the machine\n"
    "part 0\n"
    "\tparallel worker 0: processors 0 1 2 3\n"
    "part 1\n"
    "\tparallel worker 1: processors 4 5 6 7\n";

START_TEST(they_are_printed)
{
    struct starpu_parallel_worker_config *config;

    open_machine(1);
    config = starpu_parallel_worker_init(HWLOC_OBJ_PACKAGE, 0);
    capture();
    ck_assert_int_eq(starpu_parallel_worker_print(config), 0);
    check_captured(two_packages);
    ck_assert_int_eq(starpu_parallel_worker_shutdown(config), 0);
    starpu_shutdown();
}
END_TEST

START_TEST(older_names_do_the_same)
{
    struct starpu_cluster_machine *clusters;

    open_machine(1);
    clusters = starpu_cluster_machine(HWLOC_OBJ_PACKAGE,
                                      STARPU_CLUSTER_POLICY_NAME, "prio", 0);
    ck_assert_ptr_nonnull(clusters);
    check_sizes("0:4 4:4");
    capture();
    ck_assert_int_eq(starpu_cluster_print(clusters), 0);
    check_captured(two_packages);
    ck_assert_int_eq(starpu_uncluster_machine(clusters), 0);
    ck_assert_uint_eq(starpu_sched_ctx_get_context(), NMAX);
    ck_assert_uint_eq(starpu_worker_is_blocked_in_parallel(1), 0);
    ck_assert_int_eq(starpu_cluster_print(NULL), -1);
    starpu_shutdown();
}
END_TEST

/* Each task that comes to an awake one is executed by all of its workers. */
START_TEST(awake_ones_execute_tasks_together)
{
    struct starpu_parallel_worker_config *config;
    unsigned child;

    open_machine(1);
    config = starpu_parallel_worker_init(
        HWLOC_OBJ_PACKAGE, STARPU_PARALLEL_WORKER_AWAKE_WORKERS, 1, 0);
    ck_assert_ptr_nonnull(config);
    ck_assert_uint_eq(starpu_worker_is_blocked_in_parallel(1), 0);
    child = starpu_sched_ctx_master_get_context(4);
    ck_assert_uint_ne(child, NMAX);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_SCHED_CTX, child, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(ncalls, 4);
    ck_assert_int_gt(ncores[7], 0);
    ck_assert_int_eq(starpu_parallel_worker_shutdown(config), 0);
    starpu_shutdown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parallel workers");
    TCase *tc = tcase_create("parallel workers");

    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
    tcase_add_test(tc, each_part_is_a_parallel_worker);
    tcase_add_test(tc, kernels_have_all_processors);
    tcase_add_test(tc, numbers_and_sizes_are_chosen);
    tcase_add_test(tc, parts_and_workers_are_described_one_by_one);
    tcase_add_test(tc, too_many_are_refused);
    tcase_add_test_raise_signal(tc, a_level_of_devices_ends_the_program,
                                SIGABRT);
    tcase_add_loop_test(tc, a_function_of_the_program_prepares_each, 0, 2);
    tcase_add_loop_test(tc, prologues_set_the_number_of_threads, 0, 2);
    tcase_add_test(tc, they_are_printed);
    tcase_add_test(tc, older_names_do_the_same);
    tcase_add_test(tc, awake_ones_execute_tasks_together);
    return suite_main(suite);
}

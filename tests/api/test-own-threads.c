/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-own-threads.c - what threads of the application's own may ask: those
 * of POSIX and of starpu_pthread_create, made by a kernel and by main; runs that are
 * opened, used and closed by different ones.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../loopback/use.h"
#include "machines.h"

static float vector[64];
static starpu_data_handle_t data;
static struct starpu_task *asked_of;

/* Answers that must not depend on the thread, in one number. */
struct answers {
    double sum;
    int id;
    bool of_kernel;
};

static void add(struct answers *answers, double value)
{
    answers->sum = answers->sum * 0.75 + value;
}

static void ask_of_workers(struct answers *a)
{
    char name[64];
    int ids[STARPU_NMAXWORKERS];
    unsigned nworkers = starpu_worker_get_count();

    a->id = starpu_worker_get_id();
    add(a, nworkers);
    add(a, starpu_cpu_worker_get_count());
    add(a, starpu_worker_get_count_by_type(STARPU_CUDA_WORKER));
    add(a, starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, nworkers));
    add(a, starpu_worker_get_by_type(STARPU_CPU_WORKER, 0));
    add(a, starpu_worker_get_by_devid(STARPU_CPU_WORKER, 0));
    add(a, starpu_worker_get_devids(STARPU_CPU_WORKER, ids, (int)nworkers));
    add(a, starpu_worker_get_stream_workerids(0, ids, STARPU_CPU_WORKER));
    for (unsigned w = 0; w < nworkers; w++) {
        add(a, starpu_worker_get_type((int)w));
        add(a, starpu_worker_get_devid((int)w));
        add(a, starpu_worker_get_subworkerid((int)w));
        add(a, starpu_worker_get_memory_node(w));
        add(a, starpu_worker_get_bindid((int)w));
        add(a, starpu_worker_can_execute_task(w, asked_of, 0));
        add(a, starpu_worker_is_combined_worker((int)w));
        add(a, starpu_worker_is_blocked_in_parallel((int)w));
        starpu_worker_get_name((int)w, name, sizeof(name));
        add(a, (double)strlen(name));
    }
    add(a, starpu_worker_type_can_execute_task(STARPU_CPU_WORKER, asked_of));
    add(a, starpu_combined_worker_get_count());
}

static void ask_of_nodes(struct answers *a)
{
    char name[64];
    unsigned nnodes = starpu_memory_nodes_get_count();

    add(a, nnodes);
    add(a, starpu_memory_nodes_get_count_by_kind(STARPU_CPU_RAM));
    add(a, starpu_memory_nodes_get_numa_count());
    for (unsigned node = 0; node < nnodes; node++) {
        add(a, starpu_node_get_kind(node));
        add(a, starpu_memory_node_get_name(node, name, sizeof(name)));
        add(a, starpu_memory_node_get_devid(node));
        add(a, (double)starpu_memory_get_total(node));
        add(a, (double)starpu_memory_get_used(node));
        add(a, (double)starpu_memory_get_available(node));
        add(a, node ? starpu_transfer_predict(0, node, 1 << 20) : 0);
    }
    add(a, (double)starpu_memory_get_total_all_nodes());
    add(a, starpu_bus_get_count());
    for (int bus = 0; bus < starpu_bus_get_count(); bus++)
        add(a, starpu_bus_get_src(bus) + 2 * starpu_bus_get_dst(bus));
    add(a, starpu_asynchronous_copy_disabled());
    add(a, starpu_get_prefetch_flag());
}

static void ask_of_data(struct answers *a)
{
    int allocated, valid, requested;

    add(a, (double)starpu_data_get_size(data));
    add(a, starpu_vector_get_nx(data));
    add(a, (double)starpu_vector_get_elemsize(data));
    add(a, starpu_vector_get_local_ptr(data) == (uintptr_t)vector);
    add(a, starpu_data_get_local_ptr(data) == vector);
    add(a, starpu_data_get_interface_id(data));
    add(a, starpu_data_get_home_node(data));
    add(a, starpu_data_get_nb_children(data));
    add(a, starpu_data_get_user_data(data) != NULL);
    add(a, starpu_data_get_sequential_consistency_flag(data));
    add(a, starpu_data_is_on_node(data, STARPU_MAIN_RAM));
    starpu_data_query_status(data, STARPU_MAIN_RAM, &allocated, &valid,
                             &requested);
    add(a, allocated + 2 * valid);
    add(a, starpu_data_expected_transfer_time(data, STARPU_MAIN_RAM, STARPU_R));
}

static void ask_of_tasks(struct answers *a)
{
    struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(
        starpu_worker_get_by_type(STARPU_CPU_WORKER, 0), 0);
    double length = starpu_task_expected_length(asked_of, arch, 0);

    add(a, isnan(length) ? -1 : length);
    add(a, starpu_task_data_footprint(asked_of));
    add(a, starpu_task_footprint(NULL, asked_of, arch, 0));
    add(a, starpu_task_finished(asked_of));
    add(a, starpu_sched_ctx_get_nworkers(0));
    add(a, starpu_sched_get_min_priority() + starpu_sched_get_max_priority());
    add(a, starpu_sched_ctx_contains_worker(0, 0));
    add(a, strlen(starpu_sched_get_sched_policy()->policy_name));
    add(a, starpu_profiling_status_get());
    add(a, starpu_is_initialized());
    add(a, starpu_is_paused());
}

static void ask_all(struct answers *a)
{
    double before = starpu_timing_now();

    ask_of_workers(a);
    ask_of_nodes(a);
    ask_of_data(a);
    ask_of_tasks(a);
    ck_assert(starpu_timing_now() >= before);
    ck_assert_ptr_nonnull(starpu_get_hwloc_topology());
    (void)starpu_bind_thread_on(0, STARPU_THREAD_ACTIVE, "own");
    starpu_bind_thread_on_worker(0);
    starpu_bind_thread_on_cpu(0);
    starpu_bind_thread_on_main();
}

static void *thread_asks(void *arg)
{
    struct answers *a = arg;
    void *memory;

    ask_all(a);
    ck_assert_int_eq(starpu_malloc(&memory, 4096), 0);
    memset(memory, 1, 4096);
    ck_assert_int_eq(starpu_free_noflag(memory, 4096), 0);
    if (!a->of_kernel)
        ck_assert_ptr_null(starpu_task_get_current());
    return NULL;
}

/* A thread of each sort has the answers that the caller has, but for its own number. */
static void ask_in_threads(bool of_kernel)
{
    enum { N = 4 };
    struct answers own = {.of_kernel = of_kernel}, theirs[2 * N];
    pthread_t threads[N];
    starpu_pthread_t starpus[N];

    ask_all(&own);
    memset(theirs, 0, sizeof(theirs));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, thread_asks, &theirs[i]), 0);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(starpu_pthread_create(&starpus[i], NULL, thread_asks,
                                               &theirs[N + i]),
                         0);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(starpu_pthread_join(starpus[i], NULL), 0);
    for (int i = 0; i < 2 * N; i++) {
        ck_assert_int_eq(theirs[i].id, -1);
        ck_assert_double_eq(theirs[i].sum, own.sum);
    }
}

static void kernel_asks(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ck_assert_int_ge(starpu_worker_get_id(), 0);
    ask_in_threads(true);
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "k"};
static struct starpu_codelet asks = {.cpu_funcs = {kernel_asks},
                                     .nbuffers = 1,
                                     .modes = {STARPU_R},
                                     .model = &model};

static void open_with_data(int i)
{
    machine_open(i);
    starpu_vector_data_register(&data, STARPU_MAIN_RAM, (uintptr_t)vector, 64,
                                sizeof(*vector));
    asked_of = starpu_task_create();
    asked_of->cl = &asks;
    asked_of->handles[0] = data;
    asked_of->destroy = 0;
    asked_of->detach = 0;
}

static void close_with_data(void)
{
    starpu_task_destroy(asked_of);
    starpu_data_unregister(data);
    starpu_shutdown();
}

START_TEST(threads_of_a_kernel_have_the_kernels_answers)
{
    open_with_data(_i);
    ck_assert_int_eq(starpu_task_submit(asked_of), 0);
    ck_assert_int_eq(starpu_task_wait(asked_of), 0);
    close_with_data();
}
END_TEST

START_TEST(threads_of_main_have_mains_answers)
{
    open_with_data(_i);
    ask_in_threads(false);
    ck_assert_int_eq(starpu_task_submit(asked_of), 0);
    ck_assert_int_eq(starpu_task_wait(asked_of), 0);
    close_with_data();
}
END_TEST

/* --- where a run begins and ends --- */

static void kernel_counts(void *buffers[], void *arg)
{
    (void)buffers;
    (*(atomic_int *)arg)++;
}

static struct starpu_codelet counts = {.cpu_funcs = {kernel_counts},
                                       .model = &model};
static atomic_int ncounted;

static void count_tasks(int n)
{
    int before = ncounted;

    for (int i = 0; i < n; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &counts;
        task->cl_arg = &ncounted;
        ck_assert_int_eq(starpu_task_submit(task), 0);
        ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    }
    ck_assert_int_ge(ncounted, before + n);
}

static void *thread_opens(void *arg)
{
    ck_assert_int_eq(starpu_init(NULL), 0);
    if (arg)
        count_tasks(3);
    return NULL;
}

static void *thread_goes_on(void *arg)
{
    (void)arg;
    count_tasks(3);
    return NULL;
}

static void *thread_closes(void *arg)
{
    count_tasks(2);
    starpu_shutdown();
    return arg;
}

static void in_threads(void *(*routine)(void *), void *arg, int n)
{
    starpu_pthread_t threads[8];

    for (int i = 0; i < n; i++)
        ck_assert_int_eq(
            starpu_pthread_create(&threads[i], NULL, routine, arg), 0);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(starpu_pthread_join(threads[i], NULL), 0);
}

/* One after the other has the run: each ends before the next one calls. Main joins them
 * as POSIX threads until it has made a call of its own. */
START_TEST(a_run_goes_from_thread_to_thread)
{
    machine_choose(_i);
    for (int round = 0; round < 2; round++) {
        in_threads(thread_opens, &data, 1);
        in_threads(thread_goes_on, NULL, 1);
        in_threads(thread_closes, NULL, 1);
        ck_assert_int_eq(starpu_is_initialized(), 0);
    }
    in_threads(thread_opens, &data, 1);
    count_tasks(4);
    in_threads(thread_goes_on, NULL, 2);
    starpu_shutdown();
    ck_assert_int_eq(starpu_is_initialized(), 0);
}
END_TEST

START_TEST(threads_open_at_once_and_main_closes)
{
    enum { N = 5 };

    machine_choose(_i);
    in_threads(thread_opens, NULL, N);
    for (int i = 0; i < N; i++) {
        count_tasks(2);
        starpu_shutdown();
    }
    ck_assert_int_eq(starpu_is_initialized(), 0);
}
END_TEST

SUITE_MAIN(own_threads)
{
    Suite *suite = suite_create("own threads");
    TCase *all = tcase_create("all");

    tcase_add_loop_test(all, threads_of_a_kernel_have_the_kernels_answers, 0,
                        NMACHINES);
    tcase_add_loop_test(all, threads_of_main_have_mains_answers, 0, NMACHINES);
    tcase_add_loop_test(all, a_run_goes_from_thread_to_thread, 0, NMACHINES);
    tcase_add_loop_test(all, threads_open_at_once_and_main_closes, 0, NMACHINES);
    suite_add_tcase(suite, all);
    return suite_main(suite);
}

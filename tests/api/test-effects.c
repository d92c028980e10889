/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-effects.c - what calls change, of which a program that only calls
 * them would not notice that they did nothing (test-mutations.py): copies that they
 * ask for or end, what they count, the values that are not 0. "shows" names the
 * functions whose test docs/API.md finds here.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"
#include "silence.h"

enum { N = 1000, BYTES = N * sizeof(int) };

static int vector[N];
static starpu_data_handle_t handle;

static void set_to_7(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    for (int i = 0; i < N; i++)
        v[i] = 7;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {set_to_7},
    .cuda_funcs = {set_to_7},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static void set_half_to_7(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    for (int i = 0; i < N / 2; i++)
        v[i] = 7;
}

static struct starpu_codelet cl_part = {
    .cpu_funcs = {set_half_to_7},
    .cuda_funcs = {set_half_to_7},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

/* A GPU of the simulated machine and its memory. */
static int gpu;
static unsigned node;

static void open_with_data(int machine)
{
    machine_open(machine);
    memset(vector, 0, sizeof(vector));
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)vector, N,
                                sizeof(int));
    if (machine_simulated(machine)) {
        gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 1);
        ck_assert_int_ge(gpu, 0);
        node = starpu_worker_get_memory_node((unsigned)gpu);
    }
}

static void close_all(void)
{
    starpu_data_unregister(handle);
    starpu_shutdown();
}

static void write_on_the_gpu(void)
{
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handle,
                                        STARPU_EXECUTE_ON_WORKER, gpu, 0),
                     0);
    starpu_task_wait_for_all();
}

static int is_valid(starpu_data_handle_t h, unsigned where)
{
    int allocated, valid, requested;

    starpu_data_query_status(h, (int)where, &allocated, &valid, &requested);
    return valid;
}

static int is_valid_on(unsigned where)
{
    return is_valid(handle, where);
}

/* shows starpu_data_fetch_on_node */
START_TEST(a_fetch_that_is_waited_for_has_arrived)
{
    open_with_data(FIRST_SIMULATED);
    ck_assert(!is_valid_on(node));
    ck_assert_int_eq(starpu_data_fetch_on_node(handle, node, 0), 0);
    ck_assert(is_valid_on(node));
    close_all();
}
END_TEST

static int prefetch(starpu_data_handle_t h, unsigned n, unsigned async)
{
    return starpu_data_prefetch_on_node(h, n, async);
}

static int prefetch_prio(starpu_data_handle_t h, unsigned n, unsigned async)
{
    return starpu_data_prefetch_on_node_prio(h, n, async, 2);
}

static int idle(starpu_data_handle_t h, unsigned n, unsigned async)
{
    return starpu_data_idle_prefetch_on_node(h, n, async);
}

static int idle_prio(starpu_data_handle_t h, unsigned n, unsigned async)
{
    return starpu_data_idle_prefetch_on_node_prio(h, n, async, 2);
}

/* shows starpu_data_prefetch_on_node, starpu_data_prefetch_on_node_prio,
 * starpu_data_idle_prefetch_on_node, starpu_data_idle_prefetch_on_node_prio */
START_TEST(what_is_prefetched_arrives_without_a_task)
{
    static int (*const calls[])(starpu_data_handle_t, unsigned, unsigned) = {
        prefetch, prefetch_prio, idle, idle_prio};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        open_with_data(FIRST_SIMULATED);
        ck_assert(!is_valid_on(node));
        ck_assert_int_eq(calls[i](handle, node, 1), 0);
        starpu_sleep(1); /* virtual */
        ck_assert_msg(is_valid_on(node), "call %zu", i);
        close_all();
    }
}
END_TEST

/* shows starpu_data_evict_from_node */
START_TEST(evicted_data_leave_the_memory)
{
    open_with_data(FIRST_SIMULATED);
    ck_assert_int_eq(starpu_data_fetch_on_node(handle, node, 0), 0);
    ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(handle, node), 1);
    ck_assert_int_eq(starpu_data_evict_from_node(handle, node), 0);
    ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(handle, node), 0);
    close_all();
}
END_TEST

/* From the GPU home; from main memory the only copy goes nowhere without a disk. */
START_TEST(the_only_copy_is_written_back_before_it_leaves)
{
    open_with_data(FIRST_SIMULATED);
    write_on_the_gpu();
    starpu_task_wait_for_all();
    ck_assert(!is_valid_on(STARPU_MAIN_RAM));
    ck_assert_int_eq(starpu_data_evict_from_node(handle, node), 0);
    ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(handle, node), 0);
    ck_assert(is_valid_on(STARPU_MAIN_RAM));
    ck_assert_int_eq(vector[N - 1], 7);
    ck_assert_int_eq(starpu_data_evict_from_node(handle, STARPU_MAIN_RAM), -1);
    write_on_the_gpu();
    ck_assert_int_eq(starpu_data_acquire_on_node(handle, (int)node, STARPU_R),
                     0);
    ck_assert_int_eq(starpu_data_evict_from_node(handle, node), -1);
    starpu_data_release_on_node(handle, (int)node);
    close_all();
}
END_TEST

/* Whose turn it is, that is written back, without a change of turns; the other has
 * no copy that could leave. */
START_TEST(planned_data_are_written_back_before_they_leave)
{
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t part[2];

    open_with_data(FIRST_SIMULATED);
    starpu_data_partition_plan(handle, &halves, part);
    ck_assert_int_eq(starpu_task_insert(&cl_part, STARPU_RW, part[1],
                                        STARPU_EXECUTE_ON_WORKER, gpu, 0),
                     0);
    starpu_task_wait_for_all();
    ck_assert(!is_valid(part[1], STARPU_MAIN_RAM));
    ck_assert_int_eq(starpu_data_evict_from_node(handle, node), -1);
    ck_assert_int_eq(starpu_data_evict_from_node(part[1], node), 0);
    ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(part[1], node), 0);
    ck_assert(is_valid(part[1], STARPU_MAIN_RAM));
    ck_assert_int_eq(vector[0], 0);
    ck_assert_int_eq(vector[N - 1], 7);
    write_on_the_gpu();
    ck_assert(!is_valid_on(STARPU_MAIN_RAM));
    ck_assert_int_eq(starpu_data_evict_from_node(part[1], node), -1);
    ck_assert_int_eq(starpu_data_evict_from_node(handle, node), 0);
    ck_assert(is_valid_on(STARPU_MAIN_RAM));
    ck_assert_int_eq(vector[0], 7);
    starpu_data_partition_clean(handle, 2, part);
    close_all();
}
END_TEST

/* shows starpu_data_wont_use */
START_TEST(data_that_are_no_longer_used_go_home)
{
    open_with_data(FIRST_SIMULATED);
    write_on_the_gpu();
    ck_assert(!is_valid_on(STARPU_MAIN_RAM));
    starpu_data_wont_use(handle);
    starpu_sleep(1); /* virtual */
    ck_assert(is_valid_on(STARPU_MAIN_RAM));
    ck_assert_int_eq(vector[N - 1], 7);
    close_all();
}
END_TEST

/* shows starpu_data_unregister */
START_TEST(data_are_home_when_they_are_unregistered)
{
    open_with_data(_i);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handle, 0), 0);
    starpu_data_unregister(handle);
    ck_assert_int_eq(vector[0], 7);
    ck_assert_int_eq(vector[N - 1], 7);
    starpu_shutdown();
}
END_TEST

/* shows starpu_data_unregister_submit */
START_TEST(memory_is_free_when_the_end_of_its_data_was_submitted)
{
    size_t before;

    open_with_data(FIRST_SIMULATED);
    write_on_the_gpu();
    before = starpu_memory_get_used(node);
    ck_assert_uint_ge(before, BYTES);
    starpu_data_unregister_submit(handle);
    starpu_task_wait_for_all();
    ck_assert_uint_le(starpu_memory_get_used(node), before - BYTES);
    starpu_shutdown();
}
END_TEST

/* shows starpu_data_unregister_no_coherency */
START_TEST(data_without_coherency_are_dropped_where_they_are)
{
    size_t before;

    open_with_data(FIRST_SIMULATED);
    write_on_the_gpu();
    before = starpu_memory_get_used(node);
    starpu_data_unregister_no_coherency(handle);
    ck_assert_int_eq(vector[N - 1], 0);
    ck_assert_uint_le(starpu_memory_get_used(node), before - BYTES);
    starpu_shutdown();
}
END_TEST

/* shows starpu_data_release_to, starpu_data_release_to_on_node */
START_TEST(what_is_released_to_nothing_is_released)
{
    for (int on_node = 0; on_node < 2; on_node++) {
        open_with_data(_i);
        ck_assert_int_eq(starpu_data_acquire(handle, STARPU_W), 0);
        if (on_node)
            starpu_data_release_to_on_node(handle, STARPU_NONE,
                                           STARPU_MAIN_RAM);
        else
            starpu_data_release_to(handle, STARPU_NONE);
        ck_assert_int_eq(starpu_data_acquire_try(handle, STARPU_W), 0);
        starpu_data_release(handle);
        close_all();
    }
}
END_TEST

static void note_value(void *buffers[], void *arg)
{
    *(int *)arg = ((const int *)STARPU_VECTOR_GET_PTR(buffers[0]))[0];
}

/* shows starpu_data_release_to, starpu_data_release_to_on_node */
START_TEST(what_is_released_to_reading_is_read_by_others)
{
    static struct starpu_codelet note = {
        .cpu_funcs = {note_value},
        .cuda_funcs = {note_value},
        .nbuffers = 1,
        .modes = {STARPU_R},
        .name = "k",
    };

    for (int on_node = 0; on_node < 2; on_node++) {
        int seen = 0, *seen_at = &seen;

        open_with_data(_i);
        ck_assert_int_eq(starpu_data_acquire(handle, STARPU_W), 0);
        vector[0] = 7;
        ck_assert_int_eq(starpu_task_insert(&note, STARPU_R, handle,
                                            STARPU_CL_ARGS_NFREE, seen_at,
                                            sizeof(seen), 0),
                         0);
        if (on_node)
            starpu_data_release_to_on_node(handle, STARPU_R, STARPU_MAIN_RAM);
        else
            starpu_data_release_to(handle, STARPU_R);
        starpu_task_wait_for_all();
        ck_assert_int_eq(seen, 7);
        starpu_data_release(handle);
        close_all();
    }
}
END_TEST

/* shows starpu_data_set_sequential_consistency_flag */
START_TEST(data_forget_and_learn_the_order_of_submission)
{
    open_with_data(_i);
    ck_assert_uint_eq(starpu_data_get_sequential_consistency_flag(handle), 1);
    starpu_data_set_sequential_consistency_flag(handle, 0);
    ck_assert_uint_eq(starpu_data_get_sequential_consistency_flag(handle), 0);
    starpu_data_set_sequential_consistency_flag(handle, 1);
    ck_assert_uint_eq(starpu_data_get_sequential_consistency_flag(handle), 1);
    close_all();
}
END_TEST

/* shows starpu_arbiter_create, starpu_task_get_job_id,
 * starpu_data_get_home_node, starpu_data_get_interface_id,
 * starpu_get_prefetch_flag */
START_TEST(what_is_made_has_an_identity)
{
    struct starpu_task *task[2];
    starpu_arbiter_t arbiter;
    starpu_data_handle_t homeless;

    open_with_data(_i);
    arbiter = starpu_arbiter_create();
    ck_assert_ptr_nonnull(arbiter);
    starpu_arbiter_destroy(arbiter);
    for (int i = 0; i < 2; i++) {
        task[i] = starpu_task_create();
        task[i]->destroy = 0;
        ck_assert_int_eq(starpu_task_submit(task[i]), 0);
    }
    ck_assert_uint_ne(starpu_task_get_job_id(task[0]), 0);
    ck_assert_uint_lt(starpu_task_get_job_id(task[0]),
                      starpu_task_get_job_id(task[1]));
    starpu_task_wait_for_all();
    starpu_task_destroy(task[0]);
    starpu_task_destroy(task[1]);
    starpu_vector_data_register(&homeless, -1, 0, N, sizeof(int));
    ck_assert_int_eq(starpu_data_get_home_node(homeless), -1);
    ck_assert_int_eq(starpu_data_get_home_node(handle), 0);
    ck_assert_int_eq((int)starpu_data_get_interface_id(homeless),
                     STARPU_VECTOR_INTERFACE_ID);
    ck_assert_int_eq(starpu_get_prefetch_flag(), 1);
    starpu_data_unregister(homeless);
    close_all();
}
END_TEST

static int my_malloc(unsigned n, void **ret, size_t size, int flags)
{
    (void)n;
    (void)flags;
    *ret = malloc(size);
    return *ret ? 0 : -ENOMEM;
}

static int nfreed;

static int my_free(unsigned n, void *memory, size_t size, int flags)
{
    (void)n;
    (void)size;
    (void)flags;
    free(memory);
    nfreed++;
    return 0;
}

/* shows starpu_free */
START_TEST(what_was_allocated_is_freed)
{
    void *memory = NULL;

    starpu_malloc_set_hooks(my_malloc, my_free);
    machine_open(_i);
    ck_assert_int_eq(starpu_malloc(&memory, 100), 0);
    ck_assert_int_eq(starpu_free(memory), 0);
    ck_assert_int_eq(nfreed, 1);
    starpu_shutdown();
}
END_TEST

/* shows starpu_sleep, starpu_memory_pin */
START_TEST(virtual_time_passes)
{
    double before;

    machine_open(FIRST_SIMULATED);
    before = starpu_timing_now();
    starpu_sleep(2);
    ck_assert_double_ge(starpu_timing_now() - before, 2e6);
    before = starpu_timing_now();
    starpu_memory_pin(vector, sizeof(vector));
    ck_assert_double_gt(starpu_timing_now(), before);
    starpu_shutdown();
}
END_TEST

static int ended;

static void note_end(void *arg)
{
    (void)arg;
    ended = 1;
}

/* A task without a kernel that waits until main has released the data. */
static struct starpu_task *blocked_task(void)
{
    static struct starpu_codelet nowhere = {
        .where = STARPU_NOWHERE, .nbuffers = 1, .modes = {STARPU_R}};
    struct starpu_task *task = starpu_task_create();

    task->cl = &nowhere;
    task->handles[0] = handle;
    task->destroy = 0;
    return task;
}

/* shows starpu_task_nsubmitted, starpu_task_declare_end_deps,
 * starpu_task_get_task_succs */
START_TEST(a_task_ends_no_earlier_than_its_end_dependencies)
{
    struct starpu_task *task, *blocked, *next, *found;

    open_with_data(_i);
    ended = 0;
    task = starpu_task_create();
    blocked = blocked_task();
    task->destroy = 0;
    task->callback_func = note_end;
    starpu_task_declare_end_deps(task, 1, blocked);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    ck_assert_int_eq(starpu_task_submit(blocked), 0);
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_nsubmitted(), 2);
    starpu_sleep(0.01F);
    ck_assert_int_eq(ended, 0);
    next = starpu_task_create();
    next->destroy = 0;
    starpu_task_declare_deps(next, 1, blocked);
    ck_assert_int_eq(starpu_task_submit(next), 0);
    ck_assert_int_eq(starpu_task_get_task_succs(blocked, 1, &found), 1);
    starpu_data_release(handle);
    starpu_task_wait_for_all();
    ck_assert_int_eq(ended, 1);
    ck_assert_int_eq(starpu_task_nsubmitted(), 0);
    starpu_task_destroy(task);
    starpu_task_destroy(blocked);
    starpu_task_destroy(next);
    close_all();
}
END_TEST

static void submit_with_tag(starpu_tag_t tag, struct starpu_task *task)
{
    task->use_tag = 1;
    task->tag_id = tag;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

/* shows starpu_tag_wait_array */
START_TEST(tags_are_waited_for_until_their_tasks_end)
{
    starpu_tag_t tags[] = {5, 6};
    struct starpu_task *slow;

    open_with_data(FIRST_SIMULATED);
    ended = 0;
    for (int i = 0; i < 2; i++) {
        slow = starpu_task_create();
        slow->cl = &cl;
        slow->handles[0] = handle;
        if (i == 1)
            slow->callback_func = note_end;
        submit_with_tag(tags[i], slow);
    }
    ck_assert_int_eq(ended, 0);
    ck_assert_int_eq(starpu_tag_wait_array(2, tags), 0);
    ck_assert_int_eq(ended, 1);
    close_all();
}
END_TEST

/* shows starpu_tag_remove */
START_TEST(a_tag_that_was_removed_is_waited_for_anew)
{
    machine_open(_i);
    submit_with_tag(5, starpu_task_create());
    ck_assert_int_eq(starpu_tag_wait(5), 0);
    starpu_tag_remove(5);
    starpu_tag_declare_deps(6, 1, (starpu_tag_t)5);
    submit_with_tag(6, starpu_task_create());
    ck_assert_int_eq(starpu_task_nsubmitted(), 1);
    starpu_tag_notify_from_apps(5);
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

static void note_worker(void *buffers[], void *arg)
{
    (void)arg;
    ((int *)STARPU_VECTOR_GET_PTR(buffers[0]))[0] =
        (int)(starpu_worker_get_id_check)(); /* not the macro */
}

/* shows starpu_worker_get_id_check */
START_TEST(a_kernel_knows_its_worker)
{
    static struct starpu_codelet note_cl = {
        .cpu_funcs = {note_worker},
        .cuda_funcs = {note_worker},
        .nbuffers = 1,
        .modes = {STARPU_RW},
        .name = "k",
    };

    open_with_data(FIRST_SIMULATED);
    ck_assert_int_gt(gpu, 0);
    ck_assert_int_eq(starpu_task_insert(&note_cl, STARPU_RW, handle,
                                        STARPU_EXECUTE_ON_WORKER, gpu, 0),
                     0);
    starpu_data_unregister(handle);
    ck_assert_int_eq(vector[0], gpu);
    starpu_shutdown();
}
END_TEST

/* shows starpu_csr_get_firstentry, starpu_bcsr_get_firstentry */
START_TEST(sparse_matrices_may_count_from_1)
{
    static int values[4] = {1, 2, 3, 4};
    static uint32_t columns[] = {1, 2}, rows[] = {1, 2, 3};
    starpu_data_handle_t csr, bcsr;

    machine_open(_i);
    starpu_csr_data_register(&csr, STARPU_MAIN_RAM, 2, 2, (uintptr_t)values,
                             columns, rows, 1, sizeof(int));
    starpu_bcsr_data_register(&bcsr, STARPU_MAIN_RAM, 1, 1, (uintptr_t)values,
                              columns, rows, 1, 2, 2, sizeof(int));
    ck_assert_uint_eq(starpu_csr_get_firstentry(csr), 1);
    ck_assert_uint_eq(starpu_bcsr_get_firstentry(bcsr), 1);
    starpu_data_unregister(csr);
    starpu_data_unregister(bcsr);
    starpu_shutdown();
}
END_TEST

/* shows starpu_free_on_node, starpu_memory_get_used */
START_TEST(memory_of_a_node_is_given_back)
{
    size_t before;
    uintptr_t memory;

    open_with_data(FIRST_SIMULATED);
    before = starpu_memory_get_used(node);
    memory = starpu_malloc_on_node(node, 1 << 20);
    ck_assert_uint_ne(memory, 0);
    ck_assert_uint_eq(starpu_memory_get_used(node), before + (1 << 20));
    starpu_free_on_node(node, memory, 1 << 20);
    ck_assert_uint_eq(starpu_memory_get_used(node), before);
    close_all();
}
END_TEST

/* shows starpu_transfer_bandwidth, starpu_transfer_latency */
START_TEST(copies_to_a_gpu_have_a_bandwidth_and_a_latency)
{
    double bandwidth, latency;

    open_with_data(FIRST_SIMULATED);
    bandwidth = starpu_transfer_bandwidth(STARPU_MAIN_RAM, node);
    latency = starpu_transfer_latency(STARPU_MAIN_RAM, node);
    ck_assert(bandwidth > 0);
    ck_assert(latency > 0);
    /* A long copy takes what the bandwidth says, and is never shorter. */
    ck_assert(starpu_transfer_predict(STARPU_MAIN_RAM, node, 1 << 30) >=
              (1 << 30) / bandwidth);
    close_all();
}
END_TEST

/* shows starpu_profiling_bus_helper_display_summary,
 * starpu_interface_end_driver_copy_async */
START_TEST(messages_name_buses_and_slow_copies)
{
    open_with_data(FIRST_SIMULATED);
    unsetenv("STARPU_SILENT");
    write_on_the_gpu();
    silence_begin();
    starpu_profiling_bus_helper_display_summary();
    ck_assert_ptr_nonnull(strstr(silence_end(), "CUDA"));
    silence_begin();
    starpu_interface_end_driver_copy_async(0, node, starpu_timing_now() - 1000);
    ck_assert_ptr_nonnull(strstr(silence_end(), "pinned"));
    silence_begin();
    starpu_interface_end_driver_copy_async(0, node, starpu_timing_now());
    ck_assert_str_eq(silence_end(), "");
    close_all();
}
END_TEST

/* shows starpu_perfmodel_init, starpu_perfmodel_deinit */
START_TEST(a_model_has_a_state_from_init_to_deinit)
{
    static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                            .symbol = "effects"};

    machine_open(_i);
    starpu_perfmodel_init(&model);
    ck_assert_ptr_nonnull(model.state);
    starpu_perfmodel_deinit(&model);
    ck_assert_ptr_null(model.state);
    starpu_perfmodel_init(&model);
    ck_assert_ptr_nonnull(model.state);
    starpu_perfmodel_unload_model(&model);
    ck_assert_ptr_null(model.state);
    starpu_shutdown();
}
END_TEST

/* shows starpu_perfmodel_unload_model */
START_TEST(a_model_that_is_unloaded_has_no_state)
{
    static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                            .symbol = "effects"};

    machine_open(_i);
    starpu_perfmodel_init(&model);
    starpu_perfmodel_unload_model(&model);
    ck_assert_ptr_null(model.state);
    starpu_shutdown();
}
END_TEST

static void give_range(unsigned ctx)
{
    (void)ctx;
    ck_assert_int_eq(starpu_sched_set_min_priority(-4), 0);
    ck_assert_int_eq(starpu_sched_set_max_priority(20), 0);
}

/* shows starpu_sched_set_max_priority, starpu_sched_get_max_priority,
 * starpu_sched_set_min_priority, starpu_sched_get_min_priority */
START_TEST(a_policy_says_its_range_of_priorities)
{
    struct starpu_conf conf;

    machine_choose(_i);
    starpu_conf_init(&conf);
    conf.sched_policy_callback = give_range;
    ck_assert_int_eq(starpu_init(&conf), 0);
    ck_assert_int_eq(starpu_sched_get_min_priority(), -4);
    ck_assert_int_eq(starpu_sched_get_max_priority(), 20);
    starpu_shutdown();
}
END_TEST

/* shows starpu_sched_ctx_set_context */
START_TEST(a_context_that_does_not_exist_is_refused)
{
    unsigned ctx = 1;

    machine_open(FIRST_SIMULATED);
    starpu_sched_ctx_set_context(&ctx);
}
END_TEST

/* shows starpu_get_next_bindid */
START_TEST(threads_that_are_busy_get_processors_of_their_own)
{
    unsigned first, second;

    machine_choose(0); /* all processors of the simulated one have workers */
    setenv("STARPU_NCPU", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    if (starpu_cpu_os_index(1) < 0) {
        starpu_shutdown();
        SKIP_TEST("this machine has one processor");
    }
    first = starpu_get_next_bindid(STARPU_THREAD_ACTIVE, NULL, 0);
    second = starpu_get_next_bindid(STARPU_THREAD_ACTIVE, NULL, 0);
    ck_assert_uint_ne(first, second);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(effects)
{
    Suite *suite = suite_create("effects");
    TCase *each = tcase_create("on each machine");
    TCase *tc = tcase_create("with GPUs");

    tcase_set_timeout(each, 60);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(each, data_are_home_when_they_are_unregistered, 0,
                        NMACHINES);
    tcase_add_loop_test(each, what_is_released_to_nothing_is_released, 0,
                        NMACHINES);
    tcase_add_loop_test(each, what_is_released_to_reading_is_read_by_others, 0,
                        NMACHINES);
    tcase_add_loop_test(each, data_forget_and_learn_the_order_of_submission, 0,
                        NMACHINES);
    tcase_add_loop_test(each, what_is_made_has_an_identity, 0, NMACHINES);
    tcase_add_loop_test(each, sparse_matrices_may_count_from_1, 0, NMACHINES);
    tcase_add_loop_test(each, a_model_has_a_state_from_init_to_deinit, 0,
                        NMACHINES);
    tcase_add_loop_test(each, a_model_that_is_unloaded_has_no_state, 0,
                        NMACHINES);
    tcase_add_loop_test(each, a_policy_says_its_range_of_priorities, 0,
                        NMACHINES);
    tcase_add_loop_test(each, what_was_allocated_is_freed, 0, NMACHINES);
    tcase_add_loop_test(each, a_task_ends_no_earlier_than_its_end_dependencies,
                        0, NMACHINES);
    tcase_add_loop_test(each, a_tag_that_was_removed_is_waited_for_anew, 0,
                        NMACHINES);
    suite_add_tcase(suite, each);
    tcase_add_test(tc, virtual_time_passes);
    tcase_add_test(tc, a_kernel_knows_its_worker);
    tcase_add_test(tc, tags_are_waited_for_until_their_tasks_end);
    tcase_add_test(tc, a_fetch_that_is_waited_for_has_arrived);
    tcase_add_test(tc, what_is_prefetched_arrives_without_a_task);
    tcase_add_test(tc, evicted_data_leave_the_memory);
    tcase_add_test(tc, the_only_copy_is_written_back_before_it_leaves);
    tcase_add_test(tc, planned_data_are_written_back_before_they_leave);
    tcase_add_test(tc, data_that_are_no_longer_used_go_home);
    tcase_add_test(tc, memory_is_free_when_the_end_of_its_data_was_submitted);
    tcase_add_test(tc, data_without_coherency_are_dropped_where_they_are);
    tcase_add_test(tc, memory_of_a_node_is_given_back);
    tcase_add_test(tc, copies_to_a_gpu_have_a_bandwidth_and_a_latency);
    tcase_add_test(tc, messages_name_buses_and_slow_copies);
    tcase_add_test_raise_signal(tc, a_context_that_does_not_exist_is_refused,
                                SIGABRT);
    tcase_add_test(tc, threads_that_are_busy_get_processors_of_their_own);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

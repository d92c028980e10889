/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-toolbox.c - the queues that application-defined policies are
 * made of (starpu_scheduler_toolbox.h), and policies that use nothing else.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <starpu_scheduler_toolbox.h>

#include "machines.h"

#define NTASKS 6

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet cl_any = {
    .cpu_funcs = {nothing}, .cuda_funcs = {nothing}, .name = "k"};
static struct starpu_codelet cl_gpu = {.cuda_funcs = {nothing}, .name = "k"};
/* Its first implementation is for nobody. */
static struct starpu_codelet cl_cpu = {
    .cpu_funcs = {NULL, nothing}, .where = STARPU_CPU, .name = "k"};

static struct starpu_task *tasks[NTASKS];

/* Tasks that are never submitted, with these priorities. */
static void make_tasks(const int *priorities, struct starpu_codelet *cl)
{
    for (int i = 0; i < NTASKS; i++) {
        tasks[i] = starpu_task_create();
        tasks[i]->cl = cl;
        tasks[i]->priority = priorities[i];
    }
}

static void drop_tasks(void)
{
    for (int i = 0; i < NTASKS; i++)
        starpu_task_destroy(tasks[i]);
}

static int number_of(const struct starpu_task *task)
{
    for (int i = 0; i < NTASKS; i++)
        if (tasks[i] == task)
            return i;
    return -1;
}

/* --- starpu_st_fifo_* --- */

static starpu_st_fifo_taskq_t fifo;

static void check_fifo(const int *order)
{
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(
            number_of(starpu_st_fifo_taskq_pop_local_task(fifo)), order[i]);
    ck_assert_int_eq(starpu_st_fifo_taskq_empty(fifo), 1);
    ck_assert_ptr_null(starpu_st_fifo_taskq_pop_local_task(fifo));
}

START_TEST(a_fifo_has_its_three_orders)
{
    static const int priorities[] = {0, 2, -1, 2, 0, 5};
    static const struct {
        int (*push)(starpu_st_fifo_taskq_t, struct starpu_task *);
        int order[NTASKS];
        unsigned nprocessed;
    } ways[] = {
        {starpu_st_fifo_taskq_push_sorted_task, {5, 1, 3, 0, 4, 2}, 6},
        {starpu_st_fifo_taskq_push_task, {5, 1, 3, 0, 2, 4}, 6},
        {starpu_st_fifo_taskq_push_back_task, {5, 4, 2, 1, 3, 0}, 0},
    };

    machine_open(_i);
    make_tasks(priorities, &cl_any);
    fifo = starpu_st_fifo_taskq_create();
    for (int way = 0; way < 3; way++) {
        starpu_st_fifo_taskq_init(fifo);
        for (int i = 0; i < NTASKS; i++)
            ck_assert_int_eq(ways[way].push(fifo, tasks[i]), 0);
        ck_assert_int_eq(starpu_st_fifo_taskq_empty(fifo), 0);
        ck_assert_uint_eq(starpu_st_fifo_ntasks_get(fifo), NTASKS);
        ck_assert_uint_eq(starpu_st_fifo_nprocessed_get(fifo),
                          ways[way].nprocessed);
        if (way < 2)
            check_fifo(ways[way].order);
        else /* each one before the others, unless its priority is positive */
            ck_assert_int_eq(
                number_of(starpu_st_fifo_taskq_pop_local_task(fifo)), 5);
    }
    starpu_st_fifo_taskq_init(fifo);
    ck_assert_int_eq(starpu_st_fifo_taskq_empty(fifo), 1);
    ck_assert_uint_eq(starpu_st_fifo_ntasks_get(fifo), 0);
    starpu_st_fifo_taskq_destroy(fifo);
    drop_tasks();
    starpu_shutdown();
}
END_TEST

START_TEST(a_task_that_is_put_back_comes_first)
{
    static const int priorities[NTASKS] = {0};

    machine_open(_i);
    make_tasks(priorities, &cl_any);
    fifo = starpu_st_fifo_taskq_create();
    for (int i = 0; i < 3; i++)
        starpu_st_fifo_taskq_push_task(fifo, tasks[i]);
    starpu_st_fifo_taskq_push_back_task(fifo, tasks[3]);
    ck_assert_int_eq(number_of(starpu_st_fifo_taskq_pop_local_task(fifo)), 3);
    starpu_st_fifo_taskq_destroy(fifo);
    drop_tasks();
    starpu_shutdown();
}
END_TEST

START_TEST(a_fifo_keeps_the_figures_of_its_policy)
{
    double before, after;

    machine_open(_i);
    before = starpu_timing_now();
    fifo = starpu_st_fifo_taskq_create();
    after = starpu_timing_now();
    ck_assert(starpu_st_fifo_exp_start_get(fifo) >= before);
    ck_assert(starpu_st_fifo_exp_start_get(fifo) <= after);
    ck_assert_double_eq(starpu_st_fifo_exp_end_get(fifo),
                        starpu_st_fifo_exp_start_get(fifo));
    starpu_st_fifo_exp_start_set(fifo, 3);
    starpu_st_fifo_exp_end_set(fifo, 9);
    starpu_st_fifo_exp_len_set(fifo, 5);
    starpu_st_fifo_exp_len_inc(fifo, 1);
    starpu_st_fifo_pipeline_len_set(fifo, 2);
    starpu_st_fifo_pipeline_len_inc(fifo, -0.5);
    starpu_st_fifo_ntasks_inc(fifo, 4);
    starpu_st_fifo_ntasks_inc(fifo, -1);
    starpu_st_fifo_nprocessed_inc(fifo, 7);
    ck_assert_double_eq(starpu_st_fifo_exp_start_get(fifo), 3);
    ck_assert_double_eq(starpu_st_fifo_exp_end_get(fifo), 9);
    ck_assert_double_eq(starpu_st_fifo_exp_len_get(fifo), 6);
    ck_assert_double_eq(starpu_st_fifo_pipeline_len_get(fifo), 1.5);
    ck_assert_uint_eq(starpu_st_fifo_ntasks_get(fifo), 3);
    ck_assert_uint_eq(starpu_st_fifo_nprocessed_get(fifo), 7);
    starpu_st_fifo_taskq_destroy(fifo);
    starpu_shutdown();
}
END_TEST

/* Both limits of priorities are the user's: so many figures. */
START_TEST(a_fifo_has_figures_for_each_priority)
{
    static const int priorities[NTASKS] = {3, 4, 5, 6, 3, 3};
    unsigned *ntasks;

    machine_choose(_i);
    setenv("STARPU_SCHED", "dmdas", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    fifo = starpu_st_fifo_taskq_create();
    ck_assert_ptr_null(starpu_st_fifo_ntasks_per_priority_get(fifo));
    ck_assert_ptr_null(starpu_st_fifo_exp_len_per_priority_get(fifo));
    starpu_st_fifo_taskq_destroy(fifo);
    starpu_shutdown();

    setenv("STARPU_MIN_PRIO", "3", 1);
    setenv("STARPU_MAX_PRIO", "6", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    make_tasks(priorities, &cl_any);
    fifo = starpu_st_fifo_taskq_create();
    ntasks = starpu_st_fifo_ntasks_per_priority_get(fifo);
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(ntasks[i], 0);
        ck_assert_double_eq(starpu_st_fifo_exp_len_per_priority_get(fifo)[i],
                            0);
        ntasks[i] = 10;
    }
    starpu_st_fifo_taskq_push_task(fifo, tasks[1]);
    starpu_st_fifo_taskq_push_task(fifo, tasks[0]);
    ck_assert_ptr_eq(starpu_st_fifo_taskq_pop_first_ready_task(fifo, 0, 4),
                     tasks[1]); /* of priority 4: the second */
    ck_assert_uint_eq(ntasks[0], 9);
    ck_assert_uint_eq(ntasks[1], 9);
    ck_assert_uint_eq(ntasks[2], 10);
    ck_assert_ptr_eq(starpu_st_fifo_taskq_pop_first_ready_task(fifo, 0, -1),
                     tasks[0]);
    ck_assert_uint_eq(ntasks[0], 9);
    starpu_st_fifo_taskq_destroy(fifo);
    drop_tasks();
    starpu_shutdown();
}
END_TEST

START_TEST(a_worker_takes_what_it_can_run)
{
    static const int priorities[NTASKS] = {9, 9, 8, 7, 6, 5};
    struct starpu_st_prio_deque deque;
    struct starpu_task *skipped;

    machine_open(_i);
    make_tasks(priorities, &cl_gpu);
    tasks[2]->cl = &cl_cpu;
    tasks[3]->cl = &cl_any;
    fifo = starpu_st_fifo_taskq_create();
    starpu_st_prio_deque_init(&deque);
    for (int i = 0; i < 4; i++)
        starpu_st_fifo_taskq_push_task(fifo, tasks[i]);
    ck_assert_int_eq(starpu_st_fifo_taskq_pop_this_task(fifo, 0, tasks[1]), 0);
    ck_assert_int_eq(starpu_st_fifo_taskq_pop_this_task(fifo, -1, tasks[1]),
                     1);
    ck_assert_int_eq(starpu_st_fifo_taskq_pop_this_task(fifo, 0, tasks[3]), 1);
    ck_assert_ptr_eq(starpu_st_fifo_taskq_pop_task(fifo, 0), tasks[2]);
    ck_assert_uint_eq(starpu_task_get_implementation(tasks[2]), 1);
    ck_assert_ptr_null(starpu_st_fifo_taskq_pop_task(fifo, 0));
    ck_assert_uint_eq(starpu_st_fifo_ntasks_get(fifo), 1);
    starpu_st_fifo_taskq_destroy(fifo);

    for (int i = 0; i < 4; i++)
        starpu_st_prio_deque_push_back_task(&deque, tasks[i]);
    starpu_task_set_implementation(tasks[2], 0);
    ck_assert_ptr_null(
        starpu_st_prio_deque_deque_task_for_worker(&deque, 0, &skipped));
    ck_assert_ptr_eq(skipped, tasks[0]); /* from the newest one, of 9 alone */
    ck_assert_ptr_eq(
        starpu_st_prio_deque_pop_task_for_worker(&deque, 0, &skipped),
        tasks[2]);
    ck_assert_ptr_eq(skipped, tasks[1]);
    ck_assert_uint_eq(starpu_task_get_implementation(tasks[2]), 1);
    ck_assert_int_eq(starpu_st_prio_deque_pop_this_task(&deque, 0, tasks[0]),
                     0);
    ck_assert_int_eq(starpu_st_prio_deque_pop_this_task(&deque, -1, tasks[0]),
                     1);
    starpu_st_prio_deque_erase(&deque, tasks[1]);
    ck_assert_ptr_eq(
        starpu_st_prio_deque_deque_task_for_worker(&deque, 0, NULL), tasks[3]);
    ck_assert_int_eq(starpu_st_prio_deque_is_empty(&deque), 1);
    drop_tasks();
    starpu_shutdown();
}
END_TEST

/* --- starpu_st_prio_deque_* --- */

START_TEST(a_deque_has_two_ends)
{
    static const int priorities[] = {1, 2, 1, 2, 2, 1};
    static const int order[] = {4, 1, 3, 0, 2, 5};
    struct starpu_st_prio_deque deque;

    machine_open(_i);
    make_tasks(priorities, &cl_any);
    starpu_st_prio_deque_init(&deque);
    ck_assert_ptr_null(starpu_st_prio_deque_highest_task(&deque));
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq((i == 4 ? starpu_st_prio_deque_push_front_task
                                 : starpu_st_prio_deque_push_back_task)(
                             &deque, tasks[i]),
                         0);
    ck_assert_int_eq(starpu_st_prio_deque_is_empty(&deque), 0);
    ck_assert_ptr_eq(starpu_st_prio_deque_pop_back_task(&deque), tasks[5]);
    ck_assert_ptr_eq(starpu_st_prio_deque_highest_task(&deque), tasks[4]);
    for (int i = 0; i < NTASKS - 1; i++)
        ck_assert_int_eq(number_of(starpu_st_prio_deque_pop_task(&deque)),
                         order[i]);
    ck_assert_ptr_null(starpu_st_prio_deque_pop_task(&deque));
    ck_assert_ptr_null(starpu_st_prio_deque_pop_back_task(&deque));
    starpu_st_prio_deque_push_front_task(&deque, tasks[0]);
    starpu_st_prio_deque_destroy(&deque);
    ck_assert_int_eq(starpu_st_prio_deque_is_empty(&deque), 1);
    drop_tasks();
    starpu_shutdown();
}
END_TEST

/* --- what is ahead, and what is there --- */

static struct starpu_task *submit(struct starpu_codelet *cl, int priority,
                                  starpu_data_handle_t handle)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->priority = priority;
    task->handles[0] = handle;
    task->destroy = 0;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    return task;
}

/* Kernels take 50 us. */
START_TEST(work_ahead_is_summed_up)
{
    static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                            .symbol = "k"};
    static const int priorities[NTASKS] = {3, 2, 1, 2, 4, 1};
    int n = -1;
    double us;

    machine_choose(FIRST_SIMULATED);
    setenv("STARPU_SCHED", "prio", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    cl_any.model = &model;
    starpu_pause();
    for (int i = 0; i < NTASKS; i++)
        tasks[i] = submit(&cl_any, priorities[i], NULL);
    fifo = starpu_st_fifo_taskq_create();
    starpu_st_fifo_exp_len_set(fifo, 1234);
    starpu_st_fifo_pipeline_len_set(fifo, 7);
    for (int i = 0; i < 3; i++)
        starpu_st_fifo_taskq_push_sorted_task(fifo, tasks[i]);
    us = starpu_st_fifo_taskq_get_exp_len_prev_task_list(fifo, tasks[3], 0, 0,
                                                         &n);
    ck_assert_int_eq(n, 2);
    ck_assert_double_eq(us, 107);
    us = starpu_st_fifo_taskq_get_exp_len_prev_task_list(fifo, tasks[4], 0, 0,
                                                         &n);
    ck_assert_int_eq(n, 0);
    ck_assert_double_eq(us, 7);
    us = starpu_st_fifo_taskq_get_exp_len_prev_task_list(fifo, tasks[5], 0, 0,
                                                         &n);
    ck_assert_int_eq(n, 3);
    ck_assert_double_eq(us, 1234);
    starpu_st_fifo_taskq_destroy(fifo);
    starpu_resume();
    starpu_task_wait_for_all();
    drop_tasks();
    starpu_shutdown();
}
END_TEST

static struct starpu_codelet cl_reads = {.cpu_funcs = {nothing},
                                         .cuda_funcs = {nothing},
                                         .nbuffers = 1,
                                         .modes = {STARPU_R},
                                         .name = "k"};

/* The second one's datum is on the GPU already. */
START_TEST(the_task_whose_data_are_there_comes_first)
{
    struct starpu_st_prio_deque deque;
    struct starpu_task *far_task, *near_task, *third;
    starpu_data_handle_t far_data, near_data;
    size_t missing = 1, loading = 1, allocated = 1;
    int x = 0, y = 0;
    unsigned gpu, node;

    setenv("STARPU_PREFETCH", "0", 1);
    machine_choose(FIRST_SIMULATED);
    setenv("STARPU_SCHED", "prio", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    gpu = (unsigned)starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
    node = starpu_worker_get_memory_node(gpu);
    starpu_variable_data_register(&far_data, 0, (uintptr_t)&x, sizeof(x));
    starpu_variable_data_register(&near_data, 0, (uintptr_t)&y, sizeof(y));
    starpu_data_prefetch_on_node(near_data, node, 0);
    starpu_pause();
    far_task = submit(&cl_reads, 1, far_data);
    near_task = submit(&cl_reads, 1, near_data);
    third = submit(&cl_reads, 0, near_data);
    ck_assert_int_eq(starpu_st_non_ready_buffers_count(far_task, gpu), 1);
    ck_assert_int_eq(starpu_st_non_ready_buffers_count(near_task, gpu), 0);
    ck_assert_int_eq(starpu_st_non_ready_buffers_count(far_task, 0), 0);
    starpu_st_non_ready_buffers_size(far_task, gpu, &missing, &loading,
                                     &allocated);
    ck_assert_uint_eq(missing, sizeof(x));
    ck_assert_uint_eq(loading, sizeof(x));
    ck_assert_uint_eq(allocated, sizeof(x));
    starpu_st_non_ready_buffers_size(near_task, gpu, &missing, &loading,
                                     &allocated);
    ck_assert_uint_eq(missing + loading + allocated, 0);

    starpu_st_prio_deque_init(&deque);
    starpu_st_prio_deque_push_back_task(&deque, far_task);
    starpu_st_prio_deque_push_back_task(&deque, near_task);
    starpu_st_prio_deque_push_back_task(&deque, third);
    ck_assert_ptr_eq(starpu_st_prio_deque_deque_first_ready_task(&deque, gpu),
                     near_task);
    ck_assert_ptr_eq(starpu_st_prio_deque_deque_first_ready_task(&deque, gpu),
                     far_task); /* the third has a lower priority */
    fifo = starpu_st_fifo_taskq_create();
    starpu_st_fifo_taskq_push_task(fifo, far_task);
    starpu_st_fifo_taskq_push_task(fifo, near_task);
    ck_assert_ptr_eq(starpu_st_fifo_taskq_pop_first_ready_task(fifo, gpu, -1),
                     near_task);
    starpu_st_fifo_taskq_destroy(fifo);
    starpu_resume();
    starpu_task_wait_for_all();
    starpu_task_destroy(far_task);
    starpu_task_destroy(near_task);
    starpu_task_destroy(third);
    starpu_data_unregister(far_data);
    starpu_data_unregister(near_data);
    starpu_shutdown();
}
END_TEST

START_TEST(priorities_become_small_numbers)
{
    setenv("STARPU_MIN_PRIO", "10", 1);
    setenv("STARPU_MAX_PRIO", "20", 1);
    machine_open(_i);
    ck_assert_int_eq(starpu_st_normalize_prio(10, 11, 0), 0);
    ck_assert_int_eq(starpu_st_normalize_prio(13, 11, 0), 3);
    ck_assert_int_eq(starpu_st_normalize_prio(20, 21, 0), 20);
    ck_assert_int_eq(starpu_st_normalize_prio(13, 5, 0), 0); /* 4 / 10 is 0 */
    ck_assert_int_eq(starpu_st_normalize_prio(13, -1, 0), 0);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(toolbox)
{
    Suite *suite = suite_create("toolbox");
    TCase *each = tcase_create("on each machine");
    TCase *simulated = tcase_create("simulated");

    suite_add_tcase(suite, each);
    suite_add_tcase(suite, simulated);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(a_fifo_has_its_three_orders);
    EACH(a_task_that_is_put_back_comes_first);
    EACH(a_fifo_keeps_the_figures_of_its_policy);
    EACH(a_fifo_has_figures_for_each_priority);
    EACH(a_worker_takes_what_it_can_run);
    EACH(a_deque_has_two_ends);
    EACH(priorities_become_small_numbers);
    if (NMACHINES > FIRST_SIMULATED) {
        tcase_add_test(simulated, work_ahead_is_summed_up);
        tcase_add_test(simulated, the_task_whose_data_are_there_comes_first);
    }
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-calls.c - calls that most applications make beside tasks and data:
 * on workers, copies, profiling, marks in the trace, questions about tasks.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"
#include "silence.h"

/* --- calls on workers --- */

static atomic_int calls[STARPU_NMAXWORKERS];

static void count_call(void *arg)
{
    ck_assert_ptr_eq(arg, calls);
    atomic_fetch_add(&calls[starpu_worker_get_id()], 1);
}

START_TEST(a_function_is_called_once_on_each_worker_of_a_type)
{
    unsigned only[] = {0, 1};

    machine_open(_i);
    starpu_execute_on_each_worker(count_call, calls, STARPU_CPU | STARPU_CUDA);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_int_eq(calls[w], 1);
    starpu_execute_on_each_worker_ex(count_call, calls, STARPU_CPU, "mine");
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_int_eq(calls[w], 1 + (starpu_worker_get_type((int)w) ==
                                        STARPU_CPU_WORKER));
    memset(calls, 0, sizeof(calls));
    starpu_execute_on_specific_workers(count_call, calls, 2, only, "two");
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_int_eq(calls[w], w < 2);
    starpu_shutdown();
}
END_TEST

static void *call_on_none(void *arg)
{
    starpu_execute_on_specific_workers(count_call, calls, 0, NULL, "none");
    return arg;
}

START_TEST(a_function_on_no_worker_is_not_called)
{
    pthread_t thread;

    machine_open(0);
    call_on_none(NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, call_on_none, NULL), 0);
    pthread_join(thread, NULL);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_int_eq(calls[w], 0);
    starpu_shutdown();
}
END_TEST

/* Kernels only take time, these functions run. */
START_TEST(such_functions_run_where_kernels_do_not)
{
    machine_choose(FIRST_SIMULATED);
    setenv("ORRERY_SIM_KERNELS", "skip", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_execute_on_each_worker(count_call, calls, STARPU_CUDA);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_int_eq(calls[w],
                         starpu_worker_get_type((int)w) == STARPU_CUDA_WORKER);
    starpu_shutdown();
}
END_TEST

/* --- copies --- */

static void called(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void choose_with_copies(int i)
{
    machine_choose(i);
    if (machine_simulated(i))
        setenv("ORRERY_ASSUME",
               "kernel[k] = 50us; kernel[starpu_data_cpy] = 20us", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

START_TEST(the_value_of_one_handle_is_copied_to_another)
{
    int from[4] = {1, 2, 3, 4}, to[4] = {0};
    starpu_data_handle_t src, dst, dup;
    atomic_int n = 0;

    choose_with_copies(_i);
    starpu_vector_data_register(&src, STARPU_MAIN_RAM, (uintptr_t)from, 4,
                                sizeof(int));
    starpu_vector_data_register(&dst, STARPU_MAIN_RAM, (uintptr_t)to, 4,
                                sizeof(int));
    ck_assert_int_eq(starpu_data_cpy(dst, src, 0, called, &n), 0);
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(starpu_data_acquire(dst, STARPU_RW), 0);
    ck_assert_mem_eq(to, from, sizeof(to));
    to[0] = 7;
    starpu_data_release(dst);
    ck_assert_int_eq(starpu_data_cpy_priority(src, dst, 1, called, &n, 3), 0);
    ck_assert_int_eq(starpu_data_cpy(src, src, 1, called, &n), 0);
    ck_assert_int_eq(starpu_data_dup_ro(&dup, src, 1), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(n, 3);
    ck_assert_int_eq(starpu_data_acquire(dup, STARPU_R), 0);
    ck_assert_int_eq(((int *)starpu_data_get_local_ptr(dup))[0], 7);
    ck_assert_int_eq(((int *)starpu_data_get_local_ptr(dup))[3], 4);
    starpu_data_release(dup);
    starpu_data_unregister(dup);
    starpu_data_unregister(dst);
    starpu_data_unregister(src);
    ck_assert_int_eq(from[0], 7);
    starpu_shutdown();
}
END_TEST

/* --- profiling --- */

static void work(void *buffers[], void *arg)
{
    (void)buffers;
    if (arg)
        atomic_fetch_add((atomic_int *)arg, 1);
}

static struct starpu_codelet cl_k = {
    .cpu_funcs = {work}, .cuda_funcs = {work}, .name = "k"};

static struct starpu_task *new_kept(void)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl_k;
    task->detach = 0;
    task->destroy = 0;
    task->flops = 1000;
    return task;
}

static double us(struct timespec ts)
{
    return starpu_timing_timespec_to_us(&ts);
}

START_TEST(a_profiled_task_has_the_times_of_its_stages_in_order)
{
    struct starpu_profiling_task_info *info;
    struct starpu_profiling_worker_info worker;
    struct starpu_task *before, *task;
    atomic_int n = 0;

    machine_open(_i);
    before = new_kept();
    ck_assert_int_eq(starpu_task_submit(before), 0);
    ck_assert_int_eq(starpu_task_wait(before), 0);
    ck_assert_ptr_null(before->profiling_info);
    starpu_task_destroy(before);

    ck_assert_int_eq(starpu_profiling_status_get(), STARPU_PROFILING_DISABLE);
    ck_assert_int_eq(starpu_profiling_status_set(STARPU_PROFILING_ENABLE),
                     STARPU_PROFILING_DISABLE);
    ck_assert_int_eq(starpu_profiling_status_get(), STARPU_PROFILING_ENABLE);
    task = new_kept();
    task->callback_func = called;
    task->callback_arg = &n;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    info = task->profiling_info;
    ck_assert_ptr_nonnull(info);
    ck_assert_double_gt(us(info->submit_time), 0);
    ck_assert_double_ge(us(info->push_start_time), us(info->submit_time));
    ck_assert_double_ge(us(info->push_end_time), us(info->push_start_time));
    ck_assert_double_ge(us(info->pop_end_time), us(info->pop_start_time));
    ck_assert_double_ge(us(info->acquire_data_start_time),
                        us(info->pop_end_time));
    ck_assert_double_ge(us(info->acquire_data_end_time),
                        us(info->acquire_data_start_time));
    ck_assert_double_ge(us(info->start_time),
                        us(info->acquire_data_end_time) - 0.01);
    ck_assert_double_ge(us(info->end_time), us(info->start_time));
    ck_assert_double_ge(us(info->release_data_start_time),
                        us(info->end_time) - 0.01);
    ck_assert_double_ge(us(info->release_data_end_time),
                        us(info->release_data_start_time));
    ck_assert_double_ge(us(info->callback_start_time),
                        us(info->release_data_end_time));
    ck_assert_double_ge(us(info->callback_end_time),
                        us(info->callback_start_time));
    ck_assert_int_ge(info->workerid, 0);
    if (machine_simulated(_i))
        ck_assert_double_eq_tol(
            starpu_timing_timespec_delay_us(&info->start_time, &info->end_time),
            50, 0.01);
    ck_assert_int_eq(starpu_profiling_worker_get_info(info->workerid, &worker),
                     0);
    ck_assert_int_eq(worker.executed_tasks, 1);
    ck_assert_double_eq(worker.flops, 1000);
    ck_assert_double_eq_tol(
        us(worker.executing_time),
        starpu_timing_timespec_delay_us(&info->start_time, &info->end_time),
        0.01);
    ck_assert_double_ge(us(worker.total_time), us(worker.executing_time) +
                                                   us(worker.sleeping_time) -
                                                   0.1);
    ck_assert_int_eq(starpu_profiling_worker_get_info(info->workerid, &worker),
                     0);
    ck_assert_int_eq(worker.executed_tasks, 0);
    ck_assert_double_eq(us(worker.executing_time), 0);
    ck_assert_int_eq(starpu_profiling_status_set(STARPU_PROFILING_DISABLE),
                     STARPU_PROFILING_ENABLE);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

START_TEST(profiling_may_be_wanted_before_the_start_or_by_a_variable)
{
    struct starpu_profiling_worker_info info;

    machine_choose(_i);
    ck_assert_int_eq(starpu_profiling_status_set(STARPU_PROFILING_ENABLE), 0);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(starpu_profiling_status_get(), 1);
    starpu_shutdown();
    for (int on = 1; on >= 0; on--) { /* it stays as it was set last */
        ck_assert_int_eq(starpu_init(NULL), 0);
        ck_assert_int_eq(starpu_profiling_status_get(), on);
        (void)starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
        starpu_shutdown();
    }
    setenv("STARPU_PROFILING", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(starpu_profiling_status_get(), 1);
    starpu_task_insert(&cl_k, STARPU_EXECUTE_ON_WORKER, 0, STARPU_FLOPS, 5.0,
                       0);
    starpu_task_wait_for_all();
    starpu_profiling_init();
    starpu_profiling_worker_get_info(0, &info);
    ck_assert_int_eq(info.executed_tasks, 0);
    ck_assert_double_eq(info.flops, 0);
    starpu_shutdown();
}
END_TEST

START_TEST(summaries_count_the_tasks_of_each_worker)
{
    const char *text;

    machine_open(_i);
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    for (int i = 0; i < 3; i++)
        starpu_task_insert(&cl_k, STARPU_EXECUTE_ON_WORKER, 0, 0);
    starpu_task_insert(&cl_k, STARPU_EXECUTE_ON_WORKER, 1, 0);
    starpu_task_wait_for_all();
    silence_begin();
    starpu_codelet_display_stats(&cl_k);
    starpu_profiling_worker_helper_display_summary();
    starpu_data_display_memory_stats();
    text = silence_end();
    ck_assert_ptr_nonnull(strstr(text, "codelet k"));
    ck_assert_ptr_nonnull(strstr(text, ": 3 / 4 (75.00 %)"));
    ck_assert_ptr_nonnull(strstr(text, ": 1 / 4 (25.00 %)"));
    ck_assert_ptr_nonnull(strstr(text, ": 3 tasks"));
    ck_assert_ptr_nonnull(strstr(text, "executing"));
    ck_assert_ptr_nonnull(strstr(text, "bytes used"));
    starpu_shutdown();
}
END_TEST

START_TEST(tasks_are_not_counted_per_codelet_on_request)
{
    machine_choose(0);
    setenv("STARPU_CODELET_PROFILING", "0", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_task_insert(&cl_k, STARPU_EXECUTE_ON_WORKER, 0, 0);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(cl_k.per_worker_stats[0], 0);
    starpu_shutdown();
}
END_TEST

START_TEST(times_are_arithmetic)
{
    struct timespec a = {1, 500}, b = {2, 0};

    ck_assert_double_eq_tol(starpu_timing_timespec_to_us(&a), 1000000.5, 1e-6);
    ck_assert_double_eq_tol(starpu_timing_timespec_delay_us(&a, &b), 999999.5,
                            1e-6);
    ck_assert_double_eq_tol(starpu_timing_timespec_delay_us(&b, &a), -999999.5,
                            1e-6);
}
END_TEST

/* --- marks in the trace --- */

START_TEST(marks_of_the_application_are_in_the_trace)
{
    char path[] = "/tmp/orr-calls-XXXXXX", text[1 << 16];
    int fd = mkstemp(path);
    const char *first, *second;
    FILE *file;
    size_t n;

    ck_assert_int_ge(fd, 0);
    close(fd);
    machine_choose(_i);
    setenv("ORRERY_TRACE", path, 1);
    starpu_fxt_autostart_profiling(0);
    ck_assert_int_eq(starpu_fxt_is_enabled(), 0);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(starpu_fxt_is_enabled(), 1);
    starpu_fxt_start_profiling();
    starpu_fxt_trace_user_event(42);
    starpu_fxt_trace_user_event_string("half \"time\"");
    starpu_fxt_trace_user_meta_string("meta");
    starpu_fxt_stop_profiling();
    starpu_shutdown();
    file = fopen(path, "r");
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    unlink(path);
    first = strstr(text, "\tprog_event\tp\t\"start_profiling\"\n");
    second = strstr(text, "\tprog_event\tp\t\"stop_profiling\"\n");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(second);
    ck_assert(first < second);
    ck_assert_ptr_nonnull(strstr(first, "\tuser_event\tp\t\"42\"\n"));
    ck_assert_ptr_nonnull(strstr(first, "\tprog_event\tp\t\"half _time_\"\n"));
    ck_assert_ptr_nonnull(strstr(first, "\tprog_event\tp\t\"meta\"\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n2\tprog_event\tP\t"));
}
END_TEST

/* --- tasks --- */

START_TEST(a_task_tells_whether_it_has_finished)
{
    struct starpu_task *task;

    machine_open(_i);
    starpu_pause();
    task = new_kept();
    ck_assert_int_eq(starpu_task_finished(task), 0);
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_finished(task), 0);
    ck_assert_str_eq(starpu_task_status_get_as_string(task->status),
                     "STARPU_TASK_READY");
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_all_in_ctx(0), 0);
    ck_assert_int_eq(starpu_task_finished(task), 1);
    ck_assert_str_eq(starpu_task_status_get_as_string(task->status),
                     "STARPU_TASK_FINISHED");
    ck_assert_int_eq(starpu_task_wait(task), 0);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

START_TEST(an_empty_task_calls_back)
{
    atomic_int n = 0;

    machine_open(_i);
    starpu_create_callback_task(called, &n);
    starpu_task_wait_for_all();
    ck_assert_int_eq(n, 1);
    starpu_shutdown();
}
END_TEST

START_TEST(submission_waits_while_too_many_tasks_are_unfinished)
{
    atomic_int n = 0;
    int most = 0;

    machine_open(_i);
    starpu_set_limit_min_submitted_tasks(2);
    starpu_set_limit_max_submitted_tasks(5);
    for (int i = 0; i < 200; i++) {
        starpu_task_insert(&cl_k, STARPU_CL_ARGS_NFREE, &n, (size_t)0, 0);
        most = STARPU_MAX(most, starpu_task_nsubmitted());
    }
    ck_assert_int_le(most, 6);
    ck_assert_int_eq(starpu_task_wait_for_n_submitted_in_ctx(0, 3), 0);
    ck_assert_int_le(starpu_task_nsubmitted(), 3);
    starpu_task_wait_for_all();
    ck_assert_int_eq(n, 200);
    starpu_shutdown();
}
END_TEST

START_TEST(waiting_for_ready_tasks_leaves_blocked_ones)
{
    atomic_int n = 0, late = 0;
    struct starpu_task *task;

    machine_open(_i);
    starpu_tag_declare_deps((starpu_tag_t)2, 1, (starpu_tag_t)1);
    task = new_kept();
    task->cl_arg = &late;
    task->use_tag = 1;
    task->tag_id = 2;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    for (int i = 0; i < 20; i++)
        starpu_task_insert(&cl_k, STARPU_CL_ARGS_NFREE, &n, (size_t)0, 0);
    ck_assert_int_eq(starpu_task_wait_for_no_ready(), 0);
    ck_assert_int_eq(n, 20);
    ck_assert_int_eq(late, 0);
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_int_eq(late, 1);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

/* A tag that was reached holds nobody back; once cleared it does. */
START_TEST(cleared_tags_were_never_reached)
{
    atomic_int n = 0;
    struct starpu_task *task;

    machine_open(_i);
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    starpu_tag_clear();
    starpu_tag_declare_deps((starpu_tag_t)2, 1, (starpu_tag_t)1);
    task = new_kept();
    task->cl_arg = &n;
    task->use_tag = 1;
    task->tag_id = 2;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    starpu_task_wait_for_no_ready();
    ck_assert_int_eq(n, 0);
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_int_eq(n, 1);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(calls)
{
    Suite *suite = suite_create("calls");
    TCase *each = tcase_create("on each machine");
    TCase *once = tcase_create("once");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, once);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(a_function_is_called_once_on_each_worker_of_a_type);
    EACH(the_value_of_one_handle_is_copied_to_another);
    EACH(a_profiled_task_has_the_times_of_its_stages_in_order);
    EACH(profiling_may_be_wanted_before_the_start_or_by_a_variable);
    EACH(summaries_count_the_tasks_of_each_worker);
    EACH(marks_of_the_application_are_in_the_trace);
    EACH(a_task_tells_whether_it_has_finished);
    EACH(an_empty_task_calls_back);
    EACH(submission_waits_while_too_many_tasks_are_unfinished);
    EACH(waiting_for_ready_tasks_leaves_blocked_ones);
    EACH(cleared_tags_were_never_reached);
    if (NMACHINES > FIRST_SIMULATED)
        tcase_add_test(once, such_functions_run_where_kernels_do_not);
    tcase_add_test(once, tasks_are_not_counted_per_codelet_on_request);
    tcase_add_test(once, times_are_arithmetic);
    tcase_add_test(once, a_function_on_no_worker_is_not_called);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-conf.c - what an application requests of a run before it
 * begins, and what ends with it, on each machine: struct starpu_conf, policies
 * of its own, cost functions per device, values of keys.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"
#include "silence.h"

static struct starpu_conf conf;

/* The environment of machine i, and a configuration with defaults. */
static void prepare(int i)
{
    machine_choose(i);
    ck_assert_int_eq(starpu_conf_init(&conf), 0);
}

static void start(void)
{
    ck_assert_int_eq(starpu_init(&conf), 0);
}

/* --- priorities --- */

START_TEST(the_range_of_priorities_can_be_given)
{
    prepare(_i);
    conf.global_sched_ctx_min_priority = -3;
    conf.global_sched_ctx_max_priority = 9;
    start();
    ck_assert_int_eq(STARPU_MIN_PRIO, -3);
    ck_assert_int_eq(STARPU_MAX_PRIO, 9);
    ck_assert_int_eq(starpu_sched_set_max_priority(20), 0);
    ck_assert_int_eq(STARPU_MAX_PRIO, 9); /* the requested value stands */
    starpu_shutdown();

    setenv("STARPU_MIN_PRIO", "1", 1);
    start();
    ck_assert_int_eq(STARPU_MIN_PRIO, 1);
    ck_assert_int_eq(STARPU_MAX_PRIO, 9);
    starpu_shutdown();

    conf.precedence_over_environment_variables = 1;
    start();
    ck_assert_int_eq(STARPU_MIN_PRIO, -3);
    starpu_shutdown();
}
END_TEST

/* --- the policy is there --- */

static int called;

static void policy_is_there(unsigned ctx)
{
    ck_assert_uint_eq(ctx, 0);
    ck_assert_ptr_nonnull(starpu_sched_get_sched_policy());
    ck_assert_int_eq(starpu_sched_set_min_priority(-4), 0);
    ck_assert_uint_gt(starpu_worker_get_count(), 0);
    called++;
}

START_TEST(the_callback_finds_the_policy_set_up)
{
    prepare(_i);
    conf.sched_policy_callback = policy_is_there;
    start();
    ck_assert_int_eq(called, 1);
    ck_assert_int_eq(STARPU_MIN_PRIO, -4);
    starpu_shutdown();
    ck_assert_int_eq(called, 1);
}
END_TEST

/* --- workers that sleep --- */

static atomic_int nasleep[STARPU_NMAXWORKERS], nsleeps, nstranger;

static void sleeps(unsigned worker)
{
    if ((int)worker != starpu_worker_get_id() ||
        atomic_fetch_add(&nasleep[worker], 1) != 0)
        atomic_fetch_add(&nstranger, 1);
    atomic_fetch_add(&nsleeps, 1);
}

static void wakes(unsigned worker)
{
    if ((int)worker != starpu_worker_get_id() ||
        atomic_fetch_sub(&nasleep[worker], 1) != 1)
        atomic_fetch_add(&nstranger, 1);
}

/* Until all workers sleep, for want of tasks. */
static void wait_until_all_sleep(void)
{
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        while (!atomic_load(&nasleep[w]))
            starpu_usleep(100);
}

START_TEST(the_application_is_told_who_sleeps)
{
    prepare(_i);
    conf.callback_worker_going_to_sleep = sleeps;
    conf.callback_worker_waking_up = wakes;
    start();
    wait_until_all_sleep();
    ck_assert_int_eq(
        starpu_task_insert(&starpu_codelet_nop, STARPU_EXECUTE_ON_WORKER, 0, 0),
        0);
    starpu_task_wait_for_all();
    wait_until_all_sleep();
    ck_assert_int_ge(atomic_load(&nsleeps), (int)starpu_worker_get_count() + 1);
    starpu_shutdown();
    for (unsigned w = 0; w < STARPU_NMAXWORKERS; w++)
        ck_assert_int_eq(atomic_load(&nasleep[w]), 0);
    ck_assert_int_eq(atomic_load(&nstranger), 0);
}
END_TEST

START_TEST(who_is_told_can_change_later)
{
    int before;

    prepare(_i);
    conf.callback_worker_going_to_sleep = sleeps;
    start();
    wait_until_all_sleep();
    starpu_worker_set_going_to_sleep_callback(NULL);
    starpu_worker_set_waking_up_callback(wakes);
    before = atomic_load(&nsleeps);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        while (atomic_load(&nasleep[w]) > 0) {
            starpu_wake_all_blocked_workers();
            starpu_usleep(100);
        }
    starpu_shutdown();
    ck_assert_int_eq(atomic_load(&nsleeps), before);
}
END_TEST

/* --- pauses of idle workers --- */

START_TEST(pauses_are_those_of_the_environment)
{
    setenv("STARPU_BACKOFF_MIN", "3", 1);
    setenv("STARPU_BACKOFF_MAX", "0", 1);
    prepare(_i);
    ck_assert_uint_eq(conf.driver_spinning_backoff_min, 3);
    ck_assert_uint_eq(conf.driver_spinning_backoff_max, 0);
    start();
    ck_assert_int_eq(starpu_task_insert(&starpu_codelet_nop, 0), 0);
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

/* --- signals --- */

static bool catches(void)
{
    struct sigaction now;

    sigaction(SIGINT, NULL, &now);
    return now.sa_handler != SIG_DFL;
}

START_TEST(signals_are_the_programs_where_it_says_so)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prepare(_i);
    ck_assert_int_eq(conf.catch_signals, 1);
    start();
    ck_assert_int_eq(catches(), machine_simulated(_i));
    starpu_shutdown();

    conf.catch_signals = 0;
    start();
    ck_assert(!catches());
    starpu_shutdown();

    setenv("STARPU_CATCH_SIGNALS", "0", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert(!catches());
    starpu_shutdown();
}
END_TEST

/* --- statistics --- */

static void read_and_remove(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");

    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    unlink(path);
}

START_TEST(statistics_of_workers_are_printed_at_the_end)
{
    char stats[64], idle[64], text[65536], line[64];
    double first, second;
    int n = 0;

    snprintf(stats, sizeof(stats), "/tmp/orrery-conf-%d-stats", getpid());
    snprintf(idle, sizeof(idle), "/tmp/orrery-conf-%d-idle", getpid());
    setenv("STARPU_WORKER_STATS", "1", 1);
    setenv("STARPU_WORKER_STATS_FILE", stats, 1);
    setenv("STARPU_IDLE_FILE", idle, 1);
    setenv("STARPU_PROFILING", "1", 1);
    prepare(_i);
    for (int run = 0; run < 2; run++) {
        start();
        ck_assert_int_eq(starpu_task_insert(&starpu_codelet_nop,
                                            STARPU_EXECUTE_ON_WORKER, 1, 0),
                         0);
        starpu_task_wait_for_all();
        starpu_usleep(1000);
        starpu_worker_get_name(1, line, sizeof(line) - 10);
        strcat(line, ": 1 tasks\n");
        starpu_shutdown();
    }
    read_and_remove(stats, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, line));
    ck_assert_ptr_nonnull(strstr(text, "sleeping"));
    /* One after the other, of all runs. */
    read_and_remove(idle, text, sizeof(text));
    ck_assert_int_eq(sscanf(text, "%lf\n%lf\n%n", &first, &second, &n), 2);
    ck_assert_uint_eq((unsigned)n, strlen(text));
    ck_assert_double_ge(first, 1);
    ck_assert_double_ge(second, 1);
}
END_TEST

/* --- binding --- */

/* Starts on machine i with what that prints in the file. */
static void start_printing(int i, const char *path)
{
    int before = dup(STDOUT_FILENO), file = creat(path, 0600);

    ck_assert_int_ge(file, 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    close(file);
    machine_open(i);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
}

START_TEST(bindings_are_printed_at_the_beginning_on_request)
{
    char path[64], text[65536];

    snprintf(path, sizeof(path), "/tmp/orrery-conf-%d-bindings", getpid());
    start_printing(_i, path);
    read_and_remove(path, text, sizeof(text));
    ck_assert_str_eq(text, "");
    starpu_shutdown();
    setenv("STARPU_DISPLAY_BINDINGS", "1", 1);
    start_printing(_i, path);
    read_and_remove(path, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "CPU 0"));
    starpu_shutdown();
}
END_TEST

START_TEST(workers_are_bound_where_the_application_requests)
{
    static const unsigned there_and_back[] = {0, 1, 0};
    int first, second;

    prepare(_i);
    conf.ncpus = 1;
    conf.use_explicit_workers_bindid = 1;
    unsetenv("STARPU_NCPU");
    start();
    first = starpu_worker_get_bindid(0);
    starpu_shutdown();
    conf.workers_bindid[0] = 1;
    if (starpu_init(&conf) != 0)
        SKIP_TEST("this machine has one processor");
    second = starpu_worker_get_bindid(0);
    starpu_shutdown();
    ck_assert_int_ne(first, second);

    conf.ncpus = 3;
    for (unsigned i = 0; i < 3; i++)
        conf.workers_bindid[i] = there_and_back[i];
    start();
    ck_assert_uint_eq(starpu_cpu_worker_get_count(), 3);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(starpu_worker_get_bindid((int)i),
                         there_and_back[i] ? second : first);
    starpu_shutdown();

    setenv("STARPU_WORKERS_CPUID", "1", 1); /* overrules the field */
    start();
    ck_assert_int_eq(starpu_worker_get_bindid(0), second);
    starpu_shutdown();
    conf.precedence_over_environment_variables = 1;
    start();
    ck_assert_int_eq(starpu_worker_get_bindid(0), first);
    starpu_shutdown();
}
END_TEST

/* Processors are numbered by the machine; threads go nowhere else. */
START_TEST(a_mask_holds_for_workers_and_threads)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(1, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        SKIP_TEST("this machine has one processor");
    prepare(_i);
    setenv("STARPU_WORKERS_CPUID", "1", 1);
    start();
    if (!machine_simulated(_i)) {
        ck_assert_int_eq(starpu_worker_get_bindid(0), 1);
        ck_assert_uint_eq(starpu_get_next_bindid(STARPU_THREAD_ACTIVE, NULL, 0),
                          1);
    }
    starpu_shutdown();
    setenv("STARPU_WORKERS_CPUID", "0", 1);
    ck_assert_int_eq(starpu_init(&conf), machine_simulated(_i) ? 0 : -EINVAL);
    if (machine_simulated(_i))
        starpu_shutdown();
}
END_TEST

START_TEST(binding_to_a_processor_that_is_not_there_is_refused)
{
    prepare(_i);
    conf.use_explicit_workers_bindid = 1;
    conf.workers_bindid[1] = 99999;
    ck_assert_int_eq(starpu_init(&conf), -EINVAL);
}
END_TEST

/* --- cost functions per device --- */

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static double cost(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
                   unsigned impl)
{
    (void)impl;
    return task->flops * (1 + arch->devices[0].devid) *
           (arch->devices[0].type == STARPU_CPU_WORKER ? 10 : 1);
}

static double expected(struct starpu_task *task, unsigned worker)
{
    return starpu_task_worker_expected_length(task, worker, 0, 0);
}

START_TEST(a_cost_function_can_be_set_for_each_device)
{
    struct starpu_perfmodel model = {.type = STARPU_PER_ARCH};
    struct starpu_codelet cl = {.cpu_funcs = {nothing},
                                .cuda_funcs = {nothing},
                                .model = &model,
                                .name = "function"};
    struct starpu_task *task;
    double begin;
    int gpu;

    prepare(_i);
    starpu_perfmodel_init(&model);
    starpu_perfmodel_set_per_devices_cost_function(&model, 0, cost,
                                                   STARPU_CPU_WORKER, 0, 1, -1);
    for (int i = 0; i < 3; i++)
        starpu_perfmodel_set_per_devices_cost_function(
            &model, 0, cost, STARPU_CUDA_WORKER, i, 1, -1);
    start();
    task = starpu_task_create();
    task->cl = &cl;
    task->flops = 7;
    task->destroy = task->detach = 0;
    ck_assert_double_eq(expected(task, 0), 70);
    gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 2);
    if (machine_simulated(_i)) {
        ck_assert_double_eq(expected(task, (unsigned)gpu), 21);
        task->execute_on_a_specific_worker = 1;
        task->workerid = (unsigned)gpu;
    }
    begin = starpu_timing_now();
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    if (machine_simulated(_i))
        ck_assert_double_ge(starpu_timing_now() - begin, 21);
    starpu_task_destroy(task);
    starpu_shutdown();
    starpu_perfmodel_deinit(&model);
}
END_TEST

/* --- the calls a policy gets --- */

static struct starpu_task *queued[8];
static unsigned nqueued, nsubmitted, nscheduled;
static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;

static int push(struct starpu_task *task)
{
    STARPU_PTHREAD_MUTEX_LOCK(&mutex);
    queued[nqueued++] = task;
    STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
    return 0;
}

static struct starpu_task *pop(unsigned ctx)
{
    struct starpu_task *task = NULL;

    (void)ctx;
    STARPU_PTHREAD_MUTEX_LOCK(&mutex);
    if (nqueued)
        task = queued[--nqueued];
    STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
    return task;
}

static void submitted(struct starpu_task *task)
{
    ck_assert_ptr_nonnull(task->cl);
    nsubmitted++;
}

static void do_schedule(unsigned ctx)
{
    ck_assert_uint_eq(ctx, 0);
    nscheduled++;
}

static struct starpu_sched_policy policy = {
    .push_task = push,
    .pop_task = pop,
    .submit_hook = submitted,
    .do_schedule = do_schedule,
    .policy_name = "mine",
};

START_TEST(a_policy_hears_of_submissions_and_of_their_end)
{
    struct starpu_codelet cl = {
        .cpu_funcs = {nothing}, .cuda_funcs = {nothing}, .name = "k"};

    prepare(_i);
    conf.sched_policy = &policy;
    start();
    for (int i = 0; i < 3; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        ck_assert_int_eq(starpu_task_submit(task), 0);
        ck_assert_uint_eq(nsubmitted, (unsigned)i + 1);
    }
    ck_assert_uint_eq(nscheduled, 0);
    starpu_do_schedule();
    ck_assert_uint_eq(nscheduled, 1);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(nscheduled, 2);
    starpu_shutdown();
}
END_TEST

static void do_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet quick = {
    .cpu_funcs = {do_nothing}, .model = &starpu_perfmodel_nop, .name = "quick"};
static unsigned nrefused;

static int push_later(struct starpu_task *task)
{
    if (nrefused++ % 3 != 2)
        return -1;
    return push(task);
}

/* Another result but 0 says nothing. */
static int push_with_result(struct starpu_task *task)
{
    return push(task) - 7;
}

START_TEST(a_policy_that_refuses_a_task_is_asked_again)
{
    prepare(_i);
    conf.sched_policy = &policy;
    for (int round = 0; round < 2; round++) {
        policy.push_task = round ? push_with_result : push_later;
        start();
        for (int i = 0; i < 8; i++)
            ck_assert_int_eq(starpu_task_insert(&quick, 0), 0);
        starpu_task_wait_for_all();
        starpu_shutdown();
    }
    ck_assert_uint_eq(nrefused, 3 * 8);
}
END_TEST

static int push_never(struct starpu_task *task)
{
    (void)task;
    return -1;
}

START_TEST(a_policy_that_takes_no_task_ends_the_program)
{
    prepare(0);
    policy.push_task = push_never;
    conf.sched_policy = &policy;
    start();
    (void)starpu_task_insert(&quick, 0);
}
END_TEST

/* --- values of keys --- */

static starpu_pthread_key_t key;

static void *use_key_anew(void *arg)
{
    (void)arg;
    ck_assert_int_eq(starpu_pthread_key_create(&key, NULL), 0);
    ck_assert_ptr_null(starpu_pthread_getspecific(key));
    ck_assert_int_eq(starpu_pthread_setspecific(key, &key), 0);
    ck_assert_ptr_eq(starpu_pthread_getspecific(key), &key);
    starpu_pthread_key_delete(key);
    return NULL;
}

START_TEST(a_new_key_has_no_value_of_an_old_one)
{
    starpu_pthread_t thread;

    machine_open(_i);
    for (int i = 0; i < 3; i++)
        (void)use_key_anew(NULL);
    ck_assert_int_eq(starpu_pthread_create(&thread, NULL, use_key_anew, NULL),
                     0);
    starpu_pthread_join(thread, NULL);
    (void)use_key_anew(NULL);
    starpu_shutdown();
}
END_TEST
static int values[2];

static void forget(void *value)
{
    ++*(int *)value;
}

static void keep(void *buffers[], void *arg)
{
    (void)buffers;
    starpu_pthread_setspecific(key, arg);
}

START_TEST(values_that_kernels_left_end_with_their_worker)
{
    struct starpu_codelet cl = {
        .cpu_funcs = {keep}, .cuda_funcs = {keep}, .name = "k"};
    struct starpu_task *task;

    prepare(_i);
    start();
    ck_assert_int_eq(starpu_pthread_key_create(&key, forget), 0);
    ck_assert_int_eq(starpu_pthread_setspecific(key, &values[0]), 0);
    task = starpu_task_create();
    task->cl = &cl;
    task->cl_arg = &values[1];
    ck_assert_int_eq(starpu_task_submit(task), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(values[1], 0);
    starpu_shutdown();
    ck_assert_int_eq(values[1], 1);
    /* A simulated main loses its values; a real one goes on with them. */
    ck_assert_int_eq(values[0], machine_simulated(_i));
    starpu_pthread_key_delete(key);
}
END_TEST

/* It would hold nobody back, and nobody would know why. */
START_TEST(half_a_limit_of_submission_is_told)
{
    static const char *const names[] = {"STARPU_LIMIT_MAX_SUBMITTED_TASKS",
                                        "STARPU_LIMIT_MIN_SUBMITTED_TASKS"};

    for (int set = 0; set < 4; set++) {
        machine_choose(_i);
        unsetenv("STARPU_SILENT");
        for (int k = 0; k < 2; k++) {
            if (set >> k & 1)
                setenv(names[k], "10", 1);
            else
                unsetenv(names[k]);
        }
        silence_begin();
        ck_assert_int_eq(starpu_init(NULL), 0);
        ck_assert_int_eq(strstr(silence_end(), "no effect unless") != NULL,
                         set == 1 || set == 2);
        starpu_shutdown();
    }
}
END_TEST

/* --- before and after a run --- */

static atomic_int order;

static void note_order(void *buffers[], void *arg)
{
    (void)buffers;
    *(int *)arg = 1 + atomic_fetch_add(&order, 1);
}

static struct starpu_codelet notes = {
    .cpu_funcs = {note_order}, .model = &starpu_perfmodel_nop, .name = "notes"};

static struct starpu_task *noting(int *place, starpu_tag_t tag)
{
    struct starpu_task *task = starpu_task_create();

    ck_assert_ptr_nonnull(task);
    task->cl = &notes;
    task->cl_arg = place;
    task->cl_arg_size = sizeof(place);
    task->destroy = 0;
    task->use_tag = tag != 0;
    task->tag_id = tag;
    return task;
}

/* Tags, tasks and their dependencies are there before the run, with an event that the
 * program does not wait for and a task that it gives up; tasks are read and destroyed
 * after it. */
START_TEST(tasks_and_tags_outlive_runs)
{
    struct starpu_task *tasks[5], own, *copy;
    starpu_tag_t before[] = {3, 4};
    int places[5] = {0};

    machine_choose(_i);
    for (int round = 0; round < 3; round++) {
        order = 0;
        memset(places, 0, sizeof(places));
        for (int t = 0; t < 5; t++)
            tasks[t] = noting(&places[t], (starpu_tag_t)t + 1);
        starpu_task_init(&own);
        starpu_tag_declare_deps(4, 1, (starpu_tag_t)98);
        starpu_tag_remove(4);
        starpu_tag_declare_deps_array(1, 2, before);
        starpu_tag_declare_deps(2, 1, (starpu_tag_t)1);
        starpu_tag_declare_deps(3, 1, (starpu_tag_t)99);
        starpu_tag_notify_from_apps(99);
        ck_assert_ptr_null(starpu_tag_get_task(1));
        starpu_task_declare_deps(tasks[3], 2, tasks[2], tasks[4]);
        starpu_task_declare_deps(tasks[2], 1, tasks[4]);
        starpu_task_destroy(tasks[4]);
        copy = starpu_task_dup(tasks[2]);
        ck_assert_ptr_eq(copy->cl_arg, &places[2]);
        starpu_task_destroy(copy);
        starpu_task_clean(&own);

        ck_assert_int_eq(starpu_init(NULL), 0);
        for (int t = 0; t < 4; t++)
            ck_assert_int_eq(starpu_task_submit(tasks[t]), 0);
        ck_assert_int_eq(starpu_task_wait_for_all(), 0);
        starpu_shutdown();

        ck_assert_int_eq(places[2], 1);
        ck_assert_int_eq(places[3], 2);
        ck_assert_int_eq(places[0], 3);
        ck_assert_int_eq(places[1], 4);
        for (int t = 0; t < 4; t++) {
            ck_assert_ptr_eq(tasks[t]->cl_arg, &places[t]);
            ck_assert_int_eq(tasks[t]->status, STARPU_TASK_FINISHED);
        }
        /* One is left to the next run, and to the end. */
        ck_assert_int_eq(starpu_init(NULL), 0);
        starpu_task_destroy(tasks[0]);
        tasks[1]->use_tag = 0;
        ck_assert_int_eq(starpu_task_submit(tasks[1]), 0);
        ck_assert_int_eq(starpu_task_wait_for_all(), 0);
        starpu_shutdown();
        ck_assert_int_eq(places[1], 5);
        for (int t = 1; t < 4; t++)
            starpu_task_destroy(tasks[t]);
    }
}
END_TEST

/* Many more than a cache of free tasks has, so that runs find memory of others. */
START_TEST(many_tasks_are_made_outside_of_runs)
{
    enum { MANY = 5000 };
    static struct starpu_task *tasks[MANY];
    int place;

    machine_choose(_i);
    for (int round = 0; round < 3; round++) {
        order = 0;
        for (int t = 0; t < MANY; t++) {
            tasks[t] = noting(&place, 0);
            tasks[t]->destroy = t % 3 == 0;
        }
        ck_assert_int_eq(starpu_init(NULL), 0);
        for (int t = 0; t < MANY; t++)
            ck_assert_int_eq(starpu_task_submit(tasks[t]), 0);
        starpu_shutdown();
        ck_assert_int_eq(order, MANY);
        for (int t = 0; t < MANY; t++)
            if (t % 3)
                starpu_task_destroy(tasks[t]);
    }
}
END_TEST

static void *make_and_destroy(void *arg)
{
    for (int i = 0; i < 500; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl_arg = arg;
        starpu_tag_declare_deps(1000, 1, (starpu_tag_t)(2000 + i));
        starpu_tag_remove(1000);
        starpu_task_destroy(task);
    }
    return NULL;
}

START_TEST(threads_make_tasks_outside_of_runs)
{
    pthread_t threads[3];

    machine_choose(_i);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, make_and_destroy, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

START_TEST(data_of_no_machine_may_come_before_the_run)
{
    starpu_data_handle_t event, dropped, h;
    struct starpu_task *first, *second;
    int places[2] = {0}, value = 3;

    machine_choose(_i);
    starpu_data_set_default_sequential_consistency_flag(0);
    ck_assert_uint_eq(starpu_data_get_default_sequential_consistency_flag(), 0);
    starpu_void_data_register(&dropped);
    starpu_data_unregister(dropped);
    starpu_void_data_register(&event);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(starpu_init(NULL), 0);
        ck_assert_uint_eq(starpu_data_get_default_sequential_consistency_flag(),
                          0);
        starpu_variable_data_register(&h, 0, (uintptr_t)&value, sizeof(value));
        ck_assert_uint_eq(starpu_data_get_sequential_consistency_flag(h), 0);
        starpu_data_unregister(h);
        if (round == 0) {
            order = 0;
            starpu_data_set_sequential_consistency_flag(event, 1);
            first = noting(&places[0], 0);
            second = noting(&places[1], 0);
            notes.nbuffers = STARPU_VARIABLE_NBUFFERS;
            first->nbuffers = second->nbuffers = 1;
            first->handles[0] = second->handles[0] = event;
            first->modes[0] = second->modes[0] = STARPU_RW;
            ck_assert_int_eq(starpu_task_submit(first), 0);
            ck_assert_int_eq(starpu_task_submit(second), 0);
            starpu_data_unregister(event);
            ck_assert_int_eq(places[0], 1);
            ck_assert_int_eq(places[1], 2);
            starpu_task_destroy(first);
            starpu_task_destroy(second);
            starpu_void_data_register(&event);
            starpu_data_unregister_submit(event);
        }
        starpu_shutdown();
    }
}
END_TEST

SUITE_MAIN(conf)
{
    Suite *suite = suite_create("conf");
    TCase *tc = tcase_create("machines");
    int n = NMACHINES;

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, the_range_of_priorities_can_be_given, 0, n);
    tcase_add_loop_test(tc, the_callback_finds_the_policy_set_up, 0, n);
    tcase_add_loop_test(tc, the_application_is_told_who_sleeps, 0, n);
    tcase_add_loop_test(tc, who_is_told_can_change_later, 0, n);
    tcase_add_loop_test(tc, pauses_are_those_of_the_environment, 0, n);
    tcase_add_loop_test(tc, statistics_of_workers_are_printed_at_the_end, 0, n);
    tcase_add_loop_test(tc, signals_are_the_programs_where_it_says_so, 0, n);
    tcase_add_loop_test(tc, bindings_are_printed_at_the_beginning_on_request, 0,
                        n);
    tcase_add_loop_test(tc, workers_are_bound_where_the_application_requests, 0,
                        FIRST_SIMULATED);
    tcase_add_loop_test(tc, a_mask_holds_for_workers_and_threads, 0, n);
    tcase_add_loop_test(tc, binding_to_a_processor_that_is_not_there_is_refused,
                        0, FIRST_SIMULATED);
    tcase_add_loop_test(tc, a_cost_function_can_be_set_for_each_device, 0, n);
    tcase_add_loop_test(tc, a_policy_hears_of_submissions_and_of_their_end, 0,
                        n);
    tcase_add_loop_test(tc, a_policy_that_refuses_a_task_is_asked_again, 0, n);
    tcase_add_exit_test(tc, a_policy_that_takes_no_task_ends_the_program, 1);
    tcase_add_loop_test(tc, a_new_key_has_no_value_of_an_old_one, 0, n);
    tcase_add_loop_test(tc, values_that_kernels_left_end_with_their_worker, 0,
                        n);
    tcase_add_loop_test(tc, half_a_limit_of_submission_is_told, 0, n);
    tcase_add_loop_test(tc, tasks_and_tags_outlive_runs, 0, n);
    tcase_add_loop_test(tc, many_tasks_are_made_outside_of_runs, 0, n);
    tcase_add_loop_test(tc, threads_make_tasks_outside_of_runs, 0, n);
    tcase_add_loop_test(tc, data_of_no_machine_may_come_before_the_run, 0, n);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-extras.c - tasks that may fail, transactions, bundles, tasks
 * that are destroyed on request, who is told what comes, the watchdog.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

static void submit(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

/* --- tasks that may fail --- */

static atomic_int ntries, nchecks, seen;

/* Fails until it was tried so often as its argument says. */
static void try_to(void *buffers[], void *arg)
{
    int *value = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);

    if (atomic_fetch_add(&ntries, 1) + 1 < *(int *)arg)
        starpu_task_ft_failed(starpu_task_get_current());
    else
        *value = 42;
}

static struct starpu_codelet cl_try = {
    .cpu_funcs = {try_to},
    .cuda_funcs = {try_to},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .name = "k",
};

static void read_value(void *buffers[], void *arg)
{
    (void)arg;
    atomic_store(&seen, *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]));
}

static struct starpu_codelet cl_read = {
    .cpu_funcs = {read_value},
    .cuda_funcs = {read_value},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "k",
};

static void check(void *arg)
{
    struct starpu_task *meta = arg, *task = starpu_task_get_current();

    atomic_fetch_add(&nchecks, 1);
    if (!task->failed) {
        starpu_task_ft_success(meta);
        return;
    }
    task = starpu_task_ft_create_retry(meta, task, check);
    ck_assert_int_eq(starpu_task_submit_nodeps(task), 0);
}

START_TEST(a_task_that_failed_is_tried_again)
{
    int value = 0, needed = 11;
    starpu_data_handle_t handle;

    machine_open(_i);
    for (int own = 0; own < 2; own++) {
        ntries = nchecks = seen = value = 0;
        starpu_variable_data_register(&handle, STARPU_MAIN_RAM,
                                      (uintptr_t)&value, sizeof(value));
        ck_assert_int_eq(starpu_task_insert(
                             &cl_try, STARPU_W, handle, STARPU_CL_ARGS_NFREE,
                             &needed, sizeof(needed), STARPU_PROLOGUE_CALLBACK,
                             &starpu_task_ft_prologue,
                             STARPU_PROLOGUE_CALLBACK_ARG_NFREE,
                             own ? (void *)&check : NULL, 0),
                         0);
        /* No successor begins before one has succeeded. */
        ck_assert_int_eq(starpu_task_insert(&cl_read, STARPU_R, handle, 0), 0);
        starpu_data_unregister(handle);
        ck_assert_int_eq(value, 42);
        ck_assert_int_eq(seen, 42);
        ck_assert_int_eq(ntries, 11);
        ck_assert_int_eq(nchecks, own ? 11 : 0);
    }
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

/* --- transactions --- */

static atomic_int nstarts, nran, nbuffers;

static int is_even(void *buffer, void *arg)
{
    ck_assert_ptr_null(buffer);
    atomic_fetch_add(&nstarts, 1);
    return (intptr_t)arg % 2 == 0;
}

static void run(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&nran, 1);
    atomic_store(&nbuffers, starpu_task_get_current()->nbuffers);
}

static struct starpu_codelet cl_any = {
    .cpu_funcs = {run},
    .cuda_funcs = {run},
    .nbuffers = STARPU_VARIABLE_NBUFFERS,
    .name = "k",
};

static void count(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void insert_ten(struct starpu_transaction *transaction,
                       starpu_data_handle_t handle, atomic_int *called)
{
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(starpu_task_insert(&cl_any, STARPU_R, handle,
                                            STARPU_TRANSACTION, transaction,
                                            STARPU_CALLBACK_WITH_ARG_NFREE,
                                            count, called, 0),
                         0);
}

START_TEST(every_other_epoch_of_a_transaction_is_cancelled)
{
    struct starpu_transaction *transaction;
    atomic_int called = 0;
    starpu_data_handle_t handle;
    int value = 0;

    machine_open(_i);
    nstarts = nran = 0;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    transaction = starpu_transaction_open(is_even, (void *)(intptr_t)0);
    if (starpu_cpu_worker_get_count() == 0) {
        ck_assert_ptr_null(transaction); /* nobody could ask */
        starpu_data_unregister(handle);
        starpu_shutdown();
        return;
    }
    ck_assert_ptr_nonnull(transaction);
    for (int epoch = 0; epoch < 6; epoch++) {
        if (epoch > 0)
            starpu_transaction_next_epoch(transaction, (void *)(intptr_t)epoch);
        insert_ten(transaction, handle, &called);
    }
    starpu_transaction_close(transaction);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nstarts, 6);
    ck_assert_int_eq(nran, 30);
    ck_assert_int_eq(called, 60);
    ck_assert_int_eq(nbuffers, 2);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(tasks_of_a_transaction_need_room_for_its_data)
{
    static struct starpu_codelet fixed = {
        .cpu_funcs = {run}, .cuda_funcs = {run}, .nbuffers = 0, .name = "k"};
    struct starpu_transaction *transaction;
    struct starpu_task *task;
    int n;

    machine_open(_i);
    nran = 0;
    transaction = starpu_transaction_open(NULL, NULL);
    if (transaction) {
        task = starpu_task_create();
        task->cl = &fixed;
        task->transaction = transaction;
        ck_assert_int_eq(starpu_task_submit(task), -EINVAL);
        task->cl = &cl_any;         /* without data of its own */
        starpu_task_wait_for_all(); /* the first one may still be ending */
        starpu_pause();
        submit(task);
        n = starpu_task_nsubmitted();
        starpu_transaction_close(transaction);
        ck_assert_int_eq(starpu_task_nsubmitted(), n + 1); /* its last task */
        starpu_resume();
        starpu_task_wait_for_all();
        ck_assert_int_eq(nran, 1);
        ck_assert_int_eq(nbuffers, 1);
    }
    starpu_shutdown();
}
END_TEST

/* A policy under which a task has ended when its submission returns. */
static struct starpu_task_list pushed;
static starpu_pthread_mutex_t pushed_lock;

static void pushed_init(unsigned ctx)
{
    (void)ctx;
    starpu_task_list_init(&pushed);
    starpu_pthread_mutex_init(&pushed_lock, NULL);
}

static int push_and_wait(struct starpu_task *task)
{
    starpu_pthread_mutex_lock(&pushed_lock);
    starpu_task_list_push_back(&pushed, task);
    starpu_pthread_mutex_unlock(&pushed_lock);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        starpu_wake_worker_relax_light(w);
    while (starpu_task_nsubmitted() > 0)
        sched_yield();
    return 0;
}

static struct starpu_task *pop_pushed(unsigned ctx)
{
    struct starpu_task *task;

    (void)ctx;
    starpu_pthread_mutex_lock(&pushed_lock);
    task = starpu_task_list_empty(&pushed)
               ? NULL
               : starpu_task_list_pop_front(&pushed);
    starpu_pthread_mutex_unlock(&pushed_lock);
    return task;
}

static struct starpu_sched_policy ending = {.init_sched = pushed_init,
                                            .push_task = push_and_wait,
                                            .pop_task = pop_pushed,
                                            .policy_name = "ending"};

/* The sanitizer sees whether the call uses the transaction after the last task, which
 * frees it. */
START_TEST(a_transaction_may_have_ended_when_its_close_returns)
{
    struct starpu_transaction *transaction;
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.sched_policy = &ending;
    conf.ncpus = 2;
    conf.ncuda = conf.nopencl = conf.nhip = 0;
    if (starpu_init(&conf) != 0)
        SKIP_TEST("no processor");
    transaction = starpu_transaction_open(NULL, NULL);
    ck_assert_ptr_nonnull(transaction);
    starpu_transaction_close(transaction);
    starpu_shutdown();
}
END_TEST

/* --- destroyed on request --- */

static struct starpu_codelet cl_run = {
    .cpu_funcs = {run}, .cuda_funcs = {run}, .nbuffers = 0, .name = "k"};

/* Its argument is freed with it: the sanitizer and valgrind see whether. */
START_TEST(a_task_is_destroyed_when_that_is_wanted_late)
{
    machine_open(_i);
    for (int late = 0; late < 2; late++) {
        struct starpu_task *task = starpu_task_create();

        task->destroy = 0;
        task->cl = &cl_run;
        task->cl_arg = malloc(100);
        task->cl_arg_free = 1;
        task->use_tag = 1;
        task->tag_id = 7;
        starpu_task_end_dep_add(task, 1);
        submit(task);
        ck_assert_ptr_eq(starpu_tag_get_task((starpu_tag_t)7), task);
        if (!late)
            starpu_task_set_destroy(task);
        starpu_task_end_dep_release(task);
        starpu_task_wait_for_all();
        if (late)
            starpu_task_set_destroy(task);
        /* Only then does the tag not know it any more. */
        ck_assert_ptr_null(starpu_tag_get_task((starpu_tag_t)7));
    }
    starpu_shutdown();
}
END_TEST

START_TEST(where_a_task_was_submitted_is_noted)
{
    struct starpu_task *task;

    machine_open(_i);
    task = starpu_task_create();
    task->destroy = task->detach = 0;
    ck_assert_int_eq(starpu_task_submit_line(task, "here.c", 12), 0);
    ck_assert_str_eq(task->file, "here.c");
    ck_assert_int_eq(task->line, 12);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

START_TEST(tasks_are_cleaned_after_the_end)
{
    static struct starpu_task task;

    machine_open(_i);
    starpu_task_init(&task);
    task.cl = &cl_run;
    task.cl_arg = malloc(1);
    task.cl_arg_free = 1;
    submit(&task);
    starpu_task_wait_for_all();
    starpu_shutdown();
    starpu_task_clean(&task);
    starpu_task_clean(&task);
    ck_assert_ptr_null(task.starpu_private);
    free(task.cl_arg);
}
END_TEST

/* --- bundles --- */

static double micros(struct starpu_task *task, unsigned worker, unsigned impl)
{
    (void)impl;
    /* The small ones are quicker on the last worker, the large one is not. */
    if ((intptr_t)task->cl_arg == 0)
        return worker == 0 ? 100 : 90;
    return worker == 0 ? 100 : 1000;
}

static double joules(struct starpu_task *task, unsigned worker, unsigned impl)
{
    (void)task;
    (void)worker;
    (void)impl;
    return 3;
}

static struct starpu_perfmodel model = {.type = STARPU_PER_WORKER,
                                        .worker_cost_function = micros};
static struct starpu_perfmodel energy_model = {.type = STARPU_PER_WORKER,
                                               .worker_cost_function = joules};

static struct starpu_codelet cl_model = {
    .cpu_funcs = {run},
    .cuda_funcs = {run},
    .nbuffers = 0,
    .model = &model,
    .energy_model = &energy_model,
    .name = "k",
};

static struct starpu_task *new_modelled(int large)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl_model;
    task->cl_arg = (void *)(intptr_t)large;
    task->destroy = 0;
    task->detach = 0;
    return task;
}

START_TEST(a_bundle_has_members_until_it_is_closed)
{
    starpu_task_bundle_t bundle, other;
    struct starpu_task *tasks[3];
    struct starpu_perfmodel_arch *arch;

    machine_open(_i);
    arch = starpu_worker_get_perf_archtype(0, 0);
    starpu_task_bundle_create(&bundle);
    starpu_task_bundle_create(&other);
    for (int i = 0; i < 3; i++) {
        tasks[i] = new_modelled(0);
        ck_assert_int_eq(starpu_task_bundle_insert(bundle, tasks[i]), 0);
        ck_assert_ptr_eq(tasks[i]->bundle, bundle);
    }
    ck_assert_int_eq(starpu_task_bundle_insert(other, tasks[0]), -EINVAL);
    ck_assert_double_eq(starpu_task_bundle_expected_length(bundle, arch, 0),
                        300);
    ck_assert_double_eq(starpu_task_bundle_expected_energy(bundle, arch, 0), 9);
    ck_assert_int_eq(starpu_task_bundle_remove(bundle, tasks[2]), 0);
    ck_assert_ptr_null(tasks[2]->bundle);
    ck_assert_int_eq(starpu_task_bundle_remove(bundle, tasks[2]), -ENOENT);
    ck_assert_double_eq(starpu_task_bundle_expected_length(bundle, arch, 0),
                        200);
    submit(tasks[0]);
    ck_assert_int_eq(starpu_task_wait(tasks[0]), 0);
    /* What was placed is not to be placed any more. */
    ck_assert_double_eq(starpu_task_bundle_expected_length(bundle, arch, 0),
                        100);
    ck_assert_double_eq(starpu_task_bundle_expected_energy(bundle, arch, 0), 6);
    ck_assert_int_eq(starpu_task_bundle_insert(other, tasks[0]), -EINVAL);
    starpu_task_bundle_close(bundle);
    ck_assert_int_eq(starpu_task_bundle_insert(bundle, tasks[2]), -EPERM);
    starpu_task_bundle_close(other);
    starpu_task_destroy(tasks[0]);
    starpu_task_destroy(tasks[2]);
    submit(tasks[1]);
    ck_assert_int_eq(starpu_task_wait(tasks[1]), 0);
    starpu_task_destroy(tasks[1]); /* the last one: the bundle goes with it */
    starpu_shutdown();
}
END_TEST

START_TEST(a_bundle_reads_each_datum_once)
{
    static struct starpu_codelet cl_data = {
        .cpu_funcs = {run},
        .cuda_funcs = {run},
        .nbuffers = 2,
        .modes = {STARPU_R, STARPU_RW},
        .name = "k",
    };
    static float values[2][1 << 16];
    starpu_data_handle_t handles[2];
    starpu_task_bundle_t bundle;
    struct starpu_task *tasks[2];
    double one = 0, sum;
    unsigned node;

    machine_open(_i);
    node = starpu_memory_nodes_get_count() - 1;
    starpu_task_bundle_create(&bundle);
    for (int i = 0; i < 2; i++)
        starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
                                    (uintptr_t)values[i], 1 << 16,
                                    sizeof(float));
    for (int i = 0; i < 2; i++) {
        tasks[i] = starpu_task_create();
        tasks[i]->cl = &cl_data;
        tasks[i]->destroy = 0;
        tasks[i]->handles[0] = handles[i];
        tasks[i]->handles[1] = handles[1 - i];
        ck_assert_int_eq(starpu_task_bundle_insert(bundle, tasks[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        one += starpu_data_expected_transfer_time(handles[i], node, STARPU_R);
    sum = starpu_task_bundle_expected_data_transfer_time(bundle, node);
    ck_assert_double_eq_tol(sum, one, 1e-6);
    if (node > 0)
        ck_assert_double_gt(sum, 0);
    starpu_task_bundle_close(bundle);
    for (int i = 0; i < 2; i++)
        starpu_task_destroy(tasks[i]);
    for (int i = 0; i < 2; i++)
        starpu_data_unregister(handles[i]);
    starpu_shutdown();
}
END_TEST

/* The first alone would be quickest on the last worker, where the second takes
 * long: dm keeps both in mind. */
START_TEST(dm_places_a_bundle_as_one)
{
    struct starpu_task *tasks[2];
    starpu_task_bundle_t bundle;

    for (int together = 0; together < 2; together++) {
        machine_choose(_i);
        setenv("STARPU_SCHED", "dmda", 1);
        ck_assert_int_eq(starpu_init(NULL), 0);
        starpu_task_bundle_create(&bundle);
        for (int i = 0; i < 2; i++) {
            tasks[i] = new_modelled(i);
            if (together)
                ck_assert_int_eq(starpu_task_bundle_insert(bundle, tasks[i]),
                                 0);
        }
        starpu_task_bundle_close(bundle);
        starpu_pause();
        submit(tasks[0]);
        starpu_resume();
        ck_assert_int_eq(starpu_task_wait(tasks[0]), 0);
        if (together)
            ck_assert_uint_eq(tasks[0]->workerid, 0);
        else if (machine_simulated(_i)) /* CPU workers alone are all alike */
            ck_assert_uint_ne(tasks[0]->workerid, 0);
        for (int i = 0; i < 2; i++) {
            if (i)
                submit(tasks[i]);
            if (i)
                ck_assert_int_eq(starpu_task_wait(tasks[i]), 0);
            starpu_task_destroy(tasks[i]);
        }
        starpu_shutdown();
    }
}
END_TEST

/* --- what comes soon --- */

static struct starpu_task *told[8];
static double delays[8];
static atomic_int ntold;
static struct timespec expected[STARPU_NMAXWORKERS];
static double now_at_start;

static void tell(void *data, struct starpu_task *task, double delay)
{
    int i = atomic_fetch_add(&ntold, 1);

    ck_assert_ptr_eq(data, told);
    told[i] = task;
    delays[i] = delay;
}

static void note_end(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    now_at_start = starpu_timing_now();
    starpu_worker_get_current_task_exp_end((unsigned)starpu_worker_get_id(),
                                           &expected[starpu_worker_get_id()]);
}

static double always_70(struct starpu_task *task, unsigned worker,
                        unsigned impl)
{
    (void)task;
    (void)worker;
    (void)impl;
    return 70;
}

static struct starpu_perfmodel model_70 = {.type = STARPU_PER_WORKER,
                                           .worker_cost_function = always_70};
static struct starpu_codelet cl_70 = {
    .cpu_funcs = {note_end},
    .nbuffers = 0,
    .model = &model_70,
    .name = "k",
};
static struct starpu_codelet cl_data_70 = {
    .cpu_funcs = {run},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .model = &model_70,
    .name = "k",
};

START_TEST(who_registered_is_told_what_will_be_ready_soon)
{
    struct starpu_task *first, *between, *second;
    starpu_data_handle_t handle;
    int value = 0;

    machine_choose(_i);
    setenv("STARPU_SCHED", "dmda", 1);
    if (!strcmp(machine_ncpus(), "0"))
        return;
    ck_assert_int_eq(starpu_init(NULL), 0);
    ntold = 0;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    starpu_task_notify_ready_soon_register(tell, told);
    first = starpu_task_create();
    between = starpu_task_create();
    second = starpu_task_create();
    first->cl = second->cl = &cl_70;
    starpu_task_declare_deps(between, 1, first);
    starpu_task_declare_deps(second, 1, between);
    submit(second);
    submit(between);
    submit(first);
    starpu_task_wait_for_all();
    ck_assert_int_eq(ntold, 1); /* by way of one that does nothing */
    ck_assert_ptr_eq(told[0], second);
    ck_assert_double_gt(delays[0], 0);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(starpu_task_insert(&cl_data_70, STARPU_RW, handle, 0),
                         0);
    starpu_data_release(handle);
    starpu_task_wait_for_all();
    ck_assert_int_eq(ntold, 2);
    starpu_task_notify_ready_soon_register(NULL, NULL);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(starpu_task_insert(&cl_data_70, STARPU_RW, handle, 0),
                         0);
    starpu_data_unregister(handle);
    starpu_task_wait_for_all();
    ck_assert_int_eq(ntold, 2);
    starpu_shutdown();
}
END_TEST

START_TEST(a_worker_knows_when_its_task_ends)
{
    struct timespec none;
    unsigned worker;
    double us;

    machine_choose(_i);
    setenv("STARPU_SCHED", "dmda", 1);
    if (!strcmp(machine_ncpus(), "0"))
        return;
    ck_assert_int_eq(starpu_init(NULL), 0);
    memset(expected, 0, sizeof(expected));
    ck_assert_int_eq(starpu_task_insert(&cl_70, STARPU_TASK_SYNCHRONOUS, 1, 0),
                     0);
    for (worker = 0; worker < starpu_worker_get_count(); worker++)
        if (expected[worker].tv_sec || expected[worker].tv_nsec)
            break;
    ck_assert_uint_lt(worker, starpu_worker_get_count());
    us = starpu_timing_timespec_to_us(&expected[worker]);
    ck_assert_double_gt(us, now_at_start - 1e6);
    ck_assert_double_le(us, now_at_start + 70.1);
    starpu_worker_get_current_task_exp_end(worker, &none);
    ck_assert_double_eq(starpu_timing_timespec_to_us(&none), 0);
    starpu_shutdown();
}
END_TEST

/* --- for debugging --- */

static atomic_int barks;

static void bark(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* Ends when the watchdog has barked twice: without it the test hangs. */
static void wait_for_bark(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    while (atomic_load(&barks) < 2)
        sched_yield();
}

static struct starpu_codelet cl_slow = {
    .cpu_funcs = {wait_for_bark},
    .cuda_funcs = {wait_for_bark},
    .nbuffers = 0,
    .name = "k",
};

START_TEST(the_watchdog_barks_when_no_task_ends)
{
    barks = 0;
    setenv("STARPU_WATCHDOG_TIMEOUT", "1000", 1);
    setenv("STARPU_WATCHDOG_DELAY", "10", 1);
    starpu_task_watchdog_set_hook(bark, &barks);
    machine_open(_i);
    ck_assert_int_eq(starpu_task_insert(&cl_slow, 0), 0);
    starpu_task_wait_for_all();
    ck_assert_int_ge(barks, 2);
    starpu_shutdown();
    starpu_task_watchdog_set_hook(NULL, NULL);
}
END_TEST

START_TEST(kernels_are_disabled_on_request)
{
    atomic_int called = 0;

    nran = 0;
    setenv("STARPU_DISABLE_KERNELS", "1", 1);
    machine_open(_i);
    ck_assert_int_eq(starpu_task_insert(&cl_run, STARPU_CALLBACK_WITH_ARG_NFREE,
                                        count, &called, 0),
                     0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nran, 0);
    ck_assert_int_eq(called, 1);
    starpu_shutdown();
}
END_TEST

static volatile sig_atomic_t ntraps;

static void trapped(int sig)
{
    (void)sig;
    ntraps++;
}

START_TEST(a_task_stops_for_the_debugger)
{
    static const char *const names[] = {
        "STARPU_TASK_BREAK_ON_PUSH", "STARPU_TASK_BREAK_ON_POP",
        "STARPU_TASK_BREAK_ON_EXEC", "STARPU_TASK_BREAK_ON_SCHED"};

    for (int n = 0; n < 4; n++) {
        struct starpu_task *task;

        ntraps = 0;
        setenv(names[n], "2", 1);
        machine_open(_i);
        signal(SIGTRAP, trapped);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(starpu_task_insert(&cl_run, 0), 0);
        starpu_task_wait_for_all();
        if (n < 3)
            ck_assert_int_eq(ntraps, 1);
        ntraps = 0;
        task = starpu_task_create(); /* number 4 */
        task->cl = &cl_run;
        task->destroy = task->detach = 0;
        submit(task);
        ck_assert_int_eq(starpu_task_wait(task), 0);
        starpu_sched_task_break(task);
        starpu_task_destroy(task);
        ck_assert_int_eq(ntraps, 0);
        signal(SIGTRAP, SIG_DFL);
        starpu_shutdown();
        unsetenv(names[n]);
    }
    setenv("STARPU_TASK_BREAK_ON_SCHED", "1", 1);
    machine_open(_i);
    signal(SIGTRAP, trapped);
    ntraps = 0;
    {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl_run;
        task->destroy = task->detach = 0;
        submit(task);
        ck_assert_int_eq(starpu_task_wait(task), 0);
        ntraps = 0;
        starpu_sched_task_break(task); /* as a policy does */
        ck_assert_int_eq(ntraps, 1);
        starpu_task_destroy(task);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(words_are_changed_atomically)
{
    unsigned word = 5;
    unsigned long longer = 5;
    uint64_t longest = 5;

    ck_assert_uint_eq(starpu_atomic_add(&word, 3), 8);
    ck_assert_uint_eq(starpu_atomic_or(&word, 7), 15);
    ck_assert_uint_eq(word, 15);
    ck_assert_uint_eq(starpu_atomic_addl(&longer, 3), 8);
    ck_assert_uint_eq(starpu_atomic_orl(&longer, 7), 15);
    ck_assert_uint_eq(longer, 15);
    ck_assert_uint_eq(starpu_atomic_add64(&longest, UINT64_C(1) << 40),
                      (UINT64_C(1) << 40) + 5);
    ck_assert_uint_eq(starpu_atomic_or64(&longest, 2), (UINT64_C(1) << 40) + 7);
}
END_TEST

SUITE_MAIN(extras)
{
    Suite *suite = suite_create("extras");
    TCase *each = tcase_create("on each machine");
    TCase *once = tcase_create("once");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, once);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(a_task_that_failed_is_tried_again);
    EACH(every_other_epoch_of_a_transaction_is_cancelled);
    EACH(tasks_of_a_transaction_need_room_for_its_data);
    tcase_add_test(once, a_transaction_may_have_ended_when_its_close_returns);
    EACH(a_task_is_destroyed_when_that_is_wanted_late);
    EACH(where_a_task_was_submitted_is_noted);
    EACH(tasks_are_cleaned_after_the_end);
    EACH(a_bundle_has_members_until_it_is_closed);
    EACH(a_bundle_reads_each_datum_once);
    EACH(dm_places_a_bundle_as_one);
    EACH(who_registered_is_told_what_will_be_ready_soon);
    EACH(a_worker_knows_when_its_task_ends);
    EACH(the_watchdog_barks_when_no_task_ends);
    EACH(kernels_are_disabled_on_request);
    EACH(a_task_stops_for_the_debugger);
    tcase_add_test(once, words_are_changed_atomically);
    return suite_main(suite);
}

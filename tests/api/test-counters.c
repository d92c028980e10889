/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-counters.c - performance counters count what happens, and knobs
 * change it.
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"

/* --- names --- */

/* shows starpu_perf_counter_nb, starpu_perf_knob_nb */
START_TEST(what_there_is_has_names_and_numbers)
{
    static const struct {
        enum starpu_perf_counter_scope scope;
        const char *name;
        int n;
        const char *counter;
    } scopes[] = {
        {starpu_perf_counter_scope_global, "global", 3,
         "starpu.task.g_total_submitted"},
        {starpu_perf_counter_scope_per_worker, "per_worker", 2,
         "starpu.task.w_total_executed"},
        {starpu_perf_counter_scope_per_codelet, "per_codelet", 5,
         "starpu.task.c_total_submitted"},
    };

    machine_open(_i);
    for (int s = 0; s < 3; s++) {
        int id =
            starpu_perf_counter_name_to_id(scopes[s].scope, scopes[s].counter);

        ck_assert_int_eq(starpu_perf_counter_scope_name_to_id(scopes[s].name),
                         (int)scopes[s].scope);
        ck_assert_str_eq(starpu_perf_counter_scope_id_to_name(scopes[s].scope),
                         scopes[s].name);
        ck_assert_int_eq(starpu_perf_counter_nb(scopes[s].scope), scopes[s].n);
        ck_assert_int_eq(starpu_perf_counter_nth_to_id(scopes[s].scope, 0), id);
        ck_assert_int_eq(id, (int)scopes[s].scope);
        ck_assert_int_eq(starpu_perf_counter_nth_to_id(scopes[s].scope, 1),
                         1 << 4 | id);
        ck_assert_str_eq(starpu_perf_counter_id_to_name(id), scopes[s].counter);
        ck_assert_int_eq(starpu_perf_counter_get_type_id(id),
                         starpu_perf_counter_type_int64);
        ck_assert_uint_gt(strlen(starpu_perf_counter_get_help_string(id)), 5);
    }
    ck_assert_int_eq(starpu_perf_counter_scope_name_to_id("x"), -1);
    ck_assert_ptr_null(starpu_perf_counter_scope_id_to_name(
        starpu_perf_counter_scope_undefined));
    ck_assert_int_eq(starpu_perf_counter_type_name_to_id("double"),
                     starpu_perf_counter_type_double);
    ck_assert_int_eq(starpu_perf_counter_type_name_to_id("x"), -1);
    ck_assert_str_eq(
        starpu_perf_counter_type_id_to_name(starpu_perf_counter_type_int32),
        "int32");
    ck_assert_int_eq(
        starpu_perf_counter_name_to_id(starpu_perf_counter_scope_global, "x"),
        -1);
    ck_assert_ptr_null(starpu_perf_counter_id_to_name(12345));
    ck_assert_int_eq(starpu_perf_knob_scope_name_to_id("per_scheduler"),
                     starpu_perf_knob_scope_per_scheduler);
    ck_assert_str_eq(
        starpu_perf_knob_scope_id_to_name(starpu_perf_knob_scope_global),
        "global");
    ck_assert_int_eq(starpu_perf_knob_type_name_to_id("float"),
                     starpu_perf_knob_type_float);
    ck_assert_str_eq(
        starpu_perf_knob_type_id_to_name(starpu_perf_knob_type_int64), "int64");
    ck_assert_int_eq(starpu_perf_knob_nb(starpu_perf_knob_scope_per_scheduler),
                     6);
    ck_assert_str_eq(starpu_perf_knob_id_to_name(starpu_perf_knob_nth_to_id(
                         starpu_perf_knob_scope_per_worker, 1)),
                     "starpu.worker.w_enable_worker_knob");
    ck_assert_int_eq(
        starpu_perf_knob_get_type_id(starpu_perf_knob_name_to_id(
            starpu_perf_knob_scope_per_scheduler, "starpu.dmda.s_beta_knob")),
        starpu_perf_knob_type_double);
    ck_assert_uint_gt(
        strlen(starpu_perf_knob_get_help_string(
            starpu_perf_knob_nth_to_id(starpu_perf_knob_scope_global, 0))),
        5);
    starpu_shutdown();
}
END_TEST

static char text[1 << 13];

static const char *printed_by(void (*print)(void))
{
    FILE *file = tmpfile();
    int out = dup(STDOUT_FILENO);
    size_t n;

    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    print();
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static void list_workers_counters(void)
{
    starpu_perf_counter_list_avail(starpu_perf_counter_scope_per_worker);
}

static void list_policys_knobs(void)
{
    starpu_perf_knob_list_avail(starpu_perf_knob_scope_per_scheduler);
}

START_TEST(what_there_is_is_listed)
{
    machine_open(0);
    ck_assert_ptr_nonnull(
        strstr(printed_by(list_workers_counters),
               "0x00000014:starpu.task.w_cumul_execution_time [double] - "));
    ck_assert_ptr_null(strstr(text, "scope:"));
    (void)printed_by(starpu_perf_counter_list_all_avail);
    ck_assert_ptr_nonnull(strstr(text, "scope: per_codelet\n0x00000006:"));
    ck_assert_ptr_nonnull(strstr(printed_by(list_policys_knobs),
                                 "starpu.dmda.s_alpha_knob [double]"));
    (void)printed_by(starpu_perf_knob_list_all_avail);
    ck_assert_ptr_nonnull(strstr(text, "scope: per_worker\n"));
    starpu_shutdown();
}
END_TEST

/* --- counters --- */

static atomic_int nran[STARPU_NMAXWORKERS];

static void run(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&nran[starpu_worker_get_id_check()], 1);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {run}, .cuda_funcs = {run}, .name = "k"};
static struct starpu_codelet other = {
    .cpu_funcs = {run}, .cuda_funcs = {run}, .name = "k"};

static int counter(enum starpu_perf_counter_scope scope, const char *name)
{
    int id = starpu_perf_counter_name_to_id(scope, name);

    ck_assert_int_ge(id, 0);
    return id;
}

/* What the last call said. */
static struct said {
    atomic_int ncalls;
    _Atomic(void *) context;
    _Atomic int64_t numbers[5];
    _Atomic double time;
} said[3];

static void note(struct said *ret, struct starpu_perf_counter_sample *sample,
                 void *context, enum starpu_perf_counter_scope scope,
                 int nnumbers, int place_of_time)
{
    ret->context = context;
    for (int i = 0; i < nnumbers; i++)
        ret->numbers[i] = starpu_perf_counter_sample_get_int64_value(
            sample, starpu_perf_counter_nth_to_id(scope, i));
    if (place_of_time >= 0)
        ret->time = starpu_perf_counter_sample_get_double_value(
            sample, starpu_perf_counter_nth_to_id(scope, place_of_time));
    atomic_fetch_add(&ret->ncalls, 1);
}

static void hear_global(struct starpu_perf_counter_listener *listener,
                        struct starpu_perf_counter_sample *sample,
                        void *context)
{
    (void)listener;
    note(&said[0], sample, context, starpu_perf_counter_scope_global, 3, -1);
}

static _Atomic int64_t executed[STARPU_NMAXWORKERS];

static void hear_worker(struct starpu_perf_counter_listener *listener,
                        struct starpu_perf_counter_sample *sample,
                        void *context)
{
    (void)listener;
    executed[starpu_worker_get_id_check()] =
        starpu_perf_counter_sample_get_int64_value(
            sample, counter(starpu_perf_counter_scope_per_worker,
                            "starpu.task.w_total_executed"));
    note(&said[1], sample, context, starpu_perf_counter_scope_per_worker, 1, 1);
}

static void hear_codelet(struct starpu_perf_counter_listener *listener,
                         struct starpu_perf_counter_sample *sample,
                         void *context)
{
    (void)listener;
    note(&said[2], sample, context, starpu_perf_counter_scope_per_codelet, 4,
         4);
}

static struct starpu_perf_counter_set *
all_of(enum starpu_perf_counter_scope scope)
{
    struct starpu_perf_counter_set *set = starpu_perf_counter_set_alloc(scope);

    for (int i = 0; i < starpu_perf_counter_nb(scope); i++)
        starpu_perf_counter_set_enable_id(
            set, starpu_perf_counter_nth_to_id(scope, i));
    return set;
}

/* Those of one codelet may be held back by tags. */
static void submit_ten(struct starpu_codelet *codelet)
{
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(
            starpu_task_insert(codelet,
                               codelet == &cl ? STARPU_TAG : STARPU_TAG_ONLY,
                               (starpu_tag_t)(i + 2), 0),
            0);
}

START_TEST(counters_count_while_that_was_started)
{
    struct starpu_perf_counter_set *sets[3];
    struct starpu_perf_counter_listener *listeners[3];
    int64_t sum = 0;
    int ncalls;

    machine_open(_i);
    memset(said, 0, sizeof(said));
    memset(nran, 0, sizeof(nran));
    memset(executed, 0, sizeof(executed));
    sets[0] = all_of(starpu_perf_counter_scope_global);
    sets[1] = all_of(starpu_perf_counter_scope_per_worker);
    sets[2] = all_of(starpu_perf_counter_scope_per_codelet);
    listeners[0] = starpu_perf_counter_listener_init(sets[0], hear_global, 0);
    listeners[1] = starpu_perf_counter_listener_init(sets[1], hear_worker, 0);
    listeners[2] = starpu_perf_counter_listener_init(sets[2], hear_codelet, 0);
    starpu_perf_counter_set_global_listener(listeners[0]);
    starpu_perf_counter_set_all_per_worker_listeners(listeners[1]);
    starpu_perf_counter_set_per_codelet_listener(&cl, listeners[2]);
    submit_ten(&cl); /* not counted */
    starpu_task_wait_for_all();
    ck_assert_int_eq(said[0].ncalls + said[1].ncalls + said[2].ncalls, 0);

    memset(nran, 0, sizeof(nran));
    starpu_perf_counter_collection_start();
    for (int i = 0; i < 10; i++)
        starpu_tag_declare_deps((starpu_tag_t)(i + 2), 1, (starpu_tag_t)1);
    submit_ten(&cl);
    submit_ten(&other); /* without tags */
    ck_assert_int_eq(said[2].numbers[0], 10);
    ck_assert_int_eq(said[2].numbers[1], 10); /* all wait for the tag … */
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    starpu_task_wait_for_all();
    ck_assert_int_gt(said[0].ncalls, 20);
    ck_assert_ptr_null(said[0].context);
    ck_assert_int_eq(said[0].numbers[0], 20);
    ck_assert_int_ge(said[0].numbers[1], 10);
    ck_assert_int_gt(said[0].numbers[2], 0);
    ck_assert_int_eq(said[1].ncalls, 20);
    ck_assert_double_gt(said[1].time, 0);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        sum += executed[w];
        ck_assert_int_eq(executed[w], nran[w]);
    }
    ck_assert_int_eq(sum, 20);
    ck_assert_int_eq(said[2].ncalls, 20);
    ck_assert_ptr_eq(said[2].context, &cl);
    ck_assert_int_eq(said[2].numbers[3], 10);
    ck_assert_double_gt(said[2].time, 0);
    if (machine_simulated(_i))
        ck_assert_double_eq_tol(said[2].time, 10 * 50, 1e-3);

    starpu_perf_counter_collection_stop();
    starpu_tag_clear();
    submit_ten(&cl);
    starpu_task_wait_for_all();
    ck_assert_int_eq(said[2].ncalls, 20);
    starpu_perf_counter_collection_start();
    starpu_perf_counter_unset_global_listener();
    ncalls = said[0].ncalls;
    starpu_perf_counter_unset_all_per_worker_listeners();
    starpu_perf_counter_unset_per_codelet_listener(&cl);
    submit_ten(&cl);
    starpu_task_wait_for_all();
    ck_assert_int_eq(said[2].ncalls, 20);
    ck_assert_int_eq(said[1].ncalls, 20);
    ck_assert_int_eq(said[0].ncalls, ncalls);
    ck_assert_ptr_null(cl.perf_counter_values);
    starpu_perf_counter_set_per_worker_listener(0, listeners[1]);
    starpu_perf_counter_unset_per_worker_listener(0);
    for (int i = 0; i < 3; i++) {
        starpu_perf_counter_listener_exit(listeners[i]);
        starpu_perf_counter_set_free(sets[i]);
    }
    starpu_shutdown();
}
END_TEST

static atomic_int nheard[3];

static void leave_global(struct starpu_perf_counter_listener *listener,
                         struct starpu_perf_counter_sample *sample,
                         void *context)
{
    (void)listener, (void)sample, (void)context;
    if (atomic_fetch_add(&nheard[0], 1) == 0)
        starpu_perf_counter_unset_global_listener();
}

static void leave_worker(struct starpu_perf_counter_listener *listener,
                         struct starpu_perf_counter_sample *sample,
                         void *context)
{
    (void)listener, (void)sample, (void)context;
    if (atomic_fetch_add(&nheard[1], 1) == 0)
        starpu_perf_counter_unset_per_worker_listener(
            starpu_worker_get_id_check());
}

static void leave_codelet(struct starpu_perf_counter_listener *listener,
                          struct starpu_perf_counter_sample *sample,
                          void *context)
{
    (void)listener, (void)sample;
    if (atomic_fetch_add(&nheard[2], 1) == 0)
        starpu_perf_counter_unset_per_codelet_listener(context);
}

/* All on one worker, so that no other call is under way. */
START_TEST(a_listener_may_take_itself_out)
{
    struct starpu_perf_counter_listener *listeners[3];
    struct starpu_perf_counter_set *sets[3];
    int worker;

    machine_choose(_i);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_NCUDA", "0", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    worker = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
    for (int i = 0; i < 3; i++)
        nheard[i] = 0;
    sets[0] = all_of(starpu_perf_counter_scope_global);
    sets[1] = all_of(starpu_perf_counter_scope_per_worker);
    sets[2] = all_of(starpu_perf_counter_scope_per_codelet);
    listeners[0] = starpu_perf_counter_listener_init(sets[0], leave_global, 0);
    listeners[1] = starpu_perf_counter_listener_init(sets[1], leave_worker, 0);
    listeners[2] = starpu_perf_counter_listener_init(sets[2], leave_codelet, 0);
    starpu_perf_counter_set_global_listener(listeners[0]);
    starpu_perf_counter_set_per_worker_listener((unsigned)worker, listeners[1]);
    starpu_perf_counter_set_per_codelet_listener(&cl, listeners[2]);
    starpu_perf_counter_collection_start();
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(
            starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER, worker, 0), 0);
    starpu_task_wait_for_all();
    starpu_perf_counter_collection_stop();
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(nheard[i], 1);
        starpu_perf_counter_listener_exit(listeners[i]);
        starpu_perf_counter_set_free(sets[i]);
    }
    starpu_shutdown();
}
END_TEST

/* --- listeners that take each other out --- */

static struct starpu_codelet ring[3] = {{.cpu_funcs = {run}, .name = "a"},
                                        {.cpu_funcs = {run}, .name = "b"},
                                        {.cpu_funcs = {run}, .name = "c"}};
static atomic_int nwithin, nmembers;

/* Once all are within their listener, each takes the next one's out. */
static bool is_within_with_all(void)
{
    int n = atomic_load(&nmembers);

    if (atomic_fetch_add(&nwithin, 1) >= n)
        return false;
    while (atomic_load(&nwithin) < n)
        sched_yield();
    return true;
}

static void leave_next_worker(struct starpu_perf_counter_listener *listener,
                              struct starpu_perf_counter_sample *sample,
                              void *context)
{
    int worker = starpu_worker_get_id_check();

    (void)listener, (void)sample, (void)context;
    if (is_within_with_all())
        starpu_perf_counter_unset_per_worker_listener(
            (unsigned)((worker + 1) % nmembers));
}

static void leave_next_codelet(struct starpu_perf_counter_listener *listener,
                               struct starpu_perf_counter_sample *sample,
                               void *context)
{
    long own = (struct starpu_codelet *)context - ring;

    (void)listener, (void)sample;
    if (starpu_worker_get_id() >= 0 && is_within_with_all())
        starpu_perf_counter_unset_per_codelet_listener(
            &ring[(own + 1) % nmembers]);
}

static void run_ring(int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(
            starpu_task_insert(&ring[i], STARPU_EXECUTE_ON_WORKER, i, 0), 0);
    starpu_task_wait_for_all();
}

/* Nobody waits for somebody who waits for him; then nobody is called any more. */
START_TEST(listeners_may_take_each_other_out)
{
    bool codelets = _i % 2;
    int n = 2 + _i / 2;
    struct starpu_perf_counter_listener *listener;
    struct starpu_perf_counter_set *scope_set;

    machine_choose(0);
    setenv("STARPU_NCPU", "3", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    atomic_store(&nwithin, 0);
    atomic_store(&nmembers, n);
    scope_set = all_of(codelets ? starpu_perf_counter_scope_per_codelet
                                : starpu_perf_counter_scope_per_worker);
    listener = starpu_perf_counter_listener_init(
        scope_set, codelets ? leave_next_codelet : leave_next_worker, NULL);
    for (int i = 0; i < n; i++)
        if (codelets)
            starpu_perf_counter_set_per_codelet_listener(&ring[i], listener);
        else
            starpu_perf_counter_set_per_worker_listener((unsigned)i, listener);
    starpu_perf_counter_collection_start();
    run_ring(n);
    ck_assert_int_eq(nwithin, n);
    run_ring(n);
    ck_assert_int_eq(nwithin, n);
    starpu_perf_counter_collection_stop();
    starpu_perf_counter_listener_exit(listener);
    starpu_perf_counter_set_free(scope_set);
    starpu_shutdown();
}
END_TEST

static void hear_nothing(struct starpu_perf_counter_listener *listener,
                         struct starpu_perf_counter_sample *sample,
                         void *context)
{
    (void)listener;
    (void)context;
    (void)starpu_perf_counter_sample_get_int64_value(
        sample,
        counter(starpu_perf_counter_scope_global, "starpu.task.g_peak_ready"));
}

static struct starpu_perf_counter_set *set;

/* 0 to 3: refusals, each ends the program. */
START_TEST(wrong_arguments_end_the_program)
{
    struct starpu_perf_counter_listener *listener;
    struct starpu_conf conf;

    machine_choose(0);
    starpu_conf_init(&conf);
    conf.start_perf_counter_collection = 1;
    ck_assert_int_eq(starpu_init(&conf), 0);
    set = all_of(starpu_perf_counter_scope_global);
    listener = starpu_perf_counter_listener_init(set, hear_nothing, NULL);
    if (_i == 0)
        starpu_perf_counter_set_per_worker_listener(0, listener);
    starpu_perf_counter_set_global_listener(listener);
    ck_assert_int_eq(starpu_task_insert(NULL, 0), 0); /* it is counting */
    if (_i == 1)
        starpu_perf_counter_set_global_listener(listener);
    if (_i == 2)
        starpu_perf_counter_set_disable_id(
            set, counter(starpu_perf_counter_scope_global,
                         "starpu.task.g_peak_ready"));
    ck_assert_int_eq(starpu_task_insert(NULL, 0), 0);
    if (_i == 3)
        (void)starpu_perf_counter_nb((enum starpu_perf_counter_scope)3);
}
END_TEST

/* --- knobs --- */

static int knob(enum starpu_perf_knob_scope scope, const char *name)
{
    int id = starpu_perf_knob_name_to_id(scope, name);

    ck_assert_int_ge(id, 0);
    return id;
}

START_TEST(a_disabled_worker_gets_no_tasks)
{
    int id;
    unsigned n;

    machine_open(_i);
    id = knob(starpu_perf_knob_scope_per_worker,
              "starpu.worker.w_enable_worker_knob");
    n = starpu_worker_get_count();
    for (unsigned only = 0; only < n; only++) {
        memset(nran, 0, sizeof(nran));
        for (unsigned w = 0; w < n; w++) {
            ck_assert_int_eq(starpu_perf_knob_get_per_worker_int32_value(id, w),
                             1);
            if (w != only)
                starpu_perf_knob_set_per_worker_int32_value(id, w, 0);
        }
        for (int i = 0; i < 30; i++)
            ck_assert_int_eq(starpu_task_insert(&other, 0), 0);
        starpu_task_wait_for_all();
        ck_assert_int_eq(nran[only], 30);
        for (unsigned w = 0; w < n; w++) {
            ck_assert_int_eq(starpu_perf_knob_get_per_worker_int32_value(id, w),
                             w == only);
            starpu_perf_knob_set_per_worker_int32_value(id, w, 1);
        }
    }
    starpu_shutdown();
}
END_TEST

START_TEST(priorities_are_kept_within_caps)
{
    const enum starpu_perf_knob_scope scope =
        starpu_perf_knob_scope_per_scheduler;
    struct starpu_task *task;
    int most, least;

    machine_open(_i);
    most = knob(scope, "starpu.task.s_max_priority_cap_knob");
    least = knob(scope, "starpu.task.s_min_priority_cap_knob");
    ck_assert_int_eq(starpu_perf_knob_get_per_scheduler_int32_value(most, "x"),
                     starpu_sched_get_max_priority());
    ck_assert_int_eq(starpu_perf_knob_get_per_scheduler_int32_value(least, "x"),
                     starpu_sched_get_min_priority());
    starpu_perf_knob_set_per_scheduler_int32_value(least, "x", -3);
    starpu_perf_knob_set_per_scheduler_int32_value(most, "x", 4);
    for (int i = 0; i < 3; i++) {
        static const int given[] = {100, -100, 2}, kept[] = {4, -3, 2};

        task = starpu_task_create();
        task->destroy = task->detach = 0;
        task->priority = given[i];
        ck_assert_int_eq(starpu_task_submit(task), 0);
        ck_assert_int_eq(task->priority, kept[i]);
        ck_assert_int_eq(starpu_task_wait(task), 0);
        starpu_task_destroy(task);
    }
    starpu_perf_knob_set_per_scheduler_int32_value(least, "x", 0);
    starpu_perf_knob_set_per_scheduler_int32_value(most, "x", 0);
    ck_assert_int_eq(starpu_perf_knob_get_per_scheduler_int32_value(most, "x"),
                     0);
    ck_assert_int_eq(starpu_perf_knob_get_per_scheduler_int32_value(least, "x"),
                     0);
    starpu_shutdown();
}
END_TEST

static double micros(struct starpu_task *task, unsigned worker, unsigned impl)
{
    (void)task;
    (void)impl;
    return worker == 0 ? 100 : 50;
}

static double joules(struct starpu_task *task, unsigned worker, unsigned impl)
{
    (void)task;
    (void)impl;
    return worker == 0 ? 1 : 100;
}

static struct starpu_perfmodel model = {.type = STARPU_PER_WORKER,
                                        .worker_cost_function = micros};
static struct starpu_perfmodel energy_model = {.type = STARPU_PER_WORKER,
                                               .worker_cost_function = joules};

/* With the weight of energy the slower, thrifty one is better. */
START_TEST(weights_of_dm_take_effect_at_once)
{
    static struct starpu_codelet modelled = {
        .cpu_funcs = {run},
        .cuda_funcs = {run},
        .model = &model,
        .energy_model = &energy_model,
        .name = "k",
    };
    static const char *const names[] = {
        "starpu.dmda.s_alpha_knob", "starpu.dmda.s_beta_knob",
        "starpu.dmda.s_gamma_knob", "starpu.dmda.s_idle_power_knob"};
    int gamma;

    machine_choose(FIRST_SIMULATED);
    setenv("STARPU_SCHED", "dmda", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    for (int i = 0; i < 4; i++) {
        int id = knob(starpu_perf_knob_scope_per_scheduler, names[i]);

        starpu_perf_knob_set_per_scheduler_double_value(id, "dmda", 2.5 + i);
        ck_assert_double_eq(
            starpu_perf_knob_get_per_scheduler_double_value(id, "dmda"),
            2.5 + i);
    }
    starpu_perf_knob_set_per_scheduler_double_value(
        knob(starpu_perf_knob_scope_per_scheduler, names[3]), "dmda", 1e-9);
    gamma = knob(starpu_perf_knob_scope_per_scheduler, names[2]);
    for (int thrifty = 0; thrifty < 2; thrifty++) {
        memset(nran, 0, sizeof(nran));
        starpu_perf_knob_set_per_scheduler_double_value(gamma, "dmda",
                                                        thrifty ? 1000 : 1e-6);
        ck_assert_int_eq(
            starpu_task_insert(&modelled, STARPU_TASK_SYNCHRONOUS, 1, 0), 0);
        ck_assert_int_eq(nran[0], thrifty);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(a_worker_is_bound_elsewhere)
{
    int id;

    machine_open(_i);
    id = knob(starpu_perf_knob_scope_per_worker,
              "starpu.worker.w_bind_to_pu_knob");
    ck_assert_int_eq(starpu_perf_knob_get_per_worker_int32_value(id, 0),
                     starpu_worker_get_bindid(0));
    starpu_perf_knob_set_per_worker_int32_value(id, 0, 0);
    ck_assert_int_eq(starpu_perf_knob_get_per_worker_int32_value(id, 0), 0);
    starpu_shutdown();
}
END_TEST

START_TEST(calibration_and_signals_are_switched)
{
    int calibrate, signals;
    struct sigaction action;

    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    machine_open(_i);
    calibrate =
        knob(starpu_perf_knob_scope_global, "starpu.global.g_calibrate_knob");
    signals = knob(starpu_perf_knob_scope_global,
                   "starpu.global.g_enable_catch_signal_knob");
    ck_assert_int_eq(starpu_perf_knob_get_global_int32_value(calibrate), 0);
    starpu_perf_knob_set_global_int32_value(calibrate, 2);
    ck_assert_int_eq(starpu_perf_knob_get_global_int32_value(calibrate), 2);
    ck_assert_int_eq(starpu_perf_knob_get_global_int32_value(signals), 1);
    sigaction(SIGINT, NULL, &action);
    ck_assert((action.sa_handler != SIG_DFL) == machine_simulated(_i));
    starpu_perf_knob_set_global_int32_value(signals, 0);
    ck_assert_int_eq(starpu_perf_knob_get_global_int32_value(signals), 0);
    sigaction(SIGINT, NULL, &action);
    ck_assert(action.sa_handler == SIG_DFL);
    starpu_perf_knob_set_global_int32_value(signals, 1);
    ck_assert_int_eq(starpu_perf_knob_get_global_int32_value(signals), 1);
    sigaction(SIGINT, NULL, &action);
    ck_assert((action.sa_handler != SIG_DFL) == machine_simulated(_i));
    starpu_shutdown();
}
END_TEST

/* No knob is of these types: each function ends the program. */
START_TEST(knobs_of_other_types_are_refused)
{
    const int id = 1, worker = 3, policy = 5;

    machine_open(0);
    switch (_i) {
    case 0:
        (void)starpu_perf_knob_get_global_int64_value(id);
        break;
    case 1:
        (void)starpu_perf_knob_get_global_float_value(id);
        break;
    case 2:
        (void)starpu_perf_knob_get_global_double_value(id);
        break;
    case 3:
        starpu_perf_knob_set_global_int64_value(id, 1);
        break;
    case 4:
        starpu_perf_knob_set_global_float_value(id, 1);
        break;
    case 5:
        starpu_perf_knob_set_global_double_value(id, 1);
        break;
    case 6:
        (void)starpu_perf_knob_get_per_worker_int64_value(worker, 0);
        break;
    case 7:
        (void)starpu_perf_knob_get_per_worker_float_value(worker, 0);
        break;
    case 8:
        (void)starpu_perf_knob_get_per_worker_double_value(worker, 0);
        break;
    case 9:
        starpu_perf_knob_set_per_worker_int64_value(worker, 0, 1);
        break;
    case 10:
        starpu_perf_knob_set_per_worker_float_value(worker, 0, 1);
        break;
    case 11:
        starpu_perf_knob_set_per_worker_double_value(worker, 0, 1);
        break;
    case 12:
        (void)starpu_perf_knob_get_per_scheduler_int64_value(policy, "x");
        break;
    case 13:
        (void)starpu_perf_knob_get_per_scheduler_float_value(policy, "x");
        break;
    case 14:
        starpu_perf_knob_set_per_scheduler_int64_value(policy, "x", 1);
        break;
    case 15:
        starpu_perf_knob_set_per_scheduler_float_value(policy, "x", 1);
        break;
    default:
        (void)starpu_perf_knob_get_help_string(0x777);
    }
}
END_TEST

/* As above, of counters. */
static void hear_wrong_int32(struct starpu_perf_counter_listener *listener,
                             struct starpu_perf_counter_sample *sample,
                             void *context)
{
    (void)listener;
    (void)context;
    (void)starpu_perf_counter_sample_get_int32_value(sample, 2);
}

static void hear_wrong_float(struct starpu_perf_counter_listener *listener,
                             struct starpu_perf_counter_sample *sample,
                             void *context)
{
    (void)listener;
    (void)context;
    (void)starpu_perf_counter_sample_get_float_value(sample, 2);
}

START_TEST(counters_of_other_types_are_refused)
{
    machine_open(0);
    set = all_of(starpu_perf_counter_scope_global);
    starpu_perf_counter_set_global_listener(starpu_perf_counter_listener_init(
        set, _i ? hear_wrong_int32 : hear_wrong_float, NULL));
    starpu_perf_counter_collection_start();
    (void)starpu_task_insert(NULL, 0);
}
END_TEST

SUITE_MAIN(counters)
{
    Suite *suite = suite_create("counters");
    TCase *each = tcase_create("on each machine");
    TCase *once = tcase_create("once");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, once);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(what_there_is_has_names_and_numbers);
    EACH(counters_count_while_that_was_started);
    EACH(a_listener_may_take_itself_out);
    EACH(a_disabled_worker_gets_no_tasks);
    EACH(priorities_are_kept_within_caps);
    EACH(a_worker_is_bound_elsewhere);
    EACH(calibration_and_signals_are_switched);
    tcase_add_test(once, what_there_is_is_listed);
    tcase_add_loop_test(once, listeners_may_take_each_other_out, 0, 4);
    tcase_add_test(once, weights_of_dm_take_effect_at_once);
    tcase_add_loop_test_raise_signal(once, wrong_arguments_end_the_program,
                                     SIGABRT, 0, 4);
    tcase_add_loop_test_raise_signal(once, knobs_of_other_types_are_refused,
                                     SIGABRT, 0, 17);
    tcase_add_loop_test_raise_signal(once, counters_of_other_types_are_refused,
                                     SIGABRT, 0, 2);
    return suite_main(suite);
}

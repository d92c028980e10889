/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-policy-calls.c - what policies of applications call about
 * tasks and workers, what models tell, and what is printed about them.
 */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "k_model"};
static struct starpu_codelet cl = {.cpu_funcs = {nothing},
                                   .cuda_funcs = {nothing},
                                   .nbuffers = 1,
                                   .modes = {STARPU_R},
                                   .model = &model,
                                   .name = "k"};
static struct starpu_codelet cl_last = {
    .cpu_funcs = {nothing}, .cuda_funcs = {nothing}, .name = "k"};
static struct starpu_codelet cl_cpu = {
    .cpu_funcs = {NULL, nothing}, .where = STARPU_CPU, .name = "k"};

/* --- a policy that sends all tasks to the last worker --- */

static int (*prefetch)(struct starpu_task *, unsigned);
static unsigned prefetch_where;
static unsigned ran_on;

static int push(struct starpu_task *task)
{
    unsigned last = starpu_worker_get_count() - 1;

    if (prefetch)
        ck_assert_int_eq(prefetch(task, prefetch_where), 0);
    ck_assert_int_eq(starpu_push_local_task((int)last, task, 1), 0);
    return starpu_push_task_end(task);
}

static struct starpu_task *pop(unsigned ctx)
{
    (void)ctx;
    return NULL;
}

static void ended(struct starpu_task *task, unsigned ctx)
{
    (void)ctx;
    ran_on = task->workerid;
}

static struct starpu_sched_policy policy = {
    .push_task = push,
    .pop_task = pop,
    .post_exec_hook = ended,
    .policy_name = "last",
};

static void open_with_policy(int i)
{
    struct starpu_conf conf;

    machine_choose(i);
    starpu_conf_init(&conf);
    conf.sched_policy = &policy;
    ck_assert_int_eq(starpu_init(&conf), 0);
}

/* Of the application's policy: others use theirs whenever a worker looks for a
 * task. */
START_TEST(the_context_has_the_data_of_its_policy)
{
    void *own;
    int x;

    open_with_policy(_i);
    own = starpu_sched_ctx_get_policy_data(0);
    starpu_sched_ctx_set_policy_data(0, &x);
    ck_assert_ptr_eq(starpu_sched_ctx_get_policy_data(0), &x);
    starpu_sched_ctx_set_policy_data(0, own);
    starpu_shutdown();
}
END_TEST

START_TEST(a_policy_hands_tasks_to_one_worker)
{
    int x = 0;
    starpu_data_handle_t handle;

    open_with_policy(_i);
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    ran_on = 99;
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_R, handle,
                                        STARPU_TASK_SYNCHRONOUS, 1, 0),
                     0);
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
    starpu_shutdown();
    ck_assert_uint_ne(ran_on, 99);
}
END_TEST

/* Without pop_task, workers have what was pushed to their lists. */
START_TEST(a_policy_may_have_no_pop)
{
    policy.pop_task = NULL;
    open_with_policy(_i);
    ran_on = 99;
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(starpu_task_insert(&cl_last, 0), 0);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(ran_on, starpu_worker_get_count() - 1);
    starpu_shutdown();
}
END_TEST

static int order[10], nordered;

static void note_order(void *buffers[], void *arg)
{
    (void)buffers;
    order[nordered++] = (int)(intptr_t)arg;
}

static struct starpu_codelet cl_order = {
    .cpu_funcs = {note_order}, .cuda_funcs = {note_order}, .name = "k"};
static int back;

static int push_either_way(struct starpu_task *task)
{
    unsigned last = starpu_worker_get_count() - 1;

    return starpu_push_local_task((int)last, task, back = !back);
}

/* Whatever is said about the back of the list. */
START_TEST(local_tasks_run_by_priority)
{
    policy.push_task = push_either_way;
    open_with_policy(_i);
    starpu_sched_ctx_set_min_priority(0, -10);
    starpu_sched_ctx_set_max_priority(0, 10);
    starpu_pause();
    for (int i = 0; i < 10; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl_order;
        task->priority = i % 3;
        task->cl_arg = (void *)(intptr_t)i;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    starpu_task_wait_for_all();
    for (int i = 1; i < 10; i++)
        ck_assert_int_gt(100 * (order[i - 1] % 3) - order[i - 1],
                         100 * (order[i] % 3) - order[i]);
    starpu_shutdown();
}
END_TEST

static int pushed;

/* Who cannot run it refuses, then the last worker gets it. */
static int push_to_wrong_one(struct starpu_task *task)
{
    pushed = starpu_push_local_task((int)starpu_worker_get_count() - 1, task, 1);
    return starpu_push_local_task(0, task, 1);
}

START_TEST(a_worker_that_cannot_run_a_task_does_not_get_it)
{
    policy.push_task = push_to_wrong_one;
    open_with_policy(FIRST_SIMULATED);
    ck_assert_int_eq(starpu_task_insert(&cl_cpu, 0), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(pushed, -ENODEV);
    ck_assert_uint_eq(ran_on, 0);
    starpu_shutdown();
}
END_TEST

static int on_node_prio(struct starpu_task *task, unsigned node)
{
    return starpu_prefetch_task_input_on_node_prio(task, node, 1);
}

static int idle_on_node_prio(struct starpu_task *task, unsigned node)
{
    return starpu_idle_prefetch_task_input_on_node_prio(task, node, 1);
}

static int for_prio(struct starpu_task *task, unsigned worker)
{
    return starpu_prefetch_task_input_for_prio(task, worker, 1);
}

static int idle_for_prio(struct starpu_task *task, unsigned worker)
{
    return starpu_idle_prefetch_task_input_for_prio(task, worker, 1);
}

/* No worker takes a task, and its data come all the same. */
START_TEST(data_of_pushed_tasks_are_prefetched)
{
    static const struct {
        int (*call)(struct starpu_task *, unsigned);
        int worker;
    } calls[] = {
        {starpu_prefetch_task_input_on_node, 0},      {on_node_prio, 0},
        {starpu_idle_prefetch_task_input_on_node, 0}, {idle_on_node_prio, 0},
        {starpu_prefetch_task_input_for, 1},          {for_prio, 1},
        {starpu_idle_prefetch_task_input_for, 1},     {idle_for_prio, 1},
    };
    int gpu;
    unsigned node;

    setenv("STARPU_PREFETCH", "0", 1); /* none by the library */
    open_with_policy(FIRST_SIMULATED);
    ck_assert_int_eq(starpu_get_prefetch_flag(), 0);
    gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 1);
    node = starpu_worker_get_memory_node((unsigned)gpu);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        starpu_data_handle_t handle;
        int x = 1;

        prefetch = calls[i].call;
        prefetch_where = calls[i].worker ? (unsigned)gpu : node;
        starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
        starpu_pause();
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_R, handle, 0), 0);
        starpu_usleep(1000);
        ck_assert_uint_eq(starpu_data_is_on_node(handle, node), 1);
        starpu_resume();
        starpu_data_unregister(handle);
    }
    starpu_shutdown();
}
END_TEST

/* --- which workers can --- */

START_TEST(workers_that_can_run_a_task_are_known)
{
    struct starpu_task *task;
    unsigned mask, first;

    machine_open(_i);
    task = starpu_task_create();
    task->cl = &cl_cpu;
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        int cpu = starpu_worker_get_type((int)w) == STARPU_CPU_WORKER;

        ck_assert_int_eq(starpu_worker_can_execute_task(w, task, 0), 0);
        ck_assert_int_eq(starpu_worker_can_execute_task(w, task, 1), cpu);
        mask = first = 0;
        ck_assert_int_eq(starpu_worker_can_execute_task_impl(w, task, &mask),
                         cpu);
        ck_assert_uint_eq(mask, cpu ? 2 : 0);
        ck_assert_int_eq(
            starpu_worker_can_execute_task_first_impl(w, task, &first), cpu);
        ck_assert_uint_eq(first, (unsigned)cpu);
    }
    ck_assert_uint_eq(
        starpu_worker_type_can_execute_task(STARPU_CPU_WORKER, task), 1);
    ck_assert_uint_eq(
        starpu_worker_type_can_execute_task(STARPU_CUDA_WORKER, task), 0);
    task->destroy = 0;
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

START_TEST(sleeping_workers_are_woken)
{
    int (*const wake[])(int) = {
        starpu_wake_worker_relax, starpu_wake_worker_no_relax,
        starpu_wake_worker_locked, starpu_wake_worker_relax_light};

    machine_open(_i);
    for (int k = 0; k < 4; k++) {
        int woken = 0;

        /* At its first look it may not sleep yet. */
        while (!woken) {
            starpu_usleep(100);
            woken = wake[k](0);
        }
        ck_assert_int_eq(woken, 1);
    }
    starpu_shutdown();
}
END_TEST

/* --- what a task will take --- */

START_TEST(lengths_and_transfers_of_tasks_are_expected)
{
    static char data[1 << 20];
    struct starpu_perfmodel_arch *arch;
    struct starpu_task *task;
    starpu_data_handle_t handle;
    unsigned last, node;

    machine_choose(_i);
    setenv("ORRERY_ASSUME", "kernel[k_model] = 50us", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    last = starpu_worker_get_count() - 1;
    node = starpu_worker_get_memory_node(last);
    arch = starpu_worker_get_perf_archtype((int)last, 0);
    starpu_vector_data_register(&handle, 0, (uintptr_t)data, sizeof(data), 1);
    starpu_pause();
    task = starpu_task_create();
    task->cl = &cl;
    task->handles[0] = handle;
    task->detach = 0;
    task->destroy = 0;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    if (machine_simulated(_i))
        ck_assert_double_eq_tol(starpu_task_expected_length_average(task, 0),
                                50, 0.01);
    ck_assert_double_eq(starpu_task_expected_conversion_time(task, arch, 0), 0);
    ck_assert_double_eq(starpu_task_expected_data_transfer_time(0, task), 0);
    ck_assert_double_gt(starpu_worker_get_relative_speedup(arch), 0);
    if (starpu_node_get_kind(node) != STARPU_CPU_RAM &&
        !starpu_data_is_on_node(handle, node)) {
        ck_assert_double_gt(starpu_task_expected_data_transfer_time(node, task),
                            100);
        ck_assert_double_eq(
            starpu_task_expected_data_transfer_time_for(task, last),
            starpu_task_expected_data_transfer_time(node, task));
    }
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait(task), 0);
    starpu_task_destroy(task);
    starpu_data_unregister(handle);
    ck_assert_int_le(starpu_sched_get_min_priority(),
                     starpu_sched_get_max_priority());
    starpu_shutdown();
}
END_TEST

/* --- models --- */

static char dir[64], text[1 << 14];

static const char *read_back(FILE *file)
{
    size_t n;

    rewind(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static void set_up(void)
{
    strcpy(dir, "/tmp/orrery-calls-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    machine_choose(0);
    setenv("STARPU_PERF_MODEL_DIR", dir, 1);
    setenv("STARPU_HOSTNAME", "testbox", 1);
    setenv("STARPU_CALIBRATE", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static void tear_down(void)
{
    char command[80];

    snprintf(command, sizeof(command), "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}

static uint32_t feed(double us)
{
    static float data[64];
    struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(0, 0);
    starpu_data_handle_t handle;
    struct starpu_task task;
    uint32_t footprint;

    starpu_vector_data_register(&handle, 0, (uintptr_t)data, 64, 4);
    starpu_task_init(&task);
    task.cl = &cl;
    task.handles[0] = handle;
    for (int i = 0; i < 12; i++)
        starpu_perfmodel_update_history(&model, &task, arch, 0, 0, us);
    footprint = starpu_task_footprint(&model, &task, arch, 0);
    starpu_data_unregister(handle);
    starpu_task_clean(&task);
    return footprint;
}

START_TEST(a_model_tells_what_it_was_fed)
{
    struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(0, 0);
    struct starpu_perfmodel_per_arch *part;
    struct starpu_perfmodel loaded = {0};
    uint32_t footprint = feed(25);
    char path[256] = "", line[64];
    FILE *file;

    ck_assert_double_eq_tol(
        starpu_perfmodel_history_based_expected_perf(&model, arch, footprint),
        25, 1e-3);
    ck_assert(isnan(starpu_perfmodel_history_based_expected_perf(
        &model, arch, footprint + 1)));
    part = starpu_perfmodel_get_model_per_arch(&model, arch, 0);
    ck_assert_ptr_nonnull(part);
    ck_assert_ptr_eq(starpu_perfmodel_get_model_per_devices(
                         &model, 0, STARPU_CPU_WORKER, 0, 1, -1),
                     part);
    ck_assert_ptr_ne(starpu_perfmodel_get_model_per_arch(&model, arch, 1),
                     part);
    starpu_save_history_based_model(&model);
    starpu_perfmodel_get_model_path("k_model", path, sizeof(path));
    ck_assert_int_eq(access(path, R_OK), 0);
    file = tmpfile();
    starpu_perfmodel_list(file);
    ck_assert_ptr_nonnull(strstr(read_back(file), "k_model"));
    file = tmpfile();
    starpu_perfmodel_directory(file);
    ck_assert_ptr_nonnull(strstr(read_back(file), dir));
    file = tmpfile();
    ck_assert_int_eq(starpu_perfmodel_load_symbol("k_model", &loaded), 0);
    starpu_perfmodel_list_combs(file, &loaded);
    ck_assert_ptr_nonnull(strstr(read_back(file), "type: cpu"));
    file = tmpfile();
    starpu_perfmodel_print(&loaded, arch, 0, NULL, NULL, file);
    snprintf(line, sizeof(line), "%08x", footprint);
    ck_assert_ptr_nonnull(strstr(read_back(file), line));
    file = tmpfile();
    ck_assert_int_eq(
        starpu_perfmodel_print_all(&loaded, NULL, NULL, NULL, file), 0);
    ck_assert_ptr_nonnull(strstr(read_back(file), line));
    starpu_perfmodel_unload_model(&loaded);
    starpu_perfmodel_free_sampling();
    starpu_shutdown();
}
END_TEST

START_TEST(combinations_of_devices_have_numbers)
{
    struct starpu_perfmodel_device devices[] = {
        {.type = STARPU_CUDA_WORKER, .devid = 5, .ncores = 1}};
    struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(0, 0);
    int n = starpu_perfmodel_get_narch_combs(), comb;
    char name[64];

    comb = starpu_perfmodel_arch_comb_get(arch->ndevices, arch->devices);
    ck_assert_int_ge(comb, 0);
    ck_assert_int_lt(comb, n);
    ck_assert_int_eq(starpu_perfmodel_arch_comb_get(1, devices), -1);
    comb = starpu_perfmodel_arch_comb_add(1, devices);
    ck_assert_int_eq(starpu_perfmodel_arch_comb_get(1, devices), comb);
    ck_assert_int_eq(starpu_perfmodel_get_narch_combs(), n + 1);
    ck_assert_int_eq(starpu_perfmodel_arch_comb_fetch(comb)->devices[0].devid,
                     5);
    starpu_perfmodel_get_arch_name(arch, name, sizeof(name), 2);
    ck_assert_ptr_nonnull(strstr(name, "cpu0"));
    ck_assert_ptr_nonnull(strstr(name, "impl2"));
    starpu_shutdown();
}
END_TEST

/* --- summaries --- */

START_TEST(the_run_and_its_links_are_summed_up)
{
    FILE *file = tmpfile();
    int x = 1, error = dup(STDERR_FILENO);
    starpu_data_handle_t handle;

    machine_open(FIRST_SIMULATED);
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    starpu_data_prefetch_on_node(handle, 1, 0);
    starpu_data_unregister(handle);
    dup2(fileno(file), STDERR_FILENO);
    starpu_display_stats();
    starpu_profiling_bus_helper_display_summary();
    dup2(error, STDERR_FILENO);
    read_back(file);
    ck_assert_ptr_nonnull(strstr(text, "copies: 1 "));
    ck_assert_ptr_nonnull(strstr(text, "CUDA 2"));
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(policy_calls)
{
    Suite *suite = suite_create("policy calls");
    TCase *each = tcase_create("on each machine");
    TCase *models = tcase_create("models");
    TCase *simulated = tcase_create("simulated");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, models);
    suite_add_tcase(suite, simulated);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(the_context_has_the_data_of_its_policy);
    EACH(a_policy_hands_tasks_to_one_worker);
    EACH(a_policy_may_have_no_pop);
    EACH(local_tasks_run_by_priority);
    if (NMACHINES > FIRST_SIMULATED)
        tcase_add_test(each, a_worker_that_cannot_run_a_task_does_not_get_it);
    EACH(workers_that_can_run_a_task_are_known);
    EACH(sleeping_workers_are_woken);
    EACH(lengths_and_transfers_of_tasks_are_expected);
    tcase_add_checked_fixture(models, set_up, tear_down);
    tcase_add_test(models, a_model_tells_what_it_was_fed);
    tcase_add_test(models, combinations_of_devices_have_numbers);
    if (NMACHINES > FIRST_SIMULATED) {
        tcase_add_test(simulated, data_of_pushed_tasks_are_prefetched);
        tcase_add_test(simulated, the_run_and_its_links_are_summed_up);
    }
    return suite_main(suite);
}

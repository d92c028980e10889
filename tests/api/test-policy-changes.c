/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-policy-changes.c - every built-in policy, while the program pauses
 * and contexts gain and lose workers: each task runs once, on a worker that can, and
 * the run ends. The first context has the policy as well as the second one. And
 * workers that are disabled and enabled.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_perf_steering.h>

#include "../rng.h"
#include "machines.h"

enum { NDATA = 5, NROUNDS = 12, NEACH = 12, NTASKS = NROUNDS * NEACH };

static atomic_int nran[NTASKS], wrong;
static int expected[NDATA];
static starpu_data_handle_t data[NDATA];
static unsigned other;

static int on_cpu(void)
{
    return starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CPU_WORKER;
}

/* Whether the task of that number is for processors, or for devices, only. */
static int is_for_cpus(int number)
{
    return number % 3 == 0;
}

static int is_for_gpus(int number)
{
    return number % 9 == 1 && starpu_cuda_worker_get_count() > 0;
}

/* Task `arg` adds 1. */
static void add(void *buffers[], void *arg)
{
    int number = (int)(intptr_t)arg;

    ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    atomic_fetch_add(&nran[number], 1);
    if (on_cpu() ? is_for_gpus(number) : is_for_cpus(number))
        atomic_fetch_add(&wrong, 1);
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "k"};
static struct starpu_codelet anywhere = {.cpu_funcs = {add},
                                         .cuda_funcs = {add},
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .model = &model,
                                         .name = "k"};
static struct starpu_codelet processors = {.cpu_funcs = {add},
                                           .nbuffers = 1,
                                           .modes = {STARPU_RW},
                                           .model = &model,
                                           .name = "k"};

static struct starpu_codelet devices = {.where = STARPU_CUDA,
                                        .cpu_funcs = {add},
                                        .cuda_funcs = {add},
                                        .nbuffers = 1,
                                        .modes = {STARPU_RW},
                                        .model = &model,
                                        .name = "k"};

static unsigned below(uint64_t *rng, unsigned n)
{
    return (unsigned)(rng_next(rng) % n);
}

static void submit(int number)
{
    struct starpu_task *task = starpu_task_create();
    unsigned ctx = number % 2 ? other : 0;
    int low = starpu_sched_ctx_get_min_priority(ctx);
    int high = starpu_sched_ctx_get_max_priority(ctx);

    task->cl = is_for_cpus(number)   ? &processors
               : is_for_gpus(number) ? &devices
                                     : &anywhere;
    task->handles[0] = data[number % NDATA];
    task->cl_arg = (void *)(intptr_t)number;
    task->sched_ctx = ctx;
    task->priority = number % 7 == 0 ? high : number % 7 == 1 ? low : 0;
    if (task->priority < low || task->priority > high)
        task->priority = low;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    expected[number % NDATA]++;
}

/* Those that only GPUs can run wait for one. */
static void add_all(void)
{
    int ids[STARPU_NMAXWORKERS];
    unsigned n = starpu_worker_get_ids_by_type(STARPU_ANY_WORKER, ids,
                                               STARPU_NMAXWORKERS);

    starpu_sched_ctx_add_workers(ids, n, other);
}

/* Worker 0, a processor, is in both contexts all the time. */
static void change(uint64_t *rng)
{
    int worker = 1 + (int)below(rng, starpu_worker_get_count() - 1);

    switch (below(rng, 4)) {
    case 0:
        starpu_sched_ctx_add_workers(&worker, 1, other);
        break;
    case 1:
        starpu_sched_ctx_remove_workers(&worker, 1, other);
        break;
    case 2:
        starpu_do_schedule();
        break;
    default: /* some have ended then */
        add_all();
        ck_assert_int_eq(starpu_data_acquire(data[0], STARPU_R), 0);
        starpu_data_release(data[0]);
    }
}

static void run(uint64_t *rng)
{
    for (int round = 0; round < NROUNDS; round++) {
        unsigned pauses = below(rng, 2);

        if (pauses)
            starpu_pause();
        for (int i = 0; i < NEACH; i++)
            submit(round * NEACH + i);
        if (pauses)
            starpu_resume();
        change(rng);
    }
    add_all();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
}

static void check_all_ran(void)
{
    ck_assert_int_eq(atomic_load(&wrong), 0);
    for (int i = 0; i < NTASKS; i++)
        ck_assert_msg(atomic_load(&nran[i]) == 1, "task %d has run %d times", i,
                      atomic_load(&nran[i]));
}

static void run_policy(const char *name, int machine, uint64_t seed)
{
    uint64_t rng = rng_of(seed);
    int zero = 0, values[NDATA] = {0};

    machine_choose(machine);
    unsetenv("ORRERY_CHECK_BOUNDS"); /* which takes longer than the run */
    setenv("STARPU_SCHED", name, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    other = starpu_sched_ctx_create(&zero, 1, "other",
                                    STARPU_SCHED_CTX_POLICY_NAME, name, 0);
    ck_assert_uint_ne(other, (unsigned)STARPU_NMAX_SCHED_CTXS);
    for (int i = 0; i < NDATA; i++)
        starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&values[i], sizeof(values[i]));
    run(&rng);
    starpu_sched_ctx_delete(other);
    for (int i = 0; i < NDATA; i++) {
        starpu_data_unregister(data[i]);
        ck_assert_int_eq(values[i], expected[i]);
    }
    starpu_shutdown();
    check_all_ran();
}

/* Of the policy number `i`, on the first machine, then on the next one. NULL: there is
 * none. */
static const char *choose(unsigned i, int *ret_machine)
{
    struct starpu_sched_policy **list = starpu_sched_get_predefined_policies();
    unsigned n = 0;

    while (list[n])
        n++;
    ck_assert_uint_ge(n, 40);
    *ret_machine = i < n ? 0 : FIRST_SIMULATED;
    if (i >= n && (i >= 2 * n || NMACHINES <= FIRST_SIMULATED))
        return NULL;
    return list[i % n]->policy_name;
}

/* The number of a policy, and of a machine. */
START_TEST(each_task_runs_once)
{
    int machine;
    const char *name = choose((unsigned)_i, &machine);

    if (name)
        run_policy(name, machine, (uint64_t)_i + 1);
}
END_TEST

/* --- who refuses tasks --- */

/* Task `arg` is for the worker of that number alone. */
static int is_for(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
    (void)nimpl;
    return (unsigned)(intptr_t)task->cl_arg == worker;
}

static void note(void *buffers[], void *arg)
{
    int worker = (int)(intptr_t)arg;

    (void)buffers;
    atomic_fetch_add(&nran[worker], 1);
    if (starpu_worker_get_id() != worker)
        atomic_fetch_add(&wrong, 1);
}

static struct starpu_codelet choosy = {.cpu_funcs = {note},
                                       .cuda_funcs = {note},
                                       .can_execute = is_for,
                                       .model = &model,
                                       .name = "k"};

static void submit_for(int worker, unsigned ctx)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &choosy;
    task->cl_arg = (void *)(intptr_t)worker;
    task->sched_ctx = ctx;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

/* Who refuses a task does not keep others from it, nor are all that are refused
 * waited for because they would be faster; not even if the one who can run it goes and
 * comes back. */
START_TEST(who_can_execute_a_task_gets_it)
{
    int machine, n;
    const char *name = choose((unsigned)_i, &machine);

    if (!name)
        return;
    machine_choose(machine);
    if (machine_simulated(machine))
        setenv("ORRERY_ASSUME", "k on cpu = 1ms; k on cuda = 10us", 1);
    setenv("STARPU_SCHED", name, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    n = (int)starpu_worker_get_count();
    other = starpu_sched_ctx_create(NULL, -1, "other",
                                    STARPU_SCHED_CTX_POLICY_NAME, name, 0);
    starpu_pause();
    for (int i = 0; i < 2 * n; i++)
        submit_for(i % n, 0);
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    for (int w = 0; w < n; w++) {
        starpu_pause();
        submit_for(w, other);
        starpu_sched_ctx_remove_workers(&w, 1, other);
        starpu_resume();
        submit_for(w, 0);
        starpu_sched_ctx_add_workers(&w, 1, other);
        ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    }
    starpu_sched_ctx_delete(other);
    starpu_shutdown();
    ck_assert_int_eq(atomic_load(&wrong), 0);
    for (int w = 0; w < n; w++)
        ck_assert_int_eq(atomic_load(&nran[w]), 4);
}
END_TEST

/* --- who is disabled --- */

static void count(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&nran[0], 1);
}

static struct starpu_codelet counts = {
    .cpu_funcs = {count}, .cuda_funcs = {count}, .model = &model, .name = "k"};

static void enable_all(int enabled)
{
    int id = starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_worker,
                                         "starpu.worker.w_enable_worker_knob");

    ck_assert_int_ge(id, 0);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        starpu_perf_knob_set_per_worker_int32_value(id, w, enabled);
}

static void insert(int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(starpu_task_insert(&counts, 0), 0);
}

/* Nobody can run a task for a while; then the last worker can, which may be a GPU's,
 * then all. */
START_TEST(who_is_enabled_takes_what_was_kept)
{
    int machine, id, last, before;
    const char *name = choose((unsigned)_i, &machine);

    if (!name)
        return;
    machine_choose(machine);
    setenv("STARPU_SCHED", name, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    id = starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_worker,
                                     "starpu.worker.w_enable_worker_knob");
    last = (int)starpu_worker_get_count() - 1;
    for (int round = 0; round < 2; round++) {
        before = atomic_load(&nran[0]);
        enable_all(0);
        insert(4);
        starpu_sleep(0.001F);
        ck_assert_int_eq(atomic_load(&nran[0]), before);
        starpu_perf_knob_set_per_worker_int32_value(id, (unsigned)last, 1);
        insert(4);
        enable_all(1);
        ck_assert_int_eq(starpu_task_wait_for_all(), 0);
        ck_assert_int_eq(atomic_load(&nran[0]), before + 8);
    }
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(policy_changes)
{
    Suite *suite = suite_create("policy-changes");
    TCase *tc = tcase_create("every policy");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, each_task_runs_once, 0, 90);
    tcase_add_loop_test(tc, who_can_execute_a_task_gets_it, 0, 90);
    tcase_add_loop_test(tc, who_is_enabled_takes_what_was_kept, 0, 90);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-policy-changes.c - every built-in policy, while the program pauses
 * and contexts gain and lose workers: each task runs once, on a worker that can, and
 * the run ends. The first context has the policy as well as the second one.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The number of a policy, and of a machine. */
START_TEST(each_task_runs_once)
{
    struct starpu_sched_policy **list = starpu_sched_get_predefined_policies();
    unsigned n = 0;

    while (list[n])
        n++;
    ck_assert_uint_ge(n, 40);
    if ((unsigned)_i < n)
        run_policy(list[_i]->policy_name, 0, (uint64_t)_i + 1);
    else if (NMACHINES > FIRST_SIMULATED && (unsigned)_i < 2 * n)
        run_policy(list[(unsigned)_i - n]->policy_name, FIRST_SIMULATED,
                   (uint64_t)_i + 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("policy-changes");
    TCase *tc = tcase_create("every policy");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, each_task_runs_once, 0, 90);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

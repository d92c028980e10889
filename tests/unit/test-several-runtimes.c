/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-several-runtimes.c - several runtimes, each with a simulated machine
 * of its own, on one engine in one thread: main has the first one, contexts that it
 * starts have the others. What one computes, and how long it takes in virtual time, is
 * what it would be if that one were alone.
 */
#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/module.h"
#include "core/device/pinned.h"
#include "core/exec/runtime.h"
#include "core/open.h"
#include "core/worker/workers.h"
#include "sim/machine.h"
#include "tests/suite.h"

enum { NRUNTIMES = 8, NDATA = 12, NTASKS = 300 };

static const struct {
    const char *machine, *sched;
    unsigned seed;
    const char *edits;
} specs[NRUNTIMES] = {
    {"h100-pcie-4", "dmdas", 1, NULL}, {"a100-pcie-1", "lws", 2, NULL},
    {"h100-pcie-4", "eager", 3, NULL}, {"epyc-64", "dmda", 4, NULL},
    {"h100-pcie-4", "dmdas", 5, NULL}, {"h100-pcie-4", "dmdas", 1, NULL},
    {"h100-pcie-4", "ws", 7, "cuda.count = 2"}, {"hgx-h100-8", "prio", 8, NULL},
};

/* The module is part of the program. */
int __wrap_orr_module_open(const char *name, const void **ret,
                           struct orr_error *err);
int __wrap_orr_module_open(const char *name, const void **ret,
                           struct orr_error *err)
{
    if (strcmp(name, "sim") != 0)
        return orr_fail(err, -ENOENT, "the test has no module %s", name);
    *ret = &orr_sim_ops;
    return 0;
}

static void add(void *buffers[], void *arg)
{
    uint64_t *to = (uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    const uint64_t *from = (uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[1]);

    (void)arg;
    *to = *to * 3 + *from;
}

static double cost(struct starpu_task *task, unsigned nimpl)
{
    (void)nimpl;
    return 20 + 10 * (double)(starpu_task_get_job_id(task) % 7);
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON,
                                        .cost_function = cost,
                                        .symbol = "several"};
static struct starpu_codelet cl = {.cpu_funcs = {add},
                                   .cuda_funcs = {add},
                                   .nbuffers = 2,
                                   .modes = {STARPU_RW, STARPU_R},
                                   .model = &model,
                                   .name = "add"};

struct outcome {
    uint64_t values[NDATA];
    double us; /* virtual, from the first submission to the last end */
    unsigned nworkers;
};

static unsigned next_of(unsigned *state)
{
    *state = *state * 1103515245U + 12345U;
    return *state >> 16;
}

static struct orr_pinned pinned = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void open_runtime(unsigned i)
{
    const struct orr_setting settings[] = {
        {ORR_CFG_MACHINE, specs[i].machine},
        {ORR_CFG_SCHED, specs[i].sched},
        {specs[i].edits ? ORR_CFG_SET : ORR_CFG_SIM_SEED, specs[i].edits ? specs[i].edits : "0"},
        {ORR_CFG_SIM_KERNELS, "run"},
        {ORR_CFG_ASSUME, "left = 1us"},
        {0, NULL},
    };

    ck_assert_int_eq(orr_runtime_start(NULL, settings, &pinned), 0);
}

/* The values are the sequential program's. */
static void run_graph(unsigned i, struct outcome *ret)
{
    struct orr_runtime *rt = orr_runtime_need(__func__);
    starpu_data_handle_t handles[NDATA];
    uint64_t expected[NDATA];
    unsigned state = specs[i].seed;
    double since = orr_exec_now(rt->exec);

    for (unsigned d = 0; d < NDATA; d++) {
        ret->values[d] = expected[d] = d + i;
        starpu_variable_data_register(&handles[d], STARPU_MAIN_RAM,
                                      (uintptr_t)&ret->values[d],
                                      sizeof(ret->values[d]));
    }
    for (unsigned t = 0; t < NTASKS; t++) {
        unsigned to = next_of(&state) % NDATA;
        unsigned from = (to + 1 + next_of(&state) % (NDATA - 1)) % NDATA;

        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handles[to],
                                            STARPU_R, handles[from], 0),
                         0);
        expected[to] = expected[to] * 3 + expected[from];
    }
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ret->us = orr_exec_now(rt->exec) - since;
    ret->nworkers = rt->workers->n;
    for (unsigned d = 0; d < NDATA; d++)
        starpu_data_unregister(handles[d]);
    ck_assert(orr_runtime_need(__func__) == rt);
    for (unsigned d = 0; d < NDATA; d++)
        ck_assert_uint_eq(ret->values[d], expected[d]);
}

static struct outcome alone[NRUNTIMES], together[NRUNTIMES];

static void run_as_context(void *arg)
{
    unsigned i = (unsigned)(uintptr_t)arg;

    ck_assert_ptr_null(orr_self->runtime);
    open_runtime(i);
    run_graph(i, &together[i]);
    orr_runtime_stop(orr_self->runtime);
    ck_assert_ptr_null(orr_self->runtime);
    orr_context_end();
}

START_TEST(eight_runtimes_on_one_engine_are_as_if_each_were_alone)
{
    struct orr_context init = {.name = "another main"};
    struct orr_context *contexts[NRUNTIMES];
    struct orr_exec *exec;

    for (unsigned i = 0; i < NRUNTIMES; i++) {
        open_runtime(i);
        run_graph(i, &alone[i]);
        orr_runtime_stop(orr_self->runtime);
        ck_assert_ptr_null(orr_self);
    }
    open_runtime(0);
    exec = orr_self->exec;
    for (unsigned i = 1; i < NRUNTIMES; i++)
        ck_assert_int_eq(exec->ops->spawn(exec, &init, -1, run_as_context,
                                          (void *)(uintptr_t)i, &contexts[i]),
                         0);
    run_graph(0, &together[0]);
    for (unsigned i = 1; i < NRUNTIMES; i++)
        exec->ops->join(exec, contexts[i]);
    orr_runtime_stop(orr_self->runtime);
    ck_assert_ptr_null(orr_self);
    for (unsigned i = 0; i < NRUNTIMES; i++) {
        ck_assert_uint_gt(together[i].nworkers, 0);
        ck_assert_uint_eq(together[i].nworkers, alone[i].nworkers);
        ck_assert_mem_eq(together[i].values, alone[i].values,
                         sizeof(alone[i].values));
        ck_assert_double_gt(together[i].us, 0);
        ck_assert_double_eq_tol(together[i].us, alone[i].us,
                                1e-9 * alone[i].us);
    }
}
END_TEST

/* --- what one more costs --- */

static size_t cost_bytes;

static void open_and_look(void *arg)
{
    size_t before = mallinfo2().uordblks;

    (void)arg;
    open_runtime(0);
    cost_bytes = mallinfo2().uordblks - before;
    orr_runtime_stop(orr_self->runtime);
    orr_context_end();
}

START_TEST(a_runtime_beside_an_equal_one_takes_little_memory)
{
    struct orr_context init = {.name = "another main"};
    struct orr_context *context;
    struct orr_exec *exec;

    open_runtime(0);
    exec = orr_self->exec;
    ck_assert_int_eq(
        exec->ops->spawn(exec, &init, -1, open_and_look, NULL, &context), 0);
    exec->ops->join(exec, context);
    orr_runtime_stop(orr_self->runtime);
    ck_assert_uint_le(cost_bytes, 200000); /* 80 kB; without stacks */
}
END_TEST

/* --- tasks that nobody destroys --- */

enum { NLEFT = 1000, NMANY = 6 };

static void run_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet cl_leaf = {.cpu_funcs = {run_nothing}, .name = "left"};

static void submit_leaf(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ck_assert_int_eq(starpu_task_insert(&cl_leaf, 0), 0);
}

static struct starpu_codelet cl_nest = {.cpu_funcs = {submit_leaf}, .name = "left"};
static struct starpu_codelet cl_gang = {.cpu_funcs = {run_nothing},
                                        .type = STARPU_SPMD,
                                        .max_parallelism = 2,
                                        .name = "left"};
static struct starpu_codelet cl_many = {.cpu_funcs = {run_nothing},
                                        .nbuffers = NMANY,
                                        .modes = {STARPU_R, STARPU_R, STARPU_R,
                                                  STARPU_R, STARPU_R, STARPU_R},
                                        .name = "left"};

/* What few jobs have. */
static const struct {
    const char *what;
    struct starpu_codelet *cl;
    bool is_try;
} left[] = {
    {"a nest", &cl_nest, false},
    {"a gang", &cl_gang, false},
    {"a try after a failure", &cl_leaf, true},
    {"more accesses than a job has room for", &cl_many, false},
};

static void submit_left(unsigned i, starpu_data_handle_t handle, int combined)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = left[i].cl;
    if (left[i].is_try)
        task = starpu_task_ft_create_retry(task, task, NULL);
    task->destroy = 0;
    for (int b = 0; b < left[i].cl->nbuffers; b++)
        task->handles[b] = handle;
    task->execute_on_a_specific_worker = left[i].cl == &cl_gang;
    task->workerid = (unsigned)combined;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

/* Bytes in use after a run that leaves such tasks. */
static size_t bytes_after(unsigned i)
{
    int value = 0, members[] = {0, 1}, combined;
    starpu_data_handle_t handle;

    open_runtime(3);
    combined = starpu_combined_worker_assign_workerid(2, members);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    for (int t = 0; t < NLEFT; t++)
        submit_left(i, handle, combined);
    starpu_data_unregister(handle);
    orr_runtime_stop(orr_self->runtime);
    return mallinfo2().uordblks;
}

START_TEST(what_a_task_has_but_itself_goes_with_the_runtime)
{
    /* The tasks stay, in blocks of the process: one more may be begun. */
    enum { RUNS = 5, BLOCK = 272 << 10 };
    size_t before, after = 0, tasks;

    before = bytes_after((unsigned)_i); /* with what the process has once */
    for (int run = 0; run < RUNS; run++)
        after = bytes_after((unsigned)_i);
    tasks = (1U + left[_i].is_try) * RUNS * NLEFT * sizeof(struct starpu_task);
    ck_assert_msg(after < before + tasks + 16 * RUNS * NLEFT + BLOCK,
                  "%d tasks with %s leave %zu bytes", RUNS * NLEFT,
                  left[_i].what, after - before - tasks);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("several-runtimes");
    TCase *tc = tcase_create("several runtimes");

    tcase_add_test(tc, eight_runtimes_on_one_engine_are_as_if_each_were_alone);
    tcase_add_test(tc, a_runtime_beside_an_equal_one_takes_little_memory);
    tcase_add_loop_test(tc, what_a_task_has_but_itself_goes_with_the_runtime,
                        0, sizeof(left) / sizeof(*left));
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/inside.h - for tests of kernels that submit tasks and wait: on each
 * machine, with one, two and more processors.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "machines.h"

/* Each machine with each number of processors. */
enum { NCPUS = 3 };
#define NTIMES (NMACHINES * NCPUS)

static inline void open_one(int i)
{
    static const char *const ncpus[NCPUS] = {"1", "2", "4"};

    setenv("TEST_NCPU", ncpus[i % NCPUS], 1);
    machine_open(i / NCPUS);
}

/* Kernels of these run in simulations, whatever the machine. */
#define CODELET(func)                                                          \
    {                                                                          \
        .cpu_funcs = {func}, .name = "k"                                       \
    }

static inline struct starpu_task *new_task(struct starpu_codelet *cl, void *arg)
{
    struct starpu_task *task = starpu_task_create();

    ck_assert_ptr_nonnull(task);
    task->cl = cl;
    task->cl_arg = arg;
    return task;
}

static inline void submit(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static inline void run(struct starpu_codelet *cl, void *arg)
{
    submit(new_task(cl, arg));
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
}

/* A task that can be waited for, and is freed by that. */
static inline struct starpu_task *begin(struct starpu_codelet *cl, void *arg)
{
    struct starpu_task *task = new_task(cl, arg);

    task->detach = 0;
    submit(task);
    return task;
}

/* --- v = v * 3 + value, so that the order of additions shows --- */

/* Where that is done often, only the lower bits are left. */
static inline int mixed(int v, int factor, int value)
{
    return (int)((unsigned)v * (unsigned)factor + (unsigned)value);
}

static inline void add(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        v[i] = mixed(v[i], 3, (int)(intptr_t)arg);
}

/* Wherever there is a worker. */
static struct starpu_codelet cl_add = {
    .cpu_funcs = {add},
    .cuda_funcs = {add},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static inline void submit_add(starpu_data_handle_t handle, int value)
{
    struct starpu_task *task = new_task(&cl_add, (void *)(intptr_t)value);

    task->handles[0] = handle;
    submit(task);
}

enum { N = 12, PARTS = 3 };

static struct starpu_data_filter thirds = {
    .filter_func = starpu_vector_filter_block,
    .nchildren = PARTS,
};

static inline void wait_for(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_wait(task), 0);
}

static inline struct starpu_task *begin_add(starpu_data_handle_t handle,
                                            int value)
{
    struct starpu_task *task = new_task(&cl_add, (void *)(intptr_t)value);

    task->handles[0] = handle;
    task->detach = 0;
    submit(task);
    return task;
}

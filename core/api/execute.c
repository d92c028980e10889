/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/execute.c - calls of a function on workers. From the application's
 * threads, which wait for them.
 */
#include <stdlib.h>

#include "core/api/api.h"
#include "core/device/kind.h"
#include "core/worker/workers.h"

/* Lives while its caller waits for all tasks that have it. */
struct call {
    void (*func)(void *);
    void *arg;
};

static void executed_call_kernel(void *buffers[], void *cl_arg)
{
    const struct call *call = cl_arg;

    (void)buffers;
    call->func(call->arg);
}

/* Simulated workers call the kernel too, and no time is counted for it. */
static struct starpu_codelet codelet = {
    .cpu_funcs = {executed_call_kernel},
    .cuda_funcs = {executed_call_kernel},
    .hip_funcs = {executed_call_kernel},
    .opencl_funcs = {executed_call_kernel},
    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
    .name = "execute_on_worker",
};

static struct starpu_task *
executed_call_submit(struct call *call, unsigned worker, const char *name)
{
    struct starpu_task *task = starpu_task_create();

    if (!task) {
        orr_log_error("starpu_execute_on_specific_workers: out of memory");
        abort();
    }
    task->name = name;
    task->cl = &codelet;
    task->cl_arg = call;
    task->execute_on_a_specific_worker = 1;
    task->workerid = worker;
    task->detach = 0;
    if (starpu_task_submit(task) == 0)
        return task;
    task->destroy = 0;
    starpu_task_destroy(task);
    return NULL;
}

void starpu_execute_on_specific_workers(void (*func)(void *), void *arg,
                                        unsigned num_workers, unsigned *workers,
                                        const char *name)
{
    ORR_API(rt, __func__);
    struct call call = {func, arg};
    struct starpu_task **tasks;

    if (!func) {
        orr_log_error("%s: the function is NULL", __func__);
        abort();
    }
    for (unsigned i = 0; i < num_workers; i++)
        (void)orr_api_worker(__func__, workers[i]);
    if (!orr_may_block(__func__))
        abort();
    tasks = calloc(num_workers + 1, sizeof(*tasks));
    if (!tasks) {
        orr_log_error("%s: out of memory", __func__);
        abort();
    }
    for (unsigned i = 0; i < num_workers; i++)
        tasks[i] = executed_call_submit(&call, workers[i], name);
    for (unsigned i = 0; i < num_workers; i++)
        if (tasks[i] && starpu_task_wait(tasks[i]) != 0)
            abort();
    free(tasks);
}

void starpu_execute_on_each_worker_ex(void (*func)(void *), void *arg,
                                      uint32_t where, const char *name)
{
    ORR_API(rt, __func__);
    unsigned *workers, n = 0;

    if (where & ~orr_device_kinds_where()) {
        orr_log_error("starpu_execute_on_each_worker: `where' may only have "
                      "bits of the kinds of devices (starpu_task.h); %#x "
                      "has others",
                      (unsigned)where);
        abort();
    }
    workers = calloc(rt->workers->n, sizeof(*workers));
    if (!workers) {
        orr_log_error("%s: out of memory", __func__);
        abort();
    }
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (where & orr_device_where(rt->workers->at[w].desc->type))
            workers[n++] = w;
    starpu_execute_on_specific_workers(func, arg, n, workers, name);
    free(workers);
}

void starpu_execute_on_each_worker(void (*func)(void *), void *arg,
                                   uint32_t where)
{
    starpu_execute_on_each_worker_ex(func, arg, where, NULL);
}

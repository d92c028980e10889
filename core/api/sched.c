/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/sched.c - queries of application policies about a ready task: which
 * workers can run it, and transferring it and its data there. Any thread.
 */
#include <errno.h>

#include "core/api/combined.h"
#include "core/cost/cost.h"
#include "core/device/kind.h"
#include "core/job/job.h"
#include "core/job/tasks.h"
#include "core/sched/gang.h"
#include "core/sched/sched.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

/* -- which workers can -- */

/* Implementations that the worker can run, as bits. Before submission only
 * the codelet is known. */
static unsigned able(const char *call, unsigned workerid,
                     struct starpu_task *task)
{
    const struct orr_worker *worker = orr_api_first_worker(call, workerid);
    struct orr_runtime *rt = worker->runtime;
    struct orr_job *job = orr_job_of(task);
    enum starpu_worker_archtype type = worker->desc->type;

    if (!task->cl || worker->id != workerid)
        return 0; /* a combined worker has a call of its own */
    if (job && orr_job_state(job) != ORR_JOB_NEW)
        return orr_job_able(rt, job, orr_job_costs(rt, job), workerid);
    if (rt->machine->all_devices) {
        const struct orr_cost_row *row = orr_task_costs(rt, task);

        return row ? row->able[worker->class_id] : 0;
    }
    if (task->cl->where && !(task->cl->where & orr_device_where(type)))
        return 0;
    return orr_codelet_functions(task->cl, type);
}

int starpu_worker_can_execute_task(unsigned workerid, struct starpu_task *task,
                                   unsigned nimpl)
{
    ORR_QUESTION();

    return nimpl < STARPU_MAXIMPLEMENTATIONS &&
           (able(__func__, workerid, task) >> nimpl & 1);
}

int starpu_worker_can_execute_task_impl(unsigned workerid,
                                        struct starpu_task *task,
                                        unsigned *impl_mask)
{
    ORR_QUESTION();
    unsigned bits = able(__func__, workerid, task);

    if (impl_mask)
        *impl_mask = bits;
    return bits != 0;
}

int starpu_worker_can_execute_task_first_impl(unsigned workerid,
                                              struct starpu_task *task,
                                              unsigned *nimpl)
{
    ORR_QUESTION();
    unsigned bits = able(__func__, workerid, task);

    if (bits && nimpl)
        *nimpl = orr_first_implementation(bits);
    return bits != 0;
}

/* -- handing on -- */

static struct orr_job *submitted(const char *call, struct starpu_task *task)
{
    struct orr_job *job = orr_job_of(task);

    if (job && orr_job_state(job) != ORR_JOB_NEW)
        return job;
    orr_log_error("%s: the task was not submitted", call);
    abort();
}

/* Aliases are in the order of their gangs, whatever `back`. */
static void push_alias(struct orr_worker *worker, struct starpu_task *task,
                       struct orr_job *alias)
{
    if (orr_job_gang(alias)->job != alias) {
        orr_worker_push_local(worker, alias, true);
        return;
    }
    orr_log_error("starpu_push_local_task: task `%s' is for several workers, "
                  "and each gets one of its aliases, which starpu_task_dup "
                  "makes: it is pushed to none itself",
                  orr_job_name(orr_job_of(task)));
    abort();
}

int starpu_push_local_task(int workerid, struct starpu_task *task, int back)
{
    struct orr_worker *worker = orr_api_worker(__func__, workerid);
    struct orr_job *job = submitted(__func__, task);
    unsigned bits;

    if (orr_job_gang(job)) {
        push_alias(worker, task, job);
        return 0;
    }
    bits = able(__func__, (unsigned)workerid, task);
    if (!bits) {
        orr_log_error("%s: worker %d cannot run task `%s'", __func__, workerid,
                      orr_job_name(job));
        return -ENODEV;
    }
    (void)back;
    if (!(bits >> job->implementation & 1))
        job->implementation = orr_first_implementation(bits);
    orr_worker_push_local(worker, job, true);
    return 0;
}

/* Does nothing: the runtime knows that a push has ended when push_task returns. */
int starpu_push_task_end(struct starpu_task *task)
{
    (void)task;
    return 0;
}

/* -- prefetching -- */

int starpu_get_prefetch_flag(void)
{
    ORR_QUESTION();
    return orr_config_bool(&ORR_API_RUNTIME()->config, ORR_CFG_PREFETCH);
}

static int api_prefetch_task(const char *call, struct starpu_task *task,
                             unsigned node, enum orr_fetch_level level)
{
    struct orr_job *job = submitted(call, task);

    (void)orr_api_node(call, node);
    orr_job_prefetch(orr_runtime_need(call), job, node, level);
    return 0;
}

static unsigned api_worker_node(const char *call, unsigned worker)
{
    return orr_api_first_worker(call, worker)->desc->node;
}

int starpu_prefetch_task_input_on_node(struct starpu_task *task, unsigned node)
{
    return api_prefetch_task(__func__, task, node, ORR_PREFETCH);
}

void starpu_sched_task_break(struct starpu_task *task)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();

    if (orr_job_of(task))
        orr_runtime_break(rt, ORR_BREAK_SCHED, orr_job_of(task)->id);
}

void starpu_task_notify_ready_soon_register(starpu_notify_ready_soon_func f,
                                            void *data)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();

    if (f && atomic_load(&rt->tasks->ready_soon)) {
        orr_log_error("%s: there is a function already; only one is called",
                      __func__);
        abort();
    }
    atomic_store(&rt->tasks->ready_soon_data, data);
    atomic_store(&rt->tasks->ready_soon, f);
}

/* Requests of one level are served in order, whatever `prio`. */
int starpu_prefetch_task_input_on_node_prio(struct starpu_task *task,
                                            unsigned node, int prio)
{
    (void)prio;
    return api_prefetch_task(__func__, task, node, ORR_PREFETCH);
}

int starpu_idle_prefetch_task_input_on_node(struct starpu_task *task,
                                            unsigned node)
{
    return api_prefetch_task(__func__, task, node, ORR_IDLE_PREFETCH);
}

int starpu_idle_prefetch_task_input_on_node_prio(struct starpu_task *task,
                                                 unsigned node, int prio)
{
    (void)prio;
    return api_prefetch_task(__func__, task, node, ORR_IDLE_PREFETCH);
}

int starpu_prefetch_task_input_for(struct starpu_task *task, unsigned worker)
{
    return api_prefetch_task(__func__, task, api_worker_node(__func__, worker),
                             ORR_PREFETCH);
}

int starpu_prefetch_task_input_for_prio(struct starpu_task *task,
                                        unsigned worker, int prio)
{
    (void)prio;
    return api_prefetch_task(__func__, task, api_worker_node(__func__, worker),
                             ORR_PREFETCH);
}

int starpu_idle_prefetch_task_input_for(struct starpu_task *task,
                                        unsigned worker)
{
    return api_prefetch_task(__func__, task, api_worker_node(__func__, worker),
                             ORR_IDLE_PREFETCH);
}

int starpu_idle_prefetch_task_input_for_prio(struct starpu_task *task,
                                             unsigned worker, int prio)
{
    (void)prio;
    return api_prefetch_task(__func__, task, api_worker_node(__func__, worker),
                             ORR_IDLE_PREFETCH);
}

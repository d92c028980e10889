/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/task.c - tasks: creation, submission, waiting, and queries about
 * them. Any thread; what waits is refused in callbacks and kernels.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>

#include "core/api/api.h"
#include "core/api/ctx.h"
#include "core/api/early.h"
#include "core/api/insertion.h"
#include "core/api/poll.h"
#include "core/api/transaction.h"
#include "core/check.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/job/tasks.h"
#include "core/observe/iterations.h"
#include "core/observe/progress.h"
#include "core/observe/trace_record.h"
#include "core/observe/views.h"
#include "core/observe/watchdog.h"
#include "core/sched/gang.h"
#include "core/sched/sched.h"
#include "core/task/again.h"
#include "core/task/task.h"
#include "core/worker/workers.h"

static void do_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

struct starpu_codelet starpu_codelet_nop = {
    .cpu_funcs = {do_nothing},
    .cuda_funcs = {do_nothing},
    .hip_funcs = {do_nothing},
    .opencl_funcs = {do_nothing},
    .nbuffers = 0,
    .model = &starpu_perfmodel_nop,
    .name = "nop",
};

void starpu_codelet_init(struct starpu_codelet *cl)
{
    memset(cl, 0, sizeof(*cl));
}

/* -- life cycle -- */

void starpu_task_init(struct starpu_task *task)
{
    *task = (struct starpu_task)STARPU_TASK_INITIALIZER;
}

struct starpu_task *starpu_task_create(void)
{
    return orr_task_new(orr_runtime_if_open(__func__));
}

/* Whether the task was submitted and has not ended. */
static bool is_underway(const struct starpu_task *task)
{
    const struct orr_job *job = orr_job_of(task);

    return job && orr_job_state(job) != ORR_JOB_NEW &&
           orr_job_state(job) != ORR_JOB_DONE;
}

void starpu_task_clean(struct starpu_task *task)
{
    struct orr_runtime *rt = orr_runtime_current(__func__);

    /* After starpu_shutdown there are no jobs. */
    if (rt && task && is_underway(task)) {
        orr_log_error("%s: task `%s' was submitted and has not ended; wait for "
                      "it first",
                      __func__, orr_job_name(orr_job_of(task)));
        abort();
    }
    if (rt && task && starpu_task_get_current() == task) {
        orr_log_error(
            "%s: task `%s' is in its callback, or its kernel; wait for "
            "it first",
            __func__, orr_job_name(orr_job_of(task)));
        abort();
    }
    if (!rt)
        (void)orr_early_forget((uintptr_t)task);
    orr_task_clean(rt, task);
}

void starpu_task_destroy(struct starpu_task *task)
{
    ORR_API_IF(rt, __func__);

    if (!rt && task && !orr_task_is_freed(task)) {
        (void)orr_early_forget((uintptr_t)task);
        orr_task_free(NULL, task);
    }
    if (!task || !rt)
        return;
    if (orr_job_of(task))
        ORR_RECORD_ABOUT(rt, ORR_ABOUT(.task = task, .gone = true), FORGET);
    if (orr_task_is_freed(task)) {
        orr_log_error("%s: the task at %p is freed already, by its end if its "
                      "destroy was 1 (what starpu_task_create sets)",
                      __func__, (void *)task);
        abort();
    }
    if (is_underway(task)) {
        orr_log_error("starpu_task_destroy: task `%s' was submitted and has "
                      "not ended; wait for it first",
                      orr_job_name(orr_job_of(task)));
        abort();
    }
    /* A task that is destroyed in its callback is freed when the callback has
     * returned. */
    if (!task->detach || !orr_job_of(task) ||
        orr_job_state(orr_job_of(task)) != ORR_JOB_DONE ||
        orr_again_set_destroy(rt, task))
        orr_task_free(rt, task);
}

void starpu_task_set_destroy(struct starpu_task *task)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();

    if (task->destroy) {
        orr_log_error("%s: the task is freed at its end already; this is for "
                      "tasks that were submitted with destroy = 0",
                      __func__);
        abort();
    }
    if (orr_again_set_destroy(rt, task))
        orr_task_free(rt, task);
}

/* Replaces *memory by a copy. */
static bool copy_block(void **memory, size_t size)
{
    void *copy;

    if (!*memory)
        return true;
    copy = malloc(size ? size : 1);
    if (copy)
        memcpy(copy, *memory, size);
    *memory = copy;
    return copy != NULL;
}

/* A void ** view of a typed pointer field. */
static bool copy_array(void *field, size_t n, size_t element)
{
    void *memory;
    bool copied;

    memcpy(&memory, field, sizeof(memory));
    copied = copy_block(&memory, n * element);
    memcpy(field, &memory, sizeof(memory));
    return copied;
}

/* What a task owns its copy must own as well. */
static bool copy_owned(struct starpu_task *task)
{
    size_t n = task->cl ? STARPU_TASK_GET_NBUFFERS(task) : 0;
    bool done = copy_array(&task->dyn_handles, n, sizeof(*task->dyn_handles));

    done &= copy_array(&task->dyn_interfaces, n, sizeof(*task->dyn_interfaces));
    done &= copy_array(&task->dyn_modes, n, sizeof(*task->dyn_modes));
    if (task->cl_arg_free)
        done &= copy_block(&task->cl_arg, task->cl_arg_size);
    task->cl_ret_free = task->callback_arg_free = 0;
    task->epilogue_callback_arg_free = 0;
    task->prologue_callback_arg_free = 0;
    task->prologue_callback_pop_arg_free = 0;
    return done;
}

struct starpu_task *starpu_task_dup(struct starpu_task *task)
{
    const struct orr_job *job =
        orr_runtime_if_open(__func__) ? orr_job_of(task) : NULL;

    if (job && orr_job_gang(job) && orr_job_state(job) == ORR_JOB_READY) {
        struct orr_job *alias = orr_gang_alias(orr_job_gang(job));

        return alias ? alias->task : NULL;
    }
    return orr_api_task_copy(task);
}

struct starpu_task *orr_api_task_copy(const struct starpu_task *task)
{
    struct orr_runtime *rt = orr_runtime_if_open("starpu_task_dup");
    struct starpu_task *dup = orr_task_new(rt);

    if (!dup)
        return NULL;
    *dup = *task;
    dup->starpu_private = NULL;
    dup->status = STARPU_TASK_INIT;
    dup->prev = dup->next = NULL;
    dup->scheduled = dup->prefetched = 0;
    dup->profiling_info = NULL;
    dup->bundle = NULL;
    if (copy_owned(dup))
        return dup;
    orr_task_free(rt, dup);
    return NULL;
}

struct starpu_task *starpu_task_create_sync(starpu_data_handle_t handle,
                                            enum starpu_data_access_mode mode)
{
    struct starpu_task *task = starpu_task_create();

    if (!task)
        return NULL;
    if (orr_runtime_if_open(__func__)) /* else the submission checks it */
        (void)orr_api_handle(__func__, handle);
    task->cl = &orr_codelet_sync;
    task->nbuffers = 1;
    task->handles[0] = handle;
    task->modes[0] = mode;
    return task;
}

void starpu_create_sync_task(starpu_tag_t sync_tag, unsigned ndeps,
                             starpu_tag_t *deps, void (*callback)(void *),
                             void *callback_arg)
{
    struct starpu_task *task = starpu_task_create();

    if (!task) {
        orr_log_error("%s: out of memory", __func__);
        abort();
    }
    starpu_tag_declare_deps_array(sync_tag, ndeps, deps);
    task->use_tag = 1;
    task->tag_id = sync_tag;
    task->callback_func = callback;
    task->callback_arg = callback_arg;
    if (starpu_task_submit(task) != 0)
        abort();
}

/* -- submission -- */

/* How a task is given. */
struct given {
    bool implicit, called;
    unsigned in_graph; /* enum orr_in_graph */
    unsigned ncores;   /* of one memory node, 0: nothing is said of these … */
    size_t memory;     /* … two */
};

static int hand_in(struct orr_runtime *rt, struct starpu_task *task,
                   struct given how)
{
    if (how.ncores)
        return orr_task_submit_on_host(rt, task, how.ncores, how.memory);
    return how.in_graph
               ? orr_task_submit_in_graph(rt, task, how.in_graph)
               : orr_task_submit(rt, task, how.implicit, how.called);
}

static int submit(const char *call, struct starpu_task *task, struct given how)
{
    ORR_API(rt, call);
    int rc;

    if (!task) {
        orr_log_error("%s: the task is NULL", call);
        return -EINVAL;
    }
    /* Without this value the other fields mean nothing. */
    if (task->magic != 42) {
        orr_log_error("starpu_task_submit: the task was not made by "
                      "starpu_task_create nor initialised by "
                      "starpu_task_init");
        return -EINVAL;
    }
    if (orr_task_is_freed(task)) {
        orr_log_error("starpu_task_submit: the task at %p is freed already: "
                      "with destroy = 0 it outlives its end, and can be "
                      "submitted again",
                      (void *)task);
        return -EINVAL;
    }
    if (!task->transaction)
        return hand_in(rt, task, how);
    rc = orr_transaction_join(task);
    if (rc)
        return rc;
    rc = hand_in(rt, task, how);
    if (rc)
        orr_transaction_leave(task);
    return rc;
}

int starpu_task_submit(struct starpu_task *task)
{
    return submit(__func__, task, (struct given){.implicit = true});
}

int starpu_task_submit_nodeps(struct starpu_task *task)
{
    return submit(__func__, task, (struct given){.implicit = false});
}

int orrery_task_submit_and_call(struct starpu_task *task)
{
    if (!orr_may_block(__func__))
        return -EDEADLK;
    return submit(__func__, task,
                  (struct given){.implicit = true, .called = true});
}

int orrery_task_submit_in_graph(struct starpu_task *task, int again)
{
    return submit(
        __func__, task,
        (struct given){.implicit = true,
                       .in_graph = again ? ORR_IN_GRAPH_AGAIN : ORR_IN_GRAPH});
}

int orrery_task_submit_on_host(struct starpu_task *task, unsigned ncores,
                               size_t memory)
{
    bool any = ncores > 1 || memory > 0;

    if (task && any &&
        (task->execute_on_a_specific_worker || task->workerids_len ||
         task->regenerate)) {
        orr_log_error("%s: task `%s' %s, and is to have cores or memory of any "
                      "memory node: leave out one of these",
                      __func__, starpu_task_get_name(task),
                      task->regenerate ? "regenerates" : "names workers");
        return -EINVAL;
    }
    return submit(__func__, task,
                  (struct given){.implicit = true,
                                 .ncores = !any         ? 0
                                           : ncores > 1 ? ncores
                                                        : 1,
                                 .memory = memory});
}

void orrery_graph_launch(void)
{
    ORR_API(rt, __func__);

    ORR_RECORD(rt, GRAPH_LAUNCH);
    orr_charge(rt->machine->costs.kernel_queue);
    orr_pay();
}

int starpu_task_submit_to_ctx(struct starpu_task *task, unsigned sched_ctx_id)
{
    if (task)
        task->sched_ctx = sched_ctx_id;
    return submit(__func__, task, (struct given){.implicit = true});
}

void starpu_create_callback_task(void (*callback)(void *), void *callback_arg)
{
    struct starpu_task *task = starpu_task_create();

    if (!task) {
        orr_log_error("%s: out of memory", __func__);
        abort();
    }
    task->callback_func = callback;
    task->callback_arg = callback_arg;
    if (starpu_task_submit(task) != 0)
        abort();
}

static void record_limits(struct orr_runtime *rt)
{
    ORR_RECORD(rt, LIMITS, .least = atomic_load(&rt->tasks->limit_min),
               .most = atomic_load(&rt->tasks->limit_max));
}

void starpu_set_limit_min_submitted_tasks(int limit_min)
{
    ORR_API(rt, __func__);

    atomic_store(&rt->tasks->limit_min, limit_min);
    record_limits(rt);
}

void starpu_set_limit_max_submitted_tasks(int limit_max)
{
    ORR_API(rt, __func__);

    atomic_store(&rt->tasks->limit_max, limit_max);
    record_limits(rt);
}

/* -- waiting -- */

static const char polls[] =
    "questions what has ended, on which the calls that follow may depend";

int starpu_task_finished(struct starpu_task *task)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();

    if (!task || task->detach) {
        orr_log_error("%s: the task is detached and may be gone; set its field "
                      "detach to 0 before submitting it",
                      __func__);
        abort();
    }
    ORR_RECORD_NOTE(rt, polls);
    if (orr_task_has_ended_before(task) || orr_again_has_ended(rt, task))
        return 1;
    orr_poll();
    return 0;
}

int starpu_task_wait(struct starpu_task *task)
{
    ORR_API(rt, __func__);
    struct orr_job *job;

    if (!task || task->detach || task->synchronous) {
        orr_log_error("starpu_task_wait: the task is %s",
                      !task ? "NULL"
                      : task->synchronous
                          ? "synchronous: it has ended when it is submitted"
                          : "detached and may be gone; set its field detach to "
                            "0 before submitting it");
        return -EINVAL;
    }
    if (!orr_may_block(__func__))
        return -EDEADLK;
    if (orr_task_has_ended_before(task) && !task->destroy)
        return 0;
    job = orr_again_ref(rt, task); /* its callback may submit it again */
    if (!job || orr_job_state(job) == ORR_JOB_NEW) {
        orr_log_error("starpu_task_wait: the task was not submitted");
        if (job)
            orr_job_unref(rt, job);
        return -EINVAL;
    }
    ORR_RECORD_ABOUT(rt, ORR_ABOUT(.task = task, .gone = task->destroy),
                     WAIT_TASK);
    orr_pay();
    orr_job_wait(rt, job);
    orr_job_unref(rt, job);
    if (task->destroy)
        orr_task_free(rt, task);
    ORR_TELL(rt, ORR_TOLD_WAITED);
    return 0;
}

int orrery_task_await(struct starpu_task *task)
{
    ORR_API(rt, __func__);
    struct orr_job *job;

    if (!orr_may_block(__func__))
        return -EDEADLK;
    job = task ? orr_again_ref(rt, task) : NULL;
    if (!job)
        return -EINVAL;
    if (orr_job_state(job) == ORR_JOB_NEW) {
        orr_job_unref(rt, job);
        return -EINVAL;
    }
    orr_pay();
    orr_job_wait(rt, job);
    orr_job_unref(rt, job);
    /* Behind what callbacks have done for it, without which a replay would wait for ever. */
    ORR_RECORD_ABOUT(rt, ORR_ABOUT(.task = task), WAIT_TASK);
    ORR_TELL(rt, ORR_TOLD_WAITED);
    return 0;
}

void orrery_own_wait_begin(const void *what)
{
    ORR_API_IF(rt, __func__);

    if (rt)
        orr_calls_begin_own_wait(rt, what);
}

void orrery_own_wait_end(const void *what)
{
    /* The library knows nothing of other threads. */
    const struct orr_job *job = orr_self ? orr_self->job : NULL;

    if (job && job->task)
        orr_calls_end_own_wait(orr_self->runtime, what, job->task);
}

int starpu_task_wait_array(struct starpu_task **tasks, unsigned nb_tasks)
{
    orr_api_array(__func__, tasks, nb_tasks, "tasks");
    for (unsigned i = 0; i < nb_tasks; i++) {
        int rc = starpu_task_wait(tasks[i]);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* What a debug build looks at each time that all tasks have ended: more would
 * make programs slow that wait often. */
enum { CHECKED_HANDLES = 256 };

static void check_quiet(struct orr_runtime *rt)
{
    if (orr_count_unfinished(rt) == 0)
        orr_runtime_check_quiet(rt, CHECKED_HANDLES);
}

/* Waits for the contexts nested in this one first. */
static int wait_nested(struct orr_runtime *rt, const char *call, unsigned id,
                       unsigned n)
{
    unsigned inner[STARPU_NMAX_SCHED_CTXS];
    unsigned ninner = orr_sched_ctx_nested(rt, id, inner);
    int rc = 0;

    for (unsigned i = 0; i < ninner && !rc; i++)
        rc = wait_nested(rt, call, inner[i], n);
    return rc ? rc : orr_wait_for_n_in(rt, call, id, n);
}

/* Waits until n tasks are left: of the context that the thread has chosen, else of all
 * contexts. */
static int wait_for_n(const char *call, unsigned n)
{
    ORR_API(rt, call);
    unsigned chosen = orr_self->sched_ctx;
    int rc;

    ORR_RECORD(rt, WAIT_ALL, .value = n);
    if (!orr_self->frozen)
        orr_sched_do_schedule(rt);
    rc = chosen ? wait_nested(rt, call, chosen - 1U, n)
                : orr_wait_for_n(rt, call, n);
    ORR_TELL(rt, ORR_TOLD_WAITED);
    orr_progress_clear(rt);
    if (rc == 0)
        check_quiet(rt);
    return rc;
}

int starpu_task_wait_for_all(void)
{
    return wait_for_n(__func__, 0);
}

int starpu_task_wait_for_n_submitted(unsigned n)
{
    return wait_for_n(__func__, n);
}

static int wait_in_ctx(const char *call, unsigned id, unsigned n)
{
    ORR_API(rt, call);
    struct orr_sched *sched = orr_api_sched(call, id);
    int rc;

    ORR_RECORD(rt, WAIT_ALL, .value = n);
    if (!orr_self->frozen && sched->ops->do_schedule)
        sched->ops->do_schedule(sched);
    rc = orr_wait_for_n_in(rt, call, id, n);
    if (rc == 0)
        check_quiet(rt);
    return rc;
}

int starpu_task_wait_for_all_in_ctx(unsigned sched_ctx_id)
{
    return wait_in_ctx(__func__, sched_ctx_id, 0);
}

int starpu_task_wait_for_n_submitted_in_ctx(unsigned sched_ctx_id, unsigned n)
{
    return wait_in_ctx(__func__, sched_ctx_id, n);
}

static bool is_busy(struct orr_runtime *rt)
{
    bool busy = orr_count_ready(rt) > 0;

    /* A task that asks does not count itself. */
    for (unsigned w = 0; w < rt->workers->n; w++)
        busy |= &rt->workers->at[w] != orr_self->worker &&
                atomic_load(&rt->workers->at[w].state) != ORR_WORKER_IDLE;
    return busy;
}

/* Polls: no task notifies when the last ready one has ended. */
int starpu_task_wait_for_no_ready(void)
{
    static const struct orr_awaited awaited = {
        .noun = "workers to have no ready task"};
    ORR_API(rt, __func__);
    const double interval_us = 10;

    if (!orr_may_block(__func__))
        return -EDEADLK;
    ORR_RECORD(rt, WAIT_READY);
    orr_sched_do_schedule(rt);
    ORR_APPLICATION_DOES(rt, ORR_TRACE_WAITS, __func__);
    while (is_busy(rt))
        orr_context_poll(&awaited, interval_us);
    return 0;
}

void starpu_do_schedule(void)
{
    ORR_API(rt, __func__);

    ORR_RECORD(rt, SCHEDULE);
    orr_sched_do_schedule(rt);
}

int starpu_task_nready(void)
{
    ORR_QUESTION();

    ORR_RECORD_NOTE(ORR_API_RUNTIME(), polls);
    orr_poll();
    return (int)orr_count_ready(ORR_API_RUNTIME());
}

int starpu_task_nsubmitted(void)
{
    ORR_QUESTION();

    ORR_RECORD_NOTE(ORR_API_RUNTIME(), polls);
    orr_poll();
    return (int)orr_count_unfinished(ORR_API_RUNTIME());
}

/* Loops are those of the caller's scheduling context. */
void starpu_iteration_push(unsigned long iteration)
{
    ORR_API(rt, __func__);
    unsigned ctx = orr_api_current_ctx();

    ORR_RECORD(rt, ITERATION, .value = iteration);
    orr_iterations_push(&rt->views->iterations, ctx, iteration);
    ORR_TELL(rt, ORR_TOLD_LOOPS, .ctx = ctx);
}

void starpu_iteration_pop(void)
{
    ORR_API(rt, __func__);
    unsigned ctx = orr_api_current_ctx();

    ORR_RECORD(rt, ITERATION, .how = ORR_HOW_END);
    if (orr_iterations_pop(&rt->views->iterations, ctx)) {
        ORR_TELL(rt, ORR_TOLD_LOOPS, .ctx = ctx);
        return;
    }
    orr_log_error("starpu_iteration_pop: no iteration has begun in this "
                  "scheduling context: call it once for each "
                  "starpu_iteration_push");
    abort();
}

void starpu_task_watchdog_set_hook(void (*hook)(void *), void *hook_arg)
{
    orr_watchdog_tasks_hook(hook, hook_arg);
}

/* -- questions -- */

struct starpu_task *starpu_task_get_current(void)
{
    struct orr_job *job = orr_self ? orr_self->job : NULL;

    if (job && job->plain)
        orr_job_show(job);
    return job ? job->task : NULL;
}

int starpu_task_get_current_data_node(unsigned i)
{
    const struct orr_job *job = orr_self ? orr_self->job : NULL;
    unsigned at = job && i < job->naccesses ? job->accesses[i].at : ORR_NO_PLACE;

    return at == ORR_NO_PLACE ? -1 : (int)at;
}

const char *starpu_task_get_model_name(struct starpu_task *task)
{
    const struct starpu_codelet *cl = task ? task->cl : NULL;

    return cl && cl->model ? cl->model->symbol : NULL;
}

const char *starpu_task_get_name(struct starpu_task *task)
{
    if (!task)
        return NULL;
    if (task->name)
        return task->name;
    if (task->cl && task->cl->name)
        return task->cl->name;
    return starpu_task_get_model_name(task);
}

char *starpu_task_status_get_as_string(enum starpu_task_status status)
{
    static char names[][32] = {
        [STARPU_TASK_INIT] = "STARPU_TASK_INIT",
        [STARPU_TASK_BLOCKED] = "STARPU_TASK_BLOCKED",
        [STARPU_TASK_READY] = "STARPU_TASK_READY",
        [STARPU_TASK_RUNNING] = "STARPU_TASK_RUNNING",
        [STARPU_TASK_FINISHED] = "STARPU_TASK_FINISHED",
        [STARPU_TASK_BLOCKED_ON_TAG] = "STARPU_TASK_BLOCKED_ON_TAG",
        [STARPU_TASK_BLOCKED_ON_TASK] = "STARPU_TASK_BLOCKED_ON_TASK",
        [STARPU_TASK_BLOCKED_ON_DATA] = "STARPU_TASK_BLOCKED_ON_DATA",
        [STARPU_TASK_STOPPED] = "STARPU_TASK_STOPPED",
    };
    static char unknown[] = "unknown status";

    return (size_t)status < sizeof(names) / sizeof(names[0]) ? names[status]
                                                             : unknown;
}

static struct orr_job *job_of(const char *call, struct starpu_task *task)
{
    struct orr_job *job = orr_job_get(orr_runtime_need(call), task);

    if (job)
        return job;
    orr_log_error("%s: out of memory", call);
    abort();
}

void starpu_task_set_implementation(struct starpu_task *task, unsigned impl)
{
    job_of(__func__, task)->implementation = (uint8_t)impl;
}

unsigned starpu_task_get_implementation(struct starpu_task *task)
{
    return job_of(__func__, task)->implementation;
}

unsigned long starpu_task_get_job_id(struct starpu_task *task)
{
    ORR_QUESTION();
    return job_of(__func__, task)->id;
}

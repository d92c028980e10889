/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/task.c - tasks from creation to submission. Any context may submit;
 * blocking calls are refused in callbacks.
 */
#include "core/task/task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/cost/held.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/plan.h"
#include "core/data/reduction.h"
#include "core/data/release.h"
#include "core/exec/runtime.h"
#include "core/job/ahead.h"
#include "core/job/count.h"
#include "core/job/tasks.h"
#include "core/job/watched.h"
#include "core/observe/calls.h"
#include "core/observe/trace_record.h"
#include "core/observe/views.h"
#include "core/sched/bundle.h"
#include "core/sched/ctxs.h"
#include "core/sched/follow.h"
#include "core/sched/recruit.h"
#include "core/sched/sched.h"
#include "core/slab_set.h"
#include "core/task/again.h"
#include "core/task/end.h"
#include "core/task/tag.h"
#include "core/task/transaction.h"
#include "core/worker/workers.h"

struct starpu_task *orr_task_new(struct orr_runtime *rt)
{
    static const struct starpu_task initial = STARPU_TASK_INITIALIZER;
    struct starpu_task *task =
        rt ? orr_slab_get_zeroed(rt->slabs->tasks) : orr_task_take_outside();

    if (!task)
        return NULL;
    /* The rest of `initial' is zero: half of the lines of a new task stay untouched. */
    task->where = initial.where;
    task->sequential_consistency = initial.sequential_consistency;
    task->detach = initial.detach;
    task->magic = initial.magic;
    task->sched_ctx = initial.sched_ctx;
    task->predicted = initial.predicted;
    task->predicted_transfer = initial.predicted_transfer;
    task->predicted_start = initial.predicted_start;
    task->destroy = 1;
    orr_task_mark(task);
    return task;
}

static void free_if(bool owned, void *memory)
{
    if (owned)
        free(memory);
}

/* What the application has set is freed with the task itself, on request. */
static void task_free_arguments(struct starpu_task *task)
{
    free_if(task->cl_arg_free, task->cl_arg);
    free_if(task->cl_ret_free, task->cl_ret);
    free_if(task->callback_arg_free, task->callback_arg);
    free_if(task->epilogue_callback_arg_free, task->epilogue_callback_arg);
    free_if(task->prologue_callback_arg_free, task->prologue_callback_arg);
    free_if(task->prologue_callback_pop_arg_free,
            task->prologue_callback_pop_arg);
}

static void task_free_attached(struct starpu_task *task)
{
    free(task->dyn_handles);
    free(task->dyn_interfaces);
    free(task->dyn_modes);
    free(task->profiling_info);
}

/* Whether these two, which mostly have nothing to free, are to be called. */
static inline bool task_owns_memory(const struct starpu_task *task)
{
    return task->cl_arg_free | task->cl_ret_free | task->callback_arg_free |
               task->epilogue_callback_arg_free |
               task->prologue_callback_arg_free |
               task->prologue_callback_pop_arg_free ||
           (uintptr_t)task->dyn_handles | (uintptr_t)task->dyn_interfaces |
               (uintptr_t)task->dyn_modes | (uintptr_t)task->profiling_info;
}

/* Takes the task out of the tables that know it. */
static inline void task_leave(struct orr_runtime *rt, struct starpu_task *task)
{
    struct orr_job *job = orr_job_of(task);

    if (task->use_tag && job)
        orr_tag_forget_task(rt, task->tag_id, task);
    if (job && orr_job_again(job))
        orr_again_forget(rt, job);
    if (task->bundle)
        (void)orr_bundle_remove(task->bundle, task);
}

void orr_task_clean(struct orr_runtime *rt, struct starpu_task *task)
{
    struct orr_job *job = rt ? orr_job_of(task) : NULL;

    if (rt)
        task_leave(rt, task);
    if (job && !orr_job_is_submitted(job))
        job->task = NULL; /* others may wait to tell it that they have ended */
    task_free_attached(task);
    task->dyn_handles = NULL;
    task->dyn_interfaces = NULL;
    task->dyn_modes = NULL;
    task->profiling_info = NULL;
    task->starpu_private = NULL;
    task->status = STARPU_TASK_INIT;
    if (job)
        orr_job_unref(rt, job);
}

void orr_task_free(struct orr_runtime *rt, struct starpu_task *task)
{
    struct orr_job *job = rt ? orr_job_of(task) : NULL;

    orr_task_free_ended(rt, task);
    if (!job)
        return;
    if (!orr_job_is_submitted(job))
        job->task = NULL; /* as in orr_task_clean */
    orr_job_unref(rt, job);
}

struct starpu_codelet orr_task_freed;

/* Writes only where orr_slab_put does, too: the memory goes back to main, in whose
 * cache it is. */
void orr_task_free_ended(struct orr_runtime *rt, struct starpu_task *task)
{
    if (rt)
        task_leave(rt, task);
    if (task_owns_memory(task)) {
        task_free_arguments(task);
        task_free_attached(task);
    }
    task->cl = &orr_task_freed;
    if (rt)
        orr_task_put(rt->slabs->tasks, task);
    else
        orr_task_put_outside(task);
}

void orr_task_free_plain(struct orr_runtime *rt, struct starpu_task *task)
{
    task->cl = &orr_task_freed;
    orr_slab_put(rt->slabs->tasks, task);
}

/* A task that has ended may be gone, and one that was not submitted is the
 * application's; a gang's is that of all its aliases. */
static bool is_to_be_freed(const struct orr_job *job)
{
    return orr_job_is_submitted(job) && orr_job_state(job) != ORR_JOB_DONE &&
           job->task && job->task->destroy && !orr_job_gang(job);
}

/* Whether the application's task is still there, and this job is its: it may be gone
 * without having been cleaned. */
static bool is_still_its(const struct starpu_task *task,
                         const struct orr_job *job)
{
    const void *seen = NULL;
    struct iovec to = {&seen, sizeof(seen)},
                 from = {(void *)(uintptr_t)&task->starpu_private,
                         sizeof(seen)};

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) ==
               (ssize_t)sizeof(seen) &&
           seen == job;
}

static void task_drop(void *object, void *arg)
{
    struct orr_runtime *rt = arg;
    struct orr_job *job = object;
    struct starpu_task *task = job->task;

    if (atomic_load(&job->refs) == 0)
        return;
    if (is_to_be_freed(job)) {
        task_free_arguments(task);
        task_free_attached(task);
        task->cl = &orr_task_freed;
        orr_task_put(rt->slabs->tasks, task);
    } else if (task && (orr_slab_made(rt->slabs->tasks, task)
                            ? orr_job_of(task) == job
                            : is_still_its(task, job))) {
        task->starpu_private = NULL;
    }
    orr_job_free_parts(rt, job);
}

static void each_job(struct orr_runtime *rt, void (*visit)(void *, void *))
{
    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        if (rt->slabs->jobs[i] && !orr_slab_is_unused(rt->slabs->jobs[i]))
            orr_slab_each(rt->slabs->jobs[i], visit, rt);
}

void orr_tasks_drop(struct orr_runtime *rt)
{
    each_job(rt, task_drop);
}

static void task_abandon(void *object, void *arg)
{
    const struct orr_runtime *rt = arg;
    const struct orr_job *job = object;

    if (atomic_load(&job->refs) == 0 || !job->task ||
        !orr_slab_made(rt->slabs->tasks, job->task) ||
        orr_job_of(job->task) != job)
        return;
    job->task->cl = &orr_task_freed;
    orr_task_put_outside(job->task);
}

void orr_tasks_abandon(struct orr_runtime *rt)
{
    each_job(rt, task_abandon);
}

/* --- arguments --- */

/* Whether some buffer has the value of data to which the task contributes. */
static bool uses_value(const struct starpu_task *task, int n,
                       starpu_data_handle_t handle)
{
    for (int i = 0; i < n; i++)
        if (STARPU_TASK_GET_HANDLE(task, i) == handle &&
            !(STARPU_TASK_GET_MODE(task, i) & (STARPU_REDUX | STARPU_SCRATCH)))
            return true;
    return false;
}

static const char *name_of(const struct starpu_task *task)
{
    if (task->name)
        return task->name;
    return task->cl && task->cl->name ? task->cl->name : "?";
}

/* Whether the task can contribute to its buffer. */
static int check_contribution(const struct starpu_task *task, int buffer, int n)
{
    starpu_data_handle_t public = STARPU_TASK_GET_HANDLE(task, buffer);
    const struct orr_handle *handle = orr_handle_of(public);
    const struct orr_reduction *reduction = handle->reduction;
    const char *wrong = NULL;

    if (STARPU_TASK_GET_MODE(task, buffer) & (STARPU_RW | STARPU_SCRATCH))
        wrong = "STARPU_REDUX goes with no other mode";
    else if (!reduction || !reduction->init || !reduction->redux)
        wrong = "STARPU_REDUX needs the codelets that begin and combine parts: "
                "call starpu_data_set_reduction_methods with both";
    else if (handle->arbiter)
        wrong = "data with an arbiter cannot be reduced: use "
                "STARPU_RW|STARPU_COMMUTE";
    else if (uses_value(task, n, public))
        wrong = "the task uses the value of the data to which it contributes: "
                "a contribution sees its worker's part only";
    if (!wrong)
        return 0;
    orr_log_error("starpu_task_submit: buffer %d of task `%s' (%s): "
                  "%s",
                  buffer, name_of(task), orr_handle_label(handle).text, wrong);
    return -EINVAL;
}

/* One of n buffers about which there is something to say, maybe. */
static int check_buffer(const struct starpu_task *task, int i, int n)
{
    const struct orr_handle *handle =
        orr_handle_of(STARPU_TASK_GET_HANDLE(task, i));
    enum starpu_data_access_mode mode = STARPU_TASK_GET_MODE(task, i);
    const char *wrong = NULL;

    if (!handle)
        wrong = "has no data handle";
    else if (orr_handle_trouble(handle))
        wrong = "has a data handle that is none, or whose data were unregistered";
    else if (handle->partitioned)
        wrong = "is partitioned: use its sub-data, or call "
                "starpu_data_unpartition first";
    else if (mode & STARPU_NONE)
        wrong = "has mode STARPU_NONE: say how it is used";
    else if (handle->is_duplicate && mode & (STARPU_W | STARPU_REDUX))
        wrong = "is written, but comes from starpu_data_dup_ro: such copies are "
                "shared, and only read";
    else if (mode & STARPU_REDUX)
        return check_contribution(task, i, n);
    if (!wrong)
        return 0;
    orr_log_error("starpu_task_submit: buffer %d of task `%s' %s", i,
                  name_of(task), wrong);
    return -EINVAL;
}

static int check_buffers(const struct starpu_task *task)
{
    int n = (int)STARPU_TASK_GET_NBUFFERS(task);
    const starpu_data_handle_t *handles;
    const enum starpu_data_access_mode *modes;

    if (n < 0 || n > UINT16_MAX) {
        orr_log_error("starpu_task_submit: codelet `%s' has nbuffers = %d: "
                      "set codelet.nbuffers, or task->nbuffers when that is "
                      "STARPU_VARIABLE_NBUFFERS",
                      task->cl->name ? task->cl->name : "?", n);
        return -EINVAL;
    }
    handles = STARPU_TASK_GET_HANDLES(task);
    modes = &STARPU_TASK_GET_MODE(task, 0);
    for (int i = 0; i < n; i++) {
        const struct orr_handle *handle = orr_handle_of(handles[i]);

        if ((orr_handle_trouble(handle) || handle->partitioned ||
             handle->is_duplicate ||
             modes[i] & (STARPU_NONE | STARPU_REDUX)) &&
            check_buffer(task, i, n) != 0)
            return -EINVAL;
    }
    return 0;
}

static int check_task(struct orr_runtime *rt, struct starpu_task *task)
{
    struct orr_job *job = orr_job_of(task);
    int err;

    if (task->workerids_len && !task->workerids) {
        orr_log_error(
            "starpu_task_submit: task `%s' has workerids_len = %u and no "
            "workerids; give a bit for each worker",
            name_of(task), task->workerids_len);
        return -EINVAL;
    }
    if (job && orr_job_state(job) != ORR_JOB_NEW &&
        (orr_job_state(job) != ORR_JOB_DONE ||
         task->status != STARPU_TASK_FINISHED)) {
        orr_log_error("starpu_task_submit: task `%s' was submitted and has not "
                      "ended; wait for it, or make a new one",
                      orr_job_name(job));
        return -EINVAL;
    }
    if (task->synchronous && !orr_may_block("starpu_task_submit of a "
                                            "synchronous task"))
        return -EDEADLK;
    if (!task->cl)
        return 0;
    err = check_buffers(task);
    if (!err && task->cl->specific_nodes)
        err = orr_task_check_places(rt, task);
    return err;
}

/* --- building the job --- */

/* Tasks with many buffers bring an array of handles; the array of interfaces may have
 * to be made here. */
static inline int reserve_accesses(struct orr_job *job)
{
    struct starpu_task *task = job->task;
    unsigned n = task->cl ? STARPU_TASK_GET_NBUFFERS(task) : 0;

    if (task->dyn_handles && !task->dyn_interfaces) {
        task->dyn_interfaces = calloc(n, sizeof(*task->dyn_interfaces));
        if (!task->dyn_interfaces)
            return -ENOMEM;
    }
    return n == job->naccesses ? 0 : orr_job_reserve(job, n);
}

/* Fills the accesses in and returns them sorted, for orr_job_order. Sets the interfaces
 * that models and the application see before it is known where the task runs. */
static struct orr_access *fill_accesses(struct orr_job *job, bool implicit,
                                        bool lent)
{
    struct starpu_task *task = job->task;
    const unsigned char *per_handle = task->handles_sequential_consistency;
    void **interfaces =
        task->dyn_interfaces ? task->dyn_interfaces : task->interfaces;
    const starpu_data_handle_t *handles;
    const enum starpu_data_access_mode *modes;
    unsigned n = job->naccesses;

    if (n == 0)
        return NULL;
    handles = STARPU_TASK_GET_HANDLES(task);
    modes = &STARPU_TASK_GET_MODE(task, 0);
    implicit = implicit && task->sequential_consistency;
    job->modes = 0;
    job->data.reducible = 0;
    for (unsigned i = 0; i < n; i++) {
        struct orr_access *access = &job->accesses[i];
        struct orr_handle *handle = orr_handle_of(handles[i]);

        orr_ahead_handle(handle);
        access->job = job;
        access->handle = handle;
        interfaces[i] = handle->home_interface;
        access->mode = (uint16_t)modes[i];
        access->index = (uint16_t)i;
        access->wants_order =
            implicit && handle->sequential && (!per_handle || per_handle[i]);
        access->lent = lent;
        job->modes |= access->mode;
        job->data.reducible |= handle->reduction != NULL;
    }
    return orr_job_sort_accesses(job);
}

/* The task's data are more than the memories of the workers that could run it have room
 * for. */
static void say_too_large(const struct orr_runtime *rt,
                          const struct orr_job *job, uint64_t classes)
{
    const struct orr_node_desc *largest = NULL;
    unsigned limited = 0;
    double size = 0;

    for (unsigned i = 0; i < job->naccesses; i++)
        if (!job->accesses[i].duplicate)
            size += (double)job->accesses[i].handle->size;
    for (; classes; classes &= classes - 1) {
        const struct orr_worker_class *class =
            &rt->workers->classes[__builtin_ctzll(classes)];
        const struct orr_node_desc *node = &rt->machine->nodes[class->node];

        if (largest && node->capacity <= largest->capacity)
            continue;
        largest = node;
        limited = class->node;
    }
    orr_log_error("starpu_task_submit: the data of task `%s' are %.1f MiB, "
                  "more than the memory of any device that could run it "
                  "(%s: %.1f MiB): make its data smaller, or raise "
                  "%s if it is set",
                  orr_job_name(job), size / 1048576, largest->name,
                  (double)largest->capacity / 1048576,
                  orr_memory_limit(rt, limited));
}

static int find_some_worker(struct orr_runtime *rt, struct orr_job *job)
{
    if (orr_job_make_costs(rt, job) != 0)
        return -ENOMEM;
    if (orr_job_possible(rt, job))
        return 0;
    if (job->costs->too_small)
        say_too_large(rt, job, job->costs->too_small);
    else if (rt->sim)
        orr_held_tell_unable(rt, job);
    return -ENODEV;
}

/* --- what comes when it is ready --- */

static bool is_nowhere(const struct starpu_task *task)
{
    return !task->cl || task->where == STARPU_NOWHERE ||
           task->cl->where == STARPU_NOWHERE;
}

static void task_ready(struct orr_runtime *rt, struct orr_job *job)
{
    starpu_trs_epoch_t epoch;

    orr_job_set_state(job, ORR_JOB_READY);
    if (orr_job_is_plain(job)) {
        ORR_TELL(rt, ORR_TOLD_TASK_READY, .job = job);
        orr_sched_push(rt, job);
        return;
    }
    epoch = job->task->trs_epoch;
    if (job->task->prologue_callback_func)
        orr_call_user(job, job->task->prologue_callback_func,
                      job->task->prologue_callback_arg);
    if ((epoch && atomic_load(&epoch->cancelled)) ||
        is_nowhere(job->task)) { /* as of now */
        job->type = &orr_job_empty;
        orr_job_skip(rt, job);
        return;
    }
    ORR_TELL(rt, ORR_TOLD_TASK_READY, .job = job);
    job->task->status = STARPU_TASK_READY;
    job->able_classes = 0;
    orr_sched_push(rt, job);
}

static void task_arrived(struct orr_runtime *rt, struct orr_job *job,
                         int worker)
{
    (void)job;
    orr_worker_wake(&rt->workers->at[worker]);
}

static void task_resumed(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_worker *worker = &rt->workers->at[job->worker];

    orr_lock(&worker->lock);
    orr_list_append(&worker->resumed, &job->queue);
    orr_unlock(&worker->lock);
    orr_worker_wake(worker);
}

const struct orr_job_type orr_job_task = {
    .ready = task_ready,
    .arrived = task_arrived,
    .resumed = task_resumed,
    .may_avoid = orr_job_may_avoid,
};

/* --- submission --- */

static void throttle(struct orr_runtime *rt)
{
    int max = atomic_load_explicit(&rt->tasks->limit_max, memory_order_relaxed);
    int min = atomic_load_explicit(&rt->tasks->limit_min, memory_order_relaxed);
    struct orr_context *self = orr_self;

    if (max < 0 || min < 0 || self->frozen || self->job)
        return;
    if (orr_count_unfinished(rt) <= (unsigned)max)
        return;
    (void)orr_wait_for_n(rt,
                         "starpu_task_submit: STARPU_LIMIT_MAX_SUBMITTED_TASKS",
                         (unsigned)min);
}

/* The scheduling context that the task names, or the calling thread has chosen,
 * or the first. */
static int choose_context(struct orr_runtime *rt, struct orr_job *job)
{
    struct starpu_task *task = job->task;
    unsigned id = task->sched_ctx;

    if (id == STARPU_NMAX_SCHED_CTXS)
        id = orr_self->sched_ctx ? orr_self->sched_ctx - 1U : 0;
    if (id >= STARPU_NMAX_SCHED_CTXS || !rt->sched_ctxs->at[id]) {
        orr_log_error("starpu_task_submit: task `%s' is for scheduling context "
                      "%u, which does not exist: use what "
                      "starpu_sched_ctx_create returned, before it is deleted",
                      orr_job_name(job), id);
        return -EINVAL;
    }
    job->sched_ctx = (uint8_t)id;
    task->sched_ctx = id;
    return 0;
}

/* See orr_job_is_plain. Others look at a task where time is simulated, or where a policy
 * or model of the application is asked about it. */
static bool task_is_plain(struct orr_runtime *rt, const struct orr_job *job)
{
    const struct starpu_task *task = job->task;
    const struct starpu_codelet *cl = task->cl;
    uintptr_t set =
        (uintptr_t)task->epilogue_callback_func | (uintptr_t)task->callback_func |
        (uintptr_t)task->prologue_callback_func |
        (uintptr_t)task->prologue_callback_pop_func |
        (uintptr_t)cl->callback_func | (uintptr_t)task->bundle |
        (uintptr_t)task->profiling_info | (uintptr_t)task->trs_epoch |
        (uintptr_t)task->transaction | (uintptr_t)task->omp_task |
        (uintptr_t)cl->model | (uintptr_t)cl->energy_model |
        (uintptr_t)cl->can_execute | (uintptr_t)task->dyn_handles |
        (uintptr_t)task->dyn_modes | (uintptr_t)task->dyn_interfaces;
    unsigned flags =
        task->cl_arg_free | task->cl_ret_free | task->callback_arg_free |
        task->epilogue_callback_arg_free | task->prologue_callback_arg_free |
        task->prologue_callback_pop_arg_free | task->use_tag |
        task->synchronous | task->execute_on_a_specific_worker |
        task->regenerate | task->workerids_len | task->workerorder;

    return !set && !flags && task->destroy && task->detach &&
           !(task->flops > 0 || task->flops < 0) && task->where <= 0 &&
           orr_task_is_ours(task) && !job->costs->defaulted &&
           !rt->exec->one_thread &&
           orr_sched_of(rt, job)->has_policy &&
           !orr_sched_of(rt, job)->of_user && !orr_tasks_are_watched(rt);
}

/* How a task is submitted. */
struct submission {
    bool implicit, called;
    unsigned in_graph; /* enum orr_in_graph */
    unsigned ncores;   /* 0: nothing is said of these … */
    size_t memory;     /* … two */
};

/* Makes the task's job and its accesses, *ret a chain of them: all that can
 * fail. */
static int make_job(struct orr_runtime *rt, struct starpu_task *task,
                    const struct submission *how, struct orr_access **ret)
{
    struct orr_job *job = orr_job_get_next(rt, task);
    bool implicit = how->implicit, lent = !implicit;
    int err = 0;

    if (!job || reserve_accesses(job) != 0)
        return -ENOMEM;
    job->type = !is_nowhere(task)                       ? &orr_job_task
                : task->cl && task->cl->specific_nodes ? &orr_job_view
                                                       : &orr_job_empty;
    *ret = fill_accesses(job, implicit, lent);
    if (task->cl && task->cl->specific_nodes)
        orr_job_mark_places(job);
    err = choose_context(rt, job);
    if (!err && ORR_JOB_IS(job, task))
        err = find_some_worker(rt, job);
    if (!err && how->ncores && ORR_JOB_IS(job, task))
        err = orr_recruit_prepare(rt, job, how->ncores, how->memory);
    if (!err && !lent && job->data.reducible)
        err = orr_job_begin_data(rt, job);
    if (err)
        return err;
    job->priority = task->priority;
    if (ORR_JOB_IS(job, task))
        job->plain = how->ncores == 0 && task_is_plain(rt, job);
    orr_job_nest(rt, job);
    orr_job_ref_new(job); /* the runtime's, until the job is done */
    if (task->use_tag)
        err = orr_tag_bind(rt, task->tag_id, job);
    if (err)
        orr_job_unref(rt, job);
    return err;
}

/* From here on the task is the runtime's. */
static void hand_over(struct orr_runtime *rt, struct orr_job *job,
                      struct orr_access *chain)
{
    const struct orr_costs *costs = &rt->machine->costs;
    struct starpu_task *task = job->task;
    /* How many it waits for beside its data, and itself. */
    int declared = atomic_load_explicit(&job->waiting, memory_order_relaxed);
    double us = costs->submit + costs->submit_per_buffer * job->naccesses;
    bool again = job->in_graph == ORR_IN_GRAPH_AGAIN;

    if (task->profiling_info)
        ORR_TELL(rt, ORR_TOLD_TASK_TIMED, .job = job);
    atomic_store_explicit(&job->id,
                          atomic_fetch_add_explicit(&rt->tasks->last_job, 1,
                                                    memory_order_relaxed) +
                              1,
                          memory_order_relaxed);
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    ORR_TELL(rt, ORR_TOLD_TASK_SUBMITTED, .job = job);
    orr_count_submitted(rt, job->sched_ctx);
    /* If several threads submit the first task at the same time, the time of any of
     * them will do. */
    if (atomic_load_explicit(&rt->views->first_submit, memory_order_relaxed) <
        0)
        atomic_store_explicit(&rt->views->first_submit, orr_exec_now(rt->exec),
                              memory_order_relaxed);
    task->status = STARPU_TASK_BLOCKED;
    orr_job_order(rt, job, chain);
    /* What holds it back, of several the first: its tag, tasks, data. */
    if (atomic_load_explicit(&job->waiting, memory_order_relaxed) > 1)
        task->status = declared == 1 ? STARPU_TASK_BLOCKED_ON_DATA
                       : job->tagged == ORR_TAGGED_HELD
                           ? STARPU_TASK_BLOCKED_ON_TAG
                           : STARPU_TASK_BLOCKED_ON_TASK;
    ORR_TELL(rt, ORR_TOLD_TASK_WAITS, .job = job);
    if (ORR_JOB_IS(job, task))
        orr_sched_submitted(rt, job);
    if (ORR_JOB_IS(job, task) &&
        (task->execute_on_a_specific_worker || rt->tasks->follow_placed) &&
        atomic_load_explicit(&job->waiting, memory_order_relaxed) > 1)
        orr_follow_submitted(rt, job, declared > 1);
    orr_job_release(rt, job);
    if (!again)
        orr_charge(us);
}

void orr_task_regenerate(struct orr_runtime *rt, struct starpu_task *task)
{
    struct orr_access *chain;

    if (!orr_again_regenerate(rt, task) ||
        make_job(rt, task, &(struct submission){.implicit = true}, &chain) !=
            0) {
        orr_log_error("task `%s', which regenerates, cannot run again: there "
                      "is no memory, or no worker that can run it",
                      orr_job_name(orr_job_of(task)));
        orr_runtime_fail(rt);
    }
    hand_over(rt, orr_job_of(task), chain);
}

int orr_task_submit_own(struct orr_runtime *rt, struct starpu_task *task,
                        bool lent)
{
    struct orr_access *chain;
    int err =
        make_job(rt, task, &(struct submission){.implicit = !lent}, &chain);

    if (!err)
        hand_over(rt, orr_job_of(task), chain);
    return err;
}

int orr_task_submit_direct(struct orr_runtime *rt, struct starpu_task *task)
{
    struct orr_access *chain;
    struct orr_job *job;

    if (check_buffers(task) != 0)
        return -EINVAL;
    job = orr_job_new_of(rt, task);
    if (!job)
        return -ENOMEM;
    task->starpu_private = job;
    task->sched_ctx = 0;
    job->type = &orr_job_direct;
    job->priority = task->priority;
    chain = fill_accesses(job, true, false);
    orr_job_nest(rt, job);
    orr_job_ref_new(job); /* the runtime's, until the job is done */
    hand_over(rt, job, chain);
    return 0;
}

/* Priorities are within what a knob allows. */
static void cap_priority(struct orr_knobs *knobs, struct starpu_task *task)
{
    int least, most;

    if (!atomic_load_explicit(&knobs->capped, memory_order_relaxed))
        return;
    least = atomic_load(&knobs->least);
    most = atomic_load(&knobs->most);
    if (task->priority < least)
        task->priority = least;
    if (task->priority > most)
        task->priority = most;
}

static int submit_task(struct orr_runtime *rt, struct starpu_task *task,
                       struct submission how)
{
    struct orr_job *job;
    struct orr_access *chain;
    struct orr_waiter caller;
    bool synchronous = task->synchronous, called = how.called;
    int err = check_task(rt, task);

    if (err)
        return err;
    throttle(rt);
    cap_priority(&rt->workers->knobs, task);
    err = make_job(rt, task, &how, &chain);
    if (err)
        return err;
    job = orr_job_of(task);
    job->in_graph = (uint8_t)how.in_graph;
    if (called)
        orr_job_await_call(rt, job, &caller);
    if (synchronous || called)
        orr_job_ref(job); /* known by its tag */
    ORR_TELL(rt, ORR_TOLD_TASK_GIVEN, .job = job, .implicit = how.implicit);
    hand_over(rt, job, chain);
    if (rt->machine->crowded)
        orr_workers_give_way(rt);
    orr_pay();
    if (!synchronous && !called)
        return 0;
    if (called)
        orr_job_wait_called(rt, job, &caller);
    if (synchronous)
        orr_job_wait(rt, job);
    orr_job_unref(rt, job);
    if (synchronous && task->destroy)
        orr_task_free(rt, task);
    return 0;
}

int orr_task_submit(struct orr_runtime *rt, struct starpu_task *task,
                    bool implicit, bool called)
{
    return submit_task(
        rt, task, (struct submission){.implicit = implicit, .called = called});
}

int orr_task_submit_in_graph(struct orr_runtime *rt, struct starpu_task *task,
                             unsigned in_graph)
{
    return submit_task(
        rt, task, (struct submission){.implicit = true, .in_graph = in_graph});
}

int orr_task_submit_on_host(struct orr_runtime *rt, struct starpu_task *task,
                            unsigned ncores, size_t memory)
{
    return submit_task(rt, task,
                       (struct submission){.implicit = true,
                                           .ncores = ncores,
                                           .memory = memory});
}

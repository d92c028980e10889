/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/trace_observer.c - see trace_observer.h. */
#include "core/observe/trace_observer.h"

#include <string.h>

#include "core/cost/cost.h"
#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/data/pending.h"
#include "core/exec/runtime.h"
#include "core/exec/tell.h"
#include "core/job/job.h"
#include "core/message_told.h"
#include "core/observe/ahead.h"
#include "core/observe/application.h"
#include "core/observe/graph_record.h"
#include "core/observe/submissions.h"
#include "core/observe/trace_record.h"
#include "core/observe/trace_record_private.h"
#include "core/observe/waits_log.h"
#include "core/observe/views.h"
#include "core/worker/workers.h"

/* What takes less delays no task, and real runs have many of it. */
#define LEAST_ALLOCATION_US 1

static unsigned trace_recorder(const struct orr_runtime *rt)
{
    const struct orr_worker *worker = orr_self->worker;

    if (worker)
        return worker->id;
    return orr_self == rt->main ? ORR_TRACE_OUTSIDE : ORR_TRACE_THREAD;
}

/* --- tasks --- */

/* `job`: NULL where it is not known which. */
static void trace_count(struct orr_runtime *rt, enum orr_trace_counter counter,
                        int change, const struct orr_job *job)
{
    orr_trace_record_count(
        rt->views->trace, trace_recorder(rt), counter, change,
        job ? atomic_load_explicit(&job->id, memory_order_relaxed) : 0,
        orr_exec_now(rt->exec));
}

static void trace_submitted(struct orr_runtime *rt, const struct orr_told *told)
{
    told->job->iteration =
        orr_iterations_current(&rt->views->iterations, told->job->sched_ctx);
    trace_count(rt, ORR_TRACE_NSUBMITTED, 1, told->job);
}

/* What is known of a datum when it is first used. */
static void submission_describe(struct orr_submissions *s,
                                const struct orr_handle *handle)
    ORR_REQUIRES(s->lock)
{
    struct orr_submitted_datum datum = {
        .handle = handle->id,
        .name = handle->name,
        .home = handle->home_node,
        .bytes = handle->size,
        .ncoordinates = handle->ncoordinates,
    };

    memcpy(datum.coordinates, handle->coordinates, sizeof(datum.coordinates));
    orr_submissions_describe(s, &datum);
}

static void submission_set_use(struct orr_submissions *s,
                               struct orr_submitted_use *use,
                               const struct orr_handle *handle, uint32_t mode)
    ORR_REQUIRES(s->lock)
{
    if (!orr_submissions_know(s, handle->id))
        submission_describe(s, handle);
    *use = (struct orr_submitted_use){handle->id, mode, handle->size};
}

static void trace_waits(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_submissions *s = orr_trace_submissions(rt->views->trace);
    struct starpu_task *task = told->job->task;
    const struct starpu_perfmodel *model = task->cl ? task->cl->model : NULL;
    unsigned n = task->cl ? STARPU_TASK_GET_NBUFFERS(task) : 0;
    struct orr_submitted *entry =
        orr_submissions_begin(s, orr_exec_now(rt->exec), told->job->id,
                              model ? model->symbol : NULL, n);

    for (unsigned i = 0; entry && i < n; i++)
        submission_set_use(s, &entry->uses[i],
                           orr_handle_of(STARPU_TASK_GET_HANDLE(task, i)),
                           (uint32_t)STARPU_TASK_GET_MODE(task, i));
    orr_submissions_end(s, entry);
}

static void trace_pushed(struct orr_runtime *rt, const struct orr_told *told)
{
    trace_count(rt, ORR_TRACE_NREADY, 1, told->job);
}

static void trace_popped(struct orr_runtime *rt, const struct orr_told *told)
{
    trace_count(rt, ORR_TRACE_NREADY, -1, told->job);
}

static void trace_ended(struct orr_runtime *rt, const struct orr_told *told)
{
    (void)told;
    trace_count(rt, ORR_TRACE_NSUBMITTED, -1, NULL);
}

static void trace_starts(struct orr_runtime *rt, const struct orr_told *told)
{
    orr_trace_begin(rt->views->trace, &told->job->kernel->traced);
}

static void trace_executed(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_job *job = told->job;
    const struct orr_worker *worker = told->worker;
    struct orr_trace_task task = {
        .job = job->id,
        .name = orr_job_name(job),
        .colour = orr_job_colour(job),
        .footprint = job->footprint,
        .priority = job->priority,
        .tag = job->task->use_tag ? job->task->tag_id : 0,
        .origin =
            (uint8_t)(rt->machine->kernels_take_their_length
                          ? orr_job_length(rt, job, worker->class_id).origin
                          : ORR_ORIGIN_UNKNOWN),
        .iteration = job->iteration,
        .gflop = job->task->flops / 1e9,
        .start = job->kernel->start,
        .end = job->kernel->end,
    };

    for (unsigned i = 0; i < job->naccesses; i++)
        task.size += job->accesses[i].handle->size;
    orr_trace_record_task(rt->views->trace, worker->id, &task);
    orr_trace_end(rt->views->trace, &job->kernel->traced);
}

static void trace_suspended(struct orr_runtime *rt, const struct orr_told *told)
{
    orr_trace_record_suspension(rt->views->trace, told->worker->id,
                                told->job->id, told->since,
                                orr_exec_now(rt->exec));
}

/* --- workers --- */

static void trace_worker_state(struct orr_runtime *rt,
                               const struct orr_told *told)
{
    static const enum orr_trace_state shown[] = {
        [ORR_WORKER_IDLE] = ORR_TRACE_SLEEPING,
        [ORR_WORKER_SCHEDULING] = ORR_TRACE_SCHEDULING,
        [ORR_WORKER_FETCHING] = ORR_TRACE_FETCHING,
        [ORR_WORKER_EXECUTING] = ORR_TRACE_OVERHEAD,
        [ORR_WORKER_CALLBACK] = ORR_TRACE_CALLBACK,
    };
    const struct orr_worker *worker = told->worker;
    enum orr_worker_state state =
        atomic_load_explicit(&worker->state, memory_order_relaxed);

    orr_trace_record_state(rt->views->trace, worker->id,
                           state == ORR_WORKER_IDLE && worker->nsuspended
                               ? ORR_TRACE_SUSPENDED
                               : shown[state],
                           orr_exec_now(rt->exec));
}

static void trace_stolen(struct orr_runtime *rt, const struct orr_told *told)
{
    orr_trace_record_steal(rt->views->trace, told->stolen.thief,
                           told->stolen.victim, told->stolen.job,
                           orr_exec_now(rt->exec));
}

/* --- memory --- */

static void trace_copy_begins(struct orr_runtime *rt,
                              const struct orr_told *told)
{
    orr_trace_begin(rt->views->trace, &told->request->traced);
}

/* A job that waits for the request, or for one of those behind it; 0: none. */
static uint64_t job_waiting_for(const struct orr_request *request)
{
    for (; request; request = request->next_hop)
        if (request->waiters)
            return request->waiters->job->id;
    return 0;
}

static void trace_copy(struct orr_runtime *rt,
                       const struct orr_request *request)
{
    static const enum orr_trace_copy_kind kinds[ORR_FETCH_LEVELS] = {
        [ORR_FETCH] = ORR_TRACE_FETCH,
        [ORR_PREFETCH] = ORR_TRACE_TASK_PREFETCH,
        [ORR_IDLE_PREFETCH] = ORR_TRACE_IDLE_FETCH,
    };
    const struct orr_worker *worker = orr_self->worker;
    struct orr_trace_copy copy = {
        .id = request->copy.id,
        .handle = request->handle->id,
        .name = request->handle->name,
        .src = request->src,
        .dst = request->dst,
        .size = request->copy.size,
        .start = request->start,
        .end = orr_exec_now(rt->exec),
        .waited = request->copy.waited,
    };

    orr_lock(&request->handle->lock);
    copy.kind = kinds[request->level];
    copy.job = job_waiting_for(request);
    if (request->level == ORR_FETCH && request->dst < rt->nodes->nram &&
        !request->waiters)
        copy.kind = ORR_TRACE_WRITEBACK;
    orr_unlock(&request->handle->lock);
    orr_trace_record_copy(rt->views->trace,
                          worker ? worker->id : ORR_TRACE_OUTSIDE, &copy);
}

static void trace_copy_ended(struct orr_runtime *rt,
                             const struct orr_told *told)
{
    if (!told->request->copy.async.error)
        trace_copy(rt, told->request);
    orr_trace_end(rt->views->trace, &told->request->traced);
}

static void trace_memory(struct orr_runtime *rt, const struct orr_told *told)
{
    orr_trace_record_memory(rt->views->trace, trace_recorder(rt),
                            told->memory.node, told->memory.change,
                            orr_exec_now(rt->exec));
}

/* In a simulation an allocation's time is not spent yet: the worker owes it. */
static void trace_allocated(struct orr_runtime *rt, const struct orr_told *told)
{
    double now = orr_exec_now(rt->exec) + orr_self->debt;

    if (orr_self->worker && now - told->since >= LEAST_ALLOCATION_US)
        orr_trace_record_allocation(rt->views->trace, trace_recorder(rt),
                                    told->allocated.node, told->frees,
                                    told->allocated.size, told->since, now);
}

/* --- other ranks --- */

static void trace_message(struct orr_runtime *rt, const struct orr_told *told)
{
    const struct orr_message_told *message = told->message;

    orr_trace_record_message(rt->views->trace,
                             &(struct orr_trace_message){
                                 .name = message->handle->name,
                                 .handle = message->handle->id,
                                 .peer = message->peer,
                                 .received = message->received,
                                 .tag = message->tag,
                                 .number = message->number,
                                 .size = message->bytes,
                                 .called = message->called,
                                 .start = message->start,
                                 .end = message->end,
                             });
}

static void trace_clocks(struct orr_runtime *rt, const struct orr_told *told)
{
    orr_trace_record_clocks(rt->views->trace, told->clocks);
}

/* --- the application --- */

static void trace_wont_use(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_submissions *s = orr_trace_submissions(rt->views->trace);
    struct orr_submitted *entry =
        orr_submissions_begin(s, orr_exec_now(rt->exec), 0, NULL, 1);

    if (entry)
        submission_set_use(s, entry->uses, told->handle, STARPU_R);
    orr_submissions_end(s, entry);
}

static void trace_loops(struct orr_runtime *rt, const struct orr_told *told)
{
    orr_iterations_number(&rt->views->iterations, told->ctx, rt->views->trace);
}

/* Whether the calling context is main, which is not in the place of a worker just now. */
static bool trace_main_waits(const struct orr_runtime *rt)
{
    return orr_self == rt->main && !orr_self->worker;
}

static void trace_blocks(struct orr_runtime *rt, const struct orr_told *told)
{
    if (trace_main_waits(rt))
        rt->views->application.wait =
            orr_application_begin(rt, ORR_TRACE_WAITS, told->text);
}

static void trace_goes_on(struct orr_runtime *rt, const struct orr_told *told)
{
    (void)told;
    if (trace_main_waits(rt))
        orr_application_end(&rt->views->application.wait);
}

static void trace_mark(struct orr_runtime *rt, const struct orr_told *told)
{
    const struct orr_worker *worker = orr_self->worker;

    orr_trace_record_mark(rt->views->trace,
                          worker ? worker->id : ORR_TRACE_OUTSIDE, told->text,
                          told->numbered, orr_exec_now(rt->exec));
}

static const struct orr_observer trace_observer = {{
    [ORR_TOLD_TASK_SUBMITTED] = trace_submitted,
    [ORR_TOLD_TASK_WAITS] = trace_waits,
    [ORR_TOLD_TASK_PUSHED] = trace_pushed,
    [ORR_TOLD_TASK_RETURNED] = trace_pushed,
    [ORR_TOLD_TASK_POPPED] = trace_popped,
    [ORR_TOLD_TASK_STARTS] = trace_starts,
    [ORR_TOLD_TASK_SUSPENDED] = trace_suspended,
    [ORR_TOLD_TASK_EXECUTED] = trace_executed,
    [ORR_TOLD_TASK_ENDED] = trace_ended,
    [ORR_TOLD_WORKER_STATE] = trace_worker_state,
    [ORR_TOLD_STOLEN] = trace_stolen,
    [ORR_TOLD_COPY_BEGINS] = trace_copy_begins,
    [ORR_TOLD_COPY_ENDED] = trace_copy_ended,
    [ORR_TOLD_MEMORY] = trace_memory,
    [ORR_TOLD_ALLOCATED] = trace_allocated,
    [ORR_TOLD_MESSAGE] = trace_message,
    [ORR_TOLD_CLOCKS] = trace_clocks,
    [ORR_TOLD_BLOCKS] = trace_blocks,
    [ORR_TOLD_GOES_ON] = trace_goes_on,
    [ORR_TOLD_WONT_USE] = trace_wont_use,
    [ORR_TOLD_LOOPS] = trace_loops,
    [ORR_TOLD_MARK] = trace_mark,
}};

/* Has the list of waits kept, if the trace shows the graph. Errors: -ENOMEM. */
static int keep_waits(struct orr_runtime *rt, const char *path)
{
    const struct orr_waits_log *waits;
    int rc;

    if (!orr_trace_shows_graph(path))
        return 0;
    rc = orr_graph_record_log(rt, orr_trace_shows_symbols(path), &waits);
    if (rc == 0)
        orr_trace_set_waits(rt->views->trace, waits);
    return rc;
}

int orr_trace_observe(struct orr_runtime *rt)
{
    const char *path = orr_config_string(&rt->config, ORR_CFG_TRACE);
    uint64_t kinds = ORR_TOLD_ALL;
    int rc;

    if (!path)
        return 0;
    rc = orr_trace_new(rt->machine, orr_exec_now(rt->exec), &rt->views->trace);
    if (rc == 0)
        orr_trace_show_sources(rt->views->trace, rt->views->sources,
                               orr_config_string(&rt->config, ORR_CFG_LINKS));
    if (rc == 0 && orr_trace_shows_submissions(path))
        rc = orr_trace_keep_submissions(rt->views->trace);
    else
        kinds &= ~(ORR_TOLD_BIT(ORR_TOLD_TASK_WAITS) |
                   ORR_TOLD_BIT(ORR_TOLD_WONT_USE));
    if (rc == 0 && orr_trace_shows_tasks_alone(path))
        orr_trace_keep_tasks_alone(rt->views->trace);
    rt->views->follows = orr_trace_shows_application(path);
    if (!rt->views->follows)
        kinds &= ~(ORR_TOLD_BIT(ORR_TOLD_ALLOCATED) |
                   ORR_TOLD_BIT(ORR_TOLD_BLOCKS) |
                   ORR_TOLD_BIT(ORR_TOLD_GOES_ON));
    /* What is real has no processor to spare. */
    if (rc == 0 && rt->exec->virtual_time)
        orr_ahead_start(rt->views->trace, rt->exec, path);
    if (rc == 0 && !orr_trace_is_followed(rt->views->trace))
        kinds &= ~(ORR_TOLD_BIT(ORR_TOLD_TASK_STARTS) |
                   ORR_TOLD_BIT(ORR_TOLD_COPY_BEGINS));
    if (rc == 0)
        rc = keep_waits(rt, path);
    if (rc != 0)
        return rc;
    orr_observers_add(&rt->observers, &trace_observer);
    orr_observers_want(&rt->observers, &trace_observer, kinds, true);
    return 0;
}

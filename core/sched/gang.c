/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/gang.c - see gang.h, which says why gangs cannot wait for each other
 * for ever. One lock for all gangs: they are few, and it is held for moments.
 */
#include "core/sched/gang.h"

#include <errno.h>
#include <stdlib.h>

#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/job/tasks.h"
#include "core/sched/sched.h"
#include "core/slab_set.h"
#include "core/worker/combined.h"
#include "core/worker/workers.h"

/* An alias is never ready, fetches nothing and does not end. */
static const struct orr_job_type alias_type = {.ready = NULL};

/* --- making one --- */

struct orr_gang *orr_gang_new(struct orr_runtime *rt, struct orr_job *job,
                              const struct orr_gang_request *request)
{
    unsigned size = request->size;
    struct orr_gang *gang =
        calloc(1, sizeof(*gang) + size * sizeof(gang->places[0]));
    struct orr_job_rare *rare = orr_job_make_rare(job);
    enum starpu_codelet_type type = job->task->cl->type;

    if (!gang || !rare) {
        free(gang);
        return NULL;
    }
    gang->job = job;
    gang->size = size;
    gang->combined = request->combined ? (int)request->combined->id : -1;
    gang->all_run = type != STARPU_FORKJOIN && !request->joins;
    atomic_init(&gang->nstaying, size);
    orr_lock(&rt->tasks->gangs_lock);
    gang->number = ++rt->tasks->last_gang;
    orr_unlock(&rt->tasks->gangs_lock);
    rare->gang = gang;
    job->ncores = request->each_alone ? 1 : (uint16_t)size;
    return gang;
}

/* What hooks of policies see: it owns nothing. */
static struct starpu_task *copy_task(struct orr_runtime *rt,
                                     const struct starpu_task *task)
{
    struct starpu_task *copy = orr_slab_get(rt->slabs->tasks);

    if (!copy)
        return NULL;
    *copy = *task;
    copy->destroy = 1;
    copy->workerorder = 0;
    copy->prev = copy->next = NULL;
    copy->profiling_info = NULL;
    return copy;
}

struct orr_job *orr_gang_alias(struct orr_gang *gang)
{
    struct orr_job *job = gang->job, *alias;
    struct orr_runtime *rt = orr_self->runtime;
    struct orr_job_rare *rare;
    struct starpu_task *copy;

    if (gang->nmade == gang->size)
        return NULL;
    copy = copy_task(rt, job->task);
    alias = copy ? orr_job_new(rt, &alias_type, 0) : NULL;
    rare = alias ? orr_job_make_rare(alias) : NULL;
    if (!rare) {
        if (alias)
            orr_job_unref(rt, alias);
        if (copy)
            orr_slab_put(rt->slabs->tasks, copy);
        return NULL;
    }
    alias->task = copy;
    copy->starpu_private = alias;
    rare->gang = gang;
    alias->priority = job->priority;
    alias->sched_ctx = job->sched_ctx;
    alias->implementation = job->implementation;
    alias->costs = job->costs;
    atomic_init(&alias->id, job->id);
    atomic_init(&alias->waiting, 0);
    atomic_init(&alias->state, ORR_JOB_READY);
    gang->places[gang->nmade++].alias = alias;
    return alias;
}

static void free_alias(struct orr_runtime *rt, struct orr_job *alias)
{
    orr_slab_put(rt->slabs->tasks, alias->task);
    orr_job_unref(rt, alias);
}

void orr_gang_unmake(struct orr_gang *gang)
{
    for (unsigned i = 0; i < gang->nmade; i++)
        free_alias(orr_self->runtime, gang->places[i].alias);
    orr_job_rare(gang->job)->gang = NULL;
    gang->job->ncores = 0;
    free(gang);
}

int orr_gang_push(struct orr_runtime *rt, struct orr_job *job,
                  const struct orr_gang_request *request)
{
    struct orr_gang *gang = orr_gang_new(rt, job, request);
    const int *members = request->members;
    unsigned n = request->size;

    if (!gang)
        return -ENOMEM;
    while (orr_gang_alias(gang)) {
    }
    if (gang->nmade < n) {
        orr_gang_unmake(gang);
        return -ENOMEM;
    }
    for (unsigned i = 0; request->told && i < n; i++)
        request->told(gang->places[i].alias, &rt->workers->at[members[i]],
                      request->arg);
    /* The lock keeps other contexts from seeing only some of the aliases. When all are
     * in their lists the gang may be over at once. */
    orr_lock(&rt->tasks->gangs_lock);
    for (unsigned i = 0; i < n; i++)
        orr_worker_push_local(&rt->workers->at[members[i]],
                              gang->places[i].alias, true);
    orr_unlock(&rt->tasks->gangs_lock);
    return 0;
}

int orr_gang_push_combined(struct orr_runtime *rt, struct orr_job *job,
                           const struct orr_combined *combined,
                           orr_gang_told_t told, void *arg)
{
    struct orr_gang_request request = {
        .size = combined->size,
        .members = combined->members,
        .combined = combined,
        .told = told,
        .arg = arg,
    };

    return orr_gang_push(rt, job, &request);
}

/* --- their order --- */

static struct orr_gang_place *place_of_alias(const struct orr_job *alias)
{
    struct orr_gang_place *place = orr_job_gang(alias)->places;

    while (place->alias != alias)
        place++;
    return place;
}

bool orr_gang_goes_before(const struct orr_job *alias,
                          const struct orr_job *other)
{
    if (orr_job_gang(other))
        return orr_job_gang(alias)->number < orr_job_gang(other)->number;
    return place_of_alias(alias)->given_back;
}

/* Whether the worker should rather take what is in its list. */
static bool has_better_locked(struct orr_worker *worker,
                              const struct orr_gang *gang)
    ORR_REQUIRES(worker->lock)
{
    int priority = gang->job->priority;
    bool first = true;

    orr_list_foreach (link, &worker->local) {
        const struct orr_job *job = orr_container(link, struct orr_job, queue);

        if (first && job->priority > priority)
            return true;
        if (orr_job_gang(job) && (job->priority > priority ||
                          (job->priority == priority &&
                           orr_job_gang(job)->number < gang->number)))
            return true;
        first = false;
    }
    return false;
}

/* --- the members --- */

unsigned orr_gang_rank(const struct orr_gang *gang,
                       const struct orr_worker *worker)
{
    unsigned rank = 0;

    while (gang->places[rank].worker != worker)
        rank++;
    return rank;
}

static struct orr_gang_place *gang_place(struct orr_gang *gang,
                                         const struct orr_worker *worker)
{
    return &gang->places[orr_gang_rank(gang, worker)];
}

struct orr_job *orr_gang_alias_of(struct orr_gang *gang,
                                  const struct orr_worker *worker)
{
    return gang_place(gang, worker)->alias;
}

static enum orr_gang_stage stage_of(const struct orr_gang *gang)
{
    return (enum orr_gang_stage)atomic_load_explicit(&gang->stage,
                                                     memory_order_acquire);
}

static void set_stage(struct orr_gang *gang, enum orr_gang_stage stage)
{
    atomic_store_explicit(&gang->stage, stage, memory_order_release);
}

static void wake_others(struct orr_gang *gang)
{
    for (unsigned i = 0; i < gang->size; i++)
        orr_worker_wake(gang->places[i].worker);
}

void orr_gang_join(struct orr_runtime *rt, struct orr_worker *worker,
                   struct orr_job *alias)
{
    struct orr_gang *gang = orr_job_gang(alias);
    bool formed;

    worker->gang = gang;
    orr_lock(&rt->tasks->gangs_lock);
    place_of_alias(alias)->worker = worker;
    formed = ++gang->njoined == gang->size;
    if (formed)
        set_stage(gang, ORR_GANG_FORMED);
    orr_unlock(&rt->tasks->gangs_lock);
    if (formed)
        orr_worker_wake(gang->places[0].worker);
}

/* Gives the alias back if the worker's list has a job that goes before it; the gang is
 * forming, or was a moment ago. */
static bool gang_give_back_alias(struct orr_runtime *rt,
                                 struct orr_worker *worker)
{
    struct orr_gang *gang = worker->gang;
    struct orr_gang_place *place;
    bool gives;

    if (atomic_load_explicit(&worker->nlocal, memory_order_relaxed) == 0)
        return false;
    orr_lock(&rt->tasks->gangs_lock);
    place = gang_place(gang, worker);
    orr_lock(&worker->lock);
    gives = stage_of(gang) == ORR_GANG_FORMING &&
            has_better_locked(worker, gang);
    orr_unlock(&worker->lock);
    if (gives) {
        gang->njoined--;
        place->worker = NULL;
        place->given_back = true;
        worker->gang = NULL;
        orr_worker_push_local(worker, place->alias, true);
    }
    orr_unlock(&rt->tasks->gangs_lock);
    return gives;
}

static void call_hook(struct orr_runtime *rt, struct orr_job *alias,
                      struct orr_worker *worker, bool before)
{
    struct orr_sched *sched = orr_sched_of(rt, alias);

    if (before && sched->ops->pre_exec)
        sched->ops->pre_exec(sched, alias, worker);
    if (!before && sched->ops->post_exec)
        sched->ops->post_exec(sched, alias, worker);
}

/* The worker is a member no more, and may take other jobs. When the last of the others
 * has left the first member ends the task. */
static void gang_leave(struct orr_runtime *rt, struct orr_worker *worker)
{
    struct orr_gang *gang = worker->gang;
    struct orr_job *alias = orr_gang_alias_of(gang, worker);
    struct orr_worker *first = gang->places[0].worker;

    call_hook(rt, alias, worker, false);
    free_alias(rt, alias);
    worker->gang = NULL;
    if (worker == first)
        return;
    worker->busy_us += gang->end - gang->job->kernel->start;
    worker->last_end = gang->end;
    if (atomic_fetch_sub_explicit(&gang->nstaying, 1, memory_order_acq_rel) ==
        2)
        orr_worker_wake(first);
}

/* The kernels have ended. */
static enum orr_gang_turn turn_to_leave(struct orr_runtime *rt,
                                        struct orr_worker *worker)
{
    struct orr_gang *gang = worker->gang;

    if (worker != gang->places[0].worker) {
        gang_leave(rt, worker);
        return ORR_GANG_GOES_ON;
    }
    if (atomic_load_explicit(&gang->nstaying, memory_order_acquire) > 1)
        return ORR_GANG_WAITS;
    gang_leave(rt, worker);
    gang->job->kernel->end = gang->end;
    return ORR_GANG_ENDS;
}

void orr_gang_free(struct orr_gang *gang)
{
    free(gang);
}

/* The first member begins by itself. */
static bool gang_begin_member(struct orr_runtime *rt, struct orr_worker *worker)
{
    struct orr_gang_place *place = gang_place(worker->gang, worker);

    if (place->begun)
        return false;
    place->begun = true;
    call_hook(rt, place->alias, worker, true);
    return true;
}

enum orr_gang_turn orr_gang_turn(struct orr_runtime *rt,
                                 struct orr_worker *worker)
{
    struct orr_gang *gang = worker->gang;

    switch (stage_of(gang)) {
    case ORR_GANG_FORMING:
        return gang_give_back_alias(rt, worker) ? ORR_GANG_GOES_ON
                                                : ORR_GANG_WAITS;
    case ORR_GANG_FORMED:
        if (worker != gang->places[0].worker)
            return ORR_GANG_WAITS;
        set_stage(gang, ORR_GANG_FETCHING);
        /* A policy may have chosen it for the alias. */
        gang->job->implementation = gang->places[0].alias->implementation;
        return ORR_GANG_FETCHES;
    case ORR_GANG_RUNNING:
        if (!gang_begin_member(rt, worker))
            return ORR_GANG_WAITS;
        return gang->all_run ? ORR_GANG_RUNS : ORR_GANG_GOES_ON;
    case ORR_GANG_OVER:
        (void)gang_begin_member(rt, worker);
        return turn_to_leave(rt, worker);
    default:
        return ORR_GANG_WAITS;
    }
}

void orr_gang_start(struct orr_runtime *rt, struct orr_gang *gang)
{
    (void)gang_begin_member(rt, gang->places[0].worker);
    gang->nrunning = gang->all_run ? gang->size : 1;
    set_stage(gang, ORR_GANG_RUNNING);
    wake_others(gang);
}

void orr_gang_ended(struct orr_runtime *rt, struct orr_gang *gang, double end)
{
    bool last;

    orr_lock(&rt->tasks->gangs_lock);
    if (end > gang->end)
        gang->end = end;
    last = --gang->nrunning == 0;
    if (last)
        set_stage(gang, ORR_GANG_OVER);
    orr_unlock(&rt->tasks->gangs_lock);
    if (last)
        wake_others(gang);
}

/* --- their processors --- */

/* Where the worker is bound, -1: nowhere. */
static int worker_bound_processor(const struct orr_worker *worker)
{
    return atomic_load(&worker->bound) >= 0 ? atomic_load(&worker->bound_cpu)
                                            : worker->desc->cpu;
}

void orr_gang_bind_all(struct orr_runtime *rt, const struct orr_gang *gang)
{
    int cpus[STARPU_NMAXWORKERS];
    unsigned n = 0;

    for (unsigned i = 0; i < gang->size; i++) {
        cpus[n] = worker_bound_processor(gang->places[i].worker);
        n += cpus[n] >= 0;
    }
    if (n == gang->size)
        (void)rt->exec->ops->bind(rt->exec, orr_self, cpus, n);
}

void orr_gang_bind_one(struct orr_runtime *rt, struct orr_worker *worker)
{
    int cpu = worker_bound_processor(worker);

    if (cpu >= 0)
        (void)rt->exec->ops->bind(rt->exec, orr_self, &cpu, 1);
}

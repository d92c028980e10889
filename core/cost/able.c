/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/able.c - which workers can run a job: by its cost row and their
 * class, less what the task itself excludes. Any context.
 */
#include "core/cost/cost.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/worker/combined.h"
#include "core/worker/workers.h"

static bool has_time(const struct orr_cost_row *row, unsigned class_id)
{
    for (unsigned i = 0; row->able[class_id] >> i; i++)
        if (row->able[class_id] >> i & 1 &&
            orr_cost_is_known(row, class_id, i,
                              orr_cost_length(row, class_id, i)))
            return true;
    return false;
}

bool orr_job_where_allows(const struct orr_runtime *rt, const struct orr_job *job,
                          const struct orr_cost_row *row, unsigned class_id)
{
    int32_t where = job->task->where;

    return where <= 0 ||
           (uint32_t)where &
               orr_device_where(rt->workers->classes[class_id].type) ||
           (rt->machine->all_devices && has_time(row, class_id));
}

/* What can_execute says, for what is told of simulated runs: one thread. */
static bool can_execute(const struct orr_runtime *rt, struct orr_job *job,
                        const struct orr_cost_row *row, unsigned worker,
                        unsigned implementation)
{
    struct orr_cost_row *heard = (struct orr_cost_row *)(uintptr_t)row;
    bool can = row->cl->can_execute(worker, job->task, implementation);

    if (rt->machine->kernels_take_their_length)
        *(can ? &heard->agreed : &heard->refused) |=
            UINT64_C(1) << rt->workers->at[worker].class_id;
    return can;
}

static bool names_workers(const struct starpu_task *task)
{
    return task->execute_on_a_specific_worker || task->workerids_len > 0;
}

static bool worker_allowed(const struct starpu_task *task, unsigned worker)
{
    if (task->execute_on_a_specific_worker && task->workerid != worker)
        return false;
    return task->workerids_len == 0 ||
           (worker / 32 < task->workerids_len &&
            task->workerids[worker / 32] >> worker % 32 & 1);
}

static const struct orr_members *members_of(const struct orr_runtime *rt,
                                            const struct orr_job *job)
{
    return &rt->workers->members[job->sched_ctx];
}

/* A task that names its worker goes there from any scheduling context. */
static bool job_has_member(const struct orr_runtime *rt,
                           const struct orr_job *job, unsigned worker)
{
    return orr_members_has(members_of(rt, job), worker) ||
           job->task->execute_on_a_specific_worker;
}

inline unsigned orr_job_able_if_enabled(const struct orr_runtime *rt,
                                        const struct orr_job *job,
                                        const struct orr_cost_row *row,
                                        unsigned worker)
{
    unsigned class_id = rt->workers->at[worker].class_id;

    if (orr_job_is_plain(job))
        return orr_members_has(members_of(rt, job), worker)
                   ? row->able[class_id]
                   : 0;
    if (!row->able[class_id] ||
        !orr_job_where_allows(rt, job, row, class_id) ||
        !worker_allowed(job->task, worker) || !job_has_member(rt, job, worker))
        return 0;
    return row->able[class_id];
}

inline unsigned orr_job_maybe_able(const struct orr_runtime *rt,
                                   const struct orr_job *job,
                                   const struct orr_cost_row *row,
                                   unsigned worker, bool *ask)
{
    unsigned class_id = rt->workers->at[worker].class_id;

    *ask = row->per_worker;
    if (orr_some_disabled(rt) &&
        (atomic_load_explicit(&rt->workers->at[worker].disabled,
                              memory_order_relaxed) ||
         orr_job_avoided(job) >> rt->workers->classes[class_id].node & 1))
        return 0;
    return orr_job_able_if_enabled(rt, job, row, worker);
}

unsigned orr_job_able(struct orr_runtime *rt, struct orr_job *job,
                      const struct orr_cost_row *row, unsigned worker)
{
    struct orr_context *self = orr_self;
    bool ask;
    unsigned bits = orr_job_maybe_able(rt, job, row, worker, &ask);

    if (!bits || !ask)
        return bits;
    self->frozen++;
    for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
        if (bits >> i & 1 && !can_execute(rt, job, row, worker, i))
            bits &= ~(1U << i);
    self->frozen--;
    return bits;
}

bool orr_job_may_avoid(struct orr_runtime *rt, struct orr_job *job,
                       uint64_t nodes)
{
    bool ask;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (!(nodes >> rt->workers->at[w].desc->node & 1) &&
            orr_job_maybe_able(rt, job, job->costs, w, &ask))
            return true;
    return false;
}

/* Whether each member takes tasks of the job's context. */
static bool all_take(const struct orr_runtime *rt, const struct orr_job *job,
                     const struct orr_combined *combined)
{
    for (unsigned i = 0; i < combined->size; i++) {
        unsigned w = (unsigned)combined->members[i];

        if (!job_has_member(rt, job, w) ||
            atomic_load_explicit(&rt->workers->at[w].disabled,
                                 memory_order_relaxed))
            return false;
    }
    return true;
}

unsigned orr_job_able_combined(struct orr_runtime *rt, struct orr_job *job,
                               const struct orr_cost_row *row,
                               const struct orr_combined *combined)
{
    const struct starpu_codelet *cl = row->cl;
    unsigned bits = row->able[combined->class_id];
    unsigned first = (unsigned)combined->members[0];

    if (cl->type == STARPU_SEQ || (int)combined->size > cl->max_parallelism ||
        !worker_allowed(job->task, combined->id) ||
        !all_take(rt, job, combined))
        return 0;
    orr_self->frozen++;
    for (unsigned i = 0; row->per_worker && i < STARPU_MAXIMPLEMENTATIONS; i++)
        if (bits >> i & 1 && !can_execute(rt, job, row, first, i))
            bits &= ~(1U << i);
    orr_self->frozen--;
    return bits;
}

bool orr_job_able_as_row(const struct orr_runtime *rt,
                         const struct orr_job *job,
                         const struct orr_cost_row *row)
{
    return !row->per_worker && job->task->where <= 0 &&
           !names_workers(job->task) &&
           orr_members_all(members_of(rt, job)) && !orr_some_disabled(rt);
}

unsigned orr_job_able_class(struct orr_runtime *rt, struct orr_job *job,
                            const struct orr_cost_row *row, unsigned class_id,
                            bool *uniform)
{
    *uniform = true;
    if (!row->able[class_id] ||
        !orr_job_where_allows(rt, job, row, class_id))
        return 0;
    if (!orr_members_some(members_of(rt, job), class_id) &&
        !job->task->execute_on_a_specific_worker)
        return 0;
    *uniform = !row->per_worker && !names_workers(job->task) &&
               orr_members_whole(members_of(rt, job), class_id) &&
               !orr_some_disabled(rt);
    return *uniform ? row->able[class_id] : 0;
}

/* Whether some worker of the class can, be it a member or not, unless
 * can_execute says so. */
static bool class_possible(struct orr_runtime *rt, struct orr_job *job,
                           const struct orr_cost_row *row, unsigned class_id)
{
    const struct orr_worker_class *class = &rt->workers->classes[class_id];

    if (!row->able[class_id] || !orr_job_where_allows(rt, job, row, class_id))
        return false;
    if (!row->per_worker && !names_workers(job->task))
        return true;
    for (unsigned i = 0; i < class->nworkers; i++) {
        unsigned w = class->members[i];

        if (row->per_worker ? orr_job_able(rt, job, row, w) != 0
                            : worker_allowed(job->task, w))
            return true;
    }
    return false;
}

/* Whether a combined worker that the task names can. */
static bool combined_possible(struct orr_runtime *rt, struct orr_job *job)
{
    unsigned n = orr_combined_count(rt);

    for (unsigned i = 0; names_workers(job->task) && i < n; i++)
        if (orr_job_able_combined(rt, job, job->costs,
                                  orr_combined_at(rt, rt->workers->n + i)))
            return true;
    return false;
}

bool orr_job_possible(struct orr_runtime *rt, struct orr_job *job)
{
    const struct orr_cost_row *row = job->costs;

    /* Most tasks leave open where they run. */
    if (row->able_classes && !row->per_worker && job->task->where <= 0 &&
        !names_workers(job->task))
        return true;
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (class_possible(rt, job, row, k))
            return true;
    return combined_possible(rt, job);
}

bool orr_job_is_async(const struct orr_job *job, const struct orr_worker *worker,
                      unsigned implementation)
{
    const struct starpu_codelet *cl = job->task->cl;

    return worker->desc->async && !(cl->flags & ORR_EXECUTES) &&
           orr_codelet_is_async(cl, worker->desc->type, implementation);
}

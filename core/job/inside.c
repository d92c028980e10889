/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/job/inside.c - see inside.h. */
#include "core/job/inside.h"

#include <stdlib.h>

#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/job/tasks.h"

/* Scratch and contributions are no value that others could use meanwhile. */
static bool can_be_lent(const struct orr_access *access)
{
    return !access->duplicate &&
           !(access->mode & (STARPU_SCRATCH | STARPU_REDUX));
}

static void init_scope(struct orr_scope *scope, struct orr_access *access)
{
    orr_turns_init(&scope->turns);
    scope->turns.closed = true;
    orr_list_init(&scope->plans);
    if (!can_be_lent(access))
        return;
    scope->handle = access->handle;
    scope->access = access;
    scope->mode = access->mode;
}

static struct orr_nest *nest_make(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_nest *nest = calloc(
        1, sizeof(*nest) + job->naccesses * sizeof(nest->scopes[0]));

    if (!nest)
        return NULL;
    atomic_init(&nest->refs, 1);
    nest->sched_ctx = job->sched_ctx;
    nest->up = orr_nest_find_up(rt, orr_job_around(job));
    nest->depth = nest->up ? (uint16_t)(nest->up->depth + 1) : 1;
    nest->nscopes = job->naccesses;
    nest->lends = job->naccesses > 0 || (nest->up && nest->up->lends);
    for (unsigned i = 0; i < job->naccesses; i++)
        init_scope(&nest->scopes[i], &job->accesses[i]);
    return nest;
}

struct orr_nest *orr_nest_here(struct orr_runtime *rt)
{
    const struct orr_context *self = orr_self;
    struct orr_job_rare *rare;

    if (!self->suspends_at || self->suspends_at != self->frozen)
        return NULL;
    rare = orr_job_make_rare(self->job);
    if (!rare)
        return NULL;
    if (!rare->nest) {
        rare->nest = nest_make(rt, self->job);
        atomic_store(&rt->tasks->has_nests, true);
    }
    return rare->nest;
}

void orr_job_enter_nest(struct orr_runtime *rt, struct orr_job *job,
                        struct orr_nest *around)
{
    struct orr_job_rare *rare = orr_job_make_rare(job);

    if (!rare)
        return;
    orr_nest_ref(around);
    rare->around = around;
    if (atomic_load_explicit(&rt->tasks->suspends, memory_order_relaxed))
        job->depth = around->depth;
}

void orr_job_put_inside(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_nest *nest = orr_nest_here(rt);

    if (nest)
        orr_job_enter_nest(rt, job, nest);
}


/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/state.c - the OpenMP task of the calling context: see omp.h. */
#include <stdlib.h>

#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/omp/omp.h"
#include "core/worker/workers.h"

struct orr_omp *orr_omp(void)
{
    return orr_self && orr_self->runtime ? orr_self->runtime->omp : NULL;
}

struct orr_omp *orr_omp_need(const char *call)
{
    struct orr_runtime *rt = orr_runtime_need(call);

    if (rt->omp)
        return rt->omp;
    orr_log_error("%s: called without starpu_omp_init", call);
    abort();
}

struct orr_omp_task *orr_omp_self(void)
{
    const struct orr_context *self = orr_self;
    const struct orr_omp *omp;

    if (!self || !self->runtime || !self->runtime->omp)
        return NULL;
    if (self->job)
        return self->job->task ? self->job->task->omp_task : NULL;
    omp = self->runtime->omp;
    return self == omp->main ? omp->current : NULL;
}

const void *orr_omp_lock_self(void)
{
    const struct orr_omp_task *task = orr_omp_self();

    if (task)
        return task;
    return orr_self->job ? (const void *)orr_self->job : orr_self;
}

struct orr_omp_task *orr_omp_switch(struct orr_omp_task *task)
{
    struct orr_omp_task *before;

    if (orr_self->job) {
        before = orr_self->job->task->omp_task;
        orr_self->job->task->omp_task = task;
    } else {
        before = task->omp->current;
        task->omp->current = task;
    }
    return before;
}

struct orr_omp_task *orr_omp_self_need(const char *call)
{
    struct orr_omp_task *self = orr_omp_self();

    if (self)
        return self;
    (void)orr_omp_need(call);
    orr_log_error("%s: called by what is no task of OpenMP: call it from the "
                  "thread that called starpu_omp_init, or from a task that "
                  "starpu_omp_parallel_region or starpu_omp_task_region made",
                  call);
    abort();
}

struct orr_omp_task *orr_omp_thread_need(const char *call)
{
    struct orr_omp_task *self = orr_omp_self_need(call);

    if (self->implicit)
        return self;
    orr_log_error("%s: called in an explicit task: this construct belongs to "
                  "the threads of a region",
                  call);
    abort();
}

/* The thread number of explicit tasks is that of the thread on their processor:
 * if there are more threads than processors, the first of them. */
unsigned orr_omp_thread_num(const struct orr_omp_task *task)
{
    const struct orr_omp_team *team = task->team;
    const struct orr_omp *omp = task->omp;
    unsigned proc;

    if (task->implicit || task->in_place || !orr_self->worker)
        return task->thread;
    proc = omp->proc_of[orr_self->worker->id];
    if (proc >= omp->nprocs)
        return 0; /* a device */
    return (proc + omp->nprocs - team->base) % omp->nprocs;
}

void orr_omp_no_memory(const char *call)
{
    orr_log_error("%s: there is no memory: the program ends", call);
    abort();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/cancel.c - cancellation, where OMP_CANCELLATION allows it. Tasks of a group, or
 * of a region, that is cancelled do not execute their bodies if they have not begun. A
 * thread that learns that its region is cancelled goes to its end; threads that wait at a
 * barrier meet those, and go there as well: the end is over with the first round of the
 * meeting that is no thread's barrier.
 */
#include <stdlib.h>

#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/omp/entries.h"
#include "core/omp/omp.h"
#include "core/omp/self.h"
#include "core/omp/share.h"

static bool group_is_cancelled(const struct orr_omp_group *group)
{
    while (group && !atomic_load_explicit(&group->cancelled, memory_order_relaxed))
        group = group->outer;
    return group != NULL;
}

static bool region_is_cancelled(struct orr_omp_team *team)
{
    return atomic_load_explicit(&team->cancelled, memory_order_relaxed);
}

bool orr_omp_is_cancelled(const struct orr_omp_task *task)
{
    return task->omp->env.cancellation &&
           (region_is_cancelled(task->team) || group_is_cancelled(task->counts_in));
}

static unsigned long this_round(struct orr_omp_team *team)
{
    return atomic_load(&team->meeting.round) + 1;
}

bool orr_omp_loop_is_cancelled(struct orr_omp_team *team)
{
    return team->omp->env.cancellation &&
           (region_is_cancelled(team) ||
            atomic_load_explicit(&team->cancelled_in, memory_order_relaxed) ==
                this_round(team));
}

bool orr_omp_meet_unless_cancelled(struct orr_omp_task *thread)
{
    struct orr_omp_team *team = thread->team;

    if (region_is_cancelled(team))
        return true;
    atomic_store(&team->barrier_in, this_round(team));
    orr_omp_meet(thread);
    return region_is_cancelled(team);
}

/* Rounds do not end before the caller has come: nobody is ahead of it. */
void orr_omp_meet_at_end(struct orr_omp_task *thread)
{
    struct orr_omp_team *team = thread->team;
    unsigned long round;

    do {
        round = this_round(team);
        orr_omp_meet(thread);
    } while (atomic_load(&team->barrier_in) >= round);
}

bool orr_openmp_cancel(enum orr_openmp_cancellable what)
{
    struct orr_omp_task *self = orr_omp_self_need("cancel");
    struct orr_omp_team *team = self->team;

    if (!self->omp->env.cancellation)
        return false;
    switch (what) {
    case ORR_OPENMP_PARALLEL:
        atomic_store(&team->cancelled, true);
        return true;
    case ORR_OPENMP_LOOP:
        atomic_store(&team->cancelled_in, this_round(team));
        return true;
    case ORR_OPENMP_TASKGROUP:
        if (self->group)
            atomic_store(&self->group->cancelled, true);
        return self->group != NULL;
    }
    abort();
}

bool orr_openmp_is_cancelled(enum orr_openmp_cancellable what)
{
    struct orr_omp_task *self = orr_omp_self_need("cancellation point");

    if (!self->omp->env.cancellation)
        return false;
    switch (what) {
    case ORR_OPENMP_PARALLEL:
        return region_is_cancelled(self->team);
    case ORR_OPENMP_LOOP:
        return orr_omp_loop_is_cancelled(self->team);
    case ORR_OPENMP_TASKGROUP:
        return region_is_cancelled(self->team) || group_is_cancelled(self->group);
    }
    abort();
}

bool orr_openmp_barrier(void)
{
    struct orr_omp_task *self = orr_omp_thread_here("starpu_omp_barrier");

    if (!orr_may_block("starpu_omp_barrier"))
        abort();
    if (self->omp->env.cancellation)
        return orr_omp_meet_unless_cancelled(self);
    orr_omp_meet(self);
    return false;
}

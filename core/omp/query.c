/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/query.c - what a program asks about its threads and its environment, and
 * may change of that. Without OpenMP, or from what is none of its tasks, the answers
 * are those of a single thread.
 */
#include <limits.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/device/clock.h"
#include "core/exec/runtime.h"
#include "core/omp/omp.h"

/* The number of active levels that set_nested(1) allows. */
enum { MANY_LEVELS = 999999 };

/* -- threads -- */

int starpu_omp_get_num_threads(void)
{
    const struct orr_omp_task *self = orr_omp_self();

    return self ? (int)self->team->nthreads : 1;
}

int starpu_omp_get_thread_num(void)
{
    const struct orr_omp_task *self = orr_omp_self();

    return self ? (int)orr_omp_thread_num(self) : 0;
}

int starpu_omp_get_num_procs(void)
{
    const struct orr_omp *omp = orr_omp();

    return omp ? (int)omp->nprocs : 1;
}

/* How many threads a parallel region would have that the caller begins now. */
int starpu_omp_get_max_threads(void)
{
    const struct orr_omp_task *self = orr_omp_self();

    if (!self ||
        (int)self->team->active >= atomic_load(&self->omp->max_active_levels))
        return 1;
    return self->icvs.nthreads;
}

void starpu_omp_set_num_threads(int threads)
{
    struct orr_omp_task *self = orr_omp_self_need(__func__);

    if (threads <= 0) {
        orr_log_error("%s: %d threads are none: give a number above 0",
                      __func__, threads);
        abort();
    }
    self->icvs.nthreads = threads;
}

/* Regions have as many threads as are asked for: without OMP_THREAD_LIMIT there is no
 * limit. */
int starpu_omp_get_thread_limit(void)
{
    const struct orr_omp *omp = orr_omp();

    return omp && omp->env.thread_limit > 0 ? omp->env.thread_limit : INT_MAX;
}

/* -- levels -- */

int starpu_omp_get_level(void)
{
    const struct orr_omp_task *self = orr_omp_self();

    return self ? (int)self->team->level : 0;
}

int starpu_omp_get_active_level(void)
{
    const struct orr_omp_task *self = orr_omp_self();

    return self ? (int)self->team->active : 0;
}

int starpu_omp_in_parallel(void)
{
    return starpu_omp_get_active_level() > 0;
}

/* The team of a level and the caller's place in it; NULL: there is none. */
static const struct orr_omp_team *team_at(int level, unsigned *ret_thread)
{
    const struct orr_omp_task *self = orr_omp_self();
    const struct orr_omp_team *team = self ? self->team : NULL;

    if (!self || level < 0 || level > (int)team->level)
        return NULL;
    *ret_thread = orr_omp_thread_num(self);
    while ((int)team->level > level) {
        *ret_thread = team->parent_thread;
        team = team->outer;
    }
    return team;
}

int starpu_omp_get_ancestor_thread_num(int level)
{
    unsigned thread;

    if (level == 0)
        return 0;
    return team_at(level, &thread) ? (int)thread : -1;
}

int starpu_omp_get_team_size(int level)
{
    unsigned thread;
    const struct orr_omp_team *team;

    if (level == 0)
        return 1;
    team = team_at(level, &thread);
    return team ? (int)team->nthreads : -1;
}

void starpu_omp_set_max_active_levels(int max_levels)
{
    struct orr_omp *omp = orr_omp_need(__func__);

    if (max_levels >= 0)
        atomic_store(&omp->max_active_levels, max_levels);
}

int starpu_omp_get_max_active_levels(void)
{
    struct orr_omp *omp = orr_omp();

    return omp ? atomic_load(&omp->max_active_levels) : 1;
}

/* Regions in regions have several threads where more than one level may. */
void starpu_omp_set_nested(int nested)
{
    int levels = starpu_omp_get_max_active_levels();

    if (!nested)
        starpu_omp_set_max_active_levels(1);
    else if (levels <= 1)
        starpu_omp_set_max_active_levels(MANY_LEVELS);
}

int starpu_omp_get_nested(void)
{
    return starpu_omp_get_max_active_levels() > 1;
}

void starpu_omp_set_dynamic(int dynamic_threads)
{
    orr_omp_self_need(__func__)->icvs.dynamic = dynamic_threads != 0;
}

int starpu_omp_get_dynamic(void)
{
    const struct orr_omp_task *self = orr_omp_self();

    return self && self->icvs.dynamic;
}

/* -- schedules, tasks -- */

void starpu_omp_set_schedule(enum starpu_omp_sched_value kind, int modifier)
{
    struct orr_omp_task *self = orr_omp_self_need(__func__);

    if (kind < starpu_omp_sched_static || kind > starpu_omp_sched_auto ||
        modifier < 0) {
        orr_log_error("%s: schedule %d with chunk %d: give one from "
                      "starpu_omp_sched_static to starpu_omp_sched_auto, and a "
                      "chunk of at least 0",
                      __func__, (int)kind, modifier);
        abort();
    }
    self->icvs.schedule = kind;
    self->icvs.chunk = (unsigned long long)modifier;
}

void starpu_omp_get_schedule(enum starpu_omp_sched_value *kind, int *modifier)
{
    const struct orr_omp_task *self = orr_omp_self_need(__func__);

    *kind = self->icvs.schedule;
    *modifier = (int)self->icvs.chunk;
}

int starpu_omp_in_final(void)
{
    const struct orr_omp_task *self = orr_omp_self();

    return self && self->final;
}

int starpu_omp_get_max_task_priority(void)
{
    const struct orr_omp *omp = orr_omp();

    return omp ? omp->env.max_task_priority : 0;
}

int starpu_omp_get_cancellation(void)
{
    const struct orr_omp *omp = orr_omp();

    return omp && omp->env.cancellation;
}

/* -- places: nothing is bound by them -- */

enum starpu_omp_proc_bind_value starpu_omp_get_proc_bind(void)
{
    const struct orr_omp *omp = orr_omp();

    return omp && omp->env.nbinds ? omp->env.binds[0]
                                  : starpu_omp_proc_bind_false;
}

int starpu_omp_get_num_places(void)
{
    const struct orr_omp *omp = orr_omp();

    return omp ? (int)omp->env.nplaces : 0;
}

int starpu_omp_get_place_num_procs(int place_num)
{
    (void)place_num;
    return 0;
}

void starpu_omp_get_place_proc_ids(int place_num, int *ids)
{
    (void)place_num;
    (void)ids;
}

int starpu_omp_get_place_num(void)
{
    return -1;
}

int starpu_omp_get_partition_num_places(void)
{
    return 0;
}

void starpu_omp_get_partition_place_nums(int *place_nums)
{
    (void)place_nums;
}

/* -- devices: one team, on the host -- */

void starpu_omp_set_default_device(int device_num)
{
    atomic_store(&orr_omp_need(__func__)->default_device, device_num);
}

int starpu_omp_get_default_device(void)
{
    struct orr_omp *omp = orr_omp();

    return omp ? atomic_load(&omp->default_device) : 0;
}

int starpu_omp_get_num_devices(void)
{
    return 1;
}

int starpu_omp_get_num_teams(void)
{
    return 1;
}

int starpu_omp_get_team_num(void)
{
    return 0;
}

int starpu_omp_is_initial_device(void)
{
    return orr_omp_self() != NULL;
}

int starpu_omp_get_initial_device(void)
{
    return 0;
}

/* -- time: virtual, where the machine is simulated -- */

double starpu_omp_get_wtime(void)
{
    const struct orr_omp *omp = orr_omp_need(__func__);

    return (orr_exec_now(omp->rt->exec) - omp->begun_us) / 1e6;
}

double starpu_omp_get_wtick(void)
{
    return 1e-6;
}

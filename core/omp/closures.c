/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/closures.c - see closures.h. */
#include "core/omp/closures.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/device/clock.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/omp/omp.h"
#include "core/sched/direct.h"
#include "core/task/task.h"
#include "core/worker/workers.h"

/* More than may wait for one thread (ENOUGH of task.c), a power of 2. */
enum { ROOM = 256 };

/* The numbers of tasks that were taken from the old end, and put to the new one. */
struct orr_omp_closures {
    _Alignas(64) struct orr_lock lock; /* rank ORR_RANK_RUNTIME */
    atomic_uint oldest, newest;        /* [lock] to write */
    struct orr_omp_task *at[ROOM];     /* [lock] */
};

static unsigned length(struct orr_omp_closures *list)
{
    return atomic_load_explicit(&list->newest, memory_order_acquire) -
           atomic_load_explicit(&list->oldest, memory_order_relaxed);
}

/* -- putting and taking -- */

static bool put_newest(struct orr_omp_closures *list, struct orr_omp_task *task)
{
    unsigned newest;
    bool room;

    orr_lock(&list->lock);
    newest = atomic_load_explicit(&list->newest, memory_order_relaxed);
    room = newest - atomic_load_explicit(&list->oldest, memory_order_relaxed) < ROOM;
    if (room) {
        list->at[newest % ROOM] = task;
        atomic_store_explicit(&list->newest, newest + 1, memory_order_release);
    }
    orr_unlock(&list->lock);
    return room;
}

static struct orr_omp_task *take_oldest(struct orr_omp_closures *list)
{
    struct orr_omp_task *task = NULL;

    if (length(list) == 0)
        return NULL;
    orr_lock(&list->lock);
    if (length(list) > 0) {
        unsigned oldest = atomic_load_explicit(&list->oldest, memory_order_relaxed);

        task = list->at[oldest % ROOM];
        atomic_store_explicit(&list->oldest, oldest + 1, memory_order_relaxed);
    }
    orr_unlock(&list->lock);
    return task;
}

/* Only one that the caller waits for. */
static struct orr_omp_task *take_newest(struct orr_omp_closures *list,
                                        const struct orr_omp_count *count)
{
    struct orr_omp_task *task = NULL;

    if (length(list) == 0)
        return NULL;
    orr_lock(&list->lock);
    if (length(list) > 0) {
        unsigned newest = atomic_load_explicit(&list->newest, memory_order_relaxed) - 1;

        task = list->at[newest % ROOM];
        if (&task->parent->children == count ||
            (task->counts_in && &task->counts_in->unfinished == count))
            atomic_store_explicit(&list->newest, newest, memory_order_relaxed);
        else
            task = NULL;
    }
    orr_unlock(&list->lock);
    return task;
}

/* -- execution -- */

/* The number of the thread whose processor that is. */
static unsigned thread_here(const struct orr_omp_team *team)
{
    const struct orr_omp *omp = team->omp;

    return (omp->proc_of[orr_self->worker->id] + omp->nprocs - team->base) % omp->nprocs;
}

/* In the kernel of `self`, or of an agent (NULL). */
static void closure_run(struct orr_omp_task *self, struct orr_omp_task *task)
{
    double begun_us = task->measured ? orr_exec_now(orr_self->exec) : 0;

    task->thread = thread_here(task->team);
    task->nested = self ? self->nested + 1 : 0;
    task->in_place = true;
    (void)orr_omp_switch(task);
    orr_omp_task_run(task, NULL, task->arg);
    (void)orr_omp_switch(self);
    if (task->measured)
        orr_omp_codelet_note_length(task->measured,
                                    orr_exec_now(orr_self->exec) - begun_us, 1);
    if (task->frees_arg)
        free(task->arg);
    orr_omp_task_ended(task);
}

void orr_omp_closures_run_counted(struct orr_omp_task *self, const struct orr_omp_count *count)
{
    const struct orr_omp *omp = self->omp;
    const struct orr_worker *worker = orr_self->worker;
    struct orr_omp_closures *list;
    struct orr_omp_task *task;

    if (!omp->closures || !worker || omp->proc_of[worker->id] >= omp->nprocs)
        return;
    list = &omp->closures[omp->proc_of[worker->id]];
    while (orr_omp_count_is_waited(count) && (task = take_newest(list, count)))
        closure_run(self, task);
}

/* -- agents: tasks of the runtime that execute what they find -- */

static struct orr_omp_task *take_any(const struct orr_omp *omp, unsigned first)
{
    struct orr_omp_task *task = NULL;

    for (unsigned i = 0; i < omp->nprocs && !task; i++)
        task = take_oldest(&omp->closures[(first + i) % omp->nprocs]);
    return task;
}

/* The next one, for which the agent looks a moment: the others may be about to make more. */
static struct orr_omp_task *look_for_next(const struct orr_omp *omp)
{
    struct orr_worker *worker = orr_self->worker;
    unsigned proc = omp->proc_of[worker->id];
    struct orr_omp_task *task = take_any(omp, proc);

    for (unsigned n = omp->env.looks ? ORR_OMP_SPINS : 0; n > 0 && !task; n--) {
        if (orr_omp_place_is_wanted(worker) || orr_direct_any(omp->rt))
            break;
        orr_exec_pause();
        task = take_any(omp, proc);
    }
    return task;
}

static void run_agent(void *buffers[], void *arg)
{
    const struct orr_omp *omp = orr_self->runtime->omp;
    struct orr_omp_task *task;

    (void)buffers;
    (void)arg;
    while ((task = look_for_next(omp)))
        closure_run(NULL, task);
}

/* Main, or a worker that has nothing to do. */
static void send_agent(void *arg)
{
    struct orr_omp *omp = arg;
    struct starpu_task *task;

    for (unsigned i = 0; i < omp->nprocs; i++)
        if (length(&omp->closures[i]) > 0) {
            task = orr_task_new(omp->rt);
            if (!task)
                orr_omp_no_memory("a task");
            task->cl = &omp->agent;
            if (orr_task_submit_direct(omp->rt, task) != 0)
                orr_omp_no_memory("a task");
            return;
        }
}

bool orr_omp_closure_defer(struct orr_omp_task *parent, struct orr_omp_task *task, void *arg,
                           bool frees_arg)
{
    const struct orr_omp *omp = task->omp;
    const struct orr_worker *worker = orr_self->worker;

    if (!omp->closures || !worker || omp->proc_of[worker->id] >= omp->nprocs ||
        task->team->some || !orr_direct_may(omp->rt))
        return false;
    task->arg = arg;
    task->frees_arg = frees_arg;
    orr_omp_task_hold_parent(task);
    orr_omp_task_count(task);
    if (!put_newest(&omp->closures[omp->proc_of[worker->id]], task)) {
        closure_run(parent, task);
        return true;
    }
    orr_direct_wake(omp->rt);
    return true;
}

int orr_omp_closures_init(struct orr_omp *omp)
{
    if (omp->rt->exec->one_thread)
        return 0;
    omp->closures =
        aligned_alloc(_Alignof(struct orr_omp_closures), omp->nprocs * sizeof(*omp->closures));
    if (!omp->closures)
        return -ENOMEM;
    for (unsigned i = 0; i < omp->nprocs; i++) {
        omp->closures[i] = (struct orr_omp_closures){.oldest = 0};
        orr_lock_init(&omp->closures[i].lock, ORR_RANK_RUNTIME);
    }
    omp->agent = (struct starpu_codelet){.cpu_funcs = {run_agent}, .name = "tasks of a team"};
    orr_direct_set_source(omp->rt, send_agent, omp);
    return 0;
}

void orr_omp_closures_done(struct orr_omp *omp)
{
    if (omp->closures)
        orr_direct_set_source(omp->rt, NULL, NULL);
    free(omp->closures);
    omp->closures = NULL;
}

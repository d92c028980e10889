/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/memory.c - the memory of tasks. It outlives runs: an application may make
 * tasks before starpu_init, and read and destroy them after starpu_shutdown.
 */
#include <stdatomic.h>

#include "core/base/lock.h"
#include "core/base/slab.h"
#include "core/task/task.h"

enum { LINE = 64 };

/* Writable state of the process, not of a run. */
static _Atomic(struct orr_slab *) tasks;

int orr_task_slab(struct orr_slab **ret)
{
    struct orr_slab *made, *there = atomic_load(&tasks);
    int err = 0;

    /* A cache for each worker, and main's, of any run. In whole lines of the cache: what
     * a worker reads of a task is in as few of them as possible. */
    if (!there) {
        err = orr_slab_new((sizeof(struct starpu_task) + LINE - 1) / LINE * LINE,
                           STARPU_NMAXWORKERS + 1, &made);
        if (!err && atomic_compare_exchange_strong(&tasks, &there, made))
            there = made;
        else if (!err)
            orr_slab_free(made);
    }
    *ret = there;
    return there ? 0 : err;
}

void orr_task_put(struct orr_slab *slab, struct starpu_task *task)
{
    if (orr_task_is_ours(task))
        orr_slab_put(slab, task);
    else
        orr_slab_adopt(slab, task);
}

/* Takes a task (NULL) or puts one, as a context that belongs to no run. */
static struct starpu_task *do_outside(struct starpu_task *task)
{
    struct orr_exec exec;
    struct orr_context outside, *self = orr_self;
    struct orr_slab *slab;

    orr_lock_outside(&outside, &exec);
    orr_self = &outside;
    if (orr_task_slab(&slab) != 0)
        task = NULL;
    else if (task)
        orr_task_put(slab, task);
    else
        task = orr_slab_get(slab);
    orr_self = self;
    return task;
}

struct starpu_task *orr_task_take_outside(void)
{
    return do_outside(NULL);
}

void orr_task_put_outside(struct starpu_task *task)
{
    (void)do_outside(task);
}

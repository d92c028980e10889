/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/memory.c - the memory of tasks. It outlives runs: an application may make
 * tasks before starpu_init, and read and destroy them after starpu_shutdown.
 */
#include <errno.h>
#include <pthread.h>

#include "core/base/lock.h"
#include "core/base/slab.h"
#include "core/task/task.h"

enum { LINE = 64, MOST_RUNS = 64 };

/* Writable state of the process, not of a run: a slab for each of the runs that are open
 * at one time on threads of their own, whose workers have equal numbers and thus equal
 * caches of a slab. The first one is that of all others. None is ever freed. */
static struct {
    pthread_mutex_t lock;
    struct {
        struct orr_slab *slab;
        bool leased;
    } at[MOST_RUNS];
} tasks = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A cache for each worker, and main's, of any run. In whole lines of the cache: what a
 * worker reads of a task is in as few of them as possible. */
static int make_slab(unsigned i)
{
    return tasks.at[i].slab
               ? 0
               : orr_slab_new((sizeof(struct starpu_task) + LINE - 1) / LINE * LINE,
                              STARPU_NMAXWORKERS + 1, &tasks.at[i].slab);
}

int orr_task_slab(bool alone, struct orr_slab **ret)
{
    unsigned i = 0;
    int err = -ENOMEM;

    pthread_mutex_lock(&tasks.lock);
    while (alone && i < MOST_RUNS && tasks.at[i].leased)
        i++;
    if (i < MOST_RUNS)
        err = make_slab(i);
    if (!err) {
        tasks.at[i].leased |= alone;
        *ret = tasks.at[i].slab;
    }
    pthread_mutex_unlock(&tasks.lock);
    return err;
}

void orr_task_slab_return(const struct orr_slab *slab)
{
    pthread_mutex_lock(&tasks.lock);
    for (unsigned i = 0; slab && i < MOST_RUNS; i++)
        if (tasks.at[i].slab == slab)
            tasks.at[i].leased = false;
    pthread_mutex_unlock(&tasks.lock);
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
    if (orr_task_slab(false, &slab) != 0)
        task = NULL;
    else if (task)
        orr_task_put(slab, task);
    else
        task = orr_slab_get_zeroed(slab);
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/sched/bundle.c - see bundle.h. */
#include "core/sched/bundle.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/grow.h"
#include "core/base/lock.h"
#include "core/data/data.h"
#include "core/data/handle.h"
#include "core/exec/runtime.h"

struct member {
    struct starpu_task *task;
    bool
        scheduled; /* a policy has got it: as task->scheduled, which others write
                     * without our lock */
};

struct _starpu_task_bundle {
    struct orr_lock lock;   /* rank ORR_RANK_PLANS */
    struct member *members; /* [lock] owned, in order of insertion */
    unsigned n;             /* [lock] */
    bool closed;            /* [lock] */
};

starpu_task_bundle_t orr_bundle_new(void)
{
    starpu_task_bundle_t bundle = calloc(1, sizeof(*bundle));

    if (bundle)
        orr_lock_init(&bundle->lock, ORR_RANK_PLANS);
    return bundle;
}

static void free_bundle(starpu_task_bundle_t bundle)
{
    free(bundle->members);
    free(bundle);
}

static int insert_locked(starpu_task_bundle_t bundle, struct starpu_task *task)
    ORR_REQUIRES(bundle->lock)
{
    struct member *added;

    if (bundle->closed)
        return -EPERM;
    added = orr_array_add(bundle->members, bundle->n);
    if (!added)
        return -ENOMEM;
    *added = (struct member){task, task->scheduled};
    task->bundle = bundle;
    return 0;
}

int orr_bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task)
{
    int rc;

    if (task->bundle || task->status != STARPU_TASK_INIT)
        return -EINVAL;
    orr_lock(&bundle->lock);
    rc = insert_locked(bundle, task);
    orr_unlock(&bundle->lock);
    return rc;
}

/* Its place, n without. */
static unsigned bundle_find_locked(starpu_task_bundle_t bundle,
                                   const struct starpu_task *task)
    ORR_REQUIRES(bundle->lock)
{
    unsigned i = 0;

    while (i < bundle->n && bundle->members[i].task != task)
        i++;
    return i;
}

void orr_bundle_note_push(starpu_task_bundle_t bundle,
                          const struct starpu_task *task)
{
    unsigned i;

    orr_lock(&bundle->lock);
    i = bundle_find_locked(bundle, task);
    if (i < bundle->n)
        bundle->members[i].scheduled = true;
    orr_unlock(&bundle->lock);
}

int orr_bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task)
{
    unsigned i;
    bool found, over;

    orr_lock(&bundle->lock);
    i = bundle_find_locked(bundle, task);
    found = i < bundle->n;
    if (found) {
        bundle->n--;
        for (; i < bundle->n; i++)
            bundle->members[i] = bundle->members[i + 1];
        task->bundle = NULL;
    }
    over = found && bundle->closed && bundle->n == 0;
    orr_unlock(&bundle->lock);
    if (over)
        free_bundle(bundle);
    return found ? 0 : -ENOENT;
}

void orr_bundle_close(starpu_task_bundle_t bundle)
{
    bool over;

    orr_lock(&bundle->lock);
    bundle->closed = true;
    over = bundle->n == 0;
    orr_unlock(&bundle->lock);
    if (over)
        free_bundle(bundle);
}

double orr_bundle_sum(starpu_task_bundle_t bundle, bool waiting,
                      double (*of)(struct starpu_task *task, void *arg),
                      void *arg)
{
    double sum = 0;

    orr_lock(&bundle->lock);
    for (unsigned i = 0; i < bundle->n; i++) {
        const struct member *member = &bundle->members[i];
        double one = waiting && member->scheduled ? 0 : of(member->task, arg);

        if (one > 0)
            sum += one;
    }
    orr_unlock(&bundle->lock);
    return sum;
}

static bool bundle_member_counts(const struct member *member,
                                 const struct starpu_task *also)
{
    return member->task->cl && (!member->scheduled || member->task == also);
}

/* Whether an earlier buffer of a waiting member has the handle. */
static bool is_repeated_locked(const struct _starpu_task_bundle *bundle,
                               unsigned upto, unsigned buffer,
                               const struct starpu_task *also)
{
    starpu_data_handle_t handle =
        STARPU_TASK_GET_HANDLE(bundle->members[upto].task, buffer);

    for (unsigned t = 0; t <= upto; t++) {
        const struct starpu_task *task = bundle->members[t].task;
        unsigned n = buffer;

        if (t < upto)
            n = task->cl ? STARPU_TASK_GET_NBUFFERS(task) : 0;
        for (unsigned i = 0;
             bundle_member_counts(&bundle->members[t], also) && i < n; i++)
            if (STARPU_TASK_GET_HANDLE(task, i) == handle &&
                STARPU_TASK_GET_MODE(task, i) & STARPU_R)
                return true;
    }
    return false;
}

static double task_transfer_locked(const struct _starpu_task_bundle *bundle,
                                   unsigned t, unsigned node,
                                   const struct starpu_task *also)
{
    const struct starpu_task *task = bundle->members[t].task;
    double sum = 0;

    for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++) {
        double one = 0;

        if (STARPU_TASK_GET_MODE(task, i) & STARPU_R &&
            !is_repeated_locked(bundle, t, i, also))
            one = orr_handle_transfer_time(
                orr_self->runtime,
                orr_handle_of(STARPU_TASK_GET_HANDLE(task, i)), node, STARPU_R);
        if (one > 0)
            sum += one;
    }
    return sum;
}

double orr_bundle_transfer_time(starpu_task_bundle_t bundle, unsigned node,
                                const struct starpu_task *also)
{
    double sum = 0;

    orr_lock(&bundle->lock);
    for (unsigned t = 0; t < bundle->n; t++)
        if (bundle_member_counts(&bundle->members[t], also))
            sum += task_transfer_locked(bundle, t, node, also);
    orr_unlock(&bundle->lock);
    return sum;
}

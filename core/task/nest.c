/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/task/nest.c - see nest.h. */
#include "core/task/nest.h"

#include <stdlib.h>

#include "core/runtime.h"

void orr_nest_ref(struct orr_nest *nest)
{
    atomic_fetch_add_explicit(&nest->refs, 1, memory_order_relaxed);
}

/* Chains are long: no recursion. */
void orr_nest_unref(struct orr_nest *nest)
{
    while (nest && atomic_fetch_sub_explicit(&nest->refs, 1,
                                             memory_order_acq_rel) == 1) {
        struct orr_nest *up = nest->up;

        free(nest);
        nest = up;
    }
}

static bool is_over(const struct orr_nest *nest)
{
    return atomic_load_explicit(&nest->over, memory_order_relaxed);
}

/* Leaves out the nests around `nest` that are over, so that a task that submits
 * the next one, and so on, makes no chain. What was left out is returned in *ret,
 * to be let go when nothing is locked. */
static void shorten_locked(struct orr_nest *nest, struct orr_nest **ret)
{
    struct orr_nest *up = nest->up;

    while (up && is_over(up))
        up = up->up;
    *ret = NULL;
    if (up == nest->up)
        return;
    if (up)
        orr_nest_ref(up);
    *ret = nest->up;
    nest->up = up;
}

struct orr_nest *orr_nest_find_up(struct orr_runtime *rt,
                                  struct orr_nest *around)
{
    struct orr_nest *up = around, *left = NULL;

    if (!around)
        return NULL;
    orr_lock(&rt->nests_lock);
    shorten_locked(around, &left);
    if (is_over(around))
        up = around->up;
    if (up)
        orr_nest_ref(up);
    orr_unlock(&rt->nests_lock);
    orr_nest_unref(left);
    return up;
}

void orr_nest_end(struct orr_nest *nest)
{
    atomic_store(&nest->over, true);
}

unsigned orr_nest_count_around(struct orr_runtime *rt,
                               const struct orr_nest *nest, unsigned sched_ctx)
{
    unsigned n = 0;

    orr_lock(&rt->nests_lock);
    for (; nest; nest = nest->up)
        n += nest->sched_ctx == sched_ctx && !nest->counts && !is_over(nest);
    orr_unlock(&rt->nests_lock);
    return n;
}

struct orr_scope *orr_nest_scope(struct orr_runtime *rt, struct orr_nest *nest,
                                 const struct orr_handle *handle)
{
    struct orr_scope *found = NULL;

    orr_lock(&rt->nests_lock);
    for (; nest && !found; nest = nest->up)
        for (unsigned i = 0; i < nest->nscopes && !found; i++)
            if (nest->scopes[i].handle == handle && nest->scopes[i].access)
                found = &nest->scopes[i];
    orr_unlock(&rt->nests_lock);
    return found;
}

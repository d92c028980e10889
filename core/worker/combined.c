/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/combined.c - see combined.h. Published by their count: who reads it
 * finds those below.
 */
#include "core/worker/combined.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/kind.h"
#include "core/worker/workers.h"

static int compare_ids(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Whether the numbers, ascending, are of different processors. */
static bool are_processors(const struct orr_runtime *rt, const int *ids,
                           unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (ids[i] < 0 || (unsigned)ids[i] >= rt->workers->n ||
            (i > 0 && ids[i] == ids[i - 1]) ||
            !orr_device_kind(rt->workers->at[ids[i]].desc->type)->is_processor)
            return false;
    return n > 0;
}

static void combined_free(struct orr_combined *combined)
{
    if (combined)
        free(combined->members);
    free(combined);
}

/* Gives it a number. */
static int combined_publish(struct orr_runtime *rt,
                            struct orr_combined *combined)
{
    int id = -EAGAIN;

    orr_lock(&rt->lock);
    if (rt->workers->n + orr_combined_count(rt) < STARPU_NMAXWORKERS) {
        unsigned i = orr_combined_count(rt);

        combined->id = rt->workers->n + i;
        id = (int)combined->id;
        atomic_store_explicit(&rt->workers->combined[i], combined,
                              memory_order_relaxed);
        atomic_store_explicit(&rt->workers->ncombined, i + 1,
                              memory_order_release);
    }
    orr_unlock(&rt->lock);
    return id;
}

int orr_combined_add(struct orr_runtime *rt, const int *ids, unsigned n)
{
    struct orr_combined *combined = calloc(1, sizeof(*combined));
    int id = -ENOMEM;

    if (!combined)
        return -ENOMEM;
    combined->size = n;
    combined->members = calloc((size_t)n + 1, sizeof(*ids));
    if (!combined->members)
        goto free_combined;
    if (n)
        memcpy(combined->members, ids, n * sizeof(*ids));
    qsort(combined->members, n, sizeof(*ids), compare_ids);
    id = -EINVAL;
    if (!are_processors(rt, combined->members, n))
        goto free_combined;
    combined->class_id = rt->workers->at[combined->members[0]].class_id;
    id = combined_publish(rt, combined);
    if (id >= 0)
        return id;

free_combined:
    combined_free(combined);
    return id;
}

bool orr_combined_is_blocked(const struct orr_runtime *rt,
                             const struct orr_combined *combined)
{
    for (unsigned i = 0; i < combined->size; i++)
        if (orr_worker_is_blocked(&rt->workers->at[combined->members[i]]))
            return true;
    return false;
}

void orr_combined_free_all(struct orr_runtime *rt)
{
    for (unsigned i = orr_combined_count(rt); i-- > 0;)
        combined_free(rt->workers->combined[i]);
    atomic_store(&rt->workers->ncombined, 0);
}

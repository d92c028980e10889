/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/combined.h - combined workers: sets of processors that may execute
 * a parallel task together. They are numbered after the workers and stay until the
 * end of the run. Any context.
 */
#pragma once

#include "core/exec/runtime.h"
#include "core/worker/workers.h"

struct orr_combined {
    unsigned id;       /* [const] its number */
    unsigned size;     /* [const] */
    unsigned class_id; /* [const] its first member's, which stands for all */
    int *members;      /* [const] worker numbers, ascending; owned */
};

/* Makes one of these workers, which may be in others already; returns its number.
 * Errors: -EINVAL for what is no worker, no processor or twice there; -EAGAIN,
 * there are no numbers left; -ENOMEM. */
int orr_combined_add(struct orr_runtime *rt, const int *ids, unsigned n);

/* How many there are. */
static inline unsigned orr_combined_count(const struct orr_runtime *rt)
{
    return atomic_load_explicit(&rt->workers->ncombined, memory_order_acquire);
}

/* That numbered `id`, NULL for others. Lent. */
static inline const struct orr_combined *
orr_combined_at(const struct orr_runtime *rt, unsigned id)
{
    if (id < rt->workers->n || id - rt->workers->n >= orr_combined_count(rt))
        return NULL;
    return atomic_load_explicit(&rt->workers->combined[id - rt->workers->n],
                                memory_order_relaxed);
}

/* Whether some member is to take no tasks. */
bool orr_combined_is_blocked(const struct orr_runtime *rt,
                             const struct orr_combined *combined);

/* Makes those that the shape of the machine suggests, at the first call; calls
 * made(id, arg) for each. combinations.c says which. */
void orr_combinations_find(struct orr_runtime *rt,
                           void (*made)(unsigned id, void *arg), void *arg);

/* The end of the run. */
void orr_combined_free_all(struct orr_runtime *rt);

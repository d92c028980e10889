/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/iterations.h - in which iterations of its loops a program submits
 * its tasks, as it says itself (starpu_iteration_push). Levels nest; the two outer
 * ones are kept, per scheduling context. In a record each pair of them has a
 * number, which tasks carry. Any context.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "core/base/lock.h"

struct orr_trace;

enum { ORR_ITERATIONS = 2 };

struct orr_iterations {
    struct orr_lock lock; /* rank ORR_RANK_RUNTIME */
    struct orr_loops {
        int64_t levels[ORR_ITERATIONS]; /* [lock] */
        unsigned depth;     /* [lock] how many have begun, one in the other */
        atomic_uint number; /* in the record, 0: none; written with the lock */
    } loops[STARPU_NMAX_SCHED_CTXS];
};

void orr_iterations_init(struct orr_iterations *iterations);

/* The scheduling context is a new one: none of its loops has begun. */
void orr_iterations_clear(struct orr_iterations *iterations, unsigned ctx);

/* An iteration of the loops of that scheduling context begins. */
void orr_iterations_push(struct orr_iterations *iterations, unsigned ctx,
                         uint64_t iteration);

/* The last one ends. False: none has begun. */
bool orr_iterations_pop(struct orr_iterations *iterations, unsigned ctx);

/* The loops of that scheduling context have changed: tasks carry the number of the present
 * ones in the record. */
void orr_iterations_number(struct orr_iterations *iterations, unsigned ctx,
                           struct orr_trace *trace);

/* What a task that is submitted now carries. */
static inline uint32_t
orr_iterations_current(const struct orr_iterations *iterations, unsigned ctx)
{
    return atomic_load_explicit(&iterations->loops[ctx].number,
                                memory_order_acquire);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/iterations.c - see iterations.h. */
#include "core/observe/iterations.h"

#include "core/observe/trace_record.h"

void orr_iterations_init(struct orr_iterations *iterations)
{
    orr_lock_init(&iterations->lock, ORR_RANK_RUNTIME);
}

void orr_iterations_clear(struct orr_iterations *iterations, unsigned ctx)
{
    orr_lock(&iterations->lock);
    iterations->loops[ctx].depth = 0;
    atomic_store_explicit(&iterations->loops[ctx].number, 0,
                          memory_order_release);
    orr_unlock(&iterations->lock);
}

/* The release is for tasks that others submit. */
void orr_iterations_number(struct orr_iterations *iterations, unsigned ctx,
                           struct orr_trace *trace)
{
    struct orr_loops *loops = &iterations->loops[ctx];
    int64_t levels[ORR_ITERATIONS];
    uint32_t number = 0;

    orr_lock(&iterations->lock);
    for (unsigned i = 0; i < ORR_ITERATIONS; i++)
        levels[i] = i < loops->depth ? loops->levels[i] : -1;
    if (loops->depth)
        number = orr_trace_iteration(trace, levels);
    atomic_store_explicit(&loops->number, number, memory_order_release);
    orr_unlock(&iterations->lock);
}

void orr_iterations_push(struct orr_iterations *iterations, unsigned ctx,
                         uint64_t iteration)
{
    struct orr_loops *loops = &iterations->loops[ctx];

    orr_lock(&iterations->lock);
    if (loops->depth < ORR_ITERATIONS)
        loops->levels[loops->depth] = (int64_t)iteration;
    loops->depth++;
    orr_unlock(&iterations->lock);
}

bool orr_iterations_pop(struct orr_iterations *iterations, unsigned ctx)
{
    struct orr_loops *loops = &iterations->loops[ctx];
    bool begun;

    orr_lock(&iterations->lock);
    begun = loops->depth > 0;
    if (begun)
        loops->depth--;
    orr_unlock(&iterations->lock);
    return begun;
}

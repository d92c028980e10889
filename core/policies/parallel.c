/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/policies/parallel.c - see parallel.h. No state. */
#include "core/policies/parallel.h"

#include "core/cost/cost.h"
#include "core/worker/workers.h"

#define EXECUTES                                                               \
    (STARPU_CODELET_SIMGRID_EXECUTE | STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT)

static bool all_present(const struct starpu_worker_collection *workers,
                        const struct orr_combined *combined)
{
    for (unsigned i = 0; i < combined->size; i++)
        if (!workers->present[combined->members[i]])
            return false;
    return true;
}

void orr_parallel_add_workers(struct orr_sched *sched, int *ids, unsigned n)
{
    struct starpu_worker_collection *workers = &sched->said->workers;
    struct orr_runtime *rt = sched->runtime;

    (void)ids;
    (void)n;
    orr_combinations_find(rt, NULL, NULL);
    for (unsigned i = 0; i < orr_combined_count(rt); i++) {
        const struct orr_combined *combined =
            orr_combined_at(rt, rt->workers->n + i);

        if (all_present(workers, combined))
            (void)workers->add(workers, (int)combined->id);
    }
}

unsigned orr_parallel_able(struct orr_sched *sched, struct orr_job *job,
                           const struct orr_cost_row *row,
                           const struct orr_combined *combined)
{
    struct orr_runtime *rt = sched->runtime;
    unsigned bits = orr_job_able_combined(rt, job, row, combined);

    if (!rt->machine->kernels_take_their_length || row->cl->flags & EXECUTES)
        return bits;
    for (unsigned i = 0; bits >> i; i++) {
        struct orr_length length;

        if (!(bits >> i & 1))
            continue;
        length = orr_cost_wide(rt, job, combined->class_id, combined->size, i);
        if (!orr_length_is_known(&length))
            bits &= ~(1U << i);
    }
    return bits;
}

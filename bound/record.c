/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/record.c - counts tasks in pools and makes the problem of them. No
 * threads of its own: the caller serialises.
 */
#include "bound/record.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct pool {
    const void *codelet;
    uint32_t footprint;
    unsigned long count;
    char *symbol; /* owned */
};

struct orr_bound_record {
    struct pool *pools; /* owned, in order of first appearance */
    unsigned npools, room;
    unsigned *slots; /* owned hash table: pool number + 1, 0: empty; twice as
                      * many as there is room for pools */
};

int orr_bound_record_new(struct orr_bound_record **ret)
{
    struct orr_bound_record *record = calloc(1, sizeof(*record));

    if (!record)
        return -ENOMEM;
    *ret = record;
    return 0;
}

void orr_bound_record_free(struct orr_bound_record *record)
{
    if (!record)
        return;
    for (unsigned i = 0; i < record->npools; i++)
        free(record->pools[i].symbol);
    free(record->pools);
    free(record->slots);
    free(record);
}

/* The slot of the pool, or the empty one where it would be. */
static unsigned *pool_slot_find(const struct orr_bound_record *record,
                                const void *codelet, uint32_t footprint)
{
    uint64_t hash = ((uintptr_t)codelet ^ footprint) * 0x9e3779b97f4a7c15U;
    unsigned mask = 2 * record->room - 1;

    for (unsigned i = (unsigned)(hash >> 32);; i++) {
        unsigned *slot = &record->slots[i & mask];
        const struct pool *pool;

        if (*slot == 0)
            return slot;
        pool = &record->pools[*slot - 1];
        if (pool->codelet == codelet && pool->footprint == footprint)
            return slot;
    }
}

static int record_grow(struct orr_bound_record *record)
{
    unsigned room = record->room ? 2 * record->room : 16;
    struct pool *pools = realloc(record->pools, room * sizeof(*pools));
    unsigned *slots;

    if (!pools)
        return -ENOMEM;
    record->pools = pools;
    slots = calloc(2 * (size_t)room, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    free(record->slots);
    record->slots = slots;
    record->room = room;
    for (unsigned i = 0; i < record->npools; i++)
        *pool_slot_find(record, pools[i].codelet, pools[i].footprint) = i + 1;
    return 0;
}

int orr_bound_record_task(struct orr_bound_record *record, const void *codelet,
                          uint32_t footprint, const char *symbol)
{
    unsigned *slot;
    char *copy;

    if (record->npools == record->room && record_grow(record))
        return -ENOMEM;
    slot = pool_slot_find(record, codelet, footprint);
    if (*slot) {
        record->pools[*slot - 1].count++;
        return 0;
    }
    copy = strdup(symbol);
    if (!copy)
        return -ENOMEM;
    record->pools[record->npools++] =
        (struct pool){codelet, footprint, 1, copy};
    *slot = record->npools;
    return 0;
}

static int pool_fill(struct orr_bound_pool *to, const struct pool *from,
                     const struct orr_bound_source *source)
{
    to->codelet = from->codelet;
    to->footprint = from->footprint;
    to->count = from->count;
    to->symbol = strdup(from->symbol);
    to->duration_ms = calloc(source->nworkers + 1, sizeof(double));
    if (source->executed)
        to->executed = calloc(source->nworkers + 1, sizeof(unsigned long));
    if (!to->symbol || !to->duration_ms || (source->executed && !to->executed))
        return -ENOMEM;
    for (unsigned w = 0; w < source->nworkers; w++) {
        double ms =
            source->duration_ms(from->codelet, from->footprint, w, source->arg);

        to->duration_ms[w] = isfinite(ms) && ms >= 0 ? ms : (double)NAN;
        if (source->executed)
            to->executed[w] = source->executed(from->codelet, w, source->arg);
    }
    return 0;
}

static int problem_fill(struct orr_bound_problem *problem,
                        const struct orr_bound_record *record,
                        const struct orr_bound_source *source)
{
    int rc = 0;

    problem->pools = calloc(record->npools + 1, sizeof(*problem->pools));
    problem->worker_names = calloc(source->nworkers + 1, sizeof(char *));
    if (!problem->pools || !problem->worker_names)
        return -ENOMEM;
    problem->npools = record->npools;
    problem->nworkers = source->nworkers;
    for (unsigned w = 0; w < source->nworkers; w++) {
        problem->worker_names[w] = strdup(source->worker_name(w, source->arg));
        if (!problem->worker_names[w])
            return -ENOMEM;
    }
    for (unsigned t = 0; !rc && t < record->npools; t++)
        rc = pool_fill(&problem->pools[t],
                       &record->pools[record->npools - 1 - t], source);
    return rc;
}

int orr_bound_record_problem(const struct orr_bound_record *record,
                             const struct orr_bound_source *source,
                             struct orr_bound_problem **ret)
{
    struct orr_bound_problem *problem = calloc(1, sizeof(*problem));
    int rc;

    if (!problem)
        return -ENOMEM;
    rc = problem_fill(problem, record, source);
    if (rc) {
        orr_bound_problem_free(problem);
        return rc;
    }
    *ret = problem;
    return 0;
}

void orr_bound_problem_free(struct orr_bound_problem *problem)
{
    if (!problem)
        return;
    for (unsigned t = 0; t < problem->npools; t++) {
        free(problem->pools[t].symbol);
        free(problem->pools[t].duration_ms);
        free(problem->pools[t].executed);
    }
    for (unsigned w = 0; w < problem->nworkers; w++)
        free(problem->worker_names[w]);
    free(problem->worker_names);
    free(problem->pools);
    free(problem);
}

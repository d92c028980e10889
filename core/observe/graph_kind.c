/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_kind.c - see graph_kind.h. What a worker takes for a task is
 * what core/worker/kernel.c charges for it in a simulation.
 */
#include "core/observe/graph_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cost/ask.h"
#include "core/cost/cost.h"
#include "core/runtime.h"
#include "core/task/job.h"

/* µs, NaN: not known. */
static double length_of(const struct orr_runtime *rt,
                        const struct orr_cost_row *row, struct orr_job *job,
                        unsigned worker, unsigned impl)
{
    const struct starpu_codelet *cl = job->task->cl;
    bool simulated = rt->machine->simulated;
    double us;

    if (simulated && cl->flags & STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT)
        return (double)NAN; /* what it will really take */
    if (simulated && cl->flags & STARPU_CODELET_SIMGRID_EXECUTE)
        return 0;
    if (row->per_task && cl->model->type == STARPU_PER_WORKER) {
        orr_self->frozen++;
        us = orr_model_ask_worker(rt, cl->model, job->task, worker, impl);
        orr_self->frozen--;
    } else {
        us = orr_cost_length(row, rt->workers[worker].class_id, impl);
    }
    if (us > 0 || (us == 0 && row->assumed))
        return us;
    return (double)NAN;
}

static void fill_worker(struct orr_runtime *rt, struct orr_job *job,
                        struct orr_graph_kind_record *kind, unsigned w)
{
    unsigned bits = orr_job_able(rt, job, kind->row, w);
    unsigned k = rt->workers[w].class_id;

    kind->able[w] = (uint8_t)bits;
    kind->best[w] = kind->floor[w] = bits ? (double)NAN : (double)INFINITY;
    for (unsigned i = 0; bits >> i; i++) {
        double us =
            bits >> i & 1 ? length_of(rt, kind->row, job, w, i) : (double)NAN;

        if (isnan(us) || us >= kind->best[w])
            continue;
        kind->best[w] = us;
        kind->deviation[w] = orr_cost_deviation(rt, kind->row, k, i);
    }
    if (bits)
        kind->floor[w] = orr_cost_at_best(rt, kind->row, k);
}

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) /* FNV-1a, 64 bits */
        h = (h ^ ((const unsigned char *)bytes)[i]) * 1099511628211U;
    return h;
}

static uint64_t hash_of(const struct orr_graph_kind_record *kind,
                        unsigned nworkers)
{
    uint64_t h = 1469598103934665603U;

    h = mix(h, &kind->row, sizeof(kind->row));
    h = mix(h, &kind->flops, sizeof(kind->flops));
    h = mix(h, kind->able, nworkers);
    if (kind->per_task)
        h = mix(h, kind->best, nworkers * sizeof(*kind->best));
    return h;
}

static bool alike(const struct orr_graph_kind_record *a,
                  const struct orr_graph_kind_record *b, unsigned nworkers)
{
    return a->hash == b->hash && a->row == b->row && a->flops == b->flops &&
           memcmp(a->able, b->able, nworkers) == 0 &&
           (!a->per_task ||
            memcmp(a->best, b->best, nworkers * sizeof(*a->best)) == 0);
}

static const char *symbol_of(const struct starpu_codelet *cl)
{
    if (cl->model && cl->model->symbol)
        return cl->model->symbol;
    return cl->name ? cl->name : "unnamed codelet";
}

struct orr_graph_kind_record *orr_graph_kind_new(struct orr_runtime *rt,
                                                 struct orr_job *job)
{
    struct orr_graph_kind_record *kind = calloc(1, sizeof(*kind));
    size_t n = (size_t)rt->nworkers + 1;

    if (!kind)
        return NULL;
    kind->row = orr_job_costs(rt, job);
    /* Another worker may be refreshing the row, as in orr_cost_length. */
    __atomic_load(&kind->row->version, &kind->version, __ATOMIC_RELAXED);
    kind->footprint = kind->row->footprint;
    kind->per_task = kind->row->per_task;
    kind->flops = job->task->flops > 0 && isfinite(job->task->flops)
                      ? job->task->flops
                      : 0;
    kind->symbol = strdup(symbol_of(job->task->cl));
    kind->able = calloc(n, sizeof(*kind->able));
    kind->best = calloc(n, sizeof(double));
    kind->deviation = calloc(n, sizeof(double));
    kind->floor = calloc(n, sizeof(double));
    if (!kind->symbol || !kind->able || !kind->best || !kind->deviation ||
        !kind->floor) {
        orr_graph_kind_free(kind);
        return NULL;
    }
    for (unsigned w = 0; w < rt->nworkers; w++)
        fill_worker(rt, job, kind, w);
    kind->hash = hash_of(kind, rt->nworkers);
    return kind;
}

void orr_graph_kind_free(struct orr_graph_kind_record *kind)
{
    if (!kind)
        return;
    free(kind->symbol);
    free(kind->able);
    free(kind->best);
    free(kind->deviation);
    free(kind->floor);
    free(kind);
}

/* --- all of them --- */

static uint32_t *find_slot(const struct orr_graph_kinds *kinds,
                           unsigned nworkers,
                           const struct orr_graph_kind_record *kind)
{
    uint32_t mask = 2 * kinds->room - 1;

    for (uint32_t i = (uint32_t)(kind->hash >> 32);; i++) {
        uint32_t *slot = &kinds->slots[i & mask];

        if (*slot == 0 || alike(kinds->all[*slot - 1], kind, nworkers))
            return slot;
    }
}

static bool make_room(struct orr_graph_kinds *kinds, unsigned nworkers)
{
    uint32_t room = kinds->room ? 2 * kinds->room : 16;
    struct orr_graph_kind_record **all =
        realloc(kinds->all, room * sizeof(*all));
    uint32_t *slots;

    if (!all)
        return false;
    kinds->all = all;
    slots = calloc(2 * (size_t)room, sizeof(*slots));
    if (!slots)
        return false;
    free(kinds->slots);
    kinds->slots = slots;
    kinds->room = room;
    for (uint32_t i = 0; i < kinds->n; i++)
        *find_slot(kinds, nworkers, all[i]) = i + 1;
    return true;
}

uint32_t orr_graph_kinds_put(struct orr_graph_kinds *kinds, unsigned nworkers,
                             struct orr_graph_kind_record *kind)
{
    uint32_t *slot;

    if (kinds->n == kinds->room && !make_room(kinds, nworkers)) {
        orr_graph_kind_free(kind);
        return UINT32_MAX;
    }
    slot = find_slot(kinds, nworkers, kind);
    if (*slot) {
        orr_graph_kind_free(kinds->all[*slot - 1]);
        kinds->all[*slot - 1] = kind;
    } else {
        kinds->all[kinds->n++] = kind;
        *slot = kinds->n;
    }
    return *slot - 1;
}

void orr_graph_kinds_done(struct orr_graph_kinds *kinds)
{
    for (uint32_t i = 0; i < kinds->n; i++)
        orr_graph_kind_free(kinds->all[i]);
    free(kinds->all);
    free(kinds->slots);
    *kinds = (struct orr_graph_kinds){NULL, NULL, 0, 0};
}
